import { type Caller, type Client, logInWith, newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { codeIn, tryLogIn } from '../support/identity.js';
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

const whoAmI = '{ me { kind clientId role } }';

type Org = Awaited<ReturnType<typeof newOrg>>;

async function newClient(caller: Caller, input: op.CreateClientInput): Promise<Client> {
  const { createClient } = await caller.ask(op.CreateClientDocument, { input });
  return logInWith(app, createClient.secretRetrieval.token);
}
const orgClient = (org: Org, role: op.ClientRole = 'FULL') =>
  newClient(org.caller, { name: 'Reports', role, currentSecret: org.clientSecret });

/** Repeats `attempt` until it returns `expected`, for 2 s and the time that a busy machine adds. */
async function eventually(attempt: () => Promise<string>, expected: string): Promise<string> {
  const untilMs = performance.now() + 4000;
  let result = await attempt();
  while (result !== expected && performance.now() < untilMs) result = await attempt();
  return result;
}

describe('createClient', () => {
  it('creates a client of the org that may do the same as the first client', async () => {
    const org = await newOrg(app);
    const { createClient } = await org.caller.ask(op.CreateClientDocument, {
      input: { name: 'Console', currentSecret: org.clientSecret },
    });
    expect(createClient.client).toMatchObject({
      clientId: expect.stringMatching(new RegExp(`^${org.clientId}~[0-9a-f]{12}$`)),
      name: 'Console',
      role: 'FULL',
      lastLoginAt: null,
      credentials: { secretCreatedAt: null },
    });
    const console = await logInWith(app, createClient.secretRetrieval.token);
    expect((await console.caller.ask(whoAmI)) as unknown).toEqual({
      me: { kind: 'ORG_CLIENT', clientId: console.clientId, role: 'FULL' },
    });
    await console.caller.ask(op.UpdateOrgDocument, { input: { name: 'By the console' } });
    const clients = (await org.caller.ask(
      '{ org { clients { clientId name role lastLoginAt credentials { secretCreatedAt } } } }',
    )) as unknown;
    expect(clients).toMatchObject({
      org: {
        clients: [
          {
            clientId: console.clientId,
            lastLoginAt: expect.any(String),
            credentials: { secretCreatedAt: expect.any(String) },
          },
        ],
      },
    });
  });

  it('creates a client of an app that may do no more than the app', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    const batch = await newClient(org.caller, { appId: 'chat', name: 'Batch jobs' });
    expect(batch.clientId).toMatch(new RegExp(`^${org.clientId}-app-chat~`));
    expect((await batch.caller.ask(op.MeDocument)).me).toMatchObject({ kind: 'APP_CLIENT', clientId: batch.clientId });
    expect(await batch.caller.codeOf(op.UpdateOrgDocument, { input: { name: 'x' } })).toBe('FORBIDDEN');
    const { org: found } = await org.caller.ask(op.ClientsDocument, {});
    expect([found?.clients, found?.app?.clients.map(({ clientId }) => clientId)]).toEqual([[], [batch.clientId]]);
  });

  it('requires the secret of an org client for a client of the org, so that a stolen token is not enough', async () => {
    const org = await newOrg(app);
    const attempt = (input: Partial<op.CreateClientInput>) =>
      org.caller.codeOf(op.CreateClientDocument, { input: { name: 'Mine', ...input } });
    expect(await attempt({})).toBe('BAD_USER_INPUT');
    expect(await attempt({ role: 'READ' })).toBe('BAD_USER_INPUT');
    expect(await attempt({ currentSecret: `tgs_${'x'.repeat(43)}` })).toBe('UNAUTHENTICATED');
    expect((await org.caller.ask(op.ClientsDocument, {})).org?.clients).toEqual([]);
  });

  it.each([
    ['a blank name', { name: ' ' }, 'BAD_USER_INPUT'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, 'BAD_USER_INPUT'],
    ['an app that does not exist', { appId: 'nothing' }, 'NOT_FOUND'],
    ['an invalid app id', { appId: 'No App!' }, 'NOT_FOUND'],
    ['an empty app id', { appId: '' }, 'NOT_FOUND'],
  ])('refuses %s', async (_what, input, code) => {
    const { orgId } = await newOrg(app);
    expect(await app.admin.codeOf(op.CreateClientDocument, { input: { orgId, name: 'Mine', ...input } })).toBe(code);
  });

  it('creates at most 20 clients of an org and 20 of an app, however many calls are concurrent', async () => {
    const { orgId } = await newOrg(app);
    await newApp(app, { orgId });
    for (const appId of [null, 'chat']) {
      const answers = await Promise.all(
        Array.from({ length: 25 }, () =>
          app.admin.send(op.CreateClientDocument, { input: { orgId, appId, name: 'Many' } }),
        ),
      );
      expect(answers.filter(({ errors }) => !errors)).toHaveLength(20);
      expect(new Set(answers.map(codeIn))).toEqual(new Set(['ok', 'BAD_USER_INPUT']));
    }
    const { org } = await app.admin.ask(op.ClientsDocument, { orgId });
    expect([org?.clients.length, org?.app?.clients.length]).toEqual([20, 20]);
    await app.admin.ask(op.DeleteClientDocument, { orgId, clientId: org?.clients[0]?.clientId ?? '' });
    await app.admin.ask(op.CreateClientDocument, { input: { orgId, name: 'Again' } });
  });
});

describe('deleteClient', () => {
  it('ends its secret, tokens and sessions: on this gateway at once, on others within 2 s', async () => {
    const org = await newOrg(app);
    const console = await orgClient(org);
    const use = (at: TestApp) => async () => codeIn(await at.as(console.accessToken).send(whoAmI));
    expect([await use(app)(), await use(other)()]).toEqual(['ok', 'ok']);
    await org.caller.ask(op.DeleteClientDocument, { clientId: console.clientId });
    expect(await use(app)()).toBe('UNAUTHENTICATED');
    expect(await tryLogIn(app, console)).toBe('UNAUTHENTICATED');
    expect(await app.anonymous.codeOf(op.RefreshTokenDocument, { refreshToken: console.refreshToken })).toBe(
      'UNAUTHENTICATED',
    );
    expect(await eventually(use(other), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    expect(codeIn(await org.caller.send(whoAmI))).toBe('ok');
  });

  it('voids a secret that is not retrieved yet', async () => {
    const org = await newOrg(app);
    const { createClient } = await app.admin.ask(op.CreateClientDocument, {
      input: { orgId: org.orgId, name: 'Late' },
    });
    await org.caller.ask(op.DeleteClientDocument, { clientId: createClient.client.clientId });
    expect(await app.anonymous.codeOf(op.RetrieveSecretDocument, { token: createClient.secretRetrieval.token })).toBe(
      'NOT_FOUND',
    );
  });

  it.each([
    ['the first client of the org', ({ clientId }: Org) => clientId, 'BAD_USER_INPUT'],
    ['the first client of an app', ({ clientId }: Org) => `${clientId}-app-chat`, 'BAD_USER_INPUT'],
    ['a client that does not exist', ({ clientId }: Org) => `${clientId}~0123456789ab`, 'NOT_FOUND'],
    ['an invalid client id', () => '#', 'NOT_FOUND'],
  ])('refuses %s', async (_what, clientIdOf, code) => {
    const org = await newOrg(app);
    expect(await org.caller.codeOf(op.DeleteClientDocument, { clientId: clientIdOf(org) })).toBe(code);
    expect(await tryLogIn(app, org)).toBe('ok');
  });
});

describe('a client with the role READ', () => {
  it('may query and subscribe like its org, and shows its role', async () => {
    const org = await newOrg(app);
    const reader = await orgClient(org, 'READ');
    expect((await reader.caller.ask(whoAmI)) as unknown).toEqual({
      me: { kind: 'ORG_CLIENT', clientId: reader.clientId, role: 'READ' },
    });
    for (const field of [
      'apps { nodes { appId } }',
      'auditEvents { nodes { action } }',
      'spend { costUsdMicros }',
      'clients { clientId }',
    ])
      expect(codeIn(await reader.caller.send(`{ org { ${field} } }`))).toBe('ok');
    expect(codeIn(await reader.caller.subscribeOnce('subscription { quotaAlerts { id } }', {}))).toBe('ok');
  });

  it('is refused every mutation except those about its own tokens', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const readers = [
      await orgClient(org, 'READ'),
      await newClient(org.caller, { appId: 'chat', name: 'Reader', role: 'READ' }),
    ];
    const secret = readers[0]?.clientSecret;
    // The permission matrix tries all mutations.
    const calls = [
      `rotateCredentials(input: { currentSecret: "${secret}" }) { __typename }`,
      `createClient(input: { name: "x", currentSecret: "${secret}" }) { __typename }`,
      'updateOrg(input: { name: "x" }) { name }',
      'deleteApp(appId: "chat")',
    ];
    for (const reader of readers) {
      // More than once, because a repeated operation is compiled.
      for (const call of [...calls, ...calls, ...calls, ...calls])
        expect([call, codeIn(await reader.caller.send(`mutation { ${call} }`))]).toEqual([call, 'FORBIDDEN']);
    }
    expect([await tryLogIn(app, org), await tryLogIn(app, chat)]).toEqual(['ok', 'ok']);
    expect((await app.admin.ask(op.OrgDocument, { orgId: org.orgId })).org?.name).toBe('Acme');
  });

  it('may issue, refresh and revoke its own tokens, and stays READ', async () => {
    const org = await newOrg(app);
    const reader = await orgClient(org, 'READ');
    const { refreshToken: pair } = await app.anonymous.ask(op.RefreshTokenDocument, {
      refreshToken: reader.refreshToken,
    });
    const renewed = app.as(pair.accessToken);
    expect(await renewed.codeOf(op.UpdateOrgDocument, { input: { name: 'x' } })).toBe('FORBIDDEN');
    for (const token of [org.accessToken, org.refreshToken])
      expect((await renewed.ask(op.RevokeTokenDocument, { token })).revokeToken).toBe(true);
    expect([
      codeIn(await org.caller.send(whoAmI)),
      codeIn(await app.anonymous.send(op.RefreshTokenDocument, { refreshToken: org.refreshToken })),
    ]).toEqual(['ok', 'ok']);
    await renewed.ask(op.RevokeTokenDocument, { token: pair.accessToken });
    expect(codeIn(await renewed.send(whoAmI))).toBe('UNAUTHENTICATED');
  });
});

describe('rotating a further client', () => {
  const rotate = (caller: Caller, input: op.RotateCredentialsInput) =>
    caller.send(op.RotateCredentialsDocument, { input });

  it('requires the secret of the caller for itself and for a sibling, and none from a parent', async () => {
    const org = await newOrg(app);
    await newApp(app, org);
    const [console, batch] = [await orgClient(org), await newClient(org.caller, { appId: 'chat', name: 'Batch' })];
    expect(codeIn(await rotate(console.caller, {}))).toBe('BAD_USER_INPUT');
    const own = await rotate(console.caller, { currentSecret: console.clientSecret });
    expect(own.data?.rotateCredentials.credentials.clientId).toBe(console.clientId);
    expect(codeIn(await rotate(org.caller, { clientId: console.clientId }))).toBe('BAD_USER_INPUT');
    expect(codeIn(await rotate(org.caller, { clientId: console.clientId, currentSecret: console.clientSecret }))).toBe(
      'UNAUTHENTICATED',
    );
    expect(codeIn(await rotate(org.caller, { clientId: console.clientId, currentSecret: org.clientSecret }))).toBe(
      'ok',
    );
    expect(codeIn(await rotate(console.caller, { clientId: org.clientId, currentSecret: console.clientSecret }))).toBe(
      'ok',
    );
    expect(codeIn(await rotate(console.caller, { clientId: batch.clientId }))).toBe('ok');
    expect(codeIn(await rotate(app.admin, { orgId: org.orgId, clientId: batch.clientId }))).toBe('ok');
  });

  it('is refused to the other clients of its app', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const batch = await newClient(org.caller, { appId: 'chat', name: 'Batch' });
    const currentSecret = chat.clientSecret;
    expect(codeIn(await rotate(chat.caller, { clientId: batch.clientId, currentSecret }))).toBe('FORBIDDEN');
    expect(codeIn(await rotate(batch.caller, { appId: 'chat', currentSecret: batch.clientSecret }))).toBe('FORBIDDEN');
    expect(codeIn(await rotate(batch.caller, { currentSecret: batch.clientSecret }))).toBe('ok');
  });

  it('does not change the first client of the org', async () => {
    const org = await newOrg(app);
    const console = await orgClient(org);
    const answer = await rotate(console.caller, { graceHours: 0, currentSecret: console.clientSecret });
    const renewed = await logInWith(app, answer.data?.rotateCredentials.secretRetrieval.token ?? '');
    expect([
      await tryLogIn(app, console),
      await tryLogIn(app, { ...console, ...renewed }),
      await tryLogIn(app, org),
    ]).toEqual(['UNAUTHENTICATED', 'ok', 'ok']);
    expect([codeIn(await console.caller.send(whoAmI)), codeIn(await org.caller.send(whoAmI))]).toEqual([
      'UNAUTHENTICATED',
      'ok',
    ]);
  });
});
