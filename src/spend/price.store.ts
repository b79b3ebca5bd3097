import type { StoreClient } from '../dynamo/client.js';
import { key } from '../dynamo/keys.js';
import type { Price } from './price.js';

export interface PriceRef {
  readonly bedrockModelId: string;
  /** The UTC date, YYYY-MM-DD. */
  readonly day: string;
}

export const priceKey = ({ bedrockModelId, day }: PriceRef) => ({ PK: key`${bedrockModelId}`, SK: key`${day}` });

export class PriceStore {
  constructor(private readonly client: StoreClient) {}

  async loadMany(refs: readonly PriceRef[]): Promise<(Omit<Price, 'source'> | undefined)[]> {
    const items = await this.client.getMany('pricing_cache', refs.map(priceKey));
    return items.map(
      (item) =>
        item && {
          inputUsdMicrosPer1M: item.input_price_usd_micros_per_1m as number,
          outputUsdMicrosPer1M: item.output_price_usd_micros_per_1m as number,
          fetchedAt: new Date((item.fetched_at_epoch as number) * 1000),
        },
    );
  }
}
