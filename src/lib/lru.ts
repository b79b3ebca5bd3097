import { LRUCache } from 'lru-cache';

/**
 * A cache of up to `max` entries that drops the least recently used one. With `ttlMs` an entry also expires after that
 * time. It bounds the total size with size 1 per entry, because lru-cache allocates the memory of a full cache at once
 * if it is given a max count.
 */
export class Lru<K extends object | string, V extends object | string | number | boolean> extends LRUCache<K, V> {
  constructor(max: number, ttlMs?: number) {
    super({ maxSize: max, sizeCalculation: () => 1, ...(ttlMs === undefined ? {} : { ttl: ttlMs }) });
  }
}
