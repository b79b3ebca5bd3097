import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Background, buildBackground } from '../../src/app.js';
import { epochSeconds } from '../../src/lib/clock.js';
import { silentLog } from '../../src/lib/log.js';
import type { PriceRollup } from '../../src/spend/price.rollup.js';
import { priceKey } from '../../src/spend/price.store.js';
import { startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, dateAt, dayMs, hourMs, newTenant, noonClock, type Tenant } from './costs.js';

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

function newRollup(priceSource: string): PriceRollup {
  const worker = buildBackground({ ...app.config, priceSource }, { clock, log: silentLog });
  workers.push(worker);
  return worker.prices as PriceRollup;
}

/** From a file with this list. */
function fromFile(list: object): PriceRollup {
  writeFileSync(file, JSON.stringify(list));
  return newRollup(file);
}

const today = () => dateAt(clock.nowMs());
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
  withNewGateway(async ({ admin }) => (await admin.ask(op.SubmitCostDocument, { input: cost(tenant, { ...tokens, ...overrides }) })).submitCost);

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
beforeEach(() => {
  clock.advance(5 * dayMs);
  asked = 0;
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
  // By the day on which the call was made, not the one on which it is told of.
  expect(await receiptOf({ occurredAt: new Date(clock.nowMs() - 20 * hourMs).toISOString() })).toMatchObject({ priceSource: 'CONFIG_DEFAULT' });
  const { models } = await withNewGateway(({ admin }) => admin.ask(op.ModelsDocument));
  expect(models.map(({ label, price }) => [label, price.source])).toEqual([
    ['premium', 'PRICING_CACHE'],
    ['standard', 'PRICING_CACHE'],
    ['economy', 'CONFIG_DEFAULT'],
  ]);
  expect(models[0]?.price).toMatchObject({ ...dear, fetchedAt: expect.stringContaining(today()) });
});

it('a URL’s do too, and it is asked once a day', async () => {
  served = { status: 200, body: JSON.stringify({ [premium]: dear }) };
  const prices = newRollup(url);
  expect(await prices.refresh()).toBe(1);
  expect(await prices.refresh()).toBe(0);
  clock.advance(11 * hourMs);
  expect(await prices.refresh()).toBe(0);
  expect(asked).toBe(1);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });

  clock.advance(hourMs);
  served = { status: 200, body: JSON.stringify({ [premium]: dearer }) };
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await prices.refresh()).toBe(1);
  expect(asked).toBe(2);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 30_000, priceSource: 'PRICING_CACHE' });
});

it('a day’s price, once set, is never changed, whatever another worker reads', async () => {
  await fromFile({ [premium]: dear }).refresh();
  const before = await stored(premium);
  const input = cost(tenant, tokens);
  const send = () => withNewGateway(async ({ admin }) => (await admin.ask(op.SubmitCostDocument, { input })).submitCost);
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: false });
  clock.advance(60_000);
  expect(await fromFile({ [premium]: dearer }).refresh()).toBe(0);
  expect(await stored(premium)).toEqual(before);
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 24_000 });
  // Nor is a receipt: sent again on a dearer day, it is the first one.
  clock.advance(dayMs);
  await fromFile({ [premium]: dearer }).refresh();
  expect(await send()).toMatchObject({ costUsdMicros: 24_000, replayed: true });
});

it('two workers with different lists agree on one price', async () => {
  const one = newRollup(join(folder, 'one.json'));
  const other = newRollup(join(folder, 'other.json'));
  writeFileSync(join(folder, 'one.json'), JSON.stringify({ [premium]: dear }));
  writeFileSync(join(folder, 'other.json'), JSON.stringify({ [premium]: dearer }));
  const set = await Promise.all([one.refresh(), other.refresh()]);
  expect(set.toSorted()).toEqual([0, 1]);
  const winner = set[0] === 1 ? dear : dearer;
  expect((await stored(premium))?.input_price_usd_micros_per_1m).toBe(winner.inputUsdMicrosPer1M);
});

it('prices are kept for three days', async () => {
  await fromFile({ [premium]: dear }).refresh();
  const nowSecs = epochSeconds(clock.nowMs());
  const expiry = (await stored(premium))?.expires_at_epoch as number;
  expect(Math.abs(expiry - nowSecs - 3 * 86_400)).toBeLessThan(60);
});

it('a model that the list leaves out keeps its default', async () => {
  expect(await fromFile({ [standard]: dear, 'some.model-of-nobody': dear }).refresh()).toBe(1);
  expect(await stored(premium)).toBeUndefined();
  expect(await stored('some.model-of-nobody')).toBeUndefined();
  expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
  expect(await receiptOf({ modelLabel: 'standard' })).toMatchObject({ costUsdMicros: 24_000, priceSource: 'PRICING_CACHE' });
});

describe('the defaults serve, and the next try may succeed, when the list', () => {
  const withPremium = (price: object) => ({ status: 200, body: JSON.stringify({ [standard]: dear, [premium]: price }) });
  it.each([
    ['is broken JSON', { status: 200, body: '{"anthropic' }],
    ['is no list', { status: 200, body: '[1,2]' }],
    ['is null', { status: 200, body: 'null' }],
    ['comes with a 500', { status: 500, body: JSON.stringify({ [premium]: dear }) }],
    ['has a negative price', withPremium({ ...dear, inputUsdMicrosPer1M: -1 })],
    ['has a fraction for a price', withPremium({ ...dear, outputUsdMicrosPer1M: 0.5 })],
    ['has a text for a price', withPremium({ ...dear, outputUsdMicrosPer1M: '4000000' })],
    ['has half a price', withPremium({ inputUsdMicrosPer1M: 1 })],
    ['has a price beyond all bounds', withPremium({ ...dear, inputUsdMicrosPer1M: 1e13 })],
  ])('%s', async (_, answer) => {
    served = answer;
    const prices = newRollup(url);
    await expect(prices.refresh()).rejects.toThrow();
    expect([await stored(premium), await stored(standard)]).toEqual([undefined, undefined]);
    expect(await receiptOf()).toMatchObject({ costUsdMicros: 18_000, priceSource: 'CONFIG_DEFAULT' });
    served = { status: 200, body: JSON.stringify({ [premium]: dear }) };
    expect(await prices.refresh()).toBe(1);
    expect(await stored(premium)).toMatchObject({ input_price_usd_micros_per_1m: dear.inputUsdMicrosPer1M });
  });

  it('is not to be had', async () => {
    await expect(newRollup(join(folder, 'nowhere.json')).refresh()).rejects.toThrow(/ENOENT/);
    const { data } = await withNewGateway(({ admin }) => admin.send(op.ModelsDocument));
    expect(data?.models[0]?.price).toMatchObject({ ...defaults, source: 'CONFIG_DEFAULT' });
  });
});
