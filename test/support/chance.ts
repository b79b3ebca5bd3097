/** The same in every test run. `npm run torture` and FUZZ_SEED use other seeds. */
export const testSeed = Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed);

/** A seeded pseudorandom generator: the same seed returns the same numbers. */
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

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  hit(probability: number): boolean {
    return this.fraction() < probability;
  }

  one<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    return all.map(() => left.splice(this.below(left.length), 1)[0] as T);
  }

  /** A generator with its own sequence, so that the numbers of one actor do not depend on the speed of another. */
  fork(): Chance {
    return new Chance(this.below(2 ** 32));
  }
}
