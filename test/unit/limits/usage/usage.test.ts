import fc from 'fast-check';
import { hourOfInstant, usageKey, usageRange } from '../../../../src/limits/limiter-keys.js';
import {
  countersOf,
  type HourUsage,
  hourOf,
  sumHours,
  topEntities,
  type UsageWindow,
  windowEnd,
  windowStart,
} from '../../../../src/limits/usage/usage.js';
import { vectorsOf } from '../../../support/vectors.js';

const hourMs = 3_600_000;

describe('usage windows', () => {
  const windowNamed = (name: string) => name.toUpperCase() as UsageWindow;
  it.each(vectorsOf<{ timestamp_ms: number; window: string }, string>('windowKey'))(
    'begin as in the vector %s',
    (_, { timestamp_ms, window }, expected) => {
      expect(windowStart(windowNamed(window), timestamp_ms)).toBe(Date.parse(expected));
    },
  );
  it.each(vectorsOf<{ window_key: string; window: string }, string>('windowEnd'))(
    'end one second after the last second of the vector %s',
    (_, { window_key, window }, expected) => {
      expect(windowEnd(windowNamed(window), Date.parse(window_key))).toBe(Date.parse(expected) + 1000);
    },
  );

  it('contain their start, end where the next begins and leave no gap', () => {
    const moments = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) });
    fc.assert(
      fc.property(moments, fc.constantFrom<UsageWindow>('HOURLY', 'DAILY', 'MONTHLY'), (ms, window) => {
        const fromMs = windowStart(window, ms);
        const toMs = windowEnd(window, fromMs);
        expect(fromMs <= ms && ms < toMs).toBe(true);
        expect([windowStart(window, fromMs), windowStart(window, toMs - 1), windowStart(window, toMs)]).toEqual([
          fromMs,
          fromMs,
          toMs,
        ]);
        expect(new Date(fromMs).toISOString()).toMatch(
          window === 'MONTHLY' ? /-01T00:00:00.000Z$/ : window === 'DAILY' ? /T00:00:00.000Z$/ : /:00:00.000Z$/,
        );
      }),
    );
  });

  const hours: fc.Arbitrary<HourUsage> = fc.record({
    entityId: fc.constantFrom('a', 'b'),
    resource: fc.constantFrom('api', 'web'),
    hour: fc.integer({ min: 490_000, max: 492_000 }),
    consumed: fc.record({ rpm: fc.bigInt({ min: -9n, max: 99n }) }),
    events: fc.nat(9),
    refused: fc.record({ rpm: fc.nat(9) }),
    wouldRefuse: fc.record({ tpm: fc.nat(9) }),
  });

  it('sum each hour once, oldest first and within a window by resource', () => {
    fc.assert(
      fc.property(
        fc.array(hours, { maxLength: 40 }),
        fc.constantFrom<UsageWindow>('HOURLY', 'DAILY', 'MONTHLY'),
        (usages, window) => {
          const sums = sumHours(usages, window);
          for (const { startMs: fromMs, endMs, resource, consumed, events, entities } of sums) {
            const within = usages.filter(
              (usage) => usage.resource === resource && usage.hour * hourMs >= fromMs && usage.hour * hourMs < endMs,
            );
            expect(within.length).toBeGreaterThan(0);
            expect(consumed.rpm).toBe(within.reduce((sum, usage) => sum + (usage.consumed.rpm ?? 0n), 0n));
            expect(events).toBe(within.reduce((sum, usage) => sum + usage.events, 0));
            expect(entities).toEqual(new Set(within.map(({ entityId }) => entityId)));
          }
          const total = (counts: readonly { readonly events: number }[]) =>
            counts.reduce((sum, { events }) => sum + events, 0);
          expect(total(sums)).toBe(total(usages));
          const order = sums.map(({ startMs: fromMs, resource }) => `${String(fromMs).padStart(15, '0')} ${resource}`);
          expect(order).toEqual([...new Set(order)].sort());
        },
      ),
    );
  });

  it('have keys that contain the hour and sort by time', () => {
    const id = { namespace: 'n', entityId: 'u', resource: 'a/b', shard: 3 };
    const { SK } = usageKey(id, 490_000, 'birth');
    expect(hourOfInstant(SK.split('#')[4] as string)).toBe(490_000);
    const [from, to] = usageRange('a/b', 490_000, 490_001);
    expect(from <= SK && SK < to).toBe(true);
    expect(usageKey(id, 490_001, 'birth').SK < to || usageKey(id, 489_999, 'birth').SK >= from).toBe(false);
    expect(hourOf(490_001 * hourMs - 1)).toBe(490_000);
  });
});

describe('the usage of a window', () => {
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

  it('has one counter per limit that was used or refused', () => {
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

  it('has the top entities: largest sums first, each entity once, ties by id, none with 0', () => {
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
