import { ClientCredentials } from 'simple-oauth2';
import { type Client, newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { hourMs, randomSecret } from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { trustProxy: true } });
  other = await app.another();
});
afterAll(async () => {
  await other.stop();
  await app.stop();
});

const from = { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'request-of-the-test' };

async function eventsOf(orgId: string, entityId?: string) {
  await app.gateway.services.pendingWrites.flush();
  const { org } = await app.admin.ask(op.AuditDocument, { orgId, first: 100, ...(entityId ? { entityId } : {}) });
  return org?.auditEvents.nodes ?? [];
}
const logIn = (at: TestApp, { clientId, clientSecret }: Pick<Client, 'clientId' | 'clientSecret'>, headers = {}) =>
  at.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } }, headers);

describe('an audit event', () => {
  it('records the address and the request id of every act', async () => {
    const { orgId, ...org } = await newOrg(app);
    const as = { ...from, authorization: `Bearer ${org.accessToken}` };
    const send: TestApp['anonymous']['send'] = (document, variables) => app.anonymous.send(document, variables, as);
    await send(op.UpdateOrgDocument, { input: { name: 'Acme Ltd' } });
    await send(op.RegisterAppDocument, { input: { appId: 'chat', name: 'Chat' } });
    await send(op.UpdateAppDocument, { input: { appId: 'chat', name: 'Chatter' } });
    await send(op.SuspendAppDocument, { appId: 'chat' });
    await send(op.ResumeAppDocument, { appId: 'chat' });
    await send(op.OverrideModelDocument, { input: { appId: 'chat', label: 'economy' } });
    await send(op.SetBudgetDocument, { input: { name: 'monthly', period: 'MONTH', usdMicros: 1 } });
    await send(op.DeleteBudgetDocument, { name: 'monthly' });
    const { data } = await send(op.RotateCredentialsDocument, { input: { appId: 'chat' } });
    await app.anonymous.send(
      op.RetrieveSecretDocument,
      { token: data?.rotateCredentials.secretRetrieval.token ?? '' },
      from,
    );
    const created = await send(op.CreateClientDocument, { input: { appId: 'chat', name: 'Batch' } });
    await send(op.DeleteClientDocument, { clientId: created.data?.createClient.client.clientId ?? '' });
    await send(op.DeleteAppDocument, { appId: 'chat' });
    const key = await send(op.CreateApiKeyDocument, { input: {} });
    await send(op.RevokeApiKeyDocument, { keyId: key.data?.createApiKey.apiKey.keyId ?? '' });
    await send(op.CreateEntityDocument, { input: { entityId: 'user-1' } });
    await send(op.SetLimitsDocument, { input: { level: 'SYSTEM', limits: [{ name: 'rpm', capacity: 5 }] } });
    await send(op.DeleteLimitsDocument, { input: { level: 'SYSTEM' } });
    await send(op.DeleteEntityDocument, { entityId: 'user-1' });
    await send(op.PurgeLimiterDocument, {});
    await logIn(app, { clientId: org.clientId, clientSecret: randomSecret() }, from);
    await send(op.RevokeTokenDocument, { token: org.refreshToken });

    const events = (await eventsOf(orgId)).filter(({ requestId }) => requestId === from['x-request-id']);
    expect(events.every(({ address }) => address === '192.0.2.7')).toBe(true);
    expect(events.map(({ action }) => action).sort()).toEqual(
      [
        ...[
          'org_updated',
          'app_registered',
          'app_updated',
          'app_suspended',
          'app_resumed',
          'model_overridden',
          'budget_set',
          'budget_deleted',
          'credentials_rotated',
          'secret_retrieved',
        ],
        ...[
          'client_created',
          'client_deleted',
          'app_deleted',
          'key_created',
          'key_revoked',
          'entity_created',
          'limits_set',
          'limits_deleted',
        ],
        ...['entity_deleted', 'limiter_purged', 'login_refused', 'token_revoked'],
      ].sort(),
    );
  });

  it('records the old and the new value of each changed setting, and of no other', async () => {
    const { orgId, caller } = await newOrg(app);
    const quotas = [
      { label: 'premium', dailyUsdMicros: 1 },
      { label: 'standard', dailyUsdMicros: 5_000_000 },
      { label: 'economy', dailyUsdMicros: 2_000_000 },
    ];
    await caller.ask(op.UpdateOrgDocument, { input: { quotas, tightModeThresholdPct: 95, timezone: 'Europe/Berlin' } });
    const [event] = await eventsOf(orgId, '$ORG');
    const [premium, ...others] = quotas;
    expect(event?.details).toEqual([
      {
        name: 'quotas',
        value: JSON.stringify(quotas),
        previousValue: JSON.stringify([{ ...premium, dailyUsdMicros: 10_000_000 }, ...others]),
      },
      { name: 'timezone', value: 'Europe/Berlin', previousValue: 'America/New_York' },
    ]);
  });

  it('records which settings of an app were and are inherited', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    await org.caller.ask(op.UpdateAppDocument, {
      input: { appId: 'chat', tightModeThresholdPct: 50, name: 'Chatter' },
    });
    await org.caller.ask(op.UpdateAppDocument, { input: { appId: 'chat', tightModeThresholdPct: null } });
    const [second, first] = await eventsOf(org.orgId, '$APP:chat');
    expect(first?.details).toEqual([
      { name: 'name', value: 'Chatter', previousValue: 'Chat' },
      { name: 'tightModeThresholdPct', value: '50', previousValue: 'inherited' },
    ]);
    expect(second?.details).toEqual([{ name: 'tightModeThresholdPct', value: 'inherited', previousValue: '50' }]);
  });

  it('records the limits before and after a change', async () => {
    const { orgId, caller } = await newOrg(app);
    const set = (capacity: number) =>
      caller.ask(op.SetLimitsDocument, { input: { level: 'SYSTEM', limits: [{ name: 'rpm', capacity }] } });
    await set(5);
    await set(7);
    await caller.ask(op.DeleteLimitsDocument, { input: { level: 'SYSTEM' } });
    const limitsIn = ({ details }: { details: readonly { name: string }[] }) =>
      details.filter(({ name }) => name === 'limits');
    const [deleted, second, first] = (await eventsOf(orgId, '$SYSTEM')).map(limitsIn);
    const words = (capacity: number) => expect.stringMatching(new RegExp(`^rpm: ${capacity},`));
    expect(first).toEqual([{ name: 'limits', value: words(5), previousValue: 'none' }]);
    expect(second).toEqual([{ name: 'limits', value: words(7), previousValue: words(5) }]);
    expect(deleted).toEqual([{ name: 'limits', value: 'none', previousValue: words(7) }]);
  });

  it('records who has overridden the model, with the old and the new label', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    for (const label of ['economy', 'standard', null])
      await org.caller.ask(op.OverrideModelDocument, { input: { appId: 'chat', label } });
    const events = (await eventsOf(org.orgId, '$APP:chat')).filter(({ action }) => action === 'model_overridden');
    expect(events.map(({ actor, details }) => [actor, details.find(({ name }) => name === 'label')])).toEqual([
      [org.clientId, { name: 'label', value: 'none', previousValue: 'standard' }],
      [org.clientId, { name: 'label', value: 'standard', previousValue: 'economy' }],
      [org.clientId, { name: 'label', value: 'economy', previousValue: 'none' }],
    ]);
  });
});

describe('logins', () => {
  const succeeded = async (orgId: string) =>
    (await eventsOf(orgId)).filter(({ action }) => action === 'login_succeeded');

  it('are recorded once per client and hour, on any gateway and endpoint', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    // To the start of an hour, so that all the next logins are in it.
    app.clock.advance(hourMs - (app.clock.nowMs() % hourMs));
    const before = (await succeeded(org.orgId)).length;
    const auth = { tokenHost: app.origin, tokenPath: '/oauth/token' };
    const oauth = new ClientCredentials({ client: { id: org.clientId, secret: org.clientSecret }, auth });
    await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => logIn(i % 2 ? app : other, org)),
      oauth.getToken({}),
      logIn(app, chat),
    ]);
    const events = await succeeded(org.orgId);
    expect(
      events
        .slice(0, events.length - before)
        .map(({ actor }) => actor)
        .sort(),
    ).toEqual([org.clientId, chat.clientId].sort());
    app.clock.advance(hourMs);
    for (const at of [app, other, app]) await logIn(at, org);
    expect(await succeeded(org.orgId)).toHaveLength(events.length + 1);
  });

  it('are recorded at most once per minute and client if refused', async () => {
    const org = await newOrg(app);
    for (let i = 0; i < 60; i++) await logIn(app, { clientId: org.clientId, clientSecret: randomSecret() });
    const refused = async () => (await eventsOf(org.orgId)).filter(({ action }) => action === 'login_refused').length;
    expect(await refused()).toBeLessThanOrEqual(12);
    app.clock.age(5 * 60_000);
    await app.gateway.services.changeFeed.refresh();
    for (let i = 0; i < 20; i++) await logIn(app, { clientId: org.clientId, clientSecret: randomSecret() });
    expect(await refused()).toBeLessThanOrEqual(18);
  });
});
