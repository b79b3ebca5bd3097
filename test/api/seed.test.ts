import { type DemoProgress, type DemoReport, seedDemo } from '../../src/demo/demo.js';
import { localDate } from '../../src/orgs/calendar.js';
import { Caller, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';

const days = 2;
const open = stoppedAfterAll();
let app: TestApp;
let report: DemoReport;
const progress: DemoProgress[] = [];

beforeAll(async () => {
  app = await open(startTestApp());
  report = await seedDemo(app.config, { days, onProgress: (each) => progress.push(each) });
});

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

interface Day {
  readonly day: string;
  readonly costUsdMicros: number;
  readonly requests: number;
  readonly mode: string;
}

it('writes totals that add up to the costs that were submitted, for the org and over its apps', async () => {
  const history = `spendHistory(from: "${report.from}", to: "${report.to}") { day costUsdMicros requests mode }`;
  const { org } = await app.admin.ask<{ org: Readonly<Record<string, Day[]>> & { apps: { nodes: unknown[] } } }, never>(
    `{ org(orgId: "${report.orgId}") { ${history} apps { nodes { ${history} } } } }`,
  );
  const ofOrg = org.spendHistory ?? [];
  const ofApps = org.apps.nodes.flatMap((each) => (each as { spendHistory: Day[] }).spendHistory);
  for (const found of [ofOrg, ofApps]) {
    expect(sumOf(found.map(({ costUsdMicros }) => costUsdMicros))).toBe(report.costUsdMicros);
    expect(sumOf(found.map(({ requests }) => requests))).toBe(report.costs);
  }
  expect(ofOrg.length).toBeGreaterThanOrEqual(days + 1);
  expect(ofOrg.map(({ requests }) => requests > 0)).toEqual(ofOrg.map(() => true));
  expect(ofOrg[0]?.mode).toBe('EXCEEDED');
});

it('counts each cost in its hour, and under its app, customer and feature', async () => {
  type Figures = Pick<Day, 'costUsdMicros' | 'requests'>;
  interface Breakdown {
    readonly rows: readonly (Figures & { readonly name: string })[];
    readonly rest: Figures;
  }
  const range = `from: "${report.from}", to: "${report.to}"`;
  const rows = (by: string) =>
    `spendBreakdown(${range}, by: ${by}) { rows { name costUsdMicros requests } rest { requests } }`;
  const { org } = await app.admin.ask<{ org: { hours: Figures[] } & Readonly<Record<string, Breakdown>> }, never>(
    `{ org(orgId: "${report.orgId}") {
      hours: spendSeries(${range}, step: HOUR) { costUsdMicros requests }
      apps: ${rows('APP')}
      customers: ${rows('DIMENSION, name: "customer"')}
      features: ${rows('DIMENSION, name: "feature"')}
    } }`,
  );
  const { hours, ...breakdowns } = org;
  expect(hours.filter(({ requests }) => requests > 0).length).toBeGreaterThan(days * 16);
  for (const found of [hours, ...Object.values(breakdowns).map((each) => each.rows)]) {
    expect(sumOf(found.map(({ costUsdMicros }) => costUsdMicros))).toBe(report.costUsdMicros);
    expect(sumOf(found.map(({ requests }) => requests))).toBe(report.costs);
  }
  expect(breakdowns.features?.rows.map(({ name }) => name)).toContain('answer');
});

it('raises the alerts of the incident at the times of the past', async () => {
  interface Alert {
    readonly kind: string;
    readonly day: string;
    readonly raisedAt: string;
  }
  const { org } = await app.admin.ask<{ org: { alerts: { nodes: Alert[] } } }, never>(
    `{ org(orgId: "${report.orgId}") { alerts(first: 100) { nodes { kind day raisedAt } } } }`,
  );
  expect(org.alerts.nodes).toHaveLength(report.alerts);
  for (const kind of ['QUOTA_EXCEEDED', 'FALLBACK_ACTIVATED']) {
    const alert = org.alerts.nodes.find((each) => each.kind === kind);
    expect(alert?.day).toBe(report.from);
    expect(localDate(report.zone, Date.parse(alert?.raisedAt ?? ''))).toBe(report.from);
  }
});

it('writes usage of limits for each hour, all refusals, and an allowance that is nearly used up', async () => {
  interface Usage {
    readonly counters: readonly { readonly limit: string; readonly consumed: number; readonly refused: number }[];
  }
  interface Answer {
    readonly org: {
      readonly all: Usage[];
      readonly teams: Usage[];
      readonly topEntities: { readonly entities: readonly { readonly entityId: string; readonly refused: number }[] };
      readonly entity: { readonly bucket: { readonly limits: readonly { readonly available: number }[] } };
    };
  }
  const usage = (window: string, parentsOnly: boolean) =>
    `resourceUsage(resource: "model-calls", window: ${window}, from: "2020-01-01T00:00:00Z", to: "2090-01-01T00:00:00Z",
       parentsOnly: ${parentsOnly}) { counters { limit consumed refused } }`;
  const { org } = await app.admin.ask<Answer, never>(
    `{ org(orgId: "${report.orgId}") {
      all: ${usage('HOURLY', false)}
      teams: ${usage('HOURLY', true)}
      topEntities(resource: "model-calls", window: MONTHLY, limit: "rpm", by: REFUSED) { entities { entityId refused } }
      entity(entityId: "team-data") { bucket(resource: "exports") { limits { available } } }
    } }`,
  );
  const rpm = (found: readonly Usage[], field: 'consumed' | 'refused') =>
    sumOf(found.flatMap(({ counters }) => counters.filter(({ limit }) => limit === 'rpm').map((each) => each[field])));
  expect(org.all.length).toBeGreaterThan(days * 12);
  expect(rpm(org.all, 'refused')).toBe(report.refused);
  // An acquire of a member is charged to its team too.
  expect(rpm(org.all, 'consumed')).toBe(2 * rpm(org.teams, 'consumed'));
  expect(rpm(org.teams, 'consumed')).toBeGreaterThan(report.acquires / 2);
  expect(org.topEntities.entities.map(({ entityId }) => entityId)).toContain('ben');
  expect(org.entity.bucket.limits[0]?.available).toBeGreaterThan(500);
  expect(org.entity.bucket.limits[0]?.available).toBeLessThan(700);
});

it('stores every reading, with one device offline and one faulty sensor', async () => {
  interface DeviceAnswer {
    readonly friendlyName: string;
    readonly lastSeenAt: string;
    readonly latestReading: { readonly sensorStatus: { readonly soilMoisture: string | null } };
    readonly air: readonly { readonly count: number }[];
    readonly cold: readonly { readonly count: number }[];
  }
  const nowMs = Date.now();
  const range = `from: "${new Date(nowMs - 4 * 86_400_000).toISOString()}", to: "${new Date(nowMs).toISOString()}"`;
  const series = (metric: string) => `series(metric: ${metric}, ${range}, stepSecs: 86400) { count }`;
  const { org } = await app.admin.ask<{ org: { devices: { nodes: DeviceAnswer[] } } }, never>(
    `{ org(orgId: "${report.orgId}") { devices(first: 20) { nodes {
      friendlyName lastSeenAt latestReading { sensorStatus { soilMoisture } }
      air: ${series('BME280_TEMP_C')} cold: ${series('DS18B20_TEMP_C')}
    } } } }`,
  );
  const { nodes } = org.devices;
  expect(nodes).toHaveLength(report.devices);
  expect(sumOf(nodes.flatMap(({ air, cold }) => [...air, ...cold]).map(({ count }) => count))).toBe(report.readings);
  const offline = nodes.filter(({ lastSeenAt }) => Date.parse(lastSeenAt) < nowMs - 12 * 3_600_000);
  expect(offline.map(({ friendlyName }) => friendlyName)).toEqual(['coldroom-03']);
  const faulty = nodes.filter(({ latestReading }) => latestReading.sensorStatus.soilMoisture === 'ERROR');
  expect(faulty.map(({ friendlyName }) => friendlyName)).toEqual(['greenhouse-02']);
});

it('hands out credentials that work, and audits what the demo org did', async () => {
  const [{ clientId, clientSecret } = { clientId: '', clientSecret: '' }] = report.clients;
  const { issueToken } = await app.anonymous.ask<{ issueToken: { accessToken: string } }, never>(
    `mutation { issueToken(input: { clientId: "${clientId}", clientSecret: "${clientSecret}" }) { accessToken } }`,
  );
  interface Answer {
    readonly me: {
      readonly kind: string;
      readonly org: {
        readonly auditEvents: { readonly nodes: readonly { readonly action: string; readonly at: string }[] };
      };
    };
  }
  const query = '{ me { kind org { auditEvents(first: 100) { nodes { action at } } } } }';
  const { me } = await app.as(issueToken.accessToken).ask<Answer, never>(query);
  expect(me.kind).toBe('ORG_CLIENT');
  const { nodes } = me.org.auditEvents;
  const registered = nodes.find(({ action }) => action === 'org_registered');
  expect(localDate(report.zone, Date.parse(registered?.at ?? '')) < report.from).toBe(true);
  expect(nodes.filter(({ action }) => action === 'app_updated')).toHaveLength(1);
  const device = new Caller(app.url, { 'x-api-key': report.apiKey });
  expect((await device.ask<{ me: { kind: string } }, never>('{ me { kind } }')).me.kind).toBe('DEVICE_KEY');
});

it('reports each hour of the history in order', () => {
  expect(progress.map(({ hoursDone }) => hoursDone)).toEqual(progress.map((_, i) => i + 1));
  expect(progress.at(-1)).toMatchObject({ hoursDone: progress.length, hourCount: progress.length, dayCount: days + 1 });
  expect(new Set(progress.map(({ dayNumber }) => dayNumber)).size).toBe(days + 1);
});

it('creates another org with another name when it runs again', async () => {
  const again = await seedDemo(app.config, { days: 1 });
  expect([report.name, again.name]).toEqual(['Demo Corp', 'Demo Corp 2']);
  expect(again.orgId).not.toBe(report.orgId);
});
