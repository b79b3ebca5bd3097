// @tollgate/client on a real gateway.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import {
  BadInput,
  type Credentials,
  IdempotencyConflict,
  LeaseExpired,
  QuotaExceeded,
  RateLimited,
  Tollgate,
  type TollgateOptions,
  VersionConflict,
} from '@tollgate/client';
import { AlertSource } from '../support/alert-source.js';
import { adminKey, newApp, newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import { frozenNoon } from '../support/clock.js';
import { folderWith, programOf, programPages } from '../support/doc-program.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { until } from '../support/until.js';
import { virtualTime } from '../support/virtual-time.js';

const open = stoppedAfterAll();
let app: TestApp;
const clients: Tollgate[] = [];
beforeAll(async () => {
  app = await open(startTestApp({ clock: frozenNoon(), config: { principalRps: 0, principalConcurrency: 0 } }));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

function clientOf(credentials: Credentials, options: Partial<TollgateOptions> = {}): Tollgate {
  const client = new Tollgate({ url: app.url, credentials, timeoutMs: 2000 * patience, ...options });
  clients.push(client);
  return client;
}

type Tenant = Awaited<ReturnType<typeof newOrg>>;
const secretOf = ({ clientId, clientSecret }: Tenant): Credentials => ({ clientId, clientSecret });
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

async function setLimits(org: Tenant, resource: string, limits: op.LimitInput[]): Promise<void> {
  await org.caller.ask(op.SetLimitsDocument, { input: { level: 'RESOURCE', resource, limits } });
}

const availableOf = async (org: Tenant, resource: string, entityId = 'ana') => {
  const { availability } = await org.caller.ask<{ availability: { statuses: { available: number }[] } }, object>(
    'query($r: String!, $e: String!) { availability(entityId: $e, resource: $r) { statuses { available } } }',
    { r: resource, e: entityId },
  );
  return availability.statuses.map(({ available }) => available);
};

describe('meter', () => {
  const hard = { label: 'premium', dailyUsdMicros: 1000, enforcement: 'HARD' } as const;
  const estimate = { inputTokens: 1000, maxOutputTokens: 200 };

  async function newChat(more: Partial<op.RegisterOrgInput> = {}) {
    const org = await newOrg(app, { ledger: true, ...more });
    const { spend } = clientOf(secretOf(await newApp(app, org)));
    const costQuery = `query($orgId: UUID!, $requestId: UUID!) { org(orgId: $orgId) {
      cost(appId: "chat", requestId: $requestId) { label inputTokens outputTokens status }
    } }`;
    const costOf = async (requestId: string) =>
      (await app.admin.ask<{ org: { cost: object } }, object>(costQuery, { orgId: org.orgId, requestId })).org.cost;
    return { org, spend, costOf };
  }

  it('records the usage of a call, and of an aborted stream what it told', async () => {
    const { spend, costOf } = await newChat();
    const [whole, aborted, unknown] = [randomUUID(), randomUUID(), randomUUID()];
    const usage = { inputTokens: 900, outputTokens: 100 };
    const modelId = await spend.meter({ requestId: whole, estimate }, async (call) => ({ value: call.modelId, usage }));
    expect(modelId).toMatch(/./);
    const abort = new AbortController();
    const stream = spend.meter({ requestId: aborted, estimate, signal: abort.signal }, async ({ report, signal }) => {
      report({ inputTokens: 1000, outputTokens: 7 });
      abort.abort(new Error('the user left'));
      signal?.throwIfAborted();
      return { value: undefined, usage };
    });
    await expect(stream).rejects.toThrow('the user left');
    await thrownBy(spend.meter({ requestId: unknown, estimate }, () => Promise.reject(new Error('no'))));
    const label = 'premium';
    expect(await costOf(whole)).toEqual({ label, ...usage, status: 'OK' });
    expect(await costOf(aborted)).toEqual({ label, inputTokens: 1000, outputTokens: 7, status: 'ERROR' });
    expect(await costOf(unknown)).toEqual({ label, inputTokens: 1000, outputTokens: 0, status: 'ERROR' });
  });

  it('refuses a call that a hard quota has no room for, and names the amount that passes', async () => {
    const { spend } = await newChat({ quotas: [hard], modelOrdering: ['premium'] });
    const call = (costUsdMicros: number) =>
      spend.meter({ estimate: { costUsdMicros } }, async () => ({ value: 'made', usage: { costUsdMicros } }));
    expect(await call(700)).toBe('made');
    const error = await thrownBy(call(400));
    expect(error).toBeInstanceOf(QuotaExceeded);
    expect(error).toMatchObject({
      binding: { kind: 'QUOTA', missing: 100, wouldPass: 300 },
      resetsAt: expect.any(Date),
    });
    const open = await spend.admit({ estimate: { costUsdMicros: 300 } });
    expect(open.reservedUsdMicros).toBe(300);
    await open.cancel();
    expect(await call(300)).toBe('made');
  });

  it('takes rate limits with the admission, and adjusts them with the settlement', async () => {
    const { org, spend } = await newChat();
    await setLimits(org, 'gpt-4', [{ name: 'tpm', capacity: 100 }]);
    const taken = { entityId: 'ana', resource: 'gpt-4', consume: { tpm: 80 } };
    const adjust = [{ ...taken, consume: { tpm: 30 } }];
    const usage = { inputTokens: 1 };
    await spend.meter({ estimate, limits: [taken] }, async () => ({ value: undefined, usage, adjust }));
    expect(await availableOf(org, 'gpt-4')).toEqual([70]);
    const refused = await thrownBy(
      spend.meter({ estimate, limits: [taken] }, async () => ({ value: undefined, usage })),
    );
    expect(refused).toBeInstanceOf(RateLimited);
    expect(refused).toMatchObject({ binding: { kind: 'LIMIT', name: 'tpm' } });
  });
});

describe('spend', () => {
  it('submits costs in batches, each counted once, and selects a model', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const requests: string[] = [];
    const hooks = { request: ({ operation }: { readonly operation: string }) => requests.push(operation) };
    const { spend } = clientOf(secretOf(chat), { hooks });
    const ids = Array.from({ length: 30 }, () => randomUUID());
    const cost = { modelLabel: 'premium', inputTokens: 1000, outputTokens: 10 };
    const receipts = await Promise.all(ids.map((requestId) => spend.submit({ ...cost, requestId })));
    expect(receipts.map(({ requestId, replayed }) => [requestId, replayed])).toEqual(ids.map((id) => [id, false]));
    expect(await spend.submit({ ...cost, requestId: ids[0] as string })).toMatchObject({ replayed: true });
    expect(await thrownBy(spend.submit({ ...cost, requestId: ids[0] as string, inputTokens: 1 }))).toBeInstanceOf(
      IdempotencyConflict,
    );
    expect(requests.filter((name) => name === 'SubmitCosts').length).toBeLessThan(10);
    const variables = { orgId: org.orgId, appId: 'chat', consistency: 'EXACT' as const };
    expect((await app.admin.ask(op.AppSpendDocument, variables)).org?.app?.spend.requests).toBe(30);
    expect(await spend.select()).toMatchObject({ allowed: true, label: 'premium' });
    expect(await clientOf(secretOf(org)).spend.select({ appId: 'chat' })).toMatchObject({ label: 'premium' });
  });

  it('throws typed errors of the gateway', async () => {
    const org = await newOrg(app);
    const tollgate = clientOf(secretOf(org));
    const update = 'mutation($input: UpdateOrgInput!) { updateOrg(input: $input) { version } }';
    const stale = await thrownBy(tollgate.query(update, { input: { name: 'New', expectedVersion: 7 } }));
    expect(stale).toBeInstanceOf(VersionConflict);
    expect(stale).toMatchObject({ currentVersion: 1, requestId: expect.any(String), retryable: false });
    const cost = { appId: 'none', modelLabel: 'no such label', inputTokens: 1 };
    expect(await thrownBy(tollgate.spend.submit(cost))).toMatchObject({
      code: expect.stringMatching(/NOT_FOUND|LABEL/),
    });
    expect(await tollgate.query('{ me { kind } }')).toEqual({ me: { kind: 'ORG_CLIENT' } });
  });
});

it('logs in again after its token was revoked', async () => {
  const org = await newOrg(app);
  const tokens: string[] = [];
  const spy: typeof fetch = async (input, init) => {
    const token = new Headers(init?.headers).get('authorization')?.slice('Bearer '.length);
    if (token && !tokens.includes(token)) tokens.push(token);
    return fetch(input, init);
  };
  const tollgate = clientOf(secretOf(org), { fetch: spy });
  await tollgate.query('{ me { kind } }');
  await org.caller.ask('mutation($token: String!) { revokeToken(token: $token) }', { token: tokens[0] });
  await tollgate.query('{ me { kind } }');
  expect(tokens).toHaveLength(2);
});

describe('limits', () => {
  const lease = (resource: string, tpm: number, more: object = {}) => ({
    entityId: 'ana',
    resource,
    consume: { tpm },
    ...more,
  });

  it('adjusts to the actual amounts, gives back on a throw, and refuses what can never be granted', async () => {
    const org = await newOrg(app);
    await setLimits(org, 'gpt-4', [{ name: 'tpm', capacity: 100 }]);
    const { limits } = clientOf(secretOf(org));
    await limits.withLease(lease('gpt-4', 50), async (held) => held.actual({ tpm: 20 }));
    expect(await availableOf(org, 'gpt-4')).toEqual([80]);
    await thrownBy(limits.withLease(lease('gpt-4', 50), () => Promise.reject(new Error('no'))));
    expect(await availableOf(org, 'gpt-4')).toEqual([80]);
    expect(await thrownBy(limits.acquire(lease('gpt-4', 90)))).toBeInstanceOf(RateLimited);
    expect(await thrownBy(limits.acquire(lease('gpt-4', 101, { waitMs: 60_000 })))).toBeInstanceOf(BadInput);
    const exact = await limits.acquire(lease('gpt-4', 10, { exact: true }));
    await exact.release();
    await exact.release();
    expect(await thrownBy(exact.adjust({ tpm: 1 }))).toBeInstanceOf(LeaseExpired);
    expect(await availableOf(org, 'gpt-4')).toEqual([80]);
  });

  it('frees slots of concurrency limits, and charges the tokens that were taken with them', async () => {
    const org = await newOrg(app);
    await setLimits(org, 'reports', [
      { name: 'tpm', capacity: 100 },
      { name: 'parallel', capacity: 1, kind: 'CONCURRENCY' },
    ]);
    const { limits } = clientOf(secretOf(org));
    const request = { entityId: 'ana', resource: 'reports', consume: { tpm: 40, parallel: 1 } };
    await limits.withLease(request, async (held) => held.actual({ tpm: 30 }));
    expect(await availableOf(org, 'reports')).toEqual([1, 70]);
    await limits.withLease(request, async () => undefined);
    expect(await availableOf(org, 'reports')).toEqual([1, 30]);
  });

  it('lets 200 waiters on one bucket have at most its bound, and at least 95 % of it', async () => {
    const org = await newOrg(app);
    const [burst, perSecond] = [10, 100];
    await setLimits(org, 'busy', [{ name: 'tpm', capacity: burst, refillAmount: perSecond, refillPeriodSecs: 1 }]);
    const other = await open(app.another());
    const time = virtualTime(app.clock as ReturnType<typeof frozenNoon>);
    // Two processes of two gateways each have a line of their own.
    const lines = [app, other, app, other].map(({ url }) =>
      clientOf(secretOf(org), { url, clock: time.clock, fetch: time.fetch(fetch) }),
    );
    const startMs = app.clock.nowMs();
    const grants: { readonly line: number; readonly nth: number; readonly atMs: number }[] = [];
    const waiting = Array.from({ length: 200 }, async (_, i) => {
      const line = i % lines.length;
      await lines[line]?.limits.acquire(lease('busy', 1, { waitMs: 3_600_000 }));
      grants.push({ line, nth: i, atMs: app.clock.nowMs() });
    });
    await time.run(Promise.all(waiting));
    const bound = (atMs: number) => burst + ((atMs - startMs) * perSecond) / 1000;
    grants.forEach(({ atMs }, i) => {
      expect(i + 1).toBeLessThanOrEqual(bound(atMs));
    });
    const lastMs = Math.max(...grants.map(({ atMs }) => atMs));
    expect(grants.length).toBeGreaterThanOrEqual(0.95 * Math.floor(bound(lastMs)));
    // Those that ask at the same time, at most as many as the bucket has tokens, may reach the gateway in any order.
    for (const line of lines.keys()) {
      const order = grants.filter((grant) => grant.line === line).map(({ nth }) => nth);
      const overtakers = order.map((nth, i) => order.slice(0, i).filter((earlier) => earlier > nth).length);
      expect(Math.max(...overtakers)).toBeLessThan(burst);
    }
  });
});

it('follows alerts from a cursor, through a restart of the gateway', async () => {
  const source = await open(startTestApp());
  const alerts = await AlertSource.start(source);
  let gateway = await source.another();
  const abort = new AbortController();
  const seen: string[] = [];
  const route: typeof fetch = (_, init) => fetch(gateway.url, init);
  const tollgate = clientOf(secretOf(alerts.org), { fetch: route });
  const first = await alerts.raise();
  const following = (async () => {
    for await (const { cursor } of tollgate.alerts({ after: first.cursor, signal: abort.signal })) seen.push(cursor);
  })();
  const second = await alerts.raise();
  await until('the second alert', () => seen.length === 1);
  await gateway.stop();
  const third = await alerts.raise();
  gateway = await open(source.another());
  await until('the third alert', () => seen.length === 2);
  abort.abort();
  await following;
  expect(seen).toEqual([second.cursor, third.cursor]);
  alerts.stop();
});

it('sends readings with a key of devices, again without harm', async () => {
  const org = await newOrg(app);
  const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: {} });
  const tollgate = clientOf({ apiKey: createApiKey.secret });
  const bootId = randomUUID();
  const device = { hardwareId: 'AA:BB:CC:DD:EE:FF', bootId, firmwareVersion: '1.0' };
  const register = 'mutation($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }';
  await tollgate.query(register, { input: { ...device, capabilities: { sensors: ['bme280'] } } });
  const readings = Array.from({ length: 120 }, (_, i) => ({
    ...device,
    batchId: `b${i}`,
    timestampMs: app.clock.nowMs() - 1000 * i,
    sensors: { bme280TempC: i === 5 ? 999 : 20 },
    sensorStatus: { bme280: 'OK' as const },
  }));
  const { verdicts, settledBatchIds } = await tollgate.devices.ingest(readings);
  expect(verdicts.map(({ kind }) => kind)).toEqual(readings.map((_, i) => (i === 5 ? 'REJECTED' : 'STORED')));
  expect(settledBatchIds).toHaveLength(119);
  const again = await tollgate.devices.ingest(readings);
  expect(again.settledBatchIds).toEqual(settledBatchIds);
});

it.each(programPages)('runs the examples of %s', async (page) => {
  const org = await newOrg(app);
  const chat = await newApp(app, org);
  await setLimits(org, 'gpt-4', [
    { name: 'rpm', capacity: 10 },
    { name: 'tpm', capacity: 2000 },
  ]);
  const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: {} });
  const device = { hardwareId: 'AA:BB:CC:DD:EE:FF', bootId: randomUUID(), firmwareVersion: '1.0' };
  const register = 'mutation($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }';
  const input = { ...device, capabilities: { sensors: ['bme280'] } };
  await clientOf({ apiKey: createApiKey.secret }).query(register, { input });
  const { code } = transformSync(programOf(page), {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  const folder = folderWith({ 'program.mjs': code });
  const child = spawn('node', [join(folder, 'program.mjs')], {
    env: {
      PATH: process.env.PATH ?? '',
      TOLLGATE_URL: app.url,
      CLIENT_ID: chat.clientId,
      CLIENT_SECRET: chat.clientSecret,
      DEVICE_KEY: createApiKey.secret,
      OUTBOX: join(folder, 'outbox'),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, 'exit')) as [number];
  rmSync(folder, { recursive: true, force: true });
  expect([status, output]).toEqual([0, expect.stringContaining('Hello from')]);
});

it('acts as the platform admin with its key', async () => {
  expect(await clientOf({ adminKey }).query('{ me { kind } }')).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
});
