// Two minutes each of submitCost, acquire with request ids, and ingest: checks that the rate does not fall.
import { randomUUID } from 'node:crypto';
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
const readingsPerCall = 10;

/** Prints the rate per ten seconds. The CPU per call shows whether the engine got slower, or the machine was busy. */
export async function steady(stage) {
  const orgs = [];
  for (let i = 0; i < orgCount; i++) orgs.push({ ...(await newOrg(stage)), acknowledged: new Map() });
  const operations = {
    'submitCost, 100 orgs': () => submit(stage, anyOf(orgs)),
    'acquire with request ids, 100 orgs': () => acquireOnce(stage, anyOf(orgs)),
    [`ingest, ${readingsPerCall} per call, 100 devices`]: await ingesting(stage, orgs[0]),
  };
  const failures = [];
  for (const [operation, send] of Object.entries(operations)) failures.push(...(await follow(stage, operation, send)));
  return { rows: [], failures, wrong: await wrongOrgs(stage, orgs) };
}

const anyOf = (list) => list[Math.floor(Math.random() * list.length)];

async function follow(stage, operation, send) {
  const failures = (await drive({ inFlight, seconds: warmUpSeconds, send })).failures;
  console.log(`\n${operation}\n\n| second | calls per second | gateway CPU, µs | engine CPU, µs |\n|---|---|---|---|`);
  const measured = [];
  for (let slice = 0; slice < slices; slice++) {
    const before = stage.cpu();
    const { count, perSecond, failures: failed } = together([await drive({ inFlight, seconds: sliceSeconds, send })]);
    const { gatewayMs, engineMs } = difference(stage.cpu(), before);
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
  console.log(`Engine CPU per call: ${(last.engineUs / first.engineUs).toFixed(2)} times the first.`);
  console.log(
    `Engine CPU relative to gateway CPU: ${(last.engineShare / first.engineShare).toFixed(2)} times the first ` +
      '(independent of the speed of the machine).',
  );
  return failures;
}

const acquire = 'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }';
const limits = [{ name: 'requests', capacity: 1e12, refillPeriodSecs: 1 }];

async function acquireOnce({ client }, { headers }) {
  const input = { entityId: 'user', resource: 'api', consume: [{ limit: 'requests', amount: 1 }], limits };
  const { acquire: result } = await client.request(headers, acquire, { input: { ...input, requestId: randomUUID() } });
  if (result.__typename !== 'Lease') throw new Error('not granted');
}

const createKey = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
const registerDevice =
  'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { hardwareId } } }';
const ingest = 'mutation ($input: IngestInput!) { ingest(input: $input) { settledBatchIds } }';

/** Registers 100 devices, and returns a function that sends the readings of one of them. */
async function ingesting({ client, asAdmin }, { orgId }) {
  const { createApiKey } = await client.request(asAdmin, createKey, { input: { orgId } });
  const headers = { 'x-api-key': createApiKey.secret };
  const device = { bootId: randomUUID(), firmwareVersion: '1.0.0' };
  const macs = Array.from({ length: 100 }, (_, i) => `02:00:00:00:01:${i.toString(16).padStart(2, '0').toUpperCase()}`);
  for (const hardwareId of macs)
    await client.request(headers, registerDevice, {
      input: { hardwareId, ...device, capabilities: { sensors: ['bme280'] } },
    });
  return async () => {
    const hardwareId = anyOf(macs);
    const readings = Array.from({ length: readingsPerCall }, () => ({
      hardwareId,
      batchId: randomUUID(),
      timestampMs: Date.now(),
      ...device,
      sensors: { humidityPct: 40 },
      sensorStatus: {},
    }));
    const { ingest: settled } = await client.request(headers, ingest, { input: { readings } });
    if (settled.settledBatchIds.length !== readingsPerCall) throw new Error('not settled');
  };
}
