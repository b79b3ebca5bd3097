// submitCost over 100 orgs for two minutes: checks that the rate does not fall.
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

/** Prints the rate per ten seconds. The CPU per cost shows whether the engine got slower, or the machine was busy. */
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
      `| ${(slice + 1) * sliceSeconds} | ${Math.round(perSecond)} ` +
        `| ${Math.round((1000 * gatewayMs) / count)} | ${Math.round((1000 * engineMs) / count)} |`,
    );
  }
  const [first, last] = [measured[0], measured.at(-1)];
  const ratio = last.perSecond / first.perSecond;
  const verdict = ratio >= minRatio ? 'steady' : 'NOT STEADY';
  console.log(
    `\n${verdict}: the rate of the last ten seconds is ${ratio.toFixed(2)} of the first (minimum ${minRatio}).`,
  );
  console.log(`Engine CPU per cost: ${(last.engineUs / first.engineUs).toFixed(2)} times the first.`);
  console.log(
    `Engine CPU relative to gateway CPU: ${(last.engineShare / first.engineShare).toFixed(2)} times the first ` +
      '(independent of the speed of the machine).',
  );
  return { rows: [], failures, wrong: await wrongOrgs(stage, orgs) };
}
