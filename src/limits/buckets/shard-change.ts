import type { UnitMove } from './bucket.js';

/** What all operations of a group do to one limit on one shard. */
export interface LimitChange extends UnitMove {
  readonly consumedMilli: bigint;
  /** Slots that leases take, each until when. */
  readonly taken: Readonly<Record<string, number>>;
  /** Slots that leases renew, each until when. */
  readonly renewed: Readonly<Record<string, number>>;
  /** Leases that give their slot back. */
  readonly freed: readonly string[];
}

/** What all operations of a group do to one shard. Limits by their identity. */
export interface ShardChange {
  readonly limits: ReadonlyMap<string, LimitChange>;
  readonly events: number;
  /** Whether the item may expire. Absent: unchanged. */
  readonly mayExpire?: boolean;
}

/** A change of a shard while it is being planned. */
interface PendingChange {
  readonly limits: Map<string, LimitChange>;
  events: number;
  /** True if all takes allow the item to expire. */
  mayExpire: boolean;
  /** True if some operation leaves the expiry unchanged. */
  keepsExpiry: boolean;
}

const noChange: LimitChange = {
  take: 0n,
  charge: 0n,
  giveBack: 0n,
  checksCeiling: false,
  consumedMilli: 0n,
  taken: {},
  renewed: {},
  freed: [],
};

/** Collects the changes of one group on the shards of one bucket. */
export class ShardChanges {
  private readonly changes = new Map<number, PendingChange>();

  /** Counts an operation on a shard. `mayExpire` is undefined for an operation that leaves the expiry unchanged. */
  addOperation(index: number, events: number, mayExpire: boolean | undefined): void {
    const change = this.changes.get(index) ?? { limits: new Map(), events: 0, mayExpire: true, keepsExpiry: false };
    change.events += events;
    change.mayExpire &&= mayExpire !== false;
    change.keepsExpiry ||= mayExpire === undefined;
    this.changes.set(index, change);
  }

  /** Adds to the change of one limit. `addOperation` has to be called for the shard first. */
  addToLimit(index: number, identity: string, more: Partial<LimitChange>): void {
    const { limits } = this.changes.get(index) as PendingChange;
    const sum = limits.get(identity) ?? noChange;
    limits.set(identity, {
      take: sum.take + (more.take ?? 0n),
      charge: sum.charge + (more.charge ?? 0n),
      giveBack: sum.giveBack + (more.giveBack ?? 0n),
      checksCeiling: sum.checksCeiling || (more.checksCeiling ?? false),
      consumedMilli: sum.consumedMilli + (more.consumedMilli ?? 0n),
      taken: more.taken ? { ...sum.taken, ...more.taken } : sum.taken,
      renewed: more.renewed ? { ...sum.renewed, ...more.renewed } : sum.renewed,
      freed: more.freed ? [...sum.freed, ...more.freed] : sum.freed,
    });
  }

  /** Returns a function that undoes everything that was added after this call. */
  snapshot(): () => void {
    const saved = [...this.changes].map(
      ([index, change]) => [index, { ...change, limits: new Map(change.limits) }] as const,
    );
    return () => {
      this.changes.clear();
      for (const [index, change] of saved) this.changes.set(index, change);
    };
  }

  /** One change per shard that has to be written. */
  result(): { readonly index: number; readonly change: ShardChange }[] {
    return [...this.changes].map(([index, { limits, events, mayExpire, keepsExpiry }]) => ({
      index,
      change: keepsExpiry ? { limits, events } : { limits, events, mayExpire },
    }));
  }
}
