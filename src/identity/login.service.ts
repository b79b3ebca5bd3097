import { LRUCache } from 'lru-cache';
import type { AuditService } from '../audit/audit.service.js';
import { clientEntity, type Origin } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { Clock } from '../lib/clock.js';
import { GatewayError } from '../lib/errors.js';
import { randomToken } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { hmac } from '../lib/seal.js';
import type { Semaphore } from '../lib/semaphore.js';
import type { Throttle } from '../lib/throttle.js';
import { within } from '../lib/timers.js';
import { type ClientRef, parseClientId } from './client-id.js';
import type { CredentialStore } from './credential.store.js';
import { failedAttempt } from './guess-limit.js';
import { type ClientRole, liveSecrets, looksLikeSecret, matchesSecret, matchingSecret } from './secret.js';
import type { Tenants } from './tenants.js';

const cachedSecretMs = 60_000;
const hourMs = 3_600_000;
/** How long a login waits for its record. */
const noteMs = 200;

export interface PresentedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A secret, and the name that it is cached under. */
interface NamedSecret {
  readonly name: string;
  readonly secret: string;
}

/** A client whose secret has just been checked. */
export interface Login {
  readonly clientId: string;
  readonly role: ClientRole;
  /** The generation that its tokens belong to. */
  readonly generation: number;
  /** The rotation that made the secret: sessions end with their secret. */
  readonly secretRotation: number;
  /** When the grace of a previous secret ends; absent for the current one. */
  readonly endsAtMs?: number;
}

export interface LoginOrigin extends Origin {
  readonly via: 'graphql' | 'oauth';
}

export interface LoginDeps {
  readonly credentials: CredentialStore;
  readonly tenants: Tenants;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** bcrypt is slow on purpose; this bounds how much of it runs at once. */
  readonly hashing: Semaphore;
  /** Failed attempts by address. */
  readonly failures: Throttle;
  /** Records of refused logins by client: nobody fills the audit trail. */
  readonly refusedRecords: Throttle;
}

/** Checks client secrets. Only a secret that passes its fast check reaches bcrypt. */
export class LoginService {
  // Keyed by a digest under a key that never leaves this process: no secret stays in memory.
  private readonly cacheKey = Buffer.from(randomToken(32));
  private readonly checked = new LRUCache<string, Login & { readonly version: string }>({
    max: 5000,
    ttl: cachedSecretMs,
  });
  /** The bcrypt hash that a secret has matched. That never changes, so no revocation of others costs a second comparison. */
  private readonly matched = new LRUCache<string, string>({ max: 5000 });
  private readonly checking = new Map<string, Promise<Login | undefined>>();
  private readonly notedHours = new LRUCache<string, number>({ max: 10_000 });

  constructor(private readonly deps: LoginDeps) {}

  /** Logs a client in. The same work for an unknown client as for a wrong secret. */
  async logIn(presented: PresentedSecret, from: LoginOrigin): Promise<Login> {
    const { tenants, metrics } = this.deps;
    const client = parseClientId(presented.clientId);
    const login = client && (await this.check(client, presented, from));
    if (!login) {
      metrics.logins.inc({ outcome: 'refused' });
      throw failedAttempt(this.deps.failures, from.address, wrongSecret());
    }
    const refusal = await tenants.refusal(client);
    if (refusal) throw refusal;
    metrics.logins.inc({ outcome: 'accepted' });
    await this.noteLogin(client, login.clientId, from);
    return login;
  }

  /** Throws unless this is the client's current secret; one in its grace is not. */
  async requireCurrent(presented: PresentedSecret, from: LoginOrigin): Promise<void> {
    const client = parseClientId(presented.clientId);
    const login = client && (await this.check(client, presented, from));
    if (!login || login.endsAtMs !== undefined) {
      const error = new GatewayError(
        'UNAUTHENTICATED',
        'input.currentSecret: is not the current secret of the caller; nothing was changed',
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
    const name = hmac(this.cacheKey, `${clientId} ${clientSecret}`).toString('base64');
    const version = this.deps.changes.version();
    const cached = this.checked.get(name);
    // The end of a grace moves no version.
    if (cached?.version === version && (cached.endsAtMs ?? Number.POSITIVE_INFINITY) > this.deps.clock.nowMs())
      return cached;
    // A fleet that starts at once with one secret needs one comparison.
    const turn = `${version} ${name}`;
    const underWay = this.checking.get(turn);
    if (underWay) return underWay;
    const checking = this.compare(client, { name, secret: clientSecret }, from);
    this.checking.set(turn, checking);
    try {
      const login = await checking;
      if (login) this.checked.set(name, { ...login, version });
      return login;
    } finally {
      this.checking.delete(turn);
    }
  }

  private async compare(
    client: ClientRef,
    { name, secret }: NamedSecret,
    from: LoginOrigin,
  ): Promise<Login | undefined> {
    const { credentials, clock } = this.deps;
    const found = await credentials.load(client);
    const matched = matchingSecret(found ? liveSecrets(found, clock.nowMs()) : [], secret);
    if (!found || !matched) {
      if (found) this.recordRefusal(client, found.clientId, from);
      return undefined;
    }
    if (this.matched.get(name) !== matched.hash && !(await this.matchesHash(secret, matched.hash))) return undefined;
    this.matched.set(name, matched.hash);
    const { clientId, role, generation } = found;
    const end = matched.endsAtMs === undefined ? {} : { endsAtMs: matched.endsAtMs };
    return { clientId, role, generation, secretRotation: matched.rotation, ...end };
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

  /** One event per client and hour. A login does not fail because it could not be recorded. */
  private async noteLogin(client: ClientRef, clientId: string, { via, ...origin }: LoginOrigin): Promise<void> {
    const { credentials, audit, clock, log } = this.deps;
    const nowMs = clock.nowMs();
    const hour = Math.floor(nowMs / hourMs);
    if (this.notedHours.get(clientId) === hour) return;
    this.notedHours.set(clientId, hour);
    const actor = { name: clientId, ...origin };
    const draft = audit.draft({
      orgId: client.orgId,
      actor,
      action: 'login_succeeded',
      entityId: clientEntity(clientId),
      details: { via },
    });
    const noted = credentials.noteLogin(client, nowMs, hour * hourMs, draft).then(
      () => undefined,
      (error: unknown) => {
        this.notedHours.delete(clientId);
        log.warn({ err: error }, 'failed to record a login');
      },
    );
    await within(noteMs, noted, () => undefined);
  }
}

const wrongSecret = () => new GatewayError('UNAUTHENTICATED', 'client id or secret is wrong');
