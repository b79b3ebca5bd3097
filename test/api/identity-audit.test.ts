import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { tableNames } from '../../src/dynamo/tables.js';
import { createLog } from '../../src/lib/log.js';
import {
  adminKey,
  type Caller,
  logInWith,
  newApp,
  newOrg,
  orgInput,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
} from '../support/app.js';
import {
  auditOf,
  auditPage,
  randomSecret,
  refresh,
  revoke,
  rotate,
  tryLogIn,
  tryRetrieve,
  tryToken,
} from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
const open = stoppedAfterAll();

beforeAll(async () => {
  app = await open(startTestApp());
});

describe('the audit trail', () => {
  let org: Awaited<ReturnType<typeof newOrg>>;
  let chat: Awaited<ReturnType<typeof newApp>>;
  let caller: Caller;
  const confidential: string[] = [];
  /** The expected events, newest first. */
  const acts: { action: string; actor: string; entityId: string }[] = [];

  beforeAll(async () => {
    const expectEvent = (action: string, actor: string, entityId: string) => {
      acts.unshift({ action, actor, entityId });
      app.clock.advance(1);
    };
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const { orgId } = registerOrg.org;
    const clientId = `org-${orgId}`;
    expectEvent('org_registered', 'platform-admin:admin', '$ORG');
    org = { orgId, ...(await logInWith(app, registerOrg.secretRetrieval.token)) };
    expectEvent('secret_retrieved', clientId, `$CLIENT:${clientId}`);
    expectEvent('login_succeeded', clientId, `$CLIENT:${clientId}`);
    caller = org.caller;

    await caller.ask(op.UpdateOrgDocument, { input: { name: 'Acme Ltd' } });
    expectEvent('org_updated', clientId, '$ORG');
    const { registerApp } = await caller.ask(op.RegisterAppDocument, { input: { appId: 'chat', name: 'Chat' } });
    expectEvent('app_registered', clientId, '$APP:chat');
    chat = { orgId, appId: 'chat', ...(await logInWith(app, registerApp.secretRetrieval.token)) };
    expectEvent('secret_retrieved', chat.clientId, `$CLIENT:${chat.clientId}`);
    expectEvent('login_succeeded', chat.clientId, `$CLIENT:${chat.clientId}`);
    await app.admin.ask(op.UpdateAppDocument, { input: { orgId, appId: 'chat', tightModeThresholdPct: 50 } });
    expectEvent('app_updated', 'platform-admin:admin', '$APP:chat');

    const { secretRetrieval } = await rotate(chat, { graceHours: 5 });
    expectEvent('credentials_rotated', chat.clientId, `$CLIENT:${chat.clientId}`);
    const renewed = await logInWith(app, secretRetrieval.token);
    expectEvent('secret_retrieved', chat.clientId, `$CLIENT:${chat.clientId}`);
    await revoke(caller, renewed.accessToken);
    expectEvent('token_revoked', clientId, `$CLIENT:${chat.clientId}`);
    await revoke(app.admin, renewed.refreshToken);
    expectEvent('token_revoked', 'platform-admin:admin', `$CLIENT:${chat.clientId}`);
    const wrong = { clientId, clientSecret: randomSecret() };
    await tryLogIn(app, wrong);
    await app.gateway.services.pendingWrites.flush();
    expectEvent('login_refused', clientId, `$CLIENT:${clientId}`);

    confidential.push(
      registerOrg.secretRetrieval.token,
      registerApp.secretRetrieval.token,
      secretRetrieval.token,
      wrong.clientSecret,
    );
    for (const client of [org, chat, renewed])
      confidential.push(client.clientSecret, client.accessToken, client.refreshToken);
  });

  it('records every identity act of an org with its actor and its object, newest first', async () => {
    const events = await auditOf(caller);
    expect(events.map(({ action, actor, entityId }) => ({ action, actor, entityId }))).toEqual(acts);
    expect(events.map(({ at }) => at)).toEqual(
      events
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(await auditOf(app.admin, { orgId: org.orgId })).toEqual(events);
  });

  it('records the changed settings and the grace of a rotation', async () => {
    const details = Object.fromEntries((await auditOf(caller)).map((event) => [event.action, event.details]));
    expect(details).toMatchObject({
      org_updated: [{ name: 'name', value: 'Acme Ltd', previousValue: 'Acme' }],
      app_updated: [{ name: 'tightModeThresholdPct', value: '50', previousValue: 'inherited' }],
      credentials_rotated: [{ name: 'graceHours', value: '5', previousValue: null }],
    });
  });

  it.each(['$ORG', '$APP:chat', 'the org client', 'the app client', '$APP:none'])(
    'lists only the events about %s on request',
    async (what) => {
      const entityId =
        { 'the org client': `$CLIENT:${org.clientId}`, 'the app client': `$CLIENT:${chat.clientId}` }[what] ?? what;
      const events = await auditOf(caller, { entityId });
      expect(events.map(({ action, actor }) => ({ action, actor }))).toEqual(
        acts.filter((act) => act.entityId === entityId).map(({ action, actor }) => ({ action, actor })),
      );
    },
  );

  it.each(['all objects', 'one object'])('returns pages that add up to the whole list, of %s', async (which) => {
    const entityId = which === 'one object' ? `$CLIENT:${chat.clientId}` : null;
    const whole = await auditOf(caller, { entityId });
    expect(whole.length).toBeGreaterThan(4);
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await auditPage(caller, { entityId, first: 2, after });
      expect(nodes.length).toBe(Math.min(2, whole.length - seen.length));
      seen.push(...nodes.map(({ id }) => id));
      after = pageInfo.endCursor;
      if (!pageInfo.hasNextPage) break;
    }
    expect(seen).toEqual(whole.map(({ id }) => id));
  });

  it('contains no secret and no token', async () => {
    const trail = JSON.stringify(await auditOf(caller));
    expect(confidential.filter((text) => trail.includes(text) || trail.includes(text.slice(4)))).toEqual([]);
  });

  it('is closed to the apps of the org and to other orgs', async () => {
    expect(await chat.caller.codeOf(op.AuditDocument, { orgId: org.orgId })).toBe('FORBIDDEN');
    const foreign = await newOrg(app);
    expect((await foreign.caller.ask(op.AuditDocument, { orgId: org.orgId })).org).toBeNull();
  });
});

describe('secrets and tokens', () => {
  it('appear in no table and in no log line', async () => {
    const lines: string[] = [];
    const watched = await open(startTestApp({ log: createLog('trace', { write: (line) => void lines.push(line) }) }));
    const confidential: string[] = [];
    const keep = (...secrets: readonly string[]) => confidential.push(...secrets);

    const { registerOrg } = await watched.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    const org = { orgId: registerOrg.org.orgId, ...(await logInWith(watched, registerOrg.secretRetrieval.token)) };
    const chat = await newApp(watched, org);
    const rotated = await rotate(chat, { graceHours: 1 });
    const renewed = await logInWith(watched, rotated.secretRetrieval.token);
    const emergency = await rotate(org, { graceHours: 0 });
    const abandoned = await rotate(renewed, { graceHours: 0 });
    const next = await refresh(watched, renewed.refreshToken);
    await revoke(watched.admin, next.accessToken);
    await revoke(watched.admin, next.refreshToken);
    const last = await logInWith(watched, emergency.secretRetrieval.token);
    const wrong = randomSecret();
    await tryLogIn(watched, { clientId: org.clientId, clientSecret: wrong });
    await tryLogIn(watched, { clientId: wrong, clientSecret: org.clientSecret });
    await tryRetrieve(watched, registerOrg.secretRetrieval.token);
    await tryToken(watched, next.accessToken);
    await watched.admin.send(`{ ${org.clientSecret} }`);
    await watched.admin.send(`mutation { revokeToken(token: "${last.refreshToken}", ${last.refreshToken}: 1) }`);

    keep(
      registerOrg.secretRetrieval.token,
      rotated.secretRetrieval.token,
      emergency.secretRetrieval.token,
      abandoned.secretRetrieval.token,
      wrong,
      adminKey,
    );
    for (const { clientSecret, accessToken, refreshToken } of [org, chat, renewed, last])
      keep(clientSecret, accessToken, refreshToken);
    keep(next.accessToken, next.refreshToken);
    // Searched whole, and without the prefix; an access token also by its signature.
    const searched = confidential.flatMap((secret) => [
      secret,
      secret.startsWith('ey') ? secret.split('.')[2]! : secret.slice(4),
    ]);

    const { client, prefix } = watched.tableAdmin;
    let stored = '';
    for (const table of tableNames) {
      for (let start: Record<string, never> | undefined, more = true; more; more = start !== undefined) {
        const { Items, LastEvaluatedKey } = await client.send(
          new ScanCommand({ TableName: prefix + table, ConsistentRead: true, ExclusiveStartKey: start }),
        );
        stored += JSON.stringify(Items);
        start = LastEvaluatedKey as typeof start;
      }
    }
    const logged = lines.join('');
    expect(searched.filter((text) => stored.includes(text))).toEqual([]);
    expect(searched.filter((text) => logged.includes(text))).toEqual([]);
    // The search has looked at the right text.
    for (const written of [org.clientId, chat.clientId, '$2b$', 'login_refused', 'valid_from_generation'])
      expect(stored).toContain(written);
    for (const written of ['issueToken', 'retrieveSecret', 'revokeToken', org.clientId])
      expect(logged).toContain(written);
  });
});
