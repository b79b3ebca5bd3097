// The price of a gateway that nobody uses, as Amazon DynamoDB and dynoxide count it.
import { ChangeStore, changeKey, counterCount, countersPerSlot } from '../../src/changes/change.store.js';
import type { Units } from '../../src/lib/units.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { until } from '../support/until.js';

const secondsPerMonth = 30.5 * 86_400;
let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint });
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

async function unitsOfPoll(): Promise<Units> {
  const units = { read: 0, write: 0, calls: 0 };
  const { store } = app.gateway.services;
  await store.metered(units, () => new ChangeStore(store).load());
  return units;
}

it('reads the change counter and nothing else while nobody sends a request or subscribes', async () => {
  proxy.clear();
  const callsOf = (table: string) =>
    proxy.calls.filter(({ operation, tables }) => operation === 'Query' && tables.join().endsWith(`_${table}`)).length;
  await until('five polls', () => callsOf('config') >= 5);
  // The catalog of prices is checked when a gateway starts, and then rarely.
  expect(callsOf('pricing_cache')).toBeLessThanOrEqual(1);
  expect(proxy.calls).toHaveLength(callsOf('config') + callsOf('pricing_cache'));
});

it('reads the change counter, which is read once per second, for 1 read unit and one call', async () => {
  expect(await unitsOfPoll()).toEqual({ read: 1, write: 0, calls: 1 });
  expect(secondsPerMonth).toBeLessThan(25_000_000);
});

it('reads a change counter whose items are all full for 2 read units, at most 6 million per month', async () => {
  const counters = Object.fromEntries(Array.from({ length: countersPerSlot }, (_, i) => [`c${i}`, 999_999]));
  for (let slot = 0; slot < counterCount / countersPerSlot; slot++) {
    const set = { ...counters, version: 999_999, changed_by: 'x'.repeat(36) };
    await app.gateway.services.store.write({ table: 'config', update: changeKey(slot), set });
  }
  const { read } = await unitsOfPoll();
  expect(read).toBeLessThanOrEqual(2);
  expect(read * secondsPerMonth).toBeLessThanOrEqual(6_000_000);
});
