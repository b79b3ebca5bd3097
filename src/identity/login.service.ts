import type { AuditService } from '../audit/audit.service.js';
import { clientEntity, type Origin } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { Clock } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { randomToken } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { Lru } from '../lib/lru.js';
import type { Metrics } from '../lib/metrics.js';
import { hmac } from '../lib/seal.js';
import type { Semaphore } from '../lib/semaphore.js';
import type { Throttle } from '../lib/throttle.js';
import { within } from '../lib/timers.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import { type ClientRef, parseClientId } from './client-id.js';
import type { CredentialStore } from './credential.store.js';
import { failedAttempt } from './guess-limit.js';
import { type ClientRole, liveSecrets, looksLikeSecret, matchesSecret, matchingSecret } from './secret.js';
import type { Tenants } from './tenants.js';

const cachedLoginMs = 60_000;
const maxCachedLogins = 5000;
const hourMs = 3_600_000;
/** A login waits no longer than this for its audit event to be written. */
const recordWaitMs = 200;

export interface PresentedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A secret, and the key that it is cached under. */
interface KeyedSecret {
  readonly cacheKey: string;
  readonly secret: string;
}

/** A client whose secret was verified. */
export interface Login {
  readonly clientId: string;
  readonly role: ClientRole;
  /** The generation that its tokens belong to. */
  readonly generation: number;
  /** The rotation that made the secret. Sessions end with their secret. */
  readonly secretRotation: number;
  /** When the grace of a previous secret ends; absent for the current one. */
  readonly endsAtMs?: number;
}

export interface LoginOrigin extends Origin {
  readonly via: 'graphql' | 'oauth' | 'console';
}

export interface LoginDeps {
  readonly credentials: CredentialStore;
  readonly tenants: Tenants;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Bounds concurrent bcrypt comparisons, because bcrypt is slow by design. */
  readonly hashing: Semaphore;
  /** Bounds failed attempts per address. */
  readonly failures: Throttle;
  /** Bounds the audit events of refused logins per client, so that nobody can flood the audit trail. */
  readonly refusedRecords: Throttle;
}

/** Checks client secrets. Only a secret that passes its fast check reaches bcrypt. */
export class LoginService {
  /** Cache keys are digests under this key, so that no secret stays in memory. */
  private readonly digestKey = Buffer.from(randomToken(32));
  private readonly logins: VersionedCache<Login>;
  /** The bcrypt hash that a secret has matched. A match is final, so a new version costs no second comparison. */
  private readonly matchedHashes = new Lru<string, string>(maxCachedLogins);
  private readonly pendingChecks = new Map<string, Promise<Login | undefined>>();
  /** The hour of the last recorded login of each client. */
  private readonly recordedHours = new Lru<string, number>(10_000);

  constructor(private readonly deps: LoginDeps) {
    this.logins = new VersionedCache(() => deps.changes.version(), maxCachedLogins, cachedLoginMs);
  }

  /** Logs a client in. An unknown client takes as long as a wrong secret. */
  async logIn(presented: PresentedSecret, from: LoginOrigin): Promise<Login> {
    const { tenants, metrics } = this.deps;
    const client = parseClientId(presented.clientId);
    const login = client && (await this.check(client, presented, from));
    if (!login) {
      metrics.logins.inc({ outcome: 'refused' });
      throw failedAttempt(this.deps.failures, from.address, invalidLogin());
    }
    const refusal = await tenants.refusal(client);
    if (refusal) throw refusal;
    metrics.logins.inc({ outcome: 'accepted' });
    await this.recordLogin(client, login.clientId, from);
    return login;
  }

  /** Throws unless this is the client's current secret. A previous secret in its grace is not accepted. */
  async requireCurrent(presented: PresentedSecret, from: LoginOrigin): Promise<void> {
    const client = parseClientId(presented.clientId);
    const login = client && (await this.check(client, presented, from));
    if (!login || login.endsAtMs !== undefined) {
      const error = new GatewayError(
        'UNAUTHENTICATED',
        'input.currentSecret: must be the current secret of the caller; nothing was changed',
      );
      throw failedAttempt(this.deps.failures, from.address, error);
    }
  }

  private async check(
    client: ClientRef,
    { clientId, clientSecret }: PresentedSecret,
    from: LoginOrigin,
  ): Promise<Login | undefined> {
    if (!looksLikeSecret(clientSecret)) return undefined;
    const cacheKey = hmac(this.digestKey, `${clientId} ${clientSecret}`).toString('base64');
    const cached = this.logins.get(cacheKey);
    // The end of a grace does not change the version.
    if (cached && (cached.endsAtMs ?? Number.POSITIVE_INFINITY) > this.deps.clock.nowMs()) return cached;
    // A fleet that starts at once with one secret needs only one comparison.
    const checkKey = `${this.deps.changes.version()} ${cacheKey}`;
    const pending = this.pendingChecks.get(checkKey);
    if (pending) return pending;
    const check = this.logins.reload(cacheKey, () => this.compare(client, { cacheKey, secret: clientSecret }, from));
    this.pendingChecks.set(checkKey, check);
    try {
      return await check;
    } finally {
      this.pendingChecks.delete(checkKey);
    }
  }

  private async compare(
    client: ClientRef,
    { cacheKey, secret }: KeyedSecret,
    from: LoginOrigin,
  ): Promise<Login | undefined> {
    const { credentials, clock } = this.deps;
    const found = await credentials.load(client);
    const matched = matchingSecret(found ? liveSecrets(found, clock.nowMs()) : [], secret);
    if (!found || !matched) {
      if (found) this.recordRefusal(client, found.clientId, from);
      return undefined;
    }
    const isMatched =
      this.matchedHashes.get(cacheKey) === matched.hash || (await this.matchesHash(secret, matched.hash));
    if (!isMatched) return undefined;
    this.matchedHashes.set(cacheKey, matched.hash);
    const { clientId, role, generation } = found;
    const { rotation: secretRotation, endsAtMs } = matched;
    return { clientId, role, generation, secretRotation, ...(endsAtMs === undefined ? {} : { endsAtMs }) };
  }

  private matchesHash(secret: string, hash: string): Promise<boolean> {
    const { hashing, metrics } = this.deps;
    return hashing.run(() => {
      metrics.secretHashes.inc({ kind: 'compare' });
      return matchesSecret(secret, hash);
    });
  }

  private recordRefusal({ orgId }: ClientRef, clientId: string, { via, ...origin }: LoginOrigin): void {
    if (this.deps.refusedRecords.take(clientId) > 0) return;
    const actor = { name: clientId, ...origin };
    this.deps.audit.recordLater({
      orgId,
      actor,
      action: 'login_refused',
      entityId: clientEntity(clientId),
      details: { via },
    });
  }

  /** Records one event per client and hour. A login succeeds even if its event cannot be written. */
  private async recordLogin(client: ClientRef, clientId: string, { via, ...origin }: LoginOrigin): Promise<void> {
    const { credentials, audit, clock, log } = this.deps;
    const nowMs = clock.nowMs();
    const hour = Math.floor(nowMs / hourMs);
    if (this.recordedHours.get(clientId) === hour) return;
    this.recordedHours.set(clientId, hour);
    const actor = { name: clientId, ...origin };
    const event = audit.draft({
      orgId: client.orgId,
      actor,
      action: 'login_succeeded',
      entityId: clientEntity(clientId),
      details: { via },
    });
    const recorded = credentials.recordLogin(client, nowMs, hour * hourMs, event).then(
      () => undefined,
      (error: unknown) => {
        this.recordedHours.delete(clientId);
        log.warn({ err: error }, 'failed to record login');
      },
    );
    await within(recordWaitMs, recorded, () => undefined);
  }
}

const invalidLogin = () => new GatewayError('UNAUTHENTICATED', 'the client id or the client secret is not valid');
