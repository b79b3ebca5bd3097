import type { Log } from './log.js';

/** Writes that nobody waits for. Their number is bounded, their failures are logged, and a clean stop waits for them. */
export class PendingWrites {
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly max: number,
    private readonly log: Log,
    /** Called for each write that was dropped because too many were pending. */
    private readonly onDrop: () => void,
  ) {}

  /** Starts a write. False: too many are pending, and it was dropped. */
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
