import type { Item } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { sha256 } from '../../lib/id.js';
import { type CatalogModel, modelOrigins } from './catalog.js';
import { type PriceEntry, sortedEntries } from './price.js';
import type { PriceChange } from './price-history.js';

export const catalogTable = 'pricing_cache';

/** All models are in one partition, so that one query loads them. */
export const catalogPartition = '#CATALOG';
/** The number of labels and the version of the whole catalog. Sorts before the models: a query reads it first. */
export const catalogHeadKey = { PK: catalogPartition, SK: '#HEAD' };
export const modelKey = (label: string) => ({ PK: catalogPartition, SK: key`LABEL#${label}` });

export const orgPricesPartition = (orgId: string): string => key`#ORG#${orgId}`;
export const orgPriceKey = (orgId: string, label: string) => ({
  PK: orgPricesPartition(orgId),
  SK: key`LABEL#${label}`,
});

/** An id that fits into a key as it is. The others, such as ARNs, are hashed. */
const plainModelId = /^[^#/\s\p{Cc}]+$/u;

export interface PriceRef {
  readonly modelId: string;
  /** The UTC date, YYYY-MM-DD. */
  readonly day: string;
}

/** The partition of the prices that were fetched for a model. */
const fetchedPartition = (modelId: string): string =>
  plainModelId.test(modelId) ? key`${modelId}` : key`MODEL#${sha256(modelId)}`;
export const priceKey = ({ modelId, day }: PriceRef) => ({ PK: fetchedPartition(modelId), SK: key`${day}` });
/** Sorts before every day, so that one query finds the price of the newest day or, if those have expired, this item. */
export const lastPriceKey = ({ modelId }: Pick<PriceRef, 'modelId'>) => ({
  PK: fetchedPartition(modelId),
  SK: '#LAST',
});

/** A price as a map of numbers: `cacheRead` for the base price, `cacheRead>200000` for a tier. */
export const toPriceMap = (entries: readonly PriceEntry[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    entries.map(({ name, above, usdMicrosPer1M }) => [above > 0 ? `${name}>${above}` : name, usdMicrosPer1M]),
  );

export const fromPriceMap = (map: Readonly<Record<string, number>>): PriceEntry[] =>
  sortedEntries(
    Object.entries(map).map(([text, usdMicrosPer1M]) => {
      const [name = '', above = '0'] = text.split('>');
      return { name, usdMicrosPer1M, above: Number(above) };
    }),
  );

export const toModelItem = (model: CatalogModel): Item => ({
  ...modelKey(model.label),
  model_label: model.label,
  model_id: model.modelId,
  provider: model.provider,
  tier: model.tier,
  family: model.family,
  description: model.description,
  model_version: model.version,
  origin: model.origin,
  retired_at_ms: model.retiredAt?.getTime(),
  default_prices: toPriceMap(model.defaultEntries),
  price_changes: toChangeList(model.changes),
  added_at_ms: model.addedAtMs,
  position: model.position,
});

export function toModel(item: Item): CatalogModel {
  const read = fields(catalogTable, item);
  const retiredAt = read.optionalDate('retired_at_ms');
  const texts = {
    provider: read.optionalString('provider'),
    tier: read.optionalString('tier'),
    family: read.optionalString('family'),
    description: read.optionalString('description'),
  };
  return {
    label: read.string('model_label'),
    modelId: read.string('model_id'),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
    version: read.number('model_version'),
    origin: read.oneOf('origin', modelOrigins),
    ...(retiredAt ? { retiredAt } : {}),
    defaultEntries: fromPriceMap(read.numbers('default_prices')),
    changes: fromChangeList(item),
    addedAtMs: read.number('added_at_ms'),
    position: read.number('position'),
  };
}

export const toChangeList = (changes: readonly PriceChange[]) =>
  changes.map(({ fromMs, entries }) => ({ from_ms: fromMs, prices: toPriceMap(entries) }));

/** The history in the attribute `price_changes` of an item. */
export const fromChangeList = (item: Item): PriceChange[] =>
  fields(catalogTable, item)
    .maps('price_changes')
    .map((change) => {
      const read = fields(catalogTable, change);
      return { fromMs: read.number('from_ms'), entries: fromPriceMap(read.numbers('prices')) };
    });
