import type { Clock } from '../../lib/clock.js';
import { Lru } from '../../lib/lru.js';
import { localDate } from '../../orgs/calendar.js';
import type { Catalog, CatalogModel } from './catalog.js';
import type { OrgPriceService } from './org-price.service.js';
import { type Price, priceOf } from './price.js';
import type { FetchedPrice, PriceStore } from './price.store.js';
import { entriesAt } from './price-history.js';

const cachedMs = 60_000;
const pricedMs = 1000;

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

/** A model with its price now. */
export interface PricedModel extends CatalogModel {
  readonly bedrockModelId: string;
  readonly price: Price;
}

/** Valid for a second, and not after the next change of the price. */
interface CachedModel {
  readonly model: PricedModel;
  readonly atMs: number;
  readonly nextMs: number;
  readonly untilMs: number;
}

/** The price of a model at a time. */
export class PriceService {
  private readonly cache = new Lru<string, CachedPrice>(1000);
  /** A changed model is another object, so an entry lives as long as its version of the model. */
  private readonly priced = new WeakMap<CatalogModel, CachedModel>();

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

  /** The models with their prices now, without org prices. Computed at most once per second and model. */
  async withPrices(models: readonly CatalogModel[]): Promise<PricedModel[]> {
    const [nowMs, monotonicMs] = [this.deps.clock.nowMs(), this.deps.clock.monotonicMs()];
    const cached = models.map((model) => {
      const entry = this.priced.get(model);
      const isValid = entry && entry.untilMs > monotonicMs && entry.atMs <= nowMs && nowMs < entry.nextMs;
      return isValid ? entry.model : undefined;
    });
    if (cached.every((model) => model !== undefined)) return cached;
    return Promise.all(models.map((model, i) => cached[i] ?? this.withPrice(model, nowMs)));
  }

  private async withPrice(model: CatalogModel, atMs: number): Promise<PricedModel> {
    const untilMs = this.deps.clock.monotonicMs() + pricedMs;
    const priced = { ...model, bedrockModelId: model.modelId, price: await this.at(model, atMs) };
    const nextMs = model.changes.find(({ fromMs }) => fromMs > atMs)?.fromMs ?? Number.POSITIVE_INFINITY;
    this.priced.set(model, { model: priced, atMs, nextMs, untilMs });
    return priced;
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
