import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, changesBetween, modelEntity } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import { refuseAny, unavailable, versionConflict } from '../../lib/errors.js';
import { expectedVersionIssues, isStale, type VersionedChange } from '../../lib/expected-version.js';
import { VersionedCache } from '../../lib/versioned-cache.js';
import { type Catalog, invalidLabel } from './catalog.js';
import { labelIssues, priceIssues } from './catalog-input.js';
import type { OrgPrice, OrgPriceStore } from './org-price.store.js';
import { entriesText } from './price.js';
import { entriesAt, nextHistory, type PriceChange, type PriceInput } from './price-history.js';

const maxAttempts = 5;
const maxCachedOrgs = 10_000;

export interface OrgPriceInput extends PriceInput, VersionedChange {
  readonly label: string;
}

export interface OrgPriceDeps {
  readonly store: OrgPriceStore;
  readonly catalog: Catalog;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/** The prices that orgs have instead of those of the catalog. */
export class OrgPriceService {
  private readonly cache: VersionedCache<ReadonlyMap<string, OrgPrice>>;

  constructor(private readonly deps: OrgPriceDeps) {
    this.cache = new VersionedCache(() => deps.changes.version(), maxCachedOrgs);
  }

  /** All prices of an org, by label. */
  async list(orgId: string): Promise<OrgPrice[]> {
    return [...(await this.pricesOf(orgId)).values()];
  }

  /** The history of the prices of an org for a label. Empty if it has none. */
  async changesOf(orgId: string, label: string): Promise<readonly PriceChange[]> {
    return (await this.pricesOf(orgId)).get(label)?.changes ?? [];
  }

  /** Sets or clears the price of an org from a time on. Takes effect on all gateways within 2 s. */
  async set(orgId: string, input: OrgPriceInput, actor: Actor): Promise<OrgPrice> {
    const { store, catalog, clock } = this.deps;
    const { label, expectedVersion } = input;
    refuseAny([
      ...labelIssues(label, 'input.label'),
      ...priceIssues(input, clock.nowMs()),
      ...expectedVersionIssues(expectedVersion),
    ]);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // A price can be cleared after its label was retired.
      const isKnown = catalog.has(label);
      const before = isKnown || !input.prices ? await store.read(orgId, label) : undefined;
      if (!isKnown && !before) throw invalidLabel(catalog.keys());
      const version = before?.version ?? 0;
      if (isStale(expectedVersion, version)) throw versionConflict('this price', version);
      const saved = await this.trySet(orgId, input, before, actor);
      if (saved) return saved;
    }
    throw unavailable('this price is being changed by several callers at the same time; retry');
  }

  /** Undefined if another change came between. */
  private async trySet(
    orgId: string,
    input: OrgPriceInput,
    before: OrgPrice | undefined,
    actor: Actor,
  ): Promise<OrgPrice | undefined> {
    const { store, changes, audit, clock } = this.deps;
    const { label, effectiveFrom } = input;
    const nowMs = clock.nowMs();
    const atMs = effectiveFrom?.getTime() ?? nowMs;
    const history = nextHistory(before?.changes ?? [], input, nowMs);
    const price = { label, version: (before?.version ?? 0) + 1, changes: history };
    const pricesIn = (all: readonly PriceChange[]) => ({ prices: entriesText(entriesAt(all, atMs)) });
    const event = audit.draft({
      orgId,
      actor,
      action: 'price_set',
      entityId: modelEntity(label),
      details: { effectiveFrom: new Date(atMs).toISOString() },
      changes: changesBetween(pricesIn(before?.changes ?? []), pricesIn(history)),
    });
    if (!(await store.save(orgId, price, [event, changes.draftChange(orgId)]))) return undefined;
    await changes.refresh();
    return price;
  }

  private async pricesOf(orgId: string): Promise<ReadonlyMap<string, OrgPrice>> {
    const read = async () => new Map((await this.deps.store.list(orgId)).map((price) => [price.label, price]));
    return (await this.cache.load(orgId, read)) ?? new Map();
  }
}
