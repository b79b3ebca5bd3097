import type { Clock } from './clock.js';

export interface GatherDeps<In, Out> {
  readonly clock: Clock;
  /** Sends a batch. The results are in the order of the items; an Error rejects its item alone. */
  send(items: readonly In[]): Promise<readonly (Out | Error)[]>;
}

const maxBatch = 100;
const maxWaitMs = 20;
const maxBatchesAtOnce = 4;

interface Waiting<In, Out> {
  readonly item: In;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

/** Gathers items that are added within 20 ms into batches of at most 100, with a result for each. */
export class Gather<In, Out> {
  readonly #deps: GatherDeps<In, Out>;
  readonly #gate = new Gate(maxBatchesAtOnce);
  #waiting: Waiting<In, Out>[] = [];

  constructor(deps: GatherDeps<In, Out>) {
    this.#deps = deps;
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#waiting.length === maxBatch) this.#flush();
      else if (this.#waiting.length === 1) {
        const batch = this.#waiting;
        void this.#deps.clock.sleep(maxWaitMs).then(() => {
          if (this.#waiting === batch) this.#flush();
        });
      }
    });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    void this.#gate.run(async () => {
      try {
        const results = await this.#deps.send(batch.map(({ item }) => item));
        batch.forEach(({ resolve, reject }, i) => {
          const result = results[i] as Out | Error;
          if (result instanceof Error) reject(result);
          else resolve(result);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    });
  }
}

/** Runs at most `max` functions at once. The others wait in order. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#free = max;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
