import { GatewayError } from '../lib/errors.js';

/** A model that orgs may name in their fallback chains, as configured. */
export interface CatalogModel {
  readonly label: string;
  readonly bedrockModelId: string;
  readonly tier?: string;
  readonly family?: string;
  readonly description?: string;
  readonly inputUsdMicrosPer1M: number;
  readonly outputUsdMicrosPer1M: number;
}

export type Catalog = ReadonlyMap<string, CatalogModel>;

export const priceSources = ['PRICING_CACHE', 'CONFIG_DEFAULT', 'SUBMITTED'] as const;
export type PriceSource = (typeof priceSources)[number];

export interface Price {
  readonly inputUsdMicrosPer1M: number;
  readonly outputUsdMicrosPer1M: number;
  readonly source: PriceSource;
  readonly fetchedAt?: Date;
}

/** The day's cached price where there is one, else the configured default. */
export function priceInForce(model: CatalogModel, cached: Omit<Price, 'source'> | undefined): Price {
  if (cached) return { ...cached, source: 'PRICING_CACHE' };
  const { inputUsdMicrosPer1M, outputUsdMicrosPer1M } = model;
  return { inputUsdMicrosPer1M, outputUsdMicrosPer1M, source: 'CONFIG_DEFAULT' };
}

export const invalidLabel = (validLabels: readonly string[]): GatewayError =>
  new GatewayError('INVALID_MODEL_LABEL', `no such model label; valid are ${validLabels.join(', ')}`, { validLabels });
