/** Mutual exclusion by name, first come, first served. */
export class Locks {
  private readonly tails = new Map<string, Promise<void>>();

  /** Waits for all of the names, and returns what frees them: at once where all are free. */
  hold(names: readonly string[]): (() => void) | Promise<() => void> {
    const [only] = names;
    if (names.length === 1 && only !== undefined && !this.tails.has(only)) return this.queue(only).free;
    return this.holdAll(names);
  }

  /** Taken in one order by everyone, so that two can never wait for each other. */
  private async holdAll(names: readonly string[]): Promise<() => void> {
    const held: (() => void)[] = [];
    for (const name of [...new Set(names)].sort()) {
      const { before, free } = this.queue(name);
      await before;
      held.push(free);
    }
    return () => {
      for (const free of held) free();
    };
  }

  private queue(name: string): { readonly before: Promise<void> | undefined; readonly free: () => void } {
    const before = this.tails.get(name);
    let resolve: () => void = () => undefined;
    const tail = new Promise<void>((settle) => {
      resolve = settle;
    });
    this.tails.set(name, tail);
    const free = () => {
      if (this.tails.get(name) === tail) this.tails.delete(name);
      resolve();
    };
    return { before, free };
  }
}
