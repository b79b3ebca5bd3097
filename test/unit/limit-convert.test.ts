import fc from 'fast-check';
import { larger, smaller } from '../../src/lib/int.js';
import {
  asOf,
  fullLimit,
  identityOf,
  type LimitSpec,
  type LimitState,
  room,
  stepIn,
  unitsOf,
} from '../../src/limits/buckets/bucket.js';
import { type Conversion, converted, keptUnder, maxKeptLimits } from '../../src/limits/buckets/convert.js';
import { type Holding, holdingsOf } from '../../src/limits/buckets/holding.js';
import type { LimitChange } from '../../src/limits/buckets/limit-change.js';
import { Plan } from '../../src/limits/buckets/plan.js';
import { availableAcross, openUsage, type Shard } from '../../src/limits/buckets/shard.js';
import { movesAll } from '../../src/limits/lease-moves.js';
import { maxUsageNames } from '../../src/limits/usage/usage.js';
import {
  calendarSpec,
  debtFreeUpTo,
  emptyLimit,
  Fraction,
  rateSpec,
  reshard,
  restamped,
  setOf,
  shardOf,
  shardsAt,
  slotSpec,
  startMs,
  whole,
  writtenLimit,
} from './limit-fixtures.js';

const dayMs = 86_400_000;
const isBetween = (value: Fraction, least: Fraction, most: Fraction): boolean =>
  !value.isBelow(least) && !most.isBelow(value);

/** What the shards can give of a limit, kept or in force, in millitokens: debts stand against it. */
const balance = (shards: readonly Shard[], identity: string, nowMs = startMs): Fraction =>
  shards.reduce((sum, { limits, kept, shardCount }) => {
    const limit = [...limits, ...kept].find((each) => identityOf(each) === identity);
    return limit ? sum.plus(new Fraction(room(limit, nowMs), unitsOf(limit, 1n, shardCount))) : sum;
  }, whole(0n));

interface Books {
  readonly consumed: Record<string, bigint>;
  readonly open: Record<string, bigint>;
  readonly events: number;
  readonly openEvents: number;
}
/** Totals of the shards, and what is open with what was booked on the way. */
function booksOf({ shards, bookings }: Conversion): Books {
  const books = {
    consumed: {} as Record<string, bigint>,
    open: {} as Record<string, bigint>,
    events: 0,
    openEvents: 0,
  };
  const enter = (consumed: Readonly<Record<string, bigint>>, events: number) => {
    for (const [name, milli] of Object.entries(consumed)) books.open[name] = (books.open[name] ?? 0n) + milli;
    books.openEvents += events;
  };
  for (const shard of shards) {
    for (const { name, consumedMilli } of [...shard.limits, ...shard.kept])
      books.consumed[name] = (books.consumed[name] ?? 0n) + consumedMilli;
    books.events += shard.events;
    const { consumed, events } = openUsage(shard);
    enter(consumed, events);
  }
  for (const { consumed, events } of bookings) enter(consumed, events);
  return { ...books, open: Object.fromEntries(Object.entries(books.open).filter(([, milli]) => milli !== 0n)) };
}

/** Buckets with a limit that refills and one with a window, full, spent and in debt; each shard with use of its own. */
/** Some units more than round figures, so that means have to be rounded. */
const stateOf = (spec: LimitSpec, thousandths: number, tc: number, th: number): LimitState => ({
  ...fullLimit(spec, startMs),
  fullAt:
    (spec.refillMilli > 0n ? debtFreeUpTo(spec, startMs) : spec.burstMilli) -
    (BigInt(thousandths) * spec.burstMilli * spec.refillPeriodMs) / 1000n +
    BigInt(tc),
  consumedMilli: BigInt(tc),
  consumedBeforeMilli: BigInt(Math.min(tc, th)),
});
const buckets = (counts: readonly number[]): fc.Arbitrary<Shard[]> =>
  fc
    .record({
      count: fc.constantFrom(...counts),
      refill: fc.bigInt({ min: 1n, max: 5000n }),
      period: fc.bigInt({ min: 1n, max: 90_000n }),
      tokens: fc.bigInt({ min: 1n, max: 50n }),
      shards: fc.array(
        fc.record({
          left: fc.integer({ min: -500, max: 1100 }),
          day: fc.integer({ min: -500, max: 1000 }),
          tc: fc.nat(9),
          th: fc.nat(9),
          events: fc.nat(9),
          eb: fc.nat(9),
        }),
        { minLength: 32, maxLength: 32 },
      ),
    })
    .map(({ count, refill, period, tokens, shards }) => {
      const [rpm, day] = [rateSpec(tokens * 32_000n, refill, period), calendarSpec(tokens * 32_000n)];
      return shards.slice(0, count).map(({ left, day: used, tc, th, events, eb }) => {
        const limits = [stateOf(rpm, left, tc, th), stateOf(day, used, tc + 1, th)];
        return shardOf(limits, count, {
          kept: [stateOf({ ...rpm, name: 'tpm' }, left, tc + 2, th)],
          events,
          eventsBefore: Math.min(events, eb),
        });
      });
    });
const identities = ['RATE rpm', 'DAY day', 'RATE tpm'];

describe('more shards', () => {
  it('have together exactly what the fewer had, debts too, then and later', () => {
    fc.assert(
      fc.property(buckets([1, 2, 4, 8]), fc.constantFrom(2, 4), fc.nat(100_000), (shards, times, afterMs) => {
        const conversion = reshard(shards, shards.length * times);
        expect(conversion.shards.map(({ shardCount }) => shardCount)).toEqual(
          Array(shards.length * times).fill(shards.length * times),
        );
        for (const identity of identities) {
          for (const nowMs of [startMs, startMs + afterMs])
            expect(balance(conversion.shards, identity, nowMs)).toEqual(balance(shards, identity, nowMs));
        }
        expect(booksOf(conversion)).toEqual(booksOf({ shards, bookings: [] }));
        expect(conversion.bookings).toEqual([]);
        expect(new Set(conversion.shards.map(({ conversions }) => conversions))).toEqual(new Set([1]));
      }),
    );
  });

  it('keep of a bucket that is nearly full all that is there, five doublings on', () => {
    const limit = { ...rateSpec(1_024_000_000n), name: 'rpm' };
    let shards: readonly Shard[] = [
      shardOf([
        { ...fullLimit(limit, startMs), fullAt: BigInt(startMs) * limit.refillMilli + unitsOf(limit, 1_000_000n, 1) },
      ]),
    ];
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1_023_000_000n);
    for (let doubling = 0; doubling < 5; doubling++) shards = reshard(shards, shards.length * 2).shards;
    expect(shards).toHaveLength(32);
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1_023_000_000n);
    expect(new Plan(shardsAt(shards), startMs).place({ amounts: { rpm: 1_022_000_000n } })).toBeDefined();
  });
});

describe('fewer shards', () => {
  it('have together what the more had, less the rounding of a unit each and never more; no debt is forgiven', () => {
    fc.assert(
      fc.property(buckets([2, 4, 8, 16]), fc.constantFrom(2, 4, 8, 16), (shards, times) => {
        const count = Math.max(1, shards.length / times);
        const conversion = reshard(shards, count);
        for (const identity of identities) {
          const before = balance(shards, identity);
          const { refillPeriodMs } = [...(shards[0] as Shard).limits, ...(shards[0] as Shard).kept].find(
            (each) => identityOf(each) === identity,
          ) as LimitState;
          // A unit of each of the shards that are left.
          expect(
            isBetween(balance(conversion.shards, identity), before.minus(new Fraction(1n, refillPeriodMs)), before),
          ).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('and those that are ended lose no use: it is booked or still open, and the totals stay', () => {
    fc.assert(
      fc.property(buckets([2, 4, 8]), (shards) => {
        const before = booksOf({ shards, bookings: [] });
        const fold = reshard(shards, shards.length / 2);
        expect(booksOf(fold)).toEqual(before);
        expect(fold.bookings.every(({ index, shard }) => index >= shards.length / 2 && shard === shards[index])).toBe(
          true,
        );
        const end = converted(shards, { kind: 'end' }, startMs);
        expect(end.shards).toEqual([]);
        expect(booksOf(end)).toMatchObject({ open: before.open, openEvents: before.openEvents, consumed: {} });
      }),
    );
  });

  it('that were made by doubling are what they were, but for the count of conversions', () => {
    fc.assert(
      fc.property(buckets([1, 2, 4]), (shards) => {
        const there = reshard(reshard(shards, shards.length * 2).shards, shards.length).shards;
        for (const [i, { conversions, limits }] of there.entries()) {
          expect(conversions).toBe(2);
          const now = (shards[i] as Shard).limits.map((limit) => ({
            ...limit,
            fullAt: larger(limit.fullAt, BigInt(startMs) * limit.refillMilli),
          }));
          expect(limits).toEqual(now);
        }
      }),
    );
  });

  it('of which only some have begun a window are all in it, with what was used there', () => {
    const spec = calendarSpec(10_000n);
    const endMs = fullLimit(spec, startMs).windowEndMs as number;
    const used = (fullAt: bigint, windowEndMs: number) =>
      shardOf([{ ...fullLimit(spec, startMs), fullAt, windowEndMs }], 2);
    const foldedAt = (nowMs: number, ...shards: Shard[]) => reshard(shards, 1, nowMs).shards[0]?.limits[0];
    expect(foldedAt(endMs, used(9000n, endMs), used(3000n, endMs + dayMs))).toMatchObject({
      fullAt: 1500n,
      windowEndMs: endMs + dayMs,
    });
    expect(foldedAt(startMs, used(9000n, endMs), used(3000n, endMs + dayMs))).toMatchObject({
      fullAt: 1500n,
      windowEndMs: endMs + dayMs,
    });
    expect(foldedAt(startMs, used(9000n, endMs), used(3000n, endMs))).toMatchObject({
      fullAt: 6000n,
      windowEndMs: endMs,
    });
    // More given back than used on one stands against the use of the other.
    expect(foldedAt(startMs, used(9000n, endMs), used(-3000n, endMs))).toMatchObject({
      fullAt: 3000n,
      windowEndMs: endMs,
    });
  });

  it('forget no lease that holds a slot, though the limit was only kept while there were more', () => {
    const jobs = {
      ...fullLimit(slotSpec(2n), startMs),
      slots: { a: startMs + 60_000, b: startMs + 60_000 },
      fullAt: 2000n,
    };
    const left = restamped([shardOf([jobs])], [rateSpec(64_000n)]).shards;
    expect(left[0]?.kept).toEqual([jobs]);
    const again = restamped(reshard(left, 4).shards, [slotSpec(2n)]);
    expect(again.shards).toHaveLength(1);
    expect(again.shards[0]?.limits).toEqual([jobs]);
  });
});

describe('a stamp', () => {
  it.each<[number, bigint, number]>([
    [32, 1000n, 1],
    [32, 32_000n, 32],
    [32, 33_000n, 8], // 16 shards of 2062.5 millitokens would not be whole
    [32, 16_000n, 16],
    [32, 7000n, 4],
    [8, 96_000n, 8],
    [1, 10n ** 6n, 1],
  ])('on %d shards with a burst of %d leaves %d, and all of the burst can be taken', (count, burst, expected) => {
    const old = rateSpec(3_200_000n);
    const { shards } = restamped(
      Array.from({ length: count }, () => shardOf([fullLimit(old, startMs)], count)),
      [rateSpec(burst)],
    );
    expect(shards.map(({ shardCount }) => shardCount)).toEqual(Array(expected).fill(expected));
    const plan = new Plan(shardsAt(shards), startMs);
    expect(plan.place({ amounts: { rpm: smaller(burst, 3_200_000n) } })).toBeDefined();
    expect(plan.place({ amounts: { rpm: smaller(burst, 3_200_000n) + 1n } })).toBeUndefined();
  });

  it('with 1 token on 32 shards lets one take it, and the next once it is back', () => {
    const spent = rateSpec(3_200_000n);
    const { shards } = restamped(
      Array.from({ length: 32 }, (_, i) =>
        shardOf([i < 16 ? fullLimit(spent, startMs) : emptyLimit(spent, startMs)], 32),
      ),
      [rateSpec(1000n)],
    );
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1000n);
    const empty = { ...shards[0], limits: [emptyLimit(rateSpec(1000n), startMs)] } as Shard;
    const goes = (nowMs: number) => new Plan(shardsAt([empty]), nowMs).place({ amounts: { rpm: 1000n } }) !== undefined;
    expect([goes(startMs + 59_999), goes(startMs + 60_000)]).toEqual([false, true]);
  });

  it('keeps of what leaves the limits that are not full on some shard, and books the use of the others', () => {
    const [rpm, tpm, rph] = ['rpm', 'tpm', 'rph'].map((name) => rateSpec(64_000n, 64_000n, 60_000n, name)) as [
      LimitSpec,
      LimitSpec,
      LimitSpec,
    ];
    const used = { consumedMilli: 5000n, consumedBeforeMilli: 2000n };
    const shards = [0, 1].map((i) =>
      shardOf(
        [
          { ...fullLimit(rpm, startMs), ...used },
          { ...(i === 0 ? fullLimit(tpm, startMs) : emptyLimit(tpm, startMs)), ...used },
        ],
        2,
        { booked: ['x'] },
      ),
    );
    const { shards: after, bookings } = restamped(shards, [rph]);
    for (const [i, shard] of after.entries()) {
      expect(shard.limits).toEqual([{ ...fullLimit(rph, startMs), born: 1 }]);
      expect(shard.kept).toEqual([shards[i]?.limits[1]]);
      expect(shard).toMatchObject({ version: 'w', conversions: 1, booked: ['x', 'rpm'] });
    }
    expect(bookings).toEqual(shards.map((shard, index) => ({ index, shard, consumed: { rpm: 3000n }, events: 0 })));
    expect(keptUnder(shards, setOf([rph]), startMs)).toEqual(['RATE tpm']);
    expect(keptUnder(shards, setOf([tpm]), startMs)).toEqual([]);

    // The one that is kept goes on where it was, under whatever parameters it comes back with.
    const [back] = restamped(after, [tpm]).shards as [Shard];
    expect(back.limits).toEqual([shards[0]?.limits[1]]);
    // Once it is full everywhere it is gone.
    const later = restamped(after, [rpm], startMs + 60_000);
    expect(later.shards.map(({ kept }) => kept)).toEqual([[], []]);
    expect(later.bookings.map(({ consumed }) => consumed)).toEqual([{ tpm: 3000n }, { tpm: 3000n }]);
    expect(later.shards.map(({ booked }) => booked)).toEqual([0, 1].map(() => ['x', 'rpm', 'tpm']));
  });

  it('keeps two states of a name that changes its kind, and each goes on', () => {
    const [rate, day, week] = [
      rateSpec(8000n, 8000n, 60_000n, 'x'),
      calendarSpec(8000n, 'DAY', 'x'),
      calendarSpec(8000n, 'WEEK', 'x'),
    ];
    let shards: readonly Shard[] = [shardOf([emptyLimit(rate, startMs)])];
    for (const spec of [day, week]) {
      shards = restamped(shards, [spec]).shards;
      shards = shards.map((shard) => ({
        ...shard,
        limits: shard.limits.map((limit) => ({ ...limit, fullAt: 5000n })),
      }));
    }
    expect(shards[0]?.kept.map(identityOf)).toEqual(['DAY x', 'RATE x']);
    const availableAs = (spec: LimitSpec) => availableAcross(restamped(shards, [spec]).shards, 'x', startMs);
    expect([availableAs(rate), availableAs(day), availableAs(week)]).toEqual([0n, 3000n, 3000n]);
  });

  it('notes no more names as booked than a usage item has figures for, however many limits come and go in an hour', () => {
    let shards: readonly Shard[] = [shardOf([fullLimit(rateSpec(1000n, 1000n, 1n, 'l0'), startMs)])];
    for (let i = 1; i < 80; i++) {
      const used = shards.map((shard) => ({
        ...shard,
        limits: shard.limits.map((limit) => ({ ...limit, consumedMilli: 1000n })),
      }));
      const conversion = restamped(used, [rateSpec(1000n, 1000n, 1n, `l${i}`)], startMs + i);
      expect(conversion.bookings.map(({ consumed }) => consumed)).toEqual([{ [`l${i - 1}`]: 1000n }]);
      shards = conversion.shards;
    }
    expect(shards[0]?.booked).toEqual(Array.from({ length: maxUsageNames }, (_, i) => `l${i}`));
  });

  it('may keep as many as it must: who stamps refuses more than 16', () => {
    const specs = Array.from({ length: maxKeptLimits + 1 }, (_, i) => rateSpec(1000n, 1000n, 60_000n, `l${i}`));
    const shards = [shardOf(specs.map((spec) => emptyLimit(spec, startMs)))];
    expect(keptUnder(shards, setOf([rateSpec(1000n)]), startMs)).toHaveLength(maxKeptLimits + 1);
    expect(keptUnder(shards, setOf([rateSpec(1000n)]), startMs + 60_000)).toEqual([]);
  });
});

/**
 * A bucket that never forgets: the state of every limit there ever was, exact, on one shard. A limit that is full when it
 * comes back may begin anew, as one that was never there would: `isNewWhenFull`.
 */
class Everlasting {
  private current = new Set<string>();
  private readonly states = new Map<
    string,
    { spec: LimitSpec; balance: Fraction; atMs: number; windowEndMs: number | undefined }
  >();

  constructor(private readonly isNewWhenFull: boolean) {}

  stamp(specs: readonly LimitSpec[], nowMs: number): void {
    for (const spec of specs) {
      const burst = whole(spec.burstMilli);
      const known = this.states.get(identityOf(spec));
      const isNew =
        this.isNewWhenFull && known && !this.current.has(identityOf(spec)) && this.isFull(identityOf(spec), nowMs);
      const old = isNew ? undefined : known;
      const had = old && this.balance(identityOf(spec), nowMs);
      const { windowEndMs } = old?.spec.calendar
        ? asOf({ ...fullLimit(old.spec, nowMs), windowEndMs: old.windowEndMs as number }, nowMs)
        : fullLimit(spec, nowMs);
      // Of what does not refill the use stays: under a lower capacity it may be too much.
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

describe('any sequence of limit sets', () => {
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
      act: fc.oneof(
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

  /** Writes what was planned; a plan that cannot be written is a defect. */
  function write(shards: readonly Shard[], plan: Plan, nowMs: number): Shard[] {
    const changes = new Map(plan.result().map(({ index, change }) => [index, change.limits]));
    const next = (index: number) => (limit: LimitState) => {
      const change = changes.get(index)?.get(identityOf(limit)) as LimitChange | undefined;
      const after = change ? writtenLimit(limit, stepIn(limit, change, nowMs), nowMs) : limit;
      if (!after) throw new Error('what was planned cannot be written');
      return after;
    };
    return shards.map((shard, index) => ({
      ...shard,
      limits: shard.limits.map(next(index)),
      kept: shard.kept.map(next(index)),
    }));
  }

  interface Sequence {
    readonly first: readonly LimitSpec[];
    readonly schedule: readonly { readonly waitMs: number; readonly act: Act }[];
    readonly maxShards: number;
    readonly reference: Everlasting;
  }
  /** Goes through a sequence, and shows after each event what the bucket has of each limit beside what it should have. */
  function run(
    { first, schedule, maxShards, reference }: Sequence,
    check: (has: Fraction, should: Fraction, conversions: number) => void,
  ): void {
    let nowMs = startMs;
    let shards: readonly Shard[] = [shardOf(first.map((spec) => fullLimit(spec, nowMs)))];
    reference.stamp(first, nowMs);
    const leases: Holding[][] = [];
    let conversions = 0;
    for (const { waitMs, act } of schedule) {
      nowMs += waitMs;
      const { limits } = shards[0] as Shard;
      const plan = new Plan(shardsAt(shards), nowMs);
      switch (act.kind) {
        case 'take': {
          const amounts = Object.fromEntries(
            limits.map(({ name, burstMilli }) => [name, (burstMilli * act.thousandths) / 1000n]),
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
          const { refillPeriodMs: period, name, born = 0 } = limits[0] as LimitState;
          const out = {
            [name]: {
              milli: act.milli,
              units: unitsOf({ refillPeriodMs: period }, act.milli, shards.length),
              period,
              born,
            },
          };
          plan.settle({
            kind: 'settle',
            moves: [{ entityId: 'u', shard: 0, shards: shards.length, birth: 'b', out }],
            events: 0,
          });
          shards = write(shards, plan, nowMs);
          reference.change(identityOf(limits[0] as LimitState), whole(-act.milli), nowMs);
          break;
        }
        case 'release': {
          const [lease] = leases.splice(act.lease % Math.max(1, leases.length), 1);
          if (!lease) break;
          const moves = movesAll(lease, 'l');
          plan.settle({ kind: 'settle', moves, events: 0 });
          for (const { index, change } of plan.result()) {
            for (const [identity, { giveBack }] of change.limits) {
              const limit = [...(shards[index] as Shard).limits, ...(shards[index] as Shard).kept].find(
                (each) => identityOf(each) === identity,
              ) as LimitState;
              reference.change(identity, new Fraction(giveBack, unitsOf(limit, 1n, shards.length)), nowMs);
            }
          }
          shards = write(shards, plan, nowMs);
          break;
        }
        case 'shards': {
          const isServing =
            act.count <= maxShards && limits.every(({ burstMilli }) => burstMilli % BigInt(act.count * 1000) === 0n);
          if (!isServing || act.count === shards.length) break;
          shards = reshard(shards, act.count, nowMs).shards;
          conversions++;
          break;
        }
        case 'stamp':
          shards = restamped(shards, act.specs, nowMs).shards;
          reference.stamp(act.specs, nowMs);
          conversions += 2;
          break;
      }
      for (const identity of reference.identities()) {
        const isThere = [...(shards[0] as Shard).limits, ...(shards[0] as Shard).kept].some(
          (limit) => identityOf(limit) === identity,
        );
        // What is gone was full.
        const has = isThere ? balance(shards, identity, nowMs) : reference.burst(identity);
        check(has, reference.balance(identity, nowMs), conversions);
      }
    }
  }
  type Act =
    | { readonly kind: 'take'; readonly thousandths: bigint }
    | { readonly kind: 'stamp'; readonly specs: readonly LimitSpec[] }
    | { readonly kind: 'shards'; readonly count: number }
    | { readonly kind: 'charge'; readonly milli: bigint }
    | { readonly kind: 'release'; readonly lease: number };

  it('mints nothing and forgives no debt, beside a bucket that keeps every state for ever', () => {
    fc.assert(
      fc.property(sets, events, (first, schedule) => {
        run({ first, schedule, maxShards: 8, reference: new Everlasting(true) }, (has, should) => {
          if (should.isBelow(has))
            throw new Error(`has ${has.over}/${has.under}, should have ${should.over}/${should.under}`);
        });
      }),
      { numRuns: 1500 },
    );
  });

  it('loses nothing on one shard but the rounding of a unit a conversion', () => {
    fc.assert(
      fc.property(sets, events, (first, schedule) => {
        run({ first, schedule, maxShards: 1, reference: new Everlasting(false) }, (has, should, conversions) => {
          const least = should.minus(whole(BigInt(conversions)));
          if (has.isBelow(least))
            throw new Error(`has ${has.over}/${has.under}, should have ${should.over}/${should.under}`);
        });
      }),
      { numRuns: 1500 },
    );
  });
});
