import { z } from 'zod';
import type { Catalog, CatalogModel, UnitPrice } from './price.js';

const micros = z.number().int().min(0).max(1e12);
const priceEntry = z.object({ inputUsdMicrosPer1M: micros, outputUsdMicrosPer1M: micros });

export interface PriceList {
  readonly prices: readonly { readonly model: CatalogModel; readonly price: UnitPrice }[];
  readonly faults: readonly PriceFault[];
}

/** A label whose entry is missing or invalid. */
export interface PriceFault {
  readonly label: string;
  readonly kind: 'missing' | 'invalid';
  readonly message: string;
}

/**
 * Reads the prices of the catalog's models from a list `{"<bedrock model id>": {…}}`. Other entries are ignored. Throws
 * if the text is not such a list.
 */
export function parsePriceList(text: string, catalog: Catalog): PriceList {
  const list: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
  if (typeof list !== 'object' || list === null || Array.isArray(list))
    throw new Error('the price list is not a JSON object');
  const entries = list as Record<string, unknown>;
  const prices: { model: CatalogModel; price: UnitPrice }[] = [];
  const faults: PriceFault[] = [];
  for (const model of catalog.values()) {
    const { label, bedrockModelId } = model;
    if (!Object.hasOwn(entries, bedrockModelId)) {
      faults.push({ label, kind: 'missing', message: `no entry for ${bedrockModelId}` });
      continue;
    }
    const entry = priceEntry.safeParse(entries[bedrockModelId]);
    if (entry.success) prices.push({ model, price: entry.data });
    else {
      const message = entry.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
      faults.push({ label, kind: 'invalid', message });
    }
  }
  return { prices, faults };
}
