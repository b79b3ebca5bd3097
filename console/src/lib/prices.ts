import { usd } from './money.js';
import { short } from './numbers.js';

export interface PriceEntry {
  readonly name: string;
  readonly usdMicrosPer1M: number;
  /** The price applies to calls with more input tokens than this. */
  readonly above: number;
}

/** A price from a time on. Without entries, the price before it was cleared. */
export interface PriceChange {
  readonly effectiveFrom: string | null;
  readonly entries: readonly PriceEntry[];
}

const startOf = ({ effectiveFrom }: PriceChange): number =>
  effectiveFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(effectiveFrom);

/** The change that decides at a time, and the one after it. `changes` are oldest first. */
export function priceAt(
  changes: readonly PriceChange[],
  nowMs: number,
): { readonly current: PriceChange | undefined; readonly next: PriceChange | undefined } {
  const current = changes.filter((change) => startOf(change) <= nowMs).at(-1);
  return { current, next: changes.find((change) => startOf(change) > nowMs) };
}

/** Prices in words: `input $3.00, input above 200k $6.00, output $15.00`. */
export const priceText = (entries: readonly PriceEntry[]): string =>
  entries
    .map(
      ({ name, usdMicrosPer1M, above }) => `${name}${above > 0 ? ` above ${short(above)}` : ''} ${usd(usdMicrosPer1M)}`,
    )
    .join(', ');

/** The prices beside those of input and output, in words. */
export const furtherPrices = (entries: readonly PriceEntry[]): string =>
  priceText(entries.filter(({ name, above }) => above > 0 || (name !== 'input' && name !== 'output')));

const sources: Readonly<Record<string, string>> = {
  PRICING_CACHE: 'price list',
  CONFIG_DEFAULT: 'default of config.yaml',
  CATALOG: 'catalog',
  ORG_OVERRIDE: 'own price of the org',
  SUBMITTED: 'submitted by the app',
};

/** Where a price comes from, in words. */
export const priceSourceText = (source: string): string => sources[source] ?? source.toLowerCase().replaceAll('_', ' ');
