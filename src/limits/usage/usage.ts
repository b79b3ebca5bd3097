import type { Amounts } from '../buckets/bucket.js';

export const hourMs = 3_600_000;
export const usageWindows = ['HOURLY', 'DAILY', 'MONTHLY'] as const;
export type UsageWindow = (typeof usageWindows)[number];

export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** What was used of a resource in one UTC hour. */
export interface HourUsage {
  readonly entityId: string;
  readonly resource: string;
  readonly hour: number;
  readonly consumed: Amounts;
  readonly events: number;
}

/** The first ms of the UTC hour, day or month that holds this one. */
export function windowStart(window: UsageWindow, ms: number): number {
  const date = new Date(ms);
  if (window === 'MONTHLY') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const length = window === 'DAILY' ? 24 * hourMs : hourMs;
  return Math.floor(ms / length) * length;
}

/** The first ms after the window that begins here. */
export function windowEnd(window: UsageWindow, startMs: number): number {
  const date = new Date(startMs);
  if (window === 'MONTHLY') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return startMs + (window === 'DAILY' ? 24 * hourMs : hourMs);
}

export interface WindowUsage {
  readonly startMs: number;
  readonly endMs: number;
  readonly resource: string;
  readonly consumed: Amounts;
  readonly events: number;
  readonly entities: ReadonlySet<string>;
}

/** Sums hours into windows, by resource: oldest first, within a window by resource. */
export function sumHours(hours: readonly HourUsage[], window: UsageWindow): WindowUsage[] {
  const windows = new Map<string, { startMs: number; resource: string; consumed: Record<string, bigint>; events: number; entities: Set<string> }>();
  for (const { hour, resource, consumed, events, entityId } of hours) {
    const startMs = windowStart(window, hour * hourMs);
    const name = `${startMs} ${resource}`;
    const sum = windows.get(name) ?? { startMs, resource, consumed: {}, events: 0, entities: new Set() };
    windows.set(name, sum);
    for (const [limit, milli] of Object.entries(consumed)) sum.consumed[limit] = (sum.consumed[limit] ?? 0n) + milli;
    sum.events += events;
    sum.entities.add(entityId);
  }
  return [...windows.values()]
    .map((sum) => ({ ...sum, endMs: windowEnd(window, sum.startMs) }))
    .sort((a, b) => a.startMs - b.startMs || (a.resource < b.resource ? -1 : 1));
}
