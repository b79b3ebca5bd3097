import fc from 'fast-check';
import {
  type Amounts,
  afterStep,
  fullLimit,
  identityOf,
  type LimitState,
  room,
  shardBurstMilli,
  stepFor,
  type UnitMove,
  unitsOf,
} from '../../../../src/limits/buckets/bucket.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import {
  amountOf,
  move,
  type Portion,
  perMinute,
  portions,
  Reference,
  shardCounts,
  smaller,
  specs,
  take,
  untouched,
  waitMs,
  waits,
} from './bucket-reference.js';
import {
  availableMilli,
  debtFreeUpTo,
  Fraction,
  fits,
  reshard,
  setOf,
  shardOf,
  startMs,
  stepOf,
  whole,
  written,
} from './limit-fixtures.js';

describe('a plan on one shard', () => {
  const names = ['rpm', 'tpm', 'rph'];
  const buckets = fc.array(fc.record({ limit: specs, charged: portions }), { minLength: 1, maxLength: 3 });
  const requests = fc.array(fc.array(portions, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 });

  /** Which of these are admitted, in order of arrival, and the changes that the plan would write. */
  function planned(limits: readonly LimitState[], requested: readonly Amounts[], nowMs: number, shards: number) {
    const plan = new Plan([{ index: 0, shard: shardOf(limits, shards) }], nowMs);
    const admitted = requested.map((amounts) => {
      const placed = plan.place({ amounts });
      if (placed)
        plan.take(
          { kind: 'take', set: setOf(limits), amounts, mayExpire: true, slot: { lease: 'l', untilMs: nowMs } },
          placed,
        );
      return placed !== undefined;
    });
    return { admitted, changes: plan.result()[0]?.change.limits };
  }
  const admit = (limits: readonly LimitState[], requested: readonly Amounts[]) =>
    planned(limits, requested, startMs, 1).admitted;

  it('admits in order of arrival exactly what the textbook bucket would grant one by one, and can be written', () => {
    fc.assert(
      fc.property(buckets, requests, shardCounts, (bucket, requested, shards) => {
        const limits = bucket.map(({ limit, charged }, i) => {
          const full = { ...untouched(limit, startMs), name: names[i] as string };
          return afterStep(
            full,
            stepOf(full, move({ chargeMilli: amountOf(shardBurstMilli(limit, shards), charged) }), startMs, shards),
          );
        });
        const references = bucket.map(({ limit, charged }) => {
          const reference = new Reference(limit, shards, startMs);
          reference.change(-amountOf(shardBurstMilli(limit, shards), charged), startMs);
          return reference;
        });
        const amounts = requested.map(
          (parts): Amounts =>
            Object.fromEntries(
              limits.map((limit, i) => [
                limit.name,
                amountOf(shardBurstMilli(limit, shards) / 3n, parts[i] as Portion),
              ]),
            ),
        );
        const expected = amounts.map((request) => {
          const isGranted = references.every((reference, i) =>
            reference.has(request[names[i] as string] as bigint, startMs),
          );
          if (isGranted)
            for (const [i, reference] of references.entries())
              reference.change(-(request[names[i] as string] as bigint), startMs);
          return isGranted;
        });
        const { admitted, changes } = planned(limits, amounts, startMs, shards);
        expect(admitted).toEqual(expected);
        if (!admitted.includes(true)) return;
        for (const limit of limits) {
          const sum = amounts.reduce(
            (total, request, i) => (admitted[i] ? total + (request[limit.name] as bigint) : total),
            0n,
          );
          const step = stepFor(limit, changes?.get(identityOf(limit)) as UnitMove, startMs);
          expect(step).toEqual(stepOf(limit, take(sum), startMs, shards));
          const fullAt = written(limit.fullAt, step);
          expect(fullAt).toBeDefined();
          expect(availableMilli({ ...limit, fullAt: fullAt as bigint }, startMs, shards)).toBe(
            (references[names.indexOf(limit.name)] as Reference).balanceAt(startMs).floor(),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('takes 0 from every limit that a request does not name, so that one limit in debt refuses all', () => {
    const [sound, owing] = [
      fullLimit(perMinute(10n), startMs),
      { ...fullLimit({ ...perMinute(10n), name: 'tpm' }, startMs) },
    ];
    const inDebt = { ...owing, fullAt: debtFreeUpTo(owing, startMs) + 1n };
    expect(admit([sound, owing], [{ rpm: 1000n }])).toEqual([true]);
    expect(admit([sound, inDebt], [{ rpm: 1000n }, {}])).toEqual([false, false]);
  });
});

describe('the shards of a bucket', () => {
  const events = fc.array(fc.record({ wait: waits, on: fc.nat(1000), amount: portions }), {
    minLength: 1,
    maxLength: 60,
  });

  it('together never grant more than the burst and the refill, even across a doubling', () => {
    fc.assert(
      fc.property(specs, fc.integer({ min: 2, max: 32 }), events, fc.nat(60), (limit, n, schedule, doubledAfter) => {
        let nowMs = startMs;
        let shards = Array.from({ length: n }, () => untouched(limit, nowMs));
        const roomOf = (limits: readonly LimitState[]) =>
          limits.reduce(
            (sum, each) => sum.plus(new Fraction(room(each, nowMs), unitsOf(limit, 1n, limits.length))),
            whole(0n),
          );
        let granted = 0n;
        for (const [i, { wait, on, amount }] of schedule.entries()) {
          nowMs += waitMs(limit, wait);
          if (i === doubledAfter && shards.length <= 16) {
            const before = roomOf(shards);
            const bucket = shards.map((each) => shardOf([each], shards.length));
            shards = reshard(bucket, shards.length * 2, nowMs).shards.map((shard) => shard.limits[0] as LimitState);
            expect(roomOf(shards)).toEqual(before);
          }
          const at = on % shards.length;
          const cached = shards[at] as LimitState;
          const share = shardBurstMilli(limit, shards.length);
          const milliTaken = smaller(amountOf(share, amount), share);
          const fullAt = written(cached.fullAt, stepOf(cached, take(milliTaken), nowMs, shards.length));
          if (fullAt === undefined) continue;
          granted += milliTaken;
          shards[at] = { ...cached, fullAt };
          expect(
            (granted - limit.burstMilli) * limit.refillPeriodMs <= BigInt(nowMs - startMs) * limit.refillMilli,
          ).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([2, 3, 4, 7, 8, 16, 32])('(%d of them) grant the burst, and then what a minute refills', (n) => {
    const limit = perMinute(BigInt(n) * 5n);
    let shards = Array.from({ length: n }, () => untouched(limit, startMs));
    const drainAll = (nowMs: number) => {
      let admitted = 0;
      shards = shards.map((shard) => {
        let current = shard;
        for (let fullAt: bigint | undefined; ; admitted++) {
          fullAt = written(current.fullAt, stepOf(current, take(1000n), nowMs, n));
          if (fullAt === undefined) return current;
          current = { ...current, fullAt };
        }
      });
      return admitted;
    };
    expect([
      drainAll(startMs),
      drainAll(startMs),
      drainAll(startMs + 11_999),
      drainAll(startMs + 12_000),
      drainAll(startMs + 72_000),
    ]).toEqual([n * 5, 0, 0, n, n * 5]);
  });

  it('never grant more than its share from one of them, even if it is full', () => {
    fc.assert(
      fc.property(
        specs,
        fc.integer({ min: 2, max: 32 }),
        fc.bigInt({ min: 1n, max: 10n ** 18n }),
        (limit, n, beyond) => {
          // A group sends a take that cannot fit if its cache may be stale. The condition has to refuse it then.
          const state = untouched(limit, startMs);
          const milliTaken = shardBurstMilli(limit, n) + beyond;
          expect(fits(state, milliTaken, startMs, n)).toBe(false);
          expect(written(state.fullAt, stepOf(state, take(milliTaken), startMs, n))).toBeUndefined();
        },
      ),
    );
  });
});
