export const isWholeWithin = (value: number, min: number, max: number): boolean => Number.isSafeInteger(value) && value >= min && value <= max;
