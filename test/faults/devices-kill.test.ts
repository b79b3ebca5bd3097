import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { Caller, type FullReading, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import { type FaultProxy, type Rule, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { newTenant } from '../worker/costs.js';
import { ended, killAll, startGatewayProcess } from './processes.js';

const clock = new ManualClock();
let proxy: FaultProxy;
let app: TestApp;
let orgId: string;
let apiKey: { 'x-api-key': string };

beforeAll(async () => {
  // Two minutes behind the clock of the processes, so that they must update lastSeenAt of devices registered here.
  clock.advance(-120_000);
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
  ({ orgId } = await newTenant(app, {}, []));
  const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, { input: { orgId } });
  apiKey = { 'x-api-key': createApiKey.secret };
});
afterEach(() => {
  proxy.clear();
  killAll();
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const macOf = (victim: number, device: number) => `0A:00:00:00:0${victim.toString(16).toUpperCase()}:0${device}`;
const deviceCount = 4;
/** The feed rows are in one batch of statements, the segments in the next. */
const segmentsNth = 2;

/** More readings than fit into one batch of statements, of several devices. */
const readingsOf = (victim: number): FullReading[] =>
  Array.from({ length: 100 }, (_, nth) => ({
    hardwareId: macOf(victim, nth % deviceCount),
    batchId: `batch-${nth}`,
    timestampMs: Date.now() - 1000 * nth,
    bootId: randomUUID(),
    firmwareVersion: `1.${nth}.0`,
    friendlyName: `Device ${nth}`,
    sensors: {
      bme280TempC: nth / 3,
      ds18b20TempC: nth / 9,
      humidityPct: nth / 7,
      pressureHpa: 1000,
      soilMoisturePct: 0,
    },
    sensorStatus: { bme280: 'OK', ds18b20: 'ERROR', soilMoisture: 'OK' },
  }));

const range = `query ($orgId: UUID!, $hardwareId: String!) {
  org(orgId: $orgId) { device(hardwareId: $hardwareId) { lastSeenAt readings(first: 100) { nodes {
    hardwareId batchId timestampMs bootId firmwareVersion friendlyName
    sensors { bme280TempC ds18b20TempC humidityPct pressureHpa soilMoisturePct }
    sensorStatus { bme280 ds18b20 soilMoisture }
  } } } }
}`;
interface Range {
  readonly org: {
    readonly device: {
      readonly lastSeenAt: string;
      readonly readings: { readonly nodes: readonly Omit<op.ReadingFieldsFragment, 'id'>[] };
    };
  };
}
const stored = async (hardwareId: string) => ((await app.admin.ask(range, { orgId, hardwareId })) as Range).org.device;

/**
 * Every DynamoDB call of an ingest, in order: either it is not executed, or it is executed and its response is lost.
 */
const moments: Rule[] = [
  { operation: 'GetItem', table: 'api_keys', fault: 'no-reply', nth: 1 },
  { operation: 'BatchGetItem', table: 'devices', fault: 'no-reply', nth: 1 },
  { operation: 'BatchExecuteStatement', table: 'processed_batches', fault: 'no-reply', nth: 1 },
  { operation: 'BatchExecuteStatement', table: 'processed_batches', fault: 'no-reply-after', nth: 5 },
  { operation: 'BatchExecuteStatement', table: 'device_readings', fault: 'no-reply', nth: segmentsNth },
  { operation: 'BatchExecuteStatement', table: 'device_readings', fault: 'no-reply-after', nth: segmentsNth },
  { operation: 'UpdateItem', table: 'devices', fault: 'no-reply', nth: 1 },
  { operation: 'UpdateItem', table: 'devices', fault: 'no-reply-after', nth: deviceCount },
];

it('stores each reading once if a gateway is killed at any DynamoDB call and the device retries', async () => {
  const readings = moments.map((_, victim) => readingsOf(victim));
  for (const hardwareId of new Set(readings.flat().map((reading) => reading.hardwareId))) {
    const input = {
      hardwareId,
      bootId: randomUUID(),
      firmwareVersion: '1.0.0',
      capabilities: { sensors: ['bme280'], features: [] },
    };
    await new Caller(app.url, apiKey).ask(op.RegisterDeviceDocument, { input });
  }
  const [survivor, ...victims] = await Promise.all(
    [testEndpoint(), ...moments.map(() => proxy.endpoint)].map(async (endpoint) => {
      const gateway = await startGatewayProcess(app.config, endpoint);
      return { ...gateway, caller: new Caller(gateway.admin.url, apiKey) };
    }),
  );
  if (!survivor) throw new Error('no process was started');
  for (const [i, victim] of victims.entries()) {
    const sent = readings[i] as FullReading[];
    const macs = Array.from({ length: deviceCount }, (_, device) => macOf(i, device));
    proxy.clear();
    const rule = proxy.inject(moments[i] as Rule);
    const response = victim.caller.send(op.IngestDocument, { input: { readings: sent } }).then(
      () => 'responded',
      () => 'cut off',
    );
    for (const untilMs = performance.now() + patience * 10_000; rule.hits === 0; await sleep(2))
      if (performance.now() > untilMs) throw new Error(`no call met fault ${i}`);
    victim.child.kill('SIGKILL');
    expect(await ended(victim.child)).toBe('SIGKILL');
    expect(await response).toBe('cut off');
    // DynamoDB still executes what the gateway had sent before it was killed.
    await proxy.quiet();

    const left = (await Promise.all(macs.map(stored))).flatMap(({ readings: { nodes } }) => nodes);
    const storedIds = new Set(left.map(({ hardwareId, batchId }) => `${hardwareId} ${batchId}`));
    expect(left.length).toBe(storedIds.size);
    // All segments are in one call. Before it, nothing is stored.
    expect([0, sent.length]).toContain(left.length);
    if (i < 5) expect(left.length).toBe(0);
    if (i === 5) expect(left.length).toBe(sent.length);
    const { ingest } = await survivor.caller.ask(op.IngestDocument, { input: { readings: sent } });
    expect(ingest.verdicts.map(({ kind }) => kind)).toEqual(
      sent.map(({ hardwareId, batchId }) => (storedIds.has(`${hardwareId} ${batchId}`) ? 'DUPLICATE' : 'STORED')),
    );
    expect(ingest.settledBatchIds.length).toBe(sent.length);
    for (const mac of macs) {
      const { lastSeenAt, readings: found } = await stored(mac);
      expect(found.nodes).toEqual(sent.filter(({ hardwareId }) => hardwareId === mac));
      expect(Date.now() - Date.parse(lastSeenAt)).toBeLessThan(patience * 60_000);
    }
  }
  survivor.child.kill('SIGKILL');
});
