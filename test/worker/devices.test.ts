import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { readingsKey } from '../../src/devices/device-keys.js';
import { readingsIn } from '../../src/devices/segment.item.js';
import { equals } from '../../src/dynamo/expression.js';
import { silentLog } from '../../src/lib/log.js';
import { type Caller, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

const minuteMs = 60_000;
const bootId = randomUUID();
const mac = 'AA:BB:CC:DD:EE:FF';

let app: TestApp;
let proxy: FaultProxy;
let worker: Background;
let faulty: Background;
let org: Caller;
let orgId: string;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  faulty = buildBackground(
    { ...app.config, store: { ...app.config.store, endpoint: proxy.endpoint } },
    { clock: app.clock, log: silentLog },
  );
});
beforeEach(async () => {
  ({ caller: org, orgId } = await newOrg(app));
});
afterEach(() => proxy.clear());
afterAll(async () => {
  worker.close();
  faulty.close();
  await app.stop();
  await proxy.stop();
});

const register = async () =>
  (
    await org.ask(op.RegisterDeviceDocument, {
      input: { hardwareId: mac, bootId, firmwareVersion: '1', capabilities: { sensors: [] } },
    })
  ).registerDevice;
const reading = (batchId: string, humidityPct = 1): op.ReadingInput => ({
  hardwareId: mac,
  batchId,
  timestampMs: app.clock.nowMs() - 1000,
  bootId,
  firmwareVersion: '1',
  sensors: { humidityPct },
  sensorStatus: {},
});
const ingest = async (...readings: op.ReadingInput[]) =>
  (await org.ask(op.IngestDocument, { input: { readings } })).ingest.verdicts.map(
    ({ kind, error }) => error?.code ?? kind,
  );
const remove = async () => (await org.ask(op.DeleteDeviceDocument, { hardwareId: mac })).deleteDevice;
const device = async () => (await org.ask(op.DeviceOfDocument, { hardwareId: mac })).org?.device;
const batches = async () =>
  (await org.ask(op.ReadingsOfDocument, { hardwareId: mac, first: 100 })).org?.device?.readings.nodes
    .map(({ batchId }) => batchId)
    .toSorted();

/** How many readings of one generation of the device are stored, and how many markers of these batch ids. */
async function stored(generation: string, ...batchIds: string[]): Promise<[number, number]> {
  const { store } = app.gateway.services;
  const partition = readingsKey({ orgId, hardwareId: mac, generation }).hardware_id;
  const readings = await store.queryAll({
    table: 'device_readings',
    where: equals('hardware_id', partition),
    consistent: true,
  });
  const markers = await store.getMany(
    'processed_batches',
    batchIds.map((batchId) => ({ batch_id: `${partition}/${batchId}` })),
    { consistent: true },
  );
  return [readings.flatMap(readingsIn).length, markers.filter(Boolean).length];
}
const deletions = async (): Promise<number> =>
  (
    await app.gateway.services.store.query({
      table: 'devices',
      index: 'gsi1',
      where: equals('gsi1pk', 'deleted_devices'),
    })
  ).items.length;
const generationOf = ({ device: { confirmationId } }: Awaited<ReturnType<typeof register>>): string =>
  confirmationId.slice(-12);

it('deletes the readings of a deleted device with their markers, then the record of the deletion', async () => {
  const generation = generationOf(await register());
  const batchIds = Array.from({ length: 60 }, (_, i) => `b${i}`);
  await ingest(...batchIds.map((id) => reading(id)));
  expect(await stored(generation, ...batchIds)).toEqual([60, 60]);
  expect(await remove()).toBe(true);
  expect(await device()).toBeNull();
  expect(await ingest(reading('late'))).toEqual(['DEVICE_NOT_FOUND']);
  expect(await remove()).toBe(false);
  expect(await worker.devices.purge()).toBe(60);
  expect(await stored(generation, ...batchIds)).toEqual([0, 0]);
  // An ingest that began before the deletion may still store a reading for a minute.
  expect(await deletions()).toBe(1);
  app.clock.advance(minuteMs);
  expect(await worker.devices.purge()).toBe(0);
  expect(await deletions()).toBe(0);
  const { org: audited } = await org.ask(op.AuditDocument, { entityId: `$DEVICE:${mac}` });
  expect(audited?.auditEvents.nodes.map(({ action }) => action)).toEqual(['device_deleted', 'device_registered']);
});

it('neither shows a device that registers again its old readings, nor deletes its new ones', async () => {
  const before = await register();
  await ingest(reading('same', 1), reading('old', 2));
  const oldNode = (await device())?.latestReading?.id as string;
  await remove();
  app.clock.advance(11_000);
  const after = await register();
  expect([after.created, after.device.confirmationId === before.device.confirmationId]).toEqual([true, false]);
  expect((await device())?.latestReading).toBeNull();
  expect(await batches()).toEqual([]);
  expect((await org.ask(op.NodeDocument, { id: oldNode })).node).toBeNull();
  // A batch id of the generation before may be used again, with other content.
  const [same, other] = [reading('same', 3), reading('new', 4)];
  expect(await ingest(same, other)).toEqual(['STORED', 'STORED']);
  app.clock.advance(minuteMs);
  expect(await worker.devices.purge()).toBe(2);
  expect(await batches()).toEqual(['new', 'same']);
  expect([await stored(generationOf(before), 'same', 'old'), await stored(generationOf(after), 'same', 'new')]).toEqual(
    [
      [0, 0],
      [2, 2],
    ],
  );
  expect(await ingest(same, { ...other, firmwareVersion: '2' })).toEqual(['DUPLICATE', 'IDEMPOTENCY_CONFLICT']);
  expect(await deletions()).toBe(0);
});

it('lets a deleted device register again after 10 s, and not before', async () => {
  await register();
  await remove();
  const refused = await org.send(op.RegisterDeviceDocument, {
    input: { hardwareId: mac, bootId, firmwareVersion: '1', capabilities: { sensors: [] } },
  });
  expect(refused.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSecs: 10 } }]);
  app.clock.advance(10_000);
  expect((await register()).created).toBe(true);
});

it('deletes the readings of every generation of a device that was deleted several times', async () => {
  const generations: string[] = [];
  for (let round = 0; round < 3; round++) {
    generations.push(generationOf(await register()));
    await ingest(reading('a'), reading('b'));
    await remove();
    app.clock.advance(11_000);
  }
  expect(await worker.devices.purge()).toBe(6);
  for (const generation of generations) expect(await stored(generation, 'a', 'b')).toEqual([0, 0]);
  app.clock.advance(minuteMs);
  await worker.devices.purge();
  expect(await deletions()).toBe(0);
});

it.each(['drop-reply', 'error-after', 'throttle'] as const)('completes a purge that failed with %s', async (fault) => {
  const generation = generationOf(await register());
  const batchIds = Array.from({ length: 40 }, (_, i) => `b${i}`);
  await ingest(...batchIds.map((id) => reading(id)));
  await remove();
  app.clock.advance(minuteMs);
  for (let nth = 1; nth < 8; nth++) {
    proxy.clear();
    proxy.inject({ operation: 'BatchWriteItem', fault, nth: nth % 4 || 1 });
    await faulty.devices.purge().catch(() => undefined);
  }
  proxy.clear();
  await Promise.all([worker.devices.purge(), worker.devices.purge(), faulty.devices.purge()]);
  expect(await stored(generation, ...batchIds)).toEqual([0, 0]);
  expect(await deletions()).toBe(0);
});
