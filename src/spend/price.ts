import { GatewayError } from '../lib/errors.js';

export interface UnitPrice {
  readonly inputUsdMicrosPer1M: number;
  readonly outputUsdMicrosPer1M: number;
}

/** A model of the configuration, with its default price. Model orderings name it by its label. */
export interface CatalogModel extends UnitPrice {
  readonly label: string;
  readonly bedrockModelId: string;
  readonly tier?: string;
  readonly family?: string;
  readonly description?: string;
}

export type Catalog = ReadonlyMap<string, CatalogModel>;

export const priceSources = ['PRICING_CACHE', 'CONFIG_DEFAULT', 'SUBMITTED'] as const;
export type PriceSource = (typeof priceSources)[number];

export interface FetchedPrice extends UnitPrice {
  readonly fetchedAt: Date;
}

export interface Price extends UnitPrice {
  readonly source: PriceSource;
  readonly fetchedAt?: Date;
}

/** The fetched price of the day if there is one, else the configured default. */
export function priceInForce(model: CatalogModel, fetched: FetchedPrice | undefined): Price {
  if (fetched) return { ...fetched, source: 'PRICING_CACHE' };
  const { inputUsdMicrosPer1M, outputUsdMicrosPer1M } = model;
  return { inputUsdMicrosPer1M, outputUsdMicrosPer1M, source: 'CONFIG_DEFAULT' };
}

export const invalidLabel = (validLabels: readonly string[]): GatewayError =>
  new GatewayError('INVALID_MODEL_LABEL', `unknown model label; valid labels: ${validLabels.join(', ')}`, {
    validLabels,
  });
