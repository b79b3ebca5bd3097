import { randomUUID } from 'node:crypto';
import { newApp, newOrg, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

describe('registerOrg', () => {
  it('registers an org whose secret is made at its retrieval and logs in', async () => {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ name: 'Sample Corp' }) });
    expect(registerOrg.org).toMatchObject({
      name: 'Sample Corp',
      timezone: 'America/New_York',
      shardCount: 8,
      tightModeThresholdPct: 95,
      stickyFallbackEnabled: true,
      timezoneEffectiveAt: null,
    });
    expect(registerOrg.org.credentials).toEqual({
      clientId: `org-${registerOrg.org.orgId}`,
      secretCreatedAt: null,
      graceExpiresAt: null,
    });
    const { retrieveSecret } = await app.anonymous.ask(op.RetrieveSecretDocument, {
      token: registerOrg.secretRetrieval.token,
    });
    const { issueToken } = await app.anonymous.ask(op.IssueTokenDocument, { input: retrieveSecret });
    const { me } = await app.as(issueToken.accessToken).ask(op.MeDocument);
    expect(me).toMatchObject({
      kind: 'ORG_CLIENT',
      clientId: `org-${registerOrg.org.orgId}`,
      org: { name: 'Sample Corp' },
      app: null,
    });
  });

  it('treats an id in upper and lower case as the same org and refuses it a second time', async () => {
    const orgId = randomUUID();
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, {
      input: orgInput({ orgId: orgId.toUpperCase() }),
    });
    expect(registerOrg.org.orgId).toBe(orgId);
    expect(await app.admin.codeOf(op.RegisterOrgDocument, { input: orgInput({ orgId, name: 'Other' }) })).toBe(
      'ALREADY_EXISTS',
    );
    const { org } = await app.admin.ask(op.OrgDocument, { orgId });
    expect(org?.name).toBe('Acme');
  });

  it('names every issue of an invalid input and registers nothing', async () => {
    const orgId = randomUUID();
    const input = orgInput({
      orgId,
      name: ' ',
      shardCount: 9,
      tightModeThresholdPct: 0,
      refreshIntervalTightSecs: -1,
      modelOrdering: ['premium', 'premium', 'nope'],
      quotas: [{ label: 'premium', dailyUsdMicros: -1 }],
    });
    const { errors } = await app.admin.send(op.RegisterOrgDocument, { input });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.extensions.issues?.map(({ path }) => path).sort()).toEqual([
      'input.modelOrdering.1',
      'input.modelOrdering.2',
      'input.name',
      'input.quotas',
      'input.quotas.0.dailyUsdMicros',
      'input.refreshIntervalTightSecs',
      'input.shardCount',
      'input.tightModeThresholdPct',
    ]);
    expect((await app.admin.ask(op.OrgDocument, { orgId })).org).toBeNull();
  });

  it.each([
    ['an offset', '+05:30'],
    ['an unknown place', 'Mars/Olympus'],
    ['an empty string', ''],
    ['a zone with a newline', 'America/New_York\n'],
    ['10 KB', 'x'.repeat(10_000)],
  ])('refuses %s as time zone', async (_what, timezone) => {
    expect(await app.admin.codeOf(op.RegisterOrgDocument, { input: orgInput({ timezone }) })).toBe('BAD_USER_INPUT');
  });
});

describe('updateOrg', () => {
  it('changes the given settings and keeps those that are absent or null', async () => {
    const { orgId, caller } = await newOrg(app);
    const { updateOrg } = await caller.ask(op.UpdateOrgDocument, {
      input: { name: 'Acme Ltd', tightModeThresholdPct: 80, quotas: null },
    });
    expect(updateOrg).toMatchObject({
      orgId,
      name: 'Acme Ltd',
      tightModeThresholdPct: 80,
      modelOrdering: ['premium', 'standard', 'economy'],
    });
    expect(updateOrg.quotas).toHaveLength(3);
  });

  it('applies a new time zone at the end of the local day', async () => {
    const { caller } = await newOrg(app, { timezone: 'America/New_York' });
    const { updateOrg } = await caller.ask(op.UpdateOrgDocument, { input: { timezone: 'Asia/Tokyo' } });
    expect(updateOrg.timezone).toBe('Asia/Tokyo');
    expect(Date.parse(updateOrg.timezoneEffectiveAt ?? '')).toBeGreaterThan(app.clock.nowMs());
    const { updateOrg: back } = await caller.ask(op.UpdateOrgDocument, { input: { timezone: 'America/New_York' } });
    expect(back.timezoneEffectiveAt).toBeNull();
  });

  it('keeps all concurrent changes of different settings', async () => {
    const { caller } = await newOrg(app);
    await Promise.all([
      caller.ask(op.UpdateOrgDocument, { input: { name: 'First' } }),
      caller.ask(op.UpdateOrgDocument, { input: { tightModeThresholdPct: 70 } }),
      caller.ask(op.UpdateOrgDocument, { input: { refreshIntervalNormalSecs: 123 } }),
    ]);
    const { org } = await caller.ask(op.OrgDocument);
    expect(org).toMatchObject({ name: 'First', tightModeThresholdPct: 70, refreshIntervalNormalSecs: 123 });
  });

  it('refuses a change that leaves an app with a label without quota', async () => {
    const { orgId, caller } = await newOrg(app);
    await newApp(app, { orgId }, 'own-chain', { modelOrdering: ['economy'] });
    const { errors } = await caller.send(op.UpdateOrgDocument, {
      input: { modelOrdering: ['premium'], quotas: [{ label: 'premium', dailyUsdMicros: 1 }] },
    });
    expect(errors?.[0]?.extensions.issues?.[0]?.message).toContain('own-chain');
    expect((await caller.ask(op.OrgDocument)).org?.quotas).toHaveLength(3);
  });
});

describe.each(['updateOrg', 'updateApp'] as const)('expectedVersion of %s', (mutation) => {
  /** An org with an app, both at version 1, and the calls that change or read the one under test. */
  async function newTarget() {
    const { orgId, caller } = await newOrg(app);
    await caller.ask(op.RegisterAppDocument, { input: { appId: 'a', name: 'Acme' } });
    const isOrg = mutation === 'updateOrg';
    const send = (input: {
      name?: string;
      tightModeThresholdPct?: number;
      expectedVersion?: number | null | undefined;
    }) =>
      isOrg
        ? caller.send(op.UpdateOrgDocument, { input })
        : caller.send(op.UpdateAppDocument, { input: { appId: 'a', ...input } });
    const read = async () =>
      isOrg ? (await caller.ask(op.OrgDocument)).org : (await caller.ask(op.AppDocument, { appId: 'a' })).org?.app;
    const changeCount = async () => {
      const { org } = await app.admin.ask(op.AuditDocument, { orgId, first: 100 });
      return org?.auditEvents.nodes.filter(({ action }) => action === (isOrg ? 'org_updated' : 'app_updated')).length;
    };
    return { send, read, changeCount };
  }

  it('changes the settings if it is the current version', async () => {
    const { send, read, changeCount } = await newTarget();
    expect(await read()).toMatchObject({ version: 1 });
    for (const [i, expectedVersion] of [1, 2, null, undefined].entries())
      expect((await send({ name: `Acme ${i}`, expectedVersion })).data).toMatchObject({
        [mutation]: { name: `Acme ${i}`, version: i + 2 },
      });
    expect(await read()).toMatchObject({ name: 'Acme 3', version: 5 });
    expect(await changeCount()).toBe(4);
  });

  it.each([0, 1, 3, Number.MAX_SAFE_INTEGER])(
    'changes nothing and says the current version 2 if it is %p',
    async (expectedVersion) => {
      const { send, read, changeCount } = await newTarget();
      await send({ name: 'Acme 2' });
      const before = await read();
      for (const change of [{ name: 'Acme 3' }, { name: 'Acme 2' }, { tightModeThresholdPct: -1 }]) {
        const { errors } = await send({ ...change, expectedVersion });
        expect(errors).toMatchObject([{ extensions: { code: 'VERSION_CONFLICT', currentVersion: 2 } }]);
      }
      expect(await read()).toEqual(before);
      expect(await changeCount()).toBe(1);
    },
  );

  it('writes nothing if it is current and there is no difference', async () => {
    const { send, changeCount } = await newTarget();
    const { data } = await send({ name: 'Acme', expectedVersion: 1 });
    expect(data).toMatchObject({ [mutation]: { version: 1 } });
    expect(await changeCount()).toBe(0);
  });

  it('must not be negative', async () => {
    const { send } = await newTarget();
    const { errors } = await send({ name: 'Acme 2', expectedVersion: -1 });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'input.expectedVersion', message: 'must be 0 or larger' }],
    });
  });

  it('lets one of several concurrent changes win, and tells its version to the others', async () => {
    const { send, read, changeCount } = await newTarget();
    const names = Array.from({ length: 6 }, (_, i) => `Acme ${i}`);
    const answers = await Promise.all(names.map((name) => send({ name, expectedVersion: 1 })));
    const won = names.filter((_, i) => !answers[i]?.errors);
    expect(won).toHaveLength(1);
    expect(answers.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions))).toMatchObject(
      Array(5).fill({ code: 'VERSION_CONFLICT', currentVersion: 2 }),
    );
    expect(await read()).toMatchObject({ name: won[0], version: 2 });
    expect(await changeCount()).toBe(1);
  });
});

describe('apps', () => {
  it('inherit the settings that they do not have, and inherit again after an explicit null', async () => {
    const { orgId, caller } = await newOrg(app);
    const { registerApp } = await caller.ask(op.RegisterAppDocument, {
      input: { appId: 'search', name: 'Search', tightModeThresholdPct: 60, modelOrdering: ['economy', 'premium'] },
    });
    expect(registerApp.app).toMatchObject({
      appId: 'search',
      tightModeThresholdPct: 60,
      modelOrdering: ['economy', 'premium'],
      inheritedFields: ['quotas', 'refreshIntervalNormalSecs', 'refreshIntervalTightSecs'],
    });
    expect(registerApp.app.credentials.clientId).toBe(`org-${orgId}-app-search`);
    const { updateApp } = await caller.ask(op.UpdateAppDocument, {
      input: { appId: 'search', tightModeThresholdPct: null, name: 'Search 2' },
    });
    expect(updateApp).toMatchObject({
      name: 'Search 2',
      tightModeThresholdPct: 95,
      modelOrdering: ['economy', 'premium'],
    });
    await caller.ask(op.UpdateOrgDocument, { input: { tightModeThresholdPct: 77 } });
    const { org } = await caller.ask(op.AppDocument, { appId: 'search' });
    expect(org?.app).toMatchObject({
      tightModeThresholdPct: 77,
      inheritedFields: ['quotas', 'tightModeThresholdPct', 'refreshIntervalNormalSecs', 'refreshIntervalTightSecs'],
    });
  });

  it('cannot have a chain or quotas of their own under quotaScope ORG', async () => {
    const { caller } = await newOrg(app, { quotaScope: 'ORG' });
    const { errors } = await caller.send(op.RegisterAppDocument, {
      input: { appId: 'a', name: 'A', modelOrdering: ['premium'], quotas: [{ label: 'premium', dailyUsdMicros: 1 }] },
    });
    expect(errors?.[0]?.extensions.issues?.map(({ path }) => path)).toEqual(['input.modelOrdering', 'input.quotas']);
    expect((await caller.ask(op.AppDocument, { appId: 'a' })).org?.app).toBeNull();
  });

  it.each([
    ['key separators', 'x#LABEL#premium'],
    ['a slash', 'a/b'],
    ['upper case', 'UPPER'],
    ['no characters', ''],
    ['a newline', 'a\n'],
    ['a leading dash', '-a'],
    ['65 characters', 'a'.repeat(65)],
    ['10 KB', 'a'.repeat(10_000)],
    ['an accent', 'naïve'],
  ])('cannot have an id with %s', async (_what, appId) => {
    const { caller } = await newOrg(app);
    expect(await caller.codeOf(op.RegisterAppDocument, { input: { appId, name: 'A' } })).toBe('BAD_USER_INPUT');
    expect(await caller.codeOf(op.UpdateAppDocument, { input: { appId, name: 'A' } })).toBe('NOT_FOUND');
    expect(await caller.codeOf(op.RotateCredentialsDocument, { input: { appId } })).toBe('NOT_FOUND');
    expect((await caller.ask(op.AppDocument, { appId })).org?.app).toBeNull();
  });

  it('are listed by id in pages that add up to the whole list', async () => {
    const { orgId, caller } = await newOrg(app);
    const ids = Array.from({ length: 7 }, (_, i) => `app-${i}`);
    for (const appId of ids) await caller.ask(op.RegisterAppDocument, { input: { appId, name: appId } });
    const seen: string[] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await caller.ask(op.AppsDocument, { first: 3, after });
      seen.push(...(org?.apps.nodes.map(({ appId }) => appId) ?? []));
      after = org?.apps.pageInfo.endCursor;
      if (!org?.apps.pageInfo.hasNextPage) break;
    }
    expect(seen).toEqual(ids);
    const { org } = await app.admin.ask(op.AppsDocument, { orgId, first: 100 });
    expect(org?.apps.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
  });
});
