import type { Item, Update } from '../../dynamo/client.js';
import { absent, and, atMost, equals, lessThan, or } from '../../dynamo/expression.js';
import type { LimitSet } from '../limit.js';
import { type ShardId, shardIndexKeys, shardKey } from '../limiter-keys.js';
import { attribute, levelsText, shardItem, specAttributes, table } from './bucket.item.js';
import { ceiling, identityOf, type LimitState } from './bucket.js';
import { type ChangedLimit, changedLimit, type PlannedWrite } from './bucket-write.item.js';
import { expiring } from './expiry.js';
import { initialShard, type Shard } from './shard.js';
import type { ShardChange } from './shard-change.js';

export interface BucketCreation {
  readonly set: LimitSet;
  readonly change: ShardChange;
  readonly incarnation: string;
  readonly hour: number;
  /** True if the write may also take from a full bucket that exists and that this process has not cached. */
  readonly orFull: boolean;
}

/** The first write on a bucket: creates it. */
export function creationWrite(id: ShardId, creation: BucketCreation, nowMs: number): PlannedWrite {
  const { set, change, incarnation, hour, orFull } = creation;
  const initial = initialShard(set, nowMs);
  const changed = initial.limits.map((limit) =>
    changedLimit(limit, false, change.limits.get(identityOf(limit)), nowMs),
  );
  const limits = changed.map((each) => ({ ...each.after, fullAt: each.limit.fullAt + (each.change?.take ?? 0n) }));
  const after = expiring(
    { ...initial, limits, incarnation, hour, events: change.events, writes: 1 },
    change.mayExpire ?? true,
    nowMs,
  );
  const write: Update =
    orFull && limits.every(({ refillMilli }) => refillMilli > 0n)
      ? createOrTake(id, after, changed)
      : { table, update: shardKey(id), set: withoutKey(shardItem(id, after)), condition: absent('PK') };
  return { write, after, updatesEveryLimit: false };
}

const withoutKey = ({ PK: _pk, SK: _sk, ...rest }: Item): Item => rest;

const takesFrom = ({ change }: ChangedLimit): boolean => (change?.take ?? 0n) > 0n;

/** Creates the bucket, or takes from one that exists, is full and is stamped with the same limits. */
function createOrTake(id: ShardId, after: Shard, changed: readonly ChangedLimit[]): Update {
  const ttl = after.expiresAtSecs;
  const set: Item = Object.assign(
    { cv: after.version, ...shardIndexKeys(id), ...(ttl === undefined ? {} : { ttl }) },
    ...changed.map((each, i) => ({
      ...specAttributes(each.limit, each.prefix),
      ...(takesFrom(each) ? { [attribute(each.prefix, 'fa')]: (after.limits[i] as LimitState).fullAt } : {}),
    })),
  );
  const setIfAbsent: Item = Object.assign(
    { shard_count: 1, hw: after.hour, eb: 0, bi: after.incarnation, rs: 0, lv: levelsText(after.levels) },
    ...changed.map((each) => ({
      [attribute(each.prefix, 'th')]: 0,
      ...(takesFrom(each) ? {} : { [attribute(each.prefix, 'fa')]: each.limit.fullAt }),
    })),
  );
  const add = Object.assign(
    { wc: 1, ec: after.events },
    ...changed.map(({ prefix, after: { consumedMilli } }) => ({ [attribute(prefix, 'tc')]: consumedMilli })),
  );
  return {
    table,
    update: shardKey(id),
    set,
    setIfAbsent,
    add,
    ...(ttl === undefined ? { remove: ['ttl'] } : {}),
    condition: or(absent('PK'), existsAndFull(after, changed)),
  };
}

function existsAndFull({ version, hour }: Shard, changed: readonly ChangedLimit[]) {
  const full = changed.map((each) => {
    const fullAt = attribute(each.prefix, 'fa');
    return takesFrom(each)
      ? lessThan(fullAt, each.limit.fullAt)
      : atMost(fullAt, each.limit.fullAt + ceiling(each.limit));
  });
  return and(equals('cv', version), equals('shard_count', 1), equals('hw', hour), ...full);
}
