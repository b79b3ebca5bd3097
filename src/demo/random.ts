/** Pseudorandom numbers (mulberry32). The same seed gives the same numbers. Not for secrets. */
export class SeededRandom {
  constructor(private state: number) {}

  /** From 0 up to 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  hit(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of several values. The first ones are chosen more often. */
  skewed<T>(all: readonly T[]): T {
    return all[Math.floor(this.fraction() ** 2 * all.length)] as T;
  }

  /** A whole number whose mean is `expected`: between half and one and a half of it, rounded up or down by chance. */
  around(expected: number): number {
    return Math.floor(expected * (0.5 + this.fraction()) + this.fraction());
  }
}
