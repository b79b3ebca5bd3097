import type { Clock } from '../lib/clock.js';
import { Lru } from '../lib/lru.js';
import { localDate } from '../orgs/calendar.js';
import { type Catalog, type CatalogModel, type Price, priceInForce } from './price.js';
import type { PriceStore } from './price.store.js';

const cachedMs = 60_000;

/** The prices of a UTC day: fetched by the worker on that day, else the last fetched before it, else configured. */
export class PriceService {
  private readonly cache = new Lru<string, { readonly price: Price; readonly untilMs: number }>(1000);

  constructor(
    private readonly store: PriceStore,
    readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  async at(model: CatalogModel, atMs: number): Promise<Price> {
    const { bedrockModelId } = model;
    const day = localDate('UTC', atMs);
    const name = `${bedrockModelId} ${day}`;
    const nowMs = this.clock.monotonicMs();
    const cached = this.cache.get(name);
    if (cached && cached.untilMs > nowMs) return cached.price;
    const price = priceInForce(model, await this.store.load({ bedrockModelId, day }));
    this.cache.set(name, { price, untilMs: nowMs + cachedMs });
    return price;
  }

  /** One price per model, in the order of the models. */
  allAt(models: readonly CatalogModel[], atMs: number): Promise<Price[]> {
    return Promise.all(models.map((model) => this.at(model, atMs)));
  }
}
