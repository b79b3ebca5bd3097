// npm run bench -- spend|limits|devices|overload [--seconds N] [--in-flight N] [--profile DIR]: prints comparisons; exits 1 only if something failed.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Each part takes the stage and the options, prints what it measured, and says how much failed. */
const parts = {
  spend: async () => (await import('./spend.mjs')).spend,
  limits: async () => (await import('./limits.mjs')).limits,
  devices: async () => (await import('./devices.mjs')).devices,
  overload: async () => (await import('./overload.mjs')).overload,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '6' },
    'in-flight': { type: 'string', default: '64' },
    /** Where to put a CPU profile of the gateway, which slows it down. */
    profile: { type: 'string' },
  },
});
const wanted = positionals.length > 0 ? positionals : Object.keys(parts);
const seconds = Number(values.seconds);
const inFlight = Number(values['in-flight']);
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0 || !(seconds > 0 && seconds <= 60) || !(Number.isInteger(inFlight) && inFlight > 0 && inFlight <= 1024)) {
  console.error(`usage: npm run bench -- [${Object.keys(parts).join('|')}] [--seconds 1..60] [--in-flight 1..1024] [--profile DIR]`);
  process.exit(2);
}

const { openStage } = await import('./stage.mjs');
let failed = 0;
for (const name of wanted) {
  const measure = await parts[name]();
  const stage = await openStage({ inFlight, profile: values.profile });
  const stop = () => void stage.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    console.log(
      `\n${name}: ${inFlight} in flight, ${seconds} s a phase, 2 rounds; Node ${process.version}, ${availableParallelism()} cores shared by all processes\n`,
    );
    failed += await measure(stage, { seconds, inFlight });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await stage.close();
  }
}
process.exit(failed > 0 ? 1 : 0);
