import { Lru } from './lru.js';

interface VersionedEntry<V> {
  readonly value: V;
  readonly version: string;
}

/**
 * A bounded cache whose entries are valid only for the version they were read under. Every read takes the version
 * first: a change that is committed during the read makes the result stale, so it must not be cached under the new
 * version.
 */
export class VersionedCache<V extends object> {
  private readonly entries: Lru<string, VersionedEntry<V>>;

  /**
   * `version` may throw if no version can be trusted; then nothing is served from the cache. With `ttlMs` an entry also
   * expires after that time.
   */
  constructor(
    private readonly version: () => string,
    max: number,
    ttlMs?: number,
  ) {
    this.entries = new Lru(max, ttlMs);
  }

  /** The value if it was read under the current version. */
  get(key: string): V | undefined {
    const version = this.version();
    const entry = this.entries.get(key);
    return entry?.version === version ? entry.value : undefined;
  }

  /**
   * The value as last read, whatever its version. Use it only while the store does not respond, or to see if there is
   * one.
   */
  last(key: string): V | undefined {
    return this.entries.get(key)?.value;
  }

  /** The cached value, or what `read` returns. Undefined is not cached: the object may be created at any moment. */
  async load(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    return this.get(key) ?? this.reload(key, read);
  }

  /** What `read` returns, even if there is a valid entry. Undefined leaves the cache as it is. */
  async reload<T extends V | undefined>(key: string, read: () => Promise<T>): Promise<T> {
    const version = this.version();
    const value = await read();
    if (value) this.entries.set(key, { value, version });
    return value;
  }

  /** The values of all keys, in their order; `read` gets the keys that are not cached. */
  async loadMany(
    keys: readonly string[],
    read: (missing: readonly string[]) => Promise<readonly (V | undefined)[]>,
  ): Promise<(V | undefined)[]> {
    const version = this.version();
    const found = keys.map((key) => {
      const entry = this.entries.get(key);
      return entry?.version === version ? entry.value : undefined;
    });
    const missing = keys.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found;
    const loaded = await read(missing);
    for (const [i, key] of missing.entries()) {
      const value = loaded[i];
      if (value) this.entries.set(key, { value, version });
    }
    let next = 0;
    return found.map((value) => value ?? loaded[next++]);
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
