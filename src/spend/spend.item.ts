import type { Item } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { TableName } from '../dynamo/tables.js';
import { sha256 } from '../lib/id.js';
import { compactDate } from '../orgs/calendar.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import { type Counters, type HourFigures, maxHours, usageOf } from './counters.js';
import type { Usage } from './money.js';

const dayPrefix = 'DAY#';
export const dayKey = (day: string): string => key`DAY#${compactDate(day)}`;
/** The day in a key made by `dayKey`. */
export function dayIn(sortKey: string): string {
  const day = sortKey.slice(dayPrefix.length);
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}

/** The partition keys of all shards of a scope's label begin with this. */
export const shardsKey = (id: SpendId): string => scopeKey(id) + key`#LABEL#${id.label}#SH#`;
export const shardKey = (id: SpendId, shard: number) => ({ PK: shardsKey(id) + key`${shard}`, SK: dayKey(id.day) });
export const totalKey = (id: SpendId) => ({ PK: scopeKey(id) + key`#LABEL#${id.label}`, SK: dayKey(id.day) });

/** Splits the partition key of a shard. */
export function parseShardKey(partitionKey: string, day: string): { readonly id: SpendId; readonly shard: number } {
  const [base = '', shard] = partitionKey.split('#SH#');
  const [, orgId = '', tag, ...rest] = base.split('#');
  const id =
    tag === 'APP' ? { orgId, appId: rest[0] ?? '', label: rest[2] ?? '', day } : { orgId, label: rest[0] ?? '', day };
  return { id, shard: Number(shard) };
}

/**
 * The sort key of a label's shards in the active index. It is a short hash, because the shard item must stay below 1 KB
 * with 25 hours. Labels that share a hash are told apart by the partition key of the shard.
 */
export const activeSortKey = (id: SpendId): string => sha256(shardsKey(id)).slice(0, 8);

/**
 * Each slice of the active index has four partitions. When the day of a large org begins, all of its shards enter the
 * index, which is more than one partition accepts.
 */
export const activePartitions = [0, 1, 2, 3];
export const activeKey = (day: string, slice: number, shard: number): string =>
  key`ACTIVE#${compactDate(day)}#${slice}#${shard % activePartitions.length}`;

export const usageAttributes = ({ costUsdMicros, inputTokens, outputTokens, requests }: Usage) => ({
  cost_usd_micros: costUsdMicros,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  requests,
});

const hourCost = (hour: number): string => `h${hour}`;
const hourRequests = (hour: number): string => `n${hour}`;
const hourNames = Array.from({ length: maxHours }, (_, hour) => [hourCost(hour), hourRequests(hour)] as const);

/** The attributes of a shard or total. Corrections and hours that are 0 are left out. */
export const counterAttributes = (counters: Counters): Readonly<Record<string, number>> => ({
  cost_usd_micros: counters.grossUsdMicros,
  input_tokens: counters.inputTokens,
  output_tokens: counters.outputTokens,
  requests: counters.requests,
  ...(counters.corrections === 0
    ? {}
    : {
        debit_usd_micros: counters.debitUsdMicros,
        credit_usd_micros: counters.creditUsdMicros,
        corrections: counters.corrections,
      }),
  ...Object.fromEntries(
    [...counters.hours].flatMap(([hour, { costUsdMicros, requests }]) => [
      [hourCost(hour), costUsdMicros],
      ...(requests === 0 ? [] : [[hourRequests(hour), requests]]),
    ]),
  ),
});

/**
 * Saturates at 2^53 - 1. The figure still exceeds every quota, and one scope cannot make the sums of others inexact.
 */
const saturated = (read: Fields, name: string): number => Math.min(Number(read.bigint(name)), Number.MAX_SAFE_INTEGER);

export function toCounters(table: TableName, item: Item): Counters {
  const read = fields(table, item);
  const optional = (name: string): number => (read.has(name) ? saturated(read, name) : 0);
  const hours = new Map<number, HourFigures>();
  for (const [hour, [cost, requests]] of hourNames.entries())
    if (read.has(cost)) hours.set(hour, { costUsdMicros: saturated(read, cost), requests: optional(requests) });
  return {
    grossUsdMicros: saturated(read, 'cost_usd_micros'),
    inputTokens: saturated(read, 'input_tokens'),
    outputTokens: saturated(read, 'output_tokens'),
    requests: saturated(read, 'requests'),
    debitUsdMicros: optional('debit_usd_micros'),
    creditUsdMicros: optional('credit_usd_micros'),
    corrections: optional('corrections'),
    hours,
  };
}

export const toUsage = (table: TableName, item: Item): Usage => usageOf(toCounters(table, item));
