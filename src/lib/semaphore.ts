/** Runs at most `slots` tasks at once and lets `queue` wait. Further tasks are refused at once. */
export class Semaphore {
  private busy = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly slots: number,
    private readonly queue: number,
    private readonly refusal: () => Error,
  ) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.busy >= this.slots) {
      if (this.waiting.length >= this.queue) throw this.refusal();
      // The slot is handed over without being freed, so that a new task cannot overtake.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.busy++;
    }
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.busy--;
    }
  }
}
