import { readdirSync, readFileSync } from 'node:fs';
import { afterStep, fullLimit, type LimitState } from '../../../src/limits/buckets/bucket.js';
import { completeLimit, limitSet } from '../../../src/limits/limit.js';
import { type Vector, vectors } from '../../support/vectors.js';
import { availableMilli, emptyLimit, startMs, stepOf } from './buckets/limit-fixtures.js';

/** Functions of vectors that `test/api/limit-vectors.test.ts` runs. */
const inApiTests = ['runFlow', 'simulate', 'usageAggregate', 'proactiveShard'];
const unitTests = new URL('../', import.meta.url);

const hourMs = 3_600_000;

describe('the vectors of the limiter', () => {
  it('pass with the rules alone: an idle bucket bursts once, and a polled slow limit refills', () => {
    type Input = { limits: { name: string; capacity: number; refill_amount: number; refill_period_seconds: number }[] };
    const find = (name: string) =>
      vectors.find((vector) => vector.name === name) as Vector<Input & Record<string, never>, Record<string, number>>;
    const specFor = ({ input }: Vector<Input, unknown>) => {
      const [{ name, capacity, refill_amount, refill_period_seconds }] = input.limits as [Input['limits'][number]];
      return limitSet([
        completeLimit({ name, capacity, refillAmount: refill_amount, refillPeriodSecs: refill_period_seconds }),
      ]).specs[0] as LimitState;
    };
    const take = (limit: LimitState, milli: bigint, ms: number) =>
      stepOf(limit, { takeMilli: milli, chargeMilli: 0n, returnMilli: 0n, checksCeiling: true }, ms, 1);

    const burst = find('corrected/idle-bucket-burst');
    const fresh = fullLimit(specFor(burst), startMs);
    let state = afterStep(fresh, take(fresh, 1000n, startMs));
    let admitted = 0;
    while (availableMilli(state, startMs + hourMs, 1) >= 1000n) {
      state = afterStep(state, take(state, 1000n, startMs + hourMs));
      admitted++;
    }
    expect({ admitted }).toEqual(burst.expected);

    const polled = find('corrected/slow-limit-polled');
    let slow = emptyLimit(specFor(polled), startMs);
    for (let ms = 0; ms <= 300_000; ms += 100) slow = afterStep(slow, take(slow, 0n, startMs + ms));
    expect({ rph_milli: Number(availableMilli(slow, startMs + 300_000, 1)) }).toEqual(polled.expected);
  });

  it('are all run, by the unit tests or by the API tests', () => {
    expect(vectors.length).toBeGreaterThan(50);
    const sources = readdirSync(unitTests, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => readFileSync(new URL(path, unitTests), 'utf8'));
    const inUnitTests = sources.flatMap((text) =>
      [...text.matchAll(/vectorsOf<[^(]*>\('([\w.]+)'\)/g)].map(([, name]) => name),
    );
    const run = new Set([...inUnitTests, ...inApiTests]);
    expect(vectors.filter((vector) => !run.has(vector.function)).map(({ name }) => name)).toEqual([]);
    const api = readFileSync(new URL('../api/limit-vectors.test.ts', unitTests), 'utf8');
    expect(inApiTests.filter((name) => !api.includes(`'${name}'`))).toEqual([]);
  });
});
