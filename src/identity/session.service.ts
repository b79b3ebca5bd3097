import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { type Actor, clientEntity, type Origin } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { randomToken } from '../lib/id.js';
import type { Metrics } from '../lib/metrics.js';
import { hmac, mintedBytes, type RootKey, type RootKeys, type TokenMint } from '../lib/seal.js';
import type { Throttle } from '../lib/throttle.js';
import { type ClientRef, parseClientId } from './client-id.js';
import type { CredentialStore } from './credential.store.js';
import { failedAttempt } from './guess-limit.js';
import type { Login } from './login.service.js';
import type { RevocationStore } from './revocation.store.js';
import type { RevocationCache } from './revocation-cache.js';
import { liveSecrets } from './secret.js';
import type { Session, SessionStore } from './session.store.js';
import type { Tenants } from './tenants.js';
import { type AccessClaims, accessTtlSecs, sessionTtlSecs, signAccess, type TokenKeys, verifyAccess } from './token.js';
import { mayRevokeTokensOf, type Viewer } from './viewer.js';

const reuseGraceMs = 30_000;

export interface AccessToken {
  readonly accessToken: string;
  readonly tokenType: 'Bearer';
  readonly expiresInSecs: number;
}

export interface TokenPair extends AccessToken {
  readonly refreshToken: string;
  readonly refreshExpiresInSecs: number;
}

export interface SessionDeps {
  readonly credentials: CredentialStore;
  readonly sessions: SessionStore;
  readonly revocations: RevocationStore;
  readonly tenants: Tenants;
  readonly changes: ChangeService;
  readonly revocationCache: RevocationCache;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly keys: TokenKeys;
  /** Successors are derived under these. */
  readonly refreshKeys: RootKeys;
  readonly refreshMint: TokenMint;
  /** Failed attempts by address. */
  readonly failures: Throttle;
}

interface CheckedToken {
  readonly claims: AccessClaims;
  readonly version: string;
  /** Set while the tenant is suspended. */
  readonly refusal?: GatewayError;
}

/** Tokens and their end. */
export class SessionService {
  private readonly checkedTokens = new LRUCache<string, CheckedToken>({ max: 10_000 });
  /** Genuine tokens that were revoked: they never become valid again. */
  private readonly revokedTokens = new LRUCache<string, true>({ max: 10_000 });

  constructor(private readonly deps: SessionDeps) {}

  /** Opens a session: a new family with its first pair of tokens. It lives at most 30 days, and no longer than its secret. */
  async issue(login: Login): Promise<TokenPair> {
    const { sessions, refreshMint, clock } = this.deps;
    const nowMs = clock.nowMs();
    const refreshToken = refreshMint.make();
    const { clientId, generation, secretRotation } = login;
    // Whole seconds, as it is stored.
    const expiresAtMs = (epochSeconds(nowMs) + sessionTtlSecs) * 1000;
    const session: Session = { clientId, generation, secretRotation, family: randomToken(16), expiresAtMs };
    await sessions.open(refreshToken, session, nowMs);
    return this.pairOf(session, login, refreshToken);
  }

  /** An access token alone, with nothing to refresh it by. */
  issueAccess(login: Login): Promise<AccessToken> {
    return this.accessOf(login, randomToken(16));
  }

  /**
   * Exchanges a refresh token for its successor, once. Whoever lost the reply may ask again within 30 s and gets the
   * same successor; later, it is taken for stolen and the whole family ends.
   */
  async refresh(token: string, from: Origin, onlyClientId?: string): Promise<TokenPair> {
    const { sessions, refreshMint, refreshKeys, clock } = this.deps;
    const session = refreshMint.isGenuine(token) ? await sessions.load(token) : undefined;
    const isForeign = onlyClientId !== undefined && session?.clientId !== onlyClientId;
    const login = session && !isForeign ? await this.loginOf(session) : undefined;
    if (!session || !login) throw failedAttempt(this.deps.failures, from.address, wrongRefresh());

    const nowMs = clock.nowMs();
    const own = { atMs: nowMs, rootId: refreshKeys.first.rootId };
    const used =
      session.used ?? (await sessions.exchange(token, this.successorOf(token, refreshKeys.first), session, own));
    if (nowMs - used.atMs > reuseGraceMs) {
      await this.endFamily(session, 'refresh_reused', { name: session.clientId, ...from });
      throw wrongRefresh();
    }
    const root = refreshKeys.byId(used.rootId);
    if (!root) throw wrongRefresh();
    return this.pairOf(session, login, this.successorOf(token, root));
  }

  /** Ends a token that the viewer may end. Unknown, expired and foreign ones are answered alike: there is nothing to tell. */
  async revoke(viewer: Viewer, token: string, actor: Actor): Promise<void> {
    const { sessions, revocations, refreshMint, clock, audit, changes, metrics, keys } = this.deps;
    const nowMs = clock.nowMs();
    if (refreshMint.isGenuine(token)) {
      const session = await sessions.load(token);
      if (session && mayRevokeTokensOf(viewer, session.clientId)) await this.endFamily(session, 'token_revoked', actor);
      return;
    }
    const claims = await verifyAccess(keys, token, nowMs);
    if (!claims || !mayRevokeTokensOf(viewer, claims.clientId)) return;
    const { orgId, clientId, tokenId } = claims;
    const act = audit.draft({
      orgId,
      actor,
      action: 'token_revoked',
      entityId: clientEntity(clientId),
      details: { tokenId },
    });
    await revocations.revokeToken(claims, nowMs, act);
    this.deps.revocationCache.noteToken(tokenId);
    metrics.revocations.inc({ by: 'token' });
    await changes.refresh();
  }

  /** The claims of an access token that is neither forged, expired nor revoked, of a tenant that is not suspended. */
  async verify(token: string): Promise<AccessClaims> {
    const { changes, clock, metrics } = this.deps;
    const version = changes.version();
    const nowMs = clock.nowMs();
    const cached = this.checkedTokens.get(token);
    const isFresh = cached !== undefined && cached.version === version && cached.claims.expiresAtMs > nowMs;
    metrics.revocationChecks.inc({ from: isFresh || this.revokedTokens.has(token) ? 'memory' : 'store' });
    const checked = isFresh ? cached : await this.checkToken(token, version, nowMs);
    if (checked.refusal) throw checked.refusal;
    return checked.claims;
  }

  /** The same while the store does not answer, as far as this process knows. Throws `cause`, which kept it from checking, if the store answers. */
  async verifyUnchecked(token: string, cause: GatewayError): Promise<AccessClaims> {
    const { changes, clock, keys, tenants } = this.deps;
    if (!changes.isStoreAway) throw cause;
    const claims = await verifyAccess(keys, token, clock.nowMs());
    if (!claims || this.revokedTokens.has(token) || this.deps.revocationCache.has(claims)) throw wrongAccess();
    const refusal = tenants.lastRefusal(claims);
    if (refusal) throw refusal;
    return claims;
  }

  private async checkToken(token: string, version: string, nowMs: number): Promise<CheckedToken> {
    const { keys, revocations, tenants } = this.deps;
    if (this.revokedTokens.has(token)) throw wrongAccess();
    const claims = await verifyAccess(keys, token, nowMs);
    const isRevoked = claims && (await revocations.isRevoked(claims));
    if (isRevoked) this.revokedTokens.set(token, true);
    if (!claims || isRevoked) {
      this.checkedTokens.delete(token);
      throw wrongAccess();
    }
    const refusal = await tenants.refusal(claims);
    const checked = { claims, version, ...(refusal ? { refusal } : {}) };
    this.checkedTokens.set(token, checked);
    return checked;
  }

  /** The login that a session goes back to; undefined if the session has ended with its family, its secret or its client. */
  private async loginOf(session: Session): Promise<Login | undefined> {
    const { credentials, revocations, tenants, clock } = this.deps;
    const { clientId, secretRotation, generation, expiresAtMs } = session;
    const nowMs = clock.nowMs();
    if (expiresAtMs <= nowMs) return undefined;
    const client = parseClientId(clientId) as ClientRef;
    const [isRevoked, found] = await Promise.all([revocations.isRevoked(session), credentials.load(client)]);
    const secret = found && liveSecrets(found, nowMs).find(({ rotation }) => rotation === secretRotation);
    if (isRevoked || !secret) return undefined;
    const refusal = await tenants.refusal(client);
    if (refusal) throw refusal;
    return {
      clientId,
      role: found.role,
      generation,
      secretRotation,
      ...(secret.endsAtMs === undefined ? {} : { endsAtMs: secret.endsAtMs }),
    };
  }

  private successorOf(token: string, root: RootKey): string {
    // Derived, not stored: only hashes are kept, yet the same successor can be given again.
    return this.deps.refreshMint.make(hmac(root.key, token).subarray(0, mintedBytes), root.rootId);
  }

  private async endFamily(
    { family, clientId }: Session,
    action: 'token_revoked' | 'refresh_reused',
    actor: Actor,
  ): Promise<void> {
    const { revocations, audit, clock, changes, metrics } = this.deps;
    const { orgId } = parseClientId(clientId) as ClientRef;
    const act = audit.draft({ orgId, actor, action, entityId: clientEntity(clientId), details: { family } });
    await revocations.revokeFamily({ family, clientId, orgId }, clock.nowMs(), act);
    this.deps.revocationCache.noteFamily(family);
    metrics.revocations.inc({ by: 'family' });
    await changes.refresh();
  }

  private async pairOf({ family, expiresAtMs }: Session, login: Login, refreshToken: string): Promise<TokenPair> {
    const endsAtMs = Math.min(expiresAtMs, login.endsAtMs ?? expiresAtMs);
    const refreshExpiresInSecs = secsBetween(this.deps.clock.nowMs(), endsAtMs);
    return { ...(await this.accessOf({ ...login, endsAtMs }, family)), refreshToken, refreshExpiresInSecs };
  }

  /** No access token outlives the session and the secret that it comes from. */
  private async accessOf({ clientId, role, generation, endsAtMs }: Login, family: string): Promise<AccessToken> {
    const { keys, clock } = this.deps;
    const nowMs = clock.nowMs();
    const ttlSecs = endsAtMs === undefined ? accessTtlSecs : Math.min(accessTtlSecs, secsBetween(nowMs, endsAtMs));
    const client = parseClientId(clientId) as ClientRef;
    const accessToken = await signAccess(keys, { clientId, ...client, role, family, generation, ttlSecs }, nowMs);
    return { accessToken, tokenType: 'Bearer', expiresInSecs: ttlSecs };
  }
}

/** As stored and as a token says it: in whole seconds. */
const secsBetween = (fromMs: number, toMs: number): number => Math.max(0, epochSeconds(toMs) - epochSeconds(fromMs));

const wrongRefresh = () =>
  new GatewayError('UNAUTHENTICATED', 'the refresh token is not valid: log in again with issueToken');
const wrongAccess = () =>
  new GatewayError(
    'UNAUTHENTICATED',
    'the access token is not valid: it may be malformed, expired or revoked; get a new one with issueToken or refreshToken',
  );
