import { randomUUID } from 'node:crypto';
import { Caller, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { newMac } from '../support/devices.js';
import * as op from '../support/operations.js';

let app: TestApp;
let org: Caller;
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
  mac = newMac();
  await key.ask(op.RegisterDeviceDocument, {
    input: { hardwareId: mac, bootId, firmwareVersion: '1.0', capabilities: { sensors: [] } },
  });
});
afterAll(() => app.stop());

const bootId = randomUUID();
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

describe('ingest of an invalid reading', () => {
  it.each<[string, object, string, string]>([
    ['an unknown sensor', { sensors: { humidityPct: 40, co2Ppm: 400 } }, 'INVALID_VALUE', 'sensors.co2Ppm: '],
    [
      'a sensor with the name of a property of Object',
      { sensors: { constructor: 1 } },
      'INVALID_VALUE',
      'sensors.constructor: ',
    ],
    ['null as a value', { sensors: { humidityPct: null } }, 'INVALID_VALUE', 'sensors.humidityPct: '],
    ['text as a value', { sensors: { humidityPct: '40' } }, 'INVALID_VALUE', 'sensors.humidityPct: '],
    ['a list of values', { sensors: [40] }, 'INVALID_VALUE', 'sensors: '],
    ['text instead of an object of values', { sensors: 'humidityPct' }, 'INVALID_VALUE', 'sensors: '],
    ['no values', { sensors: null }, 'INVALID_VALUE', 'sensors: '],
    ['an unknown status', { sensorStatus: { bme280: 'fine' } }, 'INVALID_VALUE', 'sensorStatus.bme280: '],
    ['the status of an unknown sensor', { sensorStatus: { co2: 'OK' } }, 'INVALID_VALUE', 'sensorStatus.co2: '],
    ['no status', { sensorStatus: undefined }, 'INVALID_VALUE', 'sensorStatus: '],
    ['no time', { timestampMs: null }, 'INVALID_TIMESTAMP', 'timestampMs: '],
    ['no boot id', { bootId: undefined }, 'INVALID_UUID', 'bootId: '],
    ['no firmware version', { firmwareVersion: null }, 'INVALID_VALUE', 'firmwareVersion: '],
    ['no hardware id', { hardwareId: null }, 'DEVICE_NOT_FOUND', 'hardwareId: '],
    ['no batch id', { batchId: undefined }, 'INVALID_BATCH_ID', 'batchId: '],
  ])('rejects only that reading, and names the field, if it has %s', async (_, fault, code, message) => {
    const [before, after] = [reading(), reading()];
    const { verdicts, settledBatchIds } = await ingest(before, reading(fault), after);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['STORED', 'REJECTED', 'STORED']);
    expect(verdicts[1]?.error).toEqual({
      code,
      message: expect.stringMatching(new RegExp(`^${message.replace(/[.]/g, '\\.')}`)),
    });
    expect(settledBatchIds).toEqual([before.batchId, after.batchId]);
  });

  it('rejects null instead of a reading', async () => {
    expect((await ingest(null, reading())).verdicts).toMatchObject([
      { index: 0, batchId: '', kind: 'REJECTED' },
      { kind: 'STORED' },
    ]);
  });

  it('keeps the message short if the name of a sensor is long', async () => {
    const { verdicts } = await ingest(reading({ sensors: { [`${'x'.repeat(50_000)}\n`]: 1 } }));
    expect(verdicts[0]?.error?.message.length).toBeLessThan(300);
  });

  it('validates readings that are literals in the document as it does variables', async () => {
    const literal = (sensors: string, status: string) => {
      const ids = `hardwareId: "${mac}", batchId: "${randomUUID()}", bootId: "${bootId}"`;
      const time = `timestampMs: ${app.clock.nowMs()}, firmwareVersion: "1"`;
      return `{ ${ids}, ${time}, sensors: ${sensors}, sensorStatus: ${status} }`;
    };
    const readings = [
      literal('{ humidityPct: 40.5 }', '{ bme280: ok, ds18b20: "ERROR" }'),
      literal('{ humidityPct: -0.5e1 }', '{}'),
      literal('{ a: { b: [{ c: 1 }] } }', '{}'),
      literal('{ __proto__: 1 }', '{}'),
    ];
    const { ingest: response } = await org.ask<{ ingest: op.IngestMutation['ingest'] }, object>(
      `mutation { ingest(input: { readings: [${readings.join()}] }) { verdicts { kind error { message } } } }`,
    );
    expect(response?.verdicts.map(({ kind, error }) => error?.message.split(':')[0] ?? kind)).toEqual([
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

it.each(['ok', 'OK', 'error', 'ERROR'])('ingest accepts the sensor status %s', async (bme280) => {
  expect((await ingest(reading({ sensorStatus: { bme280 } }))).verdicts).toMatchObject([{ kind: 'STORED' }]);
  expect((await device())?.latestReading?.sensorStatus.bme280).toBe(bme280.toUpperCase());
});
