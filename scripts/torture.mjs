// Runs the torture test for longer than `npm test` does. The same seed makes the same choices.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const usage = `usage: npm run torture -- [mixed | admit] [--minutes N] [--seed N] [--seeds N] [--only NAME]
       npm run torture -- client [--seeds N] [--seed N]

Runs two gateways and two workers under load while faults are injected and processes are killed, then checks the
history of all calls. mixed: all parts (default). admit: reservations, with clocks that are moved past their slots.
client: kills clients and gateways, and checks that each call is counted once.

  --minutes N   duration of each run (default 10)
  --seed N      seed of all random choices (default: random; printed at the start)
  --seeds N     number of runs, from --seed on (default 1; client: 20)
  --only NAME   inject only this disturbance, for example drop-reply or "worker killed"
  --help        show this text`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    only: { type: 'string' },
    seeds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
const files = { mixed: 'torture', admit: 'admit-torture', client: 'client-kill' };
const [load = 'mixed'] = positionals;
const seeds = Number(values.seeds ?? (load === 'client' ? 20 : 1));
const isKnown = positionals.length <= 1 && Object.hasOwn(files, load);
if (!isKnown || !(Number(values.minutes) > 0) || !(Number.isInteger(seeds) && seeds > 0)) {
  const fault = isKnown ? '--minutes and --seeds must be positive numbers' : `unknown load: ${positionals.join(' ')}`;
  process.stderr.write(`${fault}\n\n${usage}\n`);
  process.exit(2);
}
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
const extent = load === 'client' ? '' : `${values.minutes} minutes, `;
process.stdout.write(`torture: ${load}, ${extent}${seeds} ${seeds === 1 ? 'run' : 'runs'}, seed ${seed}\n`);
const { status } = spawnSync('npm', ['run', '-s', 'jest', '--', `test/faults/${files[load]}.test.ts`], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TORTURE_MINUTES: values.minutes,
    TORTURE_SEED: seed,
    TORTURE_SEEDS: String(seeds),
    ...(load === 'client' ? { CLIENT_SEEDS: String(seeds), TOLLGATE_TEST_SEED: seed } : {}),
    ...(values.only ? { TORTURE_ONLY: values.only } : {}),
  },
});
process.exitCode = status ?? 1;
