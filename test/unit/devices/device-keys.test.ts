import fc from 'fast-check';
import { feedKey, newestMsIn, readingKey, segmentRange, segmentSortKey } from '../../../src/devices/device-keys.js';
import { ulid, ulidFloor, ulidMs } from '../../../src/lib/id.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const mac = 'AA:BB:CC:DD:EE:FF';
const nowMs = Date.UTC(2026, 5, 1, 12);

describe('the keys of segments', () => {
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

  it('sort by time, then by id', () => {
    fc.assert(
      fc.property(moment, batch, fc.option(moment), batch, (atMs, a, other, b) => {
        const otherMs = other ?? atMs;
        return (
          compare(segmentSortKey(atMs, a), segmentSortKey(otherMs, b)) === (compare(atMs, otherMs) || compare(a, b))
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('are in a range if the segment may have a reading of it: from its start to the end of its last hour', () => {
    const hourMs = 3_600_000;
    const hourOf = (atMs: number) => Math.floor(atMs / hourMs);
    const near = fc.tuple(
      moment,
      fc.integer({ min: -2 * hourMs, max: 2 * hourMs }),
      fc.integer({ min: 1, max: hourMs }),
    );
    fc.assert(
      fc.property(near, batch, ([atMs, shift, length], id) => {
        const [fromMs, toMs] = [atMs + shift, atMs + shift + length];
        const [first, last] = segmentRange(fromMs, toMs);
        const sortKey = segmentSortKey(atMs, id);
        expect(newestMsIn(sortKey)).toBe(atMs);
        expect(compare(first, last)).toBe(-1);
        const isInside = compare(sortKey, first) >= 0 && compare(sortKey, last) <= 0;
        return isInside === (atMs >= fromMs && hourOf(atMs) <= hourOf(toMs - 1));
      }),
      { numRuns: 1000 },
    );
  });

  it('of feed rows have the org and the minute of the row in the partition, and use every shard', () => {
    const rowId = ulid(nowMs + 59_999);
    const rows = Array.from({ length: 64 }, () => feedKey(orgId, ulid(nowMs + 59_999)).hardware_id);
    expect(new Set(rows)).toEqual(new Set([0, 1].map((shard) => `${orgId}#${nowMs / 60_000}#${shard}`)));
    expect(feedKey(orgId, rowId).ts_batch).toBe(rowId);
    expect(ulidMs(rowId)).toBe(nowMs + 59_999);
    expect(ulidFloor(nowMs) < ulid(nowMs) && ulid(nowMs) < ulidFloor(nowMs + 1)).toBe(true);
  });

  it('begin with the org and fit the longest batch id', () => {
    const key = readingKey({ orgId, hardwareId: mac, generation: '0123456789ab' }, nowMs, 'z'.repeat(256));
    expect(key).toEqual({ hardware_id: `${orgId}/${mac}/0123456789ab`, ts_batch: `${nowMs}#${'z'.repeat(256)}` });
  });

  it('cannot be built from a batch id that could forge another key', () => {
    for (const batchId of ['a#b', 'a/b', '', 'a\n'])
      expect(() => segmentSortKey(nowMs, batchId)).toThrow('not allowed in a key');
  });
});
