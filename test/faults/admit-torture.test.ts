import { tortureAdmit } from './history/admit-torture.js';

// `npm run torture -- admit` sets these variables: it runs longer, and with more seeds.
const minutes = Number(process.env.TORTURE_MINUTES ?? 1 / 5);
const seed = Number(process.env.TORTURE_SEED ?? 1_675_581_925);
const seeds = Array.from({ length: Number(process.env.TORTURE_SEEDS ?? 1) }, (_, i) => seed + i);
const print = process.env.TORTURE_MINUTES ? (line: string) => void process.stdout.write(`${line}\n`) : () => undefined;

it.each(seeds)(
  'never holds more than a quota while everything fails that can fail, and returns every reservation (seed %d)',
  async (one) => {
    const { violations, tally, actions } = await tortureAdmit({
      minutes,
      seed: one,
      print,
      only: process.env.TORTURE_ONLY,
    });
    for (const [what, count] of Object.entries({ ...actions, ...tally }))
      print(`${String(count).padStart(7)}  ${what}`);
    for (const { rule, what } of violations.slice(0, 20)) print(`${rule}: ${what}`);
    // To reproduce: npm run torture -- admit --minutes N --seed S
    expect({ seed: one, first: violations[0], count: violations.length }).toEqual({
      seed: one,
      first: undefined,
      count: 0,
    });
    expect(['admit', 'settle', 'renew', 'cost', 'shards', 'overruns'].filter((kind) => !tally[`${kind} ok`])).toEqual(
      [],
    );
  },
  (minutes * 60 + 400) * 1000,
);
