import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Background, buildBackground } from '../../src/app.js';
import { sweepExpired } from '../../src/dynamo/sweep.js';
import { epochSeconds } from '../../src/lib/clock.js';
import { type Log, silentLog } from '../../src/lib/log.js';
import { Metrics } from '../../src/lib/metrics.js';
import { catalogPartition, priceKey } from '../../src/spend/catalog/catalog.item.js';
import type { CatalogModel } from '../../src/spend/catalog/catalog.js';
import { tokenEntries } from '../../src/spend/catalog/price.js';
import { PriceStore } from '../../src/spend/catalog/price.store.js';
import { maxListBytes, type PriceRefreshService } from '../../src/spend/catalog/price-refresh.service.js';
import { startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, dateAt, dayMs, hourMs, newTenant, noonClock, type Tenant, toHour } from './costs.js';

const premium = 'anthropic.claude-3-5-sonnet-20241022-v2:0';
const standard = 'anthropic.claude-3-5-haiku-20241022-v1:0';
const defaultPrice = { inputUsdMicrosPer1M: 3_000_000, outputUsdMicrosPer1M: 15_000_000 };
const middlePrice = { inputUsdMicrosPer1M: 4_000_000, outputUsdMicrosPer1M: 20_000_000 };
const highPrice = { inputUsdMicrosPer1M: 5_000_000, outputUsdMicrosPer1M: 25_000_000 };
/** A call whose cost shows which price was used: 18,000, 24,000 or 30,000. */
const tokens = { inputTokens: 1000, outputTokens: 1000, costUsdMicros: null };

const fixture = new URL('../support/litellm-prices.json', import.meta.url).pathname;

const clock = noonClock();
const folder = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
const file = join(folder, 'prices.json');
let app: TestApp;
let tenant: Tenant;
let server: Server;
let url: string;
let served = { status: 200, body: '{}' };
let requests = 0;
const workers: Background[] = [];

function newRefresh(priceSource: string): PriceRefreshService {
  const worker = buildBackground({ ...app.config, priceSource }, { clock, log: silentLog });
  workers.push(worker);
  return worker.prices as PriceRefreshService;
}

/** Reads a file with this list. */
function fromFile(list: object): PriceRefreshService {
  writeFileSync(file, JSON.stringify(list));
  return newRefresh(file);
}

/** With its metrics and its warnings. */
function measuredRefresh(priceSource: string): {
  metrics: Metrics;
  warnings: Record<string, unknown>[];
  prices: PriceRefreshService;
} {
  const metrics = new Metrics();
  const warnings: Record<string, unknown>[] = [];
  const log: Log = { ...silentLog, warn: (line: unknown) => void warnings.push(line as Record<string, unknown>) };
  const worker = buildBackground({ ...app.config, priceSource }, { clock, log, metrics });
  workers.push(worker);
  return { metrics, warnings, prices: worker.prices as PriceRefreshService };
}

const serve = (list: object) => {
  served = { status: 200, body: JSON.stringify(list) };
};

const today = () => dateAt(clock.nowMs());
const tomorrow = () => dateAt(clock.nowMs() + dayMs);
const stored = (modelId: string, day = today()) =>
  app.gateway.services.store.get('pricing_cache', priceKey({ modelId, day }), { consistent: true });

/** Gateways cache prices for a minute of real time. A new one reads what is stored. */
async function withNewGateway<T>(task: (fresh: TestApp) => Promise<T>): Promise<T> {
  const fresh = await app.another();
  try {
    return await task(fresh);
  } finally {
    await fresh.stop();
  }
}

const receiptOf = (overrides: Partial<op.SubmitCostInput> = {}) =>
  withNewGateway(
    async ({ admin }) =>
      (await admin.ask(op.SubmitCostDocument, { input: cost(tenant, { ...tokens, ...overrides }) })).submitCost,
  );

beforeAll(async () => {
  app = await startTestApp({ clock });
  tenant = await newTenant(app);
  server = createServer((_request, response) => {
    requests++;
    response.writeHead(served.status).end(served.body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.json`;
});
// Each test starts without the prices of the one before.
beforeEach(async () => {
  clock.advance(5 * dayMs);
  toHour(clock, 12);
  requests = 0;
  const { store } = app.gateway.services;
  const { items } = await store.scan('pricing_cache');
  await store.writeMany(
    'pricing_cache',
    items
      .filter(({ PK }) => PK !== catalogPartition)
      .map(({ PK, SK }) => ({ delete: { PK: PK as string, SK: SK as string } })),
  );
});
afterEach(() => {
  for (const worker of workers.splice(0)) worker.close();
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

it('does not refresh prices without a source', () => {
  const worker = buildBackground(app.config, { clock, log: silentLog });
  workers.push(worker);
  expect(worker.prices).toBeUndefined();
});

it('uses the prices of a file for the calls of that day, and returns their source', async () => {
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await fromFile({ [premium]: middlePrice, [standard]: middlePrice }).refresh()).toBe(2);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
  expect(await receiptOf({ costUsdMicros: 7 })).toMatchObject({ costUsdMicros: 7, priceSource: 'SUBMITTED' });
  // The day of the call decides, not the day of its submission.
  expect(await receiptOf({ occurredAt: new Date(clock.nowMs() - 20 * hourMs).toISOString() })).toMatchObject({
    priceSource: 'CONFIG_DEFAULT',
  });
  const { models } = await withNewGateway(({ admin }) => admin.ask(op.ModelsDocument));
  expect(models.map(({ label, price }) => [label, price.source])).toEqual([
    ['premium', 'PRICING_CACHE'],
    ['standard', 'PRICING_CACHE'],
    ['economy', 'CONFIG_DEFAULT'],
  ]);
  expect(models[0]?.price).toMatchObject({ ...middlePrice, fetchedAt: expect.stringContaining(today()) });
});

it('uses the prices of a URL, and fetches it once per hour', async () => {
  serve({ [premium]: middlePrice });
  const prices = newRefresh(url);
  expect(await prices.refresh()).toBe(1);
  expect(await prices.refresh()).toBe(0);
  expect(requests).toBe(1);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
  clock.advance(hourMs);
  expect(await prices.refresh()).toBe(0);
  expect(requests).toBe(2);
});

it('corrects a wrong price with the next fetch, and changes no earlier receipt', async () => {
  serve({ [premium]: middlePrice });
  const prices = newRefresh(url);
  await prices.refresh();
  const input = cost(tenant, tokens);
  const send = () =>
    withNewGateway(async ({ admin }) => (await admin.ask(op.SubmitCostDocument, { input })).submitCost);
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: false });
  clock.advance(hourMs);
  serve({ [premium]: highPrice });
  expect(await prices.refresh()).toBe(1);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 30_000 });
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: true });
});

it('uses the last fetched price if two workers have different lists', async () => {
  const [one, other] = [newRefresh(join(folder, 'one.json')), newRefresh(join(folder, 'other.json'))];
  writeFileSync(join(folder, 'one.json'), JSON.stringify({ [premium]: middlePrice }));
  writeFileSync(join(folder, 'other.json'), JSON.stringify({ [premium]: highPrice }));
  await one.refresh();
  clock.advance(1000);
  expect(await other.refresh()).toBe(1);
  expect((await stored(premium))?.input_price_usd_micros_per_1m).toBe(highPrice.inputUsdMicrosPer1M);
  const store = new PriceStore(app.gateway.services.store, 3);
  const model = app.gateway.services.catalog.get('premium') as CatalogModel;
  const entries = tokenEntries(middlePrice.inputUsdMicrosPer1M, middlePrice.outputUsdMicrosPer1M);
  expect(await store.save(model, today(), entries, clock.nowMs() - 500)).toBe(false);
});

it('stores the price of tomorrow before midnight, so that midnight changes no price', async () => {
  serve({ [premium]: middlePrice });
  const prices = newRefresh(url);
  toHour(clock, 22);
  await prices.refresh();
  expect(await stored(premium, tomorrow())).toBeUndefined();
  clock.advance(hourMs);
  serve({ [premium]: highPrice });
  await prices.refresh();
  expect(await stored(premium, tomorrow())).toMatchObject({
    input_price_usd_micros_per_1m: highPrice.inputUsdMicrosPer1M,
  });
  clock.advance(hourMs);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 30_000, priceSource: 'PRICING_CACHE' });
});

it('uses the last known price while the source is down, also beyond the retention of prices', async () => {
  serve({ [premium]: middlePrice });
  const prices = newRefresh(url);
  await prices.refresh();
  served = { status: 500, body: '' };
  for (let day = 0; day < 6; day++) {
    clock.advance(dayMs);
    await expect(prices.refresh()).rejects.toThrow(/500/);
    expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
  }
  await sweepExpired(app.gateway.services.store, clock);
  expect(await stored(premium, dateAt(clock.nowMs() - 6 * dayMs))).toBeUndefined();
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
});

it('stores prices for three days', async () => {
  await fromFile({ [premium]: middlePrice }).refresh();
  const nowSecs = epochSeconds(clock.nowMs());
  const expiry = (await stored(premium))?.expires_at_epoch as number;
  expect(Math.abs(expiry - nowSecs - 3 * 86_400)).toBeLessThan(60);
});

it('keeps the price of a model that the list does not have', async () => {
  expect(await fromFile({ [standard]: middlePrice, 'some.model-of-nobody': middlePrice }).refresh()).toBe(1);
  expect(await stored(premium)).toBeUndefined();
  expect(await stored('some.model-of-nobody')).toBeUndefined();
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await receiptOf({ modelLabel: 'standard' })).toMatchObject({
    costUsdMicros: 24_000,
    priceSource: 'PRICING_CACHE',
  });
});

it('accepts a list with a byte order mark and a $schema entry', async () => {
  served = {
    status: 200,
    body: `\ufeff${JSON.stringify({ $schema: 'https://example.com/prices', [premium]: middlePrice })}`,
  };
  expect(await newRefresh(url).refresh()).toBe(1);
});

it("uses the prices of LiteLLM's file, with components and tiers", async () => {
  const modelId = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
  await app.admin.ask(op.UpsertModelDocument, { input: { label: 'sonnet', modelId } });
  const { metrics, warnings, prices } = measuredRefresh(fixture);
  // The three of the fixture that the catalog has.
  expect(await prices.refresh()).toBe(3);
  expect(warnings.map(({ label }) => label)).toEqual(['economy']);
  const call = { modelLabel: 'sonnet', inputTokens: 100, components: [{ name: 'cacheRead', quantity: 200_000 }] };
  // 100 × 6 + 1,000 × 22.5 + 200,000 × 0.6
  expect(await receiptOf(call)).toMatchObject({ costUsdMicros: 143_100, priceSource: 'PRICING_CACHE' });
  await withNewGateway(async ({ admin }) => {
    const reasoning = cost(tenant, { ...tokens, ...call, components: [{ name: 'reasoning', quantity: 1 }] });
    expect(await admin.codeOf(op.SubmitCostDocument, { input: reasoning })).toBe('BAD_USER_INPUT');
  });
  // A new model is fetched before the next hour, and a model with a price of its own is not missed.
  await app.admin.ask(op.UpsertModelDocument, { input: { label: 'flash', modelId: 'gemini/gemini-2.5-flash' } });
  const own = { label: 'own', modelId: 'not/in#the list', prices: [{ name: 'input', usdMicrosPer1M: 1 }] };
  await app.admin.ask(op.UpsertModelDocument, { input: own });
  expect(await prices.refresh()).toBe(1);
  expect(await prices.refresh()).toBe(0);
  expect(warnings.map(({ label }) => label)).toEqual(['economy', 'economy']);
  expect(await metrics.registry.getSingleMetricAsString('tollgate_price_failures_total')).toContain(
    '{reason="missing"} 2',
  );
  for (const label of ['sonnet', 'flash', 'own']) await app.admin.ask(op.RetireModelDocument, { label });
});

it('reads at most 8 MB', async () => {
  const list = JSON.stringify({ [premium]: middlePrice });
  served = { status: 200, body: list.padEnd(maxListBytes) };
  expect(await newRefresh(url).refresh()).toBe(1);
  served = { status: 200, body: list.padEnd(maxListBytes + 1) };
  await expect(newRefresh(url).refresh()).rejects.toThrow(/more than 8388608 bytes/);
  writeFileSync(file, list.padEnd(maxListBytes + 1));
  await expect(newRefresh(file).refresh()).rejects.toThrow(/more than 8388608 bytes/);
});

describe('an invalid entry', () => {
  it.each<[string, unknown]>([
    ['a negative price', { ...middlePrice, inputUsdMicrosPer1M: -1 }],
    ['a fraction', { ...middlePrice, outputUsdMicrosPer1M: 0.5 }],
    ['a string', { ...middlePrice, outputUsdMicrosPer1M: '4000000' }],
    ['half of a price', { inputUsdMicrosPer1M: 1 }],
    ['a price above the maximum', { ...middlePrice, inputUsdMicrosPer1M: 1e13 }],
    ['null', null],
  ])('is skipped and reported, and the others are used: %s', async (_, price) => {
    serve({ [standard]: middlePrice, [premium]: price });
    const { metrics, warnings, prices } = measuredRefresh(url);
    expect(await prices.refresh()).toBe(1);
    expect(await stored(premium)).toBeUndefined();
    expect(await stored(standard)).toMatchObject({ input_price_usd_micros_per_1m: middlePrice.inputUsdMicrosPer1M });
    expect(warnings.filter(({ label }) => label === 'premium')).toMatchObject([{ source: url }]);
    expect(await metrics.registry.getSingleMetricAsString('tollgate_price_failures_total')).toContain(
      '{reason="invalid"} 1',
    );
    serve({ [standard]: middlePrice, [premium]: middlePrice });
    clock.advance(hourMs);
    expect(await prices.refresh()).toBe(1);
  });
});

describe('a list that cannot be read', () => {
  it.each([
    ['invalid JSON', { status: 200, body: '{"anthropic' }],
    ['an array', { status: 200, body: '[1,2]' }],
    ['null', { status: 200, body: 'null' }],
    ['an HTML page', { status: 200, body: '<html></html>' }],
    ['status 500', { status: 500, body: JSON.stringify({ [premium]: middlePrice }) }],
  ])('leaves the default prices in force until a later fetch succeeds: %s', async (_, response) => {
    served = response;
    const { metrics, prices } = measuredRefresh(url);
    await expect(prices.refresh()).rejects.toThrow();
    expect([await stored(premium), await stored(standard)]).toEqual([undefined, undefined]);
    expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
    expect(await metrics.registry.getSingleMetricAsString('tollgate_price_failures_total')).toContain(
      '{reason="source"} 1',
    );
    serve({ [premium]: middlePrice });
    expect(await prices.refresh()).toBe(1);
    expect(await stored(premium)).toMatchObject({ input_price_usd_micros_per_1m: middlePrice.inputUsdMicrosPer1M });
  });

  it('leaves the default prices in force if the file does not exist', async () => {
    await expect(newRefresh(join(folder, 'nowhere.json')).refresh()).rejects.toThrow(/ENOENT/);
    const { data } = await withNewGateway(({ admin }) => admin.send(op.ModelsDocument));
    expect(data?.models[0]?.price).toMatchObject({ ...defaultPrice, source: 'CONFIG_DEFAULT' });
  });
});

it('exports the age of prices as a metric, whichever worker fetched them', async () => {
  const all = Object.fromEntries([...app.config.seedModels.values()].map(({ modelId }) => [modelId, middlePrice]));
  await fromFile(all).refresh();
  served = { status: 500, body: '' };
  const { metrics, prices } = measuredRefresh(url);
  clock.advance(7 * hourMs);
  await expect(prices.refresh()).rejects.toThrow();
  const age = Number(/tollgate_price_age_seconds (\d+)/.exec(await metrics.registry.metrics())?.[1]);
  expect(age).toBeGreaterThanOrEqual(7 * 3600);
  expect(age).toBeLessThan(7 * 3600 + 60);
});
