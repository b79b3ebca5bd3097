import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, differs, equals, lessThan, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import type { CatalogModel, FetchedPrice, UnitPrice } from './price.js';

const table = 'pricing_cache';

export interface PriceRef {
  readonly bedrockModelId: string;
  /** The UTC date, YYYY-MM-DD. */
  readonly day: string;
}

export const priceKey = ({ bedrockModelId, day }: PriceRef) => ({ PK: key`${bedrockModelId}`, SK: key`${day}` });
/** Sorts before every day, so that one query finds the price of the newest day or, if those have expired, this item. */
export const lastPriceKey = ({ bedrockModelId }: Pick<PriceRef, 'bedrockModelId'>) => ({
  PK: key`${bedrockModelId}`,
  SK: '#LAST',
});

export class PriceStore {
  constructor(
    private readonly client: StoreClient,
    private readonly retentionDays: number,
  ) {}

  /**
   * Sets the price of a model on a day, or corrects it if a later fetch found another price. Returns false if the same
   * price or one of a later fetch is stored.
   */
  async save(model: CatalogModel, day: string, price: UnitPrice, fetchedAtMs: number): Promise<boolean> {
    const prices = priceAttributes(price);
    const isCorrection = and(
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
    return (await this.client.write({ table, put, condition: or(absent('PK'), isCorrection) }, { repeat: isOwn })).done;
  }

  /** Stores the last fetched price without an expiry, because it applies until there is a newer one. */
  async saveLast(model: CatalogModel, day: string, price: UnitPrice, fetchedAtMs: number): Promise<void> {
    const put = { ...lastPriceKey(model), ...attributes(model, price, fetchedAtMs), day };
    await this.client.write(
      { table, put, condition: or(absent('PK'), lessThan('fetched_at_ms', fetchedAtMs)) },
      { repeat: 'idempotent' },
    );
  }

  /** The price fetched for a day, or else the last one before it. */
  async load({ bedrockModelId, day }: PriceRef): Promise<FetchedPrice | undefined> {
    const { PK, SK } = priceKey({ bedrockModelId, day });
    const page = await this.client.query({
      table,
      where: and(equals('PK', PK), atMost('SK', SK)),
      newestFirst: true,
      limit: 1,
    });
    const [item] = page.items;
    if (!item) return undefined;
    // Only the #LAST item has this attribute, and it may be of a later day than the one asked for.
    const lastDay = fields(table, item).optionalString('day') ?? '';
    return lastDay <= day ? toPrice(item) : undefined;
  }

  /** When the last price of each model was fetched. Undefined for a model that never had one. */
  async loadFetchTimes(models: readonly CatalogModel[]): Promise<(number | undefined)[]> {
    const items = await this.client.getMany(table, models.map(lastPriceKey));
    return items.map((item) => item && fields(table, item).optionalNumber('fetched_at_ms'));
  }
}

const priceAttributes = ({ inputUsdMicrosPer1M, outputUsdMicrosPer1M }: UnitPrice) => ({
  input_price_usd_micros_per_1m: inputUsdMicrosPer1M,
  output_price_usd_micros_per_1m: outputUsdMicrosPer1M,
});

const attributes = (model: CatalogModel, price: UnitPrice, fetchedAtMs: number): Item => ({
  model_label: model.label,
  tier: model.tier,
  family: model.family,
  description: model.description,
  ...priceAttributes(price),
  fetched_at_ms: fetchedAtMs,
  fetched_at_epoch: epochSeconds(fetchedAtMs),
});

function toPrice(item: Item): FetchedPrice {
  const read = fields(table, item);
  return {
    inputUsdMicrosPer1M: read.number('input_price_usd_micros_per_1m'),
    outputUsdMicrosPer1M: read.number('output_price_usd_micros_per_1m'),
    fetchedAt: new Date(read.number('fetched_at_epoch') * 1000),
  };
}
