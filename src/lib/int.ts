export const isWholeWithin = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max;

/** `Math.min` for bigint. */
export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export const larger = (a: bigint, b: bigint): bigint => -smaller(-a, -b);
