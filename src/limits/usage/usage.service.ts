import type { Clock } from '../../lib/clock.js';
import { badInput, type Issue, refuseAny } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';
import type { Charge } from '../../lib/units.js';
import { openUsage } from '../buckets/booking.js';
import type { BucketStore } from '../buckets/bucket.store.js';
import type { Shard } from '../buckets/shard.js';
import type { EntityStore } from '../entities/entity.store.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { resourceIssues } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { limitIssues, tooManyEntities } from './report.service.js';
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
import type { FoundKeys, Hours, UsageStore } from './usage.store.js';

export interface UsageRange {
  readonly window: UsageWindow;
  /** Absent: from the oldest hour on record. */
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

export interface UsageSubject {
  readonly entityId: string;
  /** Absent: every resource. */
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
/** Usage items that a look for the top entities reads, and as many shards of buckets. */
export const maxTopItems = 10_000;
/** So the largest such look fits into one operation, and two of them do not. */
const topItemsPerUnit = 4;

export interface UsageDeps {
  readonly buckets: BucketStore;
  readonly usage: UsageStore;
  readonly entities: EntityStore;
  readonly namespaces: NamespaceService;
  readonly clock: Clock;
}

/** What dashboards read of the past: use and refusals, the current hour included. */
export class UsageService {
  constructor(private readonly deps: UsageDeps) {}

  /** What an entity has used: oldest first, within a window by resource. */
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
      : await buckets.listOfEntity(namespace, entityId);
    charge(ids.length);
    return sumHours(
      await this.withOpenHours(ids, hours, () => usage.ofEntity(namespace, entityId, resource ?? undefined, hours)),
      range.window,
    );
  }

  /** What everyone has used of a resource: oldest first. */
  async ofResource(
    orgId: string,
    { resource, parentsOnly, ...range }: ResourceQuery,
    charge: Charge,
  ): Promise<WindowUsage[]> {
    refuseAny(resourceIssues(resource, 'resource'));
    const { buckets, usage, namespaces } = this.deps;
    const namespace = await namespaces.of(orgId);
    const hours = this.hoursOf(range);
    const ids = await buckets.listOfResource(namespace, resource);
    charge(ids.length, tooManyEntities);
    const all = await this.withOpenHours(ids, hours, () => usage.ofResource(namespace, resource, hours));
    return sumHours(parentsOnly ? await this.ofParents(orgId, namespace, all, charge) : all, range.window);
  }

  /** The entities that used or were refused most of a limit in the current window. `truncated`: not all items of the window were looked at. */
  async topEntities(
    orgId: string,
    { resource, window, limit, by, first }: TopQuery,
    charge: Charge,
  ): Promise<TopEntities> {
    refuseAny([...resourceIssues(resource, 'resource'), ...limitIssues(limit), ...firstIssues(first)]);
    const { buckets, usage, namespaces, clock } = this.deps;
    const namespace = await namespaces.of(orgId);
    const startMs = windowStart(window, clock.nowMs());
    const endMs = windowEnd(window, startMs);
    const hours = { from: hourOf(startMs), to: hourOf(endMs) };
    const { ids, truncated } = await buckets.firstOfResource(namespace, resource, maxTopItems);
    charge(Math.ceil(ids.length / topItemsPerUnit), tooManyEntities);
    let recorded: FoundKeys | undefined;
    const readClosed = async () => {
      const found = await usage.keysOfResource(namespace, resource, hours, maxTopItems);
      if (!recorded) charge(Math.ceil(found.keys.length / topItemsPerUnit), tooManyEntities);
      recorded = found;
      return usage.loadMany(found.keys);
    };
    // With so many buckets some hour always closes in the first minutes of the next: a figure that is a little off must do then.
    const found = await this.withOpenHours(ids, hours, readClosed, 1);
    return {
      startMs,
      endMs,
      entities: topEntities(found, { limit, by, first }),
      truncated: truncated || recorded?.truncated === true,
    };
  }

  /** Only of entities that were created without a parent. */
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

  /** The hours of all windows that begin in the range. Without `from`, of every window with an hour on record. */
  private hoursOf({ window, from, to }: UsageRange): Hours {
    // Another gateway's clock may be ahead of ours; further ahead there can be nothing.
    const toMs = Math.min(to?.getTime() ?? Number.POSITIVE_INFINITY, this.deps.clock.nowMs() + hourMs);
    if (from && to && from >= to) throw badInput({ path: 'from', message: 'must be before `to`' });
    const fromMs = Math.max(from?.getTime() ?? 0, 0);
    const begins = windowStart(window, fromMs);
    const first = begins < fromMs ? windowEnd(window, begins) : begins;
    return { from: hourOf(first), to: hourOf(windowEnd(window, windowStart(window, toMs - 1))) };
  }

  /** Closed hours and open ones together. If an hour was closed between the two reads they are read again, or it would count twice or not at all. */
  private async withOpenHours(
    ids: readonly BucketId[],
    { from, to }: Hours,
    readClosed: () => Promise<HourUsage[]>,
    maxRetries = 5,
  ): Promise<HourUsage[]> {
    const { buckets } = this.deps;
    if (from >= to) return [];
    let before = await buckets.loadMany(ids);
    for (let attempt = 0; ; attempt++) {
      const closedHours = await readClosed();
      const after = await buckets.loadMany(ids);
      if (marksOf(before) === marksOf(after) || attempt === maxRetries) {
        const open = ids.flatMap(({ entityId, resource }, i) =>
          (after[i] ?? []).map((shard) => ({ entityId, resource, hour: shard.hour, ...openUse(shard) })),
        );
        const isUsed = ({ hour, consumed, events }: HourUsage): boolean =>
          hour >= from && hour < to && (events !== 0 || Object.values(consumed).some((milli) => milli !== 0n));
        return [...closedHours, ...open.filter(isUsed)];
      }
      before = after;
    }
  }
}

const openUse = (shard: Shard) => ({ ...openUsage(shard), refused: {}, wouldRefuse: {} });

const firstIssues = (first: number): Issue[] =>
  isWholeWithin(first, 1, maxTop) ? [] : [{ path: 'first', message: `must be a whole number from 1 to ${maxTop}` }];

/** Of the levels, and of limits that callers bring along. */
const bucketsFor = (id: BucketId): BucketId[] => [id, { ...id, isOwn: true }];

/** What changes when an hour is closed. */
const marksOf = (buckets: readonly (readonly Shard[])[]): string =>
  JSON.stringify(
    buckets.map((shards) =>
      shards.map(({ hour, eventsBefore, limits, retired }) => [
        hour,
        eventsBefore,
        ...[...limits, ...retired].map(({ consumedBeforeMilli }) => String(consumedBeforeMilli)),
      ]),
    ),
  );
