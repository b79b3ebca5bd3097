/** An async iterator over pushed values, in order. It ends if its reader falls too far behind. */
export class PushStream<T> implements AsyncIterableIterator<T> {
  private readonly waiting: T[] = [];
  private wake: (() => void) | undefined;
  private ended = false;

  constructor(
    private readonly maxWaiting: number,
    private readonly onEnd: () => void,
  ) {}

  get isEnded(): boolean {
    return this.ended;
  }

  push(value: T): void {
    if (this.waiting.length >= this.maxWaiting) void this.return();
    else this.waiting.push(value);
    this.wake?.();
  }

  async next(): Promise<IteratorResult<T>> {
    while (!this.ended) {
      if (this.waiting.length > 0) return { value: this.waiting.shift() as T, done: false };
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<T>> {
    if (!this.ended) {
      this.ended = true;
      this.onEnd();
      this.wake?.();
    }
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
