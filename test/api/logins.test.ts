import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import {
  type Client,
  logInWith,
  newApp,
  newOrg,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
  testEndpoint,
} from '../support/app.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import {
  codeIn,
  dayMs,
  minuteMs,
  randomRefresh,
  randomRetrieval,
  randomSecret,
  retrieve,
  tryLogIn,
  tryRefresh,
  tryToken,
} from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
const open = stoppedAfterAll();
beforeAll(async () => {
  app = await open(startTestApp());
});

type Secret = Pick<Client, 'clientId' | 'clientSecret'>;

/** The number of bcrypt computations of a gateway so far. */
async function hashesOf(at: TestApp): Promise<number> {
  const { values } = await at.gateway.services.metrics.secretHashes.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** Runs a task for each entry, at most `atOnce` of them concurrently. */
async function inTurns<T>(all: readonly T[], atOnce: number, task: (entry: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await task(next);
    }),
  );
}

const actionsOf = async (at: TestApp, orgId: string): Promise<string[]> => {
  await at.gateway.services.pendingWrites.flush();
  const { org } = await at.admin.ask(op.AuditDocument, { orgId, first: 100 });
  return org?.auditEvents.nodes.map(({ action }) => action) ?? [];
};

/** Logs in, and retries while DynamoDB is not reached in time. */
async function logInWithRetries(at: TestApp, secret: Secret): Promise<string> {
  for (;;) {
    const code = await tryLogIn(at, secret);
    if (code !== 'SERVICE_UNAVAILABLE') return code;
  }
}

describe('a flood of logins', () => {
  it('of 5,000 unknown clients and wrong secrets costs no bcrypt and does not lock out a correct secret', async () => {
    const flooded = await open(app.another({ loginPerAddressPerMinute: 200 }));
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const before = await hashesOf(flooded);
    const codes = new Map<string, number>();
    const guesses = Array.from({ length: 5000 }, (_, i): Secret => {
      const clientId = [
        org.clientId,
        chat.clientId,
        `org-${randomUUID()}`,
        `${org.clientId}-app-none`,
        `${org.clientId}~0123456789ab`,
      ][i % 5] as string;
      return { clientId, clientSecret: randomSecret() };
    });
    let correct: string[] = [];
    await inTurns(guesses, 40, async (guess) => {
      const code = await tryLogIn(flooded, guess);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      // From the same address, which is far over its limit.
      if (guess === guesses[4000])
        correct = [await logInWithRetries(flooded, org), await logInWithRetries(flooded, chat)];
    });
    // A busy machine may not reach DynamoDB in time.
    codes.delete('SERVICE_UNAVAILABLE');
    expect([...codes.keys()].sort()).toEqual(['RATE_LIMITED', 'UNAUTHENTICATED']);
    expect(correct).toEqual(['ok', 'ok']);
    expect((await hashesOf(flooded)) - before).toBe(2);
    const refused = (await actionsOf(flooded, org.orgId)).filter((action) => action === 'login_refused');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(24);
  }, 600_000);

  it('of 22 wrong secrets does not lock out the correct one', async () => {
    const org = await newOrg(app);
    const fresh = await open(app.another({ loginPerAddressPerMinute: 20 }));
    for (let i = 0; i < 22; i++) await tryLogIn(fresh, { clientId: org.clientId, clientSecret: randomSecret() });
    expect(await tryLogIn(fresh, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('RATE_LIMITED');
    expect(await tryLogIn(fresh, org)).toBe('ok');
  });

  it('with a secret that has ended costs no bcrypt', async () => {
    const org = await newOrg(app);
    const input = { orgId: org.orgId, graceHours: 0 };
    await retrieve(
      app,
      (await app.admin.ask(op.RotateCredentialsDocument, { input })).rotateCredentials.secretRetrieval.token,
    );
    const before = await hashesOf(app);
    for (let i = 0; i < 5; i++) expect(await tryLogIn(app, org)).toBe('UNAUTHENTICATED');
    expect(await hashesOf(app)).toBe(before);
  });

  it('with one correct secret costs one bcrypt for all concurrent logins', async () => {
    const org = await newOrg(app);
    const fresh = await open(app.another());
    const codes = await Promise.all(Array.from({ length: 100 }, () => tryLogIn(fresh, org)));
    expect(new Set(codes)).toEqual(new Set(['ok']));
    expect(await hashesOf(fresh)).toBe(1);
  });

  it('of one client costs one bcrypt even if other clients revoke tokens meanwhile', async () => {
    const [org, busy] = [await newOrg(app), await newOrg(app)];
    const before = await hashesOf(app);
    for (let i = 0; i < 5; i++) {
      expect(await tryLogIn(app, org)).toBe('ok');
      await busy.caller.ask(op.UpdateOrgDocument, { input: { name: `Name ${i}` } });
    }
    expect(await hashesOf(app)).toBe(before);
  });

  it('costs the same reads for unknown clients as for wrong secrets', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const proxy = await startFaultProxy(testEndpoint());
    const watched = await app.another({ store: { ...app.config.store, endpoint: proxy.endpoint } });
    try {
      const callsOf = async (clientId: string): Promise<string[]> => {
        const from = proxy.calls.length;
        await tryLogIn(watched, { clientId, clientSecret: randomSecret() });
        const calls = proxy.calls
          .slice(from)
          .map(
            ({ operation, tables }) => `${operation} ${tables.map((table) => table.replace(/^t\w{8}_/, '')).join(' ')}`,
          );
        // Other calls are polls of the gateway, and the audit event of the refusal, which runs in the background.
        return calls.filter((call) => call.startsWith('GetItem'));
      };
      const unknown = [`org-${randomUUID()}`, `${org.clientId}-app-none`, `${org.clientId}~0123456789ab`];
      for (const clientId of [...unknown, org.clientId, chat.clientId])
        expect(await callsOf(clientId)).toEqual(['GetItem config']);
    } finally {
      await watched.stop();
      await proxy.stop();
    }
  });
});

describe('the audit event of a refused login', () => {
  it('does not delay the response and is written before a clean stop ends', async () => {
    const org = await newOrg(app);
    const proxy = await startFaultProxy(testEndpoint());
    const slow = await app.another({ store: { ...app.config.store, endpoint: proxy.endpoint } });
    const held = proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'hold' });
    expect(await tryLogIn(slow, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('UNAUTHENTICATED');
    while (held.hits === 0) await sleep(1);
    const stopping = slow.stop();
    held.remove();
    await stopping;
    await proxy.stop();
    expect(await actionsOf(app, org.orgId)).toContain('login_refused');
  });

  it('is dropped with a log line if DynamoDB does not accept it', async () => {
    const org = await newOrg(app);
    const proxy = await startFaultProxy(testEndpoint());
    const warnings: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn: (_: unknown, text?: string) => void warnings.push(text ?? ''),
      error() {},
      isLevelEnabled: () => false,
    };
    const broken = await startTestApp({
      endpoint: proxy.endpoint,
      log,
      config: { store: app.config.store, signingKeys: app.config.signingKeys },
    });
    proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'error-before' });
    expect(await tryLogIn(broken, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('UNAUTHENTICATED');
    await broken.gateway.services.pendingWrites.flush();
    expect(warnings).toContain('background write failed');
    proxy.clear();
    await broken.stop();
    await proxy.stop();
  });
});

describe('rotateCredentials of the caller itself', () => {
  const rotation = (client: Client, input: op.RotateCredentialsInput) =>
    client.caller.send(op.RotateCredentialsDocument, { input });

  it.each([
    ['an org client', async () => newOrg(app)],
    ['an app client', async () => newApp(app, await newOrg(app))],
  ])('requires the current secret of %s', async (_who, make) => {
    const client = await make();
    const missing = await rotation(client, { graceHours: 0 });
    expect(codeIn(missing)).toBe('BAD_USER_INPUT');
    expect(missing.errors?.[0]?.extensions.issues).toEqual([
      { path: 'input.currentSecret', message: expect.stringContaining('required') },
    ]);
    for (const currentSecret of [randomSecret(), 'x', `${client.clientSecret}x`]) {
      expect(codeIn(await rotation(client, { graceHours: 0, currentSecret }))).toBe('UNAUTHENTICATED');
    }
    expect([await tryLogIn(app, client), await tryToken(app, client.accessToken)]).toEqual(['ok', 'ok']);
    expect(codeIn(await rotation(client, { currentSecret: client.clientSecret }))).toBe('ok');
  });

  it('refuses a previous secret in its grace', async () => {
    const org = await newOrg(app);
    const first = await rotation(org, { graceHours: 24, currentSecret: org.clientSecret });
    const renewed = await retrieve(app, first.data?.rotateCredentials.secretRetrieval.token ?? '');
    expect(codeIn(await rotation(org, { currentSecret: org.clientSecret }))).toBe('UNAUTHENTICATED');
    expect(codeIn(await rotation(org, { currentSecret: renewed.clientSecret }))).toBe('ok');
  });

  it('throttles wrong secrets per address', async () => {
    const org = await newOrg(app);
    const strict = await open(app.another({ loginPerAddressPerMinute: 3 }));
    const guess = () =>
      strict.as(org.accessToken).codeOf(op.RotateCredentialsDocument, { input: { currentSecret: randomSecret() } });
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'RATE_LIMITED',
    ]);
  });

  it('requires no secret from the org for its apps, or from the admin', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    expect(codeIn(await rotation(org, { appId: 'chat' }))).toBe('ok');
    for (const appId of [null, 'chat'])
      expect(codeIn(await app.admin.send(op.RotateCredentialsDocument, { input: { orgId: org.orgId, appId } }))).toBe(
        'ok',
      );
  });
});

describe('a session', () => {
  const rotateByAdmin = async (orgId: string, graceHours: number) => {
    const { rotateCredentials } = await app.admin.ask(op.RotateCredentialsDocument, { input: { orgId, graceHours } });
    return logInWith(app, rotateCredentials.secretRetrieval.token);
  };

  it('ends with the grace of its secret, whether it began before the rotation or during the grace', async () => {
    const before = await newOrg(app);
    const renewed = await rotateByAdmin(before.orgId, 2);
    const during = (
      await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: before.clientId, clientSecret: before.clientSecret },
      })
    ).issueToken;
    expect(during.refreshExpiresInSecs).toBeLessThanOrEqual(2 * 3600);
    app.clock.advance(90 * minuteMs);
    const [one, two] = await Promise.all(
      [before, during].map(
        async ({ refreshToken }) => (await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken })).refreshToken,
      ),
    );
    for (const pair of [one, two]) {
      expect(pair?.refreshExpiresInSecs).toBeLessThanOrEqual(1800);
      expect(pair?.expiresInSecs).toBeLessThanOrEqual(1800);
    }
    app.clock.advance(30 * minuteMs);
    for (const pair of [one, two]) {
      expect(await tryRefresh(app, pair?.refreshToken ?? '')).toBe('UNAUTHENTICATED');
      expect(await tryToken(app, pair?.accessToken ?? '')).toBe('UNAUTHENTICATED');
    }
    expect(await tryRefresh(app, renewed.refreshToken)).toBe('ok');
  });

  it('continues past the grace of the old secret if it began with the new one', async () => {
    const old = await newOrg(app);
    const renewed = await rotateByAdmin(old.orgId, 1);
    app.clock.advance(10 * dayMs);
    expect([await tryRefresh(app, old.refreshToken), await tryRefresh(app, renewed.refreshToken)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it('ends when its secret is replaced a second time, even during the first grace', async () => {
    const oldest = await newOrg(app);
    await rotateByAdmin(oldest.orgId, 168);
    expect(await tryRefresh(app, oldest.refreshToken)).toBe('ok');
    const session = (
      await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: oldest.clientId, clientSecret: oldest.clientSecret },
      })
    ).issueToken;
    await rotateByAdmin(oldest.orgId, 168);
    expect(await tryRefresh(app, session.refreshToken)).toBe('UNAUTHENTICATED');
  });
});

describe('a revoked token', () => {
  it('is cached as revoked, so that 1,000 requests with it cost only a few reads', async () => {
    const org = await newOrg(app);
    await org.caller.ask(op.RevokeTokenDocument, { token: org.accessToken });
    const { consumed } = app.gateway.services.store;
    expect(await tryToken(app, org.accessToken)).toBe('UNAUTHENTICATED');
    const before = consumed.read;
    const startedMs = performance.now();
    await inTurns(
      Array.from({ length: 1000 }, (_, i) => i),
      20,
      async () => expect(await tryToken(app, org.accessToken)).toBe('UNAUTHENTICATED'),
    );
    // The gateway also reads the change counter and the alert log once per second.
    const polls = 40 * (2 + (performance.now() - startedMs) / 1000);
    expect(consumed.read - before).toBeLessThan(polls);
  });
});

describe('guessed retrieval and refresh tokens', () => {
  it('cost no read and are throttled per address', async () => {
    const strict = await open(app.another({ loginPerAddressPerMinute: 50 }));
    const proxy = await startFaultProxy(testEndpoint());
    const watched = await app.another({
      loginPerAddressPerMinute: 50,
      store: { ...app.config.store, endpoint: proxy.endpoint },
    });
    const tables = () =>
      proxy.calls
        .flatMap((call) => call.tables)
        .filter((table) => /secret_retrieval_tokens|refresh_tokens/.test(table));
    for (const at of [strict, watched]) {
      const codes: string[] = [];
      for (let i = 0; i < 60; i++) {
        codes.push(
          await at.anonymous.codeOf(op.RetrieveSecretDocument, {
            token: randomRetrieval(),
          }),
        );
        codes.push(await tryRefresh(at, randomRefresh()));
      }
      expect(codes.filter((code) => code === 'RATE_LIMITED').length).toBeGreaterThanOrEqual(60);
      expect(codes.slice(0, 2)).toEqual(['NOT_FOUND', 'UNAUTHENTICATED']);
    }
    expect(tables()).toEqual([]);
    await watched.stop();
    await proxy.stop();
  });
});
