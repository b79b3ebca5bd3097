import { randomUUID } from 'node:crypto';
import type { Config } from '../../src/config.js';
import { rootIdOf } from '../../src/lib/seal.js';
import { sleep } from '../../src/lib/timers.js';
import { type Answer, Caller, type Client, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const older = 'the older root secret of the tests, 32 bytes';
const newer = 'the newer root secret of the tests, 32 bytes';

let base: TestApp;
const opened: TestApp[] = [];
const open = async (config: Partial<Config>): Promise<TestApp> => {
  const started = await base.another(config);
  opened.push(started);
  return started;
};
beforeAll(async () => {
  base = await startTestApp({ config: { rootSecrets: [older] } });
});
afterAll(async () => {
  for (const each of opened) await each.stop();
  await base.stop();
});

const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';
const whoAmI = '{ me { kind } }';

/** Everything that is made under a root secret: created at one gateway and used at another. */
interface Made {
  readonly org: Client & { readonly orgId: string };
  readonly deviceKey: string;
  readonly cursor: string;
  readonly alertCursor: string;
  readonly leaseId: string;
  readonly retrieval: string;
  readonly used: string;
  readonly successor: string;
}

async function makeAll(at: TestApp): Promise<Made> {
  const org = await newOrg(at);
  const ask = org.caller.ask.bind(org.caller);
  const deviceKey = (await ask(op.CreateApiKeyDocument, { input: {} })).createApiKey.secret;
  for (const appId of ['a', 'b']) await ask(op.RegisterAppDocument, { input: { appId, name: appId } });
  const cursor = (await ask(op.AppsDocument, { first: 1 })).org?.apps.pageInfo.endCursor ?? 'none';
  const acquiring = {
    entityId: 'user-1',
    resource: 'api',
    consume: [{ limit: 'rpm', amount: 1 }],
    limits: [{ name: 'rpm', capacity: 10, refillPeriodSecs: 60 }],
  };
  const { acquire } = await ask(op.AcquireDocument, { input: acquiring });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  const input = { orgId: org.orgId, appId: 'a' };
  const retrieval = (await at.admin.ask(op.RotateCredentialsDocument, { input })).rotateCredentials.secretRetrieval
    .token;
  const { clientId, clientSecret } = org;
  const used = (await at.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken
    .refreshToken;
  const successor = (await at.anonymous.ask(op.RefreshTokenDocument, { refreshToken: used })).refreshToken.refreshToken;
  const alertCursor = at.gateway.services.cursors.seal(`${org.orgId} quotaAlerts`, '0');
  return { org, deviceKey, cursor, alertCursor, leaseId: acquire.leaseId, retrieval, used, successor };
}

/** The names of the things made at one gateway that fail at another. */
async function failuresAt(at: TestApp, made: Made): Promise<Record<string, string>> {
  const caller = at.as(made.org.accessToken);
  const alerts = 'subscription ($after: String) { quotaAlerts(after: $after) { id } }';
  const repeated = await at.anonymous.send(op.RefreshTokenDocument, { refreshToken: made.used });
  const outcomes = {
    'device key': codeIn(await new Caller(at.url, { 'x-api-key': made.deviceKey }).send(whoAmI)),
    'access token': codeIn(await caller.send(whoAmI)),
    cursor: codeIn(await caller.send(op.AppsDocument, { first: 1, after: made.cursor })),
    'cursor of alerts': codeIn(await caller.subscribeOnce(alerts, { after: made.alertCursor })),
    'adjusted lease': codeIn(
      await caller.send(op.AdjustLeaseDocument, {
        input: { leaseId: made.leaseId, adjust: [{ limit: 'rpm', amount: 1 }], idempotencyKey: randomUUID() },
      }),
    ),
    'repeated refresh':
      repeated.data?.refreshToken.refreshToken === made.successor ? 'ok' : `another: ${codeIn(repeated)}`,
    refresh: codeIn(await at.anonymous.send(op.RefreshTokenDocument, { refreshToken: made.successor })),
    'retrieval token': codeIn(await at.anonymous.send(op.RetrieveSecretDocument, { token: made.retrieval })),
    login: codeIn(
      await at.anonymous.send(op.IssueTokenDocument, {
        input: { clientId: made.org.clientId, clientSecret: made.org.clientSecret },
      }),
    ),
    'released lease': codeIn(await caller.send(op.ReleaseLeaseDocument, { leaseId: made.leaseId })),
  };
  return Object.fromEntries(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok'));
}

const keyChecks = async (at: TestApp): Promise<Record<string, number>> => {
  const { values } = await at.gateway.services.metrics.keyChecks.get();
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.root), value]));
};

describe('a rolling change of the root secret', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['adds the new one at the end', [older], [older, newer]],
    ['makes the new one the first', [older, newer], [newer, older]],
    ['drops the old one', [newer, older], [newer]],
  ])('fails no call between old and new gateways if it %s', async (_step, before, after) => {
    const [from, to] = [await open({ rootSecrets: before }), await open({ rootSecrets: after })];
    expect(await failuresAt(to, await makeAll(from))).toEqual({});
    expect(await failuresAt(from, await makeAll(to))).toEqual({});
  });

  it('fails everything that was made under a missing root if it skips a step', async () => {
    const [from, to] = [await open({ rootSecrets: [older] }), await open({ rootSecrets: [newer] })];
    const failures = await failuresAt(to, await makeAll(from));
    expect(Object.keys(failures).sort()).toEqual(
      [
        'adjusted lease',
        'cursor',
        'cursor of alerts',
        'device key',
        'refresh',
        'released lease',
        'repeated refresh',
        'retrieval token',
      ].sort(),
    );
  });

  it('re-hashes device keys when they are used, and counts in a metric which root they were found under', async () => {
    const { deviceKey } = await makeAll(base);
    const keys = { 'x-api-key': deviceKey };
    const next = await open({ rootSecrets: [newer, older] });
    expect(codeIn(await new Caller(next.url, keys).send(whoAmI))).toBe('ok');
    expect(await keyChecks(next)).toEqual({ [rootIdOf(older)]: 1 });
    // The new hash is written with last_used_at, in the background.
    let checks: Record<string, number> = {};
    for (let i = 0; i < 100 && !checks[rootIdOf(newer)]; i++) {
      await sleep(20);
      const fresh = await base.another({ rootSecrets: [newer, older] });
      await new Caller(fresh.url, keys).send(whoAmI);
      checks = await keyChecks(fresh);
      await fresh.stop();
    }
    expect(checks).toEqual({ [rootIdOf(newer)]: 1 });
    const last = await open({ rootSecrets: [newer] });
    expect(codeIn(await new Caller(last.url, keys).send(whoAmI))).toBe('ok');
    const page = await (await fetch(`${last.origin}/metrics`)).text();
    expect(page).toContain(`tollgate_device_key_checks_total{root="${rootIdOf(newer)}"} 1`);
    expect(page).not.toContain(newer);
  });
});

describe('admin keys', () => {
  const [first, second] = ['admin-key-of-anna-0123456789-abcdefgh', 'admin-key-of-ben-0123456789-abcdefghi'];
  const named = [
    { name: 'anna', key: first },
    { name: 'ben', key: second },
  ];
  const as = (at: TestApp, key: string) => new Caller(at.url, { 'x-admin-key': key });

  it('are all valid at the same time, and the audit trail names the one that was used', async () => {
    const at = await open({ adminKeys: named });
    const { orgId } = await newOrg(base);
    for (const [i, { key }] of named.entries())
      await as(at, key).ask(op.UpdateOrgDocument, { input: { orgId, name: `Name ${i}` } });
    const { org } = await as(at, first).ask(op.AuditDocument, { orgId, entityId: '$ORG', first: 2 });
    expect(org?.auditEvents.nodes.map(({ actor }) => actor)).toEqual(['platform-admin:ben', 'platform-admin:anna']);
    for (const wrong of [`${first}x`, first.slice(0, -1), '', `anna:${first}`])
      expect(codeIn(await as(at, wrong).send(whoAmI))).toBe('UNAUTHENTICATED');
  });

  it('rotate by two rolling restarts: the new key is added everywhere, then the old one removed', async () => {
    const steps = [named.slice(0, 1), named, named.slice(1)];
    const gateways = await Promise.all(steps.map((adminKeys) => open({ adminKeys })));
    const accepted = await Promise.all(
      gateways.map(async (at) => [codeIn(await as(at, first).send(whoAmI)), codeIn(await as(at, second).send(whoAmI))]),
    );
    expect(accepted).toEqual([
      ['ok', 'UNAUTHENTICATED'],
      ['ok', 'ok'],
      ['UNAUTHENTICATED', 'ok'],
    ]);
  });

  it('are never used as a request id', async () => {
    const at = await open({ adminKeys: named });
    for (const { key } of named)
      expect((await as(at, key).send(whoAmI, undefined, { 'x-request-id': key })).headers.get('x-request-id')).not.toBe(
        key,
      );
  });
});
