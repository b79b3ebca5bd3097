// Measures, prints one table and writes bench-results.json. The bars in docs/performance.md are updated by hand. Exits
// with status 1 only if a request failed or a figure was not exact.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Each part gets a stage and the options. It returns rows, failed requests, and figures that were not exact. */
const parts = {
  graphql: async () => {
    const { graphql, graphqlEnvironment } = await import('./graphql.mjs');
    return { measure: graphql, env: graphqlEnvironment() };
  },
  spend: async () => ({ measure: (await import('./spend.mjs')).spend }),
  limits: async () => ({ measure: (await import('./limits.mjs')).limits }),
  devices: async () => ({ measure: (await import('./devices.mjs')).devices }),
  transport: async () => ({ measure: (await import('./transport.mjs')).transport }),
  processes: async () => {
    const [{ processes }, { graphqlEnvironment }] = await Promise.all([
      import('./processes.mjs'),
      import('./graphql.mjs'),
    ]);
    return { measure: processes, env: graphqlEnvironment() };
  },
};
/** Run only by name, because they take long or print their own tables. */
const separateParts = {
  admit: async () => ({ measure: (await import('./admit.mjs')).admit }),
  overload: async () => ({ measure: (await import('./overload.mjs')).overload }),
  pinned: async () => {
    const { pinned, pinnedStage } = await import('./pinned.mjs');
    return { measure: pinned, stage: pinnedStage() };
  },
  steady: async () => ({ measure: (await import('./steady.mjs')).steady }),
};
const results = 'bench-results.json';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '2' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const wanted = positionals.length > 0 ? positionals : Object.keys(parts);
const seconds = Number(values.seconds);
const allParts = { ...parts, ...separateParts };
const unknown = wanted.filter((name) => !Object.hasOwn(allParts, name));
const usage = `usage: npm run bench -- [PART ...] [--seconds N] [--profile DIR]

Measures Tollgate against its yardsticks, prints one table and writes ${results}.

  PART           ${Object.keys(parts).join(', ')} (default: all of these),
                 ${Object.keys(separateParts).join(', ')} (only by name)
  --seconds N    duration of each phase, up to 60 (default 2)
  --profile DIR  write CPU profiles of the gateway, which slow it down
  --help         show this text`;
if (values.help) {
  console.log(usage);
  process.exit(0);
}
if (unknown.length > 0 || !(seconds > 0 && seconds <= 60)) {
  const fault = unknown.length > 0 ? `unknown part: ${unknown.join(', ')}` : '--seconds must be from 0 to 60';
  console.error(`${fault}\n\n${usage}`);
  process.exit(2);
}

const { openStage } = await import('./stage.mjs');
const { barsOf, table, tableOf } = await import('./report.mjs');
const startedMs = Date.now();
const machine = `Node ${process.version}, ${availableParallelism()} shared cores`;
const rows = [];
const notes = [];
let failed = 0;
for (const name of wanted) {
  const { measure, env, stage: options } = await allParts[name]();
  const stage = await openStage({ profile: values.profile, env, ...options });
  const stop = () => void stage.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    console.error(`measuring ${name} …`);
    const measured = await measure(stage, { seconds });
    const { failures, wrong, exactness } = measured;
    rows.push(...measured.rows);
    for (const failure of failures.slice(0, 3)) console.error(`failed: ${failure?.stack ?? failure}`);
    for (const fault of wrong.slice(0, 5)) console.error(`not exact: ${fault}`);
    if (exactness) notes.push(`${name}: ${wrong.length === 0 ? 'exact' : 'NOT EXACT'}; compared ${exactness}`);
    if (failures.length > 0) notes.push(`${name}: ${failures.length} requests FAILED`);
    failed += failures.length + wrong.length;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await stage.close();
  }
}
if (rows.length > 0) {
  const bars = barsOf(rows);
  notes.push(
    `${bars.filter(([, , , verdict]) => verdict === 'met').length} of ${bars.length} bars met; ${machine}; ` +
      `total time ${Math.round((Date.now() - startedMs) / 1000)} s; one run per rate`,
  );
  const barTable = table(['bar', 'measured', 'goal', ''], bars, [true, true, true, true]);
  console.log(`\n${tableOf(rows)}\n\n${barTable}\n\n${notes.join('\n')}`);
  writeFileSync(
    results,
    `${JSON.stringify({ at: new Date().toISOString(), machine, seconds, rows, notes }, null, 2)}\n`,
  );
}
process.exit(failed > 0 ? 1 : 0);
