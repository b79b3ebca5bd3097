/** A whole number with separators: `14,895`. */
export const count = (value: number): string => value.toLocaleString('en-US');

const units = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** A short number for a narrow column: `1.2M`. */
export function short(value: number): string {
  const unit = units.find(([size]) => Math.abs(value) >= size);
  return unit ? `${Number((value / unit[0]).toPrecision(3))}${unit[1]}` : count(value);
}

/** A percentage with one decimal below 10 and none above: `7.5 %`, `98 %`. It never rounds up to 100. */
export function percent(value: number): string {
  const decimals = value < 10 ? 1 : 0;
  const factor = 10 ** decimals;
  return `${Math.floor(value * factor) / factor} %`;
}

/** "1 device", "12 devices". */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
