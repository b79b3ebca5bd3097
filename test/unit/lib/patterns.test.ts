import { slug } from '../../../src/lib/patterns.js';

describe('slug', () => {
  it.each(['a', '0', 'premium', 'claude-3.5_x', '9.-_', 'a'.repeat(64)])('accepts %s', (text) => {
    expect(slug.test(text)).toBe(true);
  });

  it.each(['', '-a', '.a', '_a', 'A', 'a b', 'a#b', 'a/b', 'a\n', 'é', 'a'.repeat(65)])('rejects %j', (text) => {
    expect(slug.test(text)).toBe(false);
  });
});
