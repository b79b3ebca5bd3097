import type { StoreClient } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import type { CatalogModel, Price } from './price.js';

export interface PriceRef {
  readonly bedrockModelId: string;
  /** The UTC date, YYYY-MM-DD. */
  readonly day: string;
}

export const priceKey = ({ bedrockModelId, day }: PriceRef) => ({ PK: key`${bedrockModelId}`, SK: key`${day}` });

export class PriceStore {
  constructor(
    private readonly client: StoreClient,
    private readonly retentionDays: number,
  ) {}

  /** Sets a model's price of a day unless it has one. */
  async save(model: CatalogModel, day: string, price: Pick<Price, 'inputUsdMicrosPer1M' | 'outputUsdMicrosPer1M'>, nowMs: number): Promise<boolean> {
    const put = {
      ...priceKey({ bedrockModelId: model.bedrockModelId, day }),
      model_label: model.label,
      tier: model.tier,
      family: model.family,
      description: model.description,
      input_price_usd_micros_per_1m: price.inputUsdMicrosPer1M,
      output_price_usd_micros_per_1m: price.outputUsdMicrosPer1M,
      fetched_at_epoch: epochSeconds(nowMs),
      expires_at_epoch: epochSeconds(nowMs) + this.retentionDays * 86_400,
    };
    return (await this.client.write({ table: 'pricing_cache', put, condition: absent('PK') }, { repeat: 'idempotent' })).done;
  }

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
