import type { Clock } from '../../lib/clock.js';
import { refuseAny } from '../../lib/errors.js';
import type { Charge } from '../../lib/units.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { unexpired } from '../buckets/expiry.js';
import { availableAcross, type Shard } from '../buckets/shard.js';
import type { EntityStore } from '../entities/entity.store.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { type Limit, limitOf, tokensOf } from '../limit.js';
import { isResource, limitNameIssues, resourceIssues } from '../limit-input.js';
import type { BucketId } from '../limiter-keys.js';

export interface BucketReport {
  readonly nodeType: 'Bucket';
  readonly orgId: string;
  readonly entityId: string;
  readonly resource: string;
  readonly shardCount: number;
  readonly limits: readonly { readonly limit: Limit; readonly available: number; readonly totalConsumed: number }[];
}

export interface EntityCapacity {
  readonly entityId: string;
  readonly capacity: number;
  readonly available: number;
  readonly utilizationPct: number;
}

export interface ResourceCapacity {
  readonly resource: string;
  readonly limit: string;
  readonly totalCapacity: number;
  readonly totalAvailable: number;
  readonly utilizationPct: number;
  readonly entities: readonly EntityCapacity[];
}

export const tooManyEntities = 'too many entities use this resource for one response; request single entities';

export interface CapacityQuery {
  readonly resource: string;
  readonly limit: string;
  readonly parentsOnly: boolean;
}

export interface ReportDeps {
  readonly buckets: BucketStore;
  readonly registry: Pick<BucketRegistry, 'load'>;
  readonly entities: EntityStore;
  readonly namespaces: NamespaceService;
  readonly clock: Clock;
}

/** Reads how much buckets have left, for dashboards. */
export class ReportService {
  constructor(private readonly deps: ReportDeps) {}

  /** The bucket of an entity for a resource. Undefined if there is none or it has expired. */
  async bucket(orgId: string, entityId: string, resource: string): Promise<BucketReport | undefined> {
    if (!isResource(resource)) return undefined;
    const id = { namespace: await this.deps.namespaces.of(orgId), entityId, resource };
    return this.report(orgId, id, await this.deps.registry.load(id));
  }

  /** The buckets of an entity, sorted by resource. */
  async bucketsOf(orgId: string, entityId: string, charge: Charge): Promise<BucketReport[]> {
    const { buckets, namespaces } = this.deps;
    const ids = (await buckets.directory.listOfEntity(await namespaces.of(orgId), entityId)).filter(hasStoredLimits);
    charge(ids.length);
    const found = await buckets.loadMany(ids);
    return ids
      .flatMap((id, i) => this.report(orgId, id, found[i] ?? []) ?? [])
      .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  /** How much of a limit all entities have left now. Each counts with at most its capacity. */
  async capacity(
    orgId: string,
    { resource, limit, parentsOnly }: CapacityQuery,
    charge: Charge,
  ): Promise<ResourceCapacity> {
    refuseAny([...resourceIssues(resource, 'resource'), ...limitNameIssues(limit, 'limit')]);
    const { buckets, entities, namespaces, clock } = this.deps;
    const namespace = await namespaces.of(orgId);
    const ids = (await buckets.directory.listOfResource(namespace, resource)).filter(hasStoredLimits);
    charge(ids.length, tooManyEntities);
    const created = parentsOnly
      ? await entities.loadMany(ids.map(({ entityId }) => ({ orgId, namespace, entityId })))
      : [];
    const selected = parentsOnly ? ids.filter((_, i) => created[i] && created[i].parentId === undefined) : ids;
    const found = await buckets.loadMany(selected);
    const nowMs = clock.nowMs();
    const rows = selected.flatMap(({ entityId }, i) => {
      const shards = unexpired(found[i] ?? [], nowMs);
      const spec = shards[0]?.limits.find(({ name }) => name === limit);
      if (!spec) return [];
      const { capacity } = limitOf(spec);
      const available = Math.min(capacity, tokensOf(availableAcross(shards, limit, nowMs)));
      return [{ entityId, capacity, available, utilizationPct: utilization(capacity, available) }];
    });
    rows.sort((a, b) => (a.entityId < b.entityId ? -1 : 1));
    const total = (field: 'capacity' | 'available') =>
      tokensOf(rows.reduce((sum, row) => sum + BigInt(row[field]), 0n) * 1000n);
    const [totalCapacity, totalAvailable] = [total('capacity'), total('available')];
    return {
      resource,
      limit,
      totalCapacity,
      totalAvailable,
      utilizationPct: utilization(totalCapacity, totalAvailable),
      entities: rows,
    };
  }

  private report(orgId: string, { entityId, resource }: BucketId, found: readonly Shard[]): BucketReport | undefined {
    const nowMs = this.deps.clock.nowMs();
    const shards = unexpired(found, nowMs);
    const [first] = shards;
    if (!first) return undefined;
    const limits = first.limits.map((spec) => ({
      limit: limitOf(spec),
      available: tokensOf(availableAcross(shards, spec.name, nowMs)),
      totalConsumed: tokensOf(
        shards.reduce(
          (sum, shard) => sum + (shard.limits.find(({ name }) => name === spec.name)?.consumedMilli ?? 0n),
          0n,
        ),
      ),
    }));
    return { nodeType: 'Bucket', orgId, entityId, resource, shardCount: first.shardCount, limits };
  }
}

/** Excludes buckets of limits that callers send: reports are about stored limits. */
const hasStoredLimits = ({ isOwn }: BucketId): boolean => !isOwn;

const utilization = (capacity: number, available: number): number =>
  capacity === 0 ? 0 : Math.round(((capacity - available) / capacity) * 100_000) / 1000;
