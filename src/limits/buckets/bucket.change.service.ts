import type { Clock } from '../../lib/clock.js';
import { badInput, unavailable } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import { type Limit, limitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { isFenced } from './bucket.item.js';
import type { BucketStore } from './bucket.store.js';
import { type BucketChange, converted } from './convert.js';
import { expiring } from './expiry.js';
import { bucketLabel } from './operation.js';
import type { Shard } from './shard.js';
import { maxRetiredLimits, retiredUnder } from './stamp.js';

const nonceBytes = 9;
const maxRounds = 20;

/** The target of a conversion: all that a gateway needs to finish it. Stored on the fence as JSON with these names. */
interface FenceTarget {
  readonly nonce: string;
  /** The version that the other shards have until they are fenced. */
  readonly before: string;
  readonly change:
    | {
        readonly kind: 'stamp';
        readonly limits: readonly Limit[];
        readonly levels: readonly number[];
        readonly mayExpire: boolean;
      }
    | Extract<BucketChange, { kind: 'shards' | 'end' }>;
}

/** Converts buckets: stops all writers by a fence, then replaces all shards in one transaction. */
export class BucketChanges {
  constructor(
    private readonly store: BucketStore,
    private readonly clock: Clock,
  ) {}

  /** Makes a change of the bucket as it was read. False if another gateway has changed it meanwhile: read it again. */
  async make(id: BucketId, first: Shard, change: BucketChange): Promise<boolean> {
    const target: FenceTarget = { nonce: randomToken(nonceBytes), before: first.version, change: toStored(change) };
    const fenced = await this.store.fence(id, first, target.nonce, JSON.stringify(target));
    if (fenced.shard && isFenced(fenced.shard)) await this.finish(id, fenced.shard);
    return fenced.done;
  }

  /** Finishes the conversion of a fenced bucket, whichever gateway has begun it. */
  async finish(id: BucketId, first: Shard): Promise<void> {
    const { nonce, before, change } = JSON.parse(first.fence as string) as FenceTarget;
    const shards = await this.store.fenceRest(id, first, before, nonce);
    if (!shards) return;
    const nowMs = this.clock.nowMs();
    const { shards: after, bookings } = converted(shards, fromStored(change), nowMs);
    // A change of the number of shards does not change the limit set, so the version from before the fence returns.
    const withVersion = (shard: Shard): Shard => (change.kind === 'stamp' ? shard : { ...shard, version: before });
    const mayExpire = change.kind === 'stamp' ? change.mayExpire : shards[0]?.expiresAtSecs !== undefined;
    await this.store.convert(id, shards, {
      shards: after.map((shard) => expiring(withoutFence(withVersion(shard)), mayExpire, nowMs)),
      bookings,
    });
  }

  /** Makes changes until `next` returns undefined for the current shards, and returns those. */
  async changeUntilDone(id: BucketId, next: (shards: readonly Shard[]) => BucketChange | undefined): Promise<Shard[]> {
    for (let round = 0; round < maxRounds; round++) {
      const [shards = []] = await this.store.loadMany([id]);
      const [first] = shards;
      if (!first) return [];
      if (isFenced(first)) {
        await this.finish(id, first);
        continue;
      }
      const change = next(shards);
      if (!change) return shards;
      if (change.kind === 'stamp') this.requireFewRetired(id, shards, change);
      await this.make(id, first, change);
    }
    throw unavailable(`${bucketLabel(id)} is being changed by too many gateways; retry`);
  }

  private requireFewRetired(
    id: BucketId,
    shards: readonly Shard[],
    { set }: Extract<BucketChange, { kind: 'stamp' }>,
  ): void {
    const { length: count } = retiredUnder(shards, set, this.clock.nowMs());
    if (count <= maxRetiredLimits) return;
    throw badInput({
      path: 'input.limits',
      message:
        `${bucketLabel(id)} would have ${count} limits that were removed from it and are not full yet; ` +
        `the max is ${maxRetiredLimits}; use the same limits as before, or wait until the removed limits are full`,
    });
  }
}

const toStored = (change: BucketChange): FenceTarget['change'] =>
  change.kind === 'stamp'
    ? { kind: 'stamp', limits: change.set.limits, levels: change.set.levels ?? [], mayExpire: change.mayExpire }
    : change;

const fromStored = (change: FenceTarget['change']): BucketChange =>
  change.kind === 'stamp'
    ? { kind: 'stamp', set: { ...limitSet(change.limits), levels: change.levels }, mayExpire: change.mayExpire }
    : change;

const withoutFence = ({ fence: _, ...shard }: Shard): Shard => shard;
