import type { Clock } from '../../lib/clock.js';
import { badInput, unavailable } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import { type Limit, limitSet } from '../limit.js';
import type { BucketId } from '../limiter-keys.js';
import { isFenced } from './bucket.item.js';
import type { BucketStore } from './bucket.store.js';
import { type Change, converted, keptUnder, maxKeptLimits } from './convert.js';
import { expiring } from './expiry.js';
import type { Shard } from './shard.js';

const nonceBytes = 9;
const maxRounds = 20;

/** What stands on the fence: enough for anybody to finish the change. */
interface Target {
  readonly nonce: string;
  /** The version that the other shards still have until they are fenced. */
  readonly before: string;
  readonly change:
    | {
        readonly kind: 'stamp';
        readonly limits: readonly Limit[];
        readonly levels: readonly number[];
        readonly mayExpire: boolean;
      }
    | Extract<Change, { kind: 'shards' | 'end' }>;
}

/** Changes of a bucket that have to stop all of its writers first: other limits, another number of shards, its end. */
export class BucketChanges {
  constructor(
    private readonly store: BucketStore,
    private readonly clock: Clock,
  ) {}

  /** Makes a change of the bucket as it was seen; false where somebody else has changed it meanwhile: the caller looks again. */
  async make(id: BucketId, first: Shard, change: Change): Promise<boolean> {
    const target: Target = { nonce: randomToken(nonceBytes), before: first.version, change: stored(change) };
    const fenced = await this.store.fence(id, first, target.nonce, JSON.stringify(target));
    if (fenced.shard && isFenced(fenced.shard)) await this.finish(id, fenced.shard);
    return fenced.done;
  }

  /** Finishes the change that stands on the fence, whoever began it. */
  async finish(id: BucketId, first: Shard): Promise<void> {
    const { nonce, before, change } = JSON.parse(first.fence as string) as Target;
    const shards = await this.store.fenceRest(id, first, before, nonce);
    if (!shards) return;
    const nowMs = this.clock.nowMs();
    const { shards: after, bookings } = converted(shards, revived(change), nowMs);
    // Whoever changes only the number of shards gives them back the version they had.
    const version = (shard: Shard): Shard => (change.kind === 'stamp' ? shard : { ...shard, version: before });
    const mayExpire = change.kind === 'stamp' ? change.mayExpire : shards[0]?.expiresAtSecs !== undefined;
    await this.store.convert(id, shards, {
      shards: after.map((shard) => expiring(withoutFence(version(shard)), mayExpire, nowMs)),
      bookings,
    });
  }

  /** Brings a bucket to where `change` finds nothing more to do; returns its shards. */
  async settle(id: BucketId, change: (shards: readonly Shard[]) => Change | undefined): Promise<Shard[]> {
    for (let round = 0; round < maxRounds; round++) {
      const [shards = []] = await this.store.loadMany([id]);
      const [first] = shards;
      if (!first) return [];
      if (isFenced(first)) {
        await this.finish(id, first);
        continue;
      }
      const next = change(shards);
      if (!next) return shards;
      if (next.kind === 'stamp') this.refuseTooManyKept(shards, next);
      await this.make(id, first, next);
    }
    throw unavailable('too many are changing this bucket: try again');
  }

  private refuseTooManyKept(shards: readonly Shard[], { set }: Extract<Change, { kind: 'stamp' }>): void {
    const kept = keptUnder(shards, set, this.clock.nowMs());
    if (kept.length <= maxKeptLimits) return;
    throw badInput({
      path: 'input.limits',
      message: `the bucket keeps the state of ${kept.length} limits that have left it and are not full yet; at most ${maxKeptLimits} are kept: use the same limits, or wait until they are full`,
    });
  }
}

const stored = (change: Change): Target['change'] =>
  change.kind === 'stamp'
    ? { kind: 'stamp', limits: change.set.limits, levels: change.set.levels ?? [], mayExpire: change.mayExpire }
    : change;

const revived = (change: Target['change']): Change =>
  change.kind === 'stamp'
    ? { kind: 'stamp', set: { ...limitSet(change.limits), levels: change.levels }, mayExpire: change.mayExpire }
    : change;

const withoutFence = ({ fence: _, ...shard }: Shard): Shard => shard;
