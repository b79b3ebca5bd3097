import { randomBytes, randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { jest } from '@jest/globals';
import { print } from 'graphql';
import WebSocket from 'ws';
import type { Key } from '../../src/dynamo/client.js';
import { type TableName, tableNames } from '../../src/dynamo/tables.js';
import { hashApiKey } from '../../src/identity/api-key.js';
import { createLog } from '../../src/lib/log.js';
import { RootKeys } from '../../src/lib/seal.js';
import { sleep } from '../../src/lib/timers.js';
import {
  type Answer,
  adminKey,
  Caller,
  type Client,
  newApp,
  newOrg,
  type PublicError,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import { TestClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const minuteMs = 60_000;
const whoAmI = '{ me { kind } }';
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const keyShape = /^tgk_[0-9a-f]{32}_[0-9a-f]{64}$/;

/** A clock that stands still between two moves, for promises that hold to the millisecond. */
class StillClock extends TestClock {
  private atMs = Date.now();

  override nowMs(): number {
    return this.atMs;
  }

  override advance(ms: number): void {
    this.atMs += ms;
  }
}

let app: TestApp;
/** A second gateway on the same store: what it answers comes from the store, or from a memory of its own. */
let other: TestApp;
let org: Client & { readonly orgId: string };
const opened: TestApp[] = [];

async function open(starting: Promise<TestApp>): Promise<TestApp> {
  const started = await starting;
  opened.push(started);
  return started;
}

beforeAll(async () => {
  app = await open(startTestApp());
  other = await open(app.another());
  org = await newOrg(app);
});
afterAll(() => Promise.all(opened.map((each) => each.stop())));

const codeIn = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';
const createKey = async (caller: Caller, input: op.CreateApiKeyInput = {}) =>
  (await caller.ask(op.CreateApiKeyDocument, { input })).createApiKey;
const revokeKey = async (caller: Caller, keyId: string) =>
  (await caller.ask(op.RevokeApiKeyDocument, { keyId })).revokeApiKey;
const keyed = (secret: string, at = app) => new Caller(at.url, { 'x-api-key': secret });
const use = async (secret: string, at = app): Promise<string> => codeIn(await keyed(secret, at).send(whoAmI));
const keysPage = async (caller: Caller, variables: op.ApiKeysQueryVariables = {}) => {
  const { org: own } = await caller.ask(op.ApiKeysDocument, variables);
  if (!own) throw new Error('the caller has no org');
  return own.apiKeys;
};
const keyOf = async (caller: Caller, keyId: string) =>
  (await keysPage(caller, { first: 100 })).nodes.find((key) => key.keyId === keyId);
const aDevice = (change: Partial<op.RegisterDeviceInput> = {}): op.RegisterDeviceInput => ({
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.0',
  capabilities: { sensors: ['bme280'] },
  ...change,
});
const aReading = (): op.ReadingInput => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: app.clock.nowMs(),
  bootId: randomUUID(),
  firmwareVersion: '1.0.0',
  sensors: { humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
});

/** The answer to the byte: the request id is the caller's, so that nothing in it has to differ. */
async function bytesOf<T, V>(
  document: TypedDocumentNode<T, V> | string,
  variables: V,
  headers: Record<string, string>,
): Promise<string> {
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'the-same', ...headers },
    body: JSON.stringify({ query: typeof document === 'string' ? document : print(document), variables }),
  });
  return `${response.status} ${await response.text()}`;
}
const bearer = ({ accessToken }: Client) => ({ authorization: `Bearer ${accessToken}` });

async function eventually<T>(ask: () => Promise<T>, isWanted: (said: T) => boolean, withinMs = 2000): Promise<T> {
  const untilMs = performance.now() + patience * withinMs;
  let said = await ask();
  while (!isWanted(said) && performance.now() < untilMs) {
    await sleep(25);
    said = await ask();
  }
  return said;
}

async function everything(at: TestApp, table: TableName): Promise<string> {
  let text = '';
  for (let after: Key | undefined; ; ) {
    const { items, next } = await at.gateway.services.store.scan(table, after);
    text += JSON.stringify(items, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    if (!next) return text;
    after = next;
  }
}

describe('a key', () => {
  it('is shown once, when it is made, and works from then on', async () => {
    const before = app.clock.nowMs();
    const { apiKey, secret } = await createKey(org.caller, { description: 'Greenhouse' });
    expect(secret).toMatch(keyShape);
    expect(secret).toContain(apiKey.keyId.replaceAll('-', ''));
    expect(apiKey).toMatchObject({ description: 'Greenhouse', active: true, lastUsedAt: null });
    expect(Date.parse(apiKey.createdAt)).toBeGreaterThanOrEqual(before);
    expect(await keyOf(org.caller, apiKey.keyId)).toEqual(apiKey);
    for (const at of [app, other]) expect(await use(secret, at)).toBe('ok');
    const { me } = await keyed(secret).ask(op.MeDocument);
    expect(me).toMatchObject({
      kind: 'DEVICE_KEY',
      clientId: null,
      expiresAt: null,
      org: { orgId: org.orgId },
      app: null,
    });
    const told = JSON.stringify([
      await keysPage(org.caller, { first: 100 }),
      (await org.caller.ask(op.AuditDocument, { first: 100 })).org,
    ]);
    expect([secret, secret.slice(-64)].filter((text) => told.includes(text))).toEqual([]);
  });

  it('is made by the admin too, for an org that there is', async () => {
    const { apiKey, secret } = await createKey(app.admin, { orgId: org.orgId });
    expect(apiKey.description).toBeNull();
    expect((await keyed(secret).ask(op.MeDocument)).me.org?.orgId).toBe(org.orgId);
    expect(await app.admin.codeOf(op.CreateApiKeyDocument, { input: {} })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.CreateApiKeyDocument, { input: { orgId: randomUUID() } })).toBe('NOT_FOUND');
  });

  it('is another each time, of many made at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => createKey(org.caller)));
    expect(new Set(made.map(({ secret }) => secret.slice(-64))).size).toBe(20);
    expect(new Set(made.map(({ apiKey }) => apiKey.keyId)).size).toBe(20);
  });

  it.each<[string, string | null | undefined, boolean]>([
    ['nothing', undefined, true],
    ['null', null, true],
    ['a character', 'x', true],
    ['256 characters', 'x'.repeat(256), true],
    ['what is not ASCII', 'Gewächshaus 🌱', true],
    ['257 characters', 'x'.repeat(257), false],
    ['an empty text', '', false],
    ['spaces', '   ', false],
    ['half a character', '\ud83c', false],
  ])('may be described by %s, or not', async (_what, description, sound) => {
    const answer = await org.caller.send(op.CreateApiKeyDocument, { input: { description } });
    if (sound) expect(answer.data?.createApiKey.apiKey.description).toBe(description ?? null);
    else
      expect([codeIn(answer), answer.errors?.[0]?.extensions.issues?.map(({ path }) => path)]).toEqual([
        'BAD_USER_INPUT',
        ['input.description'],
      ]);
  });
});

describe('the list of keys', () => {
  it('comes newest first, in pages that add up, and only of the own org', async () => {
    const own = await newOrg(app);
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      made.unshift((await createKey(own.caller, { description: `key ${i}` })).apiKey.keyId);
      app.clock.advance(1);
    }
    await createKey(org.caller);
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await keysPage(own.caller, { first: 2, after });
      seen.push(...nodes.map(({ keyId }) => keyId));
      if (!pageInfo.hasNextPage) break;
      expect(nodes).toHaveLength(2);
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual(made);
    expect((await keysPage(app.admin, { orgId: own.orgId })).nodes.map(({ keyId }) => keyId)).toEqual(made);
    const { pageInfo } = await keysPage(own.caller, { first: 1 });
    expect(await org.caller.codeOf(op.ApiKeysDocument, { after: pageInfo.endCursor })).toBe('BAD_USER_INPUT');
  });

  it('has every key once, though many were made in one millisecond', async () => {
    const still = await open(startTestApp({ clock: new StillClock() }));
    const own = await newOrg(still);
    const made = await Promise.all(Array.from({ length: 7 }, () => createKey(own.caller)));
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await keysPage(own.caller, { first: 2, after });
      seen.push(...nodes.map(({ keyId }) => keyId));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect([...seen].sort()).toEqual(made.map(({ apiKey }) => apiKey.keyId).sort());
  });

  it('keeps those that were revoked, and says so', async () => {
    const { apiKey } = await createKey(org.caller, { description: 'gone' });
    await revokeKey(org.caller, apiKey.keyId);
    expect(await keyOf(org.caller, apiKey.keyId)).toEqual({ ...apiKey, active: false });
  });
});

describe('revoking', () => {
  it('ends a key at once on this gateway, and within 2 s on another that had it in memory', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const neighbour = await createKey(org.caller);
    for (const at of [app, other])
      for (const each of [secret, neighbour.secret]) expect(await use(each, at)).toBe('ok');
    expect(await revokeKey(org.caller, apiKey.keyId)).toMatchObject({
      keyId: apiKey.keyId,
      active: false,
      createdAt: apiKey.createdAt,
    });
    expect(await use(secret)).toBe('UNAUTHENTICATED');
    expect(
      await eventually(
        () => use(secret, other),
        (code) => code !== 'ok',
      ),
    ).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await use(neighbour.secret, at)).toBe('ok');
  });

  it('may be done again, and leaves one trace', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const answers = await Promise.all([...Array(5)].map(() => revokeKey(org.caller, apiKey.keyId)));
    answers.push(await revokeKey(app.as(org.accessToken), apiKey.keyId.toUpperCase()));
    for (const answer of answers) expect(answer).toEqual({ ...apiKey, active: false });
    expect(await use(secret)).toBe('UNAUTHENTICATED');
    const { org: own } = await org.caller.ask(op.AuditDocument, { entityId: `$KEY:${apiKey.keyId}` });
    expect(own?.auditEvents.nodes.map(({ action }) => action)).toEqual(['key_revoked', 'key_created']);
  });

  it('by the admin needs the org that the key is of', async () => {
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(org.caller);
    const { keyId } = apiKey;
    expect(await app.admin.codeOf(op.RevokeApiKeyDocument, { keyId })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.RevokeApiKeyDocument, { keyId, orgId: foreign.orgId })).toBe('NOT_FOUND');
    expect(await use(secret)).toBe('ok');
    expect((await app.admin.ask(op.RevokeApiKeyDocument, { keyId, orgId: org.orgId })).revokeApiKey.active).toBe(false);
    expect(await use(secret)).toBe('UNAUTHENTICATED');
  });

  it('answers a foreign key byte for byte as one that never was, and leaves it alone', async () => {
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(foreign.caller);
    const ended = await createKey(foreign.caller);
    await revokeKey(foreign.caller, ended.apiKey.keyId);
    const unknown = await bytesOf(op.RevokeApiKeyDocument, { keyId: randomUUID() }, bearer(org));
    expect(unknown).toContain('"NOT_FOUND"');
    for (const { keyId } of [apiKey, ended.apiKey])
      expect(await bytesOf(op.RevokeApiKeyDocument, { keyId }, bearer(org))).toBe(unknown);
    expect(await use(secret)).toBe('ok');
    const noOrg = await bytesOf(op.RevokeApiKeyDocument, { keyId: apiKey.keyId, orgId: randomUUID() }, bearer(org));
    expect(noOrg).toContain('"NOT_FOUND"');
    expect(await bytesOf(op.RevokeApiKeyDocument, { keyId: apiKey.keyId, orgId: foreign.orgId }, bearer(org))).toBe(
      noOrg,
    );
  });
});

describe('what is no key', () => {
  it('is refused with the same words, whatever is wrong with it', async () => {
    const [{ secret }, second, ended] = [
      await createKey(org.caller),
      await createKey(org.caller),
      await createKey(org.caller),
    ];
    await revokeKey(org.caller, ended.apiKey.keyId);
    const wrong = {
      'an unknown id': `tgk_${randomBytes(16).toString('hex')}_${secret.slice(-64)}`,
      'another secret': `${secret.slice(0, 37)}${randomBytes(32).toString('hex')}`,
      'the secret of a neighbour': secret.slice(0, 37) + second.secret.slice(37),
      'a last character changed': secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0'),
      'cut short': secret.slice(0, -1),
      'the id alone': secret.slice(0, 36),
      'grown long': `${secret}0`,
      'upper case': secret.toUpperCase(),
      'its hex in upper case': `tgk_${secret.slice(4).toUpperCase()}`,
      'without its prefix': secret.slice(4),
      'as a bearer would': `Bearer ${secret}`,
      'two in one': `${secret}, ${second.secret}`,
      'the hash of it': hashApiKey(new RootKeys(app.config.rootSecrets, 'device keys').first.key, secret),
      revoked: ended.secret,
      nothing: '',
      '8 KB': 'x'.repeat(8000),
    };
    const answers = await Promise.all(Object.values(wrong).map((text) => bytesOf(whoAmI, {}, { 'x-api-key': text })));
    const [first = ''] = answers;
    expect(first).toMatch(/^401 .*"UNAUTHENTICATED"/);
    expect(Object.fromEntries(Object.keys(wrong).map((name, i) => [name, answers[i]]))).toEqual(
      Object.fromEntries(Object.keys(wrong).map((name) => [name, first])),
    );
    expect(await use(secret)).toBe('ok');
  });

  it('is a key as a token or as the admin key', async () => {
    const { secret } = await createKey(org.caller);
    expect(codeIn(await app.as(secret).send(whoAmI))).toBe('UNAUTHENTICATED');
    expect(codeIn(await new Caller(app.url, { 'x-admin-key': secret }).send(whoAmI))).toBe('UNAUTHENTICATED');
    for (const text of [adminKey, org.accessToken, org.clientSecret]) expect(await use(text)).toBe('UNAUTHENTICATED');
  });

  it('is one made under another pepper', async () => {
    const { secret } = await createKey(org.caller);
    const stranger = await open(app.another({ rootSecrets: ['another pepper of the tests, 32 bytes'] }));
    expect(await use(secret, stranger)).toBe('UNAUTHENTICATED');
    expect(await use(secret)).toBe('ok');
  });

  it.each([
    ['a token', () => bearer(org)],
    ['the admin key', () => ({ 'x-admin-key': adminKey })],
    ['a token that is wrong', () => ({ authorization: 'Bearer x' })],
  ])('is a key beside %s', async (_what, others) => {
    const { secret } = await createKey(org.caller);
    const answer = await keyed(secret).send(whoAmI, undefined, others());
    expect([answer.status, codeIn(answer)]).toEqual([400, 'BAD_USER_INPUT']);
    expect(answer.data ?? null).toBeNull();
  });
});

describe('whoever guesses', () => {
  it('is slowed down by address, without a read of the store; what this gateway knows is served all the while', async () => {
    const { secret } = await createKey(org.caller);
    const fresh = await createKey(org.caller);
    const own = await open(app.another({ loginPerAddressPerMinute: 3 }));
    const read = jest.spyOn(own.gateway.services.apiKeyStore, 'load');
    expect(await use(secret, own)).toBe('ok');
    expect(codeIn(await own.as(org.accessToken).send(whoAmI))).toBe('ok');
    const guess = () => `tgk_${randomBytes(16).toString('hex')}_${randomBytes(32).toString('hex')}`;
    for (let i = 0; i < 3; i++) expect(await use(guess(), own)).toBe('UNAUTHENTICATED');
    expect(read).toHaveBeenCalledTimes(4);
    const answer = await keyed(guess(), own).send(whoAmI);
    expect([answer.status, codeIn(answer), Number(answer.headers.get('retry-after')) > 0]).toEqual([
      429,
      'RATE_LIMITED',
      true,
    ]);
    expect(codeIn(await new Caller(own.url, { 'x-admin-key': 'a guess' }).send(whoAmI))).toBe('RATE_LIMITED');
    // A token is signed: an old or broken one is nobody's guess, and locks nobody out.
    expect(codeIn(await own.as(`${org.accessToken}x`).send(whoAmI))).toBe('UNAUTHENTICATED');
    // One that would be right is not looked at either: else the right one could be told from the wrong ones.
    expect(await use(fresh.secret, own)).toBe('RATE_LIMITED');
    expect(read).toHaveBeenCalledTimes(4);
    expect(await use(secret, own)).toBe('ok');
    expect(codeIn(await own.as(org.accessToken).send(whoAmI))).toBe('ok');
    expect(codeIn(await new Caller(own.url, { 'x-admin-key': adminKey }).send(whoAmI))).toBe('ok');
  });
});

describe('a device with a key', () => {
  let device: Caller;
  beforeAll(async () => {
    device = keyed((await createKey(org.caller)).secret);
  });

  it('registers, and sends readings, for the org of its key', async () => {
    const { registerDevice } = await device.ask(op.RegisterDeviceDocument, { input: aDevice() });
    expect(registerDevice).toMatchObject({ created: true, device: { hardwareId } });
    const reading = aReading();
    const { ingest } = await device.ask(op.IngestDocument, { input: { readings: [reading] } });
    expect(ingest).toMatchObject({ settledBatchIds: [reading.batchId], verdicts: [{ kind: 'STORED' }] });
    expect((await org.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.latestReading?.batchId).toBe(
      reading.batchId,
    );
  });

  it('is unknown to another org by the same address', async () => {
    const foreign = await newOrg(app);
    const theirs = keyed((await createKey(foreign.caller)).secret);
    await device.ask(op.RegisterDeviceDocument, { input: aDevice() });
    const { ingest } = await theirs.ask(op.IngestDocument, { input: { readings: [aReading()] } });
    expect(ingest.verdicts).toMatchObject([{ kind: 'REJECTED', error: { code: 'DEVICE_NOT_FOUND' } }]);
    expect((await foreign.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device).toBeNull();
    const own = (await org.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.confirmationId;
    const { registerDevice } = await theirs.ask(op.RegisterDeviceDocument, { input: aDevice() });
    expect(registerDevice.created).toBe(true);
    expect(registerDevice.device.confirmationId).not.toBe(own);
  });

  it('sees who it is, the models, and the plain settings of its org', async () => {
    expect((await device.ask(op.MeDocument)).me.kind).toBe('DEVICE_KEY');
    expect((await device.ask(op.ModelsDocument)).models.length).toBeGreaterThan(0);
    expect(await device.ask('{ org { orgId timezone } }')).toEqual({
      org: { orgId: org.orgId, timezone: 'America/New_York' },
    });
    const foreign = await newOrg(app);
    expect((await device.ask(op.OrgDocument, { orgId: foreign.orgId })).org).toBeNull();
  });

  it.each([
    'credentials { clientId graceExpiresAt }',
    'quotas { label dailyUsdMicros }',
    'clients { clientId }',
    'apps { nodes { credentials { clientId } } }',
  ])('does not see { %s } of its org, by whatever way', async (field) => {
    const node = Buffer.from(JSON.stringify(['Org', org.orgId])).toString('base64url');
    for (const query of [
      `{ org { ${field} } }`,
      `{ me { org { ${field} } } }`,
      `{ node(id: "${node}") { ... on Org { ${field} } } }`,
    ]) {
      const { data, errors } = await device.send(query);
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
      expect(JSON.stringify(data)).not.toMatch(/org-|premium/);
    }
  });

  it.each<[string, () => Promise<Answer<unknown>>]>([
    ['makes a key', () => device.send(op.CreateApiKeyDocument, { input: {} })],
    ['revokes a key', () => device.send(op.RevokeApiKeyDocument, { keyId: randomUUID() })],
    ['lists keys', () => device.send(op.ApiKeysDocument, {})],
    ['lists devices', () => device.send(op.DevicesDocument, {})],
    ['looks at a device', () => device.send(op.DeviceOfDocument, { hardwareId })],
    ['renames a device', () => device.send(op.RenameDeviceDocument, { hardwareId, friendlyName: 'x' })],
    ['reads the trail', () => device.send(op.AuditDocument, {})],
    ['follows readings', () => device.subscribeOnce(print(op.ReadingsDocument), { hardwareId })],
    ['follows alerts', () => device.subscribeOnce('subscription { quotaAlerts { id } }', {})],
  ])('never %s', async (_what, attempt) => {
    expect(codeIn(await attempt())).toBe('FORBIDDEN');
  });
});

describe('a key over a WebSocket', () => {
  /** Says hello with a credential, and asks for a subscription once it is let in. */
  async function overWebSocket(credentials: Record<string, unknown>, query: string, variables: object) {
    const socket = new WebSocket(app.url, 'graphql-transport-ws');
    try {
      return await new Promise<{
        readonly closed?: number;
        readonly reason?: string;
        readonly errors?: readonly PublicError[];
      }>((resolve, reject) => {
        socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
        socket.on('message', (data) => {
          const { type, payload } = JSON.parse(String(data)) as { type: string; payload?: unknown };
          if (type === 'connection_ack')
            socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
          if (type === 'error') resolve({ errors: payload as PublicError[] });
          if (type === 'next') resolve({ errors: (payload as { errors?: PublicError[] }).errors ?? [] });
        });
        socket.on('close', (closed, reason) => resolve({ closed, reason: String(reason) }));
        socket.on('error', reject);
      });
    } finally {
      socket.terminate();
    }
  }
  const follow = (credentials: Record<string, unknown>) =>
    overWebSocket(credentials, print(op.ReadingsDocument), { hardwareId });

  it.each(['x-api-key', 'X-API-Key'])('is let in as %s, but may follow no readings', async (name) => {
    const { secret } = await createKey(org.caller);
    const { errors } = await follow({ [name]: secret });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  });

  it('that is wrong, revoked or no text closes the socket, and so do two credentials', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    expect(await follow({ 'x-api-key': `${secret}0` })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
    expect(await follow({ 'x-api-key': 1 })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
    expect(await follow({ 'x-api-key': secret, ...bearer(org) })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^BAD_USER_INPUT/),
    });
    await revokeKey(org.caller, apiKey.keyId);
    expect(await follow({ 'x-api-key': secret })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
  });

  it('that is revoked later closes its socket', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const socket = new WebSocket(app.url, 'graphql-transport-ws');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { 'x-api-key': secret } })));
    await new Promise((resolve) => socket.once('message', resolve));
    await revokeKey(org.caller, apiKey.keyId);
    expect(await closed).toBe(4403);
  });
});

describe('the last use of a key', () => {
  let still: TestApp;
  let own: Client & { readonly orgId: string };
  beforeAll(async () => {
    still = await open(startTestApp({ clock: new StillClock() }));
    own = await newOrg(still);
  });
  const lastUse = async (keyId: string) => (await keyOf(own.caller, keyId))?.lastUsedAt ?? null;
  const now = () => new Date(still.clock.nowMs()).toISOString();
  /** A use is noted beside the answer, not before it. */
  const noted = (keyId: string, at: string) =>
    eventually(
      () => lastUse(keyId),
      (said) => said === at,
    );
  const settled = () => sleep(100);

  it('is noted at the first, and at most every five minutes after', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    const { keyId } = apiKey;
    expect(await lastUse(keyId)).toBeNull();
    still.clock.advance(1000);
    const first = now();
    await use(secret, still);
    expect(await noted(keyId, first)).toBe(first);
    for (const ms of [1, 2 * minuteMs, 3 * minuteMs - 2]) {
      still.clock.advance(ms);
      await use(secret, still);
      await settled();
      expect(await lastUse(keyId)).toBe(first);
    }
    still.clock.advance(2);
    await use(secret, still);
    const later = now();
    expect(await noted(keyId, later)).toBe(later);
  });

  it('costs no write in between', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    still.clock.advance(1);
    await use(secret, still);
    await noted(apiKey.keyId, now());
    const { consumed } = still.gateway.services.store;
    const before = consumed.write;
    for (let i = 0; i < 5; i++) await use(secret, still);
    await settled();
    expect(consumed.write).toBe(before);
  });

  it('is not moved by what is refused', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    await use(`${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, still);
    await revokeKey(own.caller, apiKey.keyId);
    await use(secret, still);
    await settled();
    expect(await lastUse(apiKey.keyId)).toBeNull();
  });

  it('does not move back, or too soon, by another gateway', async () => {
    const second = await open(still.another());
    const { apiKey, secret } = await createKey(own.caller);
    still.clock.advance(1);
    const first = now();
    await use(secret, still);
    expect(await noted(apiKey.keyId, first)).toBe(first);
    still.clock.advance(minuteMs);
    await use(secret, second);
    await settled();
    expect(await lastUse(apiKey.keyId)).toBe(first);
  });

  it('is true to within five minutes, whichever gateways a key is used on', async () => {
    const second = await open(still.another());
    const { apiKey, secret } = await createKey(own.caller);
    still.clock.advance(1);
    await use(secret, still);
    expect(await noted(apiKey.keyId, now())).toBe(now());
    // The second hears of the key when the first has just noted it, and goes on alone.
    for (let minutes = 0; minutes < 9; minutes += 3) {
      still.clock.advance(3 * minuteMs);
      await use(secret, second);
      await settled();
      expect(still.clock.nowMs() - Date.parse((await lastUse(apiKey.keyId)) ?? '')).toBeLessThanOrEqual(5 * minuteMs);
    }
  });
});

describe('node', () => {
  it('finds a key for its org and the admin, and for nobody else', async () => {
    const chat = await newApp(app, org, `a-${randomUUID()}`);
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(org.caller, { description: 'found' });
    const find = async (caller: Caller, id = apiKey.id) => (await caller.ask(op.NodeDocument, { id })).node;
    for (const caller of [org.caller, app.admin])
      expect(await find(caller)).toEqual({ __typename: 'ApiKey', id: apiKey.id });
    for (const caller of [foreign.caller, chat.caller, keyed(secret)]) expect(await find(caller)).toBeNull();
    // The key of one org under the name of another.
    const forged = Buffer.from(JSON.stringify(['ApiKey', foreign.orgId, apiKey.keyId])).toString('base64url');
    for (const caller of [foreign.caller, app.admin, org.caller]) expect(await find(caller, forged)).toBeNull();
    await revokeKey(org.caller, apiKey.keyId);
    const again = await org.caller.ask<{ node: object }, { id: string }>(
      'query ($id: ID!) { node(id: $id) { ... on ApiKey { keyId description active } } }',
      {
        id: apiKey.id,
      },
    );
    expect(again.node).toEqual({ keyId: apiKey.keyId, description: 'found', active: false });
  });
});

describe('the trail', () => {
  it('tells who made a key and who ended it, by its id', async () => {
    const own = await newOrg(app);
    const { apiKey } = await createKey(own.caller, { description: 'Greenhouse' });
    app.clock.advance(1);
    await app.admin.ask(op.RevokeApiKeyDocument, { orgId: own.orgId, keyId: apiKey.keyId });
    const entityId = `$KEY:${apiKey.keyId}`;
    const expected = [
      { action: 'key_revoked', actor: 'platform-admin:admin', entityId, details: [] },
      { action: 'key_created', actor: own.clientId, entityId, details: [{ name: 'description', value: 'Greenhouse' }] },
    ];
    const one = (await own.caller.ask(op.AuditDocument, { entityId })).org?.auditEvents.nodes;
    expect(one).toMatchObject(expected);
    expect((await own.caller.ask(op.AuditDocument, { first: 2 })).org?.auditEvents.nodes).toEqual(one);
  });

  it('tells nothing of what was refused', async () => {
    const own = await newOrg(app);
    const before = (await own.caller.ask(op.AuditDocument, {})).org;
    await own.caller.send(op.CreateApiKeyDocument, { input: { description: '' } });
    await own.caller.send(op.RevokeApiKeyDocument, { keyId: randomUUID() });
    expect((await own.caller.ask(op.AuditDocument, {})).org).toEqual(before);
  });
});

describe('at rest and in the log', () => {
  it('no key is found in any table or line, only its hash in the table of keys', async () => {
    const lines: string[] = [];
    const watched = await open(startTestApp({ log: createLog('trace', { write: (line) => void lines.push(line) }) }));
    const own = await newOrg(watched);
    const made = [
      await createKey(own.caller, { description: 'one' }),
      await createKey(own.caller),
      await createKey(own.caller),
    ];
    const [one, two, three] = made.map(({ secret }) => secret) as [string, string, string];
    const device = keyed(one, watched);
    await device.ask(op.RegisterDeviceDocument, { input: aDevice() });
    await device.ask(op.IngestDocument, { input: { readings: [aReading()] } });
    await device.send(`{ ${one} }`);
    await device.send(op.RegisterDeviceDocument, { input: aDevice({ hardwareId: one }) });
    await device.send(op.IngestDocument, { input: { readings: [{ ...aReading(), hardwareId: two, bootId: two }] } });
    await device.send(op.NodeDocument, { id: two });
    await own.caller.send(op.RevokeApiKeyDocument, { keyId: two });
    await revokeKey(own.caller, made[1]?.apiKey.keyId ?? '');
    for (const text of [two, `${three}0`, three.slice(0, -1)]) await use(text, watched);
    await watched.as(three).send(whoAmI);
    await device.send(whoAmI, undefined, bearer(own));

    const stored = new Map<TableName, string>();
    for (const table of tableNames) stored.set(table, await everything(watched, table));
    const telling = [one, two, three].flatMap((secret) => [secret, secret.slice(4), secret.slice(-64)]);
    expect(telling.filter((text) => [...stored.values()].join('').includes(text))).toEqual([]);
    const logged = lines.join('');
    expect([...telling, three.slice(37, -1)].filter((text) => logged.includes(text))).toEqual([]);
    // That what was searched is what was written.
    const keys = stored.get('api_keys') ?? '';
    for (const { apiKey } of made) expect(keys).toContain(apiKey.keyId);
    expect(keys.match(/"api_key_hash":"[0-9a-f]{64}"/g)).toHaveLength(3);
    for (const written of ['createApiKey', 'RegisterDevice', `key-${made[0]?.apiKey.keyId}`])
      expect(logged.toLowerCase()).toContain(written.toLowerCase());
  });
});
