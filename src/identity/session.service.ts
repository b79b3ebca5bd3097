import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { clientEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import type { Draft } from '../lib/draft.js';
import { GatewayError, rateLimited } from '../lib/errors.js';
import { randomToken } from '../lib/id.js';
import type { Metrics } from '../lib/metrics.js';
import { hmac } from '../lib/seal.js';
import type { Semaphore } from '../lib/semaphore.js';
import type { Throttle } from '../lib/throttle.js';
import { parseClientId } from './client-id.js';
import type { CredentialStore } from './credential.store.js';
import type { RevocationFeed } from './revocation.feed.js';
import type { RevocationStore } from './revocation.store.js';
import { liveHashes, looksLikeSecret, matchesSecret } from './secret.js';
import type { Session, SessionStore } from './session.store.js';
import { type AccessClaims, accessTtlSecs, refreshTtlSecs, signAccess, type TokenKeys, verifyAccess } from './token.js';
import { actorName, type Viewer } from './viewer.js';

const rememberedSecretMs = 60_000;
const reuseGraceMs = 30_000;

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: 'Bearer';
  readonly expiresInSecs: number;
  readonly refreshExpiresInSecs: number;
}

/** A client whose secret has just been checked, and the generation its tokens belong to. */
export interface Login {
  readonly clientId: string;
  readonly generation: number;
}

export interface SessionParts {
  readonly credentials: CredentialStore;
  readonly sessions: SessionStore;
  readonly revocations: RevocationStore;
  readonly feed: RevocationFeed;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly keys: TokenKeys;
  readonly refreshKey: Buffer;
  readonly hashing: Semaphore;
  readonly perClient: Throttle;
  readonly perAddress: Throttle;
  /** Of no secret at all: compared with where there is no client, so that its absence takes as long as a mismatch. */
  readonly dummyHash: string;
}

/** Logins, tokens and their end. */
export class SessionService {
  // Keyed by a digest under a key that never leaves this process: no secret stays in memory.
  private readonly secretKey = Buffer.from(randomToken(32));
  private readonly checkedSecrets = new LRUCache<string, Login & { readonly version: string }>({ max: 5000, ttl: rememberedSecretMs });
  private readonly checkedTokens = new LRUCache<string, { readonly claims: AccessClaims; readonly version: string }>({ max: 10_000 });

  constructor(private readonly parts: SessionParts) {}

  /** Checks a client's secret. Everything cheap comes before the hashing, which four a second would be enough to exhaust. */
  async logIn(clientId: string, secret: string, address: string): Promise<Login> {
    const { perAddress, perClient, feed, metrics } = this.parts;
    const client = clientId.length <= 256 ? parseClientId(clientId) : undefined;
    this.slowDown('address', perAddress, address);
    if (!client || !looksLikeSecret(secret)) throw wrongSecret();
    const memoryKey = hmac(this.secretKey, `${clientId} ${secret}`).toString('base64');
    const version = feed.current();
    const remembered = this.checkedSecrets.get(memoryKey);
    if (remembered?.version === version) return remembered;
    this.slowDown('client', perClient, clientId);

    const credentials = await this.parts.credentials.load(client);
    const hashes = credentials ? liveHashes(credentials, this.parts.clock.nowMs()) : [];
    const matched = await this.firstMatch(secret, hashes);
    if (!credentials || !matched) {
      metrics.logins.inc({ outcome: 'refused' });
      if (credentials)
        await this.parts.audit.record({
          orgId: client.orgId,
          actor: clientId,
          action: 'login_refused',
          entityId: clientEntity(clientId),
          details: { address },
        });
      throw wrongSecret();
    }
    metrics.logins.inc({ outcome: 'accepted' });
    const login = { clientId, generation: credentials.generation };
    // The end of a grace moves no version, so a secret that only the grace keeps alive is looked at anew each time.
    if (matched === credentials.hash) this.checkedSecrets.set(memoryKey, { ...login, version });
    return login;
  }

  /** Opens a session: a new family with its first pair of tokens. */
  async issue({ clientId, generation }: Login): Promise<TokenPair> {
    const session = { clientId, generation, family: randomToken(16) };
    const refreshToken = `tgr_${randomToken(32)}`;
    await this.parts.sessions.open(refreshToken, session, this.parts.clock.nowMs());
    return this.pairOf(session, refreshToken, refreshTtlSecs);
  }

  /**
   * Exchanges a refresh token for its successor, once. Whoever lost the reply may ask again within 30 s and gets the
   * same successor; later, it is taken for stolen and the whole family ends.
   */
  async refresh(token: string, address: string, onlyClientId?: string): Promise<TokenPair> {
    const { sessions, revocations, clock, perAddress } = this.parts;
    this.slowDown('address', perAddress, address);
    const session = looksLikeRefresh(token) ? await sessions.load(token) : undefined;
    const nowMs = clock.nowMs();
    if (!session || session.expiresAtMs <= nowMs || (onlyClientId !== undefined && session.clientId !== onlyClientId)) throw wrongRefresh();
    if (await revocations.isRevoked(session)) throw wrongRefresh();

    // Derived, not stored: only hashes are kept, yet the same successor can be given again.
    const successor = `tgr_${hmac(this.parts.refreshKey, token).toString('base64url')}`;
    const outcome = session.usedAtMs === undefined ? await sessions.exchange(token, successor, session, nowMs) : { usedAtMs: session.usedAtMs };
    if (outcome === 'exchanged') return this.pairOf(session, successor, refreshTtlSecs);
    if (nowMs - outcome.usedAtMs > reuseGraceMs) {
      await this.endFamily(session, 'refresh_reused', session.clientId);
      throw wrongRefresh();
    }
    return this.pairOf(session, successor, refreshTtlSecs - Math.max(0, Math.floor((nowMs - outcome.usedAtMs) / 1000)));
  }

  /** Ends a token that the viewer may end. Unknown, expired and foreign ones are answered alike: there is nothing to tell. */
  async revoke(viewer: Viewer, token: string): Promise<void> {
    const { sessions, revocations, clock, audit, feed, metrics, keys } = this.parts;
    const nowMs = clock.nowMs();
    if (looksLikeRefresh(token)) {
      const session = await sessions.load(token);
      if (session && mayRevoke(viewer, session.clientId)) await this.endFamily(session, 'token_revoked', actorName(viewer));
      return;
    }
    const claims = await verifyAccess(keys, token, nowMs);
    if (!claims || !mayRevoke(viewer, claims.clientId)) return;
    const act = audit.draft({
      orgId: claims.orgId,
      actor: actorName(viewer),
      action: 'token_revoked',
      entityId: clientEntity(claims.clientId),
      details: { tokenId: claims.tokenId },
    });
    await revocations.revokeToken(claims, nowMs, act);
    metrics.revocations.inc({ by: 'token' });
    await feed.refresh();
  }

  /** The claims of an access token that is neither forged, expired nor revoked. Remembered only while nothing is revoked. */
  async verify(token: string): Promise<AccessClaims> {
    const { feed, clock, keys, revocations, metrics } = this.parts;
    const version = feed.current();
    const nowMs = clock.nowMs();
    const remembered = this.checkedTokens.get(token);
    if (remembered && remembered.version === version && remembered.claims.expiresAtMs > nowMs) {
      metrics.revocationChecks.inc({ from: 'memory' });
      return remembered.claims;
    }
    const claims = await verifyAccess(keys, token, nowMs);
    metrics.revocationChecks.inc({ from: 'store' });
    if (!claims || (await revocations.isRevoked(claims))) {
      this.checkedTokens.delete(token);
      throw new GatewayError(
        'UNAUTHENTICATED',
        'the access token is not valid: it may be malformed, expired or revoked; get a new one with issueToken or refreshToken',
      );
    }
    this.checkedTokens.set(token, { claims, version });
    return claims;
  }

  /** The version to remember things under that every gateway forgets when it changes. */
  version(): string {
    return this.parts.feed.current();
  }

  /** For the transaction of a change that all gateways must notice within 2 s. */
  draftVersionChange(orgId: string): Draft {
    return this.parts.revocations.draftVersionChange(orgId);
  }

  /** The same for the purge of an org's limiter. */
  draftPurge(orgId: string): Draft {
    return this.parts.revocations.draftPurge(orgId);
  }

  purges(): number {
    return this.parts.feed.purges;
  }

  /** Whose limiter was purged, here or elsewhere; undefined: it may have been anyone's. */
  whenPurged(tell: (orgId: string | undefined) => void): void {
    this.parts.feed.whenPurged(tell);
  }

  /** Brings this gateway up to date at once, after such a change of its own. */
  noticeVersionChange(): Promise<void> {
    return this.parts.feed.refresh();
  }

  private async firstMatch(secret: string, hashes: readonly string[]): Promise<string | undefined> {
    const { hashing, dummyHash } = this.parts;
    for (const hash of hashes.length > 0 ? hashes : [dummyHash]) {
      if ((await hashing.run(() => matchesSecret(secret, hash))) && hash !== dummyHash) return hash;
    }
    return undefined;
  }

  private async endFamily({ family, clientId }: Session, action: 'token_revoked' | 'refresh_reused', actor: string): Promise<void> {
    const { revocations, audit, clock, feed, metrics } = this.parts;
    const orgId = parseClientId(clientId)?.orgId as string;
    await revocations.revokeFamily(
      { family, clientId, orgId },
      clock.nowMs(),
      audit.draft({ orgId, actor, action, entityId: clientEntity(clientId), details: { family } }),
    );
    metrics.revocations.inc({ by: 'family' });
    await feed.refresh();
  }

  private async pairOf(
    { clientId, family, generation }: Pick<Session, 'clientId' | 'family' | 'generation'>,
    refreshToken: string,
    refreshExpiresInSecs: number,
  ): Promise<TokenPair> {
    const client = parseClientId(clientId);
    if (!client) throw new Error(`stored session of an impossible client ${clientId}`);
    const accessToken = await signAccess(this.parts.keys, { clientId, ...client, family, generation }, this.parts.clock.nowMs());
    return { accessToken, refreshToken, tokenType: 'Bearer', expiresInSecs: accessTtlSecs, refreshExpiresInSecs };
  }

  private slowDown(name: string, throttle: Throttle, key: string): void {
    const waitMs = throttle.take(key);
    if (waitMs === 0) return;
    this.parts.metrics.logins.inc({ outcome: 'throttled' });
    throw rateLimited('too many logins: wait and try again', waitMs, { name: `logins-per-${name}`, quota: throttle.burst, windowSecs: 60 });
  }
}

const looksLikeRefresh = (token: string): boolean => /^tgr_[A-Za-z0-9_-]{43}$/.test(token);

const wrongSecret = () => new GatewayError('UNAUTHENTICATED', 'client id or secret is wrong');
const wrongRefresh = () => new GatewayError('UNAUTHENTICATED', 'the refresh token is not valid: log in again with issueToken');

function mayRevoke(viewer: Viewer, clientId: string): boolean {
  if (viewer.kind === 'ANONYMOUS') return false;
  if (viewer.kind === 'PLATFORM_ADMIN') return true;
  if (viewer.kind === 'APP_CLIENT') return viewer.token.clientId === clientId;
  return parseClientId(clientId)?.orgId === viewer.orgId;
}
