import { z } from 'zod';
import type { Catalog, CatalogModel } from './price.js';

const micros = z.number().int().min(0).max(1e12);
const priceEntry = z.object({ inputUsdMicrosPer1M: micros, outputUsdMicrosPer1M: micros });

export interface PriceList {
  readonly prices: readonly { readonly model: CatalogModel; readonly price: z.infer<typeof priceEntry> }[];
  /** Labels whose entry is missing or wrong, and what is wrong with it. */
  readonly faults: readonly {
    readonly label: string;
    readonly kind: 'missing' | 'invalid';
    readonly message: string;
  }[];
}

/** The prices of a list `{"<bedrock model id>": {…}}` for the models of the catalog. Other entries are ignored. Throws if it is no such list. */
export function parsePriceList(text: string, catalog: Catalog): PriceList {
  const list: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
  if (typeof list !== 'object' || list === null || Array.isArray(list))
    throw new Error('the price list is not a JSON object');
  const prices: { model: CatalogModel; price: z.infer<typeof priceEntry> }[] = [];
  const faults: { label: string; kind: 'missing' | 'invalid'; message: string }[] = [];
  for (const model of catalog.values()) {
    const { label, bedrockModelId } = model;
    if (!Object.hasOwn(list, bedrockModelId)) {
      faults.push({ label, kind: 'missing', message: `no entry for ${bedrockModelId}` });
      continue;
    }
    const entry = priceEntry.safeParse((list as Record<string, unknown>)[bedrockModelId]);
    if (entry.success) prices.push({ model, price: entry.data });
    else
      faults.push({
        label,
        kind: 'invalid',
        message: entry.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
      });
  }
  return { prices, faults };
}
