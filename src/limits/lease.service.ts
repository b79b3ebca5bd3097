import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, Overloaded, refuseAny } from '../lib/errors.js';
import { randomToken } from '../lib/id.js';
import { Locks } from '../lib/locks.js';
import { Lru } from '../lib/lru.js';
import type { Sealer } from '../lib/seal.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import type { BucketView, HoldingMove, Part, PartResult } from './buckets/operation.js';
import type { NamespaceService } from './entities/namespace.service.js';
import {
  holdsSlots,
  initialState,
  type LeaseHandle,
  type LeaseState,
  leaseContext,
  maxAdjustsWithKey,
  slotName,
  sumFor,
} from './lease.js';
import { type LeaseStore, type StoredLeaseState, toState } from './lease.store.js';
import { decodeHandle } from './lease-codec.js';
import { afterMoves, movesAll, movesRenewed, withFreedSlots } from './lease-moves.js';
import {
  adjustHash,
  adjustIssues,
  adjustMoves,
  bucketsOf,
  differences,
  emptyPart,
  partsOf,
  statusesOfMoves,
  tooManyAdjusts,
} from './lease-operation.js';
import type { Consumption } from './limit.js';
import { consumeIssues, maxTokens, ttlIssues } from './limit-input.js';
import { type LimitStatus, statusesAfter } from './status.js';

export interface LeaseAdjustment {
  readonly leaseId: string;
  readonly replayed: boolean;
  readonly statuses: readonly LimitStatus[];
  /** Entities that may or may not have been charged, because the response of the database was lost. */
  readonly unknown: readonly string[];
}

export interface LeaseRenewal {
  readonly leaseId: string;
  readonly renewBy: Date;
}

export interface LeaseDeps {
  readonly buckets: BucketRegistry;
  readonly leases: LeaseStore;
  readonly namespaces: NamespaceService;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

const maxRounds = 30;
const nonceBytes = 8;
/** The longest id has ten limits on all shards of two entities, each with numbers of up to 36 digits. */
const leaseIdPattern = /^[A-Za-z0-9_-]{32,131072}$/;

/**
 * A change of a lease. Gets the current state and returns the moves and the changed attributes, or who has already made
 * the change: this call (its response was lost) or an earlier call.
 */
type LeaseChange = (
  state: LeaseState,
) =>
  | { readonly moves: readonly HoldingMove[]; readonly next: Partial<LeaseState> }
  | { readonly madeBy: 'this call' | 'an earlier call' };

/** Adjusts, releases and renews leases. */
export class LeaseService {
  private readonly locks = new Locks();
  /** Last written states by `stateName`. An entry may be stale; the condition of the next write detects that. */
  private readonly stateCache = new Lru<string, LeaseState>(10_000);

  constructor(private readonly deps: LeaseDeps) {}

  /** The content of a lease id. Undefined if this deployment did not issue the id. */
  open(id: string): LeaseHandle | undefined {
    const text = leaseIdPattern.test(id) ? this.deps.sealer.open(leaseContext, id) : undefined;
    return text === undefined ? undefined : decodeHandle(text);
  }

  /** Charges more (the bucket may go into debt) or gives back. Applied once per idempotency key. */
  async adjust(
    id: string,
    handle: LeaseHandle,
    adjust: readonly Consumption[],
    idempotencyKey: string | undefined,
  ): Promise<LeaseAdjustment> {
    refuseAny(consumeIssues(adjust, 'input.adjust', -maxTokens));
    const isCharge = adjust.length > 0 && adjust.every(({ amount }) => amount >= 0);
    if (idempotencyKey === undefined && isCharge) return this.charge(id, handle, adjust);
    const key = idempotencyKey ?? randomToken(nonceBytes);
    return this.changeOnce(id, handle, { key, amounts: adjust }, (holdings, isFull) => {
      refuseAny([...adjustIssues(holdings, adjust), ...(isFull ? [tooManyAdjusts] : [])]);
      return adjustMoves(holdings, adjust);
    });
  }

  /**
   * Ends the use of a lease: charges or gives back the difference to the amounts that were really used, and frees its
   * slots. Applied once per idempotency key. Changes nothing, and costs nothing, if there is nothing to change.
   */
  async finish(handle: LeaseHandle, used: readonly Consumption[], idempotencyKey: string): Promise<void> {
    const amounts = differences(handle, used);
    if (amounts.length === 0 && !holdsSlots(handle.holdings)) return;
    await this.changeOnce('', handle, { key: idempotencyKey, amounts }, (holdings) =>
      withFreedSlots(adjustMoves(holdings, amounts), holdings, slotName(handle)),
    );
  }

  /** Changes a lease once per idempotency key. */
  private changeOnce(
    id: string,
    handle: LeaseHandle,
    { key, amounts }: { readonly key: string; readonly amounts: readonly Consumption[] },
    movesOf: (holdings: LeaseState['holdings'], isFull: boolean) => HoldingMove[],
  ): Promise<LeaseAdjustment> {
    const hash = adjustHash(amounts);
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, (state) => {
      const made = state.adjusted[key];
      if (made?.hash === hash) return { madeBy: made.nonce === nonce ? 'this call' : 'an earlier call' };
      if (made)
        throw new GatewayError(
          'IDEMPOTENCY_CONFLICT',
          `idempotencyKey ${key} was already used with a different adjustment of this lease`,
        );
      if (state.releasedBy !== undefined) throw released();
      const { holdings, adjusted } = state;
      const isFull = Object.keys(adjusted).length >= maxAdjustsWithKey;
      return { moves: movesOf(holdings, isFull), next: { adjusted: { ...adjusted, [key]: { hash, nonce } } } };
    });
  }

  /** Gives back all that the lease still holds. Idempotent. */
  release(id: string, handle: LeaseHandle): Promise<LeaseAdjustment> {
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, ({ releasedBy, holdings }) => {
      if (releasedBy !== undefined) return { madeBy: releasedBy === nonce ? 'this call' : 'an earlier call' };
      return { moves: movesAll(holdings, slotName(handle)), next: { releasedBy: nonce } };
    });
  }

  /** Keeps the slots of the lease for `ttlSecs` from now, at most until the lease expires. */
  async renew(id: string, handle: LeaseHandle, ttlSecs: number): Promise<LeaseRenewal> {
    refuseAny(ttlIssues(ttlSecs, 'ttlSecs'));
    await this.requireLive(handle);
    const renewByMs = Math.min(this.deps.clock.nowMs() + ttlSecs * 1000, handle.expiresAtMs);
    const moves = movesRenewed(handle.holdings, slotName(handle), renewByMs);
    if (!handle.degraded && moves.length === 0)
      throw badInput({
        path: 'leaseId',
        message: 'the lease holds no slot of a concurrency limit, so there is nothing to renew',
      });
    for (const part of partsOf(handle, moves).parts) {
      const outcome = await this.deps.buckets.apply({ parts: [part] });
      const applied = outcome.kind === 'done' && outcome.results.flatMap(appliedBy);
      if (!applied || applied.some((limits) => Object.keys(limits).length === 0))
        throw new GatewayError('LEASE_EXPIRED', 'the lease no longer holds its slot; acquire a new lease');
    }
    return { leaseId: id, renewBy: new Date(renewByMs) };
  }

  /**
   * A charge without a key. Only the buckets are written, so it is applied at most once and a release does not return
   * it.
   */
  private async charge(id: string, handle: LeaseHandle, adjust: readonly Consumption[]): Promise<LeaseAdjustment> {
    if (handle.degraded) return adjustment(id, []);
    await this.requireLive(handle);
    refuseAny(adjustIssues(handle.holdings, adjust));
    if (this.stateCache.get(stateName(handle))?.releasedBy !== undefined) throw released();
    const { parts } = partsOf(handle, adjustMoves(handle.holdings, adjust));
    const outcomes = await Promise.allSettled(parts.map((part) => this.deps.buckets.apply({ parts: [part] })));
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failed.length === outcomes.length && failed[0]) throw failed[0].reason;
    const statuses = outcomes.flatMap((outcome, i) => {
      const part = parts[i] as Part;
      if (outcome.status === 'rejected' || outcome.value.kind !== 'done' || part.action.kind !== 'settle') return [];
      const { bucket, action } = part;
      return statusesAfter(bucket, outcome.value.after[0] as BucketView, sumFor(bucket.entityId, action.moves));
    });
    const unknown = parts.flatMap(({ bucket }, i) => (outcomes[i]?.status === 'rejected' ? [bucket.entityId] : []));
    return { ...adjustment(id, statuses), unknown };
  }

  /** Throws if the namespace of the lease was purged (its buckets no longer exist) or the lease has expired. */
  private async requireLive({ orgId, namespace, expiresAtMs }: LeaseHandle): Promise<void> {
    if ((await this.deps.namespaces.of(orgId)) !== namespace) throw notFound('lease');
    if (expiresAtMs <= this.deps.clock.nowMs()) throw expired();
  }

  /** Changes a lease and its buckets in one transaction, once. */
  private async change(id: string, handle: LeaseHandle, change: LeaseChange): Promise<LeaseAdjustment> {
    if (handle.degraded) return adjustment(id, []);
    await this.requireLive(handle);
    const name = stateName(handle);
    // Changes of one lease run one after the other in this process, so that only other gateways can cause a conflict.
    const unlock = await this.locks.hold([name]);
    try {
      return await this.changeLocked(id, handle, name, change);
    } finally {
      unlock();
    }
  }

  private async changeLocked(
    id: string,
    handle: LeaseHandle,
    name: string,
    change: LeaseChange,
  ): Promise<LeaseAdjustment> {
    const { leases } = this.deps;
    let state = this.stateCache.get(name) ?? initialState(handle);
    let isFromStore = false;
    for (let round = 0; round < maxRounds; round++) {
      let changed: ReturnType<LeaseChange>;
      try {
        changed = change(state);
      } catch (error) {
        // The cached state may be stale. Never reject a request from a cache: read the state and try again.
        if (isFromStore || !(error instanceof GatewayError)) throw error;
        state = stateFor(handle, await leases.loadState(handle));
        isFromStore = true;
        continue;
      }
      if ('madeBy' in changed)
        return adjustment(id, await this.statusesNow(handle, state), changed.madeBy === 'an earlier call');
      const { outcome, nextState } = await this.write(handle, name, state, changed);
      if (outcome.kind === 'done') {
        this.stateCache.set(name, nextState(outcome.results));
        return adjustment(id, statusesOfMoves(handle, changed.moves, outcome));
      }
      // Another gateway has changed the lease: continue from the stored state.
      if (outcome.kind === 'riderConflict') {
        state = stateFor(handle, outcome.old === undefined ? undefined : toState(outcome.old));
        isFromStore = true;
      }
    }
    throw new Overloaded('too many concurrent changes of this lease; nothing was changed; retry');
  }

  /** Applies the moves and writes the next state in one transaction. */
  private async write(
    handle: LeaseHandle,
    name: string,
    state: LeaseState,
    { moves, next: changes }: Exclude<ReturnType<LeaseChange>, { readonly madeBy: unknown }>,
  ) {
    const { buckets, leases } = this.deps;
    const { parts, indexes } = partsOf(handle, moves);
    const nextState = (results: readonly PartResult[]): LeaseState => {
      const applied = moves.map((): Record<string, object> => ({}));
      for (const [nth, limits] of results.flatMap(appliedBy).entries()) applied[indexes[nth] as number] = limits;
      return { ...state, ...changes, version: state.version + 1, holdings: afterMoves(state.holdings, moves, applied) };
    };
    const rider = { name, draft: (results: readonly PartResult[]) => leases.recordChange(handle, nextState(results)) };
    const outcome = await buckets.apply({ parts: parts.length > 0 ? parts : [emptyPart(handle)], rider });
    return { outcome, nextState };
  }

  private async statusesNow(handle: LeaseHandle, { holdings }: LeaseState): Promise<LimitStatus[]> {
    const buckets = bucketsOf(handle, holdings);
    const found = await this.deps.buckets.loadMany(buckets);
    const atMs = this.deps.clock.nowMs();
    return buckets.flatMap((bucket, i) => statusesAfter(bucket, { shards: found[i] ?? [], atMs }, {}));
  }
}

const adjustment = (leaseId: string, statuses: readonly LimitStatus[], replayed = false): LeaseAdjustment => ({
  leaseId,
  replayed,
  statuses,
  unknown: [],
});

const appliedBy = (result: PartResult) => (result.kind === 'settle' ? result.applied : []);

/**
 * The state of this lease. A stored state with another end is of a later lease with the same request id: this one has
 * expired.
 */
function stateFor(handle: LeaseHandle, stored: StoredLeaseState | undefined): LeaseState {
  if (!stored) return initialState(handle);
  if (stored.expiresAtMs !== handle.expiresAtMs) throw expired();
  return stored;
}

const stateName = ({ namespace, name, expiresAtMs }: LeaseHandle): string => `${namespace} ${name} ${expiresAtMs}`;

const released = () => new GatewayError('LEASE_EXPIRED', 'the lease was released; acquire a new lease');
const expired = () =>
  new GatewayError('LEASE_EXPIRED', 'the lease has expired and can no longer be changed; its tokens stay taken');
