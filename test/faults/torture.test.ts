import { torture } from './history/torture.js';

// `npm run torture` sets these variables: it runs longer, and with a random seed.
const minutes = Number(process.env.TORTURE_MINUTES ?? 1 / 3);
const seed = Number(process.env.TORTURE_SEED ?? 1_675_581_925);
const seeds = Array.from({ length: Number(process.env.TORTURE_SEEDS ?? 1) }, (_, i) => seed + i);
const print = process.env.TORTURE_MINUTES ? (line: string) => void process.stdout.write(`${line}\n`) : () => undefined;

it.each(seeds)(
  'keeps every promise under load while everything fails that can fail (seed %d)',
  async (one) => {
    const { violations, leaks, tally, actions } = await torture({
      minutes,
      seed: one,
      print,
      only: process.env.TORTURE_ONLY,
    });
    for (const [what, count] of Object.entries({ ...actions, ...tally }))
      print(`${String(count).padStart(7)}  ${what}`);
    for (const { rule, what } of violations.slice(0, 20)) print(`${rule}: ${what}`);
    // To reproduce: npm run torture -- --minutes N --seed S
    expect({ seed: one, first: violations[0], count: violations.length, leaks }).toEqual({
      seed: one,
      first: undefined,
      count: 0,
      leaks: [],
    });
    const kinds = [
      'cost',
      'acquire',
      'adjust',
      'release',
      'ingest',
      'shards',
      'total',
      'retrieve',
      'refresh',
      'revoke',
    ];
    expect(kinds.filter((kind) => !tally[`${kind} ok`])).toEqual([]);
    expect(Math.min(...['cost', 'acquire', 'ingest'].map((kind) => tally[`${kind} ok`] ?? 0))).toBeGreaterThan(50);
  },
  (minutes * 60 + 400) * 1000,
);
