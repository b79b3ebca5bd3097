import { randomUUID } from 'node:crypto';
import { EventLoopScheduler } from '../../src/lib/event-loop-scheduler.js';
import { sleep } from '../../src/lib/timers.js';
import { ConcurrencyLimiter, type Slot } from '../../src/load/concurrency-limiter.js';
import { type Answer, newApp, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

const room = 8;
const cost = () => ({ input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1 } });
const list = '{ org { app(appId: "chat") { alerts(first: 50) { nodes { id kind } } } } }';
const history = '{ org { app(appId: "chat") { spendHistory(from: "2026-01-01", to: "2026-01-02") { requests } } } }';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, config: { gatewayConcurrency: room } });
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
const turnedAway = { status: 503, retryAfter: '1', code: 'SERVICE_UNAVAILABLE', retryable: true };

/** So many submissions that are under way until they are let go. */
async function hold(
  clients: readonly { readonly caller: TestApp['admin'] }[],
  count: number,
): Promise<{ letGo(): Promise<Answer<unknown>[]> }> {
  const rule = proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault: 'hold' });
  const held = Array.from({ length: count }, (_, i) =>
    (clients[i % clients.length] as (typeof clients)[0]).caller.send(op.SubmitCostDocument, cost()),
  );
  while (rule.hits === 0) await sleep(5);
  // The rest of them wait for the same shard, or are on their way to it.
  await sleep(300);
  return {
    letGo() {
      rule.remove();
      return Promise.all(held);
    },
  };
}

describe('a gateway with too much to do', () => {
  it('refuses lists when half of its room is taken, and serves submissions', async () => {
    const client = await newApp(app, await newOrg(app));
    await client.caller.ask(list);
    await client.caller.ask(history);
    const held = await hold([client, await newApp(app, await newOrg(app))], room / 2 + 1);
    for (const query of [list, history]) expect(refused(await client.caller.send(query))).toEqual(turnedAway);
    // How long it is its variables say, and it was never seen before.
    const paged = 'query ($first: Int) { org { app(appId: "chat") { alerts(first: $first) { nodes { id kind } } } } }';
    expect(refused(await client.caller.send(paged, { first: 60 }))).toEqual(turnedAway);
    expect((await client.caller.send('{ me { kind } }')).data).toEqual({ me: { kind: 'APP_CLIENT' } });
    const submitted = client.caller.send(op.SubmitCostDocument, cost());
    for (const { errors } of [...(await held.letGo()), await submitted]) expect(errors).toBeUndefined();
    await client.caller.ask(list);
    const metrics = await (await fetch(`${app.origin}/metrics`)).text();
    expect(/tollgate_requests_total\{operation="org",outcome="SERVICE_UNAVAILABLE"\} (\d+)/.exec(metrics)?.[1]).toBe(
      '3',
    );
  });

  it('gives one org half of its room at most while another is active, and all of it otherwise', async () => {
    const [client, other] = [await newApp(app, await newOrg(app)), await newApp(app, await newOrg(app))];
    // Nobody has called for two seconds: no other org counts as active.
    await sleep(2100);
    const alone = await hold([client], room - 2);
    expect((await client.caller.send('{ me { kind } }')).errors).toBeUndefined();
    expect((await other.caller.send('{ me { kind } }')).errors).toBeUndefined();
    const { status, errors } = await client.caller.send('{ me { kind } }');
    expect([status, errors?.[0]?.extensions.code]).toEqual([429, 'RATE_LIMITED']);
    for (const answer of await alone.letGo()) expect(answer.errors).toBeUndefined();
    expect((await client.caller.send('{ me { kind } }')).errors).toBeUndefined();
  });

  it('refuses everything when all of it is taken, counts it, and serves again as soon as there is room', async () => {
    const [client, other] = [await newApp(app, await newOrg(app)), await newApp(app, await newOrg(app))];
    const held = await hold([client, other], room);
    for (const query of ['{ me { kind } }', list]) expect(refused(await client.caller.send(query))).toEqual(turnedAway);
    expect(refused(await client.caller.send(op.SubmitCostDocument, cost()))).toEqual(turnedAway);
    expect(refused(await client.caller.subscribeOnce('subscription { quotaAlerts { id } }', {}))).toEqual(turnedAway);
    // What only tells how it is goes on.
    expect((await fetch(`${app.origin}/healthz`)).status).toBe(200);
    for (const { errors } of await held.letGo()) expect(errors).toBeUndefined();
    expect((await client.caller.send(op.SubmitCostDocument, cost())).errors).toBeUndefined();
    await client.caller.ask(list);
    // Counted once a second.
    const counted = async () => {
      const metrics = await (await fetch(`${app.origin}/metrics`)).text();
      return Number(
        /tollgate_requests_total\{operation="none",outcome="SERVICE_UNAVAILABLE"\} (\d+)/.exec(metrics)?.[1] ?? 0,
      );
    };
    while ((await counted()) < 4) await sleep(50);
  });
});

describe('the concurrency', () => {
  let nowMs = 0;
  let busyShare = 0;
  const around = { monotonicMs: () => nowMs, utilization: () => busyShare };
  const newTurnstile = (most: number) => new ConcurrencyLimiter(most, around, new EventLoopScheduler(around));
  beforeEach(() => {
    nowMs = 0;
    busyShare = 0;
  });

  it('has as much room as it says, and none of it is lost', async () => {
    const concurrency = newTurnstile(3);
    for (let round = 0; round < 3; round++) {
      const leaving = await Promise.all([1, 2, 3].map(() => concurrency.enter()));
      expect(concurrency.isFull).toBe(true);
      await expect(concurrency.enter()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(() => concurrency.refuseList()).toThrow('busy');
      for (const { release } of leaving) release();
      expect(concurrency.isFull).toBe(false);
      concurrency.refuseList();
    }
  });

  /** How many get in at once. */
  async function roomOf(concurrency: ConcurrencyLimiter): Promise<number> {
    const leaving: Slot[] = [];
    while (!concurrency.isFull) leaving.push(await concurrency.enter());
    for (const { release } of leaving) release();
    return leaving.length;
  }
  async function answerAfter(concurrency: ConcurrencyLimiter, ms: number, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const { answered, release } = await concurrency.enter();
      nowMs += ms;
      answered();
      release();
    }
  }

  it('takes on less while it is busy and late, never less than a few, and all again afterwards', async () => {
    const concurrency = newTurnstile(1000);
    busyShare = 1;
    await answerAfter(concurrency, 600, 3);
    expect(await roomOf(concurrency)).toBe(729);
    await answerAfter(concurrency, 600, 50);
    expect(await roomOf(concurrency)).toBe(256);
    busyShare = 0;
    await answerAfter(concurrency, 150, 100);
    expect(await roomOf(concurrency)).toBe(1000);
  });

  it('takes on no less because the store is slow, nor because there is much to do in time', async () => {
    const concurrency = newTurnstile(200);
    await answerAfter(concurrency, 3000, 20);
    expect(await roomOf(concurrency)).toBe(200);
    busyShare = 1;
    await answerAfter(concurrency, 150, 20);
    expect(await roomOf(concurrency)).toBe(200);
  });

  it('of no bound refuses nobody', async () => {
    const concurrency = newTurnstile(0);
    await Promise.all(Array.from({ length: 2000 }, () => concurrency.enter()));
    expect(concurrency.isFull).toBe(false);
    concurrency.refuseList();
  });
});
