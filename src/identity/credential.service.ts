import type { AuditService } from '../audit/audit.service.js';
import { type Actor, clientEntity, type Origin } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { badInput, notFound, unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { isWholeWithin } from '../lib/int.js';
import type { Metrics } from '../lib/metrics.js';
import type { TokenMint } from '../lib/seal.js';
import type { Semaphore } from '../lib/semaphore.js';
import type { Throttle } from '../lib/throttle.js';
import { type ClientRef, clientIdOf } from './client-id.js';
import type { CredentialStore, Retrieval } from './credential.store.js';
import { failedAttempt } from './guess-limit.js';
import type { RevocationStore } from './revocation.store.js';
import type { RevocationCache } from './revocation-cache.js';
import { type Credentials, hashSecret, newSecret, secretCheck } from './secret.js';

const retrievalMinutes = 10;
const maxGraceHours = 168;
const maxAttempts = 10;

export interface SecretRetrieval {
  readonly token: string;
  readonly expiresAt: Date;
}

export interface CredentialDeps {
  readonly store: CredentialStore;
  readonly revocations: RevocationStore;
  readonly changes: ChangeService;
  readonly revocationCache: RevocationCache;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Bounds concurrent bcrypt hashes, because bcrypt is slow by design. */
  readonly hashing: Semaphore;
  readonly bcryptCost: number;
  readonly retrievalMint: TokenMint;
  /** Bounds failed attempts per address. */
  readonly failures: Throttle;
}

interface RetrievedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Client secrets. A secret is made when it is retrieved, shown once, and replaced with a grace. */
export class CredentialService {
  private readonly redeeming = new Map<string, Promise<RetrievedSecret | undefined>>();

  constructor(private readonly deps: CredentialDeps) {}

  /** The first retrieval token of a new client, and the rider for the transaction that registers the client. */
  firstRetrieval(
    client: ClientRef,
    rotation = 1,
  ): { readonly retrieval: SecretRetrieval; readonly rider: TransactItem } {
    return this.newRetrieval(client, rotation, 0);
  }

  /** Hands out a retrieval token for a new secret. Until it is redeemed, the old secret is unchanged. */
  async rotate(
    client: ClientRef,
    graceHours: number,
    actor: Actor,
  ): Promise<{ readonly credentials: Credentials; readonly secretRetrieval: SecretRetrieval }> {
    if (!isWholeWithin(graceHours, 0, maxGraceHours))
      throw badInput({ path: 'input.graceHours', message: `must be from 0 to ${maxGraceHours}` });
    const { store, audit } = this.deps;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const before = await store.load(client);
      if (!before) throw notFound(kindOf(client));
      const { retrieval, rider } = this.newRetrieval(client, before.rotation + 1, graceHours);
      const event = audit.draft({
        orgId: client.orgId,
        actor,
        action: 'credentials_rotated',
        entityId: clientEntity(clientIdOf(client)),
        details: { graceHours },
      });
      if (await store.rotate(client, before, [rider, event]))
        return { credentials: before, secretRetrieval: retrieval };
    }
    throw unavailable('these credentials are being rotated by several callers at the same time; retry');
  }

  /**
   * Makes the secret, stores its hash and returns it, once per token. The error is the same for a used, expired and
   * unknown token.
   */
  async retrieve(token: string, from: Origin): Promise<RetrievedSecret> {
    const { retrievalMint, metrics, failures } = this.deps;
    const secret = retrievalMint.isGenuine(token) ? await this.redeemInTurn(token, from) : undefined;
    metrics.retrievals.inc({ outcome: secret ? 'redeemed' : 'refused' });
    if (!secret) throw failedAttempt(failures, from.address, notFound('retrieval token'));
    return secret;
  }

  /**
   * Concurrent calls with one token run one after the other. Only one can succeed, so hashing for the others is wasted.
   */
  private async redeemInTurn(token: string, from: Origin): Promise<RetrievedSecret | undefined> {
    while (this.redeeming.has(token)) await this.redeeming.get(token)?.catch(() => undefined);
    const redeemed = this.redeem(token, from);
    this.redeeming.set(token, redeemed);
    try {
      return await redeemed;
    } finally {
      this.redeeming.delete(token);
    }
  }

  private async redeem(token: string, from: Origin): Promise<RetrievedSecret | undefined> {
    const { store, changes, clock, metrics } = this.deps;
    const retrieval = await store.loadRetrieval(token);
    const nowMs = clock.nowMs();
    if (!retrieval || retrieval.used || retrieval.expiresAt.getTime() <= nowMs) return undefined;
    const { client, rotation, graceHours } = retrieval;
    const before = await store.load(client);
    if (!before || before.rotation !== rotation) return undefined;

    const clientSecret = newSecret();
    const hash = await this.hash(clientSecret);
    // Without a grace, all tokens of the old secret end with it.
    const endsTokens = graceHours === 0 && before.current !== undefined;
    const generation = endsTokens ? before.generation + 1 : before.generation;
    const grace = graceHours > 0 ? { graceExpiresAt: new Date(nowMs + graceHours * 3_600_000) } : {};
    const secret = { hash, check: secretCheck(clientSecret), createdAt: new Date(nowMs), generation, ...grace };
    const riders = this.installRiders(retrieval, from, endsTokens ? generation : undefined, nowMs);
    if (!(await store.install(token, { before, retrieval, secret, claim: newUuid(), riders }))) return undefined;
    if (endsTokens) {
      this.deps.revocationCache.noteClient(clientIdOf(client), generation);
      metrics.revocations.inc({ by: 'client' });
    }
    await changes.refresh();
    return { clientId: clientIdOf(client), clientSecret };
  }

  private hash(secret: string): Promise<string> {
    const { hashing, bcryptCost, metrics } = this.deps;
    return hashing.run(() => {
      metrics.secretHashes.inc({ kind: 'hash' });
      return hashSecret(secret, bcryptCost);
    });
  }

  private installRiders(
    { client, graceHours }: Retrieval,
    from: Origin,
    validFromGeneration: number | undefined,
    nowMs: number,
  ): TransactItem[] {
    const { audit, changes, revocations } = this.deps;
    const clientId = clientIdOf(client);
    const actor = { name: clientId, ...from };
    return [
      audit.draft({
        orgId: client.orgId,
        actor,
        action: 'secret_retrieved',
        entityId: clientEntity(clientId),
        details: { graceHours },
      }),
      changes.draftChange(client.orgId),
      ...(validFromGeneration === undefined
        ? []
        : [revocations.draftClientRevocation(clientId, validFromGeneration, nowMs)]),
    ];
  }

  private newRetrieval(
    client: ClientRef,
    rotation: number,
    graceHours: number,
  ): { retrieval: SecretRetrieval; rider: TransactItem } {
    const nowMs = this.deps.clock.nowMs();
    const token = this.deps.retrievalMint.make();
    // In whole seconds, because it is stored so: the token works until the time that the caller was given.
    const expiresAt = new Date(epochSeconds(nowMs + retrievalMinutes * 60_000) * 1000);
    const retrieval: Retrieval = { client, rotation, graceHours, expiresAt, used: false };
    return { retrieval: { token, expiresAt }, rider: this.deps.store.draftRetrieval(token, retrieval, nowMs) };
  }
}

function kindOf({ appId, clientKey }: ClientRef): string {
  if (clientKey !== undefined) return 'client';
  return appId === undefined ? 'org' : 'app';
}
