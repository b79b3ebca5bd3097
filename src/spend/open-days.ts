import { localDate, nextDate } from '../orgs/calendar.js';

/** A cost may be backdated by 24 hours. Two more hours are for costs on their way. */
const openMs = 26 * 3_600_000;
const aheadMs = 5 * 60_000;
const firstZone = 'Etc/GMT-14';
const lastZone = 'Etc/GMT+12';
const dayMs = 86_400_000;

/** The oldest day that may still get a cost, in any time zone. Days before it are closed once they have been summed. */
export const firstOpenDay = (nowMs: number): string => localDate(lastZone, nowMs - openMs);

/** The newest day that may have a cost, in any time zone. */
export const lastOpenDay = (nowMs: number): string => localDate(firstZone, nowMs + aheadMs);

/** The oldest day whose shards are certainly still stored. */
export const firstShardDay = (nowMs: number, shardDays: number): string =>
  localDate(firstZone, nowMs - (shardDays - 2) * dayMs);

/** The oldest day that can have a cost at all, from the creation time of the tables and the retention of shards. */
export const firstCostDay = (tablesCreatedAtMs: number, nowMs: number, shardDays: number): string =>
  localDate(lastZone, Math.max(tablesCreatedAtMs, nowMs - shardDays * dayMs));

export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = nextDate(day)) days.push(day);
  return days;
}
