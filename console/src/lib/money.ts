/** Amounts are whole micro-dollars. They are formatted from their digits, never as a fraction in floating point. */

const microsPerUsd = 1_000_000;

const grouped = (whole: number): string => whole.toLocaleString('en-US');

/** The decimals that show an amount: cents from ten cents on, more for the small prices of single calls. */
function decimalsOf(micros: number): number {
  if (micros === 0 || micros >= microsPerUsd / 10) return 2;
  return micros >= 1000 ? 4 : 6;
}

/**
 * An amount for people, rounded to a sensible number of decimals: `$1,234.57`, `$0.0165`. A column of small amounts
 * asks for more decimals, so that they line up.
 */
export function usd(micros: number, minDecimals = 2): string {
  const size = Math.abs(micros);
  const decimals = Math.max(minDecimals, decimalsOf(size));
  const unit = 10 ** (6 - decimals);
  const rounded = Math.round(size / unit) * unit;
  const whole = Math.floor(rounded / microsPerUsd);
  const fraction = String(rounded % microsPerUsd).padStart(6, '0');
  return `${micros < 0 ? '−' : ''}$${grouped(whole)}.${fraction.slice(0, decimals)}`;
}

/** The whole amount with all its decimals: `$0.016512`. */
export function usdExact(micros: number): string {
  const size = Math.abs(micros);
  const fraction = String(size % microsPerUsd).padStart(6, '0');
  const decimals = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${micros < 0 ? '−' : ''}$${grouped(Math.floor(size / microsPerUsd))}.${decimals}`;
}

/** A short amount for an axis: `$1.5k`, `$20`, `$0.05`. */
export function usdShort(micros: number): string {
  const value = micros / microsPerUsd;
  const size = Math.abs(value);
  if (size >= 1e6) return `$${trimmed(value / 1e6)}M`;
  if (size >= 1e3) return `$${trimmed(value / 1e3)}k`;
  if (size >= 1 || size === 0) return `$${trimmed(value)}`;
  return `$${Number(value.toPrecision(2))}`;
}

const trimmed = (value: number): string => String(Number(value.toFixed(2)));

/** Micro-dollars of what a person typed, such as `10.50` or `$1,000`; undefined if it is no amount of whole micros. */
export function parseUsd(text: string): number | undefined {
  const match = /^\$?(\d{1,10}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, whole = '', fraction = ''] = match;
  return Number(whole.replaceAll(',', '')) * microsPerUsd + Number(fraction.padEnd(6, '0'));
}

/** An amount as a person would type it, for the value of a field: `10.5`. */
export function usdInput(micros: number): string {
  const fraction = String(micros % microsPerUsd)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${Math.floor(micros / microsPerUsd)}${fraction ? `.${fraction.padEnd(2, '0')}` : ''}`;
}
