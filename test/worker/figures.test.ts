import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { DimensionValueService } from '../../src/spend/breakdown/dimension-value.service.js';
import { DimensionValueStore } from '../../src/spend/breakdown/dimension-value.store.js';
import { shardKey } from '../../src/spend/spend.item.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { cost, costs, dateAt, dayMs, hourMs, newTenant, submit, type Tenant } from './costs.js';

const clock = new ManualClock({ frozenAtMs: Date.UTC(2027, 5, 15, 12) });
let app: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ clock });
  worker = buildBackground(app.config, { clock, log: silentLog });
});
beforeEach(() => {
  clock.freeze(Date.UTC(2027, 5, 15, 12));
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

const today = () => dateAt(clock.nowMs());
const at = (ms: number) => new Date(ms).toISOString();
const series = async (
  { orgId }: Tenant,
  step: op.SpendStep,
  { from, to = from, label }: { from: string; to?: string; label?: string },
) =>
  (await app.admin.ask(op.OrgSeriesDocument, { orgId, from, to, step, ...(label ? { label } : {}) })).org
    ?.spendSeries ?? [];
const breakdown = async (
  { orgId }: Tenant,
  by: op.BreakdownKind,
  { name, top = 100, from = today(), to = today() }: { name?: string; top?: number; from?: string; to?: string } = {},
) => {
  const { org } = await app.admin.ask(op.OrgBreakdownDocument, {
    orgId,
    from,
    to,
    by,
    top,
    ...(name ? { name } : {}),
  });
  if (!org) throw new Error('no org');
  return org.spendBreakdown;
};
const sumOf = (rows: readonly { readonly costUsdMicros: number }[]) =>
  rows.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
const round = async () => {
  clock.advance(2 * 60_000);
  await worker.spend.sumAll();
};

/** The first instant of a local day, found without the code under test. */
function midnightOf(zone: string, day: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  let ms = Date.parse(`${day}T00:00:00Z`) - 16 * hourMs;
  while (format.format(ms) < day) ms += 15 * 60_000;
  return ms;
}

describe('the hours of a day', () => {
  it.each([
    ['America/New_York', '2026-11-01', 25],
    ['America/New_York', '2027-03-14', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Australia/Lord_Howe', '2027-04-04', 24.5],
    ['Africa/Cairo', '2027-04-30', 23],
    ['Asia/Kathmandu', '2026-12-01', 24],
  ])('add up to the day in %s on %s, which has %d hours', async (timezone, day, hours) => {
    clock.freeze(midnightOf(timezone, day) - 2 * hourMs);
    const tenant = await newTenant(app, { timezone });
    const startMs = midnightOf(timezone, day);
    const endMs = startMs + hours * hourMs;
    const expected = new Array<number>(Math.ceil(hours)).fill(0);
    const inputs: op.SubmitCostInput[] = [];
    for (let ms = startMs; ms < endMs; ms += 30 * 60_000) {
      const costUsdMicros = 1 + inputs.length * 7;
      const hour = Math.floor((ms - startMs) / hourMs);
      expected[hour] = (expected[hour] ?? 0) + costUsdMicros;
      inputs.push(
        cost(tenant, { costUsdMicros, occurredAt: at(ms), modelLabel: inputs.length % 2 ? 'premium' : 'standard' }),
      );
    }
    // In two parts, because a cost may be 24 hours old at most.
    clock.freeze(startMs + 12 * hourMs);
    await submit(app.admin, inputs.slice(0, 20));
    clock.freeze(endMs);
    await submit(app.admin, inputs.slice(20));
    await round();
    const points = await series(tenant, 'HOUR', { from: day });
    expect(points.map(({ costUsdMicros }) => costUsdMicros)).toEqual(expected);
    expect(points.map(({ startsAt }) => startsAt)).toEqual(expected.map((_, hour) => at(startMs + hour * hourMs)));
    expect(points.at(-1)?.endsAt).toBe(at(endMs));
    expect(sumOf(points)).toBe(sumOf(inputs as { costUsdMicros: number }[]));
    expect(points.every(({ unattributedUsdMicros }) => unattributedUsdMicros === 0)).toBe(true);
    expect(await series(tenant, 'DAY', { from: day })).toMatchObject([
      { day, startsAt: at(startMs), endsAt: at(endMs), costUsdMicros: sumOf(points), requests: inputs.length },
    ]);
  });

  it('keep their times after the org has changed its time zone', async () => {
    const tenant = await newTenant(app, { timezone: 'Asia/Tokyo' });
    const day = '2027-06-15';
    await submit(app.admin, [cost(tenant, { costUsdMicros: 5 })]);
    await round();
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: tenant.orgId, timezone: 'America/New_York' } });
    clock.advance(20 * dayMs);
    // A second change drops the zones of the first days.
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: tenant.orgId, timezone: 'UTC' } });
    const point = (await series(tenant, 'HOUR', { from: day })).find(({ requests }) => requests > 0);
    expect(point).toMatchObject({ startsAt: '2027-06-15T12:00:00.000Z', costUsdMicros: 5 });
  });

  it('leave out what was recorded before hours were counted, and say how much that is', async () => {
    const tenant = await newTenant(app);
    await submit(app.admin, [cost(tenant, { costUsdMicros: 100 })]);
    const { store } = app.gateway.services;
    for (let shard = 0; shard < tenant.shardCount; shard++) {
      const update = shardKey({ ...tenant, appId: 'chat', label: 'premium', day: today() }, shard);
      if (await store.get('usage_agg_sharded', update))
        await store.write({ table: 'usage_agg_sharded', update, remove: ['h12', 'n12'] });
    }
    await submit(app.admin, [cost(tenant, { costUsdMicros: 11 })]);
    await round();
    const points = await series(tenant, 'HOUR', { from: today() });
    expect(points.filter(({ requests }) => requests > 0)).toMatchObject([{ costUsdMicros: 11, requests: 1 }]);
    expect(points[0]).toMatchObject({ unattributedUsdMicros: 100, unattributedRequests: 1 });
  });

  it('of one label can be requested, and hours that have not begun are left out', async () => {
    const tenant = await newTenant(app);
    await submit(app.admin, [
      cost(tenant, { costUsdMicros: 3 }),
      cost(tenant, { costUsdMicros: 4, modelLabel: 'standard' }),
    ]);
    await round();
    const points = await series(tenant, 'HOUR', { from: today(), label: 'standard' });
    expect(points).toHaveLength(13);
    expect(sumOf(points)).toBe(4);
  });

  it.each([
    ['2027-05-01', '2027-06-15', 'HOUR', 'more than the maximum of 31'],
    ['2026-05-01', '2027-06-15', 'DAY', 'more than the maximum of 366'],
    ['2027-06-15', '2027-06-14', 'DAY', 'is before `from`'],
    ['2027-06-15', '2027-06-16', 'DAY', 'is in the future'],
  ] as const)('from %s to %s by %s are refused', async (from, to, step, message) => {
    const { orgId } = await newTenant(app);
    const { errors } = await app.admin.send(op.OrgSeriesDocument, { orgId, from, to, step });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toContain(message);
  });
});

describe('a series of one label', () => {
  it.each(['', 'a#b', '\u0000', 'x'.repeat(65)])('is refused for %j, which is no label', async (label) => {
    const { orgId } = await newTenant(app);
    const variables = { orgId, from: today(), to: today(), step: 'DAY' as const, label };
    expect(await app.admin.codeOf(op.OrgSeriesDocument, variables)).toBe('BAD_USER_INPUT');
  });
});

describe('a breakdown', () => {
  it('by label and by app adds up to the total', async () => {
    const tenant = await newTenant(app, { quotaScope: 'APP' }, ['chat', 'search']);
    await submit(app.admin, [
      ...costs(tenant, 3, { costUsdMicros: 10 }),
      ...costs(tenant, 2, { costUsdMicros: 100, appId: 'search', modelLabel: 'standard' }),
    ]);
    await round();
    const byLabel = await breakdown(tenant, 'LABEL');
    expect(byLabel.rows.map(({ name, costUsdMicros }) => [name, costUsdMicros])).toEqual([
      ['standard', 200],
      ['premium', 30],
    ]);
    expect(byLabel.total).toMatchObject({ costUsdMicros: 230, requests: 5 });
    expect(byLabel.rest).toMatchObject({ costUsdMicros: 0, requests: 0 });
    const byApp = await breakdown(tenant, 'APP', { top: 1 });
    expect(byApp.rows).toMatchObject([{ name: 'search', costUsdMicros: 200, requests: 2 }]);
    expect(byApp.rows[0]?.labels).toEqual([{ name: 'standard', costUsdMicros: 200, requests: 2 }]);
    expect(byLabel.rows[0]?.labels).toBeNull();
    expect(byApp.rest).toMatchObject({ costUsdMicros: 30, requests: 3 });
  });

  it('by app under quotaScope ORG needs attributeApps, and has the costs from then on', async () => {
    const tenant = await newTenant(app, { quotaScope: 'ORG' }, ['chat', 'search']);
    const { orgId } = tenant;
    await submit(app.admin, [cost(tenant, { costUsdMicros: 7 })]);
    const variables = { orgId, from: today(), to: today(), by: 'APP' as const };
    const { errors } = await app.admin.send(op.OrgBreakdownDocument, variables);
    expect(errors?.[0]?.message).toContain('attributeApps');
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, attributeApps: true } });
    await submit(app.admin, [
      ...costs(tenant, 40, { costUsdMicros: 10 }),
      ...costs(tenant, 70, { costUsdMicros: 1, appId: 'search' }),
    ]);
    await round();
    const { rows, rest, total } = await breakdown(tenant, 'APP');
    expect(rows.map(({ name, costUsdMicros, requests }) => [name, costUsdMicros, requests])).toEqual([
      ['chat', 400, 40],
      ['search', 70, 70],
    ]);
    expect([rest.costUsdMicros, total.costUsdMicros]).toEqual([7, 477]);
    // The quota of the org counts each cost once, and an attributed app raises no alert.
    const { org } = await app.admin.ask(op.OrgSpendDocument, { orgId, day: today(), consistency: 'EXACT' });
    expect(org?.spend.costUsdMicros).toBe(477);
  });

  it('by dimension lists the largest values of open and closed days', async () => {
    const tenant = await newTenant(app, { dimensions: ['user', 'feature'] }, ['chat', 'search']);
    const of = (value: string, costUsdMicros: number, more: Partial<op.SubmitCostInput> = {}) =>
      cost(tenant, { costUsdMicros, dimensions: [{ name: 'user', value }], ...more });
    const spend = () =>
      submit(app.admin, [
        of('ann@example.com', 50),
        of('ann@example.com', 1, { modelLabel: 'standard' }),
        of('ann@example.com', 2, { appId: 'search' }),
        of('org/team/bob', 20),
        cost(tenant, { costUsdMicros: 9 }),
      ]);
    await spend();
    await round();
    const open = await breakdown(tenant, 'DIMENSION', { name: 'user' });
    expect(open.rows.map(({ name, costUsdMicros, requests }) => [name, costUsdMicros, requests])).toEqual([
      ['ann@example.com', 53, 3],
      ['org/team/bob', 20, 1],
    ]);
    expect(open.rest).toMatchObject({ costUsdMicros: 9, requests: 1 });
    expect((await breakdown(tenant, 'DIMENSION', { name: 'feature' })).rows).toEqual([]);

    const first = today();
    clock.advance(3 * dayMs);
    await spend();
    await round();
    const both = await breakdown(tenant, 'DIMENSION', { name: 'user', from: first });
    expect(both.rows.map(({ name, costUsdMicros }) => [name, costUsdMicros])).toEqual([
      ['ann@example.com', 106],
      ['org/team/bob', 40],
    ]);
    expect(both.total.costUsdMicros).toBe(164);
    // The counters of the closed day are no longer needed.
    const stored = await app.gateway.services.store.queryAll({
      table: 'daily_total',
      where: { kind: 'compare', attribute: 'PK', comparator: '=', value: `ORG#${tenant.orgId}#DIM#user` },
    });
    expect(stored).toMatchObject([
      { cost_usd_micros: 73, top: [{ value: 'ann@example.com' }, { value: 'org/team/bob' }] },
    ]);
  });

  it.each([
    [[{ name: 'team', value: 'a' }], 'is not a dimension of the org; its dimensions are user'],
    [
      [
        { name: 'user', value: 'a' },
        { name: 'user', value: 'b' },
      ],
      'is listed twice',
    ],
    [[{ name: 'user', value: 'a#b' }], 'without # and control characters'],
    [[{ name: 'user', value: '' }], 'must have 1 to 128 characters'],
    [[{ name: 'user', value: 'x'.repeat(129) }], 'must have 1 to 128 characters'],
  ])('refuses the dimensions %j', async (dimensions, message) => {
    const tenant = await newTenant(app, { dimensions: ['user'] });
    const { errors } = await app.admin.send(op.SubmitCostDocument, { input: cost(tenant, { dimensions }) });
    expect(errors?.[0]?.message).toContain(message);
  });

  it('counts new values as other once a day has about the maximum', async () => {
    const store = new DimensionValueStore(app.gateway.services.store);
    const values = () => new DimensionValueService(store, clock, 35, 3);
    const { orgId } = await newTenant(app, {});
    const countedAs = async (service: DimensionValueService, value: string) =>
      (await service.countedAs(orgId, today(), [{ name: 'user', value }]))[0]?.value;
    const first = values();
    for (const value of ['a', 'b', 'c']) expect(await countedAs(first, value)).toBe(value);
    // Another process reads the count, and still counts the values that are stored as themselves.
    const other = values();
    expect(await countedAs(other, 'd')).toBe('other');
    expect(await countedAs(other, 'b')).toBe('b');
    expect(await store.count({ orgId, name: 'user', day: today() })).toBe(3);
  });

  it('is idempotent: a retry with dimensions replays, and one with other dimensions conflicts', async () => {
    const tenant = await newTenant(app, { dimensions: ['user'] });
    const input = cost(tenant, { costUsdMicros: 5, dimensions: [{ name: 'user', value: 'ann' }] });
    await app.admin.ask(op.SubmitCostDocument, { input });
    expect((await app.admin.ask(op.SubmitCostDocument, { input })).submitCost.replayed).toBe(true);
    const other = { ...input, dimensions: [{ name: 'user', value: 'bob' }] };
    expect(await app.admin.codeOf(op.SubmitCostDocument, { input: other })).toBe('IDEMPOTENCY_CONFLICT');
    expect((await breakdown(tenant, 'DIMENSION', { name: 'user' })).rows).toMatchObject([{ name: 'ann', requests: 1 }]);
  });
});
