import type { Clock } from '../../lib/clock.js';
import { Lru } from '../../lib/lru.js';
import { localDate } from '../../orgs/calendar.js';
import type { Catalog, CatalogModel } from './catalog.js';
import type { OrgPriceService } from './org-price.service.js';
import { type Price, priceOf } from './price.js';
import type { FetchedPrice, PriceStore } from './price.store.js';
import { entriesAt } from './price-history.js';

const cachedMs = 60_000;

interface CachedPrice {
  /** Undefined if no price was ever fetched for the model. */
  readonly fetched: FetchedPrice | undefined;
  readonly untilMs: number;
}

export interface PriceDeps {
  readonly store: PriceStore;
  readonly orgPrices: Pick<OrgPriceService, 'changesOf'>;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** The price of a model at a time. */
export class PriceService {
  private readonly cache = new Lru<string, CachedPrice>(1000);

  constructor(private readonly deps: PriceDeps) {}

  get catalog(): Catalog {
    return this.deps.catalog;
  }

  /**
   * The first of these that is in force: the price of the org, the price set in the catalog, the price that the worker
   * fetched for the UTC day or the last one before it, the default of `config.yaml`. Without entries if there is none.
   */
  async at(model: CatalogModel, atMs: number, orgId?: string): Promise<Price> {
    const override =
      orgId === undefined ? undefined : entriesAt(await this.deps.orgPrices.changesOf(orgId, model.label), atMs);
    if (override) return priceOf(override, 'ORG_OVERRIDE');
    const set = entriesAt(model.changes, atMs);
    if (set) return priceOf(set, 'CATALOG');
    const fetched = await this.fetched(model.modelId, atMs);
    if (fetched) return priceOf(fetched.entries, 'PRICING_CACHE', fetched.fetchedAt);
    return priceOf(model.defaultEntries, model.defaultEntries.length > 0 ? 'CONFIG_DEFAULT' : 'CATALOG');
  }

  /** One price per model, in the order of the models. */
  allAt(models: readonly CatalogModel[], atMs: number): Promise<Price[]> {
    return Promise.all(models.map((model) => this.at(model, atMs)));
  }

  private async fetched(modelId: string, atMs: number): Promise<FetchedPrice | undefined> {
    const day = localDate('UTC', atMs);
    const name = `${day} ${modelId}`;
    const nowMs = this.deps.clock.monotonicMs();
    const cached = this.cache.get(name);
    if (cached && cached.untilMs > nowMs) return cached.fetched;
    const fetched = await this.deps.store.load({ modelId, day });
    this.cache.set(name, { fetched, untilMs: nowMs + cachedMs });
    return fetched;
  }
}
