import fc from 'fast-check';
import { hashSlot, newUuid, randomFraction, randomToken, sha256, ulid } from '../../../src/lib/id.js';
import { isWholeWithin } from '../../../src/lib/int.js';

const anyText = fc.string({ unit: 'grapheme' });

describe('ids', () => {
  const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 });

  it('makes ULIDs of 26 characters that sort by their millisecond', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        const [first, second] = [ulid(a), ulid(b)];
        expect(first).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        return a === b ? first.slice(0, 10) === second.slice(0, 10) : a < b === first < second;
      }),
    );
  });

  it('makes ULIDs that contain their millisecond', () => {
    fc.assert(
      fc.property(
        instant,
        (ms) =>
          [...ulid(ms).slice(0, 10)].reduce((sum, c) => sum * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(c), 0) ===
          ms,
      ),
    );
  });

  it('makes no ULID, UUID or token twice', () => {
    const many = Array.from({ length: 10_000 });
    expect(new Set(many.map(() => ulid(1_700_000_000_000))).size).toBe(many.length);
    expect(new Set(many.map(newUuid)).size).toBe(many.length);
    expect(new Set(many.map(() => randomToken(16))).size).toBe(many.length);
  });

  it('makes URL-safe tokens of 43 characters from 32 bytes', () => {
    for (let i = 0; i < 100; i++) expect(randomToken(32)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('hashes to 43 characters that are valid in a key', () => {
    fc.assert(
      fc.property(anyText, (text) => /^[A-Za-z0-9_-]{43}$/.test(sha256(text)) && sha256(text) !== sha256(`${text}x`)),
    );
  });

  it('assigns a text to one of n slots, always the same one, and uses all slots', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 64 }), (text, count) =>
        isWholeWithin(hashSlot(text, count), 0, count - 1),
      ),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => hashSlot(`org ${i}`, 16))).size).toBe(16);
    // Stored keys contain the slot: with another result the items would not be found.
    expect([hashSlot('', 16), hashSlot('00000000-0000-4000-8000-000000000000', 16), hashSlot('acme', 1000)]).toEqual([
      2, 0, 357,
    ]);
  });

  it('returns random fractions from 0 up to 1', () => {
    for (let i = 0; i < 1000; i++) expect(isWholeWithin(Math.floor(randomFraction() * 10), 0, 9)).toBe(true);
  });
});
