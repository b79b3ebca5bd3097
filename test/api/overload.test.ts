import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { type Answer, newApp, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

const maxConcurrent = 8;
const cost = () => ({ input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1 } });
const list = '{ org { app(appId: "chat") { alerts(first: 50) { nodes { id kind } } } } }';
const history = '{ org { app(appId: "chat") { spendHistory(from: "2026-01-01", to: "2026-01-02") { requests } } } }';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, config: { gatewayConcurrency: maxConcurrent } });
});
beforeEach(() => proxy.clear());
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const refused = ({ status, headers, errors }: Answer<unknown>) => ({
  status,
  retryAfter: headers.get('retry-after'),
  code: errors?.[0]?.extensions.code,
  retryable: errors?.[0]?.extensions.retryable,
});
const overloaded = { status: 503, retryAfter: '1', code: 'SERVICE_UNAVAILABLE', retryable: true };

/** Keeps `count` submissions in flight until they are let go. */
async function hold(
  clients: readonly { readonly caller: TestApp['admin'] }[],
  count: number,
): Promise<{ letGo(): Promise<Answer<unknown>[]> }> {
  const rule = proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'hold' });
  const held = Array.from({ length: count }, (_, i) =>
    (clients[i % clients.length] as (typeof clients)[0]).caller.send(op.SubmitCostDocument, cost()),
  );
  while (rule.hits === 0) await sleep(5);
  // The others wait for the same shard, or are on their way to it.
  await sleep(300);
  return {
    letGo() {
      rule.remove();
      return Promise.all(held);
    },
  };
}

describe('an overloaded gateway', () => {
  it('rejects lists above half of its concurrency, and serves submissions', async () => {
    const client = await newApp(app, await newOrg(app));
    await client.caller.ask(list);
    await client.caller.ask(history);
    const held = await hold([client, await newApp(app, await newOrg(app))], maxConcurrent / 2 + 1);
    for (const query of [list, history]) expect(refused(await client.caller.send(query))).toEqual(overloaded);
    // Its variables decide that it is a list, and its document is not cached.
    const paged = 'query ($first: Int) { org { app(appId: "chat") { alerts(first: $first) { nodes { id kind } } } } }';
    expect(refused(await client.caller.send(paged, { first: 60 }))).toEqual(overloaded);
    expect((await client.caller.send('{ me { kind } }')).data).toEqual({ me: { kind: 'APP_CLIENT' } });
    const submitted = client.caller.send(op.SubmitCostDocument, cost());
    for (const { errors } of [...(await held.letGo()), await submitted]) expect(errors).toBeUndefined();
    await client.caller.ask(list);
    const metrics = await (await fetch(`${app.origin}/metrics`)).text();
    expect(/tollgate_requests_total\{operation="org",outcome="SERVICE_UNAVAILABLE"\} (\d+)/.exec(metrics)?.[1]).toBe(
      '3',
    );
  });

  it('gives one org at most half of its concurrency while another org is active, and all of it otherwise', async () => {
    const [client, other] = [await newApp(app, await newOrg(app)), await newApp(app, await newOrg(app))];
    // After two seconds without a call, no other org counts as active.
    await sleep(2100);
    const alone = await hold([client], maxConcurrent - 2);
    expect((await client.caller.send('{ me { kind } }')).errors).toBeUndefined();
    expect((await other.caller.send('{ me { kind } }')).errors).toBeUndefined();
    const { status, errors } = await client.caller.send('{ me { kind } }');
    expect([status, errors?.[0]?.extensions.code]).toEqual([429, 'RATE_LIMITED']);
    for (const answer of await alone.letGo()) expect(answer.errors).toBeUndefined();
    expect((await client.caller.send('{ me { kind } }')).errors).toBeUndefined();
  });

  it('rejects and counts everything above its concurrency, and serves again when a request is done', async () => {
    const [client, other] = [await newApp(app, await newOrg(app)), await newApp(app, await newOrg(app))];
    const held = await hold([client, other], maxConcurrent);
    for (const query of ['{ me { kind } }', list]) expect(refused(await client.caller.send(query))).toEqual(overloaded);
    expect(refused(await client.caller.send(op.SubmitCostDocument, cost()))).toEqual(overloaded);
    expect(refused(await client.caller.subscribeOnce('subscription { quotaAlerts { id } }', {}))).toEqual(overloaded);
    // Status endpoints are still served.
    expect((await fetch(`${app.origin}/healthz`)).status).toBe(200);
    for (const { errors } of await held.letGo()) expect(errors).toBeUndefined();
    expect((await client.caller.send(op.SubmitCostDocument, cost())).errors).toBeUndefined();
    await client.caller.ask(list);
    // Rejections are counted once per second.
    const counted = async () => {
      const metrics = await (await fetch(`${app.origin}/metrics`)).text();
      return Number(
        /tollgate_requests_total\{operation="none",outcome="SERVICE_UNAVAILABLE"\} (\d+)/.exec(metrics)?.[1] ?? 0,
      );
    };
    while ((await counted()) < 4) await sleep(50);
  });
});
