import { randomBytes, randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import {
  type Answer,
  type Client,
  logInWith,
  newApp,
  newOrg,
  startTestApp,
  type TestApp,
  testEndpoint,
} from '../support/app.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const randomSecret = () => `tgs_${randomBytes(32).toString('base64url')}`;
const whoAmI = '{ me { kind } }';

let app: TestApp;
const opened: TestApp[] = [];
async function open(starting: Promise<TestApp>): Promise<TestApp> {
  const started = await starting;
  opened.push(started);
  return started;
}
beforeAll(async () => {
  app = await open(startTestApp());
});
afterAll(() => Promise.all(opened.map((each) => each.stop())));

type Secret = Pick<Client, 'clientId' | 'clientSecret'>;
const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';
const signIn = async (at: TestApp, { clientId, clientSecret }: Secret): Promise<string> =>
  codeIn(await at.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } }));
const refresh = async (at: TestApp, refreshToken: string): Promise<string> =>
  codeIn(await at.anonymous.send(op.RefreshTokenDocument, { refreshToken }));
const use = async (at: TestApp, accessToken: string): Promise<string> => codeIn(await at.as(accessToken).send(whoAmI));
const retrieve = async (token: string) =>
  (await app.anonymous.ask(op.RetrieveSecretDocument, { token })).retrieveSecret;

/** bcrypt computations of a gateway so far. */
async function hashesOf(at: TestApp): Promise<number> {
  const { values } = await at.gateway.services.metrics.secretHashes.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

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

/** Asks again where the store was not reached in time. */
async function definite(at: TestApp, secret: Secret): Promise<string> {
  for (;;) {
    const code = await signIn(at, secret);
    if (code !== 'SERVICE_UNAVAILABLE') return code;
  }
}

describe('a flood of logins', () => {
  it('of 5,000 unknown clients and wrong secrets costs no bcrypt, and the right secret gets through meanwhile', async () => {
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
    let right: string[] = [];
    await inTurns(guesses, 40, async (guess) => {
      const code = await signIn(flooded, guess);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      // From the same address, which is far over its limit by then.
      if (guess === guesses[4000]) right = [await definite(flooded, org), await definite(flooded, chat)];
    });
    // A starved machine may not reach its store in time.
    codes.delete('SERVICE_UNAVAILABLE');
    expect([...codes.keys()].sort()).toEqual(['RATE_LIMITED', 'UNAUTHENTICATED']);
    expect(right).toEqual(['ok', 'ok']);
    expect((await hashesOf(flooded)) - before).toBe(2);
    const refused = (await actionsOf(flooded, org.orgId)).filter((action) => action === 'login_refused');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(24);
  }, 600_000);

  it('of 22 wrong secrets does not lock out the right one', async () => {
    const org = await newOrg(app);
    const fresh = await open(app.another({ loginPerAddressPerMinute: 20 }));
    for (let i = 0; i < 22; i++) await signIn(fresh, { clientId: org.clientId, clientSecret: randomSecret() });
    expect(await signIn(fresh, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('RATE_LIMITED');
    expect(await signIn(fresh, org)).toBe('ok');
  });

  it('with a secret that was rotated out costs no bcrypt', async () => {
    const org = await newOrg(app);
    const input = { orgId: org.orgId, graceHours: 0 };
    await retrieve(
      (await app.admin.ask(op.RotateCredentialsDocument, { input })).rotateCredentials.secretRetrieval.token,
    );
    const before = await hashesOf(app);
    for (let i = 0; i < 5; i++) expect(await signIn(app, org)).toBe('UNAUTHENTICATED');
    expect(await hashesOf(app)).toBe(before);
  });

  it('with one right secret at once costs one bcrypt', async () => {
    const org = await newOrg(app);
    const fresh = await open(app.another());
    const codes = await Promise.all(Array.from({ length: 100 }, () => signIn(fresh, org)));
    expect(new Set(codes)).toEqual(new Set(['ok']));
    expect(await hashesOf(fresh)).toBe(1);
  });

  it('of one client costs one bcrypt, though others revoke tokens meanwhile', async () => {
    const [org, busy] = [await newOrg(app), await newOrg(app)];
    const before = await hashesOf(app);
    for (let i = 0; i < 5; i++) {
      expect(await signIn(app, org)).toBe('ok');
      await busy.caller.ask(op.UpdateOrgDocument, { input: { name: `Name ${i}` } });
    }
    expect(await hashesOf(app)).toBe(before);
  });

  it('reads as much for an unknown client as for a wrong secret', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const proxy = await startFaultProxy(testEndpoint());
    const watched = await app.another({ store: { ...app.config.store, endpoint: proxy.endpoint } });
    try {
      const callsOf = async (clientId: string): Promise<string[]> => {
        const from = proxy.calls.length;
        await signIn(watched, { clientId, clientSecret: randomSecret() });
        const calls = proxy.calls
          .slice(from)
          .map(
            ({ operation, tables }) => `${operation} ${tables.map((table) => table.replace(/^t\w{8}_/, '')).join(' ')}`,
          );
        // A gateway polls in batches and looks at all orgs when it starts; the record of a refusal, nobody waits for.
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

describe('the record of refused logins', () => {
  it('does not hold up the answer, and survives a clean stop', async () => {
    const org = await newOrg(app);
    const proxy = await startFaultProxy(testEndpoint());
    const slow = await app.another({ store: { ...app.config.store, endpoint: proxy.endpoint } });
    const held = proxy.inject({ operation: 'PutItem', table: 'limiter', fault: 'hold' });
    expect(await signIn(slow, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('UNAUTHENTICATED');
    while (held.hits === 0) await sleep(1);
    const stopping = slow.stop();
    held.remove();
    await stopping;
    await proxy.stop();
    expect(await actionsOf(app, org.orgId)).toContain('login_refused');
  });

  it('that the store does not take is logged and breaks nothing', async () => {
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
    expect(await signIn(broken, { clientId: org.clientId, clientSecret: randomSecret() })).toBe('UNAUTHENTICATED');
    await broken.gateway.services.pendingWrites.flush();
    expect(warnings).toContain('background write failed');
    proxy.clear();
    await broken.stop();
    await proxy.stop();
  });
});

describe('rotating its own credentials', () => {
  const rotation = (client: Client, input: op.RotateCredentialsInput) =>
    client.caller.send(op.RotateCredentialsDocument, { input });

  it.each([
    ['an org client', async () => newOrg(app)],
    ['an app client', async () => newApp(app, await newOrg(app))],
  ])('takes the current secret of %s', async (_who, make) => {
    const client = await make();
    const missing = await rotation(client, { graceHours: 0 });
    expect(codeIn(missing)).toBe('BAD_USER_INPUT');
    expect(missing.errors?.[0]?.extensions.issues).toEqual([
      { path: 'input.currentSecret', message: expect.stringContaining('required') },
    ]);
    for (const currentSecret of [randomSecret(), 'x', `${client.clientSecret}x`]) {
      expect(codeIn(await rotation(client, { graceHours: 0, currentSecret }))).toBe('UNAUTHENTICATED');
    }
    expect([await signIn(app, client), await use(app, client.accessToken)]).toEqual(['ok', 'ok']);
    expect(codeIn(await rotation(client, { currentSecret: client.clientSecret }))).toBe('ok');
  });

  it('is not possible with a secret that is in its grace', async () => {
    const org = await newOrg(app);
    const first = await rotation(org, { graceHours: 24, currentSecret: org.clientSecret });
    const renewed = await retrieve(first.data?.rotateCredentials.secretRetrieval.token ?? '');
    expect(codeIn(await rotation(org, { currentSecret: org.clientSecret }))).toBe('UNAUTHENTICATED');
    expect(codeIn(await rotation(org, { currentSecret: renewed.clientSecret }))).toBe('ok');
  });

  it('is bounded in guesses by address', async () => {
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

  it('takes no secret of a parent: the org for its apps, the admin for all', async () => {
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

  it('ends with the grace of its secret, begun before the rotation or during the grace', async () => {
    const before = await newOrg(app);
    const renewed = await rotateByAdmin(before.orgId, 2);
    const during = (
      await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: before.clientId, clientSecret: before.clientSecret },
      })
    ).issueToken;
    expect(during.refreshExpiresInSecs).toBeLessThanOrEqual(2 * 3600);
    app.clock.advance(90 * minute);
    const [one, two] = await Promise.all(
      [before, during].map(
        async ({ refreshToken }) => (await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken })).refreshToken,
      ),
    );
    for (const pair of [one, two]) {
      expect(pair?.refreshExpiresInSecs).toBeLessThanOrEqual(1800);
      expect(pair?.expiresInSecs).toBeLessThanOrEqual(1800);
    }
    app.clock.advance(30 * minute);
    for (const pair of [one, two]) {
      expect(await refresh(app, pair?.refreshToken ?? '')).toBe('UNAUTHENTICATED');
      expect(await use(app, pair?.accessToken ?? '')).toBe('UNAUTHENTICATED');
    }
    expect(await refresh(app, renewed.refreshToken)).toBe('ok');
  });

  it('of the new secret goes on past the grace of the old one', async () => {
    const old = await newOrg(app);
    const renewed = await rotateByAdmin(old.orgId, 1);
    app.clock.advance(10 * day);
    expect([await refresh(app, old.refreshToken), await refresh(app, renewed.refreshToken)]).toEqual([
      'UNAUTHENTICATED',
      'ok',
    ]);
  });

  it('ends when its secret is rotated out a second time, though the first grace is open', async () => {
    const oldest = await newOrg(app);
    await rotateByAdmin(oldest.orgId, 168);
    expect(await refresh(app, oldest.refreshToken)).toBe('ok');
    const session = (
      await app.anonymous.ask(op.IssueTokenDocument, {
        input: { clientId: oldest.clientId, clientSecret: oldest.clientSecret },
      })
    ).issueToken;
    await rotateByAdmin(oldest.orgId, 168);
    expect(await refresh(app, session.refreshToken)).toBe('UNAUTHENTICATED');
  });
});

describe('a revoked token', () => {
  it('is known as revoked: 1,000 requests with it cost a handful of reads', async () => {
    const org = await newOrg(app);
    await org.caller.ask(op.RevokeTokenDocument, { token: org.accessToken });
    const { consumed } = app.gateway.services.store;
    expect(await use(app, org.accessToken)).toBe('UNAUTHENTICATED');
    const before = consumed.read;
    const startedMs = performance.now();
    await inTurns(
      Array.from({ length: 1000 }, (_, i) => i),
      20,
      async () => expect(await use(app, org.accessToken)).toBe('UNAUTHENTICATED'),
    );
    // Beside them the gateway reads its eight versions and the alert log once a second.
    const polls = 40 * (2 + (performance.now() - startedMs) / 1000);
    expect(consumed.read - before).toBeLessThan(polls);
  });
});

describe('guesses of retrieval and refresh tokens', () => {
  it('cost no read, and are refused by address past the bound', async () => {
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
            token: `tgt_${randomBytes(32).toString('base64url')}`,
          }),
        );
        codes.push(await refresh(at, `tgr_${randomBytes(32).toString('base64url')}`));
      }
      expect(codes.filter((code) => code === 'RATE_LIMITED').length).toBeGreaterThanOrEqual(60);
      expect(codes.slice(0, 2)).toEqual(['NOT_FOUND', 'UNAUTHENTICATED']);
    }
    expect(tables()).toEqual([]);
    await watched.stop();
    await proxy.stop();
  });
});
