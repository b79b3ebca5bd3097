import type { Item, Update } from '../../dynamo/client.js';
import {
  absent,
  and,
  atLeast,
  atMost,
  type Condition,
  equals,
  lessThan,
  or,
  present,
} from '../../dynamo/expression.js';
import type { LimitSet } from '../limit.js';
import { type ShardId, shardIndexKeys, shardKey } from '../limiter-keys.js';
import { attribute, levelsText, prefixOf, shardItem, slotAttribute, specAttributes } from './bucket.item.js';
import { afterStep, ceiling, identityOf, type LimitState, type Step, slotGraceMs, stepIn } from './bucket.js';
import { expiring, expiryMs, ttlOf, withExpiry } from './expiry.js';
import type { LimitChange } from './limit-change.js';
import type { ShardChange } from './plan.js';
import { type Shard, unbornShard } from './shard.js';

const table = 'limiter';

export interface PlannedWrite {
  readonly write: Update;
  /** What the shard is like once it is done, if nobody else has written since it was last seen. */
  readonly after: Shard;
  /** Whether every limit is written, so that what was changed tells all that others may have changed. */
  readonly tellsAll: boolean;
}

/** What no writer may have changed since the shard was seen. */
export const same = ({ version, birth, shardCount, hour }: Shard): Condition[] => [
  equals('cv', version),
  equals('bi', birth),
  equals('shard_count', shardCount),
  equals('hw', hour),
];

interface Changed {
  readonly limit: LimitState;
  readonly prefix: string;
  readonly change: LimitChange | undefined;
  readonly step: Step;
  readonly after: LimitState;
}

function changedLimit(limit: LimitState, isKept: boolean, change: LimitChange | undefined, nowMs: number): Changed {
  const step = change ? stepIn(limit, change, nowMs) : {};
  const stepped = afterStep(limit, step);
  const consumedMilli = limit.consumedMilli + (change?.consumedMilli ?? 0n);
  const slots = { ...stepped.slots, ...change?.taken, ...change?.renewed };
  for (const lease of change?.freed ?? []) delete slots[lease];
  return {
    limit,
    prefix: prefixOf(limit, isKept),
    change,
    step,
    after: { ...stepped, consumedMilli, ...(limit.isConcurrency ? { slots } : {}) },
  };
}

/** The one write of a group on a shard that has been seen before. */
export function changeWrite(
  id: ShardId,
  shard: Shard,
  { limits, events, mayExpire = shard.expiresAtSecs !== undefined }: ShardChange,
  nowMs: number,
): PlannedWrite {
  const changed = [
    ...shard.limits.map((limit) => changedLimit(limit, false, limits.get(identityOf(limit)), nowMs)),
    ...shard.kept.map((limit) => changedLimit(limit, true, limits.get(identityOf(limit)), nowMs)),
  ];
  const inForce = shard.limits.length;
  const [after, kept] = [changed.slice(0, inForce), changed.slice(inForce)].map((some) =>
    some.map((each) => each.after),
  ) as [LimitState[], LimitState[]];
  const expiresAtMs =
    mayExpire && shard.shardCount === 1 ? expiryMs({ ...shard, limits: after, kept }, nowMs) : undefined;
  const ttl = ttlOf(expiresAtMs);
  const set: Record<string, bigint | number> = ttl === undefined ? {} : { ttl };
  const add: Record<string, bigint | number> = { wc: 1, ...(events === 0 ? {} : { ec: events }) };
  // Always, whatever was seen: another gateway may have set one since.
  const remove: string[] = ttl === undefined ? ['ttl'] : [];
  const conditions = [
    ...same(shard),
    ...changed.flatMap((each) => enter(each, { set, add, remove }, expiresAtMs, nowMs)),
  ];
  return {
    write: {
      table,
      update: shardKey(id),
      set,
      add,
      ...(remove.length > 0 ? { remove } : {}),
      condition: and(...conditions),
    },
    after: { ...withExpiry(shard, ttl), limits: after, kept, events: shard.events + events, writes: shard.writes + 1 },
    tellsAll:
      events !== 0 && kept.length === 0 && changed.every(({ limit, step, change }) => isTold(limit, step, change)),
  };
}

const isTold = (limit: LimitState, step: Step, change: LimitChange | undefined): boolean =>
  limit.refillMilli > 0n &&
  (step.set !== undefined || step.add !== undefined) &&
  change !== undefined &&
  change.consumedMilli !== 0n;

interface Written {
  readonly set: Record<string, bigint | number>;
  readonly add: Record<string, bigint | number>;
  readonly remove: string[];
}

/** Enters one limit's part of the write; returns its conditions. */
function enter(
  { limit, prefix, change, step, after }: Changed,
  { set, add, remove }: Written,
  expiresAtMs: number | undefined,
  nowMs: number,
): Condition[] {
  const fullAt = attribute(prefix, 'fa');
  if (step.set !== undefined) set[fullAt] = step.set;
  if (step.add !== undefined) add[fullAt] = step.add;
  if (after.consumedMilli !== limit.consumedMilli)
    add[attribute(prefix, 'tc')] = after.consumedMilli - limit.consumedMilli;
  if (step.window && step.window.becomes !== step.window.is) set[attribute(prefix, 'we')] = step.window.becomes;
  const slots = Object.entries({ ...change?.taken, ...change?.renewed });
  for (const [lease, untilMs] of slots) set[slotAttribute(prefix, lease)] = untilMs;
  for (const lease of [...(change?.freed ?? []), ...(step.drops ?? [])]) remove.push(slotAttribute(prefix, lease));
  const mustBeThere = [...Object.keys(change?.renewed ?? {}), ...(change?.freed ?? [])];
  // What others have charged since must not outlast the item: then its expiry is thought over again.
  const isUnbounded = expiresAtMs !== undefined && limit.refillMilli > 0n && !change?.judged && step.set === undefined;
  return [
    ...(step.from === undefined ? [] : [atLeast(fullAt, step.from)]),
    ...(step.upTo === undefined ? [] : [atMost(fullAt, step.upTo)]),
    ...(step.below === undefined ? [] : [lessThan(fullAt, step.below)]),
    ...(step.window ? [equals(attribute(prefix, 'we'), step.window.is)] : []),
    ...mustBeThere.map((lease) => present(slotAttribute(prefix, lease))),
    ...(step.drops ?? []).map((lease) => atMost(slotAttribute(prefix, lease), nowMs - slotGraceMs)),
    ...(isUnbounded ? [atMost(fullAt, BigInt(expiresAtMs) * limit.refillMilli - (step.add ?? 0n))] : []),
  ];
}

export interface Creation {
  readonly set: LimitSet;
  readonly change: ShardChange;
  readonly birth: string;
  readonly hour: number;
  /** Whether it may also take from a bucket that is there and full, which this process has not seen. */
  readonly orFull: boolean;
}

/** The first write on a bucket: makes it. */
export function creationWrite(
  id: ShardId,
  { set, change, birth, hour, orFull }: Creation,
  nowMs: number,
): PlannedWrite {
  const unborn = unbornShard(set, nowMs);
  const changed = unborn.limits.map((limit) => changedLimit(limit, false, change.limits.get(identityOf(limit)), nowMs));
  const limits = changed.map(({ limit, change: of, after }) => ({ ...after, fullAt: limit.fullAt + (of?.take ?? 0n) }));
  const after = expiring(
    { ...unborn, limits, birth, hour, events: change.events, writes: 1 },
    change.mayExpire ?? true,
    nowMs,
  );
  const isPlain = orFull && limits.every(({ refillMilli }) => refillMilli > 0n);
  const write: Update = isPlain
    ? creatingOrTaking(id, after, changed)
    : { table, update: shardKey(id), set: withoutKey(shardItem(id, after)), condition: absent('PK') };
  return { write, after, tellsAll: false };
}

const withoutKey = ({ PK: _pk, SK: _sk, ...rest }: Item): Item => rest;

/** Makes the bucket, or takes from one that is there, full and stamped with the same limits. */
function creatingOrTaking(id: ShardId, after: Shard, changed: readonly Changed[]): Update {
  const ttl = after.expiresAtSecs;
  const isTaken = ({ change }: Changed): boolean => (change?.take ?? 0n) > 0n;
  const set: Item = Object.assign(
    { cv: after.version, ...shardIndexKeys(id), ...(ttl === undefined ? {} : { ttl }) },
    ...changed.map((each, i) => ({
      ...specAttributes(each.limit, each.prefix),
      ...(isTaken(each) ? { [attribute(each.prefix, 'fa')]: (after.limits[i] as LimitState).fullAt } : {}),
    })),
  );
  const setIfAbsent: Item = Object.assign(
    { shard_count: 1, hw: after.hour, eb: 0, bi: after.birth, rs: 0, lv: levelsText(after.levels) },
    ...changed.map((each) => ({
      [attribute(each.prefix, 'th')]: 0,
      ...(isTaken(each) ? {} : { [attribute(each.prefix, 'fa')]: each.limit.fullAt }),
    })),
  );
  const add = Object.assign(
    { wc: 1, ec: after.events },
    ...changed.map(({ prefix, after: { consumedMilli } }) => ({ [attribute(prefix, 'tc')]: consumedMilli })),
  );
  const thereAndFull = changed.map((each) => {
    const fullAt = attribute(each.prefix, 'fa');
    return isTaken(each)
      ? lessThan(fullAt, each.limit.fullAt)
      : atMost(fullAt, each.limit.fullAt + ceiling(each.limit));
  });
  const like = [equals('cv', after.version), equals('shard_count', 1), equals('hw', after.hour)];
  return {
    table,
    update: shardKey(id),
    set,
    setIfAbsent,
    add,
    ...(ttl === undefined ? { remove: ['ttl'] } : {}),
    condition: or(absent('PK'), and(...like, ...thereAndFull)),
  };
}
