import type { TransactItem } from '../dynamo/transact-item.js';
import type { ChangeFeed } from './change.feed.js';
import { type ChangeStore, counterOf } from './change.store.js';

/**
 * The cluster-wide change counter, as features use it. A feature caches what it read under `version()`. A transaction
 * that makes such a cache entry stale carries `draftChange(orgId)`. Every gateway sees the new version within 2 s,
 * without a read of its own.
 *
 * Place counters do the same for small things such as one level of an org's limits, without making sessions stale: an
 * entry is valid as long as the counter of its place has the value it had before the read.
 */
export class ChangeService {
  constructor(
    private readonly store: Pick<ChangeStore, 'draftChange' | 'draftPurge' | 'draftPlaceChange'>,
    private readonly feed: ChangeFeed,
  ) {}

  /** The version to cache under. Throws if it could not be read for 5 s: a revocation may have been missed. */
  version(): string {
    return this.feed.current();
  }

  /** The rider that counts a change of an org. */
  draftChange(orgId: string): TransactItem {
    return this.store.draftChange(orgId);
  }

  /** The rider that counts a purge of an org's limiter. */
  draftPurge(orgId: string): TransactItem {
    return this.store.draftPurge(orgId);
  }

  /** The rider that counts a change of places of an org. */
  draftPlaceChange(orgId: string, places: readonly string[]): TransactItem {
    return this.store.draftPlaceChange(orgId, places);
  }

  /** Makes the caches of this process stale at once, after a change of its own, and reads the counter again. */
  refresh(): Promise<void> {
    return this.feed.refresh();
  }

  /** True if the last read of the counter failed because DynamoDB did not respond. */
  get isStoreAway(): boolean {
    return this.feed.isStoreAway;
  }

  /** How many limiters were purged anywhere, as far as this process knows. */
  get purges(): number {
    return this.feed.purges;
  }

  /** `listener` gets the org whose limiter was purged, or undefined if it may have been any org. */
  onPurge(listener: (orgId: string | undefined) => void): void {
    this.feed.onPurge(listener);
  }

  /** Calls the listener once per second, after the counter was read. Returns a function that ends this. */
  onTick(listener: () => void): () => void {
    return this.feed.onTick(listener);
  }

  /** The counter of a place. This hashes, so frequent callers cache the result. */
  counterOf(orgId: string, place: string): number {
    return counterOf(orgId, place);
  }

  /** How often the places of this counter were changed, as far as this process knows. It only grows. */
  countAt(counter: number): number {
    return this.feed.countAt(counter);
  }

  /** Makes what this process has cached under the counter stale at once. */
  note(counter: number): void {
    this.feed.noteChangeAt(counter);
  }

  /** Runs the transaction that changes the places. Cache entries of these places are stale before and after it. */
  async during<T>(orgId: string, places: readonly string[], write: () => Promise<T>): Promise<T> {
    const noteAll = (): void => {
      for (const place of places) this.note(counterOf(orgId, place));
    };
    noteAll();
    try {
      return await write();
    } finally {
      noteAll();
    }
  }
}
