import type { LimitSet } from '../limit.js';
import { type Amounts, asOf, identityOf, type LimitState, room, slotMilli, unitsOf } from './bucket.js';
import { convertedUnits, type Holding, type Out } from './holding.js';
import { addChange, type LimitChange } from './limit-change.js';
import { type Charge, levelCharge, type Shard, type ShardAt, splitAmount } from './shard.js';

/** The name under which a lease holds slots of concurrency limits, and until when. */
export interface Slot {
  readonly lease: string;
  readonly untilMs: number;
}

/** Takes each limit's amount, 0 included, under the limits it was judged by. */
export interface Take {
  readonly kind: 'take';
  readonly set: LimitSet;
  readonly amounts: Amounts;
  /** Not where the entity has limits of its own for the resource. */
  readonly mayExpire: boolean;
  readonly slot: Slot;
}

/** A change of what a lease has out of one shard: amounts to charge, or to give back where they are negative. */
export interface HoldingMove extends Holding {
  /** Whose slots are given back, or kept until then. */
  readonly slot?: { readonly lease: string; readonly untilMs?: number };
}

/** Charges and gives back what leases have out. */
export interface Settle {
  readonly kind: 'settle';
  readonly moves: readonly HoldingMove[];
  /** -1 where it undoes an acquire. */
  readonly events: 0 | -1;
}

/** What all who share a write do to one shard. Limits by their identity. */
export interface ShardChange {
  readonly limits: ReadonlyMap<string, LimitChange>;
  readonly events: number;
  /** Whether the item may expire. Absent: as it is. */
  readonly mayExpire?: boolean;
}

/** What is taken from one shard, by the limit's name. */
export interface Placement {
  readonly index: number;
  readonly charges: Readonly<Record<string, Charge>>;
}

/** Where a take that fits is placed. A shadow limit that it does not fit is not charged. */
export interface Placed {
  readonly kind: 'take';
  readonly placements: readonly Placement[];
  readonly wouldRefuse: readonly string[];
}

/** What could be done of a settlement: of each move the limits it was done for, with the window they are in. */
export interface Settlement {
  readonly kind: 'settle';
  readonly applied: readonly Readonly<Record<string, Applied>>[];
}

export interface Applied extends Pick<Out, 'windowEndMs'> {
  /** Charged to several shards, because its own had too little left. */
  readonly split?: { readonly parts: readonly SplitPart[]; readonly shards: number; readonly period: bigint };
}

export interface SplitPart extends Charge {
  readonly index: number;
}

/** A change of a shard in the making. */
interface Entered {
  readonly limits: Map<string, LimitChange>;
  events: number;
  /** Whether all who take let the item expire. */
  mayExpire: boolean;
  /** Whether somebody leaves the expiry as it is. */
  isAsItIs: boolean;
}

/** Plans the writes of one group on one bucket: what is taken by one is not there for the next. */
export class Plan {
  private readonly rooms: bigint[][];
  private readonly changes = new Map<number, Entered>();

  constructor(
    private readonly shards: readonly ShardAt[],
    private readonly nowMs: number,
  ) {
    this.rooms = shards.map(({ shard }) => shard.limits.map((limit) => room(limit, nowMs)));
  }

  /** Where the take fits: whole on one shard, the first of them preferred, or split over all; undefined where there is not enough. */
  place({ amounts }: Pick<Take, 'amounts'>): Placed | undefined {
    const { limits, shardCount } = (this.shards[0] as ShardAt).shard;
    const wanted = limits.map((limit) => unitsOf(limit, amounts[limit.name] ?? 0n, shardCount));
    const isShort = limits.map(
      (_, i) => this.rooms.reduce((sum, rooms) => sum + (rooms[i] as bigint), 0n) < (wanted[i] as bigint),
    );
    if (limits.some(({ isShadow }, i) => isShort[i] && !isShadow)) return undefined;
    const charged = limits.flatMap((limit, i) => (isShort[i] ? [] : [{ limit, i }]));
    const wouldRefuse = limits.flatMap(({ name }, i) => (isShort[i] ? [name] : []));
    const whole = this.rooms.findIndex((rooms) =>
      charged.every(({ i }) => (wanted[i] as bigint) <= (rooms[i] as bigint)),
    );
    if (whole >= 0) {
      const charges = charged.map(
        ({ limit: { name }, i }) => [name, { milli: amounts[name] ?? 0n, units: wanted[i] as bigint }] as const,
      );
      return {
        kind: 'take',
        placements: [{ index: (this.shards[whole] as ShardAt).index, charges: Object.fromEntries(charges) }],
        wouldRefuse,
      };
    }
    return { kind: 'take', placements: this.split(charged, amounts, shardCount), wouldRefuse };
  }

  /** The whole of a take on the first shard, though it does not seem to fit there: the condition of its write decides. */
  force({ amounts }: Pick<Take, 'amounts'>): Placed {
    const [{ index, shard }] = this.shards as [ShardAt];
    const charges = shard.limits.map(({ name, ...limit }) => {
      const milli = amounts[name] ?? 0n;
      return [name, { milli, units: unitsOf(limit, milli, shard.shardCount) }] as const;
    });
    return { kind: 'take', placements: [{ index, charges: Object.fromEntries(charges) }], wouldRefuse: [] };
  }

  /** What is entered so far; `restore` undoes what comes after. */
  snapshot(): () => void {
    const rooms = this.rooms.map((of) => [...of]);
    const changes = [...this.changes].map(
      ([index, change]) => [index, { ...change, limits: new Map(change.limits) }] as const,
    );
    return () => {
      for (const [at, of] of rooms.entries()) this.rooms[at] = of;
      this.changes.clear();
      for (const [index, change] of changes) this.changes.set(index, change);
    };
  }

  private split(
    charged: readonly { readonly limit: LimitState; readonly i: number }[],
    amounts: Amounts,
    shardCount: number,
  ): Placement[] {
    const parts = this.shards.map((): Record<string, Charge> => ({}));
    for (const { limit, i } of charged) {
      const rooms = this.rooms.map((of) => of[i] as bigint);
      const split = splitAmount(rooms, amounts[limit.name] ?? 0n, unitsOf(limit, 1n, shardCount)) ?? [];
      for (const [at, charge] of split.entries())
        if (charge.units > 0n) (parts[at] as Record<string, Charge>)[limit.name] = charge;
    }
    const placements = parts.flatMap((charges, at) =>
      Object.keys(charges).length > 0 ? [{ index: (this.shards[at] as ShardAt).index, charges }] : [],
    );
    // Of nothing at all: one shard counts it, and the lease has to know the bucket.
    return placements.length > 0 ? placements : [{ index: (this.shards[0] as ShardAt).index, charges: {} }];
  }

  /** Enters a take where it was placed: one of its shards counts it as an acquire. */
  take({ slot, mayExpire }: Take, { placements }: Placed): void {
    for (const [nth, { index, charges }] of placements.entries()) {
      const at = this.shards.findIndex((each) => each.index === index);
      const { limits } = (this.shards[at] as ShardAt).shard;
      const entered = this.changeOf(index, nth === 0 ? 1 : 0, mayExpire);
      for (const [i, limit] of limits.entries()) {
        const { milli, units } = charges[limit.name] ?? { milli: 0n, units: 0n };
        const rooms = this.rooms[at] as bigint[];
        rooms[i] = (rooms[i] as bigint) - units;
        const held = limit.isConcurrency && milli > 0n ? { taken: { [slot.lease]: slot.untilMs } } : {};
        addChange(entered, identityOf(limit), {
          take: units,
          judged: limit.name in charges,
          consumedMilli: milli,
          ...held,
        });
      }
    }
  }

  /** Enters a settlement as far as the bucket is the one that the lease took from. */
  settle({ moves, events }: Settle): Settlement {
    const applied = moves.map((move, nth) => {
      const done: Record<string, Applied> = {};
      const [first] = this.shards;
      if (!first || (move.birth !== undefined && first.shard.birth !== move.birth)) return done;
      const targets = targetsOf(move, first.shard.shardCount);
      if (nth === 0 && events !== 0) this.changeOf(targets[0] as number, events, undefined);
      for (const [name, out] of Object.entries(move.out)) {
        const window = this.settleLimit(move, name, out, targets);
        if (window) done[name] = window;
      }
      return done;
    });
    return { kind: 'settle', applied };
  }

  private settleLimit(move: HoldingMove, name: string, out: Out, targets: readonly number[]): Applied | undefined {
    const { limits, kept, shardCount } = this.shardAt(targets[0] as number);
    const limit = [...limits, ...kept].find(
      (each) => each.name === name && (out.born === undefined || (each.born ?? 0) === out.born),
    );
    if (!limit) return undefined;
    const isReturn = out.units < 0n;
    const { windowEndMs } = asOf(limit, this.nowMs);
    if (isReturn && out.windowEndMs !== undefined && windowEndMs !== out.windowEndMs) return undefined;
    if (limit.isConcurrency) return this.settleSlot(limit, move, targets[0] as number) ? {} : undefined;
    const units = convertedUnits(out, move.shards, shardCount, limit);
    const parts = targets.map((index, nth) => ({ index, units, milli: nth === 0 ? out.milli : 0n }));
    // A debt on one shard would leave the others granting: what does not fit there is charged to all of them.
    const isSplit =
      units > 0n && shardCount > 1 && targets.some((index) => units > (this.roomOf(index, limit) ?? units));
    const split = isSplit ? this.levelled(limit, out.milli, unitsOf(limit, 1n, shardCount)) : parts;
    for (const part of split) {
      const consumedMilli = move.isTopUp ? 0n : part.milli;
      const change = part.units < 0n ? { giveBack: -part.units } : { charge: part.units };
      addChange(this.changeOf(part.index, 0, undefined), identityOf(limit), { ...change, consumedMilli });
      const there = this.roomAt(part.index, limit);
      if (there) there.rooms[there.i] = (there.rooms[there.i] as bigint) - part.units;
    }
    return {
      ...(windowEndMs === undefined ? {} : { windowEndMs }),
      ...(isSplit ? { split: { parts: split, shards: shardCount, period: limit.refillPeriodMs } } : {}),
    };
  }

  private levelled(limit: LimitState, milli: bigint, perMilli: bigint): SplitPart[] {
    const rooms = this.shards.map(({ index }) => this.roomOf(index, limit) ?? 0n);
    return levelCharge(rooms, milli, perMilli).flatMap((charge, at) =>
      charge.units > 0n ? [{ index: (this.shards[at] as ShardAt).index, ...charge }] : [],
    );
  }

  private roomOf(index: number, limit: LimitState): bigint | undefined {
    const there = this.roomAt(index, limit);
    return there?.rooms[there.i];
  }

  /** Where the room of a limit on a shard is kept; undefined for a limit that is only kept itself: nobody takes from it. */
  private roomAt(index: number, limit: LimitState): { readonly rooms: bigint[]; readonly i: number } | undefined {
    const at = this.shards.findIndex((each) => each.index === index);
    const i = this.shards[at]?.shard.limits.findIndex((each) => identityOf(each) === identityOf(limit)) ?? -1;
    return i < 0 ? undefined : { rooms: this.rooms[at] as bigint[], i };
  }

  private settleSlot(limit: LimitState, { slot }: HoldingMove, index: number): boolean {
    if (!slot || limit.slots?.[slot.lease] === undefined) return false;
    const { lease, untilMs } = slot;
    const change =
      untilMs === undefined
        ? { giveBack: slotMilli, consumedMilli: -slotMilli, freed: [lease] }
        : { renewed: { [lease]: untilMs } };
    addChange(this.changeOf(index, 0, undefined), identityOf(limit), change);
    return true;
  }

  /** One change for each shard that is written. */
  result(): { readonly index: number; readonly change: ShardChange }[] {
    return [...this.changes].map(([index, { limits, events, mayExpire, isAsItIs }]) => ({
      index,
      change: isAsItIs ? { limits, events } : { limits, events, mayExpire },
    }));
  }

  private shardAt(index: number): Shard {
    return (this.shards.find((each) => each.index === index) as ShardAt).shard;
  }

  private changeOf(index: number, events: number, mayExpire: boolean | undefined): Map<string, LimitChange> {
    const change = this.changes.get(index) ?? {
      limits: new Map<string, LimitChange>(),
      events: 0,
      mayExpire: true,
      isAsItIs: false,
    };
    change.events += events;
    change.mayExpire &&= mayExpire !== false;
    change.isAsItIs ||= mayExpire === undefined;
    this.changes.set(index, change);
    return change.limits;
  }
}

/** The shards that a holding is on by now: of twice as many, two; of fewer, the one that it was folded into. */
export const targetsOf = ({ shard, shards }: Pick<Holding, 'shard' | 'shards'>, shardCount: number): number[] =>
  shardCount <= shards
    ? [shard % shardCount]
    : Array.from({ length: shardCount / shards }, (_, i) => shard + i * shards);
