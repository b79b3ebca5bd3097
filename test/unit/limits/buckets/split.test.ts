import fc from 'fast-check';
import { levelCharge } from '../../../../src/limits/buckets/split.js';

describe('a levelled charge', () => {
  const rooms = fc.array(fc.bigInt({ min: -1000n, max: 1000n }), { minLength: 1, maxLength: 32 });

  it('adds up exactly and leaves no charged shard below one that was not charged', () => {
    fc.assert(
      fc.property(
        rooms,
        fc.bigInt({ min: 1n, max: 500n }),
        fc.bigInt({ min: 1n, max: 60n }),
        (there, milli, perMilli) => {
          const parts = levelCharge(there, milli, perMilli);
          expect(parts.reduce((sum, { units }) => sum + units, 0n)).toBe(milli * perMilli);
          expect(parts.reduce((sum, part) => sum + part.milli, 0n)).toBe(milli);
          const left = parts.map(({ units }, i) => (there[i] as bigint) - units);
          const level = left.filter((_, i) => (parts[i]?.units ?? 0n) > 0n).sort((a, b) => (a < b ? -1 : 1));
          expect(parts.every(({ units, milli: partMilli }) => units >= 0n && partMilli >= 0n)).toBe(true);
          // Charged shards differ by rounding only. The others are not above them.
          expect((level.at(-1) as bigint) - (level[0] as bigint)).toBeLessThanOrEqual(1n);
          left.forEach((remaining, i) => {
            if (parts[i]?.units === 0n) expect(remaining <= (level.at(-1) as bigint)).toBe(true);
          });
        },
      ),
    );
  });
});
