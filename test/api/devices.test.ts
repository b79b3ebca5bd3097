import { randomBytes, randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import WebSocket from 'ws';
import { equals } from '../../src/dynamo/expression.js';
import {
  adminKey,
  Caller,
  type FullReading,
  newOrg,
  type PublicError,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;

let app: TestApp;
let other: TestApp;
let shared: Site;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  shared = await newSite();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

// What a test has opened or moved, it does not leave to the next.
const opened = new Set<() => void>();
let movedMs = 0;
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
  move(-movedMs);
});

function move(ms: number): void {
  app.clock.advance(ms);
  movedMs += ms;
}

const times = <T>(count: number, task: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => task(i));

/** An org and a key of its devices, on this gateway and on the other. */
interface Site {
  readonly orgId: string;
  readonly accessToken: string;
  readonly org: Caller;
  readonly device: Caller;
  readonly elsewhere: Caller;
}

async function newSite(): Promise<Site> {
  const { orgId, accessToken, caller } = await newOrg(app);
  const { createApiKey } = await caller.ask(op.CreateApiKeyDocument, { input: {} });
  const key = { 'x-api-key': createApiKey.secret };
  return { orgId, accessToken, org: caller, device: new Caller(app.url, key), elsewhere: new Caller(other.url, key) };
}

const newMac = (): string =>
  randomBytes(6)
    .toString('hex')
    .toUpperCase()
    .replace(/..(?!$)/g, '$&:');

const registration = (hardwareId: string, overrides: Partial<op.RegisterDeviceInput> = {}): op.RegisterDeviceInput => ({
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.16',
  capabilities: { sensors: ['bme280', 'soil_moisture'], features: [{ name: 'deep_sleep', enabled: true }] },
  ...overrides,
});

const register = async (by: Caller, hardwareId: string, overrides: Partial<op.RegisterDeviceInput> = {}) =>
  (await by.ask(op.RegisterDeviceDocument, { input: registration(hardwareId, overrides) })).registerDevice;

/** A device like no other; of a site that it shares with others, unless one is named. */
async function newDevice(
  overrides: Partial<op.RegisterDeviceInput> = {},
  site = shared,
): Promise<Site & { readonly mac: string }> {
  const mac = newMac();
  await register(site.device, mac, overrides);
  return { ...site, mac };
}

const bootId = randomUUID();
const reading = (hardwareId: string, overrides: Partial<FullReading> = {}): FullReading => ({
  hardwareId,
  batchId: `b-${randomUUID()}`,
  timestampMs: app.clock.nowMs() - minuteMs,
  bootId,
  firmwareVersion: '1.0.16',
  sensors: { bme280TempC: 21.5, humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
  ...overrides,
});

const ingest = async (by: Caller, ...readings: FullReading[]) =>
  (await by.ask(op.IngestDocument, { input: { readings } })).ingest;
type Ingested = Awaited<ReturnType<typeof ingest>>;
const kindsOf = ({ verdicts }: Ingested) => verdicts.map(({ kind }) => kind);

// Asked as the admin: its key outlives any move of the clock.
const find = async ({ orgId }: Pick<Site, 'orgId'>, hardwareId: string) =>
  (await app.admin.ask(op.DeviceOfDocument, { orgId, hardwareId })).org?.device;
const page = async (variables: op.ReadingsOfQueryVariables) =>
  (await app.admin.ask(op.ReadingsOfDocument, variables)).org?.device?.readings;
const batchesOf = async (
  { orgId, mac }: { readonly orgId: string; readonly mac: string },
  range: { from?: string; to?: string } = {},
) => (await page({ orgId, hardwareId: mac, first: 1000, ...range }))?.nodes.map(({ batchId }) => batchId);
/** The partition key of a device's readings. */
const partitionOf = async (site: { readonly orgId: string; readonly mac: string }): Promise<string> =>
  `${site.orgId}/${site.mac}/${(await find(site, site.mac))?.confirmationId.slice(-12)}`;
const iso = (ms: number): string => new Date(ms).toISOString();

async function issuesOf<T, V>(by: Caller, document: TypedDocumentNode<T, V> | string, variables: V) {
  const { errors } = await by.send(document, variables);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues ?? [];
}

describe('registerDevice', () => {
  it('makes a device known, as it described itself', async () => {
    const site = await newSite();
    const mac = newMac();
    const beganMs = app.clock.nowMs();
    const input = registration(mac, { friendlyName: 'Greenhouse 1' });
    const { registerDevice } = await site.device.ask(op.RegisterDeviceDocument, { input });
    expect(registerDevice.created).toBe(true);
    const { bootId: lastBootId, ...described } = input;
    expect(registerDevice.device).toMatchObject({ ...described, lastBootId });
    expect(registerDevice.device.confirmationId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(Date.parse(registerDevice.device.firstRegisteredAt)).toBeGreaterThanOrEqual(beganMs);
    expect(registerDevice.device.lastSeenAt).toBe(registerDevice.device.firstRegisteredAt);
    expect(await find(site, mac)).toEqual({ ...registerDevice.device, latestReading: null });
  });

  it('sent many times at once, over two gateways, agrees on one confirmation id, and one of them created the device', async () => {
    const site = await newSite();
    const mac = newMac();
    const all = await Promise.all(times(20, (i) => register(i % 2 ? site.device : site.elsewhere, mac)));
    expect(new Set(all.map(({ device }) => device.confirmationId)).size).toBe(1);
    expect(new Set(all.map(({ device }) => device.firstRegisteredAt)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect((await find(site, mac))?.confirmationId).toBe(all[0]?.device.confirmationId);
  });

  it('again keeps confirmation id, first registration and, where none is sent, the name; the rest is brought up to date', async () => {
    const site = await newSite();
    const mac = newMac();
    const { device: first } = await register(site.device, mac, { friendlyName: 'North' });
    move(5000);
    const next = registration(mac, {
      firmwareVersion: '2.0.0',
      capabilities: { sensors: ['ds18b20'], features: [{ name: 'ota', enabled: false }] },
    });
    for (const input of [next, { ...next, friendlyName: null }]) {
      const { device, created } = (await site.elsewhere.ask(op.RegisterDeviceDocument, { input })).registerDevice;
      expect(created).toBe(false);
      expect(device).toMatchObject({
        id: first.id,
        confirmationId: first.confirmationId,
        firstRegisteredAt: first.firstRegisteredAt,
        friendlyName: 'North',
        firmwareVersion: '2.0.0',
        capabilities: next.capabilities,
        lastBootId: next.bootId,
      });
      expect(Date.parse(device.lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(first.lastSeenAt) + 5000);
    }
    expect((await register(site.device, mac, { friendlyName: 'South' })).device.friendlyName).toBe('South');
  });

  it('keeps a name that the device was given meanwhile', async () => {
    const { orgId, mac, device } = await newDevice({ friendlyName: 'Old' });
    await app.admin.ask(op.RenameDeviceDocument, { orgId, hardwareId: mac, friendlyName: 'New' });
    expect((await register(device, mac)).device.friendlyName).toBe('New');
  });

  it('in two orgs under one MAC makes two devices', async () => {
    const [one, two] = [await newSite(), await newSite()];
    const mac = newMac();
    const [first, second] = [await register(one.device, mac, { friendlyName: 'One' }), await register(two.device, mac)];
    expect([first.created, second.created]).toEqual([true, true]);
    expect(second.device.confirmationId).not.toBe(first.device.confirmationId);
    expect(second.device.id).not.toBe(first.device.id);
    expect(await find(one, mac)).toMatchObject({ friendlyName: 'One' });
    expect(await find(two, mac)).toMatchObject({ friendlyName: null });
  });

  it('never moves the moment it was last seen back', async () => {
    const { mac, device, ...site } = await newDevice();
    move(10 * minuteMs);
    const { device: later } = await register(device, mac);
    move(-5 * minuteMs);
    const input = registration(mac, { firmwareVersion: '3' });
    const { device: behind, created } = (await device.ask(op.RegisterDeviceDocument, { input })).registerDevice;
    expect(created).toBe(false);
    expect(behind).toMatchObject({
      lastSeenAt: later.lastSeenAt,
      confirmationId: later.confirmationId,
      firmwareVersion: '3',
      lastBootId: input.bootId,
    });
    move(-minuteMs);
    await ingest(device, reading(mac));
    expect((await find(site, mac))?.lastSeenAt).toBe(later.lastSeenAt);
  });

  it('says everything that is wrong, each with its path', async () => {
    const { device } = await newSite();
    const input = registration('aa:bb:cc:dd:ee', {
      bootId: 'c232ab00-9414-11ec-b3c8-9f68deced846',
      firmwareVersion: 'v'.repeat(65),
      friendlyName: 'Größe',
      capabilities: {
        sensors: ['bme280', 'Upper', 'bme280', ...times(31, (i) => `s${i}`)],
        features: [
          { name: '', enabled: true },
          { name: 'x'.repeat(33), enabled: true },
        ],
      },
    });
    expect((await issuesOf(device, op.RegisterDeviceDocument, { input })).map(({ path }) => path)).toEqual([
      'input.hardwareId',
      'input.bootId',
      'input.firmwareVersion',
      'input.friendlyName',
      'input.capabilities.sensors',
      'input.capabilities.sensors.1',
      'input.capabilities.sensors.2',
      'input.capabilities.features.0',
      'input.capabilities.features.1',
    ]);
  });

  it.each<[string, Partial<op.RegisterDeviceInput>, string]>([
    ['a MAC without colons', { hardwareId: 'AABBCCDDEEFF' }, 'input.hardwareId'],
    ['a MAC with a line after it', { hardwareId: 'AA:BB:CC:DD:EE:FF\n' }, 'input.hardwareId'],
    ['a MAC of seven bytes', { hardwareId: 'AA:BB:CC:DD:EE:FF:00' }, 'input.hardwareId'],
    ['an empty name', { friendlyName: '' }, 'input.friendlyName'],
    ['a name of 65 characters', { friendlyName: 'n'.repeat(65) }, 'input.friendlyName'],
    ['no firmware', { firmwareVersion: '' }, 'input.firmwareVersion'],
    [
      '33 features',
      { capabilities: { sensors: [], features: times(33, (i) => ({ name: `f${i}`, enabled: true })) } },
      'input.capabilities.features',
    ],
  ])('refuses %s, and makes nothing known', async (_what, overrides, path) => {
    const site = await newSite();
    const mac = newMac();
    expect(
      await issuesOf(site.device, op.RegisterDeviceDocument, { input: registration(mac, overrides) }),
    ).toMatchObject([{ path }]);
    expect(await find(site, mac)).toBeNull();
  });

  it('takes the longest that it allows', async () => {
    const { device } = await newSite();
    const longest = times(32, (i) => `a${String(i).padStart(2, '0')}${'x'.repeat(29)}`);
    const capabilities = { sensors: longest, features: longest.map((name) => ({ name, enabled: false })) };
    const made = await register(device, newMac(), {
      friendlyName: '~'.repeat(64),
      firmwareVersion: 'v'.repeat(64),
      capabilities,
    });
    expect(made.device.capabilities.sensors).toEqual(longest);
    expect(new Set(made.device.capabilities.features.map(({ name }) => name))).toEqual(new Set(longest));
  });

  it('is for devices and org clients, not for the platform admin or nobody', async () => {
    const site = await newSite();
    const variables = { input: registration(newMac()) };
    expect(await app.admin.codeOf(op.RegisterDeviceDocument, variables)).toBe('FORBIDDEN');
    expect(await app.anonymous.codeOf(op.RegisterDeviceDocument, variables)).toBe('UNAUTHENTICATED');
    expect((await site.org.ask(op.RegisterDeviceDocument, variables)).registerDevice.created).toBe(true);
  });
});

describe('renameDevice', () => {
  it('names a device, and with null takes the name away; both are audited', async () => {
    const { orgId, mac, org } = await newDevice();
    const before = await find({ orgId }, mac);
    const rename = async (friendlyName: string | null) =>
      (await org.ask(op.RenameDeviceDocument, { hardwareId: mac, friendlyName })).renameDevice;
    const { latestReading: _none, ...rest } = before ?? {};
    expect(await rename('Barn')).toEqual({ ...rest, friendlyName: 'Barn' });
    expect(await find({ orgId }, mac)).toEqual({ ...before, friendlyName: 'Barn' });
    expect(await rename(null)).toMatchObject({ friendlyName: null });
    expect(await find({ orgId }, mac)).toEqual(before);
    const { org: audited } = await org.ask(op.AuditDocument, { entityId: `$DEVICE:${mac}` });
    const renames = audited?.auditEvents.nodes.filter(({ action }) => action === 'device_renamed') ?? [];
    expect(renames.map(({ action, entityId, details }) => [action, entityId, details])).toEqual([
      ['device_renamed', `$DEVICE:${mac}`, []],
      ['device_renamed', `$DEVICE:${mac}`, [{ name: 'friendly_name', value: 'Barn', previousValue: null }]],
    ]);
  });

  it('finds neither an unknown device nor a foreign one, and makes none', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({ friendlyName: 'Theirs' }, await newSite())];
    const unknown = newMac();
    for (const hardwareId of [unknown, theirs.mac])
      expect(await mine.org.codeOf(op.RenameDeviceDocument, { hardwareId, friendlyName: 'Mine' })).toBe('NOT_FOUND');
    expect(
      await mine.org.codeOf(op.RenameDeviceDocument, {
        orgId: theirs.orgId,
        hardwareId: theirs.mac,
        friendlyName: 'Mine',
      }),
    ).toBe('NOT_FOUND');
    expect(await find(mine, unknown)).toBeNull();
    expect(await find(theirs, theirs.mac)).toMatchObject({ friendlyName: 'Theirs' });
    const { org } = await mine.org.ask(op.AuditDocument, { entityId: `$DEVICE:${unknown}` });
    expect(org?.auditEvents.nodes).toEqual([]);
  });

  it('says everything that is wrong, and is not for devices', async () => {
    const { mac, org, device } = await newDevice();
    expect(
      (await issuesOf(org, op.RenameDeviceDocument, { hardwareId: 'x', friendlyName: '' })).map(({ path }) => path),
    ).toEqual(['hardwareId', 'friendlyName']);
    expect(await device.codeOf(op.RenameDeviceDocument, { hardwareId: mac, friendlyName: 'Me' })).toBe('FORBIDDEN');
  });
});

describe('devices', () => {
  it('of another org are as if they were not there; an address is the same in either case, and one that is none is refused', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    for (const hardwareId of [theirs.mac, newMac()])
      expect((await mine.org.ask(op.DeviceOfDocument, { hardwareId })).org?.device).toBeNull();
    for (const hardwareId of ['', '../../x', `${theirs.orgId}/${theirs.mac}`]) {
      expect(await issuesOf(mine.org, op.DeviceOfDocument, { hardwareId })).toMatchObject([{ path: 'hardwareId' }]);
    }
    for (const hardwareId of [mine.mac, mine.mac.toLowerCase()])
      expect((await mine.org.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.hardwareId).toBe(mine.mac);
  });

  it('are listed most recently seen first, in pages that add up to the whole', async () => {
    const site = await newSite();
    const macs = times(7, newMac);
    for (const mac of macs) {
      move(1000);
      await register(site.device, mac);
    }
    move(2 * minuteMs);
    await ingest(site.device, reading(macs[2] as string));
    const inOrder = [macs[2], ...macs.filter((_, i) => i !== 2).reverse()];
    const pages: string[][] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await app.admin.ask(op.DevicesDocument, { orgId: site.orgId, first: 3, after });
      pages.push(org?.devices.nodes.map(({ hardwareId }) => hardwareId) ?? []);
      after = org?.devices.pageInfo.endCursor;
      if (!org?.devices.pageInfo.hasNextPage) break;
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(inOrder);
  });

  it('seen in the same millisecond are all listed once', async () => {
    const site = await newSite();
    const macs = times(12, newMac);
    await Promise.all(macs.map((mac) => register(site.device, mac)));
    const found: string[] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await app.admin.ask(op.DevicesDocument, { orgId: site.orgId, first: 1, after });
      found.push(...(org?.devices.nodes.map(({ hardwareId }) => hardwareId) ?? []));
      after = org?.devices.pageInfo.endCursor;
      if (!org?.devices.pageInfo.hasNextPage) break;
    }
    expect(found.toSorted()).toEqual(macs.toSorted());
  });

  it('and readings open to no foreign or edited cursor, and to no page that is too long', async () => {
    const [one, two] = [await newDevice(), await newDevice({}, await newSite())];
    const sibling = newMac();
    await register(one.device, sibling);
    for (const { device, mac } of [one, two]) await ingest(device, reading(mac), reading(mac));
    const devices = (await one.org.ask(op.DevicesDocument, { first: 1 })).org?.devices.pageInfo.endCursor as string;
    const readings = (await page({ orgId: one.orgId, hardwareId: one.mac, first: 1 }))?.pageInfo.endCursor as string;
    const edited = (cursor: string) => `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'Q' : 'A'}${cursor.at(-1)}`;
    for (const after of [edited(devices), readings, 'x', '']) {
      expect(await issuesOf(one.org, op.DevicesDocument, { after })).toMatchObject([{ path: 'after' }]);
    }
    expect(await issuesOf(two.org, op.DevicesDocument, { after: devices })).toMatchObject([{ path: 'after' }]);
    for (const after of [edited(readings), devices]) {
      expect(await issuesOf(one.org, op.ReadingsOfDocument, { hardwareId: one.mac, after })).toMatchObject([
        { path: 'after' },
      ]);
    }
    expect(await issuesOf(one.org, op.ReadingsOfDocument, { hardwareId: sibling, after: readings })).toMatchObject([
      { path: 'after' },
    ]);
    expect(await issuesOf(two.org, op.ReadingsOfDocument, { hardwareId: two.mac, after: readings })).toMatchObject([
      { path: 'after' },
    ]);
    for (const first of [0, 101])
      expect(await issuesOf(one.org, op.DevicesDocument, { first })).toMatchObject([{ path: 'first' }]);
    for (const first of [0, 1001]) {
      const short =
        'query($mac: String!, $first: Int) { org { device(hardwareId: $mac) { readings(first: $first) { nodes { batchId } } } } }';
      expect(await issuesOf(one.org, short, { mac: one.mac, first })).toMatchObject([{ path: 'first' }]);
    }
  });

  it('and readings are nodes, for those of their org', async () => {
    const [one, two] = [await newDevice(), await newDevice({}, await newSite())];
    const sent = reading(one.mac, { batchId: '2024-01-01T00:00:00Z:7' });
    await ingest(one.device, sent);
    const found = await find(one, one.mac);
    const query =
      'query($id: ID!) { node(id: $id) { __typename id ... on Device { hardwareId } ... on Reading { batchId timestampMs } } }';
    const node = async (by: Caller, id = '') => (await by.ask<{ node: unknown }, { id: string }>(query, { id })).node;
    const { batchId, timestampMs } = sent;
    for (const by of [one.org, app.admin]) {
      expect(await node(by, found?.id)).toEqual({ __typename: 'Device', id: found?.id, hardwareId: one.mac });
      expect(await node(by, found?.latestReading?.id)).toEqual({
        __typename: 'Reading',
        id: found?.latestReading?.id,
        batchId,
        timestampMs,
      });
    }
    for (const by of [two.org, one.device]) {
      for (const id of [found?.id, found?.latestReading?.id]) expect(await node(by, id)).toBeNull();
    }
    const made = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const id of [
      made('Device', one.orgId, newMac()),
      made('Device', one.orgId, 'x'),
      made('Reading', one.orgId, one.mac, String(timestampMs), 'other'),
      made('Reading', one.orgId, one.mac, 'x', batchId),
      made('Reading', one.orgId, one.mac, String(timestampMs)),
    ]) {
      expect(await node(one.org, id)).toBeNull();
    }
  });
});

describe('ingest', () => {
  it('stores a reading, as it was sent', async () => {
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

  it('takes a sensor that is left out as not measured', async () => {
    const { mac, device, ...site } = await newDevice();
    const sent = reading(mac, { sensors: {}, sensorStatus: {} });
    expect(kindsOf(await ingest(device, sent))).toEqual(['STORED']);
    const none = { bme280TempC: null, ds18b20TempC: null, humidityPct: null, pressureHpa: null, soilMoisturePct: null };
    expect((await find(site, mac))?.latestReading).toMatchObject({
      sensors: none,
      sensorStatus: { bme280: null, ds18b20: null, soilMoisture: null },
    });
  });

  it('takes 1 to 100 readings a call', async () => {
    const { mac, device, ...site } = await newDevice();
    for (const count of [0, 101]) {
      const readings = times(count, () => reading(mac));
      expect(await device.codeOf(op.IngestDocument, { input: { readings } })).toBe('BAD_USER_INPUT');
    }
    expect(await batchesOf({ ...site, mac })).toEqual([]);
    expect(kindsOf(await ingest(device, ...times(100, () => reading(mac))))).toEqual(times(100, () => 'STORED'));
    expect(await batchesOf({ ...site, mac })).toHaveLength(100);
  });

  it('sent again is a duplicate, on any gateway, however the boot id is spelt', async () => {
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
    ['value less', () => ({ sensors: { bme280TempC: 21.5 } })],
    ['sensor for the same value', () => ({ sensors: { ds18b20TempC: 21.5, humidityPct: 40 } })],
    ['status', () => ({ sensorStatus: { bme280: 'ERROR' } })],
    ['time', ({ timestampMs }) => ({ timestampMs: timestampMs + 1 })],
    ['boot', () => ({ bootId: randomUUID() })],
    ['firmware', () => ({ firmwareVersion: '1.0.17' })],
    ['name', () => ({ friendlyName: 'Another' })],
  ])('under the same batch id with another %s is a conflict, and overwrites nothing', async (_what, change) => {
    const { mac, device, ...site } = await newDevice();
    const sent = reading(mac);
    await ingest(device, sent);
    const before = await find(site, mac);
    const answer = await ingest(device, { ...sent, ...change(sent) });
    expect(answer).toMatchObject({
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
    ['INVALID_TIMESTAMP', () => ({ timestampMs: app.clock.nowMs() + 0.5 })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: Date.UTC(2000, 0, 1) - 1 })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: Date.UTC(2100, 0, 1) })],
    ['INVALID_TIMESTAMP', () => ({ timestampMs: app.clock.nowMs() + 11 * minuteMs })],
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
  ])('rejects with %s what breaks that rule, and not its neighbours', async (code, broken) => {
    const { mac, device, ...site } = await newDevice();
    const [before, bad, after] = [reading(mac), reading(mac, broken()), reading(mac)];
    const answer = await ingest(device, before, bad, after);
    expect(answer).toEqual({
      settledBatchIds: [before.batchId, after.batchId],
      verdicts: [
        { index: 0, batchId: before.batchId, kind: 'STORED', error: null },
        { index: 1, batchId: bad.batchId, kind: 'REJECTED', error: { code, message: expect.any(String) } },
        { index: 2, batchId: after.batchId, kind: 'STORED', error: null },
      ],
    });
    expect(await batchesOf({ ...site, mac })).toHaveLength(2);
  });

  it('takes what is just within the rules', async () => {
    const { mac, device } = await newDevice();
    const readings = [
      { batchId: 'b'.repeat(256) },
      { batchId: 'AZaz09_.:-' },
      { timestampMs: Date.UTC(2000, 0, 1) },
      { timestampMs: app.clock.nowMs() + 9 * minuteMs },
      { sensors: { bme280TempC: -40, ds18b20TempC: -55, humidityPct: 0, pressureHpa: 300, soilMoisturePct: 0 } },
      { sensors: { bme280TempC: 85, ds18b20TempC: 125, humidityPct: 100, pressureHpa: 1100, soilMoisturePct: 100 } },
    ].map((overrides) => reading(mac, overrides));
    expect(kindsOf(await ingest(device, ...readings))).toEqual(readings.map(() => 'STORED'));
  });

  it('judges each of a mixed call on its own', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    const [known, taken] = [reading(mine.mac), reading(mine.mac)];
    await ingest(mine.device, known, taken);
    const fresh = reading(mine.mac);
    const answer = await ingest(
      mine.device,
      { ...taken, sensors: {} },
      reading(theirs.mac),
      known,
      reading(mine.mac, { timestampMs: 1.5 }),
      fresh,
      reading(mine.mac, { batchId: '' }),
    );
    expect(kindsOf(answer)).toEqual(['CONFLICT', 'REJECTED', 'DUPLICATE', 'REJECTED', 'STORED', 'REJECTED']);
    expect(answer.verdicts.map(({ error }) => error?.code)).toEqual([
      'IDEMPOTENCY_CONFLICT',
      'DEVICE_NOT_FOUND',
      undefined,
      'INVALID_TIMESTAMP',
      undefined,
      'INVALID_BATCH_ID',
    ]);
    expect(answer.verdicts.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(answer.settledBatchIds).toEqual([known.batchId, fresh.batchId]);
    expect((await batchesOf(mine))?.toSorted()).toEqual([known, taken, fresh].map(({ batchId }) => batchId).toSorted());
    expect(await batchesOf(theirs)).toEqual([]);
  });

  it('judges a batch id that comes again in a call by what its first came to', async () => {
    const { mac, device, ...site } = await newDevice();
    const [a, b, c, d] = [reading(mac), reading(mac), reading(mac), reading(mac)];
    const changed = (of: FullReading) => ({ ...of, sensors: { humidityPct: 99 } });
    const broken = (of: FullReading) => ({ ...of, bootId: 'x' });
    await ingest(device, c, d);
    const answer = await ingest(
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
    expect(kindsOf(answer)).toEqual([
      ...['STORED', 'DUPLICATE', 'CONFLICT'],
      ...['REJECTED', 'STORED', 'DUPLICATE', 'CONFLICT'],
      ...['DUPLICATE', 'CONFLICT', 'DUPLICATE'],
      ...['CONFLICT', 'DUPLICATE', 'REJECTED', 'CONFLICT'],
    ]);
    expect(answer.settledBatchIds).toEqual([a, b, c, d].map(({ batchId }) => batchId));
    expect(await batchesOf({ ...site, mac })).toHaveLength(4);
  });

  it('keeps apart the same batch id of two devices, and of two orgs', async () => {
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

  it('of 100 at once stores what is new and knows what is not, all over the call', async () => {
    const { mac, device, ...site } = await newDevice();
    const all = times(100, (i) => reading(mac, { timestampMs: app.clock.nowMs() - 1000 * i - 1 }));
    const [seen, taken] = [all.filter((_, i) => i % 7 === 0), all.filter((_, i) => i % 7 === 3)];
    await ingest(device, ...seen, ...taken.map((each) => ({ ...each, firmwareVersion: 'other' })));
    const answer = await ingest(device, ...all);
    expect(kindsOf(answer)).toEqual(
      times(100, (i) => (i % 7 === 0 ? 'DUPLICATE' : i % 7 === 3 ? 'CONFLICT' : 'STORED')),
    );
    expect(answer.settledBatchIds).toEqual(all.filter((_, i) => i % 7 !== 3).map(({ batchId }) => batchId));
    expect(await batchesOf({ ...site, mac })).toEqual(all.map(({ batchId }) => batchId));
  });

  it('of the same readings at once, over two gateways, stores each once', async () => {
    const { mac, device, elsewhere, ...site } = await newDevice();
    const all = times(60, (i) => reading(mac, { timestampMs: app.clock.nowMs() - 1000 * i - 1 }));
    const answers = await Promise.all(
      times(6, (i) => ingest(i % 2 ? device : elsewhere, ...(i % 3 ? all : all.toReversed()))),
    );
    const stored = answers.flatMap(({ verdicts }) =>
      verdicts.filter(({ kind }) => kind === 'STORED').map(({ batchId }) => batchId),
    );
    expect(new Set(stored).size).toBe(stored.length);
    for (const kind of answers.flatMap(kindsOf)) expect(['STORED', 'DUPLICATE', 'RETRY']).toContain(kind);
    // Whatever was told to send again is sent again.
    expect(kindsOf(await ingest(device, ...all)).filter((kind) => kind === 'STORED')).toHaveLength(60 - stored.length);
    expect(await batchesOf({ ...site, mac })).toEqual(all.map(({ batchId }) => batchId));
  });

  it('of two contents under one batch id at once stores one of them', async () => {
    const { mac, device, elsewhere, ...site } = await newDevice();
    const sent = reading(mac);
    const answers = await Promise.all(
      times(10, (i) => ingest(i % 2 ? device : elsewhere, { ...sent, timestampMs: sent.timestampMs + i })),
    );
    expect(answers.flatMap(kindsOf).filter((kind) => kind === 'STORED')).toHaveLength(1);
    expect(answers.flatMap(kindsOf).filter((kind) => kind === 'DUPLICATE')).toEqual([]);
    expect(await batchesOf({ ...site, mac })).toHaveLength(1);
  });

  it('keeps with a reading the name that was sent, else the one the device had then; a rename is no conflict', async () => {
    const { mac, device, ...site } = await newDevice({ friendlyName: 'Before' });
    const nameOf = async () => (await find(site, mac))?.latestReading?.friendlyName;
    const rename = (friendlyName: string | null) =>
      app.admin.ask(op.RenameDeviceDocument, { orgId: site.orgId, hardwareId: mac, friendlyName });
    const nowMs = app.clock.nowMs();
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

  it('moves the moment a device was last seen, at most once a minute', async () => {
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

  it('takes a rejected reading for a sign of life', async () => {
    const { mac, device, ...site } = await newDevice();
    move(2 * minuteMs);
    const beganMs = app.clock.nowMs();
    await ingest(device, reading(mac, { bootId: 'x' }));
    expect(Date.parse((await find(site, mac))?.lastSeenAt ?? '')).toBeGreaterThanOrEqual(beganMs);
  });

  it('keeps a reading for 90 days from when it was measured or came, whichever is later, and its marker no shorter', async () => {
    const { mac, device, orgId } = await newDevice();
    const beganSecs = Math.floor(app.clock.nowMs() / 1000);
    const [old, ahead] = [
      reading(mac, { timestampMs: Date.UTC(2020, 0, 1) }),
      reading(mac, { timestampMs: app.clock.nowMs() + 9 * minuteMs }),
    ];
    await ingest(device, old, ahead);
    const { store } = app.gateway.services;
    const expiry = async ({ timestampMs, batchId }: FullReading): Promise<[number, number]> => {
      const partition = await partitionOf({ orgId, mac });
      const item = await store.get('device_readings', {
        hardware_id: partition,
        ts_batch: `${String(timestampMs).padStart(13, '0')}#${batchId}`,
      });
      const marker = await store.get('processed_batches', { batch_id: `${partition}/${batchId}` });
      return [Number(item?.expiration_time) - 90 * 86_400, Number(marker?.expiration_time) - 90 * 86_400];
    };
    const [oldSecs, oldMarkerSecs] = await expiry(old);
    expect(oldSecs).toBeGreaterThanOrEqual(beganSecs);
    expect(oldSecs).toBeLessThanOrEqual(beganSecs + 30);
    expect(oldMarkerSecs).toBe(oldSecs);
    const aheadSecs = Math.floor(ahead.timestampMs / 1000);
    expect(await expiry(ahead)).toEqual([aheadSecs, aheadSecs]);
  });

  it('takes a batch id again once its marker has run out, and not before', async () => {
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

  it('is for devices and org clients, not for the platform admin', async () => {
    const { mac, org } = await newDevice();
    expect(await app.admin.codeOf(op.IngestDocument, { input: { readings: [reading(mac)] } })).toBe('FORBIDDEN');
    expect(kindsOf(await ingest(org, reading(mac)))).toEqual(['STORED']);
  });
});

describe('reading back', () => {
  it('has as the latest the one measured last, not the one that came last', async () => {
    const { mac, device, ...site } = await newDevice();
    const nowMs = app.clock.nowMs();
    const [early, late] = [reading(mac, { timestampMs: nowMs - 5000 }), reading(mac, { timestampMs: nowMs - 1000 })];
    for (const each of [late, early, reading(mac, { timestampMs: Date.UTC(2000, 0, 1) })]) await ingest(device, each);
    expect((await find(site, mac))?.latestReading?.batchId).toBe(late.batchId);
  });

  it('goes from the start, inclusive, to the end, exclusive, newest first', async () => {
    const { mac, device, ...site } = await newDevice();
    const t = app.clock.nowMs() - 3_600_000;
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
        await issuesOf(app.admin, op.ReadingsOfDocument, { ...variables, from: iso(t + from), to: iso(t + to) }),
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

  it('goes on from a cursor also where the range has changed meanwhile', async () => {
    const { mac, device, orgId } = await newDevice();
    const t = app.clock.nowMs() - 3_600_000;
    await ingest(device, ...times(5, (i) => reading(mac, { timestampMs: t + i, batchId: `b${i}` })));
    const after = (await page({ orgId, hardwareId: mac, first: 2 }))?.pageInfo.endCursor;
    const ids = async (range: { from?: string; to?: string }) =>
      (await page({ orgId, hardwareId: mac, after, ...range }))?.nodes.map(({ batchId }) => batchId);
    expect(await ids({})).toEqual(['b2', 'b1', 'b0']);
    expect(await ids({ from: iso(t + 1) })).toEqual(['b2', 'b1']);
    expect(await ids({ to: iso(t + 2) })).toEqual(['b1', 'b0']);
    expect(await ids({ from: iso(t + 4) })).toEqual([]);
  });

  it('has pages that add up to the whole, up to 1000 long, whatever a page of the store holds', async () => {
    const { mac, device, elsewhere, orgId } = await newDevice({ friendlyName: 'n'.repeat(64) });
    const t = app.clock.nowMs() - 3_600_000;
    // Ten a millisecond, each over 1 KB.
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
      const answers = await Promise.all(
        times(5, (k) => ingest(k % 2 ? device : elsewhere, ...some.slice(100 * k, 100 * (k + 1)))),
      );
      expect(answers.flatMap(kindsOf).filter((kind) => kind !== 'STORED')).toEqual([]);
    }
    const newestFirst = all.map(({ batchId }) => batchId).toReversed();

    const where = equals('hardware_id', await partitionOf({ orgId, mac }));
    const cut = await app.gateway.services.store.query({
      table: 'device_readings',
      where,
      newestFirst: true,
      limit: 1000,
    });
    expect(cut.items.length).toBeLessThan(1000);

    for (const first of [1000, 499]) {
      const pages: string[][] = [];
      for (let after: string | null | undefined; ; ) {
        const answer = await page({ orgId, hardwareId: mac, first, after });
        pages.push(answer?.nodes.map(({ batchId }) => batchId) ?? []);
        after = answer?.pageInfo.endCursor;
        if (!answer?.pageInfo.hasNextPage) break;
      }
      expect(pages.slice(0, -1).every(({ length }) => length === first)).toBe(true);
      expect(pages.flat()).toEqual(newestFirst);
    }
    const { org } = await app.admin.ask(op.SeriesOfDocument, {
      orgId,
      hardwareId: mac,
      metric: 'HUMIDITY_PCT',
      from: iso(t),
      to: iso(t + 1000),
      stepSecs: 1,
    });
    expect(org?.device?.series).toMatchObject([{ count: 2500, min: 40.123, max: 40.123 }]);
  });
});

describe('a series', () => {
  const t = Date.UTC(2026, 0, 1);
  let site: Site & { readonly mac: string };
  beforeAll(async () => {
    site = await newDevice();
    const at = (offsetMs: number, humidityPct?: number) =>
      reading(site.mac, {
        timestampMs: t + offsetMs,
        sensors: { bme280TempC: 1, ...(humidityPct === undefined ? {} : { humidityPct }) },
      });
    await ingest(
      site.device,
      at(-1, 99),
      at(0, 10),
      at(10_000, 20),
      at(59_999, 60),
      at(60_000, 5),
      at(70_000),
      at(180_499, 7),
      at(180_500, 98),
    );
  });
  const series = async (range: Partial<op.SeriesOfQueryVariables> = {}) => {
    const variables = {
      orgId: site.orgId,
      hardwareId: site.mac,
      metric: 'HUMIDITY_PCT',
      from: iso(t),
      to: iso(t + 180_500),
      stepSecs: 60,
      ...range,
    } as const;
    return (await app.admin.ask(op.SeriesOfDocument, variables)).org?.device?.series;
  };

  it('has count, least, most and mean of each step, also of those in which nothing was measured', async () => {
    expect(await series()).toEqual([
      { at: iso(t), count: 3, min: 10, max: 60, mean: 30 },
      { at: iso(t + 60_000), count: 1, min: 5, max: 5, mean: 5 },
      { at: iso(t + 120_000), count: 0, min: null, max: null, mean: null },
      { at: iso(t + 180_000), count: 1, min: 7, max: 7, mean: 7 },
    ]);
    expect(await series({ metric: 'BME280_TEMP_C', stepSecs: 3600 })).toEqual([
      { at: iso(t), count: 6, min: 1, max: 1, mean: 1 },
    ]);
    expect(await series({ metric: 'SOIL_MOISTURE_PCT', stepSecs: 3600 })).toEqual([
      { at: iso(t), count: 0, min: null, max: null, mean: null },
    ]);
  });

  it('has up to 1000 points', async () => {
    const points = await series({ to: iso(t + 1_000_000), stepSecs: 1 });
    expect(points).toHaveLength(1000);
    expect(points?.reduce((sum, { count }) => sum + count, 0)).toBe(6);
  });

  it.each<[string, Partial<op.SeriesOfQueryVariables>, string]>([
    ['of 1001 points', { to: iso(t + 1_000_001), stepSecs: 1 }, 'stepSecs'],
    ['of no time', { to: iso(t) }, 'from'],
    ['that ends before it begins', { to: iso(t - 1) }, 'from'],
    ['with a step of 0', { stepSecs: 0 }, 'stepSecs'],
    ['with a negative step', { stepSecs: -60 }, 'stepSecs'],
  ])('%s is refused', async (_what, range, path) => {
    const variables = {
      orgId: site.orgId,
      hardwareId: site.mac,
      metric: 'HUMIDITY_PCT',
      from: iso(t),
      to: iso(t + 1),
      stepSecs: 60,
      ...range,
    } as const;
    expect(await issuesOf(app.admin, op.SeriesOfDocument, variables)).toMatchObject([{ path }]);
  });

  it.each<[string, string, string, number]>([
    ['before the first moment of the clock', '1960-01-01T00:00:00Z', '1961-01-01T00:00:00Z', 0],
    ['from before it to now', '1960-01-01T00:00:00Z', '2030-01-01T00:00:00Z', 7],
    ['to the far future', '2020-01-01T00:00:00Z', '2300-01-01T00:00:00Z', 7],
    ['in the far future', '2300-01-01T00:00:00Z', '2301-01-01T00:00:00Z', 0],
  ])('%s has what there is', async (_what, from, to, count) => {
    const points = await series({ from, to, stepSecs: 366 * 86_400 });
    expect(points?.reduce((sum, point) => sum + point.count, 0)).toBe(count);
  });
});

interface Following {
  readonly readings: op.ReadingFieldsFragment[];
  readonly codes: string[];
  readonly ended: () => boolean;
}
interface Payload {
  readonly data?: op.ReadingsSubscription | null;
  readonly errors?: readonly PublicError[];
}
type Follow = (
  url: string,
  credentials: Record<string, string>,
  variables: op.ReadingsSubscriptionVariables,
) => Promise<Following>;

const query = print(op.ReadingsDocument);

function taking() {
  const [readings, codes]: [op.ReadingFieldsFragment[], string[]] = [[], []];
  const take = ({ data, errors }: Payload): void => {
    if (data) readings.push(data.readings);
    for (const { extensions } of errors ?? []) codes.push(extensions.code);
  };
  return { readings, codes, take };
}

const overWebSocket: Follow = async (url, credentials, variables) => {
  const { readings, codes, take } = taking();
  let [ended, acknowledged] = [false, false];
  const socket = new WebSocket(url, 'graphql-transport-ws');
  opened.add(() => socket.terminate());
  socket.on('error', () => {});
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text)) as { type: string; payload?: unknown };
    if (type === 'connection_ack') acknowledged = true;
    if (type === 'next') take(payload as Payload);
    if (type === 'error') take({ errors: payload as PublicError[] });
    if (type === 'error' || type === 'complete') ended = true;
  });
  socket.on('close', () => {
    ended = true;
  });
  await until('the socket is let in', () => acknowledged);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  return { readings, codes, ended: () => ended };
};

const overEvents: Follow = async (url, credentials, variables) => {
  const { readings, codes, take } = taking();
  let ended = false;
  const controller = new AbortController();
  opened.add(() => controller.abort());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
    body: JSON.stringify({ query, variables }),
    signal: controller.signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    take((await response.json()) as Payload);
    return { readings, codes, ended: () => true };
  }
  const read = async () => {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^event: next\ndata: (.*)$/m.exec(block) ?? [];
        if (data) take(JSON.parse(data) as Payload);
        if (block.startsWith('event: complete')) ended = true;
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return { readings, codes, ended: () => ended };
};

describe.each([
  ['WebSocket', overWebSocket],
  ['SSE', overEvents],
] as const)('readings over %s', (_name, follow) => {
  it('bring what came to another gateway, in the order measured, and nothing that was measured earlier or by another', async () => {
    const { mac, elsewhere, orgId, accessToken, device } = await newDevice();
    const sibling = newMac();
    await register(device, sibling);
    let atMs = app.clock.nowMs() - 3_600_000;
    const next = () => reading(mac, { timestampMs: ++atMs });
    const past = next();
    await ingest(device, past);
    const following = await follow(app.url, { authorization: `Bearer ${accessToken}` }, { hardwareId: mac });
    const byAdmin = await follow(other.url, { 'x-admin-key': adminKey }, { orgId, hardwareId: mac });
    const sent: string[] = [];
    const send = async (...readings: FullReading[]) => {
      await ingest(elsewhere, ...readings);
      sent.push(...readings.map(({ batchId }) => batchId));
    };
    await until('a live one arrives at both', async () => {
      await send(next());
      return following.readings.length > 0 && byAdmin.readings.length > 0;
    });
    const [late, last] = [reading(mac, { timestampMs: atMs - 1_000_000 }), [next(), next(), next()]];
    await ingest(elsewhere, late, reading(sibling));
    await send(...last);
    for (const each of [following, byAdmin]) {
      await until('the last arrives', () => each.readings.some(({ batchId }) => batchId === last[2]?.batchId));
      const got = each.readings.map(({ batchId }) => batchId);
      expect(got).toEqual(sent.slice(-got.length));
      expect([each.codes, each.ended()]).toEqual([[], false]);
    }
    expect(following.readings.at(-1)).toEqual((await find({ orgId }, mac))?.latestReading);
    expect(await batchesOf({ orgId, mac })).toContain(late.batchId);
  });

  it('bring more at once than a page of the feed, each once', async () => {
    const { mac, device, accessToken } = await newDevice();
    const t = app.clock.nowMs() - 3_600_000;
    const following = await follow(app.url, { authorization: `Bearer ${accessToken}` }, { hardwareId: mac });
    let probes = 0;
    await until('a live one arrives', async () => {
      await ingest(device, reading(mac, { timestampMs: t + probes++ }));
      return following.readings.length > 0;
    });
    const all = times(250, (i) => reading(mac, { timestampMs: t + 100_000 + i }));
    for (const i of [0, 1, 2]) await ingest(device, ...all.slice(100 * i, 100 * (i + 1)));
    await until('the last arrives', () => following.readings.at(-1)?.batchId === all.at(-1)?.batchId);
    expect(following.readings.slice(-250).map(({ batchId }) => batchId)).toEqual(all.map(({ batchId }) => batchId));
  });

  it('are refused for what is not there, not the caller’s, or not for its kind', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({}, await newSite())];
    const credentials = { authorization: `Bearer ${mine.accessToken}` };
    const codesOf = async (by: Record<string, string>, variables: op.ReadingsSubscriptionVariables) => {
      const { codes } = await follow(app.url, by, variables);
      await until('it is refused', () => codes.length > 0);
      return codes;
    };
    expect(await codesOf(credentials, { hardwareId: newMac() })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { hardwareId: theirs.mac })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { orgId: theirs.orgId, hardwareId: theirs.mac })).toEqual(['NOT_FOUND']);
    expect(await codesOf(credentials, { hardwareId: 'x' })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf({ 'x-admin-key': adminKey }, { hardwareId: mine.mac })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf({ 'x-admin-key': adminKey }, { orgId: randomUUID(), hardwareId: mine.mac })).toEqual([
      'NOT_FOUND',
    ]);
  });
});
