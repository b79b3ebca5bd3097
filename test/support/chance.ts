import { SeededRandom } from '../../src/demo/random.js';

/** The same in every test run. `npm run torture` and FUZZ_SEED use other seeds. */
export const testSeed = Number(process.env.TOLLGATE_TEST_SEED ?? 0x5eed);

/** A seeded pseudorandom generator: the same seed returns the same numbers. */
export class Chance extends SeededRandom {
  below(end: number): number {
    return Math.floor(this.fraction() * end);
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
