import type { AuditService } from '../audit/audit.service.js';
import type { Origin } from '../audit/audit-event.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { uuidPattern } from '../lib/patterns.js';
import type { TokenMint } from '../lib/seal.js';
import type { Throttle } from '../lib/throttle.js';
import { clientIdOf } from './client-id.js';
import type { ConsoleLinkStore } from './console-link.store.js';
import {
  auditedObject,
  type ConsoleLink,
  linkMs,
  type SessionClient,
  type SessionOwner,
  sessionViewer,
  tenantOf,
} from './console-session.js';
import type { ConsoleSessionService, StartedSession } from './console-session.service.js';
import type { CredentialStore } from './credential.store.js';
import { failedAttempt } from './guess-limit.js';
import type { ClientRole } from './secret.js';
import type { Tenants } from './tenants.js';
import { adminActor, type Viewer } from './viewer.js';

export interface ConsoleLinkDeps {
  readonly links: ConsoleLinkStore;
  readonly sessions: ConsoleSessionService;
  readonly credentials: CredentialStore;
  readonly tenants: Tenants;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly mint: TokenMint;
  /** Bounds failed attempts per address. */
  readonly failures: Throttle;
}

export interface NewLink {
  /** The org that the session acts for. Absent: the platform. */
  readonly orgId?: string;
  readonly role: ClientRole;
}

/** The session that a link would open. */
export interface LinkPreview {
  readonly viewer: Viewer;
  readonly role: ClientRole;
  readonly expiresAtMs: number;
}

/** A link that works now, and the client that its session acts for. */
interface UsableLink {
  readonly link: ConsoleLink;
  readonly client?: SessionClient;
}

/** One-time links into the web console, made by the platform admin. */
export class ConsoleLinkService {
  constructor(private readonly deps: ConsoleLinkDeps) {}

  /** Makes a link for the platform, or for an org. Its session ends with the admin key of this name. */
  async create(
    adminName: string,
    { orgId, role }: NewLink,
    from: Origin,
  ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const { links, sessions, audit, clock, mint } = this.deps;
    const admin = sessions.adminRef(adminName);
    if (!admin) throw new Error(`no admin key has the name ${adminName}`);
    if (orgId !== undefined && !uuidPattern.test(orgId)) throw badInput({ path: 'orgId', message: 'must be a UUID' });
    const client = orgId === undefined ? undefined : await this.clientOf(orgId);
    if (orgId !== undefined && !client) throw notFound('org');
    const token = mint.make();
    // In whole seconds, because it is stored so: the link works until the time that the caller was given.
    const expiresAtMs = epochSeconds(clock.nowMs() + linkMs) * 1000;
    const link = { admin, ...(orgId === undefined ? {} : { orgId }), role, expiresAtMs, used: false };
    const owner: SessionOwner = { admin, ...(client ? { client } : {}) };
    const act = audit.draft({
      orgId: tenantOf(owner),
      actor: { name: adminActor(adminName), ...from },
      action: 'console_link_created',
      entityId: auditedObject(owner),
      details: { role },
    });
    await links.create(token, link, [act]);
    return { token, expiresAt: new Date(expiresAtMs) };
  }

  /** The session that the link would open. The link can still be used. */
  async preview(token: string, from: Origin): Promise<LinkPreview> {
    const { link, client } = await this.usable(token, from);
    const { admin, role, expiresAtMs } = link;
    const session = { sessionId: 'none', role, admin, ...(client ? { client } : {}), activeAtMs: 0, expiresAtMs };
    return { viewer: sessionViewer(session, session), role, expiresAtMs };
  }

  /** Opens the session of a link, once. The error is the same for a used, expired and unknown link. */
  async open(token: string, from: Origin): Promise<StartedSession> {
    const { links, sessions, clock, failures } = this.deps;
    const { link, client } = await this.usable(token, from);
    const { admin, role } = link;
    const use = links.draftUse(token, clock.nowMs());
    const draft = { admin, role, via: 'link', link: use, ...(client ? { client } : {}) } as const;
    const started = await sessions.start(draft, from);
    if (!started) throw failedAttempt(failures, from.address, invalidLink());
    return started;
  }

  private async usable(token: string, from: Origin): Promise<UsableLink> {
    const { links, sessions, tenants, clock, mint, failures } = this.deps;
    const link = mint.isGenuine(token) ? await links.load(token) : undefined;
    const works = link && !link.used && link.expiresAtMs > clock.nowMs() && sessions.isAdminKey(link.admin);
    if (!works) throw failedAttempt(failures, from.address, invalidLink());
    const { orgId } = link;
    if (orgId === undefined) return { link };
    const client = await this.clientOf(orgId);
    const refusal = await tenants.refusal({ orgId });
    if (refusal || !client) throw refusal ?? invalidLink();
    return { link, client };
  }

  /** The first client of an org; undefined if the org does not exist. */
  private async clientOf(orgId: string): Promise<SessionClient | undefined> {
    const found = await this.deps.credentials.load({ orgId });
    return found && { clientId: clientIdOf({ orgId }), generation: found.generation };
  }
}

const invalidLink = () =>
  new GatewayError(
    'UNAUTHENTICATED',
    'the link is not valid: it was used, has expired or is unknown; make a new one with `tollgate console`',
  );
