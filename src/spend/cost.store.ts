import type { StoreClient } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { GroupCommit } from '../lib/group-commit.js';
import { newUuid } from '../lib/id.js';
import type { Locks } from '../lib/locks.js';
import { type SpendId, scopeKey } from '../orgs/scope.js';
import { type CostRecord, costTable, type RequestRef, requestKey } from './cost.item.js';
import {
  type CostEntry,
  CostGroup,
  maxGroupWrites,
  type OverrunDrafts,
  type RecordOutcome,
  type SpendRetention,
} from './cost-group.store.js';
import { counterItems } from './counter.item.js';
import { type HeldLimit, heldName, nameOfKey } from './held/held.item.js';
import type { HeldMemory } from './held/held-memory.js';
import { type Reservation, type StoredRequest, toStoredRequest } from './held/reservation.item.js';

export interface CostStoreOptions {
  readonly retention: SpendRetention;
  /** The shard that this process prefers. Different processes then rarely write to the same item. */
  readonly homeShard: number;
  /** How many costs may wait for a commit. */
  readonly maxWaiting: number;
  readonly scheduler?: EventLoopScheduler;
  readonly overruns: OverrunDrafts;
  /** Shared with the reservations, so that this process does not contend with itself for a held item. */
  readonly locks: Locks;
  readonly memory: HeldMemory;
}

/** A cost, and the HARD quota and budgets that it counts against. */
export interface CostDraft {
  readonly id: SpendId;
  readonly shardCount: number;
  readonly record: CostRecord;
  readonly charges: readonly HeldLimit[];
  /** The admitted call that it settles. */
  readonly reservation?: Reservation;
}

/** The costs that fit into one transaction if they are counted in one item. */
const maxGroupCosts = maxGroupWrites - 1;
const noLock = (): void => undefined;

/** Records costs: an item for each request id, and the sum of each shard. `ShardStore` reads the sums. */
export class CostStore {
  private readonly commits: GroupCommit<CostEntry, RecordOutcome>;
  /** How many entries wait for each held item. Reservations let them go first. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly options: CostStoreOptions,
  ) {
    const { retention, overruns, locks } = options;
    this.commits = new GroupCommit({
      scheduler: options.scheduler,
      maxGroupSize: maxGroupWrites,
      maxWaiting: options.maxWaiting,
      shared: (entry) => [...new Set([...entry.counters.keys(), ...heldNames(entry)])],
      tenant: ({ orgId }) => orgId,
      identity: ({ identity }) => identity,
      enter: (_key, first) => {
        const names = heldNames(first);
        return names.length > 0 ? locks.hold(names) : noLock;
      },
      commit: (_key, group) => new CostGroup({ client, clock, retention, overruns }, group).run(),
    });
  }

  /** Counts a cost once: one transaction writes its request item and adds it to its counter and held items. */
  record({ id, shardCount, record, charges, reservation }: CostDraft): Promise<RecordOutcome> {
    const names = [...charges.map(({ name }) => name), ...(reservation?.holds.map(heldName) ?? [])];
    const suffix = names.length > 0 ? ` ${[...new Set(names)].sort().join(' ')}` : '';
    // All costs of a HARD quota count in shard 0, which holds what is reserved.
    const isHard = charges.some(({ ref }) => ref.kind === 'quota');
    const shard = isHard ? 0 : this.openShard(id, shardCount, suffix);
    const counters = new Map(counterItems(id, record, shard).map((item) => [nameOfKey(item.key), item]));
    const { orgId, payloadHash } = record;
    const entry = { orgId, identity: identityOf(record), record, payloadHash, shard, nonce: newUuid(), counters };
    return this.submit(queueName(id, shard) + suffix, { ...entry, charges, reservation });
  }

  /** Ends an admitted call that was not sent, and returns its reservation. It is no cost. */
  cancel(reservation: Reservation, payloadHash: string): Promise<RecordOutcome> {
    const { orgId } = reservation;
    const entry = { orgId, identity: identityOf(reservation), payloadHash, shard: 0, nonce: newUuid() };
    const queue = `cancel ${orgId} ${reservation.holds.map(heldName).sort().join(' ')}`;
    return this.submit(queue, { ...entry, counters: new Map(), charges: [], reservation });
  }

  /** True if costs wait for one of these held items. */
  isWaitingFor(names: readonly string[]): boolean {
    return names.some((name) => this.waiting.has(name));
  }

  /** Resolves when every submitted cost has its outcome. */
  flush(): Promise<void> {
    return this.commits.flush();
  }

  /** A request as it is stored, by a consistent read. Undefined if there is none or it has expired. */
  async loadRequest(ref: RequestRef): Promise<StoredRequest | undefined> {
    const item = await this.client.get(costTable, requestKey(ref), { consistent: true });
    if (!item) return undefined;
    const isExpired = fields(costTable, item).number('expires_at_epoch') <= epochSeconds(this.clock.nowMs());
    return isExpired ? undefined : toStoredRequest(item);
  }

  private async submit(queue: string, entry: CostEntry): Promise<RecordOutcome> {
    const names = heldNames(entry);
    for (const name of names) this.waiting.set(name, (this.waiting.get(name) ?? 0) + 1);
    try {
      return await this.commits.submit(queue, entry);
    } finally {
      for (const name of names) {
        const left = (this.waiting.get(name) ?? 1) - 1;
        if (left > 0) this.waiting.set(name, left);
        else this.waiting.delete(name);
      }
      if (names.length > 0) this.options.memory.freed(names);
    }
  }

  /**
   * The first shard, from the home shard on, whose queue still fits into its next transaction. So a process uses more
   * shards only under load. If all queues are longer, the shard with the shortest one.
   */
  private openShard(id: SpendId, shardCount: number, suffix: string): number {
    let best = { shard: this.options.homeShard % shardCount, waiting: Number.POSITIVE_INFINITY };
    for (let i = 0; i < shardCount; i++) {
      const shard = (this.options.homeShard + i) % shardCount;
      const waiting = this.commits.waitingFor(queueName(id, shard) + suffix);
      if (waiting < maxGroupCosts) return shard;
      if (waiting < best.waiting) best = { shard, waiting };
    }
    return best.shard;
  }
}

const identityOf = ({ orgId, appId, requestId }: RequestRef): string => `${orgId} ${appId} ${requestId}`;

const heldNames = ({ charges, reservation }: CostEntry): string[] => [
  ...new Set([...charges.map(({ name }) => name), ...(reservation?.holds.map(heldName) ?? [])]),
];

const queueName = (id: SpendId, shard: number): string => `${scopeKey(id)} ${id.label} ${id.day} ${shard}`;
