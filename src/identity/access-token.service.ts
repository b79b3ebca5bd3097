import type { ChangeService } from '../changes/change.service.js';
import type { Clock } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { Lru } from '../lib/lru.js';
import type { Metrics } from '../lib/metrics.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import type { RevocationStore } from './revocation.store.js';
import type { RevocationCache } from './revocation-cache.js';
import type { Tenants } from './tenants.js';
import { type AccessClaims, type TokenKeys, verifyAccess } from './token.js';

const maxCachedTokens = 10_000;

export interface AccessTokenDeps {
  readonly revocations: RevocationStore;
  readonly revocationCache: RevocationCache;
  readonly tenants: Tenants;
  readonly changes: ChangeService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly keys: TokenKeys;
}

interface CheckedToken {
  readonly claims: AccessClaims;
  /** Set while the tenant is suspended. */
  readonly refusal?: GatewayError;
}

/** Verifies access tokens. A token that was checked costs no read until something is changed or revoked anywhere. */
export class AccessTokenService {
  private readonly checkedTokens: VersionedCache<CheckedToken>;
  /** Genuine tokens that were revoked. They never become valid again. */
  private readonly revokedTokens = new Lru<string, true>(maxCachedTokens);

  constructor(private readonly deps: AccessTokenDeps) {
    this.checkedTokens = new VersionedCache(() => deps.changes.version(), maxCachedTokens);
  }

  /** The claims of an access token that is neither forged, expired nor revoked, of a tenant that is not suspended. */
  async verify(token: string): Promise<AccessClaims> {
    const { clock, metrics } = this.deps;
    const nowMs = clock.nowMs();
    const cached = this.checkedTokens.get(token);
    const isFresh = cached !== undefined && cached.claims.expiresAtMs > nowMs;
    metrics.revocationChecks.inc({ from: isFresh || this.revokedTokens.has(token) ? 'memory' : 'store' });
    const checked = isFresh ? cached : await this.checkedTokens.reload(token, () => this.check(token, nowMs));
    if (checked.refusal) throw checked.refusal;
    return checked.claims;
  }

  /**
   * Verifies a token during an outage of DynamoDB by its signature, its expiry and the revocations in the caches of
   * this process. `cause` is the error that prevented the full check; it is thrown if there is no outage.
   */
  async verifyUnchecked(token: string, cause: GatewayError): Promise<AccessClaims> {
    const { changes, clock, keys, tenants, revocationCache } = this.deps;
    if (!changes.isStoreAway) throw cause;
    const claims = await verifyAccess(keys, token, clock.nowMs());
    if (!claims || this.revokedTokens.has(token) || revocationCache.has(claims)) throw invalidToken();
    const refusal = tenants.lastRefusal(claims);
    if (refusal) throw refusal;
    return claims;
  }

  private async check(token: string, nowMs: number): Promise<CheckedToken> {
    const { keys, revocations, tenants } = this.deps;
    if (this.revokedTokens.has(token)) throw invalidToken();
    const claims = await verifyAccess(keys, token, nowMs);
    const isRevoked = claims && (await revocations.isRevoked(claims));
    if (isRevoked) this.revokedTokens.set(token, true);
    if (!claims || isRevoked) {
      this.checkedTokens.delete(token);
      throw invalidToken();
    }
    const refusal = await tenants.refusal(claims);
    return { claims, ...(refusal ? { refusal } : {}) };
  }
}

const invalidToken = () =>
  new GatewayError(
    'UNAUTHENTICATED',
    'the access token is not valid: it may be malformed, expired or revoked; ' +
      'get a new one with issueToken or refreshToken',
  );
