import { randomToken } from '../../lib/id.js';
import type { BucketId } from '../limiter-keys.js';
import { maxUsageNames, otherLimits } from './usage.js';

export type RefusalKind = 'refused' | 'wouldRefuse';

export const maxTallies = 10_000;

/** The refusals of one bucket in one hour, as far as this process has seen them. The stored item has its id. */
export interface Tally {
  readonly bucket: BucketId;
  readonly hour: number;
  readonly id: string;
  readonly refused: Record<string, number>;
  readonly wouldRefuse: Record<string, number>;
  /** Grows with each change. */
  version: number;
}

const nameOf = ({ namespace, entityId, resource }: BucketId, hour: number): string =>
  `${namespace}#${entityId}#${resource}#${hour}`;

/** Counts refusals in memory, in a bounded number of tallies. A tally that was saved is kept while there is space, so that its hour needs no second item. */
export class RefusalCounts {
  private readonly changed = new Map<string, Tally>();
  private readonly saved = new Map<string, Tally>();

  constructor(private readonly max = maxTallies) {}

  /** False: there is no space, and it was not counted. */
  note(bucket: BucketId, hour: number, limits: readonly string[], kind: RefusalKind): boolean {
    if (limits.length === 0) return true;
    const name = nameOf(bucket, hour);
    const known = this.changed.get(name) ?? this.saved.get(name);
    if (!known && !this.makeSpace()) return false;
    const { namespace, entityId, resource } = bucket;
    const tally = known ?? {
      bucket: { namespace, entityId, resource },
      hour,
      id: randomToken(6),
      refused: {},
      wouldRefuse: {},
      version: 0,
    };
    for (const limit of limits) count(tally, kind, limit);
    tally.version++;
    this.saved.delete(name);
    this.changed.set(name, tally);
    return true;
  }

  /** Tallies with changes that are not saved yet: those that have waited longest first. */
  unsaved(max: number): Tally[] {
    return [...this.changed.values()].slice(0, max);
  }

  get unsavedCount(): number {
    return this.changed.size;
  }

  /** All up to this version is stored. */
  settle(tally: Tally, version: number): void {
    const name = nameOf(tally.bucket, tally.hour);
    this.changed.delete(name);
    (tally.version === version ? this.saved : this.changed).set(name, tally);
  }

  /** It could not be stored: its turn comes after the others. */
  postpone(tally: Tally): void {
    const name = nameOf(tally.bucket, tally.hour);
    this.changed.delete(name);
    this.changed.set(name, tally);
  }

  /** Forgets what is saved of hours before this one. */
  forgetBefore(hour: number): void {
    for (const [name, tally] of this.saved) if (tally.hour < hour) this.saved.delete(name);
  }

  private makeSpace(): boolean {
    if (this.changed.size + this.saved.size < this.max) return true;
    const [oldest] = this.saved.keys();
    return oldest !== undefined && this.saved.delete(oldest);
  }
}

function count(tally: Tally, kind: RefusalKind, limit: string): void {
  const name = hasName(tally, limit) || namesOf(tally) < maxUsageNames ? limit : otherLimits;
  tally[kind][name] = (tally[kind][name] ?? 0) + 1;
}

const hasName = ({ refused, wouldRefuse }: Tally, limit: string): boolean => limit in refused || limit in wouldRefuse;

function namesOf({ refused, wouldRefuse }: Tally): number {
  const names = new Set([...Object.keys(refused), ...Object.keys(wouldRefuse)]);
  return names.size - (names.has(otherLimits) ? 1 : 0);
}
