/** The same in every run of the tests. `npm run torture` and FUZZ_SEED look for what other seeds find. */
export const testSeed = Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed);

/** Chance that can be had again: the same seed, the same numbers. */
export class Chance {
  constructor(private state: number) {}

  /** From 0 up to 1 (mulberry32). */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  hit(probability: number): boolean {
    return this.fraction() < probability;
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    return all.map(() => left.splice(this.below(left.length), 1)[0] as T);
  }

  /** Another stream of numbers, so that one actor's haste does not change another's luck. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32));
  }
}
