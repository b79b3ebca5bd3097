import { createLog } from '../../src/lib/log.js';
import { newOrg, orgInput, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { untilWell } from './harness.js';

/** Longer than the maximum age of the change counter, without which no credential is accepted. */
const maxAgeMs = 6000;
/** Needs only the token, no read. */
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

describe('while DynamoDB is unreachable', () => {
  it.each<Fault>(['refuse', 'no-reply'])(
    'verified tokens are accepted for a few seconds, no others, and everything works again afterwards (%s)',
    async (fault) => {
      const client = await newOrg(app);
      await client.caller.ask(whoAmI);
      const { issueToken: unseen } = await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: client.clientId, clientSecret: client.clientSecret },
      });
      const [header, , signature] = client.accessToken.split('.');
      const forged = `${header}.${unseen.accessToken.split('.')[1]}.${signature}`;
      proxy.inject({ fault });

      const served = await client.caller.ask(whoAmI);
      expect(served).toEqual({ me: { kind: 'ORG_CLIENT', clientId: client.clientId } });
      const [unverified, forgery, refreshed, ready, alive] = await Promise.all([
        app.as(unseen.accessToken).send(whoAmI),
        app.as(forged).codeOf(whoAmI),
        app.anonymous.codeOf(op.RefreshTokenDocument, { refreshToken: client.refreshToken }),
        fetch(`${app.origin}/readyz`),
        fetch(`${app.origin}/healthz`),
      ]);
      expect(unverified.errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(['UNAUTHENTICATED', 'SERVICE_UNAVAILABLE']).toContain(forgery);
      expect(refreshed).toBe('SERVICE_UNAVAILABLE');
      expect([ready.status, alive.status]).toEqual([503, 200]);
      // When revocations cannot be checked, every credential is rejected without a read.
      app.clock.age(maxAgeMs);
      const callCount = proxy.calls.length;
      expect(await client.caller.codeOf(whoAmI)).toBe('SERVICE_UNAVAILABLE');
      expect(await app.as(unseen.accessToken).codeOf(whoAmI)).toBe('SERVICE_UNAVAILABLE');
      expect(proxy.calls.slice(callCount).filter(({ body }) => JSON.stringify(body).includes(client.clientId))).toEqual(
        [],
      );

      proxy.clear();
      await untilWell(10_000, async () => {
        await client.caller.ask(op.MeDocument);
        await app.as(unseen.accessToken).ask(whoAmI);
        expect((await fetch(`${app.origin}/readyz`)).status).toBe(200);
      });
      await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken: client.refreshToken });
      await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: client.clientId, clientSecret: client.clientSecret },
      });
      await newOrg(app);
    },
  );

  it('a permanent read fault never makes an org look deleted', async () => {
    const { orgId, caller } = await newOrg(app);
    await caller.ask(whoAmI);
    // The cached org of the gateway is stale from now on.
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId, name: 'Renamed' } });
    proxy.inject({ operation: 'BatchGetItem', table: 'config', fault: 'partial-batch' });
    const { data, errors } = await caller.send(op.MeDocument);
    expect(errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
    expect(data?.me?.org ?? null).toBeNull();
    proxy.clear();
    proxy.inject({ operation: 'BatchGetItem', table: 'config', fault: 'partial-batch', nth: { first: 2 } });
    expect((await caller.ask(op.MeDocument)).me?.org?.orgId).toBe(orgId);
  });
});

describe('the log', () => {
  let logged: { readonly level: string; readonly msg: string; readonly cause?: string }[];
  let own: TestApp;
  beforeEach(async () => {
    logged = [];
    own = await startTestApp({
      endpoint: proxy.endpoint,
      log: createLog('info', { write: (line: string) => void logged.push(JSON.parse(line)) }),
    });
  });
  afterEach(async () => {
    proxy.clear();
    await own.stop();
    own.tableAdmin.client.destroy();
  });
  const warnings = () => logged.filter(({ level }) => level === 'warn');

  it('contains the reason why DynamoDB did not respond, which no response contains', async () => {
    proxy.inject({ fault: 'throttle', table: 'config' });
    const { errors } = await own.admin.send(op.RegisterOrgDocument, { input: orgInput() });
    expect(errors?.map(({ message, extensions }) => [message, extensions.code])).toEqual([
      ['the database did not respond; nothing was changed; retry', 'SERVICE_UNAVAILABLE'],
    ]);
    // Background tasks may log warnings too. The request logs one line.
    expect(warnings().filter((line) => 'requestId' in line)).toEqual([
      expect.objectContaining({
        requestId: errors?.[0]?.extensions.requestId,
        cause: expect.stringMatching(/^ProvisionedThroughputExceededException: /),
      }),
    ]);
  });

  it('warns once about requests through a proxy that is not trusted', async () => {
    await own.anonymous.send(whoAmI);
    expect(warnings()).toEqual([]);
    for (let i = 0; i < 3; i++) await own.anonymous.send(whoAmI, {}, { 'x-forwarded-for': '192.0.2.1' });
    expect(warnings().map(({ msg }) => msg)).toEqual([expect.stringContaining('TRUST_PROXY=on')]);
  });
});
