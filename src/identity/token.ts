import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { randomToken } from '../lib/id.js';
import { parseClientId } from './client-id.js';
import type { ClientRole } from './secret.js';

export const accessTtlSecs = 3600;
/** Counted from the login. A refresh does not extend it. */
export const sessionTtlSecs = 30 * 24 * 3600;

const algorithm = 'EdDSA';
const issuer = 'tollgate';
const audience = 'tollgate';
const type = 'at+jwt';
const maxTokenLength = 4096;

/** The claims of an access token whose signature was verified. */
export interface AccessClaims {
  readonly clientId: string;
  readonly orgId: string;
  readonly appId?: string;
  readonly role: ClientRole;
  readonly tokenId: string;
  readonly family: string;
  readonly generation: number;
  readonly expiresAtMs: number;
}

export interface TokenKeys {
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
  readonly verifying: ReadonlyMap<string, CryptoKey>;
  /** The public keys, as served at /.well-known/jwks.json. */
  readonly published: { readonly keys: readonly JWK[] };
}

export async function newSigningKeys(): Promise<JWK[]> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return [{ ...(await exportJWK(privateKey)), kid: randomToken(8), alg: algorithm, use: 'sig' }];
}

/** Imports the signing keys once, because an import costs more than a verification. */
export async function importTokenKeys(jwks: readonly JWK[]): Promise<TokenKeys> {
  const published = jwks.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid, alg: algorithm, use: 'sig' }) as JWK);
  const verifying = new Map<string, CryptoKey>();
  for (const jwk of published) verifying.set(jwk.kid as string, (await importJWK(jwk, algorithm)) as CryptoKey);
  const [first] = jwks as [JWK];
  return {
    signing: { kid: first.kid as string, key: (await importJWK(first, algorithm)) as CryptoKey },
    verifying,
    published: { keys: published },
  };
}

export type NewAccess = Omit<AccessClaims, 'tokenId' | 'expiresAtMs'> & { readonly ttlSecs: number };

const readScope = 'read';

export function signAccess({ signing }: TokenKeys, access: NewAccess, nowMs: number): Promise<string> {
  const { clientId, orgId, appId, role, family, generation, ttlSecs } = access;
  const issuedAt = Math.floor(nowMs / 1000);
  const scope = role === 'READ' ? { scope: readScope } : {};
  return new SignJWT({
    client_id: clientId,
    org: orgId,
    ...(appId ? { app: appId } : {}),
    role: appId ? 'app' : 'org',
    ...scope,
    fam: family,
    gen: generation,
  })
    .setProtectedHeader({ alg: algorithm, typ: type, kid: signing.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(clientId)
    .setJti(randomToken(16))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSecs)
    .sign(signing.key);
}

/** The claims of a token that this deployment signed and that is valid at `nowMs`; undefined for any other text. */
export async function verifyAccess(keys: TokenKeys, token: string, nowMs: number): Promise<AccessClaims | undefined> {
  if (token.length > maxTokenLength) return undefined;
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : keys.verifying.get(kid);
        if (!key) throw new Error('unknown kid');
        return key;
      },
      {
        algorithms: [algorithm],
        issuer,
        audience,
        typ: type,
        requiredClaims: ['sub', 'client_id', 'org', 'role', 'iat', 'exp', 'jti', 'fam', 'gen'],
        currentDate: new Date(nowMs),
      },
    );
    const { client_id: clientId, jti, fam, gen, exp, scope } = payload;
    if (scope !== undefined && scope !== readScope) return undefined;
    const client = typeof clientId === 'string' ? parseClientId(clientId) : undefined;
    if (!client || typeof clientId !== 'string' || typeof fam !== 'string' || typeof gen !== 'number' || !jti || !exp)
      return undefined;
    return {
      clientId,
      ...client,
      role: scope === readScope ? 'READ' : 'FULL',
      tokenId: jti,
      family: fam,
      generation: gen,
      expiresAtMs: exp * 1000,
    };
  } catch {
    return undefined;
  }
}
