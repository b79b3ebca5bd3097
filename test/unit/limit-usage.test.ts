import fc from 'fast-check';
import {
  leaseKey,
  leasePartitions,
  refusalIndexKeys,
  refusalKey,
  resourceUsageRange,
  usageRange,
} from '../../src/limits/limiter-keys.js';
import { maxTallies, RefusalCounts } from '../../src/limits/usage/refusals.js';
import { countersOf, type HourUsage, maxUsageNames, sumHours, topEntities } from '../../src/limits/usage/usage.js';

const bucket = (entityId: string) => ({ namespace: 'n', entityId, resource: 'api' });
const times = <T>(count: number, task: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => task(i));

describe('counts of refusals', () => {
  it('sum by bucket, hour, limit and kind', () => {
    const counts = new RefusalCounts();
    counts.note(bucket('a'), 1, ['rpm'], 'refused');
    counts.note(bucket('a'), 1, ['rpm', 'tpm'], 'refused');
    counts.note(bucket('a'), 1, ['tpm'], 'wouldRefuse');
    counts.note(bucket('a'), 2, ['rpm'], 'refused');
    counts.note(bucket('b'), 1, ['rpm'], 'wouldRefuse');
    counts.note(bucket('c'), 1, [], 'refused');
    expect(
      counts
        .unsaved(10)
        .map(({ bucket: { entityId }, hour, refused, wouldRefuse }) => [entityId, hour, refused, wouldRefuse]),
    ).toEqual([
      ['a', 1, { rpm: 2, tpm: 1 }, { tpm: 1 }],
      ['a', 2, { rpm: 1 }, {}],
      ['b', 1, {}, { rpm: 1 }],
    ]);
    expect(new Set(counts.unsaved(10).map(({ id }) => id)).size).toBe(3);
  });

  it(`name ${maxUsageNames} limits at most and count the others together`, () => {
    const counts = new RefusalCounts();
    counts.note(
      bucket('a'),
      1,
      times(maxUsageNames, (i) => `limit-${i}`),
      'refused',
    );
    counts.note(bucket('a'), 1, ['one', 'more', 'limit-0'], 'wouldRefuse');
    counts.note(bucket('a'), 1, ['limit-1', 'two'], 'refused');
    const [tally] = counts.unsaved(1);
    expect(Object.keys(tally?.refused ?? {})).toHaveLength(maxUsageNames + 1);
    expect(tally?.refused).toMatchObject({ 'limit-0': 1, 'limit-1': 2, other: 1 });
    expect(tally?.wouldRefuse).toEqual({ 'limit-0': 1, other: 2 });
  });

  it(`are kept for ${maxTallies} buckets and hours; one more is not counted until something is saved`, () => {
    const counts = new RefusalCounts();
    for (let i = 0; i < maxTallies; i++) expect(counts.note(bucket(`e${i}`), 1, ['rpm'], 'refused')).toBe(true);
    expect(counts.note(bucket('late'), 1, ['rpm'], 'refused')).toBe(false);
    expect(counts.note(bucket('e7'), 1, ['rpm'], 'refused')).toBe(true);
    const [first] = counts.unsaved(1);
    if (!first) throw new Error('nothing is unsaved');
    counts.settle(first, first.version);
    expect(counts.note(bucket('late'), 1, ['rpm'], 'refused')).toBe(true);
    expect(counts.note(bucket('later'), 1, ['rpm'], 'refused')).toBe(false);
    expect(counts.unsavedCount).toBe(maxTallies);
  });

  it('go on where they were after a save, and have another id once they were forgotten', () => {
    const counts = new RefusalCounts();
    const noted = () => {
      counts.note(bucket('a'), 1, ['rpm'], 'refused');
      const [tally] = counts.unsaved(1);
      if (!tally) throw new Error('nothing is unsaved');
      return tally;
    };
    const first = noted();
    counts.settle(first, first.version);
    expect(counts.unsavedCount).toBe(0);
    expect(noted()).toMatchObject({ id: first.id, refused: { rpm: 2 } });
    // Counted while it was being saved.
    const { version } = first;
    noted();
    counts.settle(first, version);
    expect(counts.unsavedCount).toBe(1);
    counts.forgetBefore(2);
    expect(noted().refused).toEqual({ rpm: 4 });
    counts.settle(first, first.version);
    counts.forgetBefore(1);
    expect(noted().id).toBe(first.id);
    counts.settle(first, first.version);
    counts.forgetBefore(2);
    const again = noted();
    expect(again.refused).toEqual({ rpm: 1 });
    expect(again.id).not.toBe(first.id);
  });

  it('are saved in turn: what waited longest or failed least comes first', () => {
    const counts = new RefusalCounts();
    for (const entityId of ['a', 'b', 'c']) counts.note(bucket(entityId), 1, ['rpm'], 'refused');
    const order = () => counts.unsaved(10).map(({ bucket: { entityId } }) => entityId);
    const [a] = counts.unsaved(1);
    if (!a) throw new Error('nothing is unsaved');
    counts.postpone(a);
    expect(order()).toEqual(['b', 'c', 'a']);
    counts.note(bucket('b'), 1, ['rpm'], 'refused');
    expect(order()).toEqual(['b', 'c', 'a']);
    expect(counts.unsaved(2)).toHaveLength(2);
  });
});

describe('usage', () => {
  const hour = (entityId: string, over: Partial<HourUsage>): HourUsage => ({
    entityId,
    resource: 'api',
    hour: 490_000,
    consumed: {},
    events: 0,
    refused: {},
    wouldRefuse: {},
    ...over,
  });

  it('has one counter per limit, whether used, refused or both', () => {
    const [sum] = sumHours(
      [
        hour('a', { consumed: { rpm: 5000n }, events: 2 }),
        hour('a', { refused: { rpm: 3, tpm: 1 } }),
        hour('b', { refused: { rpm: 4 }, wouldRefuse: { day: 9 } }),
      ],
      'HOURLY',
    );
    if (!sum) throw new Error('no window');
    expect(countersOf(sum)).toEqual([
      { limit: 'day', consumed: 0, refused: 0, wouldRefuse: 9 },
      { limit: 'rpm', consumed: 5, refused: 7, wouldRefuse: 0 },
      { limit: 'tpm', consumed: 0, refused: 1, wouldRefuse: 0 },
    ]);
    expect([...sum.entities]).toEqual(['a']);
  });

  const anyHour = fc
    .record({
      entityId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      used: fc.bigInt({ min: -9n, max: 99n }),
      refused: fc.nat(20),
    })
    .map(({ entityId, used, refused }) =>
      hour(entityId, { consumed: { rpm: used * 1000n, tpm: 77_000n }, refused: { rpm: refused, tpm: 5 } }),
    );

  it('has top entities: the largest sums, each entity once, ties by id, none without any', () => {
    fc.assert(
      fc.property(
        fc.array(anyHour),
        fc.constantFrom('CONSUMED' as const, 'REFUSED' as const),
        fc.integer({ min: 1, max: 6 }),
        (hours, by, first) => {
          const top = topEntities(hours, { limit: 'rpm', by, first });
          const sumOf = (entityId: string) =>
            hours
              .filter((usage) => usage.entityId === entityId)
              .reduce(
                (sum, usage) =>
                  sum + (by === 'CONSUMED' ? Number((usage.consumed.rpm ?? 0n) / 1000n) : (usage.refused.rpm ?? 0)),
                0,
              );
          const expected = ['a', 'b', 'c', 'd', 'e']
            .filter((entityId) => sumOf(entityId) > 0)
            .sort((a, b) => sumOf(b) - sumOf(a) || (a < b ? -1 : 1))
            .slice(0, first);
          expect(top.map(({ entityId }) => entityId)).toEqual(expected);
          expect(top.map(({ consumed, refused }) => (by === 'CONSUMED' ? consumed : refused))).toEqual(
            expected.map(sumOf),
          );
        },
      ),
    );
  });
});

describe('keys', () => {
  it('of refusals are in the range of their hour, for entity and resource alike', () => {
    const { SK } = refusalKey(bucket('a'), 490_000, 'x-_9');
    const { GSI2SK } = refusalIndexKeys(bucket('a'), 490_000, 'x-_9');
    for (const [from, inside] of [
      [490_000, true],
      [489_999, false],
      [490_001, false],
    ] as const) {
      const within = (name: string, [least, most]: [string, string]) => name >= least && name <= most;
      expect(within(SK, usageRange('api', from, from + 1))).toBe(inside);
      expect(within(GSI2SK, resourceUsageRange(from, from + 1))).toBe(inside);
    }
  });

  it('of leases are spread over 64 partitions of the namespace, evenly', () => {
    const partitions = leasePartitions('n');
    expect(new Set(partitions).size).toBe(64);
    const counts = new Map(partitions.map((partition) => [partition, 0]));
    for (let i = 0; i < 6400; i++) {
      const { PK } = leaseKey('n', `r-${i}`);
      counts.set(PK, (counts.get(PK) as number) + 1);
    }
    expect(counts.size).toBe(64);
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(50);
  });
});
