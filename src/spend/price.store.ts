import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import type { CatalogModel, Price } from './price.js';

const table = 'pricing_cache';

export interface PriceRef {
  readonly bedrockModelId: string;
  /** The UTC date, YYYY-MM-DD. */
  readonly day: string;
}

export type ListedPrice = Pick<Price, 'inputUsdMicrosPer1M' | 'outputUsdMicrosPer1M'>;

export const priceKey = ({ bedrockModelId, day }: PriceRef) => ({ PK: key`${bedrockModelId}`, SK: key`${day}` });
/** Sorts before every day, so that one query finds the newest day's price or, past their retention, this. */
export const lastPriceKey = ({ bedrockModelId }: Pick<PriceRef, 'bedrockModelId'>) => ({
  PK: key`${bedrockModelId}`,
  SK: '#LAST',
});

export class PriceStore {
  constructor(
    private readonly client: StoreClient,
    private readonly retentionDays: number,
  ) {}

  /** Sets a model's price of a day, or corrects it if a later fetch found another. False: it is set to this already, or to a later one. */
  async save(model: CatalogModel, day: string, price: ListedPrice, fetchedAtMs: number): Promise<boolean> {
    const prices = priceAttributes(price);
    const isCorrected = and(
      lessThan('fetched_at_ms', fetchedAtMs),
      or(...Object.entries(prices).map(([name, value]) => differs(name, value))),
    );
    const put = {
      ...priceKey({ bedrockModelId: model.bedrockModelId, day }),
      ...attributes(model, price, fetchedAtMs),
      expires_at_epoch: epochSeconds(fetchedAtMs) + this.retentionDays * 86_400,
    };
    const isOwn = (old: Item) =>
      old.fetched_at_ms === fetchedAtMs && Object.entries(prices).every(([name, value]) => old[name] === value);
    return (await this.client.write({ table, put, condition: or(absent('PK'), isCorrected) }, { repeat: isOwn })).done;
  }

  /** Keeps the last price that was fetched, without an expiry: it applies until there is a new one, however long that takes. */
  async saveLast(model: CatalogModel, day: string, price: ListedPrice, fetchedAtMs: number): Promise<void> {
    const put = { ...lastPriceKey(model), ...attributes(model, price, fetchedAtMs), day };
    await this.client.write(
      { table, put, condition: or(absent('PK'), lessThan('fetched_at_ms', fetchedAtMs)) },
      { repeat: 'idempotent' },
    );
  }

  /** The price of a day: its own, else the last one known before it. */
  async load({ bedrockModelId, day }: PriceRef): Promise<Omit<Price, 'source'> | undefined> {
    const { PK, SK } = priceKey({ bedrockModelId, day });
    const page = await this.client.query({
      table,
      where: and(equals('PK', PK), atMost('SK', SK)),
      newestFirst: true,
      limit: 1,
    });
    const [item] = page.items;
    return item && ((item.day as string | undefined) ?? '') <= day ? toPrice(item) : undefined;
  }

  /** When the last price of each model was fetched; undefined for one that never had any. */
  async loadFetchTimes(models: readonly CatalogModel[]): Promise<(number | undefined)[]> {
    const items = await this.client.getMany(table, models.map(lastPriceKey));
    return items.map((item) => item?.fetched_at_ms as number | undefined);
  }
}

const priceAttributes = ({ inputUsdMicrosPer1M, outputUsdMicrosPer1M }: ListedPrice) => ({
  input_price_usd_micros_per_1m: inputUsdMicrosPer1M,
  output_price_usd_micros_per_1m: outputUsdMicrosPer1M,
});

const attributes = (model: CatalogModel, price: ListedPrice, fetchedAtMs: number): Item => ({
  model_label: model.label,
  tier: model.tier,
  family: model.family,
  description: model.description,
  ...priceAttributes(price),
  fetched_at_ms: fetchedAtMs,
  fetched_at_epoch: epochSeconds(fetchedAtMs),
});

const toPrice = (item: Item): Omit<Price, 'source'> => ({
  inputUsdMicrosPer1M: item.input_price_usd_micros_per_1m as number,
  outputUsdMicrosPer1M: item.output_price_usd_micros_per_1m as number,
  fetchedAt: new Date((item.fetched_at_epoch as number) * 1000),
});
