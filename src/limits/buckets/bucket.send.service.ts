import { GatewayError } from '../../lib/errors.js';
import { randomToken } from '../../lib/id.js';
import { hourOf } from '../usage/usage.js';
import type { BucketStore } from './bucket.store.js';
import { changeWrite, creationWrite, type PlannedWrite } from './bucket-write.item.js';
import type { Chosen } from './choice.actor.js';
import { holdingsOf } from './holding.js';
import type { Lane, Lanes } from './lane.actor.js';
import type { Operation, Outcome, PartResult, Sight } from './operation.js';
import type { Placed, Plan, Settlement, ShardChange, Take } from './plan.js';
import type { Shard } from './shard.js';

const birthBytes = 6;

export interface Group {
  readonly lanes: Lanes;
  /** Whether each operation has one part and nothing that goes with it. */
  readonly isPlain: boolean;
  readonly plans: readonly Plan[];
  readonly chosen: readonly Chosen[];
}

export interface Answer {
  /** Whether the shards that were written are now known as the store has them. */
  readonly isExact: boolean;
  /** Shards as they are now; absent: gone, or nobody knows. */
  readonly learned: readonly { readonly lane: number; readonly index: number; readonly shard?: Shard }[];
  readonly outcomes: ReadonlyMap<Operation, Outcome | { readonly error: unknown }>;
}

interface Planned extends PlannedWrite {
  readonly lane: number;
  readonly index: number;
}

/** Sends one write for all who go together. */
export class BucketSender {
  constructor(private readonly store: BucketStore) {}

  async send(group: Group, nowMs: number): Promise<Answer> {
    const planned = group.lanes.all.flatMap((lane, at) =>
      (group.plans[at] as Plan)
        .result()
        .map(({ index, change }): Planned => ({ lane: at, index, ...this.planned(group, lane, index, change, nowMs) })),
    );
    const riding = group.chosen.flatMap(({ operation, results }) =>
      operation.rider ? [{ operation, results, rider: operation.rider }] : [],
    );
    try {
      const [only] = planned;
      if (planned.length === 0 && riding.length === 0)
        return { isExact: true, learned: [], outcomes: done(group, planned, nowMs) };
      if (only && planned.length === 1 && riding.length === 0) return await this.sendOne(group, only, nowMs);
      return await this.sendAll(group, planned, riding, nowMs);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // What became of these nobody knows, and what is remembered of their shards may be wrong; the others may still go.
      return {
        isExact: false,
        learned: planned.map(({ lane, index }) => ({ lane, index })),
        outcomes: new Map(group.chosen.map(({ operation }) => [operation, { error }])),
      };
    }
  }

  private planned(
    { isPlain }: Group,
    { actor, take }: Lane,
    index: number,
    change: ShardChange,
    nowMs: number,
  ): PlannedWrite {
    const id = { ...actor.id, shard: index };
    const shard = actor.seen(index);
    if (shard) return changeWrite(id, shard, change, nowMs);
    const { set } = take as Take;
    return creationWrite(
      id,
      { set, change, birth: randomToken(birthBytes), hour: hourOf(nowMs), orFull: isPlain },
      nowMs,
    );
  }

  private async sendOne(group: Group, only: Planned, nowMs: number): Promise<Answer> {
    const { lane, index } = only;
    const written = await this.store.write(only);
    const learned = [{ lane, index, ...(written.shard ? { shard: written.shard } : {}) }];
    if (!written.done) return { isExact: true, learned, outcomes: new Map() };
    return { isExact: true, learned, outcomes: done(group, [{ ...only, after: written.shard as Shard }], nowMs) };
  }

  private async sendAll(
    group: Group,
    planned: readonly Planned[],
    riding: readonly (Chosen & { readonly rider: NonNullable<Operation['rider']> })[],
    nowMs: number,
  ): Promise<Answer> {
    const drafts = riding.map(({ operation, results, rider }) =>
      rider.draft(partResults(operation, results, group.lanes.ofPart, planned)),
    );
    const records = riding.flatMap(({ rider }) => rider.record ?? []);
    const refused = await this.store.transact(planned, [...drafts, ...records]);
    if (!refused) {
      const learned = planned.map(({ lane, index, after }) => ({ lane, index, shard: after }));
      // A transaction returns no images: what others have done meanwhile is not in these.
      return { isExact: false, learned, outcomes: done(group, planned, nowMs) };
    }
    const learned = planned.flatMap(({ lane, index }, i) => {
      const reason = refused.shards[i];
      return reason ? [{ lane, index, ...(reason.shard ? { shard: reason.shard } : {}) }] : [];
    });
    const outcomes = riding.flatMap(({ operation }, i) => {
      const reason = refused.drafts[i];
      return reason ? [[operation, { kind: 'rider', old: reason.old }] as const] : [];
    });
    return { isExact: learned.length === planned.length, learned, outcomes: new Map(outcomes) };
  }
}

function done(group: Group, planned: readonly Planned[], atMs: number): Map<Operation, Outcome> {
  const sights = group.lanes.ofPart.map(
    (lane, part): Sight => ({ shards: shardsAfter(group.lanes.on(part), lane, planned), atMs }),
  );
  return new Map(
    group.chosen.map(({ operation, results }) => [
      operation,
      { kind: 'done', results: partResults(operation, results, group.lanes.ofPart, planned), after: sights } as const,
    ]),
  );
}

/** All shards of a bucket: those that were written as they are, others as last seen. */
function shardsAfter({ actor }: Lane, lane: number, planned: readonly Planned[]): Shard[] {
  const written = new Map(planned.flatMap((each) => (each.lane === lane ? [[each.index, each.after] as const] : [])));
  const [any] = written.values();
  const count = any?.shardCount ?? actor.shardCount;
  return Array.from({ length: count }, (_, index) => written.get(index) ?? actor.seen(index) ?? any).filter(
    (shard) => shard !== undefined,
  );
}

function partResults(
  { parts }: Operation,
  results: readonly (Placed | Settlement)[],
  laneOf: readonly number[],
  planned: readonly Planned[],
): PartResult[] {
  return results.map((result, i) => {
    if (result.kind === 'settle') return result;
    const shardAt = (index: number): Shard =>
      (planned.find((each) => each.lane === laneOf[i] && each.index === index) as Planned).after;
    const { bucket } = parts[i] as Operation['parts'][number];
    return { kind: 'take', holdings: holdingsOf(bucket, result.placements, shardAt), wouldRefuse: result.wouldRefuse };
  });
}
