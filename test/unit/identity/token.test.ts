import fc from 'fast-check';
import { SignJWT } from 'jose';
import { clientIdOf } from '../../../src/identity/client-id.js';
import {
  accessTtlSecs,
  importTokenKeys,
  type NewAccess,
  newSigningKeys,
  signAccess,
  type TokenKeys,
  verifyAccess,
} from '../../../src/identity/token.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const nowMs = Date.parse('2026-05-05T12:00:00Z');

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

  it('return the claims that were signed', async () => {
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

  it('have different ids', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => signAccess(keys, access, nowMs)));
    const claims = await Promise.all(tokens.map((token) => verifyAccess(keys, token, nowMs)));
    expect(new Set(claims.map((claim) => claim?.tokenId)).size).toBe(50);
  });

  it('have the standard header and claims, and no secret', async () => {
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

  it('are valid for an hour, exact to the second', async () => {
    const token = await signAccess(keys, access, nowMs);
    expect(await verifyAccess(keys, token, nowMs + 3_599_999)).toBeDefined();
    expect(await verifyAccess(keys, token, nowMs + 3_600_000)).toBeUndefined();
  });

  it('are invalid if any claim or header field is edited, removed or added', async () => {
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

  it('are invalid if any character is changed', async () => {
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

  it('are invalid without a signature, with another algorithm, or under an unknown key', async () => {
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
    ['a client_id that is no client id', { client_id: 'admin' }],
    ['a client id that is a number', { client_id: 1 }],
    ['a family that is a number', { fam: 1 }],
    ['a generation that is a string', { gen: '0' }],
    ['an expiry in the past', { exp: nowMs / 1000 - 1 }],
    ['an expiry of 0', { exp: 0 }],
    ['an empty id', { jti: '' }],
    ['an unknown scope', { scope: 'write' }],
    ['a scope that is not a string', { scope: ['read'] }],
    ['a start in the future', { nbf: nowMs / 1000 + 60 }],
    ['another type', {}, { typ: 'JWT' }],
    ['no type', {}, { typ: undefined }],
    ['an unknown kid', {}, { kid: 'other' }],
    ['no kid', {}, { kid: undefined }],
    ['a kid from Object.prototype', {}, { kid: 'constructor' }],
  ])('are invalid with %s although the signature is right', async (_, edit, header = {}) => {
    expect(await verifyAccess(keys, await signed(stamped), nowMs)).toBeDefined();
    expect(await verifyAccess(keys, await signed({ ...stamped, ...edit }, header), nowMs)).toBeUndefined();
  });

  it.each(['iss', 'aud', 'sub', 'client_id', 'org', 'role', 'iat', 'exp', 'jti', 'fam', 'gen'])(
    'are void though signed by us, without %s',
    async (claim) => {
      expect(await verifyAccess(keys, await signed({ ...stamped, [claim]: undefined }), nowMs)).toBeUndefined();
    },
  );

  it('are refused if longer than 4 KB, whoever signed them', async () => {
    expect(await verifyAccess(keys, await signed({ ...stamped, pad: 'x'.repeat(4096) }), nowMs)).toBeUndefined();
  });

  it('return undefined for any other text and never throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (junk) => (await verifyAccess(keys, junk, nowMs)) === undefined),
    );
  });

  it('are signed by the first key, verified by every key, and only public parts are published', async () => {
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
