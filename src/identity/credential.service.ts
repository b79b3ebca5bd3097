import type { AuditService } from '../audit/audit.service.js';
import { clientEntity } from '../audit/audit-event.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Draft } from '../lib/draft.js';
import { badInput, notFound, unavailable } from '../lib/errors.js';
import { newUuid, randomToken } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import type { Metrics } from '../lib/metrics.js';
import type { Semaphore } from '../lib/semaphore.js';
import { type ClientRef, clientIdOf } from './client-id.js';
import type { CredentialStore, Retrieval } from './credential.store.js';
import type { RevocationFeed } from './revocation.feed.js';
import type { RevocationStore } from './revocation.store.js';
import { type Credentials, hashSecret, newSecret } from './secret.js';

const retrievalMinutes = 10;
const longestGraceHours = 168;

export interface SecretRetrieval {
  readonly token: string;
  readonly expiresAt: Date;
}

export interface CredentialParts {
  readonly store: CredentialStore;
  readonly revocations: RevocationStore;
  readonly feed: RevocationFeed;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Hashing is slow on purpose; this bounds how much of it runs at once. */
  readonly hashing: Semaphore;
  readonly bcryptCost: number;
}

/** Client secrets: made when they are retrieved, shown once, replaced with a grace. */
export class CredentialService {
  private readonly redeeming = new Map<string, Promise<unknown>>();

  constructor(private readonly parts: CredentialParts) {}

  /** The first retrieval token of a new client, as a write for the transaction that registers it. */
  firstRetrieval(client: ClientRef): { readonly retrieval: SecretRetrieval; readonly draft: Draft } {
    return this.newRetrieval(client, 1, 0);
  }

  /** Hands out a token for a new secret. Until it is redeemed, the old secret stays as it is. */
  async rotate(
    client: ClientRef,
    graceHours: number,
    actor: string,
  ): Promise<{ readonly credentials: Credentials; readonly secretRetrieval: SecretRetrieval }> {
    if (!isWholeWithin(graceHours, 0, longestGraceHours)) throw badInput({ path: 'input.graceHours', message: `must be from 0 to ${longestGraceHours}` });
    const { store, audit } = this.parts;
    const clientId = clientIdOf(client);
    for (let attempt = 0; attempt < 10; attempt++) {
      const seen = await store.load(client);
      if (!seen) throw notFound(client.appId === undefined ? 'org' : 'app');
      const { retrieval, draft } = this.newRetrieval(client, seen.rotation + 1, graceHours);
      const act = audit.draft({ orgId: client.orgId, actor, action: 'credentials_rotated', entityId: clientEntity(clientId), details: { graceHours } });
      if (await store.rotate(client, seen, [draft, act])) return { credentials: seen, secretRetrieval: retrieval };
    }
    throw unavailable('these credentials are being rotated by many at once: try again');
  }

  /** Makes the secret, installs its hash and shows it: once a token. Spent, expired, voided and unknown look the same. */
  async retrieve(token: string): Promise<{ readonly clientId: string; readonly clientSecret: string }> {
    // Those who present one token at once wait for the first: only one can win, and hashing for the others is wasted.
    while (this.redeeming.has(token)) await this.redeeming.get(token)?.catch(() => undefined);
    const redeemed = this.redeem(token);
    this.redeeming.set(token, redeemed);
    try {
      const secret = await redeemed;
      this.parts.metrics.retrievals.inc({ outcome: secret ? 'redeemed' : 'refused' });
      if (!secret) throw notFound('retrieval token');
      return secret;
    } finally {
      this.redeeming.delete(token);
    }
  }

  private async redeem(token: string): Promise<{ clientId: string; clientSecret: string } | undefined> {
    const { store, revocations, feed, audit, clock, hashing, bcryptCost } = this.parts;
    const retrieval = /^tgt_[A-Za-z0-9_-]{43}$/.test(token) ? await store.loadRetrieval(token) : undefined;
    const nowMs = clock.nowMs();
    if (!retrieval || retrieval.used || retrieval.expiresAt.getTime() <= nowMs) return undefined;
    const { client, rotation, graceHours } = retrieval;
    const seen = await store.load(client);
    if (!seen || seen.rotation !== rotation) return undefined;

    const clientSecret = newSecret();
    const hash = await hashing.run(() => hashSecret(clientSecret, bcryptCost));
    const clientId = clientIdOf(client);
    // Without a grace, everything obtained with the old secret ends with it.
    const endsTokens = graceHours === 0 && seen.hash !== undefined;
    const generation = endsTokens ? seen.generation + 1 : seen.generation;
    const graceExpiresAt = graceHours > 0 ? { graceExpiresAt: new Date(nowMs + graceHours * 3_600_000) } : {};
    const drafts = [
      audit.draft({ orgId: client.orgId, actor: clientId, action: 'secret_retrieved', entityId: clientEntity(clientId), details: { graceHours } }),
      revocations.draftVersionChange(client.orgId),
      ...(endsTokens ? [revocations.draftClientRevocation(clientId, generation, nowMs)] : []),
    ];
    const installed = await store.install(token, seen, retrieval, { hash, createdAt: new Date(nowMs), generation, ...graceExpiresAt }, newUuid(), drafts);
    if (!installed) return undefined;
    if (endsTokens) this.parts.metrics.revocations.inc({ by: 'client' });
    await feed.refresh();
    return { clientId, clientSecret };
  }

  private newRetrieval(client: ClientRef, rotation: number, graceHours: number): { retrieval: SecretRetrieval; draft: Draft } {
    const nowMs = this.parts.clock.nowMs();
    const token = `tgt_${randomToken(32)}`;
    // Whole seconds, as it is stored: it works up to the moment it was said to.
    const expiresAt = new Date(epochSeconds(nowMs + retrievalMinutes * 60_000) * 1000);
    const retrieval: Retrieval = { client, rotation, graceHours, expiresAt, used: false };
    return { retrieval: { token, expiresAt }, draft: this.parts.store.draftRetrieval(token, retrieval, nowMs) };
  }
}
