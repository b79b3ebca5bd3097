import { randomUUID } from 'node:crypto';
import type { Device } from '../../src/devices/device.js';
import { batchKey, segmentKey } from '../../src/devices/device-keys.js';
import { equals } from '../../src/dynamo/expression.js';
import { dayMs, ingest, iso, issuesOf, kindsOf, minuteMs, register, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';

const fleet = useDevices();
const { batchesOf, find, move, newDevice, page, partitionOf, reading } = fleet;

describe('Device.latestReading and Device.readings', () => {
  it('return as the latest reading the one measured last, not the one that arrived last', async () => {
    const { mac, device, ...site } = await newDevice();
    const nowMs = fleet.app.clock.nowMs();
    const [early, late] = [reading(mac, { timestampMs: nowMs - 5000 }), reading(mac, { timestampMs: nowMs - 1000 })];
    for (const each of [late, early, reading(mac, { timestampMs: Date.UTC(2000, 0, 1) })]) await ingest(device, each);
    expect((await find(site, mac))?.latestReading?.batchId).toBe(late.batchId);
  });

  it('return the readings from `from`, inclusive, to `to`, exclusive, newest first', async () => {
    const { mac, device, ...site } = await newDevice();
    const t = fleet.app.clock.nowMs() - 3_600_000;
    const at = (offsetMs: number, batchId: string) => reading(mac, { timestampMs: t + offsetMs, batchId });
    await ingest(device, at(10, 'c'), at(0, 'a'), at(10, 'b'), at(20, 'd'), at(-1, 'z'), at(10, '-'), at(19, 'zz'));
    const between = (fromMs?: number, toMs?: number) =>
      batchesOf(
        { ...site, mac },
        {
          ...(fromMs === undefined ? {} : { from: iso(t + fromMs) }),
          ...(toMs === undefined ? {} : { to: iso(t + toMs) }),
        },
      );
    expect(await between()).toEqual(['d', 'zz', 'c', 'b', '-', 'a', 'z']);
    expect(await between(0, 20)).toEqual(['zz', 'c', 'b', '-', 'a']);
    expect(await between(10, 11)).toEqual(['c', 'b', '-']);
    expect(await between(10)).toEqual(['d', 'zz', 'c', 'b', '-']);
    expect(await between(undefined, 10)).toEqual(['a', 'z']);
    expect(await between(1, 10)).toEqual([]);
    const variables = { orgId: site.orgId, hardwareId: mac };
    for (const [from, to] of [
      [0, 0],
      [1, 0],
    ] as const) {
      expect(
        await issuesOf(fleet.app.admin, op.ReadingsOfDocument, { ...variables, from: iso(t + from), to: iso(t + to) }),
      ).toMatchObject([{ path: 'from' }]);
    }
    for (const range of [
      { from: '0001-01-01T00:00:00Z', to: '9999-12-31T00:00:00Z' },
      { to: '2300-01-01T00:00:00Z' },
      { from: '1960-01-01T00:00:00Z' },
    ]) {
      expect(await batchesOf({ ...site, mac }, range)).toHaveLength(7);
    }
    for (const range of [
      { to: '1960-01-01T00:00:00Z' },
      { from: '2300-01-01T00:00:00Z' },
      { from: '1960-01-01T00:00:00Z', to: '1961-01-01T00:00:00Z' },
    ]) {
      expect(await batchesOf({ ...site, mac }, range)).toEqual([]);
    }
  });

  it('continue from a cursor even if the range has changed', async () => {
    const { mac, device, orgId } = await newDevice();
    const t = fleet.app.clock.nowMs() - 3_600_000;
    await ingest(device, ...times(5, (i) => reading(mac, { timestampMs: t + i, batchId: `b${i}` })));
    const after = (await page({ orgId, hardwareId: mac, first: 2 }))?.pageInfo.endCursor;
    const ids = async (range: { from?: string; to?: string }) =>
      (await page({ orgId, hardwareId: mac, after, ...range }))?.nodes.map(({ batchId }) => batchId);
    expect(await ids({})).toEqual(['b2', 'b1', 'b0']);
    expect(await ids({ from: iso(t + 1) })).toEqual(['b2', 'b1']);
    expect(await ids({ to: iso(t + 2) })).toEqual(['b1', 'b0']);
    expect(await ids({ from: iso(t + 4) })).toEqual([]);
  });

  it('return every reading once in pages of up to 1000, even if a page of DynamoDB holds fewer', async () => {
    const { mac, device, elsewhere, orgId } = await newDevice({ friendlyName: 'n'.repeat(64) });
    const t = fleet.app.clock.nowMs() - 3_600_000;
    // Ten per millisecond, each larger than 1 KB.
    const idOf = (i: number) => `${String(i).padStart(5, '0')}${'x'.repeat(251)}`;
    const sensors = {
      bme280TempC: 21.123,
      ds18b20TempC: 22.123,
      humidityPct: 40.123,
      pressureHpa: 1000.123,
      soilMoisturePct: 30.123,
    };
    const sensorStatus = { bme280: 'ERROR', ds18b20: 'ERROR', soilMoisture: 'ERROR' } as const;
    const all = times(2500, (i) =>
      reading(mac, {
        timestampMs: t + Math.floor(i / 10),
        batchId: idOf(i),
        firmwareVersion: 'v'.repeat(64),
        sensors,
        sensorStatus,
      }),
    );
    for (let i = 0; i < all.length; i += 500) {
      const some = all.slice(i, i + 500);
      const responses = await Promise.all(
        times(5, (k) => ingest(k % 2 ? device : elsewhere, ...some.slice(100 * k, 100 * (k + 1)))),
      );
      expect(responses.flatMap(kindsOf).filter((kind) => kind !== 'STORED')).toEqual([]);
    }
    const newestFirst = all.map(({ batchId }) => batchId).toReversed();

    const where = equals('hardware_id', await partitionOf({ orgId, mac }));
    const cut = await fleet.app.gateway.services.store.query({
      table: 'device_readings',
      where,
      newestFirst: true,
      limit: 1000,
    });
    expect(cut.items.length).toBeLessThan(1000);

    for (const first of [1000, 499]) {
      const pages: string[][] = [];
      for (let after: string | null | undefined; ; ) {
        const response = await page({ orgId, hardwareId: mac, first, after });
        pages.push(response?.nodes.map(({ batchId }) => batchId) ?? []);
        after = response?.pageInfo.endCursor;
        if (!response?.pageInfo.hasNextPage) break;
      }
      expect(pages.slice(0, -1).every(({ length }) => length === first)).toBe(true);
      expect(pages.flat()).toEqual(newestFirst);
    }
    const { org } = await fleet.app.admin.ask(op.SeriesOfDocument, {
      orgId,
      hardwareId: mac,
      metric: 'HUMIDITY_PCT',
      from: iso(t),
      to: iso(t + 1000),
      stepSecs: 1,
    });
    expect(org?.device?.series).toMatchObject([{ count: 2500, min: 40.123, max: 40.123 }]);
  });

  it('do not return an expired reading that is still stored', async () => {
    const { mac, org, orgId, device } = await newDevice();
    const nowMs = fleet.app.clock.nowMs();
    const [expired, fresh] = [reading(mac, { timestampMs: nowMs - 1000 }), reading(mac, { timestampMs: nowMs - 2000 })];
    // A segment expires as a whole.
    await ingest(device, expired);
    await ingest(device, fresh);
    const expiredId = (await find({ orgId }, mac))?.latestReading?.id as string;
    const { store, devices } = fleet.app.gateway.services;
    const stored = (await devices.find({ orgId, hardwareId: mac })) as Device;
    const marker = await store.get('processed_batches', batchKey(stored, expired.batchId), { consistent: true });
    const key = segmentKey(stored, String(marker?.segment));
    const item = await store.get('device_readings', key, { consistent: true });
    const expiredSecs = Math.floor(nowMs / 1000) - 3600;
    await store.write({ table: 'device_readings', put: { ...item, expiration_time: expiredSecs } });
    expect((await find({ orgId }, mac))?.latestReading?.batchId).toBe(fresh.batchId);
    expect((await org.ask(op.NodeDocument, { id: expiredId })).node).toBeNull();
    for (const first of [1, 2]) {
      const { org: read } = await org.ask(op.ReadingsOfDocument, { hardwareId: mac, first });
      expect(read?.device?.readings).toMatchObject({
        nodes: [{ batchId: fresh.batchId }],
        pageInfo: { hasNextPage: false },
      });
    }
    const range = { from: iso(nowMs - minuteMs), to: iso(fleet.app.clock.nowMs()), stepSecs: 3600 };
    const { org: charted } = await org.ask(op.SeriesOfDocument, { hardwareId: mac, metric: 'HUMIDITY_PCT', ...range });
    expect(charted?.device?.series.map(({ count }) => count)).toEqual([1]);
  });
});

describe('Device.firmwareVersion, lastBootId and lastSeenAt', () => {
  it('are updated by newer readings together with lastSeenAt, and not by older ones', async () => {
    const registered = randomUUID();
    const { mac, orgId, device } = await newDevice({ bootId: registered });
    const { clock } = fleet.app;
    move(2 * minuteMs);
    const [older, newer] = [randomUUID(), randomUUID()];
    await ingest(
      device,
      reading(mac, { firmwareVersion: '9.9.9', bootId: newer, timestampMs: clock.nowMs() - 1000 }),
      reading(mac, { firmwareVersion: '5.0', bootId: older, timestampMs: clock.nowMs() - 30_000 }),
      reading(mac, { firmwareVersion: '10', bootId: 'x', timestampMs: clock.nowMs() - 1000 }),
    );
    expect(await find({ orgId }, mac)).toMatchObject({ firmwareVersion: '9.9.9', lastBootId: newer });
    // A reading that a device has buffered for long does not tell what the device runs now.
    move(2 * minuteMs);
    await ingest(
      device,
      reading(mac, { firmwareVersion: '5.0', bootId: older, timestampMs: clock.nowMs() - 10 * minuteMs }),
    );
    expect(await find({ orgId }, mac)).toMatchObject({ firmwareVersion: '9.9.9', lastBootId: newer });
    await register(device, mac, { firmwareVersion: '8.0', bootId: registered });
    expect(await find({ orgId }, mac)).toMatchObject({ firmwareVersion: '8.0', lastBootId: registered });
  });

  it('are corrected by the next registration or reading after a gateway with a wrong clock has set them', async () => {
    const { mac, orgId, device } = await newDevice();
    const lastSeenMs = async () => Date.parse((await find({ orgId }, mac))?.lastSeenAt ?? '');
    const { clock } = fleet.app;
    const recent = () => reading(mac, { timestampMs: clock.nowMs() - 1000 });
    for (const send of [() => register(device, mac), () => ingest(device, recent())]) {
      move(100 * dayMs);
      await register(device, mac);
      expect(await lastSeenMs()).toBeGreaterThan(clock.nowMs() - minuteMs);
      move(-100 * dayMs);
      await send();
      expect(await lastSeenMs()).toBeLessThanOrEqual(clock.nowMs());
    }
  });
});
