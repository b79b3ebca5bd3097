import { type Amounts, asOf, identityOf, type LimitState, room, slotMilli, unitsOf } from './bucket.js';
import { convertedUnits, type OutAmount, shardsOfHolding } from './holding.js';
import type { HoldingMove, Settle, SettledLimit, Settlement, SplitPart, Take } from './operation.js';
import { allLimits, type Shard, type ShardAt } from './shard.js';
import { type ShardChange, ShardChanges } from './shard-change.js';
import { type LimitCharge, levelCharge, splitAmount } from './split.js';

/** What is taken from one shard, by limit name. */
export interface Placement {
  readonly index: number;
  readonly charges: Readonly<Record<string, LimitCharge>>;
}

/** A take that fits, and the shards that it is taken from. Shadow limits that do not have enough are not charged. */
export interface PlacedTake {
  readonly kind: 'take';
  readonly placements: readonly Placement[];
  readonly wouldRefuse: readonly string[];
}

/** A limit and its position in the limit set. */
interface IndexedLimit {
  readonly limit: LimitState;
  readonly i: number;
}

/** Plans the writes of one group on one bucket. What one operation takes is not available to the next one. */
export class Plan {
  /** Per shard, per limit. */
  private readonly rooms: bigint[][];
  private readonly changes = new ShardChanges();

  constructor(
    private readonly shards: readonly ShardAt[],
    private readonly nowMs: number,
  ) {
    this.rooms = shards.map(({ shard }) => shard.limits.map((limit) => room(limit, nowMs)));
  }

  /**
   * Finds shards for a take: the first shard that has enough of every limit, or else a split over all of them.
   * Undefined if the shards together do not have enough.
   */
  place({ amounts }: Pick<Take, 'amounts'>): PlacedTake | undefined {
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
    if (whole < 0) return { kind: 'take', placements: this.split(charged, amounts, shardCount), wouldRefuse };
    const charges = charged.map(
      ({ limit: { name }, i }) => [name, { milli: amounts[name] ?? 0n, units: wanted[i] as bigint }] as const,
    );
    const { index } = this.shards[whole] as ShardAt;
    return { kind: 'take', placements: [{ index, charges: Object.fromEntries(charges) }], wouldRefuse };
  }

  private split(charged: readonly IndexedLimit[], amounts: Amounts, shardCount: number): Placement[] {
    const parts = this.shards.map((): Record<string, LimitCharge> => ({}));
    for (const { limit, i } of charged) {
      const rooms = this.rooms.map((ofShard) => ofShard[i] as bigint);
      const split = splitAmount(rooms, amounts[limit.name] ?? 0n, unitsOf(limit, 1n, shardCount)) ?? [];
      for (const [at, charge] of split.entries())
        if (charge.units > 0n) (parts[at] as Record<string, LimitCharge>)[limit.name] = charge;
    }
    const placements = parts.flatMap((charges, at) =>
      Object.keys(charges).length > 0 ? [{ index: (this.shards[at] as ShardAt).index, charges }] : [],
    );
    // A take of nothing still needs a shard that counts it, and its lease needs a holding that names the bucket.
    return placements.length > 0 ? placements : [{ index: (this.shards[0] as ShardAt).index, charges: {} }];
  }

  /** Puts the whole take on the first shard even if it does not seem to fit. The condition of the write decides. */
  force({ amounts }: Pick<Take, 'amounts'>): PlacedTake {
    const [{ index, shard }] = this.shards as [ShardAt];
    const charges = shard.limits.map(({ name, ...limit }) => {
      const milli = amounts[name] ?? 0n;
      return [name, { milli, units: unitsOf(limit, milli, shard.shardCount) }] as const;
    });
    return { kind: 'take', placements: [{ index, charges: Object.fromEntries(charges) }], wouldRefuse: [] };
  }

  /** Adds a placed take to the plan. Its first shard counts it as one acquire. */
  take({ slot, mayExpire }: Take, { placements }: PlacedTake): void {
    for (const [nth, { index, charges }] of placements.entries()) {
      const at = this.shards.findIndex((each) => each.index === index);
      const { limits } = (this.shards[at] as ShardAt).shard;
      this.changes.addOperation(index, nth === 0 ? 1 : 0, mayExpire);
      for (const [i, limit] of limits.entries()) {
        const { milli, units } = charges[limit.name] ?? { milli: 0n, units: 0n };
        const rooms = this.rooms[at] as bigint[];
        rooms[i] = (rooms[i] as bigint) - units;
        const slots = limit.isConcurrency && milli > 0n ? { taken: { [slot.lease]: slot.untilMs } } : {};
        this.changes.addToLimit(index, identityOf(limit), {
          take: units,
          checksCeiling: limit.name in charges,
          consumedMilli: milli,
          ...slots,
        });
      }
    }
  }

  /** Adds a settle to the plan, for the limits that still are those that the lease took from. */
  settle({ moves, events }: Settle): Settlement {
    const applied = moves.map((move, nth) => {
      const done: Record<string, SettledLimit> = {};
      const [first] = this.shards;
      if (!first || (move.incarnation !== undefined && first.shard.incarnation !== move.incarnation)) return done;
      const targets = shardsOfHolding(move, first.shard.shardCount);
      if (nth === 0 && events !== 0) this.changes.addOperation(targets[0] as number, events, undefined);
      for (const [name, out] of Object.entries(move.out)) {
        const settled = this.settleLimit(move, name, out, targets);
        if (settled) done[name] = settled;
      }
      return done;
    });
    return { kind: 'settle', applied };
  }

  private settleLimit(
    move: HoldingMove,
    name: string,
    out: OutAmount,
    targets: readonly number[],
  ): SettledLimit | undefined {
    const shard = this.shardAt(targets[0] as number);
    const limit = allLimits(shard).find(
      (each) =>
        each.name === name &&
        (out.sinceConversion === undefined || (each.sinceConversion ?? 0) === out.sinceConversion),
    );
    if (!limit) return undefined;
    const isReturn = out.units < 0n;
    const { windowEndMs } = asOf(limit, this.nowMs);
    if (isReturn && out.windowEndMs !== undefined && windowEndMs !== out.windowEndMs) return undefined;
    if (limit.isConcurrency) return this.settleSlot(limit, move, targets[0] as number) ? {} : undefined;
    const { shardCount } = shard;
    const units = convertedUnits(out, move.shards, shardCount, limit);
    // A debt on one shard would let the others still grant. So a charge that exceeds its shard's room goes to all
    // shards.
    const isSplit =
      units > 0n && shardCount > 1 && targets.some((index) => units > (this.roomOf(index, limit) ?? units));
    const parts = isSplit
      ? this.levelled(limit, out.milli, unitsOf(limit, 1n, shardCount))
      : targets.map((index, nth) => ({ index, units, milli: nth === 0 ? out.milli : 0n }));
    for (const part of parts) this.addPart(part, limit, move.isTopUp === true);
    return {
      ...(windowEndMs === undefined ? {} : { windowEndMs }),
      ...(isSplit ? { split: { parts, shards: shardCount, period: limit.refillPeriodMs } } : {}),
    };
  }

  private addPart({ index, units, milli }: SplitPart, limit: LimitState, isTopUp: boolean): void {
    const change = units < 0n ? { giveBack: -units } : { charge: units };
    this.changes.addOperation(index, 0, undefined);
    this.changes.addToLimit(index, identityOf(limit), { ...change, consumedMilli: isTopUp ? 0n : milli });
    const cell = this.roomCell(index, limit);
    if (cell) cell.rooms[cell.i] = (cell.rooms[cell.i] as bigint) - units;
  }

  private levelled(limit: LimitState, milli: bigint, perMilli: bigint): SplitPart[] {
    const rooms = this.shards.map(({ index }) => this.roomOf(index, limit) ?? 0n);
    return levelCharge(rooms, milli, perMilli).flatMap((charge, at) =>
      charge.units > 0n ? [{ index: (this.shards[at] as ShardAt).index, ...charge }] : [],
    );
  }

  private settleSlot(limit: LimitState, { slot }: HoldingMove, index: number): boolean {
    if (!slot || limit.slots?.[slot.lease] === undefined) return false;
    const { lease, untilMs } = slot;
    const change =
      untilMs === undefined
        ? { giveBack: slotMilli, consumedMilli: -slotMilli, freed: [lease] }
        : { renewed: { [lease]: untilMs } };
    this.changes.addOperation(index, 0, undefined);
    this.changes.addToLimit(index, identityOf(limit), change);
    return true;
  }

  /** Returns a function that undoes everything that was planned after this call. */
  snapshot(): () => void {
    const rooms = this.rooms.map((ofShard) => [...ofShard]);
    const undoChanges = this.changes.snapshot();
    return () => {
      for (const [at, ofShard] of rooms.entries()) this.rooms[at] = ofShard;
      undoChanges();
    };
  }

  /** One change per shard that has to be written. */
  result(): { readonly index: number; readonly change: ShardChange }[] {
    return this.changes.result();
  }

  private shardAt(index: number): Shard {
    return (this.shards.find((each) => each.index === index) as ShardAt).shard;
  }

  private roomOf(index: number, limit: LimitState): bigint | undefined {
    const cell = this.roomCell(index, limit);
    return cell?.rooms[cell.i];
  }

  /** Where `rooms` has the room of a limit; undefined for a retired limit, because nobody takes from it. */
  private roomCell(index: number, limit: LimitState): { readonly rooms: bigint[]; readonly i: number } | undefined {
    const at = this.shards.findIndex((each) => each.index === index);
    const i = this.shards[at]?.shard.limits.findIndex((each) => identityOf(each) === identityOf(limit)) ?? -1;
    return i < 0 ? undefined : { rooms: this.rooms[at] as bigint[], i };
  }
}
