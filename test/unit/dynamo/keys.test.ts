import fc from 'fast-check';
import { key, slashed } from '../../../src/dynamo/keys.js';

describe('key', () => {
  it.each([
    ['a hash', 'a#b'],
    ['a slash', 'a/b'],
    ['an empty string', ''],
    ['a newline at the end', 'a\n'],
    ['a null character', '\u0000'],
    ['a tab', 'a\tb'],
    ['a delete character', 'a\u007f'],
    ['a hash alone', '#'],
  ])('rejects %s in a value', (_, value) => {
    expect(() => key`ORG#${value}`).toThrow('not allowed in a key');
    expect(() => key`${value}#X#${'b'}`).toThrow('not allowed in a key');
  });

  it('rejects every control character at any position', () => {
    const control = fc
      .oneof(fc.integer({ min: 0, max: 31 }), fc.constant(127))
      .map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string(), control, fc.string(), (before, character, after) => {
        expect(() => key`ORG#${before + character + after}`).toThrow('not allowed in a key');
      }),
    );
  });

  it('rejects two values without a separator between them', () => {
    expect(() => key`${'a'}${'b'}`).toThrow('separator');
    expect(() => key`${'a'}x${'b'}`).toThrow('separator');
    expect(() => key`X#${'a'}-${'b'}`).toThrow('separator');
    expect(key`${'a'}#${'b'}/${'c'}`).toBe('a#b/c');
  });

  it('accepts up to 1024 bytes, counted in UTF-8', () => {
    expect(key`${'a'.repeat(1024)}`).toHaveLength(1024);
    expect(() => key`${'a'.repeat(1025)}`).toThrow('1025 bytes');
    expect(key`${'é'.repeat(512)}`).toHaveLength(512);
    expect(() => key`#${'é'.repeat(512)}`).toThrow('1025 bytes');
  });

  it('shows only the beginning of a rejected value in the error', () => {
    expect(() => key`${'#'.repeat(5000)}`).toThrow(/^.{0,120}$/);
  });

  it('writes numbers in decimal and literals unchanged', () => {
    expect(key`#AUDIT#${'x'}#HOUR#${1_700_000_000_000}`).toBe('#AUDIT#x#HOUR#1700000000000');
    expect(key`#ORG`).toBe('#ORG');
  });

  it('returns equal bytes only for equal values', () => {
    // Every lone surrogate is stored as U+FFFD, so two different ones would collide.
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
  it('allows slashes in a value, and no other forbidden character', () => {
    expect(key`${'ns'}/BUCKET#${'a'}#${slashed('v1/chat/')}#${0}`).toBe('ns/BUCKET#a#v1/chat/#0');
    for (const value of ['', 'a#b', '#', 'a\n', '\u0000', 'a\tb', 'a\u007f', '\ud800']) {
      expect(() => key`RESOURCE#${slashed(value)}`).toThrow('not allowed in a key');
      expect(() => key`RESOURCE#${slashed(value)}#X`).toThrow('not allowed in a key');
    }
  });

  it('rejects a slash as the separator after it, because it could be part of the value', () => {
    expect(() => key`${slashed('a')}/${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}-${slashed('b')}`).toThrow('separator');
    expect(key`${'a'}/${slashed('b/c')}#${slashed('d/e')}`).toBe('a/b/c#d/e');
  });

  it('counts towards the 1024 bytes', () => {
    expect(key`${slashed('/'.repeat(1024))}`).toHaveLength(1024);
    expect(() => key`${slashed('/'.repeat(1025))}`).toThrow('1025 bytes');
  });

  it('returns equal keys only for equal values', () => {
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
