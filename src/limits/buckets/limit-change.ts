import type { UnitMove } from './bucket.js';

/** What all who share a write do to one limit of one shard. */
export interface LimitChange extends UnitMove {
  readonly consumedMilli: bigint;
  /** By lease: until when it holds a slot, or that it gives it back. */
  readonly taken: Readonly<Record<string, number>>;
  readonly renewed: Readonly<Record<string, number>>;
  readonly freed: readonly string[];
}

const nothing: LimitChange = {
  take: 0n,
  charge: 0n,
  giveBack: 0n,
  judged: false,
  consumedMilli: 0n,
  taken: {},
  renewed: {},
  freed: [],
};

/** Adds more to what is done to a limit. */
export function addChange(changes: Map<string, LimitChange>, identity: string, more: Partial<LimitChange>): void {
  const sum = changes.get(identity) ?? nothing;
  changes.set(identity, {
    take: sum.take + (more.take ?? 0n),
    charge: sum.charge + (more.charge ?? 0n),
    giveBack: sum.giveBack + (more.giveBack ?? 0n),
    judged: sum.judged || (more.judged ?? false),
    consumedMilli: sum.consumedMilli + (more.consumedMilli ?? 0n),
    taken: more.taken ? { ...sum.taken, ...more.taken } : sum.taken,
    renewed: more.renewed ? { ...sum.renewed, ...more.renewed } : sum.renewed,
    freed: more.freed ? [...sum.freed, ...more.freed] : sum.freed,
  });
}
