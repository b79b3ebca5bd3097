import { isWholeWithin } from '../../../src/lib/int.js';

describe('isWholeWithin', () => {
  it.each([
    [0, true],
    [10, true],
    [-0, true],
    [-1, false],
    [11, false],
    [0.5, false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
  ])('returns, for %p within 0 to 10, %p', (value, fits) => {
    expect(isWholeWithin(value, 0, 10)).toBe(fits);
  });

  it('rejects integers beyond the safe range', () => {
    expect(isWholeWithin(2 ** 53, 0, Number.MAX_VALUE)).toBe(false);
    expect(isWholeWithin(2 ** 53 - 1, 0, Number.MAX_VALUE)).toBe(true);
  });
});
