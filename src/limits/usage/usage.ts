import type { Amounts } from '../buckets/bucket.js';
import { tokensOf } from '../limit.js';

export const hourMs = 3_600_000;
/** Max number of limits that a usage item counts one by one. The others are counted together as `other`. */
export const maxUsageNames = 32;
export const otherLimits = 'other';
export const usageWindows = ['HOURLY', 'DAILY', 'MONTHLY'] as const;
export type UsageWindow = (typeof usageWindows)[number];

export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** Numbers of acquires by the name of the limit. */
export type CountsByLimit = Readonly<Record<string, number>>;

export interface UsageFigures {
  readonly consumed: Amounts;
  /** Acquires that were granted. */
  readonly events: number;
  /** Acquires that were refused, counted under each limit that refused them. */
  readonly refused: CountsByLimit;
  /** Acquires that a limit would have refused if it were enforced. */
  readonly wouldRefuse: CountsByLimit;
}

/** The usage of a resource by an entity in one UTC hour, or a part of it. */
export interface HourUsage extends UsageFigures {
  readonly entityId: string;
  readonly resource: string;
  readonly hour: number;
}

/** The first millisecond of the UTC hour, day or month that contains `ms`. */
export function windowStart(window: UsageWindow, ms: number): number {
  const date = new Date(ms);
  if (window === 'MONTHLY') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const length = window === 'DAILY' ? 24 * hourMs : hourMs;
  return Math.floor(ms / length) * length;
}

/** The first millisecond after the window that begins at `startMs`. */
export function windowEnd(window: UsageWindow, startMs: number): number {
  const date = new Date(startMs);
  if (window === 'MONTHLY') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return startMs + (window === 'DAILY' ? 24 * hourMs : hourMs);
}

export interface WindowUsage extends UsageFigures {
  readonly startMs: number;
  readonly endMs: number;
  readonly resource: string;
  /** Entities that used the resource. Entities that were only refused do not count. */
  readonly entities: ReadonlySet<string>;
}

class UsageSum implements UsageFigures {
  readonly consumed: Record<string, bigint> = {};
  events = 0;
  readonly refused: Record<string, number> = {};
  readonly wouldRefuse: Record<string, number> = {};
  readonly entities = new Set<string>();

  add({ consumed, events, refused, wouldRefuse, entityId }: HourUsage): void {
    for (const [limit, milli] of Object.entries(consumed)) this.consumed[limit] = (this.consumed[limit] ?? 0n) + milli;
    for (const [limit, count] of Object.entries(refused)) this.refused[limit] = (this.refused[limit] ?? 0) + count;
    for (const [limit, count] of Object.entries(wouldRefuse))
      this.wouldRefuse[limit] = (this.wouldRefuse[limit] ?? 0) + count;
    this.events += events;
    if (events !== 0 || Object.keys(consumed).length > 0) this.entities.add(entityId);
  }
}

function summed<T>(
  hours: readonly HourUsage[],
  groupOf: (usage: HourUsage) => T,
  nameOf: (group: T) => string,
): (T & UsageSum)[] {
  const sums = new Map<string, T & UsageSum>();
  for (const usage of hours) {
    const group = groupOf(usage);
    const name = nameOf(group);
    const sum = sums.get(name) ?? Object.assign(new UsageSum(), group);
    sums.set(name, sum);
    sum.add(usage);
  }
  return [...sums.values()];
}

/** Sums hours into windows per resource. Oldest first, within a window by resource. */
export function sumHours(hours: readonly HourUsage[], window: UsageWindow): WindowUsage[] {
  const windowOf = ({ hour, resource }: HourUsage) => ({ startMs: windowStart(window, hour * hourMs), resource });
  return summed(hours, windowOf, ({ startMs, resource }) => `${startMs} ${resource}`)
    .map((sum) => Object.assign(sum, { endMs: windowEnd(window, sum.startMs) }))
    .sort((a, b) => a.startMs - b.startMs || (a.resource < b.resource ? -1 : 1));
}

export interface UsageCounter {
  readonly limit: string;
  readonly consumed: number;
  readonly refused: number;
  readonly wouldRefuse: number;
}

/** One per limit, sorted by name. */
export const countersOf = ({ consumed, refused, wouldRefuse }: UsageFigures): UsageCounter[] =>
  [...new Set([consumed, refused, wouldRefuse].flatMap((counts) => Object.keys(counts)))].sort().map((limit) => ({
    limit,
    consumed: tokensOf(consumed[limit] ?? 0n),
    refused: refused[limit] ?? 0,
    wouldRefuse: wouldRefuse[limit] ?? 0,
  }));

export const topOrders = ['CONSUMED', 'REFUSED'] as const;
export type TopOrder = (typeof topOrders)[number];

export interface TopEntity {
  readonly entityId: string;
  readonly consumed: number;
  readonly refused: number;
}

/** The entities with the most usage or refusals of a limit, at least 1. Largest first, ties by id. */
export function topEntities(
  hours: readonly HourUsage[],
  { limit, by, first }: { limit: string; by: TopOrder; first: number },
): TopEntity[] {
  return summed(
    hours,
    ({ entityId }) => ({ entityId }),
    ({ entityId }) => entityId,
  )
    .map(({ entityId, consumed, refused }) => ({
      entityId,
      consumed: tokensOf(consumed[limit] ?? 0n),
      refused: refused[limit] ?? 0,
    }))
    .map((entity) => ({ entity, value: by === 'CONSUMED' ? entity.consumed : entity.refused }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || (a.entity.entityId < b.entity.entityId ? -1 : 1))
    .slice(0, first)
    .map(({ entity }) => entity);
}
