import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { ChangeFeed } from '../../src/changes/change.feed.js';
import { type ChangeItem, countersPerSlot } from '../../src/changes/change.store.js';
import { credentialsOf, newClientAttributes } from '../../src/identity/client.item.js';
import { clientIdOf, parseClientId } from '../../src/identity/client-id.js';
import {
  type Credentials,
  hashSecret,
  liveSecrets,
  looksLikeSecret,
  matchesSecret,
  matchingSecret,
  newSecret,
  secretCheck,
} from '../../src/identity/secret.js';
import {
  type AccessClaims,
  accessTtlSecs,
  importTokenKeys,
  type NewAccess,
  newSigningKeys,
  signAccess,
  type TokenKeys,
  verifyAccess,
} from '../../src/identity/token.js';
import {
  actorName,
  adminViewer,
  anonymous,
  clientViewer,
  maySeeAllOf,
  maySeeApp,
  maySeeOrg,
  orgIdFor,
  type Policy,
  requirePolicy,
  requireWrite,
  type Viewer,
} from '../../src/identity/viewer.js';
import { systemClock } from '../../src/lib/clock.js';
import { GatewayError } from '../../src/lib/errors.js';
import { silentLog } from '../../src/lib/log.js';
import { slug, uuidPattern } from '../../src/lib/patterns.js';
import { sleep } from '../../src/lib/timers.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const otherOrgId = '11111111-1111-4111-8111-111111111111';
const nowMs = Date.parse('2026-05-05T12:00:00Z');

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof GatewayError ? error.code : `unexpected: ${error}`;
  }
  return 'none';
}

describe('client ids', () => {
  const appId = fc.oneof(
    fc.stringMatching(slug),
    fc.constantFrom('a-app-b', 'app', 'app-app-app', '0-app-', `x-app-org-${orgId}`.slice(0, 64)),
  );

  it('tell whom they were made for, app ids that hold -app- included', () => {
    fc.assert(
      fc.property(
        fc.record(
          { orgId: fc.uuid(), appId, clientKey: fc.stringMatching(/^[0-9a-f]{12}$/) },
          { requiredKeys: ['orgId'] },
        ),
        (client) => {
          expect(parseClientId(clientIdOf(client))).toEqual(client);
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['a prefix alone', 'org-'],
    ['no prefix', orgId],
    ['a prefix in capitals', `ORG-${orgId}`],
    ['a UUID in capitals', `org-${'A'.repeat(8)}-0000-4000-8000-000000000000`],
    ['a UUID cut short', `org-${orgId.slice(0, -1)}`],
    ['a UUID too long', `org-${orgId}0`],
    ['an app id that is missing', `org-${orgId}-app-`],
    ['half the infix', `org-${orgId}-app`],
    ['another infix', `org-${orgId}-key-web`],
    ['an app id with a hash', `org-${orgId}-app-a#b`],
    ['an app id in capitals', `org-${orgId}-app-Web`],
    ['an app id too long', `org-${orgId}-app-${'a'.repeat(65)}`],
    ['a newline at the end', `org-${orgId}\n`],
    ['a newline after the app id', `org-${orgId}-app-web\n`],
    ['a blank before', ` org-${orgId}`],
    ['an empty key', `org-${orgId}~`],
    ['a key too short', `org-${orgId}~0123456789a`],
    ['a key in capitals', `org-${orgId}~0123456789AB`],
    ['two keys', `org-${orgId}~0123456789ab~0123456789ab`],
    ['a newline after the key', `org-${orgId}-app-web~0123456789ab\n`],
    ['a key before the app', `org-${orgId}~0123456789ab-app-web`],
  ])('are no client with %s', (_, text) => {
    expect(parseClientId(text)).toBeUndefined();
  });

  it('are never read from a text that is not exactly one', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((rest) => `org-${orgId}${rest}`),
        ),
        (text) => {
          const client = parseClientId(text);
          return client === undefined || clientIdOf(client) === text;
        },
      ),
    );
  });

  it('know a UUID in small letters only, and nothing around it', () => {
    expect(uuidPattern.test(orgId)).toBe(true);
    for (const text of [
      orgId.replace(/0/g, 'g'),
      `${orgId}\n`,
      `{${orgId}}`,
      orgId.replaceAll('-', ''),
      'ABCDEF00-0000-4000-8000-000000000000',
    ]) {
      expect(uuidPattern.test(text)).toBe(false);
    }
  });
});

describe('secrets', () => {
  it('look like one when new, have 47 bytes, and are never the same', () => {
    const many = Array.from({ length: 1000 }, newSecret);
    expect(new Set(many).size).toBe(many.length);
    for (const secret of many) {
      expect(looksLikeSecret(secret)).toBe(true);
      expect(Buffer.byteLength(secret)).toBe(47);
    }
  });

  it.each([
    ['nothing', ''],
    ['another prefix', `tgr_${'a'.repeat(43)}`],
    ['no prefix', 'a'.repeat(47)],
    ['one character too few', `tgs_${'a'.repeat(42)}`],
    ['one character too many', `tgs_${'a'.repeat(44)}`],
    ['a character of another alphabet', `tgs_${'a'.repeat(42)}+`],
    ['a newline at the end', `tgs_${'a'.repeat(43)}\n`],
    ['more than bcrypt reads', `tgs_${'a'.repeat(100)}`],
  ])('are told from %s', (_, text) => {
    expect(looksLikeSecret(text)).toBe(false);
  });

  it('match their own hash and no other', async () => {
    const [secret, other] = [newSecret(), newSecret()];
    const hashed = await hashSecret(secret, 4);
    expect(hashed).not.toContain(secret);
    expect(await matchesSecret(secret, hashed)).toBe(true);
    expect(await matchesSecret(other, hashed)).toBe(false);
    expect(await matchesSecret(secret.slice(0, -1), hashed)).toBe(false);
  });

  const base = { clientId: 'c', role: 'FULL' as const, rotation: 1, generation: 0 };
  const stored = (hash: string) => ({ hash, check: secretCheck(hash), rotation: 1 });
  const both = { current: stored('new'), previous: stored('old') };
  const grace = (offsetMs: number) => ({ graceExpiresAt: new Date(nowMs + offsetMs) });
  it.each<[string, Credentials, string[]]>([
    ['no secret yet', base, []],
    ['one secret', { ...base, current: stored('new') }, ['new']],
    ['an open grace', { ...base, ...both, ...grace(1) }, ['new', 'old']],
    ['a grace that ends now', { ...base, ...both, ...grace(0) }, ['new']],
    ['a grace that has ended', { ...base, ...both, ...grace(-1) }, ['new']],
    ['a previous hash without a grace', { ...base, ...both }, ['new']],
    ['a grace without a previous hash', { ...base, current: stored('new'), ...grace(1) }, ['new']],
  ])('live with %s', (_, credentials, live) => {
    expect(liveSecrets(credentials, nowMs).map(({ hash }) => hash)).toEqual(live);
    for (const secret of ['new', 'old'])
      expect(matchingSecret(liveSecrets(credentials, nowMs), secret)?.hash).toBe(
        live.includes(secret) ? secret : undefined,
      );
  });

  it('are checked by the first half of their SHA-256', () => {
    const secret = newSecret();
    expect(Buffer.from(secretCheck(secret), 'base64url')).toEqual(
      createHash('sha256').update(secret).digest().subarray(0, 16),
    );
  });

  it('are read off an item as they were stored', () => {
    expect(credentialsOf(newClientAttributes('c'))).toEqual({
      clientId: 'c',
      role: 'FULL',
      rotation: 1,
      generation: 0,
    });
    expect(
      credentialsOf({
        client_id: 'c',
        client_rotation: 3,
        client_generation: 2,
        client_role: 'READ',
        client_secret_hash: 'h',
        client_secret_check: 'hc',
        client_secret_rotation: 3,
        client_secret_previous_hash: 'p',
        client_secret_previous_check: 'pc',
        client_secret_previous_rotation: 1,
        client_secret_created_at_epoch: 0,
        client_secret_rotation_grace_expires_at_epoch: 60,
      }),
    ).toEqual({
      clientId: 'c',
      role: 'READ',
      rotation: 3,
      generation: 2,
      current: { hash: 'h', check: 'hc', rotation: 3 },
      previous: { hash: 'p', check: 'pc', rotation: 1 },
      secretCreatedAt: new Date(0),
      graceExpiresAt: new Date(60_000),
    });
  });
});

describe('the revocation feed', () => {
  const none = { counters: [], version: 0, isOwn: false, purges: 0 };
  /** When the sum of the versions was first read. */
  let seenMs: Map<number, number>;
  /** When the changes were first read since it was set to infinity. */
  let readMs: number;
  let changes: ChangeItem[];
  let feed: ChangeFeed;
  beforeEach(async () => {
    changes = [none, { counters: [], version: 1, isOwn: false, purges: 3, lastPurged: otherOrgId }];
    seenMs = new Map();
    readMs = 0;
    const store = {
      load: async () => {
        const sum = changes.reduce((all, { version }) => all + version, 0);
        if (!seenMs.has(sum)) seenMs.set(sum, performance.now());
        readMs = Math.min(readMs, performance.now());
        return changes;
      },
    };
    feed = new ChangeFeed(store, systemClock, silentLog);
    await feed.start();
  });
  afterEach(() => feed.stop());
  const sinceSeen = (sum: number): number => performance.now() - (seenMs.get(sum) as number);

  it('goes by a version of others only when all that came with it can be read, too', async () => {
    const before = feed.current();
    changes = [{ counters: [], version: 1, isOwn: false, purges: 1, lastPurged: orgId }, changes[1] as ChangeItem];
    const purged: unknown[] = [];
    feed.onPurge((of) => purged.push([of, feed.current()]));
    while (feed.current() === before) await sleep(1);
    expect(sinceSeen(2)).toBeGreaterThan(90);
    expect(purged).toEqual([[orgId, feed.current()]]);
  });

  it('forgets at once after a change of its own, and goes by its version without waiting', async () => {
    const before = feed.current();
    changes = [none, { counters: [], version: 2, isOwn: true, purges: 3, lastPurged: otherOrgId }];
    const refreshed = feed.refresh();
    expect(feed.current()).not.toBe(before);
    await refreshed;
    expect(feed.current()).toBe('2/1');
  });

  it.each<[string, () => ChangeItem[]]>([
    ['before its own', () => [none, { counters: [], version: 3, isOwn: true, purges: 3 }]],
    ['after its own', () => [none, { counters: [], version: 3, isOwn: false, purges: 3 }]],
    [
      'elsewhere',
      () => [
        { counters: [], version: 1, isOwn: false, purges: 0 },
        { counters: [], version: 2, isOwn: true, purges: 3 },
      ],
    ],
    ['instead of its own, which changed nothing', () => [none, { counters: [], version: 3, isOwn: false, purges: 3 }]],
  ])('waits after a change of its own as well if another came %s', async (_, next) => {
    changes = next();
    void feed.refresh();
    while (!feed.current().startsWith('3/')) await sleep(1);
    expect(sinceSeen(3)).toBeGreaterThan(90);
  });

  it('counts changes of places as they are read, once all that came with them can be read, and never back', async () => {
    const at = countersPerSlot + 2;
    const with2 = (counters: readonly number[], version = 1): ChangeItem[] => [
      none,
      { version, isOwn: false, purges: 3, counters },
    ];
    const version = feed.current();
    changes = with2([0, 0, 5]);
    while (feed.countAt(at) === 0) await sleep(1);
    expect(feed.countAt(at)).toBe(5);
    expect([feed.countAt(2), feed.countAt(at + 1)]).toEqual([0, 0]);
    expect(feed.current()).toBe(version);
    changes = with2([0, 0, 4], 2);
    while (feed.current() === version) await sleep(1);
    expect(feed.countAt(at)).toBe(5);
  });

  it('goes by a changed place only when it can be read as changed', async () => {
    changes = [none, { version: 1, isOwn: false, purges: 3, counters: [1] }];
    readMs = Number.POSITIVE_INFINITY;
    while (feed.countAt(countersPerSlot) === 0) await sleep(1);
    expect(performance.now() - readMs).toBeGreaterThan(90);
  });

  it('counts a change of a place of its own at once, and nothing else with it', () => {
    const before = [feed.countAt(7), feed.countAt(8), feed.current()];
    feed.noteChangeAt(7);
    expect([feed.countAt(7), feed.countAt(8), feed.current()]).toEqual([(before[0] as number) + 1, ...before.slice(1)]);
  });

  it('tells that it may have been anyone where it has missed a purge', async () => {
    const purged: unknown[] = [];
    feed.onPurge((of) => purged.push(of));
    changes = [{ counters: [], version: 2, isOwn: false, purges: 2, lastPurged: orgId }, changes[1] as ChangeItem];
    while (purged.length === 0) await sleep(1);
    expect(purged).toEqual([undefined]);
    expect(feed.purges).toBe(5);
  });
});

describe('access tokens', () => {
  const access: NewAccess = {
    clientId: clientIdOf({ orgId, appId: 'web' }),
    orgId,
    appId: 'web',
    role: 'FULL',
    family: 'fam1',
    generation: 3,
    ttlSecs: accessTtlSecs,
  };
  let keys: TokenKeys;
  let strangers: TokenKeys;
  beforeAll(async () => {
    keys = await importTokenKeys(await newSigningKeys());
    strangers = await importTokenKeys(await newSigningKeys());
  });

  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const partsOf = (token: string) => token.split('.') as [string, string, string];

  it('say what was signed into them', async () => {
    for (const [i, client] of [
      { orgId },
      { orgId, appId: 'web' },
      { orgId, appId: 'a-app-b', clientKey: '0123456789ab' },
    ].entries()) {
      const claims = {
        clientId: clientIdOf(client),
        ...client,
        role: i % 2 ? ('READ' as const) : ('FULL' as const),
        family: 'f',
        generation: 0,
      };
      expect(
        await verifyAccess(keys, await signAccess(keys, { ...claims, ttlSecs: accessTtlSecs }, nowMs), nowMs),
      ).toEqual({
        ...claims,
        tokenId: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
        expiresAtMs: nowMs + accessTtlSecs * 1000,
      });
    }
  });

  it('have ids of their own', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => signAccess(keys, access, nowMs)));
    const claims = await Promise.all(tokens.map((token) => verifyAccess(keys, token, nowMs)));
    expect(new Set(claims.map((claim) => claim?.tokenId)).size).toBe(50);
  });

  it('carry the header and claims of the standard, and no secret', async () => {
    const [header, payload] = partsOf(await signAccess(keys, access, nowMs));
    expect(decoded(header)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.signing.kid });
    expect(decoded(payload)).toEqual({
      iss: 'tollgate',
      aud: 'tollgate',
      sub: access.clientId,
      client_id: access.clientId,
      org: orgId,
      app: 'web',
      role: 'app',
      fam: 'fam1',
      gen: 3,
      iat: nowMs / 1000,
      exp: nowMs / 1000 + 3600,
      jti: expect.any(String),
    });
  });

  it('are good for an hour, to the second', async () => {
    const token = await signAccess(keys, access, nowMs);
    expect(await verifyAccess(keys, token, nowMs + 3_599_999)).toBeDefined();
    expect(await verifyAccess(keys, token, nowMs + 3_600_000)).toBeUndefined();
  });

  it('are void once any claim or header field is edited, removed or added', async () => {
    const token = await signAccess(keys, access, nowMs);
    const [header, payload, signature] = partsOf(token);
    for (const [part, rebuild] of [
      [header, (edited: object) => `${encoded(edited)}.${payload}.${signature}`],
      [payload, (edited: object) => `${header}.${encoded(edited)}.${signature}`],
    ] as const) {
      const fields = decoded(part);
      expect(await verifyAccess(keys, rebuild(fields), nowMs)).toBeDefined();
      for (const [name, value] of Object.entries(fields)) {
        const { [name]: _, ...without } = fields;
        const edited = typeof value === 'number' ? value + 1 : `${value}x`;
        expect(await verifyAccess(keys, rebuild(without), nowMs)).toBeUndefined();
        expect(await verifyAccess(keys, rebuild({ ...fields, [name]: edited }), nowMs)).toBeUndefined();
      }
      expect(await verifyAccess(keys, rebuild({ ...fields, admin: true }), nowMs)).toBeUndefined();
    }
  });

  it('are void once any character is changed', async () => {
    const token = await signAccess(keys, access, nowMs);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: token.length - 2 }),
        fc.constantFrom('A', 'B', '.', '=', ' ', '_'),
        async (where, character) => {
          fc.pre(token[where] !== character);
          expect(
            await verifyAccess(keys, token.slice(0, where) + character + token.slice(where + 1), nowMs),
          ).toBeUndefined();
        },
      ),
    );
  });

  it('are void without a signature, by another algorithm, or by a key that is not ours', async () => {
    const [header, payload] = partsOf(await signAccess(keys, access, nowMs));
    expect(
      await verifyAccess(keys, `${encoded({ ...decoded(header), alg: 'none' })}.${payload}.`, nowMs),
    ).toBeUndefined();
    const publicBytes = Buffer.from(keys.published.keys[0]?.x as string, 'base64url');
    const asHmac = await new SignJWT(decoded(payload))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: keys.signing.kid })
      .sign(publicBytes);
    expect(await verifyAccess(keys, asHmac, nowMs)).toBeUndefined();
    expect(await verifyAccess(keys, await signAccess(strangers, access, nowMs), nowMs)).toBeUndefined();
    const posing = { ...strangers, signing: { ...strangers.signing, kid: keys.signing.kid } };
    expect(await verifyAccess(keys, await signAccess(posing, access, nowMs), nowMs)).toBeUndefined();
  });

  const sound = {
    iss: 'tollgate',
    aud: 'tollgate',
    sub: access.clientId,
    client_id: access.clientId,
    org: orgId,
    app: 'web',
    role: 'app',
    fam: 'f',
    gen: 0,
  };
  const stamped = { ...sound, jti: 'j', iat: nowMs / 1000, exp: nowMs / 1000 + 60 };
  const signed = (payload: Record<string, unknown>, header: object = {}) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.signing.kid, ...header })
      .sign(keys.signing.key);

  it.each<[string, Record<string, unknown>, object?]>([
    ['another issuer', { iss: 'other' }],
    ['another audience', { aud: 'other' }],
    ['a client id that is none', { client_id: 'admin' }],
    ['a client id that is a number', { client_id: 1 }],
    ['a family that is a number', { fam: 1 }],
    ['a generation that is a string', { gen: '0' }],
    ['an expiry in the past', { exp: nowMs / 1000 - 1 }],
    ['an expiry of 0', { exp: 0 }],
    ['an empty id', { jti: '' }],
    ['an unknown scope', { scope: 'write' }],
    ['a scope that is no text', { scope: ['read'] }],
    ['a beginning in the future', { nbf: nowMs / 1000 + 60 }],
    ['another type', {}, { typ: 'JWT' }],
    ['no type', {}, { typ: undefined }],
    ['an unknown kid', {}, { kid: 'other' }],
    ['no kid', {}, { kid: undefined }],
    ['a kid of every object', {}, { kid: 'constructor' }],
  ])('are void though signed by us, with %s', async (_, edit, header = {}) => {
    expect(await verifyAccess(keys, await signed(stamped), nowMs)).toBeDefined();
    expect(await verifyAccess(keys, await signed({ ...stamped, ...edit }, header), nowMs)).toBeUndefined();
  });

  it.each(['iss', 'aud', 'sub', 'client_id', 'org', 'role', 'iat', 'exp', 'jti', 'fam', 'gen'])(
    'are void though signed by us, without %s',
    async (claim) => {
      expect(await verifyAccess(keys, await signed({ ...stamped, [claim]: undefined }), nowMs)).toBeUndefined();
    },
  );

  it('are refused past 4 KB, signed by us or not', async () => {
    expect(await verifyAccess(keys, await signed({ ...stamped, pad: 'x'.repeat(4096) }), nowMs)).toBeUndefined();
  });

  it('are never read from junk, and nothing is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (junk) => (await verifyAccess(keys, junk, nowMs)) === undefined),
    );
  });

  it('are signed by the first key and verified by every one, and no private part is published', async () => {
    const [older, newer] = [await newSigningKeys(), await newSigningKeys()];
    const before = await importTokenKeys(older);
    const after = await importTokenKeys([...newer, ...older]);
    const token = await signAccess(before, access, nowMs);
    expect(await verifyAccess(after, token, nowMs)).toBeDefined();
    expect(decoded(partsOf(await signAccess(after, access, nowMs))[0]).kid).toBe(newer[0]?.kid);
    expect(after.published.keys.map(({ kid }) => kid)).toEqual([newer[0]?.kid, older[0]?.kid]);
    for (const jwk of after.published.keys)
      expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });
});

describe('viewer', () => {
  const claims = (client: { orgId: string; appId?: string }): AccessClaims => ({
    ...client,
    clientId: clientIdOf(client),
    role: 'FULL',
    tokenId: 't',
    family: 'f',
    generation: 0,
    expiresAtMs: 0,
  });
  const orgClient = clientViewer(claims({ orgId }));
  const appClient = clientViewer(claims({ orgId, appId: 'web' }));
  const platformAdmin = adminViewer('ops');
  const viewers = { anonymous, platformAdmin, orgClient, appClient };
  type Name = keyof typeof viewers;

  it('is an org client or an app client by its token', () => {
    expect(orgClient).toMatchObject({ kind: 'ORG_CLIENT', orgId });
    expect(appClient).toMatchObject({ kind: 'APP_CLIENT', orgId, appId: 'web' });
  });

  // One row a policy: a new one does not compile until it says here whom it lets in.
  const may: Record<Policy, [anonymous: string, admin: string, org: string, app: string]> = {
    public: ['none', 'none', 'none', 'none'],
    'signed-in': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'platform:manage': ['UNAUTHENTICATED', 'none', 'FORBIDDEN', 'FORBIDDEN'],
    'org:manage': ['UNAUTHENTICATED', 'none', 'none', 'FORBIDDEN'],
    'org:read': ['UNAUTHENTICATED', 'none', 'none', 'FORBIDDEN'],
    'app:read': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'credentials:manage': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'spend:submit': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'devices:serve': ['UNAUTHENTICATED', 'FORBIDDEN', 'none', 'FORBIDDEN'],
    'limits:use': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'alerts:follow': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'tokens:revoke': ['UNAUTHENTICATED', 'none', 'none', 'none'],
  };
  it.each(Object.entries(may) as [Policy, string[]][])(
    'under %s is refused as %j: anonymous, admin, org, app',
    (policy, codes) => {
      expect(Object.values<Viewer>(viewers).map((viewer) => codeOf(() => requirePolicy(viewer, policy)))).toEqual(
        codes,
      );
    },
  );

  it('with the role READ may send no mutation but those about its tokens', () => {
    const reader = clientViewer({ ...claims({ orgId }), role: 'READ' });
    const open = (Object.keys(may) as Policy[]).filter(
      (policy) => codeOf(() => requireWrite(reader, policy)) === 'none',
    );
    expect(open).toEqual(['public', 'tokens:revoke']);
    for (const viewer of Object.values<Viewer>(viewers))
      expect(codeOf(() => requireWrite(viewer, 'org:manage'))).toBe('none');
  });

  it.each<[Name, string | null | undefined, string]>([
    ['platformAdmin', orgId, orgId],
    ['platformAdmin', undefined, 'BAD_USER_INPUT'],
    ['platformAdmin', null, 'BAD_USER_INPUT'],
    ['platformAdmin', '', 'BAD_USER_INPUT'],
    ['orgClient', undefined, orgId],
    ['orgClient', null, orgId],
    ['orgClient', orgId, orgId],
    ['orgClient', otherOrgId, 'NOT_FOUND'],
    ['appClient', undefined, orgId],
    ['appClient', orgId, orgId],
    ['appClient', otherOrgId, 'NOT_FOUND'],
    ['anonymous', undefined, 'BAD_USER_INPUT'],
  ])('%s that names the org %p gets %s', (name, named, expected) => {
    let answer = '';
    const code = codeOf(() => {
      answer = orgIdFor(viewers[name], named);
    });
    expect(code === 'none' ? answer : code).toBe(expected);
  });

  it('is told by which path the org is missing', () => {
    expect(() => orgIdFor(platformAdmin, undefined, 'input.orgId')).toThrow('input.orgId: ');
  });

  it.each<[Name, string, string, { org: boolean; all: boolean; app: boolean }]>([
    ['anonymous', orgId, 'web', { org: false, all: false, app: false }],
    ['platformAdmin', orgId, 'web', { org: true, all: true, app: true }],
    ['platformAdmin', otherOrgId, 'other', { org: true, all: true, app: true }],
    ['orgClient', orgId, 'web', { org: true, all: true, app: true }],
    ['orgClient', orgId, 'other', { org: true, all: true, app: true }],
    ['orgClient', otherOrgId, 'web', { org: false, all: false, app: false }],
    ['appClient', orgId, 'web', { org: true, all: false, app: true }],
    ['appClient', orgId, 'other', { org: true, all: false, app: false }],
    ['appClient', otherOrgId, 'web', { org: false, all: false, app: false }],
  ])('%s of org %s and app %s may see %j', (name, org, app, expected) => {
    const viewer = viewers[name];
    expect({ org: maySeeOrg(viewer, org), all: maySeeAllOf(viewer, org), app: maySeeApp(viewer, org, app) }).toEqual(
      expected,
    );
  });

  it('is called by its client id, never by its token', () => {
    expect(Object.values<Viewer>(viewers).map(actorName)).toEqual([
      'anonymous',
      'platform-admin:ops',
      `org-${orgId}`,
      `org-${orgId}-app-web`,
    ]);
  });
});
