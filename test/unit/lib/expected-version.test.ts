import { type ExpectedVersion, expectedVersionIssues, isStale } from '../../../src/lib/expected-version.js';

describe('expectedVersion', () => {
  it.each<[ExpectedVersion, number, boolean]>([
    [undefined, 0, false],
    [undefined, 7, false],
    [null, 7, false],
    [0, 0, false],
    [7, 7, false],
    [0, 7, true],
    [7, 0, true],
    [6, 7, true],
    [8, 7, true],
  ])('%p against version %p is stale: %p', (expected, current, stale) => {
    expect(isStale(expected, current)).toBe(stale);
  });

  it('may be absent, null, 0 or larger', () => {
    for (const expected of [undefined, null, 0, 1, Number.MAX_SAFE_INTEGER])
      expect(expectedVersionIssues(expected)).toEqual([]);
    expect(expectedVersionIssues(-1)).toEqual([{ path: 'input.expectedVersion', message: 'must be 0 or larger' }]);
  });
});
