import type { Device } from '../../src/devices/device.js';
import { ReadingBudget } from '../../src/devices/series.js';
import { type DeviceSite, dayMs, ingest, iso, issuesOf, minuteMs, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';

const fleet = useDevices();
const { newDevice, newSite, reading } = fleet;

describe('Device.series', () => {
  const t = Date.UTC(2026, 0, 1);
  let site: DeviceSite;
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
    return (await fleet.app.admin.ask(op.SeriesOfDocument, variables)).org?.device?.series;
  };

  it('returns count, min, max and mean of each step, including steps without readings', async () => {
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

  it('returns up to 1000 points', async () => {
    const points = await series({ to: iso(t + 1_000_000), stepSecs: 1 });
    expect(points).toHaveLength(1000);
    expect(points?.reduce((sum, { count }) => sum + count, 0)).toBe(6);
  });

  it.each<[string, Partial<op.SeriesOfQueryVariables>, string]>([
    ['1001 points', { to: iso(t + 1_000_001), stepSecs: 1 }, 'stepSecs'],
    ['an empty range', { to: iso(t) }, 'from'],
    ['a range that ends before it begins', { to: iso(t - 1) }, 'from'],
    ['a step of 0', { stepSecs: 0 }, 'stepSecs'],
    ['a negative step', { stepSecs: -60 }, 'stepSecs'],
  ])('refuses %s', async (_, range, path) => {
    const variables = {
      orgId: site.orgId,
      hardwareId: site.mac,
      metric: 'HUMIDITY_PCT',
      from: iso(t),
      to: iso(t + 1),
      stepSecs: 60,
      ...range,
    } as const;
    expect(await issuesOf(fleet.app.admin, op.SeriesOfDocument, variables)).toMatchObject([{ path }]);
  });

  it.each<[string, string, string, number]>([
    ['before 1970', '1960-01-01T00:00:00Z', '1961-01-01T00:00:00Z', 0],
    ['from before 1970 to 2030', '1960-01-01T00:00:00Z', '2030-01-01T00:00:00Z', 7],
    ['to the far future', '2020-01-01T00:00:00Z', '2300-01-01T00:00:00Z', 7],
    ['in the far future', '2300-01-01T00:00:00Z', '2301-01-01T00:00:00Z', 0],
  ])('returns the stored readings for a range %s', async (_, from, to, count) => {
    const points = await series({ from, to, stepSecs: 366 * 86_400 });
    expect(points?.reduce((sum, point) => sum + point.count, 0)).toBe(count);
  });

  it('refuses a range with too many readings, and names the time at which to cut it', async () => {
    const { mac, orgId, device } = await newDevice();
    const { clock, gateway } = fleet.app;
    for (let i = 0; i < 3; i++)
      await ingest(
        device,
        ...times(100, (k) => reading(mac, { timestampMs: clock.nowMs() - (100 * i + k) * minuteMs })),
      );
    const range = { fromMs: clock.nowMs() - dayMs, toMs: clock.nowMs() + 1, stepSecs: 3600 };
    const { charts, devices } = gateway.services;
    const stored = (await devices.find({ orgId, hardwareId: mac })) as Device;
    const draw = (max: number, requests = 1) =>
      charts.draw(Array(requests).fill({ device: stored, metric: 'humidityPct', range }), new ReadingBudget(max));
    expect((await draw(300))[0]).toHaveLength(25);
    const [refused] = await draw(299);
    expect(refused).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('set `from` to ') });
    // Several series of the same range are read once.
    expect((await draw(300, 5)).every((points) => Array.isArray(points))).toBe(true);
  });

  it('names the min step if there are too many points', async () => {
    const { mac, org } = await newDevice();
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z' };
    const send = (stepSecs: number) =>
      org.send(op.SeriesOfDocument, { hardwareId: mac, metric: 'HUMIDITY_PCT', ...range, stepSecs });
    const { errors } = await send(60);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('set it to 2592 or more'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect((await send(2592)).errors).toBeUndefined();
  });

  it('has a complexity that grows with the readings it may read', async () => {
    const own = await newSite();
    await Promise.all(times(2, () => newDevice({}, own)));
    const range = 'from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", stepSecs: 3600';
    const field = (alias: string) => `${alias}: series(metric: HUMIDITY_PCT, ${range}) { count }`;
    const few = await own.org.ask<{ org: { devices: { nodes: unknown[] } } }, never>(
      `{ org { devices(first: 10) { nodes { ${field('a')} } } } }`,
    );
    expect(few.org.devices.nodes).toHaveLength(2);
    const { errors } = await own.org.send(`{ org { devices(first: 100) { nodes { ${field('a')} ${field('b')} } } } }`);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('complexity'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });
});
