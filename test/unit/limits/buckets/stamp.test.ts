import { smaller } from '../../../../src/lib/int.js';
import { fullLimit, identityOf, type LimitSpec } from '../../../../src/limits/buckets/bucket.js';
import { Plan } from '../../../../src/limits/buckets/plan.js';
import { availableAcross, type Shard } from '../../../../src/limits/buckets/shard.js';
import { maxRetiredLimits, retiredUnder } from '../../../../src/limits/buckets/stamp.js';
import { maxUsageNames } from '../../../../src/limits/usage/usage.js';
import { calendarSpec, emptyLimit, rateSpec, restamped, setOf, shardOf, shardsAt, startMs } from './limit-fixtures.js';

describe('a stamp', () => {
  it.each<[number, bigint, number]>([
    [32, 1000n, 1],
    [32, 32_000n, 32],
    [32, 33_000n, 8], // 16 shards would have 2062.5 millitokens each
    [32, 16_000n, 16],
    [32, 7000n, 4],
    [8, 96_000n, 8],
    [1, 10n ** 6n, 1],
  ])('on %d shards with a burst of %d leaves %d shards, and the whole burst can be taken', (count, burst, expected) => {
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

  it('with a limit of 1 token on 32 shards grants it, and again once it has refilled', () => {
    const spent = rateSpec(3_200_000n);
    const { shards } = restamped(
      Array.from({ length: 32 }, (_, i) =>
        shardOf([i < 16 ? fullLimit(spent, startMs) : emptyLimit(spent, startMs)], 32),
      ),
      [rateSpec(1000n)],
    );
    expect(availableAcross(shards, 'rpm', startMs)).toBe(1000n);
    const empty = { ...shards[0], limits: [emptyLimit(rateSpec(1000n), startMs)] } as Shard;
    const isGranted = (nowMs: number) =>
      new Plan(shardsAt([empty]), nowMs).place({ amounts: { rpm: 1000n } }) !== undefined;
    expect([isGranted(startMs + 59_999), isGranted(startMs + 60_000)]).toEqual([false, true]);
  });

  it('retires the leaving limits that are not full on some shard, and books the usage of the others', () => {
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
      expect(shard.limits).toEqual([{ ...fullLimit(rph, startMs), sinceConversion: 1 }]);
      expect(shard.retired).toEqual([shards[i]?.limits[1]]);
      expect(shard).toMatchObject({ version: 'w', conversions: 1, booked: ['x', 'rpm'] });
    }
    expect(bookings).toEqual(shards.map((shard, index) => ({ index, shard, consumed: { rpm: 3000n }, events: 0 })));
    expect(retiredUnder(shards, setOf([rph]), startMs)).toEqual(['RATE tpm']);
    expect(retiredUnder(shards, setOf([tpm]), startMs)).toEqual([]);

    // A retired limit that comes back continues from its state, under any parameters.
    const [back] = restamped(after, [tpm]).shards as [Shard];
    expect(back.limits).toEqual([shards[0]?.limits[1]]);
    // Once it is full on all shards, it is dropped.
    const later = restamped(after, [rpm], startMs + 60_000);
    expect(later.shards.map(({ retired }) => retired)).toEqual([[], []]);
    expect(later.bookings.map(({ consumed }) => consumed)).toEqual([{ tpm: 3000n }, { tpm: 3000n }]);
    expect(later.shards.map(({ booked }) => booked)).toEqual([0, 1].map(() => ['x', 'rpm', 'tpm']));
  });

  it('keeps one state per kind of a name that changes its kind, and each continues', () => {
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
    expect(shards[0]?.retired.map(identityOf)).toEqual(['DAY x', 'RATE x']);
    const availableAs = (spec: LimitSpec) => availableAcross(restamped(shards, [spec]).shards, 'x', startMs);
    expect([availableAs(rate), availableAs(day), availableAs(week)]).toEqual([0n, 3000n, 3000n]);
  });

  it('marks at most as many names as booked as a usage item has figures for, however many limits come and go', () => {
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

  it('reports all limits that would be retired, so that the caller can refuse more than the max', () => {
    const specs = Array.from({ length: maxRetiredLimits + 1 }, (_, i) => rateSpec(1000n, 1000n, 60_000n, `l${i}`));
    const shards = [shardOf(specs.map((spec) => emptyLimit(spec, startMs)))];
    expect(retiredUnder(shards, setOf([rateSpec(1000n)]), startMs)).toHaveLength(maxRetiredLimits + 1);
    expect(retiredUnder(shards, setOf([rateSpec(1000n)]), startMs + 60_000)).toEqual([]);
  });
});
