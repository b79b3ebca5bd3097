import { key } from '../dynamo/keys.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import type { Usage } from './money.js';

const compact = (day: string): string => day.replaceAll('-', '');
export const dashed = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

export const dayKey = (day: string): string => key`DAY#${compact(day)}`;
export const shardKey = (id: SpendId, shard: number) => ({ PK: shardsKey(id) + key`${shard}`, SK: dayKey(id.day) });
/** What the partition keys of all shards of a scope's label begin with. */
export const shardsKey = (id: SpendId): string => scopeKey(id) + key`#LABEL#${id.label}#SH#`;
export const totalKey = (id: SpendId) => ({ PK: scopeKey(id) + key`#LABEL#${id.label}`, SK: dayKey(id.day) });
/** Request ids belong to the app that sends them. */
export const requestKey = ({
  orgId,
  appId,
  requestId,
}: {
  readonly orgId: string;
  readonly appId: string;
  readonly requestId: string;
}) => ({
  PK: key`ORG#${orgId}#APP#${appId}#REQ#${requestId}`,
});
/** Each slice of the active index is on four keys: a large org enters all of its shards as its day begins, more than one key takes. */
export const activeParts = [0, 1, 2, 3];
export function activeKey(day: string, slice: number, shard: number): string {
  return key`ACTIVE#${compact(day)}#${slice}#${shard % activeParts.length}`;
}

export const usageAttributes = ({ costUsdMicros, inputTokens, outputTokens, requests }: Usage) => ({
  cost_usd_micros: costUsdMicros,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  requests,
});

/** Past 2^53 a figure stands still: still over every quota, and no scope can spoil the sums of others. */
const exact = (value: unknown): number => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

export const toUsage = (item: { readonly [name: string]: unknown }): Usage => ({
  costUsdMicros: exact(item.cost_usd_micros),
  inputTokens: exact(item.input_tokens),
  outputTokens: exact(item.output_tokens),
  requests: exact(item.requests),
});
