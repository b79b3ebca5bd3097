// Consumed capacity as DynamoDB and dynoxide count it. DynamoDB Local counts differently, so it does not run these
// tests.
import { randomUUID } from 'node:crypto';
import type { Device } from '../../src/devices/device.js';
import { DeviceStore } from '../../src/devices/device.store.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { equals } from '../../src/dynamo/expression.js';
import { sdkTransport, type Transport } from '../../src/dynamo/transport.js';
import { sleep } from '../../src/lib/timers.js';
import type { Units } from '../../src/lib/units.js';
import { Caller, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { newMac, singleReading, times } from '../support/devices.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

const hourMs = 3_600_000;
let proxy: FaultProxy;
let app: TestApp;
let orgId: string;
let org: Caller;
let secret: string;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, config: { principalRps: 0, principalConcurrency: 0 } });
  ({ orgId, caller: org } = await newOrg(app));
  ({ secret } = (await org.ask(op.CreateApiKeyDocument, { input: {} })).createApiKey);
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await app.stop();
  await proxy.stop();
  app.tableAdmin.client.destroy();
});

/** The exact consumption of a task, without the polls of the gateway. */
async function unitsOf(task: () => Promise<unknown>): Promise<Units> {
  const units = { read: 0, write: 0, calls: 0 };
  await app.gateway.services.store.metered(units, task);
  return units;
}

const registration = (hardwareId: string): op.RegisterDeviceInput => ({
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.16',
  friendlyName: 'Greenhouse',
  capabilities: { sensors: ['bme280', 'ds18b20', 'soil_moisture'], features: [{ name: 'deep_sleep', enabled: true }] },
});

async function newDevice(by = org): Promise<string> {
  const mac = newMac();
  await by.ask(op.RegisterDeviceDocument, { input: registration(mac) });
  return mac;
}

const reading = (hardwareId: string): op.ReadingInput => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: app.clock.nowMs() - 1000,
  bootId: randomUUID(),
  firmwareVersion: '1.0.16',
  sensors: { bme280TempC: 21.5, ds18b20TempC: 20.25, humidityPct: 40, pressureHpa: 1013.25, soilMoisturePct: 33.3 },
  sensorStatus: { bme280: 'OK', ds18b20: 'OK', soilMoisture: 'ERROR' },
});

const ingest = (readings: readonly op.ReadingInput[]) =>
  app.gateway.services.ingestion.ingest(
    { orgId, actor: { name: 'test', address: '127.0.0.1', requestId: 'test' } },
    readings,
  );
async function storing(readings: readonly op.ReadingInput[]): Promise<void> {
  expect((await ingest(readings)).map(({ verdict: { kind } }) => kind)).toEqual(readings.map(() => 'STORED'));
}

/**
 * The consumption of a request over HTTP. The gateway polls at the same time, so the cheapest of a few attempts counts.
 */
async function minOf(
  expected: number,
  measure: (units: Units) => number,
  request: () => Promise<unknown>,
): Promise<number> {
  const { consumed } = app.gateway.services.store;
  let min = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 10 && min > expected; attempt++) {
    const before = measure(consumed);
    await request();
    min = Math.min(min, measure(consumed) - before);
  }
  return min;
}

describe('the price of an ingest', () => {
  it('is 3 write units and 0.5 read units for one reading: marker, feed row and segment', async () => {
    const mac = await newDevice();
    expect(await unitsOf(() => storing([reading(mac)]))).toEqual({ read: 0.5, write: 3, calls: 3 });
  });

  it('is 1 write unit per reading, 1 per segment and 1 per KB of it: 1.1 per reading for 100', async () => {
    const [mac, bootId, atMs] = [await newDevice(), randomUUID(), app.clock.nowMs() - 2 * hourMs];
    const startMs = atMs - (atMs % hourMs);
    const readings = times(100, (i) => ({ ...reading(mac), bootId, timestampMs: startMs + i * 30_000 }));
    expect(await unitsOf(() => storing(readings))).toEqual({ read: 0.5, write: 100 + 1 + 9, calls: 7 });
  });

  it('is at most 1.25 write units per reading for 100 readings, whatever they have in common', async () => {
    const mac = await newDevice();
    const { write } = await unitsOf(() => storing(times(100, () => reading(mac))));
    expect(write).toBeLessThanOrEqual(125);
  });

  it('is one more feed row and segment for each further hour', async () => {
    const mac = await newDevice();
    const readings = times(3, (i) => ({ ...reading(mac), timestampMs: app.clock.nowMs() - 1000 - i * hourMs }));
    expect(await unitsOf(() => storing(readings))).toEqual({ read: 0.5, write: 9, calls: 3 });
  });

  it('is 1 read unit per duplicate, its segment, and a feed row', async () => {
    const mac = await newDevice();
    const readings = times(10, () => reading(mac));
    await storing(readings);
    // The feed row of the second call was written in vain. Amazon DynamoDB also charges 1 write unit per failed marker.
    expect(await unitsOf(() => ingest(readings))).toEqual({ read: 0.5 + 10 + 1, write: 1, calls: 4 });
  });

  it('is 0.5 read units per device for many devices', async () => {
    const macs = await Promise.all(times(20, () => newDevice()));
    expect(await unitsOf(() => storing(macs.flatMap((mac) => [reading(mac), reading(mac)])))).toEqual({
      read: 10,
      write: 80,
      calls: 5,
    });
  });

  it('is one more write a minute after the last one: 1 unit on the table and 2 on its index', async () => {
    const mac = await newDevice();
    app.clock.advance(61_000);
    expect(await unitsOf(() => storing([reading(mac)]))).toEqual({ read: 0.5, write: 6, calls: 4 });
    expect(await unitsOf(() => storing([reading(mac)]))).toEqual({ read: 0.5, write: 3, calls: 3 });
  });

  it('is no write for rejected readings, and no read if no hardware id is valid', async () => {
    const mac = await newDevice();
    // The device is read, because lastSeenAt is updated even if all readings are rejected.
    expect(await unitsOf(() => ingest([{ ...reading(mac), bootId: 'x' }]))).toEqual({ read: 0.5, write: 0, calls: 1 });
    expect(await unitsOf(() => ingest([{ ...reading(mac), hardwareId: 'x' }]))).toEqual({
      read: 0,
      write: 0,
      calls: 0,
    });
    // An unknown device is read twice, the second time with a consistent read.
    expect(await unitsOf(() => ingest([reading(newMac())]))).toMatchObject({ write: 0, calls: 2 });
  });

  it('does not include the verification of a cached key, which is free', async () => {
    const { apiKeys } = app.gateway.services;
    await apiKeys.verify(secret);
    expect(await unitsOf(() => apiKeys.verify(secret))).toEqual({ read: 0, write: 0, calls: 0 });
  });

  it('is the same over HTTP with an API key, because the key is cached', async () => {
    const mac = await newDevice();
    const device = new Caller(app.url, { 'x-api-key': secret });
    const send = () => device.ask(op.IngestDocument, { input: { readings: [reading(mac)] } });
    await send();
    expect(await minOf(3.5, ({ read, write }) => read + write, send)).toBe(3.5);
  });
});

interface Consumed {
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

it('charges one write for a registration of a known device: 1 unit on the table and 2 on one index', async () => {
  const reports: Consumed[] = [];
  const real = sdkTransport(app.config.store);
  const transport: Transport = {
    ...real,
    async send(call, input) {
      const output = await real.send(call, { ...input, ReturnConsumedCapacity: 'INDEXES' });
      reports.push(...([output.ConsumedCapacity].flat() as Consumed[]));
      return output;
    },
  };
  const devices = new DeviceStore(new StoreClient(transport, app.config.store.tablePrefix));
  const input = { ...registration(newMac()), capabilities: { sensors: ['bme280'], features: [] } };
  const at = app.clock.nowMs();
  const { devices: service } = app.gateway.services;
  const caller = { orgId, actor: { name: 'test', address: '127.0.0.1', requestId: 'test' } };
  await service.register(caller, input);
  await devices.refresh(orgId, { registration: input, at: new Date(at + 1000) });
  real.close();
  // One delete and one put in the index by last activity. The index by hardware id does not change.
  expect(
    reports.map(({ Table, GlobalSecondaryIndexes: { gsi1, gsi2 } = {} }) => [
      Table?.CapacityUnits,
      gsi1?.CapacityUnits,
      gsi2?.CapacityUnits,
    ]),
  ).toEqual([[1, 2, undefined]]);
  const known = { ...input, hardwareId: newMac() };
  await service.register(caller, known);
  app.clock.advance(1000);
  expect(await unitsOf(() => service.register(caller, known))).toEqual({ read: 0, write: 3, calls: 1 });
});

describe('the price of series of a device', () => {
  const dayMs = 86_400_000;
  const toMs = Date.UTC(2026, 0, 2);
  const iso = (ms: number): string => new Date(ms).toISOString();
  const chart = (alias: string, metric: string, from: string, stepSecs = 3600): string =>
    `${alias}: series(metric: ${metric}, from: "${from}", to: "${iso(toMs)}", stepSecs: ${stepSecs}) { count }`;
  const metricsOf = ['BME280_TEMP_C', 'DS18B20_TEMP_C', 'HUMIDITY_PCT', 'PRESSURE_HPA', 'SOIL_MOISTURE_PCT'];
  let mac: string;
  beforeAll(async () => {
    mac = await newDevice();
    await storing(times(100, (i) => ({ ...reading(mac), timestampMs: toMs - 1 - i * 60_000 })));
  });
  const read = (charts: readonly string[]) => () =>
    org.ask(`{ org { device(hardwareId: "${mac}") { ${charts.join(' ')} } } }`);
  const priceOf = async (charts: readonly string[], calls: number) => [
    await minOf(calls, (units) => units.calls, read(charts)),
    await minOf(0, (units) => units.read, read(charts)),
  ];

  it('is the same for five metrics as for one, and for other steps and spellings of the same range', async () => {
    const from = iso(toMs - dayMs);
    const one = await priceOf([chart('a', 'HUMIDITY_PCT', from)], 2);
    // One read of the device, and one page of its readings.
    expect(one[0]).toBe(2);
    expect(
      await priceOf(
        metricsOf.map((metric, i) => chart(`m${i}`, metric, from)),
        2,
      ),
    ).toEqual(one);
    const spellings = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00+01:00'];
    expect(
      await priceOf(
        spellings.map((each, i) => chart(`m${i}`, 'HUMIDITY_PCT', each, 60 * (i + 2))),
        2,
      ),
    ).toEqual(one);
  });

  it('is the sum of both for two ranges', async () => {
    const charts = [chart('a', 'HUMIDITY_PCT', iso(toMs - dayMs)), chart('b', 'HUMIDITY_PCT', iso(toMs - dayMs / 2))];
    expect((await priceOf(charts, 3))[0]).toBe(3);
  });
});

describe('the price of reading a day of a device back', () => {
  const dayMs = 24 * hourMs;
  const fromMs = Date.UTC(2026, 0, 1);
  /** One reading per minute, sent in calls of `perCall`. */
  async function newHistory(perCall: number, minutes: number): Promise<Device> {
    const [mac, bootId] = [await newDevice(), randomUUID()];
    const readings = times(minutes, (i) => ({ ...reading(mac), bootId, timestampMs: fromMs + i * 60_000 }));
    const calls = times(minutes / perCall, (i) => readings.slice(i * perCall, (i + 1) * perCall));
    for (let i = 0; i < calls.length; i += 8) await Promise.all(calls.slice(i, i + 8).map(storing));
    return (await app.gateway.services.devices.find({ orgId, hardwareId: mac })) as Device;
  }
  /** The price of reading the same readings as one item each. */
  async function readSingles(minutes: number): Promise<{ readonly read: number; readonly count: number }> {
    const { store } = app.gateway.services;
    const [mac, partition] = [newMac(), `singles/${randomUUID()}`];
    const items = times(minutes, (i) =>
      singleReading(partition, { ...reading(mac), timestampMs: fromMs + i * 60_000 }),
    );
    await store.writeMany(
      'device_readings',
      items.map((put) => ({ put })),
    );
    let count = 0;
    const { read } = await unitsOf(async () => {
      const where = equals('hardware_id', partition);
      count = (await store.queryAll({ table: 'device_readings', where, consistent: true })).length;
    });
    return { read, count };
  }
  async function readBack(device: Device): Promise<{ readonly read: number; readonly count: number }> {
    const { readingStore } = app.gateway.services;
    let count = 0;
    const { read } = await unitsOf(async () => {
      for await (const samples of readingStore.samples(device, { fromMs, toMs: fromMs + dayMs }))
        count += samples.length;
    });
    return { read, count };
  }

  it('is at most 25 % of that of single items if they were sent hourly', async () => {
    const [packed, single] = [await readBack(await newHistory(60, 1440)), await readSingles(1440)];
    expect([packed.count, single.count]).toEqual([1440, 1440]);
    expect(packed.read / single.read).toBeLessThanOrEqual(0.25);
  });

  it('is not more than that of single items if they were sent one by one', async () => {
    const [packed, single] = [await readBack(await newHistory(1, 240)), await readSingles(240)];
    expect([packed.count, single.count]).toEqual([240, 240]);
    expect(packed.read / single.read).toBeLessThanOrEqual(0.75);
  });
});

describe('a page of 50 devices with their latest readings', () => {
  let site: { readonly caller: Caller; readonly orgId: string };
  let macs: string[];
  beforeAll(async () => {
    site = await newOrg(app);
    macs = await Promise.all(times(50, () => newDevice(site.caller)));
    await site.caller.ask(op.IngestDocument, { input: { readings: macs.map(reading) } });
  });

  async function readPage(): Promise<void> {
    const { org: read } = await site.caller.ask(op.DevicesDocument, { first: 50 });
    expect(read?.devices.nodes.map(({ latestReading }) => latestReading?.hardwareId).toSorted()).toEqual(
      macs.toSorted(),
    );
  }

  it('takes at most 52 calls of DynamoDB', async () => {
    await readPage();
    expect(await minOf(52, ({ calls }) => calls, readPage)).toBeLessThanOrEqual(52);
  });

  it('sends all queries for readings before the first response arrives', async () => {
    await readPage();
    const held = proxy.inject({ fault: 'hold', operation: 'Query', table: 'device_readings' });
    const sent = (): number =>
      new Set(proxy.calls.filter(({ fault }) => fault === 'hold').map(({ body }) => JSON.stringify(body))).size;
    let ended = false;
    const done = readPage().finally(() => {
      ended = true;
    });
    while (sent() < 50 && !ended) await sleep(1);
    const sentBeforeAnyResponse = sent();
    held.remove();
    await done;
    expect(sentBeforeAnyResponse).toBe(50);
  });
});
