import fc from 'fast-check';
import { key, slashed } from '../../../src/dynamo/keys.js';

describe('key', () => {
  it.each([
    ['a hash', 'a#b'],
    ['a slash', 'a/b'],
    ['nothing', ''],
    ['a newline at the end', 'a\n'],
    ['a null character', '\u0000'],
    ['a tab', 'a\tb'],
    ['a delete character', 'a\u007f'],
    ['a hash alone', '#'],
  ])('refuses %s in a value', (_, value) => {
    expect(() => key`ORG#${value}`).toThrow('not allowed in a key');
    expect(() => key`${value}#X#${'b'}`).toThrow('not allowed in a key');
  });

  it('refuses each control character, wherever it stands', () => {
    const control = fc
      .oneof(fc.integer({ min: 0, max: 31 }), fc.constant(127))
      .map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string(), control, fc.string(), (before, character, after) => {
        expect(() => key`ORG#${before + character + after}`).toThrow('not allowed in a key');
      }),
    );
  });

  it('refuses two values with no separator between them', () => {
    expect(() => key`${'a'}${'b'}`).toThrow('separator');
    expect(() => key`${'a'}x${'b'}`).toThrow('separator');
    expect(() => key`X#${'a'}-${'b'}`).toThrow('separator');
    expect(key`${'a'}#${'b'}/${'c'}`).toBe('a#b/c');
  });

  it('takes 1024 bytes and not one more, counted as they are stored', () => {
    expect(key`${'a'.repeat(1024)}`).toHaveLength(1024);
    expect(() => key`${'a'.repeat(1025)}`).toThrow('1025 bytes');
    expect(key`${'é'.repeat(512)}`).toHaveLength(512);
    expect(() => key`#${'é'.repeat(512)}`).toThrow('1025 bytes');
  });

  it('says of a value it refuses only its beginning', () => {
    expect(() => key`${'#'.repeat(5000)}`).toThrow(/^.{0,120}$/);
  });

  it('writes numbers as they are read, and literals as they stand', () => {
    expect(key`#AUDIT#${'x'}#HOUR#${1_700_000_000_000}`).toBe('#AUDIT#x#HOUR#1700000000000');
    expect(key`#ORG`).toBe('#ORG');
  });

  it('gives equal stored bytes only for equal values', () => {
    // Half a surrogate pair is stored as U+FFFD, like every other half.
    const unit = fc.oneof(
      { arbitrary: fc.string({ minLength: 1, unit: 'binary' }), weight: 3 },
      fc.constantFrom('\ud800', '\udfff', '\ufffd'),
    );
    const built = (a: string, b: string): string | undefined => {
      try {
        return Buffer.from(key`A#${a}#B#${b}`).toString('hex');
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(fc.tuple(unit, unit), fc.tuple(unit, unit), ([a, b], [c, d]) => {
        const first = built(a, b);
        return first === undefined || first !== built(c, d) || (a === c && b === d);
      }),
      {
        examples: [
          [
            ['\ud800', 'x'],
            ['\udfff', 'x'],
          ],
        ],
      },
    );
  });
});

describe('slashed', () => {
  it('lets a value hold slashes, and nothing else that a value may not hold', () => {
    expect(key`${'ns'}/BUCKET#${'a'}#${slashed('v1/chat/')}#${0}`).toBe('ns/BUCKET#a#v1/chat/#0');
    for (const value of ['', 'a#b', '#', 'a\n', '\u0000', 'a\tb', 'a\u007f', '\ud800']) {
      expect(() => key`RESOURCE#${slashed(value)}`).toThrow('not allowed in a key');
      expect(() => key`RESOURCE#${slashed(value)}#X`).toThrow('not allowed in a key');
    }
  });

  it('refuses a slash as the separator after it, which could be its own', () => {
    expect(() => key`${slashed('a')}/${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}-${slashed('b')}`).toThrow('separator');
    expect(key`${'a'}/${slashed('b/c')}#${slashed('d/e')}`).toBe('a/b/c#d/e');
  });

  it('counts towards the 1024 bytes', () => {
    expect(key`${slashed('/'.repeat(1024))}`).toHaveLength(1024);
    expect(() => key`${slashed('/'.repeat(1025))}`).toThrow('1025 bytes');
  });

  it('gives equal keys only for equal values', () => {
    const part = fc.stringMatching(/^[ab/]{1,4}$/);
    const plain = fc.stringMatching(/^[ab]{1,4}$/);
    fc.assert(
      fc.property(fc.tuple(plain, part, part), fc.tuple(plain, part, part), ([a, b, c], [d, e, f]) => {
        const equal = key`${a}/X#${slashed(b)}#${slashed(c)}` === key`${d}/X#${slashed(e)}#${slashed(f)}`;
        return equal === (a === d && b === e && c === f);
      }),
    );
  });
});
