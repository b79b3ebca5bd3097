import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, changesBetween, modelEntity, platformTenant } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import { badInput, notFound, refuseAny, unavailable, versionConflict } from '../../lib/errors.js';
import {
  type ExpectedVersion,
  expectedVersionIssues,
  isStale,
  type VersionedChange,
} from '../../lib/expected-version.js';
import { type CatalogModel, type LiveCatalog, type ModelFacts, maxLabels } from './catalog.js';
import type { CatalogStore, SaveOutcome } from './catalog.store.js';
import { factIssues, labelIssues, priceIssues } from './catalog-input.js';
import { type CatalogSyncService, catalogPlace } from './catalog-sync.service.js';
import { entriesText } from './price.js';
import { entriesAt, nextHistory, type PriceInput } from './price-history.js';

const maxAttempts = 5;
export const maxModelsPerPage = 100;

type Optional<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** A fact that is absent or null stays unchanged. */
export interface ModelInput extends Optional<Omit<ModelFacts, 'modelId'>>, PriceInput, VersionedChange {
  readonly label: string;
  readonly modelId: string;
}

interface ModelChange extends VersionedChange {
  readonly label: string;
  readonly actor: Actor;
  /** From when a new price applies. */
  readonly fromMs?: number | undefined;
}

export interface ModelPage {
  readonly first?: number | null | undefined;
  /** A label. */
  readonly after?: string | null | undefined;
  readonly includeRetired?: boolean | null | undefined;
}

export interface CatalogDeps {
  readonly store: CatalogStore;
  readonly catalog: LiveCatalog;
  readonly sync: CatalogSyncService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
}

/** Changes the catalog. A change takes effect on all gateways within 2 s. */
export class CatalogService {
  constructor(private readonly deps: CatalogDeps) {}

  /** The models in the order in which they were added. */
  page({ first, after, includeRetired }: ModelPage): readonly CatalogModel[] {
    const size = first ?? maxModelsPerPage;
    if (size < 1 || size > maxModelsPerPage)
      throw badInput({ path: 'first', message: `must be from 1 to ${maxModelsPerPage}` });
    const all = this.deps.catalog.listAll();
    // A label that was retired between two pages still has its place.
    const start = typeof after === 'string' ? all.findIndex(({ label }) => label === after) : -1;
    if (typeof after === 'string' && start < 0)
      throw badInput({ path: 'after', message: 'must be a label of the catalog' });
    return all
      .slice(start + 1)
      .filter(({ retiredAt }) => includeRetired || !retiredAt)
      .slice(0, size);
  }

  /** Adds a model or changes one. A retired model is in use again. */
  async upsert(input: ModelInput, actor: Actor): Promise<CatalogModel> {
    const { label, expectedVersion } = input;
    const facts = factsIn(input);
    refuseAny([
      ...labelIssues(label, 'input.label'),
      ...factIssues(facts),
      ...priceIssues(input, this.deps.clock.nowMs()),
      ...expectedVersionIssues(expectedVersion),
      ...(input.effectiveFrom && !input.prices
        ? [{ path: 'input.effectiveFrom', message: 'needs prices; send both or neither' }]
        : []),
    ]);
    const fromMs = input.effectiveFrom?.getTime();
    return this.change({ label, expectedVersion, actor, fromMs }, (before) => {
      const nowMs = this.deps.clock.nowMs();
      const { retiredAt: _, ...stored } = before ?? newModel(label, nowMs);
      const changes = input.prices ? nextHistory(stored.changes, input, nowMs) : stored.changes;
      return { ...stored, ...facts, changes, origin: 'SET', version: stored.version + 1 };
    });
  }

  /** Retires a model: it gets no new costs and is not recommended. Idempotent. */
  retire(label: string, expectedVersion: ExpectedVersion, actor: Actor): Promise<CatalogModel> {
    return this.change({ label, expectedVersion, actor }, (before) => {
      if (!before) throw notFound('model');
      if (before.retiredAt) return before;
      const retiredAt = new Date(this.deps.clock.nowMs());
      return { ...before, retiredAt, origin: 'SET', version: before.version + 1 };
    });
  }

  /** Reads the model, makes the new one of it and saves that, until no other change comes between. */
  private async change(
    request: ModelChange,
    next: (before: CatalogModel | undefined) => CatalogModel,
  ): Promise<CatalogModel> {
    const { label, expectedVersion } = request;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = labelIssues(label, 'label').length > 0 ? undefined : await this.deps.store.read(label);
      const version = before?.version ?? 0;
      if (isStale(expectedVersion, version)) throw versionConflict('the model', version);
      const after = next(before);
      if (after === before) return after;
      const outcome = await this.save(request, before, after);
      if (outcome === 'full')
        throw badInput({
          path: 'input.label',
          message: `the catalog has the maximum of ${maxLabels} labels; change an existing one`,
        });
      if (outcome === 'saved') return after;
    }
    throw unavailable('this model is being changed by several callers at the same time; retry');
  }

  private async save(
    { label, actor, fromMs }: ModelChange,
    before: CatalogModel | undefined,
    after: CatalogModel,
  ): Promise<SaveOutcome> {
    const { store, changes, audit, sync, clock } = this.deps;
    const { version, retiredAt } = after;
    const atMs = fromMs ?? clock.nowMs();
    const event = audit.draft({
      orgId: platformTenant,
      actor,
      action: retiredAt ? 'model_retired' : 'model_set',
      entityId: modelEntity(label),
      details: { version, ...(fromMs === undefined ? {} : { effectiveFrom: new Date(fromMs).toISOString() }) },
      changes: changesBetween(before ? audited(before, atMs) : {}, audited(after, atMs)),
    });
    const riders = [event, changes.draftPlaceChange(platformTenant, [catalogPlace])];
    const outcome = await changes.during(platformTenant, [catalogPlace], () => store.save(after, riders));
    // The change is stored. If it cannot be loaded now, the next tick loads it.
    if (outcome === 'saved') await sync.load().catch(() => undefined);
    return outcome;
  }
}

const newModel = (label: string, nowMs: number): CatalogModel => ({
  label,
  modelId: '',
  version: 0,
  origin: 'SET',
  defaultEntries: [],
  changes: [],
  addedAtMs: nowMs,
  position: 0,
});

function factsIn({ modelId, provider, tier, family, description }: ModelInput): ModelFacts {
  const given = Object.entries({ provider, tier, family, description }).filter(([, text]) => typeof text === 'string');
  return { modelId, ...Object.fromEntries(given) };
}

const audited = ({ modelId, provider, tier, family, description, retiredAt, changes }: CatalogModel, atMs: number) => ({
  modelId,
  provider,
  tier,
  family,
  description,
  retiredAt: retiredAt?.toISOString(),
  prices: entriesText(entriesAt(changes, atMs)),
});
