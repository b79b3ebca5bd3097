import { randomUUID } from 'node:crypto';
import { buildBackground } from '../../src/app.js';
import type { Item } from '../../src/dynamo/expression.js';
import { type Log, silentLog } from '../../src/lib/log.js';
import { catalogHeadKey, modelKey } from '../../src/spend/catalog/catalog.item.js';
import type { CatalogModel } from '../../src/spend/catalog/catalog.js';
import { CatalogStore } from '../../src/spend/catalog/catalog.store.js';
import { tokenEntries } from '../../src/spend/catalog/price.js';
import { requestKey, toCostRecord } from '../../src/spend/cost.item.js';
import { newApp, newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import { caughtUp } from '../support/caught-up.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { cost, dayMs, hourMs, newTenant, noonClock, type Tenant } from '../worker/costs.js';

const clock = noonClock();
const warnings: { readonly labels?: readonly string[] }[] = [];
const log: Log = { ...silentLog, warn: (line: unknown) => void warnings.push(line as object) };
const opened = stoppedAfterAll();
let app: TestApp;
/** Another gateway on the same tables. */
let other: TestApp;

beforeAll(async () => {
  app = await opened(startTestApp({ clock, log, config: { principalRps: 0 } }));
  other = await opened(app.another());
});

type Entries = Readonly<Record<string, number>>;
/** `{ input: 3, 'input>200000': 6 }` in micro-dollars per million. */
const entries = (prices: Entries): op.PriceEntryInput[] =>
  Object.entries(prices).map(([key, usdMicrosPer1M]) => {
    const [name = '', above = '0'] = key.split('>');
    return { name, usdMicrosPer1M, above: Number(above) };
  });
const usual = { input: 1_000_000, output: 2_000_000 };
const iso = (offsetMs: number): string => new Date(clock.nowMs() + offsetMs).toISOString();
/** With the patience of `until` still less than the minute after which a gateway looks at the version. */
const soonMs = 2000;
const newLabel = (): string => `l-${randomUUID()}`;

const upsert = async (input: Partial<op.UpsertModelInput> & { label: string }, on = app) =>
  (await on.admin.ask(op.UpsertModelDocument, { input: { modelId: `vendor.${input.label}`, ...input } })).upsertModel;
const added = async (prices: Entries = usual, over: Partial<op.UpsertModelInput> = {}): Promise<string> =>
  (await upsert({ label: newLabel(), prices: entries(prices), ...over })).label;
const retire = async (label: string) => (await app.admin.ask(op.RetireModelDocument, { label })).retireModel;
const modelsOf = async (on: TestApp, variables: op.CatalogQueryVariables = {}) =>
  (await on.admin.ask(op.CatalogDocument, variables)).models;
const labelsOf = async (on: TestApp, variables: op.CatalogQueryVariables = {}) =>
  (await modelsOf(on, variables)).map(({ label }) => label);
const setOrgPrice = async (input: op.SetOrgPriceInput, on = app) =>
  (await on.admin.ask(op.SetOrgPriceDocument, { input })).setOrgPrice;

const tokens = { inputTokens: 1000, outputTokens: 1000, costUsdMicros: null };
const submit = async (input: op.SubmitCostInput, on = app) =>
  (await on.admin.ask(op.SubmitCostWithLinesDocument, { input })).submitCost;
const submitted = (tenant: Tenant, modelLabel: string, over: Partial<op.SubmitCostInput> = {}, on = app) =>
  submit(cost(tenant, { ...tokens, modelLabel, ...over }), on);
const issuesOf = async (input: op.SubmitCostInput) =>
  (await app.admin.send(op.SubmitCostDocument, { input })).errors?.map(({ message, extensions: { code } }) => [
    code,
    message,
  ]);
const requestsOf = async ({ orgId }: Tenant) =>
  (await app.admin.ask(op.AppSpendDocument, { orgId, appId: 'chat', consistency: 'EXACT' })).org?.app?.spend.requests;

describe('the components of a cost', () => {
  const prices = { ...usual, cacheRead: 100_000, 'cacheRead>200000': 200_000, 'input>200000': 2_000_000 };

  it('are priced, and the receipt of a retry has the same lines', async () => {
    const tenant = await newTenant(app);
    const components = [
      { name: 'image', quantity: 2 },
      { name: 'cacheRead', quantity: 199_500 },
    ];
    const label = await added({ ...prices, image: 40_000_000_000 });
    const input = cost(tenant, { ...tokens, modelLabel: label, components });
    const lines = [
      { name: 'input', quantity: 1000, usdMicrosPer1M: 2_000_000, costUsdMicros: 2000 },
      { name: 'output', quantity: 1000, usdMicrosPer1M: 2_000_000, costUsdMicros: 2000 },
      { name: 'cacheRead', quantity: 199_500, usdMicrosPer1M: 200_000, costUsdMicros: 39_900 },
      { name: 'image', quantity: 2, usdMicrosPer1M: 40_000_000_000, costUsdMicros: 80_000 },
    ];
    const receipt = { costUsdMicros: 123_900, priceSource: 'CATALOG', lines };
    expect(await submit(input)).toMatchObject({ ...receipt, replayed: false });
    await upsert({ label, prices: entries({ input: 1, output: 1 }) });
    expect(await submit(input)).toMatchObject({ ...receipt, replayed: true });
    const query =
      'query ($orgId: UUID!, $id: UUID!) { org(orgId: $orgId) { cost(requestId: $id, appId: "chat") { ' +
      'components { name quantity } lines { name quantity usdMicrosPer1M costUsdMicros } } } }';
    expect(await app.admin.ask(query, { orgId: tenant.orgId, id: input.requestId })).toEqual({
      org: { cost: { components: [...components].reverse(), lines } },
    });
    await retire(label);
    expect(await submit(input)).toMatchObject({ ...receipt, replayed: true });
  });

  it('are refused without a price, with the names that have one, and nothing is counted', async () => {
    const tenant = await newTenant(app);
    const label = await added(prices);
    const components = [{ name: 'reasoning', quantity: 1 }];
    const expected =
      'input.components.0.name: reasoning has no price; the model has prices for input, output, cacheRead; use one ' +
      'of these names, or send costUsdMicros';
    expect(await issuesOf(cost(tenant, { ...tokens, modelLabel: label, components }))).toEqual([
      ['BAD_USER_INPUT', expected],
    ]);
    expect(await requestsOf(tenant)).toBe(0);
    await submitted(tenant, label, { components: [{ name: 'reasoning', quantity: 0 }] });
    expect(await requestsOf(tenant)).toBe(1);
  });

  it('are recorded and not priced with a submitted cost', async () => {
    const tenant = await newTenant(app);
    const components = [{ name: 'whatever', quantity: 7 }];
    const input = cost(tenant, { costUsdMicros: 55, components });
    expect(await submit(input)).toMatchObject({ costUsdMicros: 55, priceSource: 'SUBMITTED', lines: [] });
    const key = requestKey({ orgId: tenant.orgId, appId: 'chat', requestId: input.requestId });
    const item = await app.gateway.services.store.get('cost_requests', key);
    expect(item && toCostRecord(item)).toMatchObject({ components });
  });

  it('are part of the payload: another quantity under the same id is a conflict', async () => {
    const tenant = await newTenant(app);
    const label = await added(prices);
    const input = cost(tenant, { ...tokens, modelLabel: label, components: [{ name: 'cacheRead', quantity: 1 }] });
    await submit(input);
    for (const components of [[{ name: 'cacheRead', quantity: 2 }], [], undefined])
      expect(await app.admin.codeOf(op.SubmitCostDocument, { input: { ...input, components } })).toBe(
        'IDEMPOTENCY_CONFLICT',
      );
  });

  it.each([
    ['a name with a space', [{ name: 'cache read', quantity: 1 }], 'input.components.0.name'],
    ['input', [{ name: 'input', quantity: 1 }], 'input.components.0.name'],
    ['a negative quantity', [{ name: 'image', quantity: -1 }], 'input.components.0.quantity'],
    [
      '17 components',
      Array.from({ length: 17 }, (_, i) => ({ name: `c${i}`, quantity: 1 })),
      'input.components: must have at most 16',
    ],
  ])('are validated: %s', async (_, components, message) => {
    const [issue] = (await issuesOf(cost(await newTenant(app), { components }))) ?? [];
    expect(issue).toEqual(['BAD_USER_INPUT', expect.stringContaining(message)]);
  });
});

it('replays a cost that the version before components recorded', async () => {
  const { store } = app.gateway.services;
  const tenant = await newTenant(app);
  const input = cost(tenant, { ...tokens, modelLabel: 'premium' });
  const first = await submit(input);
  const key = requestKey({ orgId: tenant.orgId, appId: 'chat', requestId: input.requestId });
  const { cost: text, ...rest } = (await store.get('cost_requests', key)) ?? {};
  const recorded = JSON.parse(String(text)) as Record<string, string | number>;
  const names = ['model_label', 'day', 'payload_hash', 'price_source', 'nonce', 'shard'];
  const figures = ['cost_usd_micros', 'input_tokens', 'output_tokens', 'requests'];
  const times = ['call_status', 'occurred_at_ms', 'received_at_ms'];
  const unit = ['input_price_usd_micros_per_1m', 'output_price_usd_micros_per_1m'];
  const attributes = [...names, ...figures, ...times, ...unit].map((name) => [name, recorded[name]] as const);
  expect(attributes.map(([, value]) => value)).not.toContain(undefined);
  const ids = { request_id: input.requestId, org_id: tenant.orgId, app_id: 'chat' };
  const old = { ...rest, ...ids, ...Object.fromEntries(attributes) } as Item;
  await store.write({ table: 'cost_requests', put: old });
  const lines = [
    { name: 'input', quantity: 1000, usdMicrosPer1M: 3_000_000, costUsdMicros: 3000 },
    { name: 'output', quantity: 1000, usdMicrosPer1M: 15_000_000, costUsdMicros: 15_000 },
  ];
  expect(await submit(input, other)).toEqual({ ...first, replayed: true, lines });
});

describe('upsertModel', () => {
  it('adds a label that orgs and costs can use on every gateway within 2 s', async () => {
    const modelId = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0#x y';
    const facts = { modelId, provider: 'bedrock', tier: 'gold', family: 'nova', description: 'Nova Pro' };
    const label = newLabel();
    const model = await upsert({ label, ...facts, prices: entries({ ...usual, 'input>200000': 9 }) });
    expect(model).toMatchObject({ label, ...facts, bedrockModelId: modelId, version: 1, retiredAt: null });
    expect(model.price).toEqual({
      source: 'CATALOG',
      entries: entries({ input: 1_000_000, 'input>200000': 9, output: 2_000_000 }),
    });
    expect(model.prices).toMatchObject([{ source: 'CATALOG', entries: expect.anything() }]);
    for (const gateway of [app, other]) {
      await until('the gateway has loaded the label', async () => (await labelsOf(gateway)).includes(label), soonMs);
      const tenant = await newTenant(gateway, {
        modelOrdering: [label],
        quotas: [{ label, dailyUsdMicros: 1_000_000 }],
      });
      expect(await submitted(tenant, label, {}, gateway)).toMatchObject({
        costUsdMicros: 3000,
        priceSource: 'CATALOG',
      });
      const { org } = await gateway.admin.ask(op.SelectionDocument, { orgId: tenant.orgId, appId: 'chat' });
      expect(org?.app?.modelSelection).toMatchObject({ label, bedrockModelId: modelId, skipped: [] });
    }
  });

  it('changes only what is given, and keeps the default price of config.yaml below the new one', async () => {
    const before = (await modelsOf(app)).find(({ label }) => label === 'economy');
    expect(before).toMatchObject({
      version: 1,
      price: { source: 'CONFIG_DEFAULT' },
      prices: [{ effectiveFrom: null }],
    });
    const modelId = before?.modelId as string;
    const described = await upsert({ label: 'economy', modelId, description: 'Cheap' });
    expect(described).toEqual({ ...before, description: 'Cheap', version: 2 });
    expect((await upsert({ label: 'economy', modelId, prices: entries(usual) })).price.source).toBe('CATALOG');
    const cleared = await upsert({ label: 'economy', modelId, prices: [] });
    expect(cleared).toMatchObject({ price: before?.price, tier: 'economy', version: 4 });
    expect(cleared.prices.map(({ source, entries: all }) => [source, all.length])).toEqual([
      ['CONFIG_DEFAULT', 2],
      ['CATALOG', 2],
      ['CATALOG', 0],
    ]);
  });

  it('prices a cost by the price in force when the call was made, and changes no recorded cost', async () => {
    const tenant = await newTenant(app);
    const label = await added({ input: 1_000_000, output: 0 }, { effectiveFrom: iso(-10 * dayMs) });
    const at = (offsetMs: number) => submitted(tenant, label, { occurredAt: iso(offsetMs) });
    const first = cost(tenant, { ...tokens, modelLabel: label });
    expect((await submit(first)).costUsdMicros).toBe(1000);
    const set = (input: number, offsetMs: number) =>
      upsert({ label, prices: entries({ input, output: 0 }), effectiveFrom: iso(offsetMs) });
    await set(5_000_000, -2 * hourMs);
    expect((await at(-3 * hourMs)).costUsdMicros).toBe(1000);
    expect((await at(-hourMs)).costUsdMicros).toBe(5000);
    expect(await submit(first)).toMatchObject({ costUsdMicros: 1000, replayed: true });
    await set(7_000_000, 3 * 60_000);
    expect((await at(0)).costUsdMicros).toBe(5000);
    expect((await at(4 * 60_000)).costUsdMicros).toBe(7000);
  });

  it('shows a new price from its millisecond on, also to a caller that has just read the old one', async () => {
    const label = await added({ input: 1, output: 0 });
    clock.freeze();
    await upsert({ label, prices: entries({ input: 2, output: 0 }), effectiveFrom: iso(500) });
    const shown = async () =>
      (await modelsOf(app)).find((model) => model.label === label)?.price.entries[0]?.usdMicrosPer1M;
    expect(await shown()).toBe(1);
    clock.advance(499);
    expect(await shown()).toBe(1);
    clock.advance(1);
    expect(await shown()).toBe(2);
    clock.advance(-1);
    expect(await shown()).toBe(1);
    clock.unfreeze();
  });

  it('changes nothing if the expected version is stale; 0 means that the label must not exist', async () => {
    const label = newLabel();
    const send = (expectedVersion: number | null) =>
      app.admin.send(op.UpsertModelDocument, { input: { label, modelId: 'm', expectedVersion } });
    expect((await send(1)).errors?.[0]?.extensions).toMatchObject({ code: 'VERSION_CONFLICT', currentVersion: 0 });
    expect((await send(0)).data?.upsertModel.version).toBe(1);
    expect((await send(0)).errors?.[0]?.extensions).toMatchObject({ code: 'VERSION_CONFLICT', currentVersion: 1 });
    const race = await Promise.all([send(1), send(1), send(1)]);
    expect(race.map(({ errors }) => errors?.[0]?.extensions.code ?? 'ok').sort()).toEqual([
      'VERSION_CONFLICT',
      'VERSION_CONFLICT',
      'ok',
    ]);
    const both = await Promise.all([send(null), send(null)]);
    expect(both.map(({ data }) => data?.upsertModel.version).sort()).toEqual([3, 4]);
  });

  it.each<[string, Partial<op.UpsertModelInput>, string]>([
    ['a label with #', { label: 'a#b' }, 'input.label'],
    ['a model id with a control character', { modelId: 'a\u0000b' }, 'input.modelId'],
    ['a model id of 257 characters', { modelId: 'a'.repeat(257) }, 'input.modelId'],
    ['an empty provider', { provider: '' }, 'input.provider'],
    ['a price of a name twice', { prices: [...entries(usual), ...entries({ input: 9 })] }, 'input.prices.2'],
    [
      '65 prices',
      { prices: Array.from({ length: 65 }, (_, i) => ({ name: 'a', usdMicrosPer1M: 1, above: i })) },
      'input.prices',
    ],
    ['a price above 10^15', { prices: entries({ a: 1_000_000_000_000_001 }) }, 'input.prices.0.usdMicrosPer1M'],
    ['a time without a price', { effectiveFrom: iso(0) }, 'input.effectiveFrom'],
    ['a time 36 days ago', { prices: entries(usual), effectiveFrom: iso(-36 * dayMs) }, 'input.effectiveFrom'],
    ['a time 366 days ahead', { prices: entries(usual), effectiveFrom: iso(366 * dayMs) }, 'input.effectiveFrom'],
  ])('refuses %s', async (_, input, path) => {
    const { errors } = await app.admin.send(op.UpsertModelDocument, {
      input: { label: newLabel(), modelId: 'm', ...input },
    });
    expect(errors?.[0]?.extensions.issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it('refuses the 501st label, and still changes the others', async () => {
    const { store } = app.gateway.services;
    const label = await added();
    const head = await store.get('pricing_cache', catalogHeadKey, { consistent: true });
    const { labels } = head as unknown as { labels: number };
    const setLabels = (count: number) =>
      store.write({ table: 'pricing_cache', update: catalogHeadKey, set: { labels: count } });
    await setLabels(500);
    const { errors } = await app.admin.send(op.UpsertModelDocument, { input: { label: newLabel(), modelId: 'm' } });
    expect(errors?.[0]).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
      message: expect.stringContaining('500 labels'),
    });
    expect((await upsert({ label })).version).toBe(2);
    await setLabels(499);
    await added();
    await setLabels(labels + 1);
  });

  it('is in the audit trail of the platform, with the old and the new values', async () => {
    const label = await added({ input: 5 });
    await upsert({ label, modelId: 'renamed', prices: entries({ input: 7, 'input>10': 8 }) });
    await retire(label);
    const { platformAuditEvents } = await app.admin.ask(op.PlatformAuditDocument, { entityId: `$MODEL:${label}` });
    expect(platformAuditEvents.nodes.map(({ action }) => action)).toEqual(['model_retired', 'model_set', 'model_set']);
    expect(platformAuditEvents.nodes[1]?.details).toEqual([
      { name: 'version', value: '2', previousValue: null },
      { name: 'modelId', value: 'renamed', previousValue: `vendor.${label}` },
      { name: 'prices', value: 'input: 7, input above 10: 8', previousValue: 'input: 5' },
    ]);
    const { node } = await app.admin.ask(op.NodeDocument, { id: platformAuditEvents.nodes[0]?.id ?? '' });
    expect(node?.__typename).toBe('AuditEvent');
    const org = await newOrg(app);
    expect((await org.caller.ask(op.NodeDocument, { id: platformAuditEvents.nodes[0]?.id ?? '' })).node).toBeNull();
    const page = await app.admin.ask(op.PlatformAuditDocument, { first: 1 });
    expect(page.platformAuditEvents).toMatchObject({
      nodes: [{ entityId: `$MODEL:${label}` }],
      pageInfo: { hasNextPage: true },
    });
  });
});

describe('a retired label', () => {
  it('gets no new costs, is skipped by selections, and is listed only on request', async () => {
    const label = await added();
    const quotas = [label, 'premium'].map((each) => ({ label: each, dailyUsdMicros: 1_000_000 }));
    const tenant = await newTenant(app, { modelOrdering: [label, 'premium'], quotas });
    const input = cost(tenant, { ...tokens, modelLabel: label });
    await submit(input);
    const retired = await retire(label);
    expect(retired).toMatchObject({ version: 2, retiredAt: expect.any(String) });
    expect(await retire(label)).toEqual(retired);
    const isRetired = (model: op.ModelFragment) => model.label === label && model.retiredAt;
    const hasLoaded = async () => (await modelsOf(other, { includeRetired: true })).some(isRetired);
    await until('the other gateway has loaded it', hasLoaded, soonMs);
    for (const gateway of [app, other]) {
      const again = { input: cost(tenant, { ...tokens, modelLabel: label }) };
      expect(await gateway.admin.codeOf(op.SubmitCostDocument, again)).toBe('INVALID_MODEL_LABEL');
      expect(await submit(input, gateway)).toMatchObject({ replayed: true, costUsdMicros: 3000 });
      const { org } = await gateway.admin.ask(op.SelectionDocument, { orgId: tenant.orgId, appId: 'chat' });
      expect(org?.app?.modelSelection).toMatchObject({
        label: 'premium',
        skipped: [{ label, reason: 'UNKNOWN_LABEL' }],
      });
      expect(await labelsOf(gateway)).not.toContain(label);
      expect(await labelsOf(gateway, { includeRetired: true })).toContain(label);
    }
    const { org } = await app.admin.ask(op.OrgDocument, { orgId: tenant.orgId });
    expect(org?.modelOrdering).toEqual([label, 'premium']);
    expect(await upsert({ label })).toMatchObject({ version: 3, retiredAt: null });
    expect((await submitted(tenant, label)).costUsdMicros).toBe(3000);
  });

  it('must exist, and must have the expected version', async () => {
    expect(await app.admin.codeOf(op.RetireModelDocument, { label: newLabel() })).toBe('NOT_FOUND');
    expect(await app.admin.codeOf(op.RetireModelDocument, { label: 'A#' })).toBe('NOT_FOUND');
    const label = await added();
    expect(await app.admin.codeOf(op.RetireModelDocument, { label, expectedVersion: 2 })).toBe('VERSION_CONFLICT');
    expect((await app.admin.ask(op.RetireModelDocument, { label, expectedVersion: 1 })).retireModel.version).toBe(2);
  });
});

describe('setOrgPrice', () => {
  it('applies to its org only, on every gateway within 2 s, until it is cleared', async () => {
    const label = await added({ input: 1_000_000, output: 1_000_000 });
    const [tenant, neighbour] = [await newTenant(app), await newTenant(app)];
    await until('the other gateway has loaded the label', async () => (await labelsOf(other)).includes(label), soonMs);
    const costOf = async (on: TestApp, whose = tenant) => (await submitted(whose, label, {}, on)).costUsdMicros;
    expect([await costOf(app), await costOf(other)]).toEqual([2000, 2000]);
    const price = await setOrgPrice({ orgId: tenant.orgId, label, prices: entries({ input: 500_000, output: 0 }) });
    expect(price).toMatchObject({ label, changes: [{ source: 'ORG_OVERRIDE', entries: expect.anything() }] });
    expect(await submitted(tenant, label)).toMatchObject({ costUsdMicros: 500, priceSource: 'ORG_OVERRIDE' });
    await until('the other gateway has the price', async () => (await costOf(other)) === 500, soonMs);
    expect([await costOf(app, neighbour), await costOf(other, neighbour)]).toEqual([2000, 2000]);
    await setOrgPrice({ orgId: tenant.orgId, label, prices: null });
    expect(await submitted(tenant, label)).toMatchObject({ costUsdMicros: 2000, priceSource: 'CATALOG' });
  });

  it('is read by the clients of the org, and by no one else', async () => {
    const org = await newOrg(app);
    const client = await newApp(app, org);
    const label = await added();
    await setOrgPrice({ orgId: org.orgId, label, prices: entries({ input: 1 }), effectiveFrom: iso(dayMs) });
    for (const { caller } of [org, client])
      expect((await caller.ask(op.OrgPricesDocument, {})).org?.prices).toMatchObject([{ label, changes: [{}] }]);
    const stranger = await newOrg(app);
    expect((await stranger.caller.ask(op.OrgPricesDocument, { orgId: org.orgId })).org).toBeNull();
    expect((await stranger.caller.ask(op.OrgPricesDocument, {})).org?.prices).toEqual([]);
    const { org: audited } = await org.caller.ask(op.AuditDocument, {
      orgId: org.orgId,
      entityId: `$MODEL:${label}`,
    });
    expect(audited?.auditEvents.nodes).toMatchObject([
      {
        action: 'price_set',
        details: [{ name: 'effectiveFrom' }, { name: 'prices', value: 'input: 1', previousValue: 'none' }],
      },
    ]);
  });

  it('refuses an unknown org, an unknown label and a wrong price', async () => {
    const tenant = await newTenant(app);
    const codeOf = (input: op.SetOrgPriceInput) => app.admin.codeOf(op.SetOrgPriceDocument, { input });
    const prices = entries(usual);
    expect(await codeOf({ orgId: randomUUID(), label: 'premium', prices })).toBe('NOT_FOUND');
    expect(await codeOf({ ...orgOf(tenant), label: newLabel(), prices })).toBe('INVALID_MODEL_LABEL');
    expect(await codeOf({ ...orgOf(tenant), label: 'A#', prices: null })).toBe('BAD_USER_INPUT');
    expect(await codeOf({ ...orgOf(tenant), label: 'premium', prices: entries({ 'A b': 1 }) })).toBe('BAD_USER_INPUT');
  });

  it('keeps every one of several concurrent changes', async () => {
    const tenant = await newTenant(app);
    const label = await added();
    const days = [1, 2, 3];
    await Promise.all(
      days.map((day) =>
        setOrgPrice({ ...orgOf(tenant), label, prices: entries({ input: day }), effectiveFrom: iso(day * dayMs) }),
      ),
    );
    const { org } = await app.admin.ask(op.OrgPricesDocument, { orgId: tenant.orgId });
    expect(org?.prices[0]?.changes.map(({ entries: all }) => all[0]?.usdMicrosPer1M)).toEqual(days);
  });
});

const orgOf = ({ orgId }: Tenant) => ({ orgId });

it('prefers the price of the org, then that of the catalog, then the fetched one, then the default', async () => {
  const { store } = app.gateway.services;
  const tenant = await newTenant(app);
  const label = newLabel();
  const seeds = new Map([[label, { label, modelId: `m-${label}`, entries: tokenEntries(1_000_000, 0) }]]);
  const sourceOf = async (): Promise<string> => {
    const fresh = await app.another({ seedModels: seeds });
    const { costUsdMicros, priceSource } = await submitted(tenant, label, {}, fresh);
    await fresh.stop();
    return `${priceSource} ${costUsdMicros}`;
  };
  expect(await sourceOf()).toBe('CONFIG_DEFAULT 1000');
  const put = {
    PK: `m-${label}`,
    SK: iso(0).slice(0, 10),
    fetched_at_epoch: 1,
    prices: { input: 2_000_000, output: 0 },
  };
  await store.write({ table: 'pricing_cache', put });
  expect(await sourceOf()).toBe('PRICING_CACHE 2000');
  await upsert({ label, modelId: `m-${label}`, prices: entries({ input: 3_000_000, output: 0 }) });
  expect(await sourceOf()).toBe('CATALOG 3000');
  await setOrgPrice({ orgId: tenant.orgId, label, prices: entries({ input: 4_000_000, output: 0 }) });
  expect(await sourceOf()).toBe('ORG_OVERRIDE 4000');
});

it('has no price for a model without any, and then accepts only submitted costs', async () => {
  const tenant = await newTenant(app);
  const { label, price, prices } = await upsert({ label: newLabel() });
  expect([price, prices]).toEqual([{ source: 'CATALOG', entries: [] }, []]);
  expect(await issuesOf(cost(tenant, { ...tokens, modelLabel: label }))).toEqual([
    ['BAD_USER_INPUT', expect.stringContaining('the model has no price yet')],
  ]);
  expect(await submit(cost(tenant, { modelLabel: label, costUsdMicros: 5 }))).toMatchObject({ costUsdMicros: 5 });
});

describe('models', () => {
  it('are paged in the order in which they were added', async () => {
    const labels = [await added(), await added(), await added()];
    const all = await labelsOf(app);
    expect(all.slice(0, 3)).toEqual(['premium', 'standard', 'economy']);
    expect(all.filter((label) => labels.includes(label))).toEqual(labels);
    const pages: string[] = [];
    for (let after: string | undefined; ; after = pages.at(-1)) {
      const page = await labelsOf(app, { first: 2, after });
      pages.push(...page);
      if (page.length < 2) break;
    }
    expect(pages).toEqual(all);
    await retire(labels[0] as string);
    expect(await labelsOf(app, { first: 1, after: labels[0] })).toEqual([labels[1]]);
  });

  it.each([{ first: 0 }, { first: 101 }, { after: 'nobody' }])('refuse %j', async (variables) => {
    expect(await app.admin.codeOf(op.CatalogDocument, variables)).toBe('BAD_USER_INPUT');
  });
});

describe('config.yaml', () => {
  const seedOf = (label: string, modelId = `seed.${label}`) =>
    [label, { label, modelId, entries: tokenEntries(1, 2) }] as const;

  it('is added once: a restart overwrites no label and revives none', async () => {
    const [changed, retired] = [newLabel(), newLabel()];
    const seedModels = new Map([seedOf(changed), seedOf(retired)]);
    await (await app.another({ seedModels })).stop();
    await upsert({ label: changed, modelId: 'changed' });
    await until('the label is loaded', async () => (await labelsOf(app)).includes(retired));
    await retire(retired);
    const restarted = await opened(app.another({ seedModels }));
    const models = await modelsOf(restarted, { includeRetired: true });
    expect(models.find(({ label }) => label === changed)).toMatchObject({ modelId: 'changed', version: 2 });
    expect(models.find(({ label }) => label === retired)).toMatchObject({ version: 2, retiredAt: expect.any(String) });
    expect(await labelsOf(restarted)).not.toContain(retired);
  });

  it('does not replace a label that was added between its read and its write', async () => {
    const label = await added();
    const store = new CatalogStore(app.gateway.services.store);
    const before = await store.read(label);
    const { version } = await store.load();
    const seeds = [newLabel(), label].map((each) => ({ ...(before as CatalogModel), label: each, modelId: 'seed' }));
    expect(await store.seed(seeds, [])).toBe('stale');
    expect([await store.read(label), (await store.load()).version]).toEqual([before, version]);
  });

  it('is added by several processes at once, and running gateways have its labels within 2 s', async () => {
    const label = newLabel();
    const { store } = app.gateway.services;
    const before = (await store.get('pricing_cache', catalogHeadKey, { consistent: true }))?.labels as number;
    const gateways = await Promise.all([1, 2, 3].map(() => app.another({ seedModels: new Map([seedOf(label)]) })));
    for (const gateway of gateways) expect(await labelsOf(gateway)).toContain(label);
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    expect((await store.get('pricing_cache', catalogHeadKey, { consistent: true }))?.labels).toBe(before + 1);
    await until('a running gateway has loaded the label', async () => (await labelsOf(other)).includes(label), soonMs);
  });

  it('is added by a worker too', async () => {
    const label = newLabel();
    // No change of another test is left to load.
    await caughtUp(app);
    const worker = buildBackground({ ...app.config, seedModels: new Map([seedOf(label)]) }, { clock, log: silentLog });
    await worker.spend.sumAll();
    worker.close();
    expect(await app.gateway.services.store.get('pricing_cache', modelKey(label))).toMatchObject({ origin: 'SEEDED' });
    // The worker may not count the change, so gateways find the label by the version of the catalog.
    clock.age(61_000);
    await until('a gateway has loaded the label', async () => (await labelsOf(app)).includes(label));
  });

  it('is named in the log if it differs from what it has seeded', async () => {
    const label = newLabel();
    await (await app.another({ seedModels: new Map([seedOf(label)]) })).stop();
    warnings.length = 0;
    await (await app.another({ seedModels: new Map([seedOf(label)]) })).stop();
    expect(warnings.filter(({ labels }) => labels)).toEqual([]);
    await (await app.another({ seedModels: new Map([seedOf(label, 'edited')]) })).stop();
    expect(warnings.filter(({ labels }) => labels)).toEqual([{ labels: [label] }]);
  });
});
