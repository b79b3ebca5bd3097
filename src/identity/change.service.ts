import type { Draft } from '../lib/draft.js';
import type { RevocationFeed } from './revocation.feed.js';
import { counterOf, type RevocationStore } from './revocation.store.js';

/**
 * Change counters of small things that gateways cache, such as the levels of an org's limits. What was read while a counter
 * had a value is valid as long as it has that value. A change is known to every gateway within 2 s, and costs no read.
 */
export class ChangeService {
  constructor(
    private readonly store: Pick<RevocationStore, 'draftPlaceChange'>,
    private readonly feed: Pick<RevocationFeed, 'changesAt' | 'noteChangeAt'>,
  ) {}

  /** The counter of a place. Hashes, so whoever asks often remembers it. */
  counterOf(orgId: string, place: string): number {
    return counterOf(orgId, place);
  }

  current(counter: number): number {
    return this.feed.changesAt(counter);
  }

  /** Makes this process forget at once what it has cached under the counter. */
  note(counter: number): void {
    this.feed.noteChangeAt(counter);
  }

  /** For the transaction that changes the places. */
  draft(orgId: string, places: readonly string[]): Draft {
    return this.store.draftPlaceChange(orgId, places);
  }

  /** Runs the transaction that changes the places. What this process has cached of them is forgotten before and after it. */
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
