// submitCost over many orgs for two minutes: whether the rate at the end is that of the beginning.
import { drive, together } from './load.mjs';
import { submit, wrongOrgs } from './spend.mjs';
import { difference } from './stage.mjs';
import { newOrg } from './tenant.mjs';

const orgCount = 100;
const inFlight = 64;
const warmUpSeconds = 10;
const sliceSeconds = 10;
const slices = 12;
const minRatio = 0.9;

/** Prints the rate of each slice of ten seconds. The CPU beside it tells a slower store from a machine with other work. */
export async function steady(stage) {
  const orgs = [];
  for (let i = 0; i < orgCount; i++) orgs.push({ ...(await newOrg(stage)), acknowledged: new Map() });
  const send = () => submit(stage, orgs[Math.floor(Math.random() * orgs.length)]);
  const failures = (await drive({ inFlight, seconds: warmUpSeconds, send })).failures;
  console.log('| second | costs per second | gateway CPU, µs per cost | engine CPU, µs per cost |\n|---|---|---|---|');
  const measured = [];
  for (let slice = 0; slice < slices; slice++) {
    const before = await stage.used();
    const { count, perSecond, failures: failed } = together([await drive({ inFlight, seconds: sliceSeconds, send })]);
    const { gatewayMs, engineMs } = difference(await stage.used(), before);
    failures.push(...failed);
    measured.push({ perSecond, engineUs: (1000 * engineMs) / count, engineShare: engineMs / gatewayMs });
    console.log(
      `| ${(slice + 1) * sliceSeconds} | ${Math.round(perSecond)} | ${Math.round((1000 * gatewayMs) / count)} | ${Math.round((1000 * engineMs) / count)} |`,
    );
  }
  const [first, last] = [measured[0], measured.at(-1)];
  const ratio = last.perSecond / first.perSecond;
  const verdict = ratio >= minRatio ? 'steady' : 'NOT STEADY';
  console.log(
    `\n${verdict}: the last ten seconds had ${ratio.toFixed(2)} of the rate of the first (at least ${minRatio});`,
  );
  console.log(`the engine took ${(last.engineUs / first.engineUs).toFixed(2)} times the CPU per cost,`);
  console.log(
    `and relative to the gateway's CPU, which a slower machine raises alike, ${(last.engineShare / first.engineShare).toFixed(2)} times`,
  );
  return { rows: [], failures, wrong: await wrongOrgs(stage, orgs) };
}
