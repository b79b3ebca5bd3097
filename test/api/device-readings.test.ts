import { randomBytes, randomUUID } from 'node:crypto';
import type { Device } from '../../src/devices/device.js';
import { readingKey } from '../../src/devices/device-keys.js';
import { ReadingBudget, tooLong } from '../../src/devices/series.js';
import { Caller, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;
let app: TestApp;
let org: Caller;
// Unlike a token, it outlives any move of the clock.
let key: Caller;
let orgId: string;
let mac: string;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  ({ caller: org, orgId } = await newOrg(app));
  const { createApiKey } = await org.ask(op.CreateApiKeyDocument, { input: {} });
  key = new Caller(app.url, { 'x-api-key': createApiKey.secret });
});
beforeEach(async () => {
  mac = randomBytes(6)
    .toString('hex')
    .toUpperCase()
    .replace(/..(?!$)/g, '$&:');
  await register();
});
afterAll(() => app.stop());

const bootId = randomUUID();
const register = async (overrides: Partial<op.RegisterDeviceInput> = {}) =>
  (
    await key.ask(op.RegisterDeviceDocument, {
      input: { hardwareId: mac, bootId, firmwareVersion: '1.0', capabilities: { sensors: [] }, ...overrides },
    })
  ).registerDevice;
const reading = (overrides: object = {}): op.ReadingInput => ({
  hardwareId: mac,
  batchId: randomUUID(),
  timestampMs: app.clock.nowMs() - 1000,
  bootId,
  firmwareVersion: '1.0',
  sensors: { humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
  ...overrides,
});
const ingest = async (...readings: (op.ReadingInput | null)[]) =>
  (await key.ask(op.IngestDocument, { input: { readings } })).ingest;
const device = async () => (await app.admin.ask(op.DeviceOfDocument, { orgId, hardwareId: mac })).org?.device;
const stored = async () => (await app.gateway.services.devices.find({ orgId, hardwareId: mac })) as Device;

describe('a reading that is not valid', () => {
  it.each<[string, object, string, string]>([
    ['an unknown sensor', { sensors: { humidityPct: 40, co2Ppm: 400 } }, 'INVALID_VALUE', 'sensors.co2Ppm: '],
    [
      'a sensor that is a property of every object',
      { sensors: { constructor: 1 } },
      'INVALID_VALUE',
      'sensors.constructor: ',
    ],
    ['null for a value', { sensors: { humidityPct: null } }, 'INVALID_VALUE', 'sensors.humidityPct: '],
    ['text for a value', { sensors: { humidityPct: '40' } }, 'INVALID_VALUE', 'sensors.humidityPct: '],
    ['a list for the values', { sensors: [40] }, 'INVALID_VALUE', 'sensors: '],
    ['text for the values', { sensors: 'humidityPct' }, 'INVALID_VALUE', 'sensors: '],
    ['no values', { sensors: null }, 'INVALID_VALUE', 'sensors: '],
    ['an unknown state', { sensorStatus: { bme280: 'fine' } }, 'INVALID_VALUE', 'sensorStatus.bme280: '],
    ['the state of an unknown sensor', { sensorStatus: { co2: 'OK' } }, 'INVALID_VALUE', 'sensorStatus.co2: '],
    ['no states', { sensorStatus: undefined }, 'INVALID_VALUE', 'sensorStatus: '],
    ['no time', { timestampMs: null }, 'INVALID_TIMESTAMP', 'timestampMs: '],
    ['no boot', { bootId: undefined }, 'INVALID_UUID', 'bootId: '],
    ['no firmware', { firmwareVersion: null }, 'INVALID_VALUE', 'firmwareVersion: '],
    ['no device', { hardwareId: null }, 'DEVICE_NOT_FOUND', 'hardwareId: '],
    ['no batch id', { batchId: undefined }, 'INVALID_BATCH_ID', 'batchId: '],
  ])('because of %s is rejected alone, and the reason names the field', async (_what, fault, code, message) => {
    const [before, after] = [reading(), reading()];
    const { verdicts, settledBatchIds } = await ingest(before, reading(fault), after);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['STORED', 'REJECTED', 'STORED']);
    expect(verdicts[1]?.error).toEqual({
      code,
      message: expect.stringMatching(new RegExp(`^${message.replace(/[.]/g, '\\.')}`)),
    });
    expect(settledBatchIds).toEqual([before.batchId, after.batchId]);
  });

  it('may even be null', async () => {
    expect((await ingest(null, reading())).verdicts).toMatchObject([
      { index: 0, batchId: '', kind: 'REJECTED' },
      { kind: 'STORED' },
    ]);
  });

  it('is answered in few words, whatever it was called', async () => {
    const { verdicts } = await ingest(reading({ sensors: { [`${'x'.repeat(50_000)}\n`]: 1 } }));
    expect(verdicts[0]?.error?.message.length).toBeLessThan(300);
  });

  it('may stand in the document itself as well as in the variables', async () => {
    const literal = (sensors: string, status: string) =>
      `{ hardwareId: "${mac}", batchId: "${randomUUID()}", timestampMs: ${app.clock.nowMs()}, bootId: "${bootId}", firmwareVersion: "1", sensors: ${sensors}, sensorStatus: ${status} }`;
    const readings = [
      literal('{ humidityPct: 40.5 }', '{ bme280: ok, ds18b20: "ERROR" }'),
      literal('{ humidityPct: -0.5e1 }', '{}'),
      literal('{ a: { b: [{ c: 1 }] } }', '{}'),
      literal('{ __proto__: 1 }', '{}'),
    ];
    const { ingest: answer } = await org.ask<{ ingest: op.IngestMutation['ingest'] }, object>(
      `mutation { ingest(input: { readings: [${readings.join()}] }) { verdicts { kind error { message } } } }`,
    );
    expect(answer?.verdicts.map(({ kind, error }) => error?.message.split(':')[0] ?? kind)).toEqual([
      'STORED',
      'sensors.humidityPct',
      'sensors.a',
      'sensors.__proto__',
    ]);
    expect((await device())?.latestReading).toMatchObject({
      sensors: { humidityPct: 40.5 },
      sensorStatus: { bme280: 'OK', ds18b20: 'ERROR' },
    });
  });
});

it.each(['ok', 'OK', 'error', 'ERROR'])('the state %s is accepted', async (bme280) => {
  expect((await ingest(reading({ sensorStatus: { bme280 } }))).verdicts).toMatchObject([{ kind: 'STORED' }]);
  expect((await device())?.latestReading?.sensorStatus.bme280).toBe(bme280.toUpperCase());
});

describe('what is known of a device', () => {
  it('follows its newer readings, with the note that it was seen', async () => {
    app.clock.advance(2 * minuteMs);
    const [older, newer] = [randomUUID(), randomUUID()];
    await ingest(
      reading({ firmwareVersion: '9.9.9', bootId: newer }),
      reading({ firmwareVersion: '5.0', bootId: older, timestampMs: app.clock.nowMs() - 30_000 }),
      reading({ firmwareVersion: '10', bootId: 'x' }),
    );
    expect(await device()).toMatchObject({ firmwareVersion: '9.9.9', lastBootId: newer });
    // What a device has kept for long says nothing about what it runs now.
    app.clock.advance(2 * minuteMs);
    await ingest(reading({ firmwareVersion: '5.0', bootId: older, timestampMs: app.clock.nowMs() - 10 * minuteMs }));
    expect(await device()).toMatchObject({ firmwareVersion: '9.9.9', lastBootId: newer });
    await register({ firmwareVersion: '8.0' });
    expect(await device()).toMatchObject({ firmwareVersion: '8.0', lastBootId: bootId });
  });

  it('heals after the clock of a gateway was wrong: by a registration, and by a reading', async () => {
    for (const talk of [() => register(), () => ingest(reading())]) {
      app.clock.advance(100 * dayMs);
      await register();
      expect(Date.parse((await device())?.lastSeenAt ?? '')).toBeGreaterThan(app.clock.nowMs() - minuteMs);
      app.clock.advance(-100 * dayMs);
      await talk();
      expect(Date.parse((await device())?.lastSeenAt ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
    }
  });
});

it('a reading that has expired is not served, though it is still there', async () => {
  const [old, fresh] = [reading(), reading({ timestampMs: app.clock.nowMs() - 2000 })];
  await ingest(old, fresh);
  const oldId = (await device())?.latestReading?.id as string;
  const { store } = app.gateway.services;
  const key = readingKey(await stored(), old.timestampMs as number, old.batchId as string);
  const item = await store.get('device_readings', key, { consistent: true });
  const expiredSecs = Math.floor(app.clock.nowMs() / 1000) - 3600;
  await store.write({ table: 'device_readings', put: { ...item, expiration_time: expiredSecs } });
  expect((await device())?.latestReading?.batchId).toBe(fresh.batchId);
  expect((await org.ask(op.NodeDocument, { id: oldId })).node).toBeNull();
  for (const first of [1, 2]) {
    const { org: read } = await org.ask(op.ReadingsOfDocument, { hardwareId: mac, first });
    expect(read?.device?.readings).toMatchObject({
      nodes: [{ batchId: fresh.batchId }],
      pageInfo: { hasNextPage: false },
    });
  }
  const range = {
    from: new Date(app.clock.nowMs() - minuteMs).toISOString(),
    to: new Date(app.clock.nowMs()).toISOString(),
    stepSecs: 3600,
  };
  const { org: charted } = await org.ask(op.SeriesOfDocument, { hardwareId: mac, metric: 'HUMIDITY_PCT', ...range });
  expect(charted?.device?.series.map(({ count }) => count)).toEqual([1]);
});

describe('a series that is too long', () => {
  it('is the fault of the caller, who is told where to cut it', async () => {
    for (let i = 0; i < 3; i++)
      await ingest(
        ...Array.from({ length: 100 }, (_, k) =>
          reading({ timestampMs: app.clock.nowMs() - (100 * i + k) * minuteMs }),
        ),
      );
    const range = { fromMs: app.clock.nowMs() - dayMs, toMs: app.clock.nowMs() + 1, stepSecs: 3600 };
    const draw = (max: number, requests = 1) =>
      stored().then((it) =>
        app.gateway.services.charts.draw(
          Array(requests).fill({ device: it, metric: 'humidityPct', range }),
          new ReadingBudget(max),
        ),
      );
    expect((await draw(300))[0]).toHaveLength(25);
    const [refused] = await draw(299);
    expect(refused).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('set `from` to ') });
    // Several charts of the same range are one read.
    expect((await draw(300, 5)).every((points) => Array.isArray(points))).toBe(true);
  });

  it('names the moment it was read back to', () => {
    const error = tooLong(
      { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 1, 1), stepSecs: 60 },
      Date.UTC(2026, 0, 20),
      'exceeds',
    );
    expect(error.extensions.issues).toEqual([
      { path: 'from', message: expect.stringContaining('set `from` to 2026-01-20T00:00:00.000Z or later') },
    ]);
  });

  it('of too many points is told how long a step it needs', async () => {
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z' };
    const ask = (stepSecs: number) =>
      org.send(op.SeriesOfDocument, { hardwareId: mac, metric: 'HUMIDITY_PCT', ...range, stepSecs });
    const { errors } = await ask(60);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('set it to 2592 or more'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect((await ask(2592)).errors).toBeUndefined();
  });
});
