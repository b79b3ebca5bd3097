// Runs the torture test for longer than `npm test` does. The same seed makes the same choices.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const usage = `usage: npm run torture -- [--minutes N] [--seed N] [--only NAME]

Runs two gateways and two workers under a mixed load while faults are injected and processes are killed, then
checks the history of all calls.

  --minutes N   duration (default 10)
  --seed N      seed of all random choices (default: random; printed at the start)
  --only NAME   inject only this disturbance, for example drop-reply or "worker killed"
  --help        show this text`;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
if (!(Number(values.minutes) > 0)) {
  process.stderr.write(`--minutes must be a positive number\n\n${usage}\n`);
  process.exit(2);
}
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
process.stdout.write(`torture: ${values.minutes} minutes, seed ${seed}\n`);
const { status } = spawnSync('npm', ['run', '-s', 'jest', '--', 'test/faults/torture.test.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TORTURE_MINUTES: values.minutes,
    TORTURE_SEED: seed,
    ...(values.only ? { TORTURE_ONLY: values.only } : {}),
  },
});
process.exitCode = status ?? 1;
