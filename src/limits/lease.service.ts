import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, Overloaded, refuseAny } from '../lib/errors.js';
import { randomToken, sha256 } from '../lib/id.js';
import { Locks } from '../lib/locks.js';
import type { Sealer } from '../lib/seal.js';
import type { BucketStore, Outcome } from './buckets/bucket.store.js';
import type { NamespaceService } from './entities/namespace.service.js';
import { decodeHandle, firstState, type LeaseHandle, type LeaseState, leaseContext, mostAdjusts, type Settlement, settle, settleAll, sumFor } from './lease.js';
import { type LeaseStore, toState } from './lease.store.js';
import { amountsOf, type Consumption, consumeIssues, mostTokens, tokensOf } from './limit.js';
import { type LimitStatus, statusesAfter } from './status.js';

export interface LeaseAdjustment {
  readonly leaseId: string;
  readonly replayed: boolean;
  readonly statuses: readonly LimitStatus[];
}

export interface LeaseParts {
  readonly buckets: BucketStore;
  readonly leases: LeaseStore;
  readonly namespaces: NamespaceService;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

const mostRounds = 30;
const nonceBytes = 8;
/** The longest: parts of ten limits on all shards of two entities. */
const leaseId = /^[A-Za-z0-9_-]{32,32768}$/;

/** What a change makes of a lease as it stands: the next state and its moves, or that it was made, by this call or an earlier one. */
type Change = (state: LeaseState) => { readonly state: LeaseState; readonly settlement: Settlement } | { readonly madeBy: 'this call' | 'an earlier call' };

export class LeaseService {
  private readonly locks = new Locks();
  private readonly known = new LRUCache<string, LeaseState>({ max: 10_000 });

  constructor(private readonly parts: LeaseParts) {}

  /** What a lease id says; undefined for whatever is none of ours. */
  open(id: string): LeaseHandle | undefined {
    const text = leaseId.test(id) ? this.parts.sealer.open(leaseContext, id) : undefined;
    return text === undefined ? undefined : decodeHandle(text);
  }

  /** Charges more, into debt if need be, or gives back; once for each key. */
  async adjust(id: string, handle: LeaseHandle, adjust: readonly Consumption[], idempotencyKey: string): Promise<LeaseAdjustment> {
    refuseAny(consumeIssues(adjust, 'input.adjust', -mostTokens));
    const hash = sha256(JSON.stringify([...adjust].sort((a, b) => (a.limit < b.limit ? -1 : 1)).map(({ limit, amount }) => [limit, amount]))).slice(0, 11);
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, (state) => {
      const made = state.adjusted[idempotencyKey];
      if (made?.hash === hash) return { madeBy: made.nonce === nonce ? 'this call' : 'an earlier call' };
      if (made) throw new GatewayError('IDEMPOTENCY_CONFLICT', `the key ${idempotencyKey} has adjusted this lease by something else`);
      if (state.releasedBy !== undefined) throw new GatewayError('LEASE_EXPIRED', 'the lease was released: acquire anew');
      refuseAny(adjustIssues(state, adjust));
      const settlement = settle(state.holdings, amountsOf(adjust));
      if ('excess' in settlement) {
        const { excess, outMilli } = settlement;
        const path = `input.adjust.${adjust.findIndex(({ limit }) => limit === excess)}.amount`;
        throw badInput({ path, message: `gives back more of "${excess}" than the lease has out, ${tokensOf(outMilli)}` });
      }
      const adjusted = { ...state.adjusted, [idempotencyKey]: { hash, nonce } };
      return { state: { ...state, version: state.version + 1, holdings: settlement.holdings, adjusted }, settlement };
    });
  }

  /** Gives back all that the lease still has out, once. */
  release(id: string, handle: LeaseHandle): Promise<LeaseAdjustment> {
    const nonce = randomToken(nonceBytes);
    return this.change(id, handle, (state) => {
      if (state.releasedBy !== undefined) return { madeBy: state.releasedBy === nonce ? 'this call' : 'an earlier call' };
      const settlement = settleAll(state.holdings);
      return { state: { ...state, version: state.version + 1, holdings: settlement.holdings, releasedBy: nonce }, settlement };
    });
  }

  /** Makes a change to a lease and to its buckets together: both or neither, and once. */
  private async change(id: string, handle: LeaseHandle, change: Change): Promise<LeaseAdjustment> {
    const { namespaces, clock } = this.parts;
    if (handle.degraded) return { leaseId: id, replayed: false, statuses: [] };
    // Of a namespace that was purged there is nothing left to give back to.
    if ((await namespaces.of(handle.orgId)) !== handle.namespace) throw notFound('lease');
    if (handle.expiresAtMs <= clock.nowMs()) throw expired();
    const name = `${handle.namespace} ${handle.name} ${handle.expiresAtMs}`;
    // One after the other here, so that only other gateways can come in between.
    const leave = await this.locks.hold([name]);
    try {
      return await this.changeNext(id, handle, name, change);
    } finally {
      leave();
    }
  }

  private async changeNext(id: string, handle: LeaseHandle, name: string, change: Change): Promise<LeaseAdjustment> {
    const { leases, buckets } = this.parts;
    let state = this.known.get(name) ?? firstState(handle);
    let isConfirmed = false;
    for (let round = 0; round < mostRounds; round++) {
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
        const statuses = await this.statusesNow(handle, state);
        return { leaseId: id, replayed: changed.madeBy === 'an earlier call', statuses };
      }
      const { settlement } = changed;
      const parts = state.holdings.flatMap(({ entityId, shard }, at) => {
        const amounts = settlement.moves[at] ?? {};
        const { namespace, resource } = handle;
        return Object.keys(amounts).length > 0 ? [{ id: { namespace, entityId, resource, shard }, amounts, events: 0 as const }] : [];
      });
      const outcome = await buckets.apply({ namespace: handle.namespace, parts, lease: { name, write: leases.change(handle, changed.state) } });
      if (outcome.kind === 'done') {
        this.known.set(name, changed.state);
        return { leaseId: id, replayed: false, statuses: this.statusesAfter(handle, changed.state, settlement, outcome) };
      }
      // Somebody else has changed the lease: then it is as the store has it.
      if (outcome.kind === 'lease') {
        state = ownState(handle, outcome.old && toState(outcome.old));
        isConfirmed = true;
      }
    }
    throw new Overloaded('too many are changing this lease; nothing was changed: try again');
  }

  private statusesAfter(handle: LeaseHandle, { holdings }: LeaseState, { moves }: Settlement, { after }: Extract<Outcome, { kind: 'done' }>): LimitStatus[] {
    const { buckets, clock } = this.parts;
    const atMs = after.find((seen) => seen !== undefined)?.atMs ?? clock.nowMs();
    return entitiesOf(handle).flatMap((entityId) => {
      const { namespace, resource } = handle;
      const shards = buckets.recallShards({ namespace, entityId, resource }).filter((shard) => shard !== undefined);
      return statusesAfter({ entityId, resource, shards, atMs }, sumFor(entityId, holdings, moves));
    });
  }

  private async statusesNow(handle: LeaseHandle, { holdings }: LeaseState): Promise<LimitStatus[]> {
    const { namespace, resource } = handle;
    const entities = entitiesOf(handle);
    const found = await this.parts.buckets.loadMany(entities.map((entityId) => ({ namespace, entityId, resource })));
    const atMs = this.parts.clock.nowMs();
    return entities.flatMap((entityId, i) => statusesAfter({ entityId, resource, shards: found[i] ?? [], atMs }, sumFor(entityId, holdings, [])));
  }
}

/** The stored state of this lease; another's under the same request id means that this one is long over. */
function ownState(handle: LeaseHandle, stored: ReturnType<typeof toState> | undefined): LeaseState {
  if (!stored) return firstState(handle);
  if (stored.expiresAtMs !== handle.expiresAtMs) throw expired();
  return stored;
}

const expired = () => new GatewayError('LEASE_EXPIRED', 'the lease has expired: what it took stays taken');

const entitiesOf = ({ holdings }: LeaseHandle): string[] => [...new Set(holdings.map(({ entityId }) => entityId))];

function adjustIssues({ holdings, adjusted }: LeaseState, adjust: readonly Consumption[]) {
  const known = new Set(holdings.flatMap(({ amounts }) => Object.keys(amounts)));
  return [
    ...(adjust.length === 0 ? [{ path: 'input.adjust', message: 'must name at least one limit' }] : []),
    ...adjust.flatMap(({ limit }, i) =>
      known.has(limit) ? [] : [{ path: `input.adjust.${i}.limit`, message: `the lease is of a bucket without a limit "${limit}"` }],
    ),
    ...(Object.keys(adjusted).length >= mostAdjusts ? [{ path: 'input.idempotencyKey', message: `a lease can be adjusted ${mostAdjusts} times` }] : []),
  ];
}
