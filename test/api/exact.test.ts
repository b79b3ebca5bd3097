import { configKey } from '../../src/identity/client.item.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { cost, newTenant, noonClock, submit, type Tenant } from '../worker/costs.js';

const clock = noonClock();
let proxy: FaultProxy;
let app: TestApp;
/** 64 shards and three labels: 192 units per app, so that 52 apps are within the bound and 60 are not. */
let large: Tenant;
/** 8 shards and three labels: 24 units per app. */
let small: Tenant;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ clock, endpoint: proxy.endpoint });
  large = await newTenant(app, { shardCount: 64 });
  small = await newTenant(app, {}, ['chat', 'mail']);
  await submit(app.admin, [
    cost(small, { costUsdMicros: 5 }),
    cost(small, { appId: 'mail', costUsdMicros: 7 }),
    cost(large, { costUsdMicros: 9 }),
  ]);
  await addApps(large, 59);
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await app.stop();
  await proxy.stop();
});

/** Writes copies of the tenant's first app into the table, because registering each would take longer. */
async function addApps(tenant: Tenant, count: number): Promise<void> {
  const { store } = app.gateway.services;
  const first = await store.get('config', configKey({ orgId: tenant.orgId, appId: 'chat' }));
  const copies = Array.from({ length: count }, (_, i) => ({
    put: { ...first, ...configKey({ orgId: tenant.orgId, appId: `copy-${i}` }) },
  }));
  await store.writeMany('config', copies);
}

const shardsRead = () =>
  proxy.calls
    .filter(({ operation }) => operation === 'BatchGetItem')
    .reduce((sum, { body }) => sum + (JSON.stringify(body).match(/#SH#\d+/g) ?? []).length, 0);

const orgSpend = (fields: string) => `query ($orgId: UUID) { org(orgId: $orgId) { ${fields} } }`;
const exact = 'spend(consistency: EXACT) { costUsdMicros }';
const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
const ask = (tenant: Tenant, fields: string, on = app) => on.admin.send(orgSpend(fields), { orgId: tenant.orgId });

describe('an exact read', () => {
  it('is charged for labels × shards, and succeeds within the bound', async () => {
    const { data, errors } = await ask(small, `app(appId: "chat") { ${exact} } ${exact}`);
    expect(errors).toBeUndefined();
    expect(data).toEqual({ org: { app: { spend: { costUsdMicros: 5 } }, spend: { costUsdMicros: 12 } } });
  });

  it('of a roll-up beyond the bound is rejected before a shard is read', async () => {
    const { errors } = await ask(large, exact);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.message).toMatch(/complexity \d+ exceeds the maximum of 10000: .*EXACT.*AGGREGATED/);
    expect(shardsRead()).toBe(0);
  });

  it('of a list of apps beyond the bound is rejected before a shard is read', async () => {
    const { errors } = await ask(large, `apps(first: 100) { nodes { ${exact} } }`);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    // The response is sent at the first error, while other fields are still being resolved.
    await ask(small, exact);
    await proxy.quiet();
    expect(shardsRead()).toBe(2 * 3 * 8);
  });

  it('of the same subject and day is made once per operation, however many fields need it', async () => {
    const { data, errors } = await ask(small, aliases(14, exact));
    expect(errors).toBeUndefined();
    expect(Object.values((data as { org: object }).org)).toEqual(Array(14).fill({ costUsdMicros: 12 }));
    expect(shardsRead()).toBe(2 * 3 * 8);
  });

  it('stops reading when its operation has timed out', async () => {
    const tenant = await newTenant(app);
    await addApps(tenant, 29);
    proxy.inject({ operation: 'BatchGetItem', table: 'usage_agg_sharded', fault: 'slow', ms: 400 });
    const impatient = await app.another({ operationTimeoutMs: 5000 });
    const { errors } = await ask(tenant, exact, impatient);
    expect(errors?.[0]?.message).toContain('took longer than 5000 ms');
    await new Promise((resolve) => setTimeout(resolve, 600));
    const read = shardsRead();
    expect(read).toBeLessThan(30 * 3 * 8);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(shardsRead()).toBe(read);
    await impatient.stop();
  });
});

describe('spendHistory', () => {
  const range = 'spendHistory(from: "2024-01-01", to: "2024-12-31") { day resetsAt }';

  it('is charged for its days', async () => {
    const { data, errors } = await ask(small, `app(appId: "chat") { ${range} }`);
    expect(errors).toBeUndefined();
    expect((data as { org: { app: { spendHistory: unknown[] } } }).org.app.spendHistory).toHaveLength(366);
    const tooMany = await ask(large, `apps(first: 60) { nodes { ${range} } }`);
    expect(tooMany.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(tooMany.errors?.[0]?.message).toMatch(/exceeds the maximum of 10000: request fewer days/);
  });
});

describe('the apps of an org', () => {
  it('are at most 1000', async () => {
    const tenant = await newTenant(app);
    const register = (appId: string) =>
      app.admin.send(op.RegisterAppDocument, { input: { orgId: tenant.orgId, appId, name: appId } });
    await addApps(tenant, 998);
    expect((await register('the-thousandth')).errors).toBeUndefined();
    const { errors } = await register('one-more');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: 'input.appId' }] });
  });
});
