import type { Clock } from '../../lib/clock.js';
import { badInput, refuseAny } from '../../lib/errors.js';
import type { Charge } from '../../lib/units.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import { availableAcross, openUsage, type Shard, unexpired } from '../buckets/shard.js';
import type { EntityStore } from '../entities/entity.store.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { isLimitName, isResource, type Limit, limitOf, resourceIssues, tokensOf } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { type HourUsage, hourMs, hourOf, sumHours, type UsageWindow, type WindowUsage, windowEnd, windowStart } from './usage.js';
import type { Hours, UsageStore } from './usage.store.js';

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

export interface UsageRange {
  readonly window: UsageWindow;
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

const attempts = 5;
const tooManyEntities = 'too many entities use this resource for one response; ask for single entities';

export interface CapacityQuery {
  readonly resource: string;
  readonly limit: string;
  readonly parentsOnly: boolean;
}

export interface UsageSubject {
  readonly entityId: string;
  /** Absent: every resource. */
  readonly resource?: string | null | undefined;
}

export interface ReportParts {
  readonly buckets: BucketStore;
  readonly usage: UsageStore;
  readonly entities: EntityStore;
  readonly namespaces: NamespaceService;
  readonly clock: Clock;
  readonly usageDays: number;
}

/** What dashboards read of buckets and their use. */
export class ReportService {
  constructor(private readonly parts: ReportParts) {}

  async bucket(orgId: string, entityId: string, resource: string): Promise<Bucket | undefined> {
    if (!isResource(resource)) return undefined;
    const id = { namespace: await this.parts.namespaces.of(orgId), entityId, resource };
    return this.present(orgId, id, await this.parts.buckets.load(id));
  }

  /** By resource. */
  async bucketsOf(orgId: string, entityId: string, charge: Charge): Promise<Bucket[]> {
    const { buckets, namespaces } = this.parts;
    const ids = await buckets.listOfEntity(await namespaces.of(orgId), entityId);
    charge(ids.length);
    const found = await buckets.loadMany(ids);
    return ids.flatMap((id, i) => this.present(orgId, id, found[i] ?? []) ?? []).sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  /** How much of a limit everyone has and could take now, each at most its capacity. */
  async capacity(orgId: string, { resource, limit, parentsOnly }: CapacityQuery, charge: Charge): Promise<ResourceCapacity> {
    refuseAny([...resourceIssues(resource, 'resource'), ...(isLimitName(limit) ? [] : [{ path: 'limit', message: 'is no name that a limit can have' }])]);
    const { buckets, entities, namespaces, clock } = this.parts;
    const namespace = await namespaces.of(orgId);
    const ids = await buckets.listOfResource(namespace, resource);
    charge(ids.length, tooManyEntities);
    const created = parentsOnly ? await entities.loadMany(ids.map(({ entityId }) => ({ orgId, namespace, entityId }))) : [];
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
    const total = (of: 'capacity' | 'available') => tokensOf(rows.reduce((sum, row) => sum + BigInt(row[of]), 0n) * 1000n);
    const [totalCapacity, totalAvailable] = [total('capacity'), total('available')];
    return { resource, limit, totalCapacity, totalAvailable, utilizationPct: utilization(totalCapacity, totalAvailable), entities: rows };
  }

  /** What an entity has used, the current hour included: oldest first, within a window by resource. */
  async usageOf(orgId: string, { entityId, resource }: UsageSubject, range: UsageRange, charge: Charge): Promise<WindowUsage[]> {
    refuseAny(resource ? resourceIssues(resource, 'resource') : []);
    const { buckets, usage, namespaces } = this.parts;
    const namespace = await namespaces.of(orgId);
    const hours = this.hoursOf(range);
    const ids = resource ? [{ namespace, entityId, resource }] : await buckets.listOfEntity(namespace, entityId);
    charge(ids.length);
    return sumHours(await this.withOpenHours(ids, hours, () => usage.ofEntity(namespace, entityId, resource ?? undefined, hours)), range.window);
  }

  /** What everyone has used of a resource, the current hour included: oldest first. */
  async usageOfResource(orgId: string, resource: string, range: UsageRange, charge: Charge): Promise<WindowUsage[]> {
    refuseAny(resourceIssues(resource, 'resource'));
    const { buckets, usage, namespaces } = this.parts;
    const namespace = await namespaces.of(orgId);
    const hours = this.hoursOf(range);
    const ids = await buckets.listOfResource(namespace, resource);
    charge(ids.length, tooManyEntities);
    return sumHours(await this.withOpenHours(ids, hours, () => usage.ofResource(namespace, resource, hours)), range.window);
  }

  /** The hours of all windows that begin in the range; what has expired is left out. */
  private hoursOf({ window, from, to }: UsageRange): Hours {
    const nowMs = this.parts.clock.nowMs();
    const oldestMs = nowMs - this.parts.usageDays * 86_400_000;
    const fromMs = from?.getTime() ?? oldestMs;
    // Another gateway's clock may be ahead of ours; further ahead there can be nothing.
    const toMs = Math.min(to?.getTime() ?? Number.POSITIVE_INFINITY, nowMs + hourMs);
    if (from && to && from >= to) throw badInput({ path: 'from', message: 'must be before `to`' });
    const begins = windowStart(window, fromMs);
    const first = begins < fromMs ? windowEnd(window, begins) : begins;
    return { from: hourOf(Math.max(first, windowStart(window, oldestMs))), to: hourOf(windowEnd(window, windowStart(window, toMs - 1))) };
  }

  /** Closed hours and open ones together. If an hour was closed between the two reads they are read again, or it would count twice or not at all. */
  private async withOpenHours(ids: readonly BucketId[], { from, to }: Hours, readClosed: () => Promise<HourUsage[]>): Promise<HourUsage[]> {
    const { buckets } = this.parts;
    if (from >= to) return [];
    let before = await buckets.loadMany(ids);
    for (let attempt = 0; ; attempt++) {
      const closedHours = await readClosed();
      const after = await buckets.loadMany(ids);
      if (marksOf(before) === marksOf(after) || attempt === attempts) {
        const open = ids.flatMap(({ entityId, resource }, i) =>
          (after[i] ?? []).map((shard) => ({ entityId, resource, hour: shard.hour, ...openUsage(shard) })).filter(({ hour }) => hour >= from && hour < to),
        );
        return [...closedHours, ...open.filter(({ consumed, events }) => events !== 0 || Object.values(consumed).some((milli) => milli !== 0n))];
      }
      before = after;
    }
  }

  private present(orgId: string, { entityId, resource }: BucketId, found: readonly Shard[]): Bucket | undefined {
    const nowMs = this.parts.clock.nowMs();
    const shards = unexpired(found, nowMs);
    const [first] = shards;
    if (!first) return undefined;
    const limits = first.limits.map((spec) => ({
      limit: limitOf(spec),
      available: tokensOf(availableAcross(shards, spec.name, nowMs)),
      totalConsumed: tokensOf(shards.reduce((sum, shard) => sum + (shard.limits.find(({ name }) => name === spec.name)?.consumedMilli ?? 0n), 0n)),
    }));
    return { nodeType: 'Bucket', orgId, entityId, resource, shardCount: first.shardCount, limits };
  }
}

const utilization = (capacity: number, available: number): number => (capacity === 0 ? 0 : Math.round(((capacity - available) / capacity) * 100_000) / 1000);

/** What changes when an hour is closed. */
const marksOf = (buckets: readonly (readonly Shard[])[]): string =>
  JSON.stringify(
    buckets.map((shards) =>
      shards.map(({ hour, eventsBefore, limits }) => [hour, eventsBefore, ...limits.map(({ consumedBeforeMilli }) => String(consumedBeforeMilli))]),
    ),
  );
