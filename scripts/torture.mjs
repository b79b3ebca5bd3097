// npm run torture -- --minutes N --seed S [--only FAULT]: load and faults for so long; the same seed makes the same choices again.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
process.stdout.write(`torture for ${values.minutes} min, seed ${seed}\n`);
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
