import type { Clock } from '../../lib/clock.js';
import { Lru } from '../../lib/lru.js';
import type { HeldImage } from './held.js';

/** For this long a refusal is repeated without a call to the database. */
const deniedMs = 1000;
const maxItems = 10_000;

interface Remembered {
  readonly image: HeldImage;
  readonly atMs: number;
}

/**
 * What this process knows about items that refused a reservation a moment ago. The bound comes with each call, so a
 * raised quota is not refused by it.
 */
export class HeldMemory {
  private readonly images = new Lru<string, Remembered>(maxItems);
  private readonly listeners = new Set<(names: readonly string[]) => void>();

  constructor(private readonly clock: Clock) {}

  /** The item as it was when it refused, if that was less than a second ago. */
  recent(name: string): HeldImage | undefined {
    const found = this.images.get(name);
    return found && this.clock.monotonicMs() - found.atMs < deniedMs ? found.image : undefined;
  }

  remember(name: string, image: HeldImage): void {
    this.images.set(name, { image, atMs: this.clock.monotonicMs() });
  }

  /** This process has written to the items. What refused before does not say any more what would pass. */
  forget(names: readonly string[]): void {
    for (const name of names) this.images.delete(name);
  }

  /** This process has written to the items. They may allow more now. */
  freed(names: readonly string[]): void {
    this.forget(names);
    for (const listener of this.listeners) listener(names);
  }

  /** Calls the listener after each write that may have freed money. Returns a function that ends this. */
  onFreed(listener: (names: readonly string[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
