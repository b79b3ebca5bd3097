import type { Item, Update, Write } from '../../dynamo/client.js';
import { absent, and, atLeast, atMost, type Condition, equals, lessThan, or } from '../../dynamo/expression.js';
import { epochSeconds } from '../../lib/clock.js';
import type { LimitSet } from '../limit.js';
import { type ShardId, shardIndexKeys, shardKey, usageIndexKeys, usageKey } from '../limiter-keys.js';
import { type Amounts, afterStep, fullAtMs, fullLimit, type LimitState, type Move, type Step, stepOf } from './bucket.js';
import { keptMs, openUsage, type Shard } from './shard.js';

const table = 'limiter';
const dayMs = 86_400_000;
const centuryMs = 36_525 * dayMs;

/** The attribute of a limit's field. Two letters last, so that a name may hold whatever a name may hold. */
const attribute = (limit: string, field: 'cp' | 'bx' | 'ra' | 'rp' | 'fa' | 'tc' | 'th'): string => `b_${limit}_${field}`;
const usageAttribute = (limit: string): string => `u_${limit}`;

export function toShard(item: Item): Shard {
  const names = Object.keys(item).flatMap((name) => (name.startsWith('b_') && name.endsWith('_fa') ? [name.slice(2, -3)] : []));
  const number = (name: string, field: Parameters<typeof attribute>[1]): bigint => BigInt((item[attribute(name, field)] as number | bigint | undefined) ?? 0);
  return {
    limits: names.sort().map((name) => ({
      name,
      capacityMilli: number(name, 'cp'),
      burstMilli: number(name, 'bx'),
      refillMilli: number(name, 'ra'),
      refillPeriodMs: number(name, 'rp'),
      fullAt: number(name, 'fa'),
      consumedMilli: number(name, 'tc'),
      consumedBeforeMilli: number(name, 'th'),
    })),
    version: item.cv as string,
    shardCount: item.shard_count as number,
    hour: item.hw as number,
    events: Number(item.ec ?? 0),
    eventsBefore: Number(item.eb ?? 0),
    writes: Number(item.wc ?? 0),
    ...(item.ttl === undefined ? {} : { expiresAtSecs: item.ttl as number }),
  };
}

const specAttributes = ({ name, capacityMilli, burstMilli, refillMilli, refillPeriodMs }: LimitState): Item => ({
  [attribute(name, 'cp')]: capacityMilli,
  [attribute(name, 'bx')]: burstMilli,
  [attribute(name, 'ra')]: refillMilli,
  [attribute(name, 'rp')]: refillPeriodMs,
});

/** A complete item: a shard never exists in part. */
export const shardItem = (id: ShardId, shard: Shard): Item => ({
  ...shardKey(id),
  ...shardIndexKeys(id),
  ...Object.assign({}, ...shard.limits.map(specAttributes)),
  ...Object.assign(
    {},
    ...shard.limits.map(({ name, fullAt, consumedMilli, consumedBeforeMilli }) => ({
      [attribute(name, 'fa')]: fullAt,
      [attribute(name, 'tc')]: consumedMilli,
      [attribute(name, 'th')]: consumedBeforeMilli,
    })),
  ),
  cv: shard.version,
  shard_count: shard.shardCount,
  hw: shard.hour,
  ec: shard.events,
  eb: shard.eventsBefore,
  wc: shard.writes,
  ttl: shard.expiresAtSecs,
});

function conditionOf(limit: string, { from, upTo, below }: Step): Condition[] {
  const fullAt = attribute(limit, 'fa');
  return [
    ...(from === undefined ? [] : [atLeast(fullAt, from)]),
    ...(upTo === undefined ? [] : [atMost(fullAt, upTo)]),
    ...(below === undefined ? [] : [lessThan(fullAt, below)]),
  ];
}

/** What is to be done to a shard by all who share a write. */
export interface Doing {
  readonly moves: ReadonlyMap<string, Move>;
  /** How many acquires are among them. */
  readonly events: number;
  /** Whether the item may expire: not where the entity has limits of its own for the resource. Absent: as it is. */
  readonly mayExpire?: boolean;
}

export interface PlannedWrite {
  readonly write: Update;
  /** What the shard is like once it is done, if nobody else has written since it was last seen. */
  readonly after: Shard;
  /** Whether every limit is written, so that what was changed tells all that others may have changed. */
  readonly tellsAll: boolean;
}

/** The shard after its planned write, with the figures that the store says it now has. */
export function toldBy(after: Shard, changed: Item): Shard {
  const number = (limit: string, field: Parameters<typeof attribute>[1]): bigint => BigInt(changed[attribute(limit, field)] as number | bigint);
  return {
    ...after,
    limits: after.limits.map((limit) => ({ ...limit, fullAt: number(limit.name, 'fa'), consumedMilli: number(limit.name, 'tc') })),
    events: Number(changed.ec ?? after.events),
    writes: Number(changed.wc),
  };
}

const same = (shard: Shard): Condition[] => [equals('cv', shard.version), equals('shard_count', shard.shardCount), equals('hw', shard.hour)];

/** The one write of a group on a shard that has been seen before. */
export function changeOf(id: ShardId, shard: Shard, { moves, events, mayExpire = shard.expiresAtSecs !== undefined }: Doing, nowMs: number): PlannedWrite {
  const planned = shard.limits.map((limit) => {
    const move = moves.get(limit.name);
    return { limit, move, step: move ? stepOf(limit, move, nowMs, shard.shardCount) : {} };
  });
  const after = planned.map(({ limit, move, step }) => ({
    ...afterStep(limit, step),
    consumedMilli: limit.consumedMilli + (move ? move.takeMilli + move.chargeMilli - move.returnMilli : 0n),
  }));
  const expiresAtMs = mayExpire && shard.shardCount === 1 ? expiryMs(after, nowMs) : undefined;
  const set: Record<string, bigint | number> = {};
  const add: Record<string, bigint | number> = { wc: 1, ...(events === 0 ? {} : { ec: events }) };
  const conditions: Condition[] = same(shard);
  planned.forEach(({ limit, move, step }, i) => {
    const fullAt = attribute(limit.name, 'fa');
    if (step.set !== undefined) set[fullAt] = step.set;
    if (step.add !== undefined) add[fullAt] = step.add;
    const consumed = (after[i] as LimitState).consumedMilli - limit.consumedMilli;
    if (consumed !== 0n) add[attribute(limit.name, 'tc')] = consumed;
    conditions.push(...conditionOf(limit.name, step));
    // What others have charged since must not outlast the item: then its expiry is thought over again.
    if (!move?.judged && step.set === undefined && expiresAtMs !== undefined) {
      conditions.push(atMost(fullAt, BigInt(expiresAtMs) * limit.refillMilli - (step.add ?? 0n)));
    }
  });
  const ttl = ttlOf(expiresAtMs);
  return {
    write: {
      table,
      update: shardKey(id),
      set: ttl === undefined ? set : { ...set, ttl },
      add,
      // Always, whatever was seen: another gateway may have set one since.
      ...(ttl === undefined ? { remove: ['ttl'] } : {}),
      condition: and(...conditions),
    },
    after: { ...withExpiry(shard, ttl), limits: after, events: shard.events + events, writes: shard.writes + 1 },
    tellsAll:
      events !== 0 &&
      planned.every(({ limit, step }, i) => (step.set !== undefined || step.add !== undefined) && after[i]?.consumedMilli !== limit.consumedMilli),
  };
}

function withExpiry({ expiresAtSecs: _, ...shard }: Shard, ttl: number | undefined): Shard {
  return ttl === undefined ? shard : { ...shard, expiresAtSecs: ttl };
}

/** When the item may go; undefined where that is so far off that it need not. */
function expiryMs(limits: readonly LimitState[], nowMs: number): number | undefined {
  const kept = nowMs + keptMs(limits);
  const paid = Math.max(...limits.map(fullAtMs));
  // A day more than a debt lasts, so that another's charge meanwhile seldom needs a second thought.
  const atMs = paid > kept - dayMs ? paid + dayMs : kept;
  return atMs < nowMs + centuryMs ? atMs : undefined;
}

/** When the item of a bucket with these limits may go, in seconds. */
export const expirySecs = (limits: readonly LimitState[], nowMs: number): number | undefined => ttlOf(expiryMs(limits, nowMs));

const ttlOf = (atMs: number | undefined): number | undefined => (atMs === undefined ? undefined : epochSeconds(atMs) + 1);

/** The first write on a bucket this process has not seen: makes it, or takes from one that is there and full. */
export function creationOf(id: ShardId, { specs, version }: LimitSet, { moves, events, mayExpire = true }: Doing, hour: number, nowMs: number): PlannedWrite {
  const limits = specs.map((spec) => fullLimit(spec, nowMs));
  const taken = limits.map((limit) => moves.get(limit.name)?.takeMilli ?? 0n);
  const after = limits.map((limit, i) => ({
    ...limit,
    fullAt: limit.fullAt + (taken[i] as bigint) * limit.refillPeriodMs,
    consumedMilli: taken[i] as bigint,
  }));
  const ttl = mayExpire ? expirySecs(after, nowMs) : undefined;
  const shard: Shard = { limits: after, version, shardCount: 1, hour, events, eventsBefore: 0, writes: 1 };
  const isTaken = (i: number): boolean => (taken[i] as bigint) > 0n;
  const set = Object.assign(
    { cv: version, ...shardIndexKeys(id), ...(ttl === undefined ? {} : { ttl }) },
    ...after.map((limit, i) => ({ ...specAttributes(limit), ...(isTaken(i) ? { [attribute(limit.name, 'fa')]: limit.fullAt } : {}) })),
  ) as Item;
  const setIfAbsent = Object.assign(
    { shard_count: 1, hw: hour, eb: 0 },
    ...after.map(({ name, fullAt }, i) => ({ [attribute(name, 'th')]: 0, ...(isTaken(i) ? {} : { [attribute(name, 'fa')]: fullAt }) })),
  ) as Item;
  const add = Object.assign({ wc: 1, ec: events }, ...after.map(({ name, consumedMilli }) => ({ [attribute(name, 'tc')]: consumedMilli }))) as Record<
    string,
    number | bigint
  >;
  const thereAndFull = limits.flatMap((limit, i) => {
    const fullAt = attribute(limit.name, 'fa');
    return [isTaken(i) ? lessThan(fullAt, limit.fullAt) : atMost(fullAt, limit.fullAt + limit.burstMilli * limit.refillPeriodMs)];
  });
  return {
    write: {
      table,
      update: shardKey(id),
      set,
      setIfAbsent,
      add,
      ...(ttl === undefined ? { remove: ['ttl'] } : {}),
      condition: or(absent('PK'), and(...same(shard), ...thereAndFull)),
    },
    after: withExpiry(shard, ttl),
    tellsAll: false,
  };
}

/** Conditions under which a shard is still exactly as it was seen. */
const unchanged = (shard: Shard): Condition =>
  and(
    ...same(shard),
    equals('wc', shard.writes),
    equals('eb', shard.eventsBefore),
    ...shard.limits.flatMap(({ name, fullAt, consumedBeforeMilli }) => [
      equals(attribute(name, 'fa'), fullAt),
      equals(attribute(name, 'th'), consumedBeforeMilli),
    ]),
  );

/** Books what was used in the shard's hour into that hour's item; twice in one hour it adds up. */
function usageWrite(id: ShardId, shard: Shard, expiresAtSecs: number): Update {
  const { consumed, events } = openUsage(shard);
  return {
    table,
    update: usageKey(id, shard.hour),
    add: { events, ...Object.fromEntries(Object.entries(consumed).map(([limit, milli]) => [usageAttribute(limit), milli])) },
    set: { ...usageIndexKeys(id, shard.hour), ttl: expiresAtSecs },
  };
}

export function usageOf(item: Item): { readonly consumed: Amounts; readonly events: number } {
  const consumed = Object.entries(item).flatMap(([name, value]) => (name.startsWith('u_') ? [[name.slice(2), BigInt(value as number)] as const] : []));
  return { consumed: Object.fromEntries(consumed), events: Number(item.events ?? 0) };
}

/** The same shard with its hour's use booked, in the hour given. */
export function closed(shard: Shard, hour: number): Shard {
  const limits = shard.limits.map((limit) => ({ ...limit, consumedBeforeMilli: limit.consumedMilli }));
  return { ...shard, limits, hour, eventsBefore: shard.events, writes: shard.writes + 1 };
}

/** Closes the hour of a shard: its use into the usage item, and the shard moved, on condition that nothing has changed. */
export function closingWrites(id: ShardId, shard: Shard, hour: number, usageExpiresAtSecs: number): Write[] {
  const moved = closed(shard, hour);
  return [
    {
      table,
      update: shardKey(id),
      set: { hw: hour, eb: moved.eventsBefore, ...Object.fromEntries(moved.limits.map(({ name, consumedMilli }) => [attribute(name, 'th'), consumedMilli])) },
      add: { wc: 1 },
      condition: unchanged(shard),
    },
    usageWrite(id, shard, usageExpiresAtSecs),
  ];
}

/** Replaces a shard by another version of itself, on condition that nothing has changed. */
export const replacingWrite = (id: ShardId, before: Shard, after: Shard): Write => ({
  table,
  put: shardItem(id, { ...after, writes: before.writes + 1 }),
  condition: unchanged(before),
});

/** Ends a shard, its hour booked. */
export const endingWrites = (id: ShardId, shard: Shard, usageExpiresAtSecs: number, isUsed: boolean): Write[] => [
  { table, delete: shardKey(id), condition: unchanged(shard) },
  ...(isUsed ? [usageWrite(id, shard, usageExpiresAtSecs)] : []),
];

/** Gives an existing shard the doubled count. In debt it may not: what it owes would weigh half. */
export function doublingWrite(id: ShardId, shard: Shard, debtFree: (limit: LimitState) => bigint): Write {
  return {
    table,
    update: shardKey(id),
    set: { shard_count: shard.shardCount * 2 },
    add: { wc: 1 },
    remove: ['ttl'],
    condition: and(
      equals('shard_count', shard.shardCount),
      equals('cv', shard.version),
      ...shard.limits.map((limit) => atMost(attribute(limit.name, 'fa'), debtFree(limit))),
    ),
  };
}
