import { smaller } from '../../lib/int.js';
import { divFloor } from './bucket.js';

/** An amount of a limit on one shard: millitokens for the usage totals, and the same n-fold in units. */
export interface LimitCharge {
  readonly milli: bigint;
  readonly units: bigint;
}

/**
 * Divides a take over the rooms, in their order; undefined if they do not have enough together. Units are never
 * rounded, and the millitokens of the parts add up to the amount.
 */
export function splitAmount(rooms: readonly bigint[], milli: bigint, perMilli: bigint): LimitCharge[] | undefined {
  const wanted = milli * perMilli;
  if (rooms.reduce((sum, each) => sum + each, 0n) < wanted) return undefined;
  let taken = 0n;
  return rooms.map((there) => {
    const units = there > 0n ? smaller(there, wanted - taken) : 0n;
    const before = taken / perMilli;
    taken += units;
    return { units, milli: taken / perMilli - before };
  });
}

/**
 * Divides a charge over the rooms so that all charged shards end at the same level, and no other shard is below it. So
 * no shard is in debt while another still grants.
 */
export function levelCharge(rooms: readonly bigint[], milli: bigint, perMilli: bigint): LimitCharge[] {
  const sorted = [...rooms].sort((a, b) => (a > b ? -1 : 1));
  let [sum, count] = [0n, 0];
  do sum += sorted[count++] as bigint;
  while (count < sorted.length && divFloor(sum - milli * perMilli, BigInt(count)) < (sorted[count] as bigint));
  const level = divFloor(sum - milli * perMilli, BigInt(count));
  let [excess, charged] = [sum - milli * perMilli - level * BigInt(count), 0n];
  return rooms.map((there) => {
    const rounding = there > level && excess > 0n ? 1n : 0n;
    const units = there > level ? there - level - rounding : 0n;
    excess -= rounding;
    const before = charged / perMilli;
    charged += units;
    return { units, milli: charged / perMilli - before };
  });
}
