import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.js';
import { localDate } from './calendar.js';
import { type Catalog, type CatalogModel, type Price, priceInForce } from './price.js';
import type { PriceStore } from './price.store.js';

const rememberedMs = 60_000;

/** Prices of a day (UTC): from the cache the worker fills, else as configured. */
export class PriceService {
  private readonly remembered = new LRUCache<string, { readonly price: Price; readonly untilMs: number }>({ max: 1000 });

  constructor(
    private readonly store: PriceStore,
    readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  async at({ label }: CatalogModel, atMs: number): Promise<Price> {
    const [price] = await this.allAt([label], atMs);
    return price as Price;
  }

  /** One price a label, in their order; all labels must be of the catalog. */
  async allAt(labels: readonly string[], atMs: number): Promise<Price[]> {
    const day = localDate('UTC', atMs);
    const nowMs = this.clock.monotonicMs();
    const models = labels.map((label) => this.catalog.get(label) as CatalogModel);
    const nameOf = ({ bedrockModelId }: CatalogModel) => `${bedrockModelId} ${day}`;
    const missing = models.filter((model) => !((this.remembered.get(nameOf(model))?.untilMs ?? 0) > nowMs));
    if (missing.length > 0) {
      const cached = await this.store.loadMany(missing.map(({ bedrockModelId }) => ({ bedrockModelId, day })));
      for (const [i, model] of missing.entries()) this.remembered.set(nameOf(model), { price: priceInForce(model, cached[i]), untilMs: nowMs + rememberedMs });
    }
    return models.map((model) => this.remembered.get(nameOf(model))?.price ?? priceInForce(model, undefined));
  }
}
