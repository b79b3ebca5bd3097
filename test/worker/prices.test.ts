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
import type { CatalogModel } from '../../src/spend/price.js';
import { PriceStore, priceKey } from '../../src/spend/price.store.js';
import type { PriceRefreshService } from '../../src/spend/price-refresh.service.js';
import { startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, dateAt, dayMs, hourMs, newTenant, noonClock, type Tenant, toHour } from './costs.js';

const premium = 'anthropic.claude-3-5-sonnet-20241022-v2:0';
const standard = 'anthropic.claude-3-5-haiku-20241022-v1:0';
const defaults = { inputUsdMicrosPer1M: 3_000_000, outputUsdMicrosPer1M: 15_000_000 };
const dear = { inputUsdMicrosPer1M: 4_000_000, outputUsdMicrosPer1M: 20_000_000 };
const dearer = { inputUsdMicrosPer1M: 5_000_000, outputUsdMicrosPer1M: 25_000_000 };
/** A call whose cost tells by which of them it was priced: 18,000, 24,000 or 30,000. */
const tokens = { inputTokens: 1000, outputTokens: 1000, costUsdMicros: null };

const clock = noonClock();
const folder = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
const file = join(folder, 'prices.json');
let app: TestApp;
let tenant: Tenant;
let server: Server;
let url: string;
let served = { status: 200, body: '{}' };
let asked = 0;
const workers: Background[] = [];

function newRollup(priceSource: string): PriceRefreshService {
  const worker = buildBackground({ ...app.config, priceSource }, { clock, log: silentLog });
  workers.push(worker);
  return worker.prices as PriceRefreshService;
}

/** From a file with this list. */
function fromFile(list: object): PriceRefreshService {
  writeFileSync(file, JSON.stringify(list));
  return newRollup(file);
}

/** With its metrics, and the lines that it warns with. */
function watchedRollup(priceSource: string): {
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
const stored = (bedrockModelId: string, day = today()) =>
  app.gateway.services.store.get('pricing_cache', priceKey({ bedrockModelId, day }), { consistent: true });

/** A gateway remembers prices for a minute of real time: one that has not asked before says what is stored. */
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
    asked++;
    response.writeHead(served.status).end(served.body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.json`;
});
// No test knows the prices of the one before it.
beforeEach(async () => {
  clock.advance(5 * dayMs);
  toHour(clock, 12);
  asked = 0;
  const { store } = app.gateway.services;
  const { items } = await store.scan('pricing_cache');
  await store.writeMany(
    'pricing_cache',
    items.map(({ PK, SK }) => ({ delete: { PK: PK as string, SK: SK as string } })),
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

it('no source, no refreshing', () => {
  const worker = buildBackground(app.config, { clock, log: silentLog });
  workers.push(worker);
  expect(worker.prices).toBeUndefined();
});

it('a file’s prices count for the calls of that day, and say where they come from', async () => {
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await fromFile({ [premium]: dear, [standard]: dear }).refresh()).toBe(2);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
  expect(await receiptOf({ costUsdMicros: 7 })).toMatchObject({ costUsdMicros: 7, priceSource: 'SUBMITTED' });
  // By the day on which the call was made, not the one on which it is submitted.
  expect(await receiptOf({ occurredAt: new Date(clock.nowMs() - 20 * hourMs).toISOString() })).toMatchObject({
    priceSource: 'CONFIG_DEFAULT',
  });
  const { models } = await withNewGateway(({ admin }) => admin.ask(op.ModelsDocument));
  expect(models.map(({ label, price }) => [label, price.source])).toEqual([
    ['premium', 'PRICING_CACHE'],
    ['standard', 'PRICING_CACHE'],
    ['economy', 'CONFIG_DEFAULT'],
  ]);
  expect(models[0]?.price).toMatchObject({ ...dear, fetchedAt: expect.stringContaining(today()) });
});

it('a URL’s do too, and it is asked once an hour', async () => {
  serve({ [premium]: dear });
  const prices = newRollup(url);
  expect(await prices.refresh()).toBe(1);
  expect(await prices.refresh()).toBe(0);
  expect(asked).toBe(1);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
  clock.advance(hourMs);
  expect(await prices.refresh()).toBe(0);
  expect(asked).toBe(2);
});

it('a wrong price is corrected by the next fetch, from then on, and no receipt is changed', async () => {
  serve({ [premium]: dear });
  const prices = newRollup(url);
  await prices.refresh();
  const input = cost(tenant, tokens);
  const send = () =>
    withNewGateway(async ({ admin }) => (await admin.ask(op.SubmitCostDocument, { input })).submitCost);
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: false });
  clock.advance(hourMs);
  serve({ [premium]: dearer });
  expect(await prices.refresh()).toBe(1);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 30_000 });
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: true });
});

it('of two workers with different lists the one that fetched last counts', async () => {
  const [one, other] = [newRollup(join(folder, 'one.json')), newRollup(join(folder, 'other.json'))];
  writeFileSync(join(folder, 'one.json'), JSON.stringify({ [premium]: dear }));
  writeFileSync(join(folder, 'other.json'), JSON.stringify({ [premium]: dearer }));
  await one.refresh();
  clock.advance(1000);
  expect(await other.refresh()).toBe(1);
  expect((await stored(premium))?.input_price_usd_micros_per_1m).toBe(dearer.inputUsdMicrosPer1M);
  const store = new PriceStore(app.gateway.services.store, 3);
  const model = app.config.catalog.get('premium') as CatalogModel;
  expect(await store.save(model, today(), dear, clock.nowMs() - 500)).toBe(false);
});

it('midnight changes no price by itself, and tomorrow’s is there before it', async () => {
  serve({ [premium]: dear });
  const prices = newRollup(url);
  toHour(clock, 22);
  await prices.refresh();
  expect(await stored(premium, tomorrow())).toBeUndefined();
  clock.advance(hourMs);
  serve({ [premium]: dearer });
  await prices.refresh();
  expect(await stored(premium, tomorrow())).toMatchObject({
    input_price_usd_micros_per_1m: dearer.inputUsdMicrosPer1M,
  });
  clock.advance(hourMs);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 30_000, priceSource: 'PRICING_CACHE' });
});

it('the last known price applies while the source is down, past the retention of prices too', async () => {
  serve({ [premium]: dear });
  const prices = newRollup(url);
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

it('prices are kept for three days', async () => {
  await fromFile({ [premium]: dear }).refresh();
  const nowSecs = epochSeconds(clock.nowMs());
  const expiry = (await stored(premium))?.expires_at_epoch as number;
  expect(Math.abs(expiry - nowSecs - 3 * 86_400)).toBeLessThan(60);
});

it('a model that the list leaves out keeps its price', async () => {
  expect(await fromFile({ [standard]: dear, 'some.model-of-nobody': dear }).refresh()).toBe(1);
  expect(await stored(premium)).toBeUndefined();
  expect(await stored('some.model-of-nobody')).toBeUndefined();
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await receiptOf({ modelLabel: 'standard' })).toMatchObject({
    costUsdMicros: 24_000,
    priceSource: 'PRICING_CACHE',
  });
});

it('a list may begin with a byte order mark and name its schema', async () => {
  served = { status: 200, body: `\ufeff${JSON.stringify({ $schema: 'https://example.com/prices', [premium]: dear })}` };
  expect(await newRollup(url).refresh()).toBe(1);
});

describe('one bad entry is skipped and reported, and the others count, if it', () => {
  it.each<[string, unknown]>([
    ['is negative', { ...dear, inputUsdMicrosPer1M: -1 }],
    ['is a fraction', { ...dear, outputUsdMicrosPer1M: 0.5 }],
    ['is a text', { ...dear, outputUsdMicrosPer1M: '4000000' }],
    ['is half a price', { inputUsdMicrosPer1M: 1 }],
    ['is beyond all bounds', { ...dear, inputUsdMicrosPer1M: 1e13 }],
    ['is null', null],
  ])('%s', async (_, price) => {
    serve({ [standard]: dear, [premium]: price });
    const { metrics, warnings, prices } = watchedRollup(url);
    expect(await prices.refresh()).toBe(1);
    expect(await stored(premium)).toBeUndefined();
    expect(await stored(standard)).toMatchObject({ input_price_usd_micros_per_1m: dear.inputUsdMicrosPer1M });
    expect(warnings.filter(({ label }) => label === 'premium')).toMatchObject([{ source: url }]);
    expect(await metrics.registry.getSingleMetricAsString('tollgate_price_failures_total')).toContain(
      '{reason="invalid"} 1',
    );
    serve({ [standard]: dear, [premium]: dear });
    clock.advance(hourMs);
    expect(await prices.refresh()).toBe(1);
  });
});

describe('the defaults apply, and the next try may succeed, when the list', () => {
  it.each([
    ['is broken JSON', { status: 200, body: '{"anthropic' }],
    ['is no list', { status: 200, body: '[1,2]' }],
    ['is null', { status: 200, body: 'null' }],
    ['is a page', { status: 200, body: '<html></html>' }],
    ['comes with a 500', { status: 500, body: JSON.stringify({ [premium]: dear }) }],
  ])('%s', async (_, answer) => {
    served = answer;
    const { metrics, prices } = watchedRollup(url);
    await expect(prices.refresh()).rejects.toThrow();
    expect([await stored(premium), await stored(standard)]).toEqual([undefined, undefined]);
    expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
    expect(await metrics.registry.getSingleMetricAsString('tollgate_price_failures_total')).toContain(
      '{reason="source"} 1',
    );
    serve({ [premium]: dear });
    expect(await prices.refresh()).toBe(1);
    expect(await stored(premium)).toMatchObject({ input_price_usd_micros_per_1m: dear.inputUsdMicrosPer1M });
  });

  it('is not to be had', async () => {
    await expect(newRollup(join(folder, 'nowhere.json')).refresh()).rejects.toThrow(/ENOENT/);
    const { data } = await withNewGateway(({ admin }) => admin.send(op.ModelsDocument));
    expect(data?.models[0]?.price).toMatchObject({ ...defaults, source: 'CONFIG_DEFAULT' });
  });
});

it('the age of prices is a metric, whichever worker fetched them', async () => {
  const all = Object.fromEntries([...app.config.catalog.values()].map(({ bedrockModelId }) => [bedrockModelId, dear]));
  await fromFile(all).refresh();
  served = { status: 500, body: '' };
  const { metrics, prices } = watchedRollup(url);
  clock.advance(7 * hourMs);
  await expect(prices.refresh()).rejects.toThrow();
  const age = Number(/tollgate_price_age_seconds (\d+)/.exec(await metrics.registry.metrics())?.[1]);
  expect(age).toBeGreaterThanOrEqual(7 * 3600);
  expect(age).toBeLessThan(7 * 3600 + 60);
});
