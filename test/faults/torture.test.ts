import { torture } from './history/torture.js';

// One minute of `npm run torture`, which runs for longer and with a random seed, by these variables.
const minutes = Number(process.env.TORTURE_MINUTES ?? 1);
const seed = Number(process.env.TORTURE_SEED ?? 1_675_581_925);
const tell = process.env.TORTURE_MINUTES ? (line: string) => void process.stdout.write(`${line}\n`) : () => undefined;

it(
  'keeps every promise under load while all that can fail does',
  async () => {
    const { violations, leaks, tally, actions } = await torture({
      minutes,
      seed,
      tell,
      only: process.env.TORTURE_ONLY,
    });
    for (const [what, count] of Object.entries({ ...actions, ...tally })) tell(`${String(count).padStart(7)}  ${what}`);
    for (const { rule, what } of violations.slice(0, 20)) tell(`${rule}: ${what}`);
    // The seed says how to have the same again: npm run torture -- --minutes N --seed S
    expect({ seed, first: violations[0], all: violations.length, leaks }).toEqual({
      seed,
      first: undefined,
      all: 0,
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
