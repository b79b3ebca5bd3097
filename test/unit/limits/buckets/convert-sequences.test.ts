import fc from 'fast-check';
import {
  asOf,
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  stepFor,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { type Holding, holdingsOf } from '../../../../src/limits/buckets/holding.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import { allLimits, type Shard } from '../../../../src/limits/buckets/shard.js';
import type { LimitChange } from '../../../../src/limits/buckets/shard-change.js';
import { movesAll } from '../../../../src/limits/lease-moves.js';
import {
  balanceOf,
  calendarSpec,
  Fraction,
  rateSpec,
  reshard,
  restamped,
  setOf,
  shardOf,
  shardsAt,
  startMs,
  whole,
  writtenLimit,
} from './limit-fixtures.js';

const dayMs = 86_400_000;

/**
 * The reference: the exact state of every limit that the bucket has ever had, on one shard. With `isNewWhenFull`, a
 * limit that is full when it comes back starts as a new one.
 */
class ReferenceBucket {
  private current = new Set<string>();
  private readonly states = new Map<
    string,
    { spec: LimitSpec; balance: Fraction; atMs: number; windowEndMs: number | undefined }
  >();

  constructor(private readonly isNewWhenFull: boolean) {}

  stamp(specs: readonly LimitSpec[], nowMs: number): void {
    for (const spec of specs) {
      const burst = whole(spec.burstMilli);
      const existing = this.states.get(identityOf(spec));
      const isNew =
        this.isNewWhenFull && existing && !this.current.has(identityOf(spec)) && this.isFull(identityOf(spec), nowMs);
      const old = isNew ? undefined : existing;
      const had = old && this.balance(identityOf(spec), nowMs);
      const { windowEndMs } = old?.spec.calendar
        ? asOf({ ...fullLimit(old.spec, nowMs), windowEndMs: old.windowEndMs as number }, nowMs)
        : fullLimit(spec, nowMs);
      // Without refill the use stays. It may exceed a lower capacity.
      const next = !old
        ? burst
        : spec.refillMilli > 0n
          ? burst.least(had as Fraction)
          : (had as Fraction).plus(burst).minus(whole(old.spec.burstMilli));
      this.states.set(identityOf(spec), { spec, balance: next, atMs: nowMs, windowEndMs });
    }
    this.current = new Set(specs.map(identityOf));
  }

  burst(identity: string): Fraction {
    return whole(this.states.get(identity)?.spec.burstMilli ?? 0n);
  }

  private isFull(identity: string, nowMs: number): boolean {
    return !this.balance(identity, nowMs).isBelow(this.burst(identity));
  }

  balance(identity: string, nowMs: number): Fraction {
    const {
      spec,
      balance: then,
      atMs,
      windowEndMs,
    } = this.states.get(identity) as NonNullable<ReturnType<typeof this.states.get>>;
    if (windowEndMs !== undefined) return nowMs >= windowEndMs ? whole(spec.burstMilli) : then;
    return whole(spec.burstMilli).least(
      then.plus(new Fraction(spec.refillMilli * BigInt(nowMs - atMs), spec.refillPeriodMs)),
    );
  }

  change(identity: string, milli: Fraction, nowMs: number): void {
    const state = this.states.get(identity) as NonNullable<ReturnType<typeof this.states.get>>;
    const next = whole(state.spec.burstMilli).least(this.balance(identity, nowMs).plus(milli));
    const { windowEndMs } = state.spec.calendar
      ? asOf({ ...fullLimit(state.spec, nowMs), windowEndMs: state.windowEndMs as number }, nowMs)
      : state;
    this.states.set(identity, { ...state, balance: next, atMs: nowMs, windowEndMs });
  }

  identities(): string[] {
    return [...this.states.keys()];
  }
}

describe('any sequence of stamps, reshardings, takes, charges and releases', () => {
  const tokens = fc.constantFrom(1n, 2n, 7n, 32n, 64n, 96n);
  const limits = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    kind: fc.constantFrom('RATE', 'RATE', 'RATE', 'DAY', 'WEEK'),
    tokens,
    refill: fc.bigInt({ min: 1n, max: 9000n }),
    period: fc.bigInt({ min: 1n, max: 90_000n }),
  });
  const sets = fc
    .uniqueArray(limits, { selector: ({ name }) => name, minLength: 1, maxLength: 3 })
    .map((all) =>
      all.map(({ name, kind, tokens: many, refill, period }) =>
        kind === 'RATE'
          ? rateSpec(many * 1000n, refill, period, name)
          : calendarSpec(many * 1000n, kind as 'DAY' | 'WEEK', name),
      ),
    );
  const amount = fc.record({ thousandths: fc.bigInt({ min: 0n, max: 1000n }) });
  const events = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.nat(5000), fc.nat(dayMs)),
      event: fc.oneof(
        { weight: 4, arbitrary: amount.map(({ thousandths }) => ({ kind: 'take' as const, thousandths })) },
        { weight: 3, arbitrary: sets.map((specs) => ({ kind: 'stamp' as const, specs })) },
        { weight: 1, arbitrary: fc.constantFrom(1, 2, 4, 8).map((count) => ({ kind: 'shards' as const, count })) },
        {
          weight: 1,
          arbitrary: fc.bigInt({ min: 1n, max: 90_000n }).map((milli) => ({ kind: 'charge' as const, milli })),
        },
        { weight: 1, arbitrary: fc.nat(20).map((lease) => ({ kind: 'release' as const, lease })) },
      ),
    }),
    { minLength: 5, maxLength: 40 },
  );

  /** Writes the plan. A plan that cannot be written is a bug. */
  function write(shards: readonly Shard[], plan: Plan, nowMs: number): Shard[] {
    const changes = new Map(plan.result().map(({ index, change }) => [index, change.limits]));
    const next = (index: number) => (limit: LimitState) => {
      const change = changes.get(index)?.get(identityOf(limit)) as LimitChange | undefined;
      const after = change ? writtenLimit(limit, stepFor(limit, change, nowMs), nowMs) : limit;
      if (!after) throw new Error('the plan cannot be written');
      return after;
    };
    return shards.map((shard, index) => ({
      ...shard,
      limits: shard.limits.map(next(index)),
      retired: shard.retired.map(next(index)),
    }));
  }

  interface Sequence {
    readonly first: readonly LimitSpec[];
    readonly schedule: readonly { readonly waitMs: number; readonly event: BucketEvent }[];
    readonly maxShards: number;
    readonly reference: ReferenceBucket;
  }
  /** Runs a sequence. After each event, `check` gets the balance of each limit and the balance of the reference. */
  function run(
    { first, schedule, maxShards, reference }: Sequence,
    check: (has: Fraction, should: Fraction, conversions: number) => void,
  ): void {
    let nowMs = startMs;
    let shards: readonly Shard[] = [shardOf(first.map((spec) => fullLimit(spec, nowMs)))];
    reference.stamp(first, nowMs);
    const leases: Holding[][] = [];
    let conversions = 0;
    for (const { waitMs, event } of schedule) {
      nowMs += waitMs;
      const { limits } = shards[0] as Shard;
      const plan = new Plan(shardsAt(shards), nowMs);
      switch (event.kind) {
        case 'take': {
          const amounts = Object.fromEntries(
            limits.map(({ name, burstMilli }) => [name, (burstMilli * event.thousandths) / 1000n]),
          );
          const placed = plan.place({ amounts });
          if (!placed) break;
          plan.take(
            { kind: 'take', set: setOf(limits), amounts, mayExpire: true, slot: { lease: 'l', untilMs: 0 } },
            placed,
          );
          shards = write(shards, plan, nowMs);
          for (const limit of limits)
            reference.change(identityOf(limit), whole(-(amounts[limit.name] as bigint)), nowMs);
          leases.push(
            holdingsOf(
              { namespace: 'n', entityId: 'u', resource: 'r' },
              placed.placements,
              (index) => shards[index] as Shard,
            ),
          );
          break;
        }
        case 'charge': {
          const { refillPeriodMs: period, name, sinceConversion = 0 } = limits[0] as LimitState;
          const out = {
            [name]: {
              milli: event.milli,
              units: unitsOf({ refillPeriodMs: period }, event.milli, shards.length),
              period,
              sinceConversion,
            },
          };
          plan.settle({
            kind: 'settle',
            moves: [{ entityId: 'u', shard: 0, shards: shards.length, incarnation: 'b', out }],
            events: 0,
          });
          shards = write(shards, plan, nowMs);
          reference.change(identityOf(limits[0] as LimitState), whole(-event.milli), nowMs);
          break;
        }
        case 'release': {
          const [lease] = leases.splice(event.lease % Math.max(1, leases.length), 1);
          if (!lease) break;
          const moves = movesAll(lease, 'l');
          plan.settle({ kind: 'settle', moves, events: 0 });
          for (const { index, change } of plan.result()) {
            for (const [identity, { giveBack }] of change.limits) {
              const limit = allLimits(shards[index] as Shard).find(
                (each) => identityOf(each) === identity,
              ) as LimitState;
              reference.change(identity, new Fraction(giveBack, unitsOf(limit, 1n, shards.length)), nowMs);
            }
          }
          shards = write(shards, plan, nowMs);
          break;
        }
        case 'shards': {
          const isPossible =
            event.count <= maxShards &&
            limits.every(({ burstMilli }) => burstMilli % BigInt(event.count * 1000) === 0n);
          if (!isPossible || event.count === shards.length) break;
          shards = reshard(shards, event.count, nowMs).shards;
          conversions++;
          break;
        }
        case 'stamp':
          shards = restamped(shards, event.specs, nowMs).shards;
          reference.stamp(event.specs, nowMs);
          conversions += 2;
          break;
      }
      for (const identity of reference.identities()) {
        const isThere = allLimits(shards[0] as Shard).some((limit) => identityOf(limit) === identity);
        // A limit that was dropped was full.
        const has = isThere ? balanceOf(shards, identity, nowMs) : reference.burst(identity);
        check(has, reference.balance(identity, nowMs), conversions);
      }
    }
  }
  type BucketEvent =
    | { readonly kind: 'take'; readonly thousandths: bigint }
    | { readonly kind: 'stamp'; readonly specs: readonly LimitSpec[] }
    | { readonly kind: 'shards'; readonly count: number }
    | { readonly kind: 'charge'; readonly milli: bigint }
    | { readonly kind: 'release'; readonly lease: number };

  it('mints nothing and forgives no debt', () => {
    fc.assert(
      fc.property(sets, events, (first, schedule) => {
        run({ first, schedule, maxShards: 8, reference: new ReferenceBucket(true) }, (has, should) => {
          if (should.isBelow(has))
            throw new Error(`has ${has.over}/${has.under}, should have ${should.over}/${should.under}`);
        });
      }),
      { numRuns: 1500 },
    );
  });

  it('loses at most one unit per conversion on one shard', () => {
    fc.assert(
      fc.property(sets, events, (first, schedule) => {
        run({ first, schedule, maxShards: 1, reference: new ReferenceBucket(false) }, (has, should, conversions) => {
          const min = should.minus(whole(BigInt(conversions)));
          if (has.isBelow(min))
            throw new Error(`has ${has.over}/${has.under}, should have ${should.over}/${should.under}`);
        });
      }),
      { numRuns: 1500 },
    );
  });
});
