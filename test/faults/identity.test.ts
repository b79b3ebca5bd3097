import { randomUUID } from 'node:crypto';
import { changeSlotOf } from '../../src/changes/change.store.js';
import { sleep } from '../../src/lib/timers.js';
import { type Client, logInWith, newOrg, orgInput, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { asPage, newLink, secretOf, sendAs, signIn, trySession } from '../support/console.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { untilWell } from './harness.js';

/** The response comes from the token, without a read. */
const whoAmI = '{ me { kind clientId } }';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint });
});
beforeEach(() => proxy.clear());
afterAll(async () => {
  proxy.clear();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const lose = (table: string, times: number, fault: Fault = 'drop-reply') =>
  proxy.inject({ operation: 'TransactWriteItems', table, fault, nth: { first: times } });

const logIn = (on: TestApp, { clientId, clientSecret }: Pick<Client, 'clientId' | 'clientSecret'>) =>
  on.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } });

const actionsOf = async (orgId: string): Promise<string[]> => {
  const { org } = await app.admin.ask(op.AuditDocument, { orgId, first: 100 });
  return org?.auditEvents.nodes.map(({ action }) => action) ?? [];
};

describe('retrieveSecret', () => {
  it.each([1, 2, 3])('returns a working secret if the response of DynamoDB was lost %i times', async (times) => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { token } = registerOrg.secretRetrieval;
    const lost = lose('secret_retrieval_tokens', times);
    const { retrieveSecret } = await app.anonymous.ask(op.RetrieveSecretDocument, { token });
    expect(lost.hits).toBe(times);
    const { issueToken } = await logIn(app, retrieveSecret);
    expect(await app.as(issueToken.accessToken).ask(whoAmI)).toEqual({
      me: { kind: 'ORG_CLIENT', clientId: retrieveSecret.clientId },
    });
    expect(await app.anonymous.codeOf(op.RetrieveSecretDocument, { token })).toBe('NOT_FOUND');
    expect((await actionsOf(registerOrg.org.orgId)).filter((action) => action === 'secret_retrieved')).toHaveLength(1);
  });

  it('does not use up the token if DynamoDB wrote nothing', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { token } = registerOrg.secretRetrieval;
    proxy.inject({ operation: 'TransactWriteItems', fault: 'throttle' });
    expect(await app.anonymous.codeOf(op.RetrieveSecretDocument, { token })).toBe('SERVICE_UNAVAILABLE');
    proxy.clear();
    await logInWith(app, token);
  });

  it('returns the secret, which is shown only once, even if DynamoDB stops responding after it is stored', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    lose('secret_retrieval_tokens', 1, 'no-reply-after');
    proxy.inject({ operation: 'Query', table: 'config', fault: 'no-reply' });
    const { data, errors } = await app.anonymous.send(op.RetrieveSecretDocument, {
      token: registerOrg.secretRetrieval.token,
    });
    proxy.clear();
    expect(errors).toBeUndefined();
    await untilWell(5000, () => logIn(app, data!.retrieveSecret));
  });
});

describe('registerOrg', () => {
  it.each<[Fault, number]>([
    ['drop-reply', 1],
    ['drop-reply', 3],
    ['error-after', 2],
    ['no-reply-after', 1],
    ['conflict', 3],
  ])('registers one org with a working token after %s × %i', async (fault, times) => {
    const name = `Org ${randomUUID()}`;
    const lost = lose('config', times, fault);
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ name }) });
    expect(lost.hits).toBe(times);
    const { caller, clientId } = await logInWith(app, registerOrg.secretRetrieval.token);
    expect(clientId).toBe(`org-${registerOrg.org.orgId}`);
    expect((await caller.ask(op.MeDocument)).me?.org).toEqual({ orgId: registerOrg.org.orgId, name });
    const { orgs } = await app.admin.ask(op.OrgsDocument, { first: 100 });
    expect(orgs.nodes.filter((org) => org.name === name)).toHaveLength(1);
    expect((await actionsOf(registerOrg.org.orgId)).filter((action) => action === 'org_registered')).toHaveLength(1);
  });

  it('never reports that nothing was changed if the org exists', async () => {
    const orgId = randomUUID();
    // The org is registered, and then DynamoDB throttles reads.
    proxy.inject({ operation: 'GetItem', table: 'config', fault: 'throttle' });
    const { data, errors } = await app.admin.send(op.RegisterOrgDocument, { input: orgInput({ orgId }) });
    proxy.clear();
    expect((await app.admin.ask(op.OrgDocument, { orgId })).org).not.toBeNull();
    expect(errors?.map(({ message }) => message) ?? []).not.toContainEqual(
      expect.stringContaining('nothing was changed'),
    );
    // The token for the first secret is shown only here.
    expect(data?.registerOrg?.secretRetrieval.token).toMatch(/^tgt_/);
  });
});

describe('a change', () => {
  it('of an org is applied once if the response was lost twice', async () => {
    const { orgId, caller } = await newOrg(app);
    const lost = lose('config', 2);
    const { updateOrg } = await caller.ask(op.UpdateOrgDocument, { input: { name: 'Renamed' } });
    expect(lost.hits).toBe(2);
    expect(updateOrg.name).toBe('Renamed');
    expect((await actionsOf(orgId)).filter((action) => action === 'org_updated')).toHaveLength(1);
  });

  it('of credentials returns a working token if the response was lost, and voids only earlier tokens', async () => {
    const { orgId, caller, clientSecret } = await newOrg(app);
    const lost = lose('config', 2);
    const { rotateCredentials } = await caller.ask(op.RotateCredentialsDocument, {
      input: { currentSecret: clientSecret },
    });
    expect(lost.hits).toBe(2);
    const { clientId } = await logInWith(app, rotateCredentials.secretRetrieval.token);
    expect(clientId).toBe(`org-${orgId}`);
    expect((await actionsOf(orgId)).filter((action) => action === 'credentials_rotated')).toHaveLength(1);
  });
});

describe('tokens', () => {
  it('are issued and can be refreshed if the response was lost twice', async () => {
    const client = await newOrg(app);
    const lost = proxy.inject({
      operation: 'PutItem',
      table: 'refresh_tokens',
      fault: 'drop-reply',
      nth: { first: 2 },
    });
    const { issueToken } = await logIn(app, client);
    expect(lost.hits).toBe(2);
    const { refreshToken } = await app.anonymous.ask(op.RefreshTokenDocument, {
      refreshToken: issueToken.refreshToken,
    });
    await app.as(refreshToken.accessToken).ask(whoAmI);
  });

  it('are issued even if the audit event of the login cannot be written', async () => {
    const client = await newOrg(app);
    app.clock.advance(3_600_000);
    const failed = proxy.inject({ operation: 'TransactWriteItems', table: 'config', fault: 'error-before' });
    await logIn(app, client);
    expect(failed.hits).toBeGreaterThan(0);
    proxy.clear();
    await logIn(app, client);
    expect((await actionsOf(client.orgId)).filter((action) => action === 'login_succeeded').length).toBeGreaterThan(0);
  });

  it.each([1, 2, 3])('are exchanged for their successor if the response was lost %i times', async (times) => {
    const { refreshToken: token } = await newOrg(app);
    const lost = lose('refresh_tokens', times);
    const { refreshToken: pair } = await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken: token });
    expect(lost.hits).toBe(times);
    await app.as(pair.accessToken).ask(whoAmI);
    const { refreshToken: again } = await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken: token });
    expect(again.refreshToken).toBe(pair.refreshToken);
    const { refreshToken: next } = await app.anonymous.ask(op.RefreshTokenDocument, {
      refreshToken: pair.refreshToken,
    });
    expect(next.refreshToken).not.toBe(pair.refreshToken);
    await app.as(next.accessToken).ask(whoAmI);
  });

  it('are refused for a wrong secret even if the audit event is slow to be written', async () => {
    const { clientId, clientSecret } = await newOrg(app);
    const wrong = `${clientSecret.slice(0, -4)}${clientSecret.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'drop-reply', nth: { first: 2 } });
    expect(await app.anonymous.codeOf(op.IssueTokenDocument, { input: { clientId, clientSecret: wrong } })).toBe(
      'UNAUTHENTICATED',
    );
  });
});

describe('a console session', () => {
  it.each([1, 2, 3])('starts once, is listed and ends, if each response was lost %i times', async (times) => {
    const client = await newOrg(app);
    const starting = lose('refresh_tokens', times);
    const page = await signIn(app, secretOf(client));
    expect(starting.hits).toBe(times);
    expect(await trySession(app, page)).toBe('ok');
    proxy.clear();
    const ending = lose('refresh_tokens', times);
    const { code } = await sendAs({ ...asPage, cookie: page.cookie }, app, '/session/end');
    expect([code, ending.hits]).toEqual(['ok', times]);
    expect(await trySession(app, page)).toBe('UNAUTHENTICATED');
    const actions = (await actionsOf(client.orgId)).filter((action) => action.startsWith('console_session'));
    expect(actions.sort()).toEqual(['console_session_ended', 'console_session_started']);
  });

  it('is opened by a link that was made and used while responses were lost', async () => {
    const { orgId } = await newOrg(app);
    const making = lose('secret_retrieval_tokens', 2);
    const token = await newLink(app, { orgId });
    expect(making.hits).toBe(2);
    proxy.clear();
    const using = lose('secret_retrieval_tokens', 2);
    const page = await signIn(app, { token });
    expect(using.hits).toBe(2);
    expect(await trySession(app, page)).toBe('ok');
    expect((await sendAs(asPage, app, '/session', { token })).code).toBe('UNAUTHENTICATED');
    const actions = (await actionsOf(orgId)).filter((action) => action.startsWith('console_'));
    expect(actions.sort()).toEqual(['console_link_created', 'console_session_started']);
  });

  it('does not use up its link if DynamoDB wrote nothing', async () => {
    const token = await newLink(app);
    proxy.inject({ operation: 'TransactWriteItems', fault: 'throttle' });
    expect((await sendAs(asPage, app, '/session', { token })).code).toBe('SERVICE_UNAVAILABLE');
    proxy.clear();
    await signIn(app, { token });
  });

  it('is served although its activity cannot be recorded', async () => {
    const page = await signIn(app, secretOf(await newOrg(app)));
    app.clock.advance(120_000);
    const failed = proxy.inject({ operation: 'UpdateItem', table: 'refresh_tokens', fault: 'error-before' });
    expect(await trySession(app, page, { 'x-tollgate-activity': '1' })).toBe('ok');
    expect(failed.hits).toBeGreaterThan(0);
  });
});

describe('a revocation', () => {
  it.each<[Fault, number]>([
    ['drop-reply', 1],
    ['drop-reply', 3],
    ['error-after', 2],
    ['conflict', 3],
  ])('takes effect on this gateway at once and on others within 2 s after %s × %i', async (fault, times) => {
    const { orgId, caller, accessToken } = await newOrg(app);
    const elsewhere = await app.another();
    try {
      await elsewhere.as(accessToken).ask(whoAmI);
      const lost = lose('revoked_tokens', times, fault);
      expect(await caller.ask(op.RevokeTokenDocument, { token: accessToken })).toEqual({ revokeToken: true });
      const revokedMs = performance.now();
      expect(lost.hits).toBe(times);
      expect(await caller.codeOf(whoAmI)).toBe('UNAUTHENTICATED');
      await untilWell(2000 - (performance.now() - revokedMs), async () =>
        expect(await elsewhere.as(accessToken).codeOf(whoAmI)).toBe('UNAUTHENTICATED'),
      );
      expect((await actionsOf(orgId)).filter((action) => action === 'token_revoked')).toHaveLength(1);
    } finally {
      await elsewhere.stop();
    }
  });

  it('of a whole session takes effect if the response was lost', async () => {
    const { caller, refreshToken } = await newOrg(app);
    lose('revoked_tokens', 2);
    await caller.ask(op.RevokeTokenDocument, { token: refreshToken });
    expect(await caller.codeOf(whoAmI)).toBe('UNAUTHENTICATED');
    expect(await app.anonymous.codeOf(op.RefreshTokenDocument, { refreshToken })).toBe('UNAUTHENTICATED');
  });

  it('is not reported as done if no response comes, but takes effect if it was written', async () => {
    const { caller, accessToken } = await newOrg(app);
    await caller.ask(whoAmI);
    proxy.inject({ operation: 'TransactWriteItems', table: 'revoked_tokens', fault: 'no-reply-after' });
    const { errors } = await caller.send(op.RevokeTokenDocument, { token: accessToken });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(await caller.codeOf(whoAmI)).toBe('UNAUTHENTICATED');
  });

  it('does not wait for other orgs, although a transaction locks its items', async () => {
    const busy = await newOrg(app);
    let orgId = randomUUID();
    while (changeSlotOf(orgId) === changeSlotOf(busy.orgId)) orgId = randomUUID();
    const { caller } = await newOrg(app, { orgId });
    const { keyId } = (await caller.ask(op.CreateApiKeyDocument, { input: {} })).createApiKey.apiKey;
    const contended = proxy.inject({ fault: 'contend', ms: 20 });
    const changes = Array.from({ length: 40 }, (_, i) =>
      busy.caller.send(op.UpdateOrgDocument, { input: { name: `Name ${i}` } }),
    );
    while (contended.hits < 40) await sleep(1);
    await caller.ask(op.RevokeApiKeyDocument, { keyId });
    expect(
      proxy.calls.filter(({ fault, body }) => fault === 'contend' && JSON.stringify(body).includes(orgId)).length,
    ).toBe(1);
    proxy.clear();
    await Promise.all(changes);
  });
});
