import { type Clock, unlessAborted } from './clock.js';
import * as documents from './documents.js';
import { RateLimited, type TollgateError, Unavailable } from './errors.js';
import { GrantedLease } from './lease.js';
import type { UnavailableDecision, UndecidedCall } from './options.js';
import type { Transport } from './transport.js';
import type { AcquireRequest, HeldLease, Lease, LimitStatus } from './types.js';
import { WaitLines } from './wait-line.js';
import { consumeOf } from './wire.js';

export interface LimitsDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  decide(call: UndecidedCall, error: TollgateError): Promise<UnavailableDecision>;
  /** Reports a failure that no caller waits for. */
  failed(operation: string, error: unknown): void;
}

export type Granted = Omit<Lease, 'consumed' | 'adjust' | 'release' | 'renew'>;

type AcquireResult =
  | ({ readonly __typename: 'Lease' } & Granted)
  | {
      readonly __typename: 'RateLimited';
      readonly message: string;
      readonly statuses: readonly LimitStatus[];
      readonly retryAfterSecs: number;
    };

/** Takes tokens of rate limits before work is done. */
export class Limits {
  readonly #deps: LimitsDeps;
  readonly #lines: WaitLines;

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
    this.#lines = new WaitLines(deps.clock);
  }

  /**
   * Takes tokens, or throws `RateLimited`. With `waitMs` it waits for them, in order of arrival. An amount above the
   * burst is `BadInput` at once.
   */
  async acquire(request: AcquireRequest): Promise<Lease> {
    const { orgId = '', entityId, resource, consume, waitMs = 0, signal } = request;
    signal?.throwIfAborted();
    const attempt = () => unlessAborted(this.#grant(request), signal, (lease) => this.#giveBack(lease));
    if (waitMs <= 0) return attempt();
    return this.#lines.run({ bucket: JSON.stringify([orgId, entityId, resource]), consume, waitMs, signal }, attempt);
  }

  /**
   * Does work under a lease. Afterwards the lease is adjusted to what `lease.actual` told, and its slots of concurrency
   * limits are freed. If the work throws, everything is given back.
   */
  async withLease<T>(request: AcquireRequest, work: (lease: HeldLease) => Promise<T>): Promise<T> {
    const lease = (await this.acquire(request)) as GrantedLease;
    lease.hold();
    let result: T;
    try {
      result = await work(lease);
    } catch (error) {
      await this.#giveBack(lease);
      throw error;
    }
    // The work is done: its result must not get lost because its tokens could not be adjusted.
    await lease.finish().catch((failure: unknown) => this.#deps.failed('AdjustLease', failure));
    return result;
  }

  async #giveBack(lease: Lease): Promise<void> {
    await lease.release().catch((error: unknown) => this.#deps.failed('ReleaseLease', error));
  }

  async #grant(request: AcquireRequest): Promise<GrantedLease> {
    const { orgId, entityId, resource, consume, limits, ttlSecs, exact } = request;
    const requestId = exact ? crypto.randomUUID() : undefined;
    try {
      const { acquire } = await this.#deps.transport.send<{ readonly acquire: AcquireResult }>({
        document: documents.acquire,
        variables: { input: { orgId, entityId, resource, consume: consumeOf(consume), limits, ttlSecs, requestId } },
        isOnce: !exact,
      });
      if (acquire.__typename === 'Lease') return new GrantedLease(this.#deps, request, acquire);
      const { message, statuses, retryAfterSecs } = acquire;
      throw new RateLimited(message, { statuses, retryAfterMs: retryAfterSecs * 1000 });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if ((await this.#deps.decide({ kind: 'acquire', request }, error)) === 'throw') throw error;
      const none = { leaseId: '', statuses: [], expiresAt: null, renewBy: null };
      return new GrantedLease(this.#deps, request, { ...none, entityId, resource, degraded: true, replayed: false });
    }
  }
}
