import { unitsOf } from './buckets/bucket.js';
import type { Holding, OutAmount } from './buckets/holding.js';
import type { LeaseHandle } from './lease.js';

// The text form of lease handles (in lease ids) and of holdings (in stored leases). Names are written once and referred
// to by number, because a lease may be split over many shards and its id carries all of them.

type EncodedOut = [
  limit: number,
  milli: string,
  period: string,
  sinceConversion: number,
  windowEndMs: number,
  units: string,
];
export type EncodedHoldings = [
  entities: string[],
  limits: string[],
  holdings: [
    entity: number,
    isOwn: number,
    shard: number,
    shards: number,
    incarnation: string,
    ...outs: Partial<EncodedOut>[],
  ][],
];

/** In the place of `windowEndMs`: a slot of a concurrency limit, which has no window. */
const slotMark = -1;

export function encodeHoldings(holdings: readonly Holding[]): EncodedHoldings {
  const entities = [...new Set(holdings.map(({ entityId }) => entityId))];
  const limits = [...new Set(holdings.flatMap(({ out }) => Object.keys(out)))];
  const encoded = holdings.map(
    ({ entityId, isOwn, shard, shards, incarnation = '', out }): EncodedHoldings[2][number] => [
      entities.indexOf(entityId),
      isOwn ? 1 : 0,
      shard,
      shards,
      incarnation,
      ...Object.entries(out).map(([name, each]) => encodeOut(limits.indexOf(name), each, shards)),
    ],
  );
  return [entities, limits, encoded];
}

/** Leaves out the trailing values that have their defaults. */
function encodeOut(
  limit: number,
  { milli, units, period, sinceConversion = 0, windowEndMs = 0, isSlot }: OutAmount,
  shards: number,
): Partial<EncodedOut> {
  const hasDefaultUnits = units === unitsOf({ refillPeriodMs: period }, milli, shards);
  const all: EncodedOut = [
    limit,
    String(milli),
    String(period),
    sinceConversion,
    isSlot ? slotMark : windowEndMs,
    String(units),
  ];
  const encoded = hasDefaultUnits ? all.slice(0, 5) : all;
  while (encoded.at(-1) === 0 && encoded.length > 3) encoded.pop();
  return encoded as Partial<EncodedOut>;
}

export const decodeHoldings = ([entities, limits, holdings]: EncodedHoldings): Holding[] =>
  holdings.map(([entity, isOwn, shard, shards, incarnation, ...outs]) => ({
    entityId: entities[entity] as string,
    ...(isOwn ? { isOwn: true as const } : {}),
    shard,
    shards,
    incarnation,
    out: Object.fromEntries(outs.map((out) => [limits[out[0] as number] as string, decodeOut(out, shards)])),
  }));

function decodeOut(
  [, milliText = '0', periodText = '1', sinceConversion = 0, windowEndMs = 0, units]: Partial<EncodedOut>,
  shards: number,
): OutAmount {
  const [milli, period] = [BigInt(milliText), BigInt(periodText)];
  return {
    milli,
    units: units === undefined ? unitsOf({ refillPeriodMs: period }, milli, shards) : BigInt(units),
    period,
    sinceConversion,
    ...(windowEndMs > 0 ? { windowEndMs } : {}),
    ...(windowEndMs === slotMark ? { isSlot: true } : {}),
  };
}

type EncodedHandle = [
  orgId: string,
  namespace: string,
  name: string,
  entityId: string,
  resource: string,
  holdings: EncodedHoldings,
  expiresAtMs: number,
  degraded: number,
];

export function encodeHandle(handle: LeaseHandle): string {
  const { orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded } = handle;
  const encoded: EncodedHandle = [
    orgId,
    namespace,
    name,
    entityId,
    resource,
    encodeHoldings(holdings),
    expiresAtMs,
    degraded ? 1 : 0,
  ];
  return JSON.stringify(encoded);
}

/** Trusts the text: it comes from a lease id that this deployment has sealed, or from its own table. */
export function decodeHandle(text: string): LeaseHandle {
  const [orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded] = JSON.parse(
    text,
  ) as EncodedHandle;
  return {
    orgId,
    namespace,
    name,
    entityId,
    resource,
    holdings: decodeHoldings(holdings),
    expiresAtMs,
    degraded: degraded === 1,
  };
}
