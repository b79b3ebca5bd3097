import type { Issue } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';

// Reading order of this folder. Rules: this file (entries and tiers), price-history, cost-lines (the cost of a call),
// catalog (models), catalog-input. The stored catalog: catalog.store, catalog-sync.service (the copy in memory),
// catalog.service (changes), org-price.service (overrides). The price of a call: price.service. The price list:
// price-refresh.service, price-list, litellm, json-entries, price.store.

/**
 * The price of one unit of usage. `input` and `output` price the tokens of a call, every other name a component such as
 * `cacheRead`. An entry with `above` prices the whole quantity of a call with more tokens than that.
 */
export interface PriceEntry {
  readonly name: string;
  readonly usdMicrosPer1M: number;
  readonly above: number;
}

export const componentName = /^[a-z][A-Za-z0-9_]{0,31}$/;
export const maxEntriesPerPrice = 64;
/** A component such as an image may cost up to 1000 dollars each. */
export const maxUsdMicrosPer1M = 1_000_000_000_000_000;
export const maxAbove = 1_000_000_000_000;

export const priceSources = ['PRICING_CACHE', 'CONFIG_DEFAULT', 'CATALOG', 'ORG_OVERRIDE', 'SUBMITTED'] as const;
export type PriceSource = (typeof priceSources)[number];

/** A price in force. */
export interface Price {
  readonly entries: readonly PriceEntry[];
  /** The price of a call without tiers; 0 if there is no such entry. */
  readonly inputUsdMicrosPer1M: number;
  readonly outputUsdMicrosPer1M: number;
  readonly source: PriceSource;
  readonly fetchedAt?: Date;
}

/** Input and output first, then by name; the tiers of a name from low to high. */
export function sortedEntries(entries: readonly PriceEntry[]): PriceEntry[] {
  const rank = ({ name }: PriceEntry) => (name === 'input' ? 0 : name === 'output' ? 1 : 2);
  const byName = (a: PriceEntry, b: PriceEntry) => (a.name < b.name ? -1 : 1);
  return [...entries].sort((a, b) => rank(a) - rank(b) || (a.name === b.name ? a.above - b.above : byName(a, b)));
}

/** The entries of a price without components and tiers. */
export const tokenEntries = (inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number): PriceEntry[] => [
  { name: 'input', usdMicrosPer1M: inputUsdMicrosPer1M, above: 0 },
  { name: 'output', usdMicrosPer1M: outputUsdMicrosPer1M, above: 0 },
];

export function priceOf(entries: readonly PriceEntry[], source: PriceSource, fetchedAt?: Date): Price {
  return {
    entries,
    inputUsdMicrosPer1M: entryFor(entries, 'input', 0)?.usdMicrosPer1M ?? 0,
    outputUsdMicrosPer1M: entryFor(entries, 'output', 0)?.usdMicrosPer1M ?? 0,
    source,
    ...(fetchedAt ? { fetchedAt } : {}),
  };
}

/** The entry that prices a name in a call with this many tier tokens: the one with the greatest `above` below it. */
export function entryFor(entries: readonly PriceEntry[], name: string, tierTokens: number): PriceEntry | undefined {
  let found: PriceEntry | undefined;
  for (const entry of entries) {
    if (entry.name !== name || (entry.above > 0 && entry.above >= tierTokens)) continue;
    if (!found || entry.above > found.above) found = entry;
  }
  return found;
}

/** Why a list of entries is refused. `path` is the path of the list. */
export function entriesIssues(entries: readonly PriceEntry[], path: string, min = 1): Issue[] {
  if (entries.length < min || entries.length > maxEntriesPerPrice)
    return [{ path, message: `must have ${min} to ${maxEntriesPerPrice} entries` }];
  const seen = new Set<string>();
  return entries.flatMap(({ name, usdMicrosPer1M, above }, i): Issue[] => {
    const key = `${name} ${above}`;
    const isTwice = seen.has(key);
    seen.add(key);
    return [
      ...(componentName.test(name) ? [] : [{ path: `${path}.${i}.name`, message: nameRule }]),
      ...(isWholeWithin(usdMicrosPer1M, 0, maxUsdMicrosPer1M)
        ? []
        : [{ path: `${path}.${i}.usdMicrosPer1M`, message: `must be a whole number from 0 to ${maxUsdMicrosPer1M}` }]),
      ...(isWholeWithin(above, 0, maxAbove)
        ? []
        : [{ path: `${path}.${i}.above`, message: `must be a whole number from 0 to ${maxAbove}` }]),
      ...(isTwice ? [{ path: `${path}.${i}`, message: 'has the same name and `above` as an entry before it' }] : []),
    ];
  });
}

export const nameRule = 'must have 1 to 32 letters, digits or _ and begin with a lower-case letter';

/** A price as the audit trail shows it. */
export const entriesText = (entries: readonly PriceEntry[] | undefined): string | undefined =>
  entries
    ?.map(({ name, usdMicrosPer1M, above }) => `${name}${above > 0 ? ` above ${above}` : ''}: ${usdMicrosPer1M}`)
    .join(', ');

/** True if both prices have the same entries, in any order. */
export const sameEntries = (a: readonly PriceEntry[], b: readonly PriceEntry[]): boolean =>
  entriesText(sortedEntries(a)) === entriesText(sortedEntries(b));
