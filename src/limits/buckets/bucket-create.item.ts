import type { Item, Update } from '../../dynamo/client.js';
import { absent, and, atMost, type Condition, equals, lessThan } from '../../dynamo/expression.js';
import type { LimitSet } from '../limit.js';
import { type ShardId, shardKey } from '../limiter-keys.js';
import { attribute, placeOf, shardItem, table } from './bucket.item.js';
import { ceiling, identityOf, type LimitState } from './bucket.js';
import { type ChangedLimit, changedLimit, type PlannedWrite } from './bucket-write.item.js';
import { expiring } from './expiry.js';
import { initialShard, type Shard } from './shard.js';
import type { ShardChange } from './shard-change.js';

/** A write on a bucket that this process has not cached. */
export interface FirstWrite {
  readonly set: LimitSet;
  readonly change: ShardChange;
  readonly incarnation: string;
  readonly hour: number;
}

/** Creates a bucket, if it does not exist. Its directory entry has to exist before. */
export function creationWrite(id: ShardId, first: FirstWrite, nowMs: number): PlannedWrite {
  const { after } = firstState(first, nowMs);
  const { PK: _pk, SK: _sk, ...attributes } = shardItem(id, after);
  const write = { table, update: shardKey(id), set: attributes, condition: absent('PK') } as const;
  return { write, after, updatesEveryLimit: false, kind: 'creation' };
}

/** True if a bucket with these limits can be taken from without reading it first. */
export const maySpeculate = ({ specs }: LimitSet): boolean => specs.every(({ refillMilli }) => refillMilli > 0n);

/**
 * Takes from a bucket that this process has not cached, if it exists, is full and is stamped with the same limits. If
 * the write fails, it returns the stored state, or that there is none.
 */
export function speculativeWrite(id: ShardId, first: FirstWrite, nowMs: number): PlannedWrite {
  const { after, changed } = firstState(first, nowMs);
  const ttl = after.expiresAtSecs;
  const set: Item = Object.assign(
    ttl === undefined ? {} : { ttl },
    ...changed.map((each, i) =>
      takesFrom(each) ? { [attribute(each.place, 'f')]: (after.limits[i] as LimitState).fullAt } : {},
    ),
  );
  const add = Object.assign(
    { wc: 1, ec: after.events },
    ...changed.map(({ place, after: { consumedMilli } }) => ({ [attribute(place, 'c')]: consumedMilli })),
  );
  const write: Update = {
    table,
    update: shardKey(id),
    set,
    add,
    ...(ttl === undefined ? { remove: ['ttl'] } : {}),
    condition: existsAndFull(after, changed),
  };
  return { write, after, updatesEveryLimit: false, kind: 'speculation' };
}

function firstState(
  { set, change, incarnation, hour }: FirstWrite,
  nowMs: number,
): { readonly after: Shard; readonly changed: readonly ChangedLimit[] } {
  const initial = initialShard(set, nowMs);
  const changed = initial.limits.map((limit, i) =>
    changedLimit(limit, placeOf(i, false), change.limits.get(identityOf(limit)), nowMs),
  );
  const limits = changed.map((each) => ({ ...each.after, fullAt: each.limit.fullAt + (each.change?.take ?? 0n) }));
  const created = { ...initial, limits, incarnation, hour, events: change.events, writes: 1 };
  return { after: expiring(created, change.mayExpire ?? true, nowMs), changed };
}

const takesFrom = ({ change }: ChangedLimit): boolean => (change?.take ?? 0n) > 0n;

function existsAndFull({ version, hour }: Shard, changed: readonly ChangedLimit[]): Condition {
  const full = changed.map((each) => {
    const fullAt = attribute(each.place, 'f');
    return takesFrom(each)
      ? lessThan(fullAt, each.limit.fullAt)
      : atMost(fullAt, each.limit.fullAt + ceiling(each.limit));
  });
  return and(equals('cv', version), equals('sc', 1), equals('hw', hour), ...full);
}
