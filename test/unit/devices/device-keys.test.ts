import fc from 'fast-check';
import { readingKey, readingRange, readingSortKey } from '../../../src/devices/device-keys.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const mac = 'AA:BB:CC:DD:EE:FF';
const nowMs = Date.UTC(2026, 5, 1, 12);

describe('the keys of readings', () => {
  const batch = fc.oneof(
    fc.constantFrom('a', 'A', '-', ':', '.', '_', 'z', 'zz', '0'),
    fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/),
  );
  // A timestamp has twelve digits until September 2001, and thirteen after.
  const turn = 1_000_000_000_000;
  const moment = fc.oneof(
    fc.integer({ min: turn - 3, max: turn + 3 }),
    fc.integer({ min: Date.UTC(2000, 0, 1), max: turn - 1 }),
    fc.integer({ min: turn, max: Date.UTC(2100, 0, 1) - 1 }),
  );
  // DynamoDB compares strings by bytes.
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'number' ? Math.sign(a - Number(b)) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));

  it('sort by time, then by batch id', () => {
    fc.assert(
      fc.property(moment, batch, fc.option(moment), batch, (atMs, a, other, b) => {
        const otherMs = other ?? atMs;
        return (
          compare(readingSortKey(atMs, a), readingSortKey(otherMs, b)) === (compare(atMs, otherMs) || compare(a, b))
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('are in a range from its start, inclusive, to its end, exclusive', () => {
    const near = fc.tuple(moment, fc.integer({ min: -2, max: 2 }), fc.integer({ min: 1, max: 3 }), batch);
    fc.assert(
      fc.property(near, ([atMs, shift, length, batchId]) => {
        const [fromMs, toMs] = [atMs + shift, atMs + shift + length];
        const [first, last] = readingRange(fromMs, toMs);
        const sortKey = readingSortKey(atMs, batchId);
        expect(compare(first, last)).toBe(-1);
        return (compare(sortKey, first) >= 0 && compare(sortKey, last) <= 0) === (atMs >= fromMs && atMs < toMs);
      }),
      { numRuns: 1000 },
    );
  });

  it.each<[string, number, number, number, boolean]>([
    ['the start of a range', turn - 1, turn - 1, turn, true],
    ['the end of a range', turn, turn - 1, turn, false],
    ['the millisecond before a range', turn - 2, turn - 1, turn, false],
    ['the earliest time of all', Date.UTC(2000, 0, 1), 0, Date.UTC(2100, 0, 1), true],
    ['the latest time of all', Date.UTC(2100, 0, 1) - 1, 0, Date.UTC(2100, 0, 1), true],
  ])('are inside or outside at %s', (_, atMs, fromMs, toMs, inside) => {
    const [first, last] = readingRange(fromMs, toMs);
    for (const batchId of ['-', '0', 'Z', '_', 'z'.repeat(256)]) {
      const sortKey = readingSortKey(atMs, batchId);
      expect(sortKey >= first && sortKey <= last).toBe(inside);
    }
  });

  it('begin with the org and fit the longest batch id', () => {
    const key = readingKey({ orgId, hardwareId: mac, generation: '0123456789ab' }, nowMs, 'z'.repeat(256));
    expect(key).toEqual({ hardware_id: `${orgId}/${mac}/0123456789ab`, ts_batch: `${nowMs}#${'z'.repeat(256)}` });
  });

  it('cannot be built from a batch id that could forge another key', () => {
    for (const batchId of ['a#b', 'a/b', '', 'a\n'])
      expect(() => readingSortKey(nowMs, batchId)).toThrow('not allowed in a key');
  });
});
