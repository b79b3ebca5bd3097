import { randomUUID } from 'node:crypto';
import { partitionOf } from '../../src/alerts/alert.js';
import type { Device } from '../../src/devices/device.js';
import { newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint });
});
afterEach(() => proxy.clear());
afterAll(async () => {
  proxy.clear();
  await app.stop();
  await proxy.stop();
});

it('an event stream whose source fails sends an error and ends, instead of only sending heartbeats', async () => {
  const { orgId, accessToken } = await newOrg(app);
  const after = app.gateway.services.cursors.seal(`${orgId} quotaAlerts`, '0');
  proxy.inject({ operation: 'Query', table: 'alerts', fault: 'error-before' });
  const response = await fetch(app.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${accessToken}`,
    },
    body: JSON.stringify({
      query: 'subscription ($after: String) { quotaAlerts(after: $after) { id } }',
      variables: { after },
    }),
  });
  const text = await response.text();
  expect(text).toContain('"code":"SERVICE_UNAVAILABLE"');
  expect(text.trim().endsWith('event: complete\ndata:')).toBe(true);
  proxy.clear();
  const metrics = await (await fetch(`${app.origin}/metrics`)).text();
  expect(metrics).toMatch(/tollgate_subscriptions_open\{transport="sse"\} 0/);
});

describe('a transaction whose items become visible one by one', () => {
  async function firstOf<T>(stream: AsyncIterator<T>, count: number): Promise<T[]> {
    const values: T[] = [];
    while (values.length < count) values.push((await stream.next()).value as T);
    await stream.return?.();
    return values;
  }

  it('is delivered without a gap: readings', async () => {
    const { orgId, caller } = await newOrg(app);
    const [hardwareId, bootId] = ['AA:BB:CC:DD:EE:01', randomUUID()];
    await caller.ask(op.RegisterDeviceDocument, {
      input: { hardwareId, bootId, firmwareVersion: '1.0.0', capabilities: { sensors: ['bme280'] } },
    });
    const { devices, readingFeed } = app.gateway.services;
    const stream = await readingFeed.subscribe((await devices.find({ orgId, hardwareId })) as Device);
    proxy.inject({ fault: 'torn-read', table: 'device_readings' });
    const timestamps = [1, 2, 3, 4].map((i) => app.clock.nowMs() - 10_000 + i);
    const readings = timestamps.map((timestampMs) => ({
      hardwareId,
      batchId: randomUUID(),
      timestampMs,
      bootId,
      firmwareVersion: '1.0.0',
      sensors: {},
      sensorStatus: {},
    }));
    await caller.ask(op.IngestDocument, { input: { readings } });
    expect((await firstOf(stream, 4)).map(({ timestampMs }) => timestampMs)).toEqual(timestamps);
  });

  it('is delivered without a gap: alerts, live and after a cursor', async () => {
    const { orgId } = await newOrg(app);
    const { alertFeed, alertStore } = app.gateway.services;
    const labels = ['economy', 'premium', 'standard'];
    const figures = { costUsdMicros: 9, quotaUsdMicros: 10, quotaPct: 90, thresholdPct: 80 };
    const head = await alertStore.head(partitionOf(orgId));
    const live = await alertFeed.subscribe({ orgId });
    const torn = proxy.inject({ fault: 'torn-read', table: 'alerts' });
    for (const label of labels)
      await alertStore.raise(
        { orgId, kind: 'TIGHT_MODE', label, day: '2026-11-17', ...figures },
        new Date(),
        2_000_000_000,
      );
    expect((await firstOf(live, 3)).map(({ label }) => label)).toEqual(labels);
    torn.remove();
    proxy.inject({ fault: 'torn-read', table: 'alerts' });
    const missed = await alertFeed.subscribe({ orgId }, head);
    expect((await firstOf(missed, 3)).map(({ label }) => label)).toEqual(labels);
  });
});
