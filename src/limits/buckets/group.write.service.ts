import type { Clock } from '../../lib/clock.js';
import { GatewayError } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import { SharedCalls } from '../../lib/shared-calls.js';
import { hourOf } from '../usage/usage.js';
import type { BucketStore, ShardWriteResult } from './bucket.store.js';
import { creationWrite, maySpeculate, speculativeWrite } from './bucket-create.item.js';
import { changeWrite, type PlannedWrite } from './bucket-write.item.js';
import type { GroupBucket, GroupBuckets } from './group.buckets.service.js';
import type { SelectedOperation } from './group.selection.service.js';
import { holdingsOf } from './holding.js';
import type { BucketView, Operation, OperationOutcome, Part, PartResult, Rider, Take } from './operation.js';
import type { Plan } from './plan.js';
import type { Shard } from './shard.js';
import type { ShardChange } from './shard-change.js';

const incarnationBytes = 6;
/** So an acquire of a child and its parent, in an idle process, does not lose both takes with one response. */
const minSharedWrites = 3;
/** DynamoDB accepts 25 statements per call. */
const maxSharedWrites = 25;

/** The next write of a group. */
export interface GroupWrite {
  readonly buckets: GroupBuckets;
  /** True if each operation has one part and no rider. */
  readonly isPlain: boolean;
  /** One per bucket. */
  readonly plans: readonly Plan[];
  readonly selected: readonly SelectedOperation[];
}

export interface GroupWriteResult {
  /** True if the written shards are now cached exactly as they are stored. */
  readonly isExact: boolean;
  readonly updates: readonly ShardUpdate[];
  readonly outcomes: ReadonlyMap<Operation, OperationOutcome | { readonly error: unknown }>;
}

/** The current state of a shard; 'absent' if it does not exist, undefined if its state is unknown. */
export interface ShardUpdate {
  readonly bucket: number;
  readonly index: number;
  readonly shard?: Shard | 'absent';
}

interface PlannedShardWrite extends PlannedWrite {
  readonly bucket: number;
  readonly index: number;
}

type OperationWithRider = SelectedOperation & { readonly rider: Rider };

/** Sends one write for all selected operations of a group. */
export class GroupWriter {
  /** No two of the writes are of the same bucket, because each bucket has one group at a time. */
  private readonly calls: SharedCalls<PlannedWrite, ShardWriteResult>;

  constructor(
    private readonly store: BucketStore,
    clock: Clock,
  ) {
    const send = (writes: readonly PlannedWrite[]) => store.writeEach(writes);
    this.calls = new SharedCalls({ minSize: minSharedWrites, maxSize: maxSharedWrites, clock, send });
  }

  async write(group: GroupWrite, nowMs: number): Promise<GroupWriteResult> {
    const planned = group.buckets.all.flatMap((bucket, at) =>
      (group.plans[at] as Plan).result().map(({ index, change }) => ({
        bucket: at,
        index,
        ...plannedWrite(bucket, { index, change, isPlain: group.isPlain }, nowMs),
      })),
    );
    const withRiders = group.selected.flatMap((selected) =>
      selected.operation.rider ? [{ ...selected, rider: selected.operation.rider }] : [],
    );
    try {
      await this.announce(group, planned);
      const [only] = planned;
      if (planned.length === 0 && withRiders.length === 0)
        return { isExact: true, updates: [], outcomes: doneOutcomes(group, planned, nowMs) };
      if (only && planned.length === 1 && withRiders.length === 0) return await this.writeOne(group, only, nowMs);
      return await this.transact(group, planned, withRiders, nowMs);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The outcome of these operations is unknown and the cached shards may be wrong. The other operations may still
      // be written.
      return {
        isExact: false,
        updates: planned.map(({ bucket, index }) => ({ bucket, index })),
        outcomes: new Map(group.selected.map(({ operation }) => [operation, { error }])),
      };
    }
  }

  /** A bucket that is about to be created gets its directory entry first. Otherwise no list would ever show it. */
  private async announce({ buckets }: GroupWrite, planned: readonly PlannedShardWrite[]): Promise<void> {
    const created = planned.filter(({ kind }) => kind === 'creation');
    if (created.length === 0) return;
    await Promise.all(
      created.map(({ bucket }) => this.store.directory.stamp((buckets.all[bucket] as GroupBucket).cache.id)),
    );
  }

  private async writeOne(group: GroupWrite, only: PlannedShardWrite, nowMs: number): Promise<GroupWriteResult> {
    const { bucket, index } = only;
    const { done, shard } = await (only.kind === 'change' ? this.calls.submit(only) : this.store.write(only));
    const updates: ShardUpdate[] = [{ bucket, index, shard: shard ?? 'absent' }];
    if (!done) return { isExact: true, updates, outcomes: new Map() };
    return { isExact: true, updates, outcomes: doneOutcomes(group, [{ ...only, after: shard as Shard }], nowMs) };
  }

  private async transact(
    group: GroupWrite,
    planned: readonly PlannedShardWrite[],
    withRiders: readonly OperationWithRider[],
    nowMs: number,
  ): Promise<GroupWriteResult> {
    const riders = withRiders.map((each) => each.rider.draft(partResults(each, group.buckets, planned)));
    const records = withRiders.flatMap(({ rider }) => rider.record ?? []);
    const cancelled = await this.store.transact(planned, [...riders, ...records]);
    if (!cancelled) {
      const updates = planned.map(({ bucket, index, after }) => ({ bucket, index, shard: after }));
      // A transaction does not return the new items, so concurrent changes of other gateways are not in these.
      return { isExact: false, updates, outcomes: doneOutcomes(group, planned, nowMs) };
    }
    const updates = planned.flatMap(({ bucket, index }, i) => {
      const reason = cancelled.shards[i];
      return reason ? [{ bucket, index, shard: reason.shard ?? ('absent' as const) }] : [];
    });
    const outcomes = withRiders.flatMap(({ operation }, i) => {
      const reason = cancelled.riders[i];
      return reason ? [[operation, { kind: 'riderConflict', old: reason.old }] as const] : [];
    });
    return { isExact: updates.length === planned.length, updates, outcomes: new Map(outcomes) };
  }
}

interface ShardWriteRequest {
  readonly index: number;
  readonly change: ShardChange;
  readonly isPlain: boolean;
}

function plannedWrite(
  { cache, take }: GroupBucket,
  { index, change, isPlain }: ShardWriteRequest,
  nowMs: number,
): PlannedWrite {
  const id = { ...cache.id, shard: index };
  const shard = cache.shardAt(index);
  if (shard) return changeWrite(id, shard, change, nowMs);
  const { set } = take as Take;
  const first = { set, change, incarnation: randomToken(incarnationBytes), hour: hourOf(nowMs) };
  const isSpeculative = isPlain && !cache.isAbsent && maySpeculate(set);
  return isSpeculative ? speculativeWrite(id, first, nowMs) : creationWrite(id, first, nowMs);
}

function doneOutcomes(
  { buckets, selected }: GroupWrite,
  planned: readonly PlannedShardWrite[],
  atMs: number,
): Map<Operation, OperationOutcome> {
  const after = buckets.indexOfPart.map(
    (bucket, part): BucketView => ({ shards: shardsAfter(buckets.ofPart(part), bucket, planned), atMs }),
  );
  return new Map(
    selected.map((each) => [
      each.operation,
      { kind: 'done', results: partResults(each, buckets, planned), after } as const,
    ]),
  );
}

/** All shards of a bucket: the written ones after the write, the others as cached. */
function shardsAfter({ cache }: GroupBucket, bucket: number, planned: readonly PlannedShardWrite[]): Shard[] {
  const written = new Map(
    planned.flatMap((each) => (each.bucket === bucket ? [[each.index, each.after] as const] : [])),
  );
  const [any] = written.values();
  const count = any?.shardCount ?? cache.shardCount;
  return Array.from({ length: count }, (_, index) => written.get(index) ?? cache.shardAt(index) ?? any).filter(
    (shard) => shard !== undefined,
  );
}

function partResults(
  { operation, results }: SelectedOperation,
  { indexOfPart }: GroupBuckets,
  planned: readonly PlannedShardWrite[],
): PartResult[] {
  return results.map((result, i) => {
    if (result.kind === 'settle') return result;
    const shardAt = (index: number): Shard =>
      (planned.find((each) => each.bucket === indexOfPart[i] && each.index === index) as PlannedShardWrite).after;
    const { bucket } = operation.parts[i] as Part;
    return { kind: 'take', holdings: holdingsOf(bucket, result.placements, shardAt), wouldRefuse: result.wouldRefuse };
  });
}
