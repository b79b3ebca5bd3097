import * as documents from './documents.js';
import type { Granted, LimitsDeps } from './limits.js';
import { keepRenewed } from './renewal.js';
import type { AcquireRequest, Amounts, HeldLease, LimitStatus } from './types.js';
import { consumeOf } from './wire.js';

const defaultTtlSecs = 60;

/** Tokens that were taken, until they are adjusted or given back. */
export class GrantedLease implements HeldLease {
  declare readonly leaseId: string;
  declare readonly entityId: string;
  declare readonly resource: string;
  declare readonly statuses: readonly LimitStatus[];
  declare readonly degraded: boolean;
  declare readonly replayed: boolean;
  declare readonly expiresAt: string | null;
  declare readonly renewBy: string | null;
  readonly consumed: Amounts;
  readonly #deps: LimitsDeps;
  readonly #ttlSecs: number;
  readonly #ended = new AbortController();
  #actual: Amounts = {};

  constructor(deps: LimitsDeps, request: AcquireRequest, granted: Granted) {
    Object.assign(this, granted);
    this.consumed = request.consume;
    this.#deps = deps;
    this.#ttlSecs = request.ttlSecs ?? defaultTtlSecs;
  }

  actual(amounts: Amounts): void {
    this.#actual = { ...this.#actual, ...amounts };
  }

  async adjust(differences: Amounts): Promise<void> {
    const adjust = consumeOf(differences).filter(({ amount }) => amount !== 0);
    if (adjust.length === 0) return;
    await this.#send(documents.adjust, {
      input: { leaseId: this.leaseId, adjust, idempotencyKey: crypto.randomUUID() },
    });
  }

  async release(): Promise<void> {
    this.#ended.abort();
    await this.#send(documents.release, { leaseId: this.leaseId });
  }

  async renew(ttlSecs = this.#ttlSecs): Promise<void> {
    await this.#send(documents.renewLease, { leaseId: this.leaseId, ttlSecs });
  }

  /** Renews slots of concurrency limits until the lease is finished or released. */
  hold(): void {
    if (this.renewBy !== null)
      void keepRenewed(this.#deps, { ttlSecs: this.#ttlSecs, signal: this.#ended.signal }, () => this.renew());
  }

  /** Adjusts the tokens to the actual amounts, and frees the slots. */
  async finish(): Promise<void> {
    this.#ended.abort();
    const { consumed, leaseId } = this;
    if (this.renewBy === null) {
      const differences = consumeOf(this.#actual).map(({ limit, amount }) => [limit, amount - (consumed[limit] ?? 0)]);
      return this.adjust(Object.fromEntries(differences));
    }
    const slots = this.statuses.filter(({ limit }) => limit.kind === 'CONCURRENCY').map(({ limit }) => limit.name);
    const used = consumeOf({ ...consumed, ...this.#actual });
    const adjust = used.filter(({ limit, amount }) => amount > 0 && !slots.includes(limit));
    // Slots are freed only by a release, which gives back the tokens too. A charge without a key is not given back.
    if (adjust.length > 0) await this.#send(documents.adjust, { input: { leaseId, adjust } }, true);
    await this.release();
  }

  async #send(document: string, variables: object, isOnce = false): Promise<void> {
    // A degraded lease has taken nothing.
    if (this.leaseId === '') return;
    await this.#deps.transport.send({ document, variables, isOnce });
  }
}
