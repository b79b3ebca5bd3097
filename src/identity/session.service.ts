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
import type { RefreshSession, SessionStore } from './session.store.js';
import type { Tenants } from './tenants.js';
import { accessTtlSecs, sessionTtlSecs, signAccess, type TokenKeys, verifyAccess } from './token.js';
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
  /** The keys that the successors of refresh tokens are derived under. */
  readonly refreshKeys: RootKeys;
  readonly refreshMint: TokenMint;
  /** Failed attempts by address. */
  readonly failures: Throttle;
}

/** Sessions: issues, refreshes and revokes tokens. */
export class SessionService {
  constructor(private readonly deps: SessionDeps) {}

  /** Opens a session: a new family with its first pair of tokens. It ends after 30 days, or earlier with its secret. */
  async issue(login: Login): Promise<TokenPair> {
    const { sessions, refreshMint, clock } = this.deps;
    const nowMs = clock.nowMs();
    const refreshToken = refreshMint.make();
    const { clientId, generation, secretRotation } = login;
    // In whole seconds, because it is stored as epoch seconds.
    const expiresAtMs = (epochSeconds(nowMs) + sessionTtlSecs) * 1000;
    const session: RefreshSession = { clientId, generation, secretRotation, family: randomToken(16), expiresAtMs };
    await sessions.open(refreshToken, session, nowMs);
    return this.pairOf(session, login, refreshToken);
  }

  /** Issues an access token without a refresh token. */
  issueAccess(login: Login): Promise<AccessToken> {
    return this.accessOf(login, randomToken(16));
  }

  /**
   * Exchanges a refresh token for its successor, once. A retry within 30 s, after a lost response, gets the same
   * successor. A later use counts as theft and ends the whole family.
   */
  async refresh(token: string, from: Origin, onlyClientId?: string): Promise<TokenPair> {
    const { sessions, refreshMint, refreshKeys, clock } = this.deps;
    const session = refreshMint.isGenuine(token) ? await sessions.load(token) : undefined;
    const isForeign = onlyClientId !== undefined && session?.clientId !== onlyClientId;
    const login = session && !isForeign ? await this.loginOf(session) : undefined;
    if (!session || !login) throw failedAttempt(this.deps.failures, from.address, invalidRefresh());

    const nowMs = clock.nowMs();
    const exchange = { atMs: nowMs, rootId: refreshKeys.first.rootId };
    const used =
      session.used ?? (await sessions.exchange(token, this.successorOf(token, refreshKeys.first), session, exchange));
    if (nowMs - used.atMs > reuseGraceMs) {
      await this.endFamily(session, 'refresh_reused', { name: session.clientId, ...from });
      throw invalidRefresh();
    }
    const root = refreshKeys.byId(used.rootId);
    if (!root) throw invalidRefresh();
    return this.pairOf(session, login, this.successorOf(token, root));
  }

  /**
   * Ends a token that the viewer may end. The response is the same for an unknown, an expired and another tenant's
   * token.
   */
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

  /** The login that opened a session; undefined if the session has ended with its family, its secret or its client. */
  private async loginOf(session: RefreshSession): Promise<Login | undefined> {
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
    // Only hashes are stored, so the successor is derived: a retry must get the same one.
    return this.deps.refreshMint.make(hmac(root.key, token).subarray(0, mintedBytes), root.rootId);
  }

  private async endFamily(
    { family, clientId }: RefreshSession,
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

  private async pairOf(
    { family, expiresAtMs }: RefreshSession,
    login: Login,
    refreshToken: string,
  ): Promise<TokenPair> {
    const endsAtMs = Math.min(expiresAtMs, login.endsAtMs ?? expiresAtMs);
    const refreshExpiresInSecs = secsBetween(this.deps.clock.nowMs(), endsAtMs);
    return { ...(await this.accessOf({ ...login, endsAtMs }, family)), refreshToken, refreshExpiresInSecs };
  }

  /** An access token ends no later than its session and the secret of the login. */
  private async accessOf({ clientId, role, generation, endsAtMs }: Login, family: string): Promise<AccessToken> {
    const { keys, clock } = this.deps;
    const nowMs = clock.nowMs();
    const ttlSecs = endsAtMs === undefined ? accessTtlSecs : Math.min(accessTtlSecs, secsBetween(nowMs, endsAtMs));
    const client = parseClientId(clientId) as ClientRef;
    const accessToken = await signAccess(keys, { clientId, ...client, role, family, generation, ttlSecs }, nowMs);
    return { accessToken, tokenType: 'Bearer', expiresInSecs: ttlSecs };
  }
}

/** In whole seconds, like stored times and the claims of a token. */
const secsBetween = (fromMs: number, toMs: number): number => Math.max(0, epochSeconds(toMs) - epochSeconds(fromMs));

const invalidRefresh = () =>
  new GatewayError('UNAUTHENTICATED', 'the refresh token is not valid: log in again with issueToken');
