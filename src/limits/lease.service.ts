import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, Overloaded, refuseAny } from '../lib/errors.js';
import { randomToken, sha256 } from '../lib/id.js';
import { Locks } from '../lib/locks.js';
import type { Sealer } from '../lib/seal.js';
import type { BucketRegistry } from './buckets/bucket.registry.js';
import type { BucketView, HoldingMove, Part, PartResult } from './buckets/operation.js';
import type { NamespaceService } from './entities/namespace.service.js';
import {
  afterMoves,
  decodeHandle,
  firstState,
  type LeaseHandle,
  type LeaseState,
  leaseContext,
  maxAdjusts,
  movesAll,
  movesRenewed,
  slotName,
  sumFor,
} from './lease.js';
import { type LeaseStore, toState } from './lease.store.js';
import { adjustIssues, bucketsOf, movesOf, nothingIn, partsOf, statusesOfMoves } from './lease-parts.js';
import { type Consumption, consumeIssues, mostTokens, ttlIssues } from './limit.js';
import { type LimitStatus, standingOf, statusesAfter } from './status.js';

export interface LeaseAdjustment {
  readonly leaseId: string;
  readonly replayed: boolean;
  readonly statuses: readonly LimitStatus[];
  /** Entities of which nobody knows whether they were charged. */
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
/** The longest: parts of ten limits on all shards of two entities, each with figures of up to 36 digits. */
const leaseId = /^[A-Za-z0-9_-]{32,131072}$/;

/** What a change makes of a lease as it stands: its moves and the next state, or that it was made, by this call or an earlier one. */
type Change = (
  state: LeaseState,
) =>
  | { readonly moves: readonly HoldingMove[]; readonly next: Partial<LeaseState> }
  | { readonly madeBy: 'this call' | 'an earlier call' };

export class LeaseService {
  private readonly locks = new Locks();
  private readonly known = new LRUCache<string, LeaseState>({ max: 10_000 });

  constructor(private readonly parts: LeaseDeps) {}

  /** What a lease id says; undefined for whatever is none of ours. */
  open(id: string): LeaseHandle | undefined {
    const text = leaseId.test(id) ? this.parts.sealer.open(leaseContext, id) : undefined;
    return text === undefined ? undefined : decodeHandle(text);
  }

  /** Charges more, into debt if need be, or gives back; once for each key. */
  async adjust(
    id: string,
    handle: LeaseHandle,
    adjust: readonly Consumption[],
    idempotencyKey: string | undefined,
  ): Promise<LeaseAdjustment> {
    refuseAny(consumeIssues(adjust, 'input.adjust', -mostTokens));
    const isCharge = adjust.length > 0 && adjust.every(({ amount }) => amount >= 0);
    if (idempotencyKey === undefined && isCharge) return this.charge(id, handle, adjust);
    const key = idempotencyKey ?? randomToken(nonceBytes);
    const hash = sha256(
      JSON.stringify(
        [...adjust].sort((a, b) => (a.limit < b.limit ? -1 : 1)).map(({ limit, amount }) => [limit, amount]),
      ),
    ).slice(0, 11);
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, (state) => {
      const made = state.adjusted[key];
      if (made?.hash === hash) return { madeBy: made.nonce === nonce ? 'this call' : 'an earlier call' };
      if (made)
        throw new GatewayError('IDEMPOTENCY_CONFLICT', `the key ${key} has adjusted this lease by something else`);
      if (state.releasedBy !== undefined) throw released();
      const { holdings, adjusted } = state;
      const full = Object.keys(adjusted).length >= maxAdjusts;
      refuseAny([
        ...adjustIssues(holdings, adjust),
        ...(full
          ? [{ path: 'input.idempotencyKey', message: `a lease can be adjusted ${maxAdjusts} times with a key` }]
          : []),
      ]);
      return { moves: movesOf(holdings, adjust), next: { adjusted: { ...adjusted, [key]: { hash, nonce } } } };
    });
  }

  /** Gives back all that the lease still has out, once. */
  release(id: string, handle: LeaseHandle): Promise<LeaseAdjustment> {
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, ({ releasedBy, holdings }) => {
      if (releasedBy !== undefined) return { madeBy: releasedBy === nonce ? 'this call' : 'an earlier call' };
      return { moves: movesAll(holdings, slotName(handle)), next: { releasedBy: nonce } };
    });
  }

  /** Keeps the slots that the lease holds for another while. */
  async renew(id: string, handle: LeaseHandle, ttlSecs: number): Promise<LeaseRenewal> {
    refuseAny(ttlIssues(ttlSecs, 'ttlSecs'));
    await this.refuseGone(handle);
    const renewByMs = Math.min(this.parts.clock.nowMs() + ttlSecs * 1000, handle.expiresAtMs);
    const moves = movesRenewed(handle.holdings, slotName(handle), renewByMs);
    if (!handle.degraded && moves.length === 0)
      throw badInput({
        path: 'leaseId',
        message: 'the lease holds no slot of a concurrency limit: there is nothing to renew',
      });
    for (const part of partsOf(handle, moves).parts) {
      const outcome = await this.parts.buckets.apply({ parts: [part] });
      const applied = outcome.kind === 'done' && outcome.results.flatMap(appliedBy);
      if (!applied || applied.some((limits) => Object.keys(limits).length === 0))
        throw new GatewayError('LEASE_EXPIRED', 'the lease no longer holds its slot: acquire anew');
    }
    return { leaseId: id, renewBy: new Date(renewByMs) };
  }

  /** A charge that nothing is written about but the buckets: applied at most once, and final. */
  private async charge(id: string, handle: LeaseHandle, adjust: readonly Consumption[]): Promise<LeaseAdjustment> {
    if (handle.degraded) return { leaseId: id, replayed: false, statuses: [], unknown: [] };
    await this.refuseGone(handle);
    refuseAny(adjustIssues(handle.holdings, adjust));
    if (this.known.get(stateName(handle))?.releasedBy !== undefined) throw released();
    const { parts } = partsOf(handle, movesOf(handle.holdings, adjust));
    const outcomes = await Promise.allSettled(parts.map((part) => this.parts.buckets.apply({ parts: [part] })));
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failed.length === outcomes.length && failed[0]) throw failed[0].reason;
    const statuses = outcomes.flatMap((outcome, i) => {
      const part = parts[i] as Part;
      if (outcome.status === 'rejected' || outcome.value.kind !== 'done' || part.action.kind !== 'settle') return [];
      return statusesAfter(
        standingOf(part.bucket, outcome.value.after[0] as BucketView),
        sumFor(part.bucket.entityId, part.action.moves),
      );
    });
    return {
      leaseId: id,
      replayed: false,
      statuses,
      unknown: parts.flatMap(({ bucket }, i) => (outcomes[i]?.status === 'rejected' ? [bucket.entityId] : [])),
    };
  }

  /** Of a namespace that was purged there is nothing left to give back to. */
  private async refuseGone({ orgId, namespace, expiresAtMs }: LeaseHandle): Promise<void> {
    if ((await this.parts.namespaces.of(orgId)) !== namespace) throw notFound('lease');
    if (expiresAtMs <= this.parts.clock.nowMs()) throw expired();
  }

  /** Makes a change to a lease and to its buckets together: both or neither, and once. */
  private async change(id: string, handle: LeaseHandle, change: Change): Promise<LeaseAdjustment> {
    if (handle.degraded) return { leaseId: id, replayed: false, statuses: [], unknown: [] };
    await this.refuseGone(handle);
    const name = stateName(handle);
    // One after the other here, so that only other gateways can come in between.
    const leave = await this.locks.hold([name]);
    try {
      return await this.changeNext(id, handle, name, change);
    } finally {
      leave();
    }
  }

  private async changeNext(id: string, handle: LeaseHandle, name: string, change: Change): Promise<LeaseAdjustment> {
    const { leases } = this.parts;
    let state = this.known.get(name) ?? firstState(handle);
    let isConfirmed = false;
    for (let round = 0; round < maxRounds; round++) {
      let changed: ReturnType<Change>;
      try {
        changed = change(state);
      } catch (error) {
        // Nobody is refused by what is only remembered.
        if (isConfirmed || !(error instanceof GatewayError)) throw error;
        state = ownState(handle, await leases.loadState(handle));
        isConfirmed = true;
        continue;
      }
      if ('madeBy' in changed) {
        return {
          leaseId: id,
          replayed: changed.madeBy === 'an earlier call',
          statuses: await this.statusesNow(handle, state),
          unknown: [],
        };
      }
      const { outcome, next } = await this.write(handle, name, state, changed.moves, changed.next);
      if (outcome.kind === 'done') {
        this.known.set(name, next(outcome.results));
        return { leaseId: id, replayed: false, statuses: statusesOfMoves(handle, changed.moves, outcome), unknown: [] };
      }
      // Somebody else has changed the lease: then it is as the store has it.
      if (outcome.kind === 'riderConflict') {
        state = ownState(handle, outcome.old === undefined ? undefined : toState(outcome.old));
        isConfirmed = true;
      }
    }
    throw new Overloaded('too many are changing this lease; nothing was changed: try again');
  }

  private async write(
    handle: LeaseHandle,
    name: string,
    state: LeaseState,
    moves: readonly HoldingMove[],
    changes: Partial<LeaseState>,
  ) {
    const { buckets, leases } = this.parts;
    const { parts, indexes } = partsOf(handle, moves);
    const next = (results: readonly PartResult[]): LeaseState => {
      const applied = moves.map((): Record<string, object> => ({}));
      for (const [nth, limits] of results.flatMap(appliedBy).entries()) applied[indexes[nth] as number] = limits;
      return { ...state, ...changes, version: state.version + 1, holdings: afterMoves(state.holdings, moves, applied) };
    };
    const rider = { name, draft: (results: readonly PartResult[]) => leases.change(handle, next(results)) };
    const outcome = await buckets.apply({ parts: parts.length > 0 ? parts : [nothingIn(handle)], rider });
    return { outcome, next };
  }

  private async statusesNow(handle: LeaseHandle, { holdings }: LeaseState): Promise<LimitStatus[]> {
    const buckets = bucketsOf(handle, holdings);
    const found = await this.parts.buckets.loadMany(buckets);
    const atMs = this.parts.clock.nowMs();
    return buckets.flatMap((bucket, i) => statusesAfter(standingOf(bucket, { shards: found[i] ?? [], atMs }), {}));
  }
}

const appliedBy = (result: PartResult) => (result.kind === 'settle' ? result.applied : []);

/** The stored state of this lease; another's under the same request id means that this one is long over. */
function ownState(handle: LeaseHandle, stored: ReturnType<typeof toState> | undefined): LeaseState {
  if (!stored) return firstState(handle);
  if (stored.expiresAtMs !== handle.expiresAtMs) throw expired();
  return stored;
}

const stateName = ({ namespace, name, expiresAtMs }: LeaseHandle): string => `${namespace} ${name} ${expiresAtMs}`;

const released = () => new GatewayError('LEASE_EXPIRED', 'the lease was released: acquire anew');
const expired = () => new GatewayError('LEASE_EXPIRED', 'the lease has expired: what it took stays taken');
