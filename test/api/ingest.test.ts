import { randomUUID } from 'node:crypto';
import type { FullReading } from '../support/app.js';
import { dayMs, ingest, kindsOf, minuteMs, newMac, register, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';

const fleet = useDevices();
const { batchesOf, find, move, newDevice, newSite, partitionOf, reading } = fleet;

describe('ingest', () => {
  it('stores a reading as it was sent', async () => {
    const { mac, device, ...site } = await newDevice();
    const sensors = { bme280TempC: -40, ds18b20TempC: 125, humidityPct: 0, pressureHpa: 1013.25, soilMoisturePct: 100 };
    const sensorStatus = { bme280: 'OK', ds18b20: 'ERROR', soilMoisture: 'OK' } as const;
    const sent = reading(mac, { sensors, sensorStatus, friendlyName: 'Roof', bootId: randomUUID().toUpperCase() });
    expect(await ingest(device, sent)).toEqual({
      settledBatchIds: [sent.batchId],
      verdicts: [{ index: 0, batchId: sent.batchId, kind: 'STORED', error: null }],
    });
    expect((await find(site, mac))?.latestReading).toEqual({
      ...sent,
      bootId: sent.bootId.toLowerCase(),
      id: expect.any(String),
    });
  });

  it('stores an omitted sensor as not measured', async () => {
    const { mac, device, ...site } = await newDevice();
    const sent = reading(mac, { sensors: {}, sensorStatus: {} });
    expect(kindsOf(await ingest(device, sent))).toEqual(['STORED']);
    const none = { bme280TempC: null, ds18b20TempC: null, humidityPct: null, pressureHpa: null, soilMoisturePct: null };
    expect((await find(site, mac))?.latestReading).toMatchObject({
      sensors: none,
      sensorStatus: { bme280: null, ds18b20: null, soilMoisture: null },
    });
  });

  it('accepts 1 to 100 readings per call', async () => {
    const { mac, device, ...site } = await newDevice();
    for (const count of [0, 101]) {
      const readings = times(count, () => reading(mac));
      expect(await device.codeOf(op.IngestDocument, { input: { readings } })).toBe('BAD_USER_INPUT');
    }
    expect(await batchesOf({ ...site, mac })).toEqual([]);
    expect(kindsOf(await ingest(device, ...times(100, () => reading(mac))))).toEqual(times(100, () => 'STORED'));
    expect(await batchesOf({ ...site, mac })).toHaveLength(100);
  });

  it('returns DUPLICATE for a retry on any gateway, and with the boot id in either case', async () => {
    const { mac, device, elsewhere, ...site } = await newDevice();
    const sent = reading(mac);
    await ingest(device, sent);
    for (const [by, again] of [
      [device, sent],
      [elsewhere, sent],
      [site.org, { ...sent, bootId: sent.bootId.toUpperCase() }],
    ] as const) {
      expect(await ingest(by, again)).toEqual({
        settledBatchIds: [sent.batchId],
        verdicts: [{ index: 0, batchId: sent.batchId, kind: 'DUPLICATE', error: null }],
      });
    }
    expect(await batchesOf({ ...site, mac })).toEqual([sent.batchId]);
  });

  it.each<[string, (sent: FullReading) => Partial<FullReading>]>([
    ['value', () => ({ sensors: { bme280TempC: 22, humidityPct: 40 } })],
    ['number of values', () => ({ sensors: { bme280TempC: 21.5 } })],
    ['sensor for the same value', () => ({ sensors: { ds18b20TempC: 21.5, humidityPct: 40 } })],
    ['status', () => ({ sensorStatus: { bme280: 'ERROR' } })],
    ['time', ({ timestampMs }) => ({ timestampMs: timestampMs + 1 })],
    ['boot', () => ({ bootId: randomUUID() })],
    ['firmware', () => ({ firmwareVersion: '1.0.17' })],
    ['name', () => ({ friendlyName: 'Another' })],
  ])('returns CONFLICT for the same batch id with another %s, and overwrites nothing', async (_, change) => {
    const { mac, device, ...site } = await newDevice();
    const sent = reading(mac);
    await ingest(device, sent);
    const before = await find(site, mac);
    const response = await ingest(device, { ...sent, ...change(sent) });
    expect(response).toMatchObject({
      settledBatchIds: [],
      verdicts: [{ index: 0, batchId: sent.batchId, kind: 'CONFLICT', error: { code: 'IDEMPOTENCY_CONFLICT' } }],
    });
    expect(await find(site, mac)).toEqual(before);
    expect(await batchesOf({ ...site, mac })).toEqual([sent.batchId]);
  });

  it.each<[string, () => Partial<FullReading>]>([
    ['INVALID_BATCH_ID', () => ({ batchId: '' })],
    ['INVALID_BATCH_ID', () => ({ batchId: 'b'.repeat(257) })],
    ['INVALID_BATCH_ID', () => ({ batchId: 'a/b' })],
    ['INVALID_BATCH_ID', () => ({ batchId: 'a~b' })],
    ['INVALID_BATCH_ID', () => ({ batchId: 'a\n' })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: fleet.app.clock.nowMs() + 0.5 })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: Date.UTC(2000, 0, 1) - 1 })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: Date.UTC(2100, 0, 1) })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: fleet.app.clock.nowMs() + 11 * minuteMs })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: -1 })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: 1e300 })],
    ['INVALID_UUID', () => ({ bootId: 'x' })],
    ['INVALID_UUID', () => ({ bootId: 'c232ab00-9414-11ec-b3c8-9f68deced846' })],
    ['INVALID_VALUE', () => ({ sensors: { bme280TempC: 85.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { bme280TempC: -40.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { ds18b20TempC: 125.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { ds18b20TempC: -55.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { humidityPct: -0.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { humidityPct: 100.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { soilMoisturePct: 100.01 } })],
    ['INVALID_VALUE', () => ({ sensors: { soilMoisturePct: -1 } })],
    ['INVALID_VALUE', () => ({ sensors: { pressureHpa: 299.99 } })],
    ['INVALID_VALUE', () => ({ sensors: { pressureHpa: 1100.01 } })],
    ['INVALID_VALUE', () => ({ firmwareVersion: '' })],
    ['INVALID_VALUE', () => ({ friendlyName: 'n'.repeat(65) })],
    ['DEVICE_NOT_FOUND', () => ({ hardwareId: newMac() })],
    ['DEVICE_NOT_FOUND', () => ({ hardwareId: 'x' })],
  ])('rejects an invalid reading with %s and stores the others', async (code, broken) => {
    const { mac, device, ...site } = await newDevice();
    const [before, bad, after] = [reading(mac), reading(mac, broken()), reading(mac)];
    const response = await ingest(device, before, bad, after);
    expect(response).toEqual({
      settledBatchIds: [before.batchId, after.batchId],
      verdicts: [
        { index: 0, batchId: before.batchId, kind: 'STORED', error: null },
        { index: 1, batchId: bad.batchId, kind: 'REJECTED', error: { code, message: expect.any(String) } },
        { index: 2, batchId: after.batchId, kind: 'STORED', error: null },
      ],
    });
    expect(await batchesOf({ ...site, mac })).toHaveLength(2);
  });

  it('accepts values at the limits', async () => {
    const { mac, device } = await newDevice();
    const readings = [
      { batchId: 'b'.repeat(256) },
      { batchId: 'AZaz09_.:-' },
      { timestampMs: Date.UTC(2000, 0, 1) },
      { timestampMs: fleet.app.clock.nowMs() + 9 * minuteMs },
      { sensors: { bme280TempC: -40, ds18b20TempC: -55, humidityPct: 0, pressureHpa: 300, soilMoisturePct: 0 } },
      { sensors: { bme280TempC: 85, ds18b20TempC: 125, humidityPct: 100, pressureHpa: 1100, soilMoisturePct: 100 } },
    ].map((overrides) => reading(mac, overrides));
    expect(kindsOf(await ingest(device, ...readings))).toEqual(readings.map(() => 'STORED'));
  });

  it('returns a separate verdict for each reading of a mixed call', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    const [known, taken] = [reading(mine.mac), reading(mine.mac)];
    await ingest(mine.device, known, taken);
    const fresh = reading(mine.mac);
    const response = await ingest(
      mine.device,
      { ...taken, sensors: {} },
      reading(theirs.mac),
      known,
      reading(mine.mac, { timestampMs: 1.5 }),
      fresh,
      reading(mine.mac, { batchId: '' }),
    );
    expect(kindsOf(response)).toEqual(['CONFLICT', 'REJECTED', 'DUPLICATE', 'REJECTED', 'STORED', 'REJECTED']);
    expect(response.verdicts.map(({ error }) => error?.code)).toEqual([
      'IDEMPOTENCY_CONFLICT',
      'DEVICE_NOT_FOUND',
      undefined,
      'INVALID_TIMESTAMP',
      undefined,
      'INVALID_BATCH_ID',
    ]);
    expect(response.verdicts.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(response.settledBatchIds).toEqual([known.batchId, fresh.batchId]);
    expect((await batchesOf(mine))?.toSorted()).toEqual([known, taken, fresh].map(({ batchId }) => batchId).toSorted());
    expect(await batchesOf(theirs)).toEqual([]);
  });

  it('gives a repeated batch id in one call a verdict that depends on the first reading with that id', async () => {
    const { mac, device, ...site } = await newDevice();
    const [a, b, c, d] = [reading(mac), reading(mac), reading(mac), reading(mac)];
    const changed = (sent: FullReading) => ({ ...sent, sensors: { humidityPct: 99 } });
    const broken = (sent: FullReading) => ({ ...sent, bootId: 'x' });
    await ingest(device, c, d);
    const response = await ingest(
      device,
      a,
      a,
      changed(a),
      broken(b),
      b,
      b,
      changed(b),
      c,
      changed(c),
      c,
      changed(d),
      d,
      broken(a),
      changed(d),
    );
    expect(kindsOf(response)).toEqual([
      ...['STORED', 'DUPLICATE', 'CONFLICT'],
      ...['REJECTED', 'STORED', 'DUPLICATE', 'CONFLICT'],
      ...['DUPLICATE', 'CONFLICT', 'DUPLICATE'],
      ...['CONFLICT', 'DUPLICATE', 'REJECTED', 'CONFLICT'],
    ]);
    expect(response.settledBatchIds).toEqual([a, b, c, d].map(({ batchId }) => batchId));
    expect(await batchesOf({ ...site, mac })).toHaveLength(4);
  });

  it('stores the same batch id of two devices, and of two orgs, separately', async () => {
    const [one, two] = [await newDevice(), await newSite()];
    const sibling = newMac();
    await register(one.device, sibling);
    await register(two.device, one.mac);
    const sent = reading(one.mac);
    const ofSibling = { ...sent, hardwareId: sibling, sensors: {} };
    expect(kindsOf(await ingest(one.device, sent, ofSibling))).toEqual(['STORED', 'STORED']);
    expect(kindsOf(await ingest(two.device, { ...sent, sensors: { humidityPct: 1 } }))).toEqual(['STORED']);
    expect(kindsOf(await ingest(one.device, sent, ofSibling))).toEqual(['DUPLICATE', 'DUPLICATE']);
    expect((await find(one, one.mac))?.latestReading?.sensors).toMatchObject({ bme280TempC: 21.5 });
    expect((await find(two, one.mac))?.latestReading?.sensors).toMatchObject({ bme280TempC: null, humidityPct: 1 });
  });

  it('recognises duplicates and conflicts anywhere in a call of 100 readings', async () => {
    const { mac, device, ...site } = await newDevice();
    const all = times(100, (i) => reading(mac, { timestampMs: fleet.app.clock.nowMs() - 1000 * i - 1 }));
    const [stored, taken] = [all.filter((_, i) => i % 7 === 0), all.filter((_, i) => i % 7 === 3)];
    await ingest(device, ...stored, ...taken.map((each) => ({ ...each, firmwareVersion: 'other' })));
    const response = await ingest(device, ...all);
    expect(kindsOf(response)).toEqual(
      times(100, (i) => (i % 7 === 0 ? 'DUPLICATE' : i % 7 === 3 ? 'CONFLICT' : 'STORED')),
    );
    expect(response.settledBatchIds).toEqual(all.filter((_, i) => i % 7 !== 3).map(({ batchId }) => batchId));
    expect(await batchesOf({ ...site, mac })).toEqual(all.map(({ batchId }) => batchId));
  });

  it('stores each reading once when the same readings are sent concurrently through two gateways', async () => {
    const { mac, device, elsewhere, ...site } = await newDevice();
    const all = times(60, (i) => reading(mac, { timestampMs: fleet.app.clock.nowMs() - 1000 * i - 1 }));
    const responses = await Promise.all(
      times(6, (i) => ingest(i % 2 ? device : elsewhere, ...(i % 3 ? all : all.toReversed()))),
    );
    const stored = responses.flatMap(({ verdicts }) =>
      verdicts.filter(({ kind }) => kind === 'STORED').map(({ batchId }) => batchId),
    );
    expect(new Set(stored).size).toBe(stored.length);
    for (const kind of responses.flatMap(kindsOf)) expect(['STORED', 'DUPLICATE', 'RETRY']).toContain(kind);
    // Readings with the verdict RETRY are sent again, as a device would.
    expect(kindsOf(await ingest(device, ...all)).filter((kind) => kind === 'STORED')).toHaveLength(60 - stored.length);
    expect(await batchesOf({ ...site, mac })).toEqual(all.map(({ batchId }) => batchId));
  });

  it('stores one of several contents that are sent concurrently under one batch id', async () => {
    const { mac, device, elsewhere, ...site } = await newDevice();
    const sent = reading(mac);
    const responses = await Promise.all(
      times(10, (i) => ingest(i % 2 ? device : elsewhere, { ...sent, timestampMs: sent.timestampMs + i })),
    );
    expect(responses.flatMap(kindsOf).filter((kind) => kind === 'STORED')).toHaveLength(1);
    expect(responses.flatMap(kindsOf).filter((kind) => kind === 'DUPLICATE')).toEqual([]);
    expect(await batchesOf({ ...site, mac })).toHaveLength(1);
  });

  it('stores the name that was sent, else the current name of the device; a rename causes no CONFLICT', async () => {
    const { mac, device, ...site } = await newDevice({ friendlyName: 'Before' });
    const nameOf = async () => (await find(site, mac))?.latestReading?.friendlyName;
    const rename = (friendlyName: string | null) =>
      fleet.app.admin.ask(op.RenameDeviceDocument, { orgId: site.orgId, hardwareId: mac, friendlyName });
    const nowMs = fleet.app.clock.nowMs();
    const [own, named, nameless] = [
      reading(mac, { timestampMs: nowMs - 3 }),
      reading(mac, { timestampMs: nowMs - 2, friendlyName: 'Sent' }),
      reading(mac),
    ];
    await ingest(device, own);
    expect(await nameOf()).toBe('Before');
    await rename('After');
    expect(kindsOf(await ingest(device, own))).toEqual(['DUPLICATE']);
    expect(await nameOf()).toBe('Before');
    await ingest(device, named);
    expect(await nameOf()).toBe('Sent');
    await rename(null);
    expect(kindsOf(await ingest(device, own, named))).toEqual(['DUPLICATE', 'DUPLICATE']);
    await ingest(device, { ...nameless, timestampMs: nowMs - 1 });
    expect(await nameOf()).toBeNull();
    expect(await find(site, mac)).toMatchObject({ friendlyName: null });
  });

  it('updates lastSeenAt at most once per minute', async () => {
    const { mac, device, ...site } = await newDevice();
    const seenAt = async () => Date.parse((await find(site, mac))?.lastSeenAt ?? '');
    const first = await seenAt();
    move(50_000);
    await ingest(device, reading(mac));
    expect(await seenAt()).toBe(first);
    move(15_000);
    await ingest(device, reading(mac));
    const second = await seenAt();
    expect(second).toBeGreaterThanOrEqual(first + 65_000);
    await Promise.all(times(5, () => ingest(device, reading(mac))));
    expect(await seenAt()).toBe(second);
    move(61_000);
    await ingest(device, reading(mac, { timestampMs: Date.UTC(2001, 0, 1) }));
    expect(await seenAt()).toBeGreaterThanOrEqual(second + 61_000);
  });

  it('updates lastSeenAt even if the reading is rejected', async () => {
    const { mac, device, ...site } = await newDevice();
    move(2 * minuteMs);
    const beganMs = fleet.app.clock.nowMs();
    await ingest(device, reading(mac, { bootId: 'x' }));
    expect(Date.parse((await find(site, mac))?.lastSeenAt ?? '')).toBeGreaterThanOrEqual(beganMs);
  });

  it('stores a segment and its markers for 90 days from measurement or arrival, whichever is later', async () => {
    const { mac, device, orgId } = await newDevice();
    const beganSecs = Math.floor(fleet.app.clock.nowMs() / 1000);
    const [old, ahead] = [
      reading(mac, { timestampMs: Date.UTC(2020, 0, 1) }),
      reading(mac, { timestampMs: fleet.app.clock.nowMs() + 9 * minuteMs }),
    ];
    await ingest(device, old, ahead);
    const { store } = fleet.app.gateway.services;
    const expiry = async ({ batchId }: FullReading): Promise<[number, number]> => {
      const partition = await partitionOf({ orgId, mac });
      const marker = await store.get('processed_batches', { batch_id: `${partition}/${batchId}` });
      const item = await store.get('device_readings', { hardware_id: partition, ts_batch: String(marker?.segment) });
      return [Number(item?.expiration_time) - 90 * 86_400, Number(marker?.expiration_time) - 90 * 86_400];
    };
    const [oldSecs, oldMarkerSecs] = await expiry(old);
    expect(oldSecs).toBeGreaterThanOrEqual(beganSecs);
    expect(oldSecs).toBeLessThanOrEqual(beganSecs + 30);
    expect(oldMarkerSecs).toBe(oldSecs);
    const aheadSecs = Math.floor(ahead.timestampMs / 1000);
    expect(await expiry(ahead)).toEqual([aheadSecs, aheadSecs]);
  });

  it('accepts a batch id again after its marker has expired, and not before', async () => {
    const { mac, device, ...site } = await newDevice();
    const sent = reading(mac);
    await ingest(device, sent);
    move(90 * dayMs - minuteMs);
    expect(kindsOf(await ingest(device, sent))).toEqual(['DUPLICATE']);
    move(2 * minuteMs);
    expect(kindsOf(await ingest(device, { ...sent, sensors: { humidityPct: 7 } }, sent))).toEqual([
      'STORED',
      'CONFLICT',
    ]);
    expect(kindsOf(await ingest(device, { ...sent, sensors: { humidityPct: 7 } }))).toEqual(['DUPLICATE']);
    expect((await find(site, mac))?.latestReading?.sensors).toMatchObject({ humidityPct: 7, bme280TempC: null });
  });

  it('allows device keys and org clients, and refuses the platform admin', async () => {
    const { mac, org } = await newDevice();
    expect(await fleet.app.admin.codeOf(op.IngestDocument, { input: { readings: [reading(mac)] } })).toBe('FORBIDDEN');
    expect(kindsOf(await ingest(org, reading(mac)))).toEqual(['STORED']);
  });

  it('lists a shared batch id as settled only if it is stored for every device of the call that uses it', async () => {
    const { mac, device } = await newDevice();
    const sibling = newMac();
    await register(device, sibling);
    const [shared, own, both] = times(3, () => randomUUID()) as [string, string, string];
    const response = await ingest(
      device,
      reading(mac, { batchId: shared }),
      reading(sibling, { batchId: shared, sensors: { bme280TempC: 999 } }),
      reading(mac, { batchId: own }),
      reading(sibling, { batchId: both }),
      reading(mac, { batchId: both }),
    );
    expect(kindsOf(response)).toEqual(['STORED', 'REJECTED', 'STORED', 'STORED', 'STORED']);
    expect(response.settledBatchIds).toEqual([own, both]);
  });

  it('responds to more than 100 readings with status 400, because the caller is at fault', async () => {
    const { mac, device } = await newDevice();
    const { status, errors } = await device.send(
      op.IngestDocument,
      { input: { readings: times(101, () => reading(mac)) } },
      { accept: 'application/graphql-response+json' },
    );
    expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });
});
