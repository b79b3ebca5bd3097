import { smaller } from '../lib/int.js';
import type { Amounts } from './buckets/bucket.js';

/** What a lease has out of one shard: each limit of the bucket, 0 included. */
export interface Holding {
  readonly entityId: string;
  readonly shard: number;
  readonly amounts: Amounts;
}

/** What a lease's id says: everything that its first adjust or release needs to know. */
export interface LeaseHandle {
  readonly orgId: string;
  readonly namespace: string;
  readonly name: string;
  readonly entityId: string;
  readonly resource: string;
  readonly holdings: readonly Holding[];
  readonly expiresAtMs: number;
  /** Let through because the store did not answer: it holds nothing. */
  readonly degraded: boolean;
}

/** How a lease stands; `version` counts its changes. */
export interface LeaseState {
  readonly version: number;
  readonly holdings: readonly Holding[];
  /** By idempotency key: what was adjusted, and by which call. */
  readonly adjusted: Readonly<Record<string, Adjustment>>;
  /** The nonce of the call that released it. */
  readonly releasedBy?: string;
}

export interface Adjustment {
  readonly hash: string;
  /** Of the call that made it, so that a success whose reply was lost is not taken for an earlier one's. */
  readonly nonce: string;
}

/** What an acquire with a request id leaves for a repeat of it. */
export interface FirstLease {
  readonly handle: LeaseHandle;
  /** Of what was asked: a repeat asks the same. */
  readonly requestHash: string;
  /** Of the attempt that made it. */
  readonly nonce: string;
}

/** What lease ids are sealed for. */
export const leaseContext = 'lease';
export const leaseMs = 24 * 3_600_000;
export const mostAdjusts = 16;

export const firstState = ({ holdings }: LeaseHandle): LeaseState => ({ version: 0, holdings, adjusted: {} });

/** Names once, then numbers for them: a lease may be split over many shards, and its id carries all of it. */
type Encoded = [entities: string[], limits: string[], holdings: [entity: number, shard: number, ...amounts: [limit: number, milli: string][]][]];

export function encodeHoldings(holdings: readonly Holding[]): Encoded {
  const entities = [...new Set(holdings.map(({ entityId }) => entityId))];
  const limits = [...new Set(holdings.flatMap(({ amounts }) => Object.keys(amounts)))];
  const encoded = holdings.map(({ entityId, shard, amounts }): Encoded[2][number] => [
    entities.indexOf(entityId),
    shard,
    ...Object.entries(amounts).map(([name, milli]): [number, string] => [limits.indexOf(name), String(milli)]),
  ]);
  return [entities, limits, encoded];
}

export const decodeHoldings = ([entities, limits, holdings]: Encoded): Holding[] =>
  holdings.map(([entity, shard, ...amounts]) => ({
    entityId: entities[entity] as string,
    shard,
    amounts: Object.fromEntries(amounts.map(([limit, milli]) => [limits[limit] as string, BigInt(milli)])),
  }));

export const encodeHandle = ({ orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded }: LeaseHandle): string =>
  JSON.stringify([orgId, namespace, name, entityId, resource, encodeHoldings(holdings), expiresAtMs, degraded ? 1 : 0]);

/** Of a text that this deployment has signed, and nobody else can have made. */
export function decodeHandle(text: string): LeaseHandle {
  const [orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded] = JSON.parse(text) as [
    string,
    string,
    string,
    string,
    string,
    Encoded,
    number,
    number,
  ];
  return { orgId, namespace, name, entityId, resource, holdings: decodeHoldings(holdings), expiresAtMs, degraded: degraded === 1 };
}

/** Changes of the holdings, one a holding: more is charged to an entity's first, and given back from its last on. */
export interface Settlement {
  readonly moves: readonly Amounts[];
  readonly holdings: readonly Holding[];
}

/** The limit of which more would be given back than is out. */
export interface Excess {
  readonly excess: string;
  readonly outMilli: bigint;
}

/** How a lease's holdings change by these amounts on each of its entities. */
export function settle(holdings: readonly Holding[], deltas: Amounts): Settlement | Excess {
  const moves = holdings.map((): Record<string, bigint> => ({}));
  for (const entityId of new Set(holdings.map((holding) => holding.entityId))) {
    const own = holdings.flatMap((holding, at) => (holding.entityId === entityId ? [{ at, amounts: holding.amounts }] : []));
    for (const [name, delta] of Object.entries(deltas)) {
      const holding = own.filter(({ amounts }) => amounts[name] !== undefined);
      const [first] = holding;
      if (!first || delta === 0n) continue;
      if (delta > 0n) {
        (moves[first.at] as Record<string, bigint>)[name] = delta;
        continue;
      }
      let left = -delta;
      for (const { at, amounts } of holding.reverse()) {
        const out = amounts[name] ?? 0n;
        const back = smaller(out, left);
        if (back > 0n) (moves[at] as Record<string, bigint>)[name] = -back;
        left -= back;
      }
      if (left > 0n) return { excess: name, outMilli: -delta - left };
    }
  }
  return { moves, holdings: holdings.map((holding, at) => ({ ...holding, amounts: plus(holding.amounts, moves[at] as Amounts) })) };
}

/** All that is out, given back. */
export function settleAll(holdings: readonly Holding[]): Settlement {
  const moves = holdings.map(({ amounts }) =>
    Object.fromEntries(Object.entries(amounts).flatMap(([name, out]) => (out === 0n ? [] : [[name, -out] as const]))),
  );
  return { moves, holdings: holdings.map((holding, at) => ({ ...holding, amounts: plus(holding.amounts, moves[at] as Amounts) })) };
}

const plus = (amounts: Amounts, move: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).map(([name, milli]) => [name, milli + (move[name] ?? 0n)]));

/** What the moves add up to on one entity. */
export function sumFor(entityId: string, holdings: readonly Holding[], moves: readonly Amounts[]): Amounts {
  const sum: Record<string, bigint> = {};
  holdings.forEach((holding, at) => {
    if (holding.entityId !== entityId) return;
    for (const [name, milli] of Object.entries(moves[at] ?? {})) sum[name] = (sum[name] ?? 0n) + milli;
  });
  return sum;
}
