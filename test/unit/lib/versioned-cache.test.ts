import { jest } from '@jest/globals';
import { VersionedCache } from '../../../src/lib/versioned-cache.js';

interface Row {
  readonly name: string;
}

/** A cache under a version that the test sets. */
function newCache(max = 10) {
  const current = { version: '1' };
  const cache = new VersionedCache<Row>(() => current.version, max);
  return { cache, current };
}

const row = (name: string): Row => ({ name });
const reading = (value: Row | undefined) => jest.fn(async () => value);

describe('VersionedCache', () => {
  it('reads a value once per version', async () => {
    const { cache } = newCache();
    const read = reading(row('a'));
    expect(await cache.load('a', read)).toEqual(row('a'));
    expect(await cache.load('a', read)).toEqual(row('a'));
    expect(cache.get('a')).toEqual(row('a'));
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('does not serve a value that was read under another version', async () => {
    const { cache, current } = newCache();
    await cache.load('a', reading(row('old')));
    current.version = '2';
    expect(cache.get('a')).toBeUndefined();
    expect(await cache.load('a', reading(row('new')))).toEqual(row('new'));
    expect(cache.get('a')).toEqual(row('new'));
  });

  it.each(['load', 'reload'] as const)(
    'does not cache the result of %s under a version that began during the read',
    async (method) => {
      const { cache, current } = newCache();
      const value = await cache[method]('a', async () => {
        current.version = '2';
        return row('read before the change');
      });
      expect(value).toEqual(row('read before the change'));
      expect(cache.get('a')).toBeUndefined();
    },
  );

  it('does not cache the results of loadMany under a version that began during the read', async () => {
    const { cache, current } = newCache();
    await cache.loadMany(['a', 'b'], async (missing) => {
      current.version = '2';
      return missing.map(row);
    });
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined]);
  });

  it('does not cache undefined', async () => {
    const { cache } = newCache();
    const absent = reading(undefined);
    expect(await cache.load('a', absent)).toBeUndefined();
    expect(await cache.load('a', absent)).toBeUndefined();
    expect(absent).toHaveBeenCalledTimes(2);
    expect(await cache.load('a', reading(row('created since')))).toEqual(row('created since'));
  });

  it('reads again with reload although the entry is valid', async () => {
    const { cache } = newCache();
    await cache.load('a', reading(row('first')));
    expect(await cache.reload('a', reading(row('second')))).toEqual(row('second'));
    expect(cache.get('a')).toEqual(row('second'));
  });

  it('keeps the entry if a reload fails or finds nothing', async () => {
    const { cache } = newCache();
    await cache.load('a', reading(row('first')));
    await expect(cache.reload('a', () => Promise.reject(new Error('outage')))).rejects.toThrow('outage');
    expect(await cache.reload('a', reading(undefined))).toBeUndefined();
    expect(cache.get('a')).toEqual(row('first'));
  });

  it('returns the last value whatever its version', async () => {
    const { cache, current } = newCache();
    expect(cache.last('a')).toBeUndefined();
    await cache.load('a', reading(row('a')));
    current.version = '2';
    expect(cache.last('a')).toEqual(row('a'));
    cache.delete('a');
    expect(cache.last('a')).toBeUndefined();
  });

  it('reads only the missing keys and returns all values in the order of the keys', async () => {
    const { cache } = newCache();
    await cache.load('b', reading(row('cached b')));
    const read = jest.fn(async (missing: readonly string[]) =>
      missing.map((key) => (key === 'c' ? undefined : row(`read ${key}`))),
    );
    expect(await cache.loadMany(['a', 'b', 'c', 'd'], read)).toEqual([
      row('read a'),
      row('cached b'),
      undefined,
      row('read d'),
    ]);
    expect(read.mock.calls).toEqual([[['a', 'c', 'd']]]);
  });

  it('serves nothing and reads nothing while no version can be trusted', async () => {
    const cache = new VersionedCache<Row>(() => {
      throw new Error('the version is too old');
    }, 10);
    const read = reading(row('a'));
    expect(() => cache.get('a')).toThrow('the version is too old');
    await expect(cache.load('a', read)).rejects.toThrow('the version is too old');
    await expect(cache.reload('a', read)).rejects.toThrow('the version is too old');
    await expect(cache.loadMany(['a'], async () => [row('a')])).rejects.toThrow('the version is too old');
    expect(read).not.toHaveBeenCalled();
    expect(cache.last('a')).toBeUndefined();
  });

  it('holds no more entries than its bound', async () => {
    const { cache } = newCache(2);
    for (const key of ['a', 'b', 'c']) await cache.load(key, reading(row(key)));
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([undefined, row('b'), row('c')]);
  });
});
