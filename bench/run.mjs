// npm run bench -- [PART …] [--seconds N] [--profile DIR]: measures, prints one table and writes bench-results.json. The bars of
// docs/performance.md are updated by hand. Exits 1 only if a request failed or a figure was not exact.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Each part takes its stage and the options, and says rows, failures, and what was not exact. */
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
/** Not among the others: they print tables of their own. */
const alone = {
  overload: async () => ({ measure: (await import('./overload.mjs')).overload }),
  steady: async () => ({ measure: (await import('./steady.mjs')).steady }),
};
const results = 'bench-results.json';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '2' },
    /** Where to put CPU profiles of the gateway, which slow it down. */
    profile: { type: 'string' },
  },
});
const wanted = positionals.length > 0 ? positionals : Object.keys(parts);
const seconds = Number(values.seconds);
const known = { ...parts, ...alone };
const unknown = wanted.filter((name) => !Object.hasOwn(known, name));
if (unknown.length > 0 || !(seconds > 0 && seconds <= 60)) {
  console.error(`usage: npm run bench -- [${Object.keys(known).join('|')}] [--seconds 1..60] [--profile DIR]`);
  process.exit(2);
}

const { openStage } = await import('./stage.mjs');
const { tableOf } = await import('./report.mjs');
const startedMs = Date.now();
const machine = `Node ${process.version}, ${availableParallelism()} shared cores`;
const rows = [];
const notes = [];
let failed = 0;
for (const name of wanted) {
  const { measure, env } = await known[name]();
  const stage = await openStage({ profile: values.profile, env });
  const stop = () => void stage.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    console.error(`${name} …`);
    const measured = await measure(stage, { seconds });
    const { failures, wrong, exactness } = measured;
    rows.push(...measured.rows);
    for (const failure of failures.slice(0, 3)) console.error(`failed: ${failure?.stack ?? failure}`);
    for (const fault of wrong.slice(0, 5)) console.error(`not exact: ${fault}`);
    if (exactness) notes.push(`${name}: ${wrong.length === 0 ? 'exact' : 'NOT EXACT'}: ${exactness}`);
    if (failures.length > 0) notes.push(`${name}: ${failures.length} requests FAILED`);
    failed += failures.length + wrong.length;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await stage.close();
  }
}
if (rows.length > 0) {
  const bars = rows.flatMap(({ against = [] }) => against.filter(({ bar }) => bar !== undefined));
  notes.push(
    `${bars.filter(({ isMet }) => isMet).length} of ${bars.length} bars met; ${machine}; ${Math.round((Date.now() - startedMs) / 1000)} s in all; every rate is of one run`,
  );
  const table = tableOf(rows);
  console.log(`\n${table}\n\n${notes.join('\n')}`);
  writeFileSync(
    results,
    `${JSON.stringify({ at: new Date().toISOString(), machine, seconds, rows, notes }, null, 2)}\n`,
  );
}
process.exit(failed > 0 ? 1 : 0);
