import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import {
  type Answer,
  Caller,
  type Client,
  logInWith,
  newApp,
  newOrg,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  other = await app.another();
});
afterAll(async () => {
  await other.stop();
  await app.stop();
});

type Secret = Pick<Client, 'clientId' | 'clientSecret'>;
const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';
const whoAmI = '{ me { kind } }';
const use = (at: TestApp, accessToken: string) => async (): Promise<string> =>
  codeIn(await at.as(accessToken).send(whoAmI));
const useKey = (at: TestApp, key: string) => async (): Promise<string> =>
  codeIn(await new Caller(at.url, { 'x-api-key': key }).send(whoAmI));
const signIn = async (at: TestApp, { clientId, clientSecret }: Secret): Promise<string> =>
  codeIn(await at.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } }));
const refresh = async (at: TestApp, refreshToken: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RefreshTokenDocument, { refreshToken }));
const oauthError = async (at: TestApp, { clientId, clientSecret }: Secret): Promise<unknown> => {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  return ((await (await fetch(`${at.origin}/oauth/token`, { method: 'POST', body })).json()) as { error?: string })
    .error;
};

/** Repeats `attempt` until it returns `expected`, for 2 s and the time that a busy machine adds. */
async function eventually(attempt: () => Promise<string>, expected: string): Promise<string> {
  const untilMs = performance.now() + 4000;
  let result = await attempt();
  while (result !== expected && performance.now() < untilMs) {
    await sleep(20);
    result = await attempt();
  }
  return result;
}

/** Opens a socket with a subscription. `closed` resolves to the code and reason with which it is closed. */
async function subscribed(
  at: TestApp,
  params: Record<string, string>,
  query = 'subscription { quotaAlerts { id } }',
): Promise<{ readonly closed: Promise<string> }> {
  const socket = new WebSocket(at.url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`));
  });
  await new Promise((resolve) => socket.once('open', resolve));
  const acknowledged = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: params }));
  await acknowledged;
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
  return { closed };
}

describe('suspendOrg', () => {
  it('refuses every credential and subscription until resumeOrg: here at once, elsewhere within 2 s', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const { secret } = (await org.caller.ask(op.CreateApiKeyDocument, { input: {} })).createApiKey;
    const uses = [app, other].flatMap((at) => [
      use(at, org.accessToken),
      use(at, chat.accessToken),
      useKey(at, secret),
    ]);
    expect(await Promise.all(uses.map((ask) => ask()))).toEqual(uses.map(() => 'ok'));
    const sockets = [
      await subscribed(app, { authorization: `Bearer ${org.accessToken}` }),
      await subscribed(other, { authorization: `Bearer ${chat.accessToken}` }),
    ];

    const { suspendOrg } = await app.admin.ask(op.SuspendOrgDocument, { orgId: org.orgId });
    expect(Date.parse(suspendOrg.suspendedAt ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
    expect(await Promise.all(uses.slice(0, 3).map((ask) => ask()))).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
    expect(await Promise.all(uses.slice(3).map((ask) => eventually(ask, 'FORBIDDEN')))).toEqual([
      'FORBIDDEN',
      'FORBIDDEN',
      'FORBIDDEN',
    ]);
    for (const client of [org, chat]) {
      expect([
        await signIn(app, client),
        await refresh(other, client.refreshToken),
        await oauthError(app, client),
      ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'unauthorized_client']);
    }
    for (const { closed } of sockets) expect(await closed).toMatch(/^4403 the org is suspended/);
    const { errors } = await org.caller.send(whoAmI);
    expect(errors?.[0]?.message).toBe('the org is suspended: ask the operator of the platform to resume it');

    const { resumeOrg } = await app.admin.ask(op.ResumeOrgDocument, { orgId: org.orgId });
    expect(resumeOrg.suspendedAt).toBeNull();
    expect(await Promise.all(uses.map((ask) => eventually(ask, 'ok')))).toEqual(uses.map(() => 'ok'));
    for (const client of [org, chat])
      expect([await signIn(app, client), await refresh(other, client.refreshToken)]).toEqual(['ok', 'ok']);
  });

  it('costs only a few reads if a refused caller keeps retrying', async () => {
    const org = await newOrg(app);
    await app.admin.ask(op.SuspendOrgDocument, { orgId: org.orgId });
    await use(app, org.accessToken)();
    const { consumed } = app.gateway.services.store;
    const before = consumed.read;
    const startedMs = performance.now();
    for (let i = 0; i < 200; i++) expect(await use(app, org.accessToken)()).toBe('FORBIDDEN');
    expect(consumed.read - before).toBeLessThan(40 * (2 + (performance.now() - startedMs) / 1000));
  });

  it('keeps the org visible to the admin, and gives a wrong secret the usual error', async () => {
    const org = await newOrg(app);
    await app.admin.ask(op.SuspendOrgDocument, { orgId: org.orgId });
    expect(await signIn(app, { clientId: org.clientId, clientSecret: `tgs_${'x'.repeat(43)}` })).toBe(
      'UNAUTHENTICATED',
    );
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: org.orgId, name: 'Late payer' } });
    expect(
      (await app.admin.ask('query ($orgId: UUID) { org(orgId: $orgId) { name suspendedAt } }', {
        orgId: org.orgId,
      })) as unknown,
    ).toMatchObject({
      org: { name: 'Late payer', suspendedAt: expect.any(String) },
    });
  });

  it('is idempotent and writes one audit event', async () => {
    const { orgId } = await newOrg(app);
    const first = await app.admin.ask(op.SuspendOrgDocument, { orgId });
    app.clock.advance(1000);
    expect(await app.admin.ask(op.SuspendOrgDocument, { orgId })).toEqual(first);
    await app.admin.ask(op.ResumeOrgDocument, { orgId });
    await app.admin.ask(op.ResumeOrgDocument, { orgId });
    const { org } = await app.admin.ask(op.AuditDocument, { orgId, entityId: '$ORG', first: 10 });
    expect(org?.auditEvents.nodes.map(({ action }) => action)).toEqual([
      'org_resumed',
      'org_suspended',
      'org_registered',
    ]);
    expect(await app.admin.codeOf(op.SuspendOrgDocument, { orgId: randomUUID() })).toBe('NOT_FOUND');
  });
});

describe('suspendApp', () => {
  it('refuses the credentials of one app, further clients included, and of no other app', async () => {
    const org = await newOrg(app);
    const [chat, search] = [await newApp(app, org), await newApp(app, org, 'search')];
    const { createClient } = await org.caller.ask(op.CreateClientDocument, { input: { appId: 'chat', name: 'Batch' } });
    const batch = await logInWith(app, createClient.secretRetrieval.token);
    expect([await use(other, chat.accessToken)(), await use(other, batch.accessToken)()]).toEqual(['ok', 'ok']);
    await org.caller.ask(op.SuspendAppDocument, { appId: 'chat' });
    for (const client of [chat, batch]) {
      expect([
        await use(app, client.accessToken)(),
        await signIn(app, client),
        await refresh(app, client.refreshToken),
      ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
      expect(await eventually(use(other, client.accessToken), 'FORBIDDEN')).toBe('FORBIDDEN');
    }
    for (const client of [org, search])
      expect([await use(app, client.accessToken)(), await signIn(app, client)]).toEqual(['ok', 'ok']);
    expect((await org.caller.ask(op.ResumeAppDocument, { appId: 'chat' })).resumeApp.suspendedAt).toBeNull();
    expect([
      await use(app, chat.accessToken)(),
      await signIn(app, batch),
      await refresh(app, chat.refreshToken),
    ]).toEqual(['ok', 'ok', 'ok']);
  });

  it('does not restart the fallback chain of the app', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    await org.caller.ask(op.OverrideModelDocument, { input: { appId: 'chat', label: 'economy' } });
    await org.caller.ask(op.SuspendAppDocument, { appId: 'chat' });
    await org.caller.ask(op.ResumeAppDocument, { appId: 'chat' });
    const selected = (await chat.caller.ask('{ me { app { modelSelection { label reason } } } }')) as unknown;
    expect(selected).toEqual({ me: { app: { modelSelection: { label: 'economy', reason: 'MANUAL_OVERRIDE' } } } });
  });

  it.each(['nothing', 'No App!', ''])('returns NOT_FOUND for the app id %j', async (appId) => {
    const { caller } = await newOrg(app);
    expect(await caller.codeOf(op.SuspendAppDocument, { appId })).toBe('NOT_FOUND');
    expect(await caller.codeOf(op.ResumeAppDocument, { appId })).toBe('NOT_FOUND');
    expect(await caller.codeOf(op.DeleteAppDocument, { appId })).toBe('NOT_FOUND');
  });
});

describe('deleteApp', () => {
  const idsOf = async (caller: Caller) =>
    (await caller.ask(op.AppsDocument, { first: 100 })).org?.apps.nodes.map(({ appId }) => appId);
  const aCost = (costUsdMicros: number) => ({
    requestId: randomUUID(),
    modelLabel: 'economy',
    inputTokens: 1,
    outputTokens: 1,
    costUsdMicros,
  });

  it('ends its credentials, here at once and elsewhere within 2 s, and removes it from every list', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    await newApp(app, org, 'search');
    const { createClient } = await org.caller.ask(op.CreateClientDocument, { input: { appId: 'chat', name: 'Batch' } });
    const batch = await logInWith(app, createClient.secretRetrieval.token);
    const { closed } = await subscribed(other, { authorization: `Bearer ${batch.accessToken}` });
    expect([await use(other, chat.accessToken)(), await use(other, batch.accessToken)()]).toEqual(['ok', 'ok']);

    expect((await org.caller.ask(op.DeleteAppDocument, { appId: 'chat' })).deleteApp).toBe(true);
    for (const client of [chat, batch]) {
      expect([
        await use(app, client.accessToken)(),
        await signIn(app, client),
        await refresh(app, client.refreshToken),
      ]).toEqual(Array.from({ length: 3 }, () => 'UNAUTHENTICATED'));
      expect(await eventually(use(other, client.accessToken), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    }
    expect(await closed).toMatch(/^4403 /);
    expect(await idsOf(org.caller)).toEqual(['search']);
    expect((await org.caller.ask(op.AppDocument, { appId: 'chat' })).org?.app).toBeNull();
    for (const code of [
      await org.caller.codeOf(op.UpdateAppDocument, { input: { appId: 'chat', name: 'x' } }),
      await org.caller.codeOf(op.RotateCredentialsDocument, { input: { appId: 'chat' } }),
      await org.caller.codeOf(op.CreateClientDocument, { input: { appId: 'chat', name: 'x' } }),
      await org.caller.codeOf(op.SubmitCostDocument, { input: { ...aCost(1), appId: 'chat' } }),
      await org.caller.codeOf(op.DeleteAppDocument, { appId: 'chat' }),
      await org.caller.codeOf(op.SuspendAppDocument, { appId: 'chat' }),
    ])
      expect(code).toBe('NOT_FOUND');
  });

  it('keeps its costs in the totals of the org, whether they were summed before or not', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    await newApp(app, org, 'search');
    const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
    for (const appId of ['chat', 'search'])
      await org.caller.ask(op.SubmitCostDocument, { input: { ...aCost(700), appId } });
    await worker.spend.sumAll();
    await org.caller.ask(op.SubmitCostDocument, { input: { ...aCost(50), appId: 'chat' } });
    await org.caller.ask(op.DeleteAppDocument, { appId: 'chat' });
    await worker.spend.sumAll();
    await org.caller.ask(op.SubmitCostDocument, { input: { ...aCost(5), appId: 'search' } });
    await worker.spend.sumAll();
    for (const consistency of ['AGGREGATED', 'EXACT']) {
      expect(
        (await org.caller.ask(`{ org { spend(consistency: ${consistency}) { costUsdMicros requests } } }`)) as unknown,
      ).toEqual({
        org: { spend: { costUsdMicros: 1455, requests: 4 } },
      });
    }
    worker.close();
  });

  it('lets the id be registered again without making old credentials valid', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const { createClient } = await org.caller.ask(op.CreateClientDocument, { input: { appId: 'chat', name: 'Batch' } });
    const batch = await logInWith(app, createClient.secretRetrieval.token);
    const { rotateCredentials } = await org.caller.ask(op.RotateCredentialsDocument, { input: { appId: 'chat' } });
    await org.caller.ask(op.DeleteAppDocument, { appId: 'chat' });
    const { registerApp } = await org.caller.ask(op.RegisterAppDocument, {
      input: { appId: 'chat', name: 'Chat again' },
    });
    const again = await logInWith(app, registerApp.secretRetrieval.token);
    expect(again.clientId).toBe(chat.clientId);
    for (const old of [chat, batch]) {
      expect([await use(app, old.accessToken)(), await signIn(app, old), await refresh(app, old.refreshToken)]).toEqual(
        Array.from({ length: 3 }, () => 'UNAUTHENTICATED'),
      );
    }
    expect(
      await app.anonymous.codeOf(op.RetrieveSecretDocument, { token: rotateCredentials.secretRetrieval.token }),
    ).toBe('NOT_FOUND');
    expect([
      await use(other, again.accessToken)(),
      await signIn(other, again),
      await refresh(other, again.refreshToken),
    ]).toEqual(['ok', 'ok', 'ok']);
    expect((await org.caller.ask(op.ClientsDocument, {})).org?.app?.clients).toEqual([]);
    expect(await idsOf(org.caller)).toEqual(['chat']);
    // The same again for the third app with this id.
    await org.caller.ask(op.DeleteAppDocument, { appId: 'chat' });
    await newApp(app, org);
    for (const old of [chat, again])
      expect([await use(app, old.accessToken)(), await signIn(app, old)]).toEqual([
        'UNAUTHENTICATED',
        'UNAUTHENTICATED',
      ]);
  });

  it('leaves no working credential in a race with createClient or retrieveSecret', async () => {
    for (let round = 0; round < 5; round++) {
      const org = await newOrg(app);
      const { registerApp } = await org.caller.ask(op.RegisterAppDocument, { input: { appId: 'chat', name: 'Chat' } });
      const [created, retrieved, deleted] = await Promise.all([
        org.caller.send(op.CreateClientDocument, { input: { appId: 'chat', name: 'Batch' } }),
        other.anonymous.send(op.RetrieveSecretDocument, { token: registerApp.secretRetrieval.token }),
        app.admin.send(op.DeleteAppDocument, { orgId: org.orgId, appId: 'chat' }),
      ]);
      expect(codeIn(deleted)).toBe('ok');
      expect(
        await app.anonymous.codeOf(op.RetrieveSecretDocument, {
          token: created.data?.createClient.secretRetrieval.token ?? 'none',
        }),
      ).toBe('NOT_FOUND');
      if (retrieved.data) expect(await signIn(app, retrieved.data.retrieveSecret)).toBe('UNAUTHENTICATED');
      await newApp(app, org);
      expect((await org.caller.ask(op.ClientsDocument, {})).org?.app?.clients).toEqual([]);
    }
  });

  it('leaves no gaps in the pages of Org.apps', async () => {
    const org = await newOrg(app);
    const ids = Array.from({ length: 9 }, (_, i) => `app-${i}`);
    for (const appId of ids) await org.caller.ask(op.RegisterAppDocument, { input: { appId, name: appId } });
    for (const appId of ids.filter((_, i) => i % 3 !== 0)) await org.caller.ask(op.DeleteAppDocument, { appId });
    const seen: string[] = [];
    type Page = NonNullable<op.AppsQuery['org']>['apps'];
    const pageAfter = async (after: string | undefined): Promise<Page> =>
      (await org.caller.ask(op.AppsDocument, { first: 1, after })).org?.apps as Page;
    for (let after: string | undefined | null; after !== null; ) {
      const { nodes, pageInfo } = await pageAfter(after);
      seen.push(...nodes.map(({ appId }) => appId));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    }
    expect(seen).toEqual(['app-0', 'app-3', 'app-6']);
  });
});
