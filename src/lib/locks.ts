/** Mutual exclusion by name, first come, first served. */
export class Locks {
  private readonly tails = new Map<string, Promise<void>>();

  /** Waits for all of the names, and returns what frees them. Taken in one order by everyone, so that two can never wait for each other. */
  async hold(names: readonly string[]): Promise<() => void> {
    const releases: (() => void)[] = [];
    for (const name of [...new Set(names)].sort()) releases.push(await this.take(name));
    return () => {
      for (const release of releases) release();
    };
  }

  private async take(name: string): Promise<() => void> {
    const before = this.tails.get(name);
    let free: () => void = () => undefined;
    const tail = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.tails.set(name, tail);
    if (before) await before;
    return () => {
      if (this.tails.get(name) === tail) this.tails.delete(name);
      free();
    };
  }
}
