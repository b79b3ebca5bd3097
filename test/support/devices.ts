import { randomBytes, randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type Metric, metrics } from '../../src/devices/reading.js';
import { Caller, type FullReading, newOrg, startTestApp, type TestApp } from './app.js';
import * as op from './operations.js';

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

export const times = <T>(count: number, task: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => task(i));
export const iso = (ms: number): string => new Date(ms).toISOString();

export const newMac = (): string =>
  randomBytes(6)
    .toString('hex')
    .toUpperCase()
    .replace(/..(?!$)/g, '$&:');

export const registration = (
  hardwareId: string,
  overrides: Partial<op.RegisterDeviceInput> = {},
): op.RegisterDeviceInput => ({
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.16',
  capabilities: { sensors: ['bme280', 'soil_moisture'], features: [{ name: 'deep_sleep', enabled: true }] },
  ...overrides,
});

export const register = async (caller: Caller, hardwareId: string, overrides: Partial<op.RegisterDeviceInput> = {}) =>
  (await caller.ask(op.RegisterDeviceDocument, { input: registration(hardwareId, overrides) })).registerDevice;

export const ingest = async (caller: Caller, ...readings: FullReading[]) =>
  (await caller.ask(op.IngestDocument, { input: { readings } })).ingest;
type Ingested = Awaited<ReturnType<typeof ingest>>;
export const kindsOf = ({ verdicts }: Ingested) => verdicts.map(({ kind }) => kind);

/** The issues of an operation that must fail with BAD_USER_INPUT. */
export async function issuesOf<T, V>(caller: Caller, document: TypedDocumentNode<T, V> | string, variables: V) {
  const { errors } = await caller.send(document, variables);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues ?? [];
}

/** A reading as one item of the partition `hardware_id`, for comparisons. */
export const singleReading = (hardware_id: string, sent: op.ReadingInput) => ({
  hardware_id,
  ts_batch: `${sent.timestampMs}#${sent.batchId}`,
  timestamp_ms: sent.timestampMs ?? 0,
  batch_id: sent.batchId ?? '',
  boot_id: sent.bootId ?? '',
  firmware_version: sent.firmwareVersion ?? '',
  friendly_name: sent.friendlyName ?? 'Greenhouse',
  sensors: Object.fromEntries(
    Object.entries(sent.sensors as Record<Metric, number>).map(([name, value]) => [
      metrics[name as Metric].attribute,
      value,
    ]),
  ),
  sensor_status: { bme280: 'ok', ds18b20: 'ok', soil_moisture: 'error' },
  payload_hash: 'h'.repeat(43),
  expiration_time: 4_000_000_000,
});

/** An org with a key of its devices, on the first gateway (`device`) and on the second (`elsewhere`). */
export interface Site {
  readonly orgId: string;
  readonly accessToken: string;
  readonly org: Caller;
  readonly device: Caller;
  readonly elsewhere: Caller;
}
export type DeviceSite = Site & { readonly mac: string };

/**
 * Two gateways on one store and helpers for devices, for the tests of one file. Undoes moves of the clock after each
 * test.
 */
export function useDevices() {
  let app: TestApp;
  let other: TestApp;
  let shared: Site;
  let movedMs = 0;
  beforeAll(async () => {
    app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
    other = await app.another();
    shared = await newSite();
  });
  afterEach(() => move(-movedMs));
  afterAll(() => Promise.all([app.stop(), other.stop()]));

  function move(ms: number): void {
    app.clock.advance(ms);
    movedMs += ms;
  }

  async function newSite(overrides: Partial<op.RegisterOrgInput> = {}): Promise<Site> {
    const { orgId, accessToken, caller } = await newOrg(app, overrides);
    const { createApiKey } = await caller.ask(op.CreateApiKeyDocument, { input: {} });
    const key = { 'x-api-key': createApiKey.secret };
    return { orgId, accessToken, org: caller, device: new Caller(app.url, key), elsewhere: new Caller(other.url, key) };
  }

  /** A new device, by default of a site that it shares with the devices of other tests. */
  async function newDevice(overrides: Partial<op.RegisterDeviceInput> = {}, site: Site = shared): Promise<DeviceSite> {
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

  // With the admin key, because a token would expire when a test moves the clock.
  const find = async ({ orgId }: Pick<Site, 'orgId'>, hardwareId: string) =>
    (await app.admin.ask(op.DeviceOfDocument, { orgId, hardwareId })).org?.device;
  const page = async (variables: op.ReadingsOfQueryVariables) =>
    (await app.admin.ask(op.ReadingsOfDocument, variables)).org?.device?.readings;
  const batchesOf = async (
    { orgId, mac }: Pick<DeviceSite, 'orgId' | 'mac'>,
    range: { from?: string; to?: string } = {},
  ) => (await page({ orgId, hardwareId: mac, first: 1000, ...range }))?.nodes.map(({ batchId }) => batchId);
  /** The partition key of the readings of a device. */
  const partitionOf = async (site: Pick<DeviceSite, 'orgId' | 'mac'>): Promise<string> =>
    `${site.orgId}/${site.mac}/${(await find(site, site.mac))?.confirmationId.slice(-12)}`;

  return {
    /** The first gateway. */
    get app() {
      return app;
    },
    /** The second gateway. */
    get other() {
      return other;
    },
    move,
    newSite,
    newDevice,
    reading,
    find,
    page,
    batchesOf,
    partitionOf,
  };
}
