import type { Clock } from '../../lib/clock.js';
import { type Issue, refuseAny } from '../../lib/errors.js';
import type { Charge } from '../../lib/units.js';
import type { BucketRegistry } from '../buckets/bucket.registry.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { unexpired } from '../buckets/expiry.js';
import { availableAcross, type Shard } from '../buckets/shard.js';
import type { EntityStore } from '../entities/entity.store.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { isLimitName, isResource, type Limit, limitOf, resourceIssues, tokensOf } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';

export interface Bucket {
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

export const tooManyEntities = 'too many entities use this resource for one response; ask for single entities';

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

/** What dashboards read of buckets: how much is left. */
export class ReportService {
  constructor(private readonly parts: ReportDeps) {}

  async bucket(orgId: string, entityId: string, resource: string): Promise<Bucket | undefined> {
    if (!isResource(resource)) return undefined;
    const id = { namespace: await this.parts.namespaces.of(orgId), entityId, resource };
    return this.present(orgId, id, await this.parts.registry.load(id));
  }

  /** By resource. */
  async bucketsOf(orgId: string, entityId: string, charge: Charge): Promise<Bucket[]> {
    const { buckets, namespaces } = this.parts;
    const ids = (await buckets.listOfEntity(await namespaces.of(orgId), entityId)).filter(isOfLevels);
    charge(ids.length);
    const found = await buckets.loadMany(ids);
    return ids
      .flatMap((id, i) => this.present(orgId, id, found[i] ?? []) ?? [])
      .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  /** How much of a limit everyone has and could take now, each at most its capacity. */
  async capacity(
    orgId: string,
    { resource, limit, parentsOnly }: CapacityQuery,
    charge: Charge,
  ): Promise<ResourceCapacity> {
    refuseAny([...resourceIssues(resource, 'resource'), ...limitIssues(limit)]);
    const { buckets, entities, namespaces, clock } = this.parts;
    const namespace = await namespaces.of(orgId);
    const ids = (await buckets.listOfResource(namespace, resource)).filter(isOfLevels);
    charge(ids.length, tooManyEntities);
    const created = parentsOnly
      ? await entities.loadMany(ids.map(({ entityId }) => ({ orgId, namespace, entityId })))
      : [];
    const wanted = parentsOnly ? ids.filter((_, i) => created[i] && created[i].parentId === undefined) : ids;
    const found = await buckets.loadMany(wanted);
    const nowMs = clock.nowMs();
    const rows = wanted.flatMap(({ entityId }, i) => {
      const shards = unexpired(found[i] ?? [], nowMs);
      const spec = shards[0]?.limits.find(({ name }) => name === limit);
      if (!spec) return [];
      const { capacity } = limitOf(spec);
      const available = Math.min(capacity, tokensOf(availableAcross(shards, limit, nowMs)));
      return [{ entityId, capacity, available, utilizationPct: utilization(capacity, available) }];
    });
    rows.sort((a, b) => (a.entityId < b.entityId ? -1 : 1));
    const total = (of: 'capacity' | 'available') =>
      tokensOf(rows.reduce((sum, row) => sum + BigInt(row[of]), 0n) * 1000n);
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

  private present(orgId: string, { entityId, resource }: BucketId, found: readonly Shard[]): Bucket | undefined {
    const nowMs = this.parts.clock.nowMs();
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

/** Not of limits that callers bring along: those say nothing of what is set. */
const isOfLevels = ({ isOwn }: BucketId): boolean => !isOwn;

const utilization = (capacity: number, available: number): number =>
  capacity === 0 ? 0 : Math.round(((capacity - available) / capacity) * 100_000) / 1000;

export const limitIssues = (limit: string): Issue[] =>
  isLimitName(limit) ? [] : [{ path: 'limit', message: 'is no name that a limit can have' }];
