import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, and, atMost, differs, equals, lessThan, or } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { epochSeconds } from '../../lib/clock.js';
import {
  fromPriceMap,
  lastPriceKey,
  type PriceRef,
  priceKey,
  catalogTable as table,
  toPriceMap,
} from './catalog.item.js';
import type { CatalogModel } from './catalog.js';
import { type PriceEntry, priceOf, sameEntries, tokenEntries } from './price.js';

export interface FetchedPrice {
  readonly entries: readonly PriceEntry[];
  readonly fetchedAt: Date;
}

/** The prices that the worker fetches from the price list. */
export class PriceStore {
  constructor(
    private readonly client: StoreClient,
    private readonly retentionDays: number,
  ) {}

  /**
   * Sets the price of a model on a day, or corrects it if a later fetch found another price. Returns false if the same
   * price or one of a later fetch is stored.
   */
  async save(model: CatalogModel, day: string, entries: readonly PriceEntry[], fetchedAtMs: number): Promise<boolean> {
    const prices = toPriceMap(entries);
    const isCorrection = and(lessThan('fetched_at_ms', fetchedAtMs), or(absent('prices'), differs('prices', prices)));
    const put = {
      ...priceKey({ modelId: model.modelId, day }),
      ...attributes(model, entries, fetchedAtMs),
      expires_at_epoch: epochSeconds(fetchedAtMs) + this.retentionDays * 86_400,
    };
    const isOwn = (old: Item) => old.fetched_at_ms === fetchedAtMs && sameEntries(toFetchedPrice(old).entries, entries);
    return (await this.client.write({ table, put, condition: or(absent('PK'), isCorrection) }, { repeat: isOwn })).done;
  }

  /** Stores the last fetched price without an expiry, because it applies until there is a newer one. */
  async saveLast(model: CatalogModel, day: string, entries: readonly PriceEntry[], fetchedAtMs: number): Promise<void> {
    const put = { ...lastPriceKey(model), ...attributes(model, entries, fetchedAtMs), day };
    await this.client.write(
      { table, put, condition: or(absent('PK'), lessThan('fetched_at_ms', fetchedAtMs)) },
      { repeat: 'idempotent' },
    );
  }

  /** The price fetched for a day, or else the last one before it. */
  async load({ modelId, day }: PriceRef): Promise<FetchedPrice | undefined> {
    const { PK, SK } = priceKey({ modelId, day });
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
    return lastDay <= day ? toFetchedPrice(item) : undefined;
  }

  /** When the last price of each model was fetched. Undefined for a model that never had one. */
  async loadFetchTimes(models: readonly CatalogModel[]): Promise<(number | undefined)[]> {
    const items = await this.client.getMany(table, models.map(lastPriceKey));
    return items.map((item) => item && fields(table, item).optionalNumber('fetched_at_ms'));
  }
}

function attributes(model: CatalogModel, entries: readonly PriceEntry[], fetchedAtMs: number): Item {
  const { inputUsdMicrosPer1M, outputUsdMicrosPer1M } = priceOf(entries, 'PRICING_CACHE');
  return {
    model_label: model.label,
    model_id: model.modelId,
    tier: model.tier,
    family: model.family,
    description: model.description,
    prices: toPriceMap(entries),
    // A gateway of an earlier version reads only these two.
    input_price_usd_micros_per_1m: inputUsdMicrosPer1M,
    output_price_usd_micros_per_1m: outputUsdMicrosPer1M,
    fetched_at_ms: fetchedAtMs,
    fetched_at_epoch: epochSeconds(fetchedAtMs),
  };
}

function toFetchedPrice(item: Item): FetchedPrice {
  const read = fields(table, item);
  return {
    entries: read.has('prices')
      ? fromPriceMap(read.numbers('prices'))
      : tokenEntries(read.number('input_price_usd_micros_per_1m'), read.number('output_price_usd_micros_per_1m')),
    fetchedAt: new Date(read.number('fetched_at_epoch') * 1000),
  };
}
