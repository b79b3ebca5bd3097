import { z } from 'zod';
import { endOfTurn } from '../../lib/timers.js';
import type { CatalogModel } from './catalog.js';
import { jsonEntries } from './json-entries.js';
import { liteLlmPrices } from './litellm.js';
import { entriesIssues, type PriceEntry, sortedEntries, tokenEntries } from './price.js';

const micros = z.number().int().min(0).max(1e12);
const entry = z.object({ name: z.string(), usdMicrosPer1M: z.number(), above: z.number().default(0) });
const ownFormat = z.object({
  inputUsdMicrosPer1M: micros,
  outputUsdMicrosPer1M: micros,
  prices: z.array(entry).default([]),
});

export interface PriceList {
  readonly prices: readonly { readonly model: CatalogModel; readonly entries: readonly PriceEntry[] }[];
  readonly faults: readonly PriceFault[];
}

/** A label whose entry is missing or invalid. */
export interface PriceFault {
  readonly label: string;
  readonly kind: 'missing' | 'invalid';
  readonly message: string;
}

/**
 * Reads the prices of the models from a list `{"<model id>": {…}}`. Each entry is in the format of Tollgate or in that
 * of LiteLLM. Other entries are ignored. Throws if the text is not such a list. Pauses, because the list may be large.
 */
export async function parsePriceList(text: string, models: readonly CatalogModel[]): Promise<PriceList> {
  const found = await entriesFor(new Set(models.map(({ modelId }) => modelId)), text.replace(/^\ufeff/, ''));
  const prices: { model: CatalogModel; entries: readonly PriceEntry[] }[] = [];
  const faults: PriceFault[] = [];
  for (const model of models) {
    const { label, modelId } = model;
    const value = found.get(modelId);
    if (value === undefined) {
      faults.push({ label, kind: 'missing', message: `no entry for ${modelId}` });
      continue;
    }
    const { entries, faults: messages } = parseEntry(value);
    if (messages.length === 0) prices.push({ model, entries });
    else faults.push({ label, kind: 'invalid', message: messages.join('; ') });
  }
  return { prices, faults };
}

/** The texts of the entries with these names. */
async function entriesFor(names: ReadonlySet<string>, text: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const read of jsonEntries(text)) {
    if (!read) await endOfTurn();
    else if (names.has(read[0])) found.set(...(read as [string, string]));
  }
  return found;
}

/** The prices of an entry. None of them is used if one is wrong, because a call would then cost too little. */
function parseEntry(text: string): { readonly entries: readonly PriceEntry[]; readonly faults: readonly string[] } {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { entries: [], faults: ['is not an object'] };
  const { entries, faults } = isOwnFormat(value) ? ownPrices(value) : liteLlmPrices(value as Record<string, unknown>);
  const issues = entriesIssues(entries, 'prices', 0).map(({ path, message }) => `${path}: ${message}`);
  return { entries: sortedEntries(entries), faults: [...faults, ...issues] };
}

const isOwnFormat = (value: object): boolean => 'inputUsdMicrosPer1M' in value || 'outputUsdMicrosPer1M' in value;

function ownPrices(value: object): { readonly entries: readonly PriceEntry[]; readonly faults: readonly string[] } {
  const { success, data, error } = ownFormat.safeParse(value);
  if (!success)
    return { entries: [], faults: error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) };
  const { inputUsdMicrosPer1M, outputUsdMicrosPer1M, prices } = data;
  return { entries: [...tokenEntries(inputUsdMicrosPer1M, outputUsdMicrosPer1M), ...prices], faults: [] };
}
