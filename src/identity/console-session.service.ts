import type { AuditService } from '../audit/audit.service.js';
import type { AuditAction, Origin } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { GatewayError, unavailable } from '../lib/errors.js';
import { randomToken, sha256 } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import type { TokenMint } from '../lib/seal.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import { type AdminKey, adminKeyId } from './admin-key.js';
import { type ClientRef, parseClientId } from './client-id.js';
import {
  type AdminRef,
  activityStepMs,
  auditedObject,
  type ConsoleSession,
  endsAtMs,
  isOpen,
  makerOf,
  maxSessionMs,
  roomFor,
  type SessionClient,
  sessionViewer,
  tenantOf,
} from './console-session.js';
import type { ConsoleSessionStore } from './console-session.store.js';
import type { CredentialStore } from './credential.store.js';
import type { Login } from './login.service.js';
import type { RevocationStore } from './revocation.store.js';
import { type ClientRole, liveSecrets } from './secret.js';
import type { Tenants } from './tenants.js';
import { actorName, type Viewer } from './viewer.js';

const maxCachedSessions = 10_000;
const maxAttempts = 5;

export interface ConsoleSessionDeps {
  readonly store: ConsoleSessionStore;
  readonly credentials: CredentialStore;
  readonly revocations: RevocationStore;
  readonly tenants: Tenants;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly mint: TokenMint;
  readonly adminKeys: readonly AdminKey[];
}

/** A session that was verified. */
export interface VerifiedSession {
  readonly viewer: Viewer;
  readonly role: ClientRole;
  readonly expiresAtMs: number;
  /** When it ends without further activity. */
  readonly idleExpiresAtMs: number;
}

export interface StartedSession extends VerifiedSession {
  /** The value of the cookie. Shown only here. */
  readonly token: string;
}

/** A session to start. */
export type SessionDraft = Pick<ConsoleSession, 'client' | 'admin' | 'role'> & {
  readonly via: 'secret' | 'link';
  /** When the grace of the secret ends. */
  readonly endsAtMs?: number;
  /** Uses the link up, in the same transaction. */
  readonly link?: TransactItem;
};

interface CheckedSession {
  readonly session: ConsoleSession;
  readonly role: ClientRole;
  readonly expiresAtMs: number;
  /** The last activity that this process knows of. */
  activeAtMs: number;
  /** Set while the tenant is suspended. */
  readonly refusal?: GatewayError;
}

/**
 * Sessions of the web console: opaque tokens in a cookie. A session that was checked costs no read until something is
 * changed or revoked anywhere, or until it seems to be idle: another gateway may have seen its last activity.
 */
export class ConsoleSessionService {
  /** By the hash of the token, so that no token stays in memory. */
  private readonly checkedSessions: VersionedCache<CheckedSession>;
  private readonly adminKeyIds: ReadonlyMap<string, string>;

  constructor(private readonly deps: ConsoleSessionDeps) {
    this.checkedSessions = new VersionedCache(() => deps.changes.version(), maxCachedSessions);
    this.adminKeyIds = new Map(deps.adminKeys.map(({ name, key }) => [name, adminKeyId(key)]));
  }

  /** The reference to the admin key with this name; undefined if this gateway has none. */
  adminRef(name: string): AdminRef | undefined {
    const keyId = this.adminKeyIds.get(name);
    return keyId === undefined ? undefined : { name, keyId };
  }

  /** True if this gateway has the admin key. A key that was replaced under the same name is another one. */
  isAdminKey({ name, keyId }: AdminRef): boolean {
    return this.adminKeyIds.get(name) === keyId;
  }

  /** Starts a session of a client that has proved its secret. */
  async startForLogin({ clientId, role, generation, secretRotation, endsAtMs }: Login, from: Origin) {
    const grace = endsAtMs === undefined ? {} : { endsAtMs };
    const started = await this.start(
      { client: { clientId, generation, secretRotation }, role, via: 'secret', ...grace },
      from,
    );
    // Only a link can be refused.
    if (!started) throw new Error('a session without a link was refused');
    return started;
  }

  /** Starts a session. If the maker has too many, the oldest ends. Undefined if the link was used up meanwhile. */
  async start(draft: SessionDraft, from: Origin): Promise<StartedSession | undefined> {
    const { store, mint, clock, metrics } = this.deps;
    const nowMs = clock.nowMs();
    const session = newSession(draft, nowMs);
    const viewer = sessionViewer(session, session);
    const token = mint.make();
    const hash = sha256(token);
    const maker = makerOf(session);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const open = await store.listOpen(maker);
      const room = roomFor(open.expiries, nowMs);
      const ended = room.evicted.length;
      const act = this.draftAct('console_session_started', session, from, { via: draft.via, role: draft.role });
      const riders = [...(draft.link ? [draft.link] : []), act, ...(ended > 0 ? [this.draftChange(session)] : [])];
      const outcome = await store.start({ hash, session, open, room, riders });
      if (outcome === 'rider' && draft.link) return undefined;
      if (outcome !== 'started') continue;
      metrics.consoleSessions.inc({ event: `started_${draft.via}` });
      if (ended > 0) await this.noteEnd('replaced', ended);
      const { role, expiresAtMs } = session;
      return { token, viewer, role, expiresAtMs, idleExpiresAtMs: endsAtMs(session) };
    }
    throw unavailable('several sessions of this credential are being started at the same time; retry');
  }

  /**
   * The session of a token, if it has not ended and neither has the credential that made it. `isActive`: a person has
   * caused this request, so that the idle time begins again.
   */
  async verify(token: string, isActive: boolean): Promise<VerifiedSession> {
    const { mint, clock } = this.deps;
    if (!mint.isGenuine(token)) throw invalidSession();
    const hash = sha256(token);
    const nowMs = clock.nowMs();
    const cached = this.checkedSessions.get(hash);
    const checked =
      cached && isOpen(cached, nowMs) ? cached : await this.checkedSessions.reload(hash, () => this.check(hash, nowMs));
    if (checked.refusal) throw checked.refusal;
    if (isActive) await this.noteActivity(hash, checked, nowMs);
    const { session, role, expiresAtMs } = checked;
    return { viewer: sessionViewer(session, checked), role, expiresAtMs, idleExpiresAtMs: endsAtMs(checked) };
  }

  /** Ends a session on all gateways within 2 s. Idempotent. */
  async end(token: string, from: Origin): Promise<void> {
    const { store, mint } = this.deps;
    if (!mint.isGenuine(token)) return;
    const hash = sha256(token);
    const session = await store.load(hash);
    if (!session) return;
    const riders = [this.draftAct('console_session_ended', session, from), this.draftChange(session)];
    await store.end(hash, session, riders);
    this.checkedSessions.delete(hash);
    await this.noteEnd('signed_out');
  }

  private async check(hash: string, nowMs: number): Promise<CheckedSession> {
    const session = await this.deps.store.load(hash);
    const isRefused = !session || !isOpen(session, nowMs) || (session.admin && !this.isAdminKey(session.admin));
    const client = !isRefused && session.client ? await this.checkClient(session, session.client, nowMs) : undefined;
    if (isRefused || (session.client && !client)) {
      this.checkedSessions.delete(hash);
      throw invalidSession();
    }
    const { role, activeAtMs, expiresAtMs } = session;
    if (!client) return { session, role, activeAtMs, expiresAtMs };
    return {
      session,
      role: client.role === 'READ' ? 'READ' : role,
      activeAtMs,
      expiresAtMs: Math.min(expiresAtMs, client.endsAtMs ?? expiresAtMs),
      ...(client.refusal ? { refusal: client.refusal } : {}),
    };
  }

  /** The state of a session's client; undefined if its tokens were revoked, or its secret or itself has ended. */
  private async checkClient(
    { sessionId }: ConsoleSession,
    { clientId, generation, secretRotation }: SessionClient,
    nowMs: number,
  ): Promise<{ role: ClientRole; endsAtMs?: number; refusal?: GatewayError } | undefined> {
    const { credentials, revocations, tenants } = this.deps;
    const ref = parseClientId(clientId) as ClientRef;
    const [isRevoked, found] = await Promise.all([
      revocations.isRevoked({ family: sessionId, clientId, generation }),
      credentials.load(ref),
    ]);
    if (isRevoked || !found) return undefined;
    const secret = liveSecrets(found, nowMs).find(({ rotation }) => rotation === secretRotation);
    if (secretRotation !== undefined && !secret) return undefined;
    const refusal = await tenants.refusal(ref);
    return {
      role: found.role,
      ...(secret?.endsAtMs === undefined ? {} : { endsAtMs: secret.endsAtMs }),
      ...(refusal ? { refusal } : {}),
    };
  }

  /** Begins the idle time again. A request succeeds even if its activity cannot be recorded. */
  private async noteActivity(hash: string, checked: CheckedSession, nowMs: number): Promise<void> {
    const before = checked.activeAtMs;
    if (nowMs - before < activityStepMs) return;
    checked.activeAtMs = nowMs;
    await this.deps.store.touch(hash, nowMs).catch((error: unknown) => {
      checked.activeAtMs = before;
      this.deps.log.warn({ err: error }, 'failed to record the activity of a console session');
    });
  }

  private draftAct(
    action: AuditAction,
    session: ConsoleSession,
    from: Origin,
    details: Readonly<Record<string, string>> = {},
  ): TransactItem {
    const { sessionId } = session;
    const actor = { name: actorName(sessionViewer(session, session)), ...from };
    return this.deps.audit.draft({
      orgId: tenantOf(session),
      actor,
      action,
      entityId: auditedObject(session),
      details: { sessionId, ...details },
    });
  }

  private draftChange(session: ConsoleSession): TransactItem {
    return this.deps.changes.draftChange(tenantOf(session));
  }

  private noteEnd(event: 'signed_out' | 'replaced', count = 1): Promise<void> {
    this.deps.metrics.consoleSessions.inc({ event }, count);
    return this.deps.changes.refresh();
  }
}

/** In whole seconds, because the expiry is stored as epoch seconds. */
function newSession({ client, admin, role, endsAtMs }: SessionDraft, nowMs: number): ConsoleSession {
  const expiresAtMs = Math.min(nowMs + maxSessionMs, endsAtMs ?? Number.POSITIVE_INFINITY);
  return {
    sessionId: randomToken(16),
    role,
    ...(client ? { client } : {}),
    ...(admin ? { admin } : {}),
    activeAtMs: nowMs,
    expiresAtMs: epochSeconds(expiresAtMs) * 1000,
  };
}

const invalidSession = () => new GatewayError('UNAUTHENTICATED', 'the session has ended: sign in again');
