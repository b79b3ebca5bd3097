import { randomToken } from '../../lib/id.js';
import type { BucketId } from '../limiter-keys.js';
import { maxUsageNames, otherLimits } from './usage.js';

export type RefusalKind = 'refused' | 'wouldRefuse';

export const maxTallies = 10_000;

/** The refusals of one bucket in one hour by this process. `id` is part of the key of the stored item. */
export interface Tally {
  readonly bucket: BucketId;
  readonly hour: number;
  readonly id: string;
  readonly refused: Record<string, number>;
  readonly wouldRefuse: Record<string, number>;
  /** Increases with each change. */
  version: number;
}

const nameOf = ({ namespace, entityId, resource }: BucketId, hour: number): string =>
  `${namespace}#${entityId}#${resource}#${hour}`;

/**
 * Counts refusals in memory, in a bounded number of tallies. A saved tally stays while there is space, because a new
 * tally for the same hour would need a second item.
 */
export class RefusalCounts {
  private readonly changed = new Map<string, Tally>();
  private readonly saved = new Map<string, Tally>();

  constructor(private readonly max = maxTallies) {}

  /** False if there is no space: the refusal was not counted. */
  note(bucket: BucketId, hour: number, limits: readonly string[], kind: RefusalKind): boolean {
    if (limits.length === 0) return true;
    const name = nameOf(bucket, hour);
    const existing = this.changed.get(name) ?? this.saved.get(name);
    if (!existing && !this.makeSpace()) return false;
    const { namespace, entityId, resource } = bucket;
    const tally = existing ?? {
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

  /** Tallies with unsaved changes, oldest change first. */
  unsaved(max: number): Tally[] {
    return [...this.changed.values()].slice(0, max);
  }

  get unsavedCount(): number {
    return this.changed.size;
  }

  /** The changes up to this version are stored. */
  markSaved(tally: Tally, version: number): void {
    const name = nameOf(tally.bucket, tally.hour);
    this.changed.delete(name);
    (tally.version === version ? this.saved : this.changed).set(name, tally);
  }

  /** Storing the tally failed: it goes to the end of the queue. */
  postpone(tally: Tally): void {
    const name = nameOf(tally.bucket, tally.hour);
    this.changed.delete(name);
    this.changed.set(name, tally);
  }

  /** Drops saved tallies of earlier hours. */
  dropSavedBefore(hour: number): void {
    for (const [name, tally] of this.saved) if (tally.hour < hour) this.saved.delete(name);
  }

  private makeSpace(): boolean {
    if (this.changed.size + this.saved.size < this.max) return true;
    const [oldest] = this.saved.keys();
    return oldest !== undefined && this.saved.delete(oldest);
  }
}

function count(tally: Tally, kind: RefusalKind, limit: string): void {
  const name = hasName(tally, limit) || nameCount(tally) < maxUsageNames ? limit : otherLimits;
  tally[kind][name] = (tally[kind][name] ?? 0) + 1;
}

const hasName = ({ refused, wouldRefuse }: Tally, limit: string): boolean => limit in refused || limit in wouldRefuse;

function nameCount({ refused, wouldRefuse }: Tally): number {
  const names = new Set([...Object.keys(refused), ...Object.keys(wouldRefuse)]);
  return names.size - (names.has(otherLimits) ? 1 : 0);
}
