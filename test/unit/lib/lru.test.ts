import { Lru } from '../../../src/lib/lru.js';

describe('Lru', () => {
  it('drops the least recently used entry, and has never more than its max', () => {
    const cache = new Lru<string, number>(3);
    for (const [i, key] of ['a', 'b', 'c'].entries()) cache.set(key, i);
    expect(cache.get('a')).toBe(0);
    cache.set('d', 3);
    expect([...cache.keys()].sort()).toEqual(['a', 'c', 'd']);
    cache.set('d', 4);
    expect([cache.size, cache.get('d')]).toEqual([3, 4]);
  });

  it('needs no memory for entries that it does not have', () => {
    // lru-cache would allocate 20 GB for this max.
    expect(new Lru<string, true>(2 ** 30).set('a', true).size).toBe(1);
  });

  it('returns no entry that is older than its time to live', async () => {
    const cache = new Lru<string, true>(10, 1);
    cache.set('a', true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cache.get('a')).toBeUndefined();
  });
});
