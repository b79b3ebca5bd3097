import type { Log } from './log.js';

/** Background writes. Their number is bounded, failures are logged, and a clean shutdown waits for them. */
export class PendingWrites {
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly max: number,
    private readonly log: Log,
    /** Called for each write that is dropped because too many are pending. */
    private readonly onDrop: () => void,
  ) {}

  /** Starts a write. Returns false if it was dropped because too many are pending. */
  start(write: () => Promise<unknown>): boolean {
    if (this.pending.size >= this.max) {
      this.onDrop();
      return false;
    }
    const task: Promise<void> = Promise.resolve()
      .then(write)
      .then(
        () => undefined,
        (error: unknown) => this.log.warn({ err: error }, 'background write failed'),
      )
      .finally(() => this.pending.delete(task));
    this.pending.add(task);
    return true;
  }

  /** Resolves when no write is pending. */
  async flush(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }
}
