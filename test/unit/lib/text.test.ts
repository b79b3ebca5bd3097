import { isOneLine } from '../../../src/lib/text.js';

describe('isOneLine', () => {
  it.each(['', 'a', 'Ünïcode', '株式会社', 'חברה', '👩‍👩‍👧', 'a\u00a0b'])('accepts %j', (text) => {
    expect(isOneLine(text)).toBe(true);
  });

  it.each([
    '\u0000',
    'a\nb',
    '\u007f',
    '\u0085',
    '\u061c',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\ud800',
  ])('rejects %j', (text) => {
    expect(isOneLine(`a${text}b`)).toBe(false);
  });
});
