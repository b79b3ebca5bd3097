import { randomUUID } from 'node:crypto';
import { type Caller, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let caller: Caller;
const bootId = randomUUID();
const macs = ['AA:BB:CC:DD:EE:01', 'AA:BB:CC:DD:EE:02'] as const;

beforeAll(async () => {
  app = await startTestApp();
  ({ caller } = await newOrg(app));
  for (const hardwareId of macs) {
    await caller.ask(op.RegisterDeviceDocument, {
      input: { hardwareId, bootId, firmwareVersion: '1', capabilities: { sensors: [] } },
    });
  }
});
afterAll(() => app.stop());

const reading = (hardwareId: string, batchId: string, bme280TempC = 20): op.ReadingInput => ({
  hardwareId,
  batchId,
  timestampMs: app.clock.nowMs(),
  bootId,
  firmwareVersion: '1',
  sensors: { bme280TempC },
  sensorStatus: {},
});

it('does not call a batch id settled that another device of the call still has to send', async () => {
  const readings = [
    reading(macs[0], 'shared'),
    reading(macs[1], 'shared', 999),
    reading(macs[0], 'own'),
    reading(macs[1], 'both'),
    reading(macs[0], 'both'),
  ];
  const { ingest } = await caller.ask(op.IngestDocument, { input: { readings } });
  expect(ingest.verdicts.map(({ kind }) => kind)).toEqual(['STORED', 'REJECTED', 'STORED', 'STORED', 'STORED']);
  expect(ingest.settledBatchIds).toEqual(['own', 'both']);
});

it('refuses more readings than it takes as the fault of the caller, not as ours', async () => {
  const readings = Array.from({ length: 101 }, (_, i) => reading(macs[0], `b${i}`));
  const { status, errors } = await caller.send(
    op.IngestDocument,
    { input: { readings } },
    { accept: 'application/graphql-response+json' },
  );
  expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
});

it('counts a series for what it may read', async () => {
  const series = (alias: string) =>
    `${alias}: series(metric: HUMIDITY_PCT, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", stepSecs: 3600) { count }`;
  expect(
    (
      await caller.ask<{ org: { devices: { nodes: unknown[] } } }, never>(
        `{ org { devices(first: 10) { nodes { ${series('a')} } } } }`,
      )
    ).org.devices.nodes,
  ).toHaveLength(2);
  const { errors } = await caller.send(`{ org { devices(first: 100) { nodes { ${series('a')} ${series('b')} } } } }`);
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('complexity'),
    extensions: { code: 'BAD_USER_INPUT' },
  });
});
