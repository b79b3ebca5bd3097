import type { Update } from '../../dynamo/client.js';
import { and, atLeast, atMost, type Condition, equals, lessThan, present } from '../../dynamo/expression.js';
import { type ShardId, shardKey } from '../limiter-keys.js';
import { attribute, placeOf, slotAttribute, table } from './bucket.item.js';
import { afterStep, identityOf, type LimitState, type Step, slotGraceMs, stepFor } from './bucket.js';
import { expiryMs, ttlOf, withExpiry } from './expiry.js';
import type { Shard } from './shard.js';
import type { LimitChange, ShardChange } from './shard-change.js';

export interface PlannedWrite {
  readonly write: Update;
  /** The shard after the write, if no other writer has changed it since it was read. */
  readonly after: Shard;
  /** True if the write changes every attribute that other writers may have changed, so their new values are enough. */
  readonly updatesEveryLimit: boolean;
  /** A change of a cached shard, the creation of a bucket, or a take from a bucket that is not cached. */
  readonly kind: 'change' | 'creation' | 'speculation';
}

/** Conditions: no conversion and no new hour since the shard was read. */
export const sameState = ({ version, incarnation, shardCount, hour }: Shard): Condition[] => [
  equals('cv', version),
  equals('bi', incarnation),
  equals('sc', shardCount),
  equals('hw', hour),
];

/** A limit before and after a write. */
export interface ChangedLimit {
  readonly limit: LimitState;
  /** The place of its attributes. */
  readonly place: string;
  readonly change: LimitChange | undefined;
  readonly step: Step;
  readonly after: LimitState;
}

export function changedLimit(
  limit: LimitState,
  place: string,
  change: LimitChange | undefined,
  nowMs: number,
): ChangedLimit {
  const step = change ? stepFor(limit, change, nowMs) : {};
  const stepped = afterStep(limit, step);
  const consumedMilli = limit.consumedMilli + (change?.consumedMilli ?? 0n);
  const slots = { ...stepped.slots, ...change?.taken, ...change?.renewed };
  for (const lease of change?.freed ?? []) delete slots[lease];
  return {
    limit,
    place,
    change,
    step,
    after: { ...stepped, consumedMilli, ...(limit.isConcurrency ? { slots } : {}) },
  };
}

/** The one write of a group on a shard that this process has cached. */
export function changeWrite(id: ShardId, shard: Shard, change: ShardChange, nowMs: number): PlannedWrite {
  const { events, mayExpire = shard.expiresAtSecs !== undefined } = change;
  const changeOf = (limit: LimitState) => change.limits.get(identityOf(limit));
  const limits = shard.limits.map((limit, i) => changedLimit(limit, placeOf(i, false), changeOf(limit), nowMs));
  const retired = shard.retired.map((limit, i) => changedLimit(limit, placeOf(i, true), changeOf(limit), nowMs));
  const changed = [...limits, ...retired];
  const next = { ...shard, limits: limits.map(({ after }) => after), retired: retired.map(({ after }) => after) };
  const expiresAtMs = mayExpire && shard.shardCount === 1 ? expiryMs(next, nowMs) : undefined;
  const ttl = ttlOf(expiresAtMs);
  const attributes: ChangedAttributes = {
    set: ttl === undefined ? {} : { ttl },
    add: { wc: 1, ...(events === 0 ? {} : { ec: events }) },
    // Removed even if the cached shard has none, because another gateway may have set one since.
    remove: ttl === undefined ? ['ttl'] : [],
  };
  for (const each of changed) addAttributes(each, attributes);
  const conditions = [...sameState(shard), ...changed.flatMap((each) => conditionsOf(each, expiresAtMs, nowMs))];
  const { set, add, remove } = attributes;
  return {
    write: {
      table,
      update: shardKey(id),
      set,
      add,
      ...(remove.length > 0 ? { remove } : {}),
      condition: and(...conditions),
    },
    after: { ...withExpiry(next, ttl), events: shard.events + events, writes: shard.writes + 1 },
    updatesEveryLimit: events !== 0 && retired.length === 0 && limits.every(isUpdated),
    kind: 'change',
  };
}

const isUpdated = ({ limit, step, change }: ChangedLimit): boolean =>
  limit.refillMilli > 0n &&
  (step.set !== undefined || step.add !== undefined) &&
  change !== undefined &&
  change.consumedMilli !== 0n;

interface ChangedAttributes {
  readonly set: Record<string, bigint | number>;
  readonly add: Record<string, bigint | number>;
  readonly remove: string[];
}

function addAttributes(
  { limit, place, change, step, after }: ChangedLimit,
  { set, add, remove }: ChangedAttributes,
): void {
  const fullAt = attribute(place, 'f');
  if (step.set !== undefined) set[fullAt] = step.set;
  if (step.add !== undefined) add[fullAt] = step.add;
  if (after.consumedMilli !== limit.consumedMilli)
    add[attribute(place, 'c')] = after.consumedMilli - limit.consumedMilli;
  if (step.window && step.window.becomes !== step.window.is) set[attribute(place, 'w')] = step.window.becomes;
  const slots = Object.entries({ ...change?.taken, ...change?.renewed });
  for (const [lease, untilMs] of slots) set[slotAttribute(place, lease)] = untilMs;
  for (const lease of [...(change?.freed ?? []), ...(step.drops ?? [])]) remove.push(slotAttribute(place, lease));
}

function conditionsOf(
  { limit, place, change, step }: ChangedLimit,
  expiresAtMs: number | undefined,
  nowMs: number,
): Condition[] {
  const fullAt = attribute(place, 'f');
  const mustExist = [...Object.keys(change?.renewed ?? {}), ...(change?.freed ?? [])];
  // Nothing else bounds `fullAt` here. If another gateway has charged a debt that lasts longer than the expiry of this
  // write, the write must fail, and the next attempt computes a later expiry.
  const mayOutlastExpiry =
    expiresAtMs !== undefined && limit.refillMilli > 0n && !change?.checksCeiling && step.set === undefined;
  return [
    ...(step.from === undefined ? [] : [atLeast(fullAt, step.from)]),
    ...(step.upTo === undefined ? [] : [atMost(fullAt, step.upTo)]),
    ...(step.below === undefined ? [] : [lessThan(fullAt, step.below)]),
    ...(step.window ? [equals(attribute(place, 'w'), step.window.is)] : []),
    ...mustExist.map((lease) => present(slotAttribute(place, lease))),
    ...(step.drops ?? []).map((lease) => atMost(slotAttribute(place, lease), nowMs - slotGraceMs)),
    ...(mayOutlastExpiry ? [atMost(fullAt, BigInt(expiresAtMs) * limit.refillMilli - (step.add ?? 0n))] : []),
  ];
}
