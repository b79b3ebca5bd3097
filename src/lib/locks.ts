/** Mutual exclusion by name, in order of arrival. */
export class Locks {
  private readonly tails = new Map<string, Promise<void>>();

  /** Waits until all names are free, then holds them. Returns the function that releases them. */
  hold(names: readonly string[]): (() => void) | Promise<() => void> {
    const [only] = names;
    if (names.length === 1 && only !== undefined && !this.tails.has(only)) return this.queue(only).free;
    return this.holdAll(names);
  }

  /** Every caller takes names in the same order, so that there is no deadlock. */
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
