import type { Clock } from '../../lib/clock.js';
import { badInput, type Issue, refuseAny } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';
import type { Charge } from '../../lib/units.js';
import { openUsage } from '../buckets/booking.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import type { Shard } from '../buckets/shard.js';
import type { EntityStore } from '../entities/entity.store.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { limitNameIssues, resourceIssues } from '../limit-input.js';
import type { BucketId } from '../limiter-keys.js';
import { tooManyEntities } from './report.service.js';
import {
  type HourUsage,
  hourMs,
  hourOf,
  sumHours,
  type TopEntity,
  type TopOrder,
  topEntities,
  type UsageWindow,
  type WindowUsage,
  windowEnd,
  windowStart,
} from './usage.js';
import type { FoundKeys, HourRange, UsageStore } from './usage.store.js';

export interface UsageRange {
  readonly window: UsageWindow;
  /** Absent: from the oldest stored hour. */
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

export interface UsageSubject {
  readonly entityId: string;
  /** Absent: all resources. */
  readonly resource?: string | null | undefined;
}

export interface ResourceQuery extends UsageRange {
  readonly resource: string;
  readonly parentsOnly: boolean;
}

export interface TopQuery {
  readonly resource: string;
  readonly window: UsageWindow;
  readonly limit: string;
  readonly by: TopOrder;
  readonly first: number;
}

export interface TopEntities {
  readonly startMs: number;
  readonly endMs: number;
  readonly entities: readonly TopEntity[];
  readonly truncated: boolean;
}

export const maxTop = 50;
/** Max usage items that `topEntities` reads, and max shards of buckets. */
export const maxTopItems = 10_000;
/** With this rate the largest `topEntities` fits into the work budget of one operation, and two of them do not. */
const topItemsPerUnit = 4;

export interface UsageDeps {
  readonly buckets: BucketStore;
  readonly usage: UsageStore;
  readonly entities: EntityStore;
  readonly namespaces: NamespaceService;
  readonly clock: Clock;
}

/** Reads past usage and refusals, including the current hour, for dashboards. */
export class UsageService {
  constructor(private readonly deps: UsageDeps) {}

  /** The usage of an entity. Oldest first, within a window by resource. */
  async ofEntity(
    orgId: string,
    { entityId, resource }: UsageSubject,
    range: UsageRange,
    charge: Charge,
  ): Promise<WindowUsage[]> {
    refuseAny(resource ? resourceIssues(resource, 'resource') : []);
    const { buckets, usage, namespaces } = this.deps;
    const namespace = await namespaces.of(orgId);
    const hours = this.hoursOf(range);
    const ids = resource
      ? bucketsFor({ namespace, entityId, resource })
      : await buckets.directory.listOfEntity(namespace, entityId);
    charge(ids.length);
    return sumHours(
      await this.withOpenHours(ids, hours, () => usage.ofEntity(namespace, entityId, resource ?? undefined, hours)),
      range.window,
    );
  }

  /** The usage of a resource by all entities. Oldest first. */
  async ofResource(
    orgId: string,
    { resource, parentsOnly, ...range }: ResourceQuery,
    charge: Charge,
  ): Promise<WindowUsage[]> {
    refuseAny(resourceIssues(resource, 'resource'));
    const { buckets, usage, namespaces } = this.deps;
    const namespace = await namespaces.of(orgId);
    const hours = this.hoursOf(range);
    const ids = await buckets.directory.listOfResource(namespace, resource);
    charge(ids.length, tooManyEntities);
    const all = await this.withOpenHours(ids, hours, () => usage.ofResource(namespace, resource, hours));
    return sumHours(parentsOnly ? await this.ofParents(orgId, namespace, all, charge) : all, range.window);
  }

  /**
   * The entities with the most usage or refusals in the current window. `truncated`: not all items of the window were
   * read.
   */
  async topEntities(
    orgId: string,
    { resource, window, limit, by, first }: TopQuery,
    charge: Charge,
  ): Promise<TopEntities> {
    refuseAny([...resourceIssues(resource, 'resource'), ...limitNameIssues(limit, 'limit'), ...firstIssues(first)]);
    const { buckets, usage, namespaces, clock } = this.deps;
    const namespace = await namespaces.of(orgId);
    const startMs = windowStart(window, clock.nowMs());
    const endMs = windowEnd(window, startMs);
    const hours = { from: hourOf(startMs), to: hourOf(endMs) };
    const { ids, truncated } = await buckets.directory.firstOfResource(namespace, resource, maxTopItems);
    charge(Math.ceil(ids.length / topItemsPerUnit), tooManyEntities);
    let usageKeys: FoundKeys | undefined;
    const readClosed = async () => {
      const found = await usage.keysOfResource(namespace, resource, hours, maxTopItems);
      if (!usageKeys) charge(Math.ceil(found.keys.length / topItemsPerUnit), tooManyEntities);
      usageKeys = found;
      return usage.loadMany(found.keys);
    };
    // With many buckets, hours keep closing in the first minutes of the next hour. One retry: a slightly wrong number
    // is fine.
    const found = await this.withOpenHours(ids, hours, readClosed, 1);
    return {
      startMs,
      endMs,
      entities: topEntities(found, { limit, by, first }),
      truncated: truncated || usageKeys?.truncated === true,
    };
  }

  /** Keeps only the usage of entities that were created without a parent. */
  private async ofParents(
    orgId: string,
    namespace: string,
    hours: readonly HourUsage[],
    charge: Charge,
  ): Promise<HourUsage[]> {
    const entityIds = [...new Set(hours.map(({ entityId }) => entityId))];
    charge(entityIds.length, tooManyEntities);
    const created = await this.deps.entities.loadMany(entityIds.map((entityId) => ({ orgId, namespace, entityId })));
    const parents = new Set(
      created.flatMap((entity) => (entity && entity.parentId === undefined ? [entity.entityId] : [])),
    );
    return hours.filter(({ entityId }) => parents.has(entityId));
  }

  /** The hours of all windows that begin in the range. */
  private hoursOf({ window, from, to }: UsageRange): HourRange {
    // The clock of another gateway may be ahead, but by less than an hour.
    const toMs = Math.min(to?.getTime() ?? Number.POSITIVE_INFINITY, this.deps.clock.nowMs() + hourMs);
    if (from && to && from >= to) throw badInput({ path: 'from', message: 'must be before `to`' });
    const fromMs = Math.max(from?.getTime() ?? 0, 0);
    const startMs = windowStart(window, fromMs);
    const firstMs = startMs < fromMs ? windowEnd(window, startMs) : startMs;
    return { from: hourOf(firstMs), to: hourOf(windowEnd(window, windowStart(window, toMs - 1))) };
  }

  /**
   * Closed hours (usage items) and open hours (bucket items) together. If an hour was closed between the two reads,
   * both are read again, because that hour would otherwise count twice or not at all.
   */
  private async withOpenHours(
    ids: readonly BucketId[],
    { from, to }: HourRange,
    readClosed: () => Promise<HourUsage[]>,
    maxRetries = 5,
  ): Promise<HourUsage[]> {
    const { buckets } = this.deps;
    if (from >= to) return [];
    let before = await buckets.loadMany(ids);
    for (let attempt = 0; ; attempt++) {
      const closedHours = await readClosed();
      const after = await buckets.loadMany(ids);
      if (hourMarks(before) === hourMarks(after) || attempt === maxRetries) {
        const open = ids.flatMap(({ entityId, resource }, i) =>
          (after[i] ?? []).map((shard) => ({ entityId, resource, hour: shard.hour, ...openHourUsage(shard) })),
        );
        const isUsed = ({ hour, consumed, events }: HourUsage): boolean =>
          hour >= from && hour < to && (events !== 0 || Object.values(consumed).some((milli) => milli !== 0n));
        return [...closedHours, ...open.filter(isUsed)];
      }
      before = after;
    }
  }
}

const openHourUsage = (shard: Shard) => ({ ...openUsage(shard), refused: {}, wouldRefuse: {} });

const firstIssues = (first: number): Issue[] =>
  isWholeWithin(first, 1, maxTop) ? [] : [{ path: 'first', message: `must be a whole number from 1 to ${maxTop}` }];

/** The bucket of the stored limits and the bucket of limits that callers send. */
const bucketsFor = (id: BucketId): BucketId[] => [id, { ...id, isOwn: true }];

/** The attributes that change when an hour is closed. */
const hourMarks = (buckets: readonly (readonly Shard[])[]): string =>
  JSON.stringify(
    buckets.map((shards) =>
      shards.map(({ hour, eventsBefore, limits, retired }) => [
        hour,
        eventsBefore,
        ...[...limits, ...retired].map(({ consumedBeforeMilli }) => String(consumedBeforeMilli)),
      ]),
    ),
  );
