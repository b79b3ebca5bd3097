import { randomBytes, randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { Key } from '../../src/dynamo/client.js';
import { type TableName, tableNames } from '../../src/dynamo/tables.js';
import { hashApiKey } from '../../src/identity/api-key.js';
import { createLog } from '../../src/lib/log.js';
import { RootKeys } from '../../src/lib/seal.js';
import {
  createKey,
  deviceCaller,
  deviceInput,
  keyOf,
  keysPage,
  readingInput,
  revokeKey,
  tryKeyAt,
} from '../support/api-keys.js';
import {
  adminKey,
  Caller,
  type Client,
  newApp,
  newOrg,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
} from '../support/app.js';
import { bytesOf, codeIn, eventually, frozenClock, whoAmI } from '../support/identity.js';
import * as op from '../support/operations.js';

const keyPattern = /^tgk_[0-9a-f]{32}_[0-9a-f]{64}$/;

let app: TestApp;
/** A second gateway on the same tables, with caches of its own. */
let other: TestApp;
let org: Client & { readonly orgId: string };
const open = stoppedAfterAll();

beforeAll(async () => {
  app = await open(startTestApp());
  other = await open(app.another());
  org = await newOrg(app);
});

const keyed = (secret: string, at = app) => deviceCaller(at, secret);
const tryKey = (secret: string, at = app) => tryKeyAt(at, secret);
const bearer = ({ accessToken }: Client) => ({ authorization: `Bearer ${accessToken}` });

/** All items of a table as text. */
async function everything(at: TestApp, table: TableName): Promise<string> {
  let text = '';
  for (let after: Key | undefined; ; ) {
    const { items, next } = await at.gateway.services.store.scan(table, after);
    text += JSON.stringify(items, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    if (!next) return text;
    after = next;
  }
}

describe('createApiKey', () => {
  it('returns a working key and shows its secret only in this response', async () => {
    const before = app.clock.nowMs();
    const { apiKey, secret } = await createKey(org.caller, { description: 'Greenhouse' });
    expect(secret).toMatch(keyPattern);
    expect(secret).toContain(apiKey.keyId.replaceAll('-', ''));
    expect(apiKey).toMatchObject({ description: 'Greenhouse', active: true, lastUsedAt: null });
    expect(Date.parse(apiKey.createdAt)).toBeGreaterThanOrEqual(before);
    expect(await keyOf(org.caller, apiKey.keyId)).toEqual(apiKey);
    for (const at of [app, other]) expect(await tryKey(secret, at)).toBe('ok');
    const { me } = await keyed(secret).ask(op.MeDocument);
    expect(me).toMatchObject({
      kind: 'DEVICE_KEY',
      clientId: null,
      expiresAt: null,
      org: { orgId: org.orgId },
      app: null,
    });
    const shown = JSON.stringify([
      await keysPage(org.caller, { first: 100 }),
      (await org.caller.ask(op.AuditDocument, { first: 100 })).org,
    ]);
    expect([secret, secret.slice(-64)].filter((text) => shown.includes(text))).toEqual([]);
  });

  it('lets the admin create a key of an existing org', async () => {
    const { apiKey, secret } = await createKey(app.admin, { orgId: org.orgId });
    expect(apiKey.description).toBeNull();
    expect((await keyed(secret).ask(op.MeDocument)).me.org?.orgId).toBe(org.orgId);
    expect(await app.admin.codeOf(op.CreateApiKeyDocument, { input: {} })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.CreateApiKeyDocument, { input: { orgId: randomUUID() } })).toBe('NOT_FOUND');
  });

  it('returns different keys to concurrent calls', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => createKey(org.caller)));
    expect(new Set(made.map(({ secret }) => secret.slice(-64))).size).toBe(20);
    expect(new Set(made.map(({ apiKey }) => apiKey.keyId)).size).toBe(20);
  });

  it.each<[string, string | null | undefined, boolean]>([
    ['no value', undefined, true],
    ['null', null, true],
    ['one character', 'x', true],
    ['256 characters', 'x'.repeat(256), true],
    ['non-ASCII characters', 'Gewächshaus 🌱', true],
    ['257 characters', 'x'.repeat(257), false],
    ['no characters', '', false],
    ['spaces', '   ', false],
    ['a lone surrogate', '\ud83c', false],
  ])('checks a description of %s', async (_what, description, isValid) => {
    const answer = await org.caller.send(op.CreateApiKeyDocument, { input: { description } });
    if (isValid) expect(answer.data?.createApiKey.apiKey.description).toBe(description ?? null);
    else
      expect([codeIn(answer), answer.errors?.[0]?.extensions.issues?.map(({ path }) => path)]).toEqual([
        'BAD_USER_INPUT',
        ['input.description'],
      ]);
  });
});

describe('Org.apiKeys', () => {
  it('lists the keys of one org, newest first, in pages that add up to the whole list', async () => {
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

  it('lists every key once, even if several were created in the same millisecond', async () => {
    const frozen = await open(startTestApp({ clock: frozenClock() }));
    const own = await newOrg(frozen);
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

  it('includes revoked keys, marked as inactive', async () => {
    const { apiKey } = await createKey(org.caller, { description: 'gone' });
    await revokeKey(org.caller, apiKey.keyId);
    expect(await keyOf(org.caller, apiKey.keyId)).toEqual({ ...apiKey, active: false });
  });
});

describe('revokeApiKey', () => {
  it('revokes a key on this gateway at once, and within 2 s on another that has cached it', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const otherKey = await createKey(org.caller);
    for (const at of [app, other])
      for (const each of [secret, otherKey.secret]) expect(await tryKey(each, at)).toBe('ok');
    expect(await revokeKey(org.caller, apiKey.keyId)).toMatchObject({
      keyId: apiKey.keyId,
      active: false,
      createdAt: apiKey.createdAt,
    });
    expect(await tryKey(secret)).toBe('UNAUTHENTICATED');
    expect(await eventually(() => tryKey(secret, other), 'UNAUTHENTICATED')).toBe('UNAUTHENTICATED');
    for (const at of [app, other]) expect(await tryKey(otherKey.secret, at)).toBe('ok');
  });

  it('is idempotent and writes one audit event', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const answers = await Promise.all([...Array(5)].map(() => revokeKey(org.caller, apiKey.keyId)));
    answers.push(await revokeKey(app.as(org.accessToken), apiKey.keyId.toUpperCase()));
    for (const answer of answers) expect(answer).toEqual({ ...apiKey, active: false });
    expect(await tryKey(secret)).toBe('UNAUTHENTICATED');
    const { org: own } = await org.caller.ask(op.AuditDocument, { entityId: `$KEY:${apiKey.keyId}` });
    expect(own?.auditEvents.nodes.map(({ action }) => action)).toEqual(['key_revoked', 'key_created']);
  });

  it('requires the org of the key if the admin calls', async () => {
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(org.caller);
    const { keyId } = apiKey;
    expect(await app.admin.codeOf(op.RevokeApiKeyDocument, { keyId })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.RevokeApiKeyDocument, { keyId, orgId: foreign.orgId })).toBe('NOT_FOUND');
    expect(await tryKey(secret)).toBe('ok');
    expect((await app.admin.ask(op.RevokeApiKeyDocument, { keyId, orgId: org.orgId })).revokeApiKey.active).toBe(false);
    expect(await tryKey(secret)).toBe('UNAUTHENTICATED');
  });

  it("returns the same bytes for another org's key as for a key that never existed, and leaves it active", async () => {
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(foreign.caller);
    const ended = await createKey(foreign.caller);
    await revokeKey(foreign.caller, ended.apiKey.keyId);
    const unknown = await bytesOf(app, op.RevokeApiKeyDocument, { keyId: randomUUID() }, bearer(org));
    expect(unknown).toContain('"NOT_FOUND"');
    for (const { keyId } of [apiKey, ended.apiKey])
      expect(await bytesOf(app, op.RevokeApiKeyDocument, { keyId }, bearer(org))).toBe(unknown);
    expect(await tryKey(secret)).toBe('ok');
    const noOrg = await bytesOf(
      app,
      op.RevokeApiKeyDocument,
      { keyId: apiKey.keyId, orgId: randomUUID() },
      bearer(org),
    );
    expect(noOrg).toContain('"NOT_FOUND"');
    expect(
      await bytesOf(app, op.RevokeApiKeyDocument, { keyId: apiKey.keyId, orgId: foreign.orgId }, bearer(org)),
    ).toBe(noOrg);
  });
});

describe('an invalid key', () => {
  it('gets the same response, whatever is wrong with it', async () => {
    const [{ secret }, second, ended] = [
      await createKey(org.caller),
      await createKey(org.caller),
      await createKey(org.caller),
    ];
    await revokeKey(org.caller, ended.apiKey.keyId);
    const wrong = {
      'an unknown id': `tgk_${randomBytes(16).toString('hex')}_${secret.slice(-64)}`,
      'another secret': `${secret.slice(0, 37)}${randomBytes(32).toString('hex')}`,
      'the secret of another key': secret.slice(0, 37) + second.secret.slice(37),
      'the last character changed': secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0'),
      'cut short': secret.slice(0, -1),
      'the id alone': secret.slice(0, 36),
      'one character too long': `${secret}0`,
      'upper case': secret.toUpperCase(),
      'its hex in upper case': `tgk_${secret.slice(4).toUpperCase()}`,
      'without its prefix': secret.slice(4),
      'with Bearer before it': `Bearer ${secret}`,
      'two keys in one header': `${secret}, ${second.secret}`,
      'the hash of it': hashApiKey(new RootKeys(app.config.rootSecrets, 'device keys').first.key, secret),
      revoked: ended.secret,
      empty: '',
      '8 KB': 'x'.repeat(8000),
    };
    const answers = await Promise.all(
      Object.values(wrong).map((text) => bytesOf(app, whoAmI, {}, { 'x-api-key': text })),
    );
    const [first = ''] = answers;
    expect(first).toMatch(/^401 .*"UNAUTHENTICATED"/);
    expect(Object.fromEntries(Object.keys(wrong).map((name, i) => [name, answers[i]]))).toEqual(
      Object.fromEntries(Object.keys(wrong).map((name) => [name, first])),
    );
    expect(await tryKey(secret)).toBe('ok');
  });

  it('is a key that is sent as a token or as the admin key', async () => {
    const { secret } = await createKey(org.caller);
    expect(codeIn(await app.as(secret).send(whoAmI))).toBe('UNAUTHENTICATED');
    expect(codeIn(await new Caller(app.url, { 'x-admin-key': secret }).send(whoAmI))).toBe('UNAUTHENTICATED');
    for (const text of [adminKey, org.accessToken, org.clientSecret])
      expect(await tryKey(text)).toBe('UNAUTHENTICATED');
  });

  it('is a key that was created under another root secret', async () => {
    const { secret } = await createKey(org.caller);
    const stranger = await open(app.another({ rootSecrets: ['another pepper of the tests, 32 bytes'] }));
    expect(await tryKey(secret, stranger)).toBe('UNAUTHENTICATED');
    expect(await tryKey(secret)).toBe('ok');
  });

  it.each([
    ['a token', () => bearer(org)],
    ['the admin key', () => ({ 'x-admin-key': adminKey })],
    ['an invalid token', () => ({ authorization: 'Bearer x' })],
  ])('is a key that is sent together with %s', async (_what, others) => {
    const { secret } = await createKey(org.caller);
    const answer = await keyed(secret).send(whoAmI, undefined, others());
    expect([answer.status, codeIn(answer)]).toEqual([400, 'BAD_USER_INPUT']);
    expect(answer.data ?? null).toBeNull();
  });
});

describe('guessing keys', () => {
  it('is throttled per address without reading DynamoDB, while cached credentials are still served', async () => {
    const { secret } = await createKey(org.caller);
    const fresh = await createKey(org.caller);
    const own = await open(app.another({ loginPerAddressPerMinute: 3 }));
    const read = jest.spyOn(own.gateway.services.apiKeyStore, 'load');
    expect(await tryKey(secret, own)).toBe('ok');
    expect(codeIn(await own.as(org.accessToken).send(whoAmI))).toBe('ok');
    const guess = () => `tgk_${randomBytes(16).toString('hex')}_${randomBytes(32).toString('hex')}`;
    for (let i = 0; i < 3; i++) expect(await tryKey(guess(), own)).toBe('UNAUTHENTICATED');
    expect(read).toHaveBeenCalledTimes(4);
    const answer = await keyed(guess(), own).send(whoAmI);
    expect([answer.status, codeIn(answer), Number(answer.headers.get('retry-after')) > 0]).toEqual([
      429,
      'RATE_LIMITED',
      true,
    ]);
    expect(codeIn(await new Caller(own.url, { 'x-admin-key': 'a guess' }).send(whoAmI))).toBe('RATE_LIMITED');
    // A token is signed, so an invalid one does not count as a guess.
    expect(codeIn(await own.as(`${org.accessToken}x`).send(whoAmI))).toBe('UNAUTHENTICATED');
    // A correct key is not checked either. Otherwise a guesser could tell it from the wrong ones.
    expect(await tryKey(fresh.secret, own)).toBe('RATE_LIMITED');
    expect(read).toHaveBeenCalledTimes(4);
    expect(await tryKey(secret, own)).toBe('ok');
    expect(codeIn(await own.as(org.accessToken).send(whoAmI))).toBe('ok');
    expect(codeIn(await new Caller(own.url, { 'x-admin-key': adminKey }).send(whoAmI))).toBe('ok');
  });
});

describe('node', () => {
  it('returns a key to its org and to the admin, and null to all others', async () => {
    const chat = await newApp(app, org, `a-${randomUUID()}`);
    const foreign = await newOrg(app);
    const { apiKey, secret } = await createKey(org.caller, { description: 'found' });
    const find = async (caller: Caller, id = apiKey.id) => (await caller.ask(op.NodeDocument, { id })).node;
    for (const caller of [org.caller, app.admin])
      expect(await find(caller)).toEqual({ __typename: 'ApiKey', id: apiKey.id });
    for (const caller of [foreign.caller, chat.caller, keyed(secret)]) expect(await find(caller)).toBeNull();
    // The key of one org under the id of another org.
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

describe('the audit trail', () => {
  it('records who created and who revoked a key', async () => {
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

  it('records nothing about refused calls', async () => {
    const own = await newOrg(app);
    const before = (await own.caller.ask(op.AuditDocument, {})).org;
    await own.caller.send(op.CreateApiKeyDocument, { input: { description: '' } });
    await own.caller.send(op.RevokeApiKeyDocument, { keyId: randomUUID() });
    expect((await own.caller.ask(op.AuditDocument, {})).org).toEqual(before);
  });
});

describe('the secret of a key', () => {
  it('appears in no table and in no log line; only its hash is stored', async () => {
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
    await device.ask(op.RegisterDeviceDocument, { input: deviceInput() });
    await device.ask(op.IngestDocument, { input: { readings: [readingInput(app.clock.nowMs())] } });
    await device.send(`{ ${one} }`);
    await device.send(op.RegisterDeviceDocument, { input: deviceInput({ hardwareId: one }) });
    await device.send(op.IngestDocument, {
      input: { readings: [{ ...readingInput(app.clock.nowMs()), hardwareId: two, bootId: two }] },
    });
    await device.send(op.NodeDocument, { id: two });
    await own.caller.send(op.RevokeApiKeyDocument, { keyId: two });
    await revokeKey(own.caller, made[1]?.apiKey.keyId ?? '');
    for (const text of [two, `${three}0`, three.slice(0, -1)]) await tryKey(text, watched);
    await watched.as(three).send(whoAmI);
    await device.send(whoAmI, undefined, bearer(own));

    const stored = new Map<TableName, string>();
    for (const table of tableNames) stored.set(table, await everything(watched, table));
    const searched = [one, two, three].flatMap((secret) => [secret, secret.slice(4), secret.slice(-64)]);
    expect(searched.filter((text) => [...stored.values()].join('').includes(text))).toEqual([]);
    const logged = lines.join('');
    expect([...searched, three.slice(37, -1)].filter((text) => logged.includes(text))).toEqual([]);
    // The search has looked at the right text.
    const keys = stored.get('api_keys') ?? '';
    for (const { apiKey } of made) expect(keys).toContain(apiKey.keyId);
    expect(keys.match(/"api_key_hash":"[0-9a-f]{64}"/g)).toHaveLength(3);
    for (const written of ['createApiKey', 'RegisterDevice', `key-${made[0]?.apiKey.keyId}`])
      expect(logged.toLowerCase()).toContain(written.toLowerCase());
  });
});
