import { emptyHeld, type HeldImage, type NamedLimit, noSlot } from './held.js';
import type { Overrun } from './overrun.js';

/** The reservation that a cost settles. */
export interface Release {
  readonly amountUsdMicros: number;
  readonly slot: number;
  /** The names of its items. */
  readonly names: readonly string[];
  /** True if it was made so long ago that its items are left alone: a sweep returns its amount. */
  readonly isOld?: boolean;
}

/** A cost that is added to the items of its bounds, and that may settle a reservation. */
export interface SettleRequest {
  readonly amountUsdMicros: number;
  readonly charges: readonly NamedLimit[];
  readonly release?: Release | undefined;
}

/** What a group of costs does to one item. */
export interface SettledItem {
  addHeld: number;
  readonly slots: Map<number, number>;
  /** The reservations below are on time only if the item was not swept up to this slot. */
  sweptBelow?: number;
  /** The reservations that count as late are late only if the item was swept up to this slot. */
  sweptFrom?: number;
  /** The overruns are right only if the item holds at most this. */
  maxHeld?: number;
}

export interface SettlePlan {
  readonly items: ReadonlyMap<string, SettledItem>;
  /** One per request. */
  readonly overruns: readonly (Overrun | undefined)[];
  /** Items that have to be read first, because the overrun of a cost depends on what they hold. */
  readonly unknown: ReadonlySet<string>;
}

/**
 * What a group of costs does to its items, in order of arrival. A settle of a reservation that was not swept replaces
 * the reserved amount by the cost. If it was swept, its amount was returned already, and the cost is added in full.
 */
export function planSettles(requests: readonly SettleRequest[], images: ReadonlyMap<string, HeldImage>): SettlePlan {
  const items = new Map<string, SettledItem>();
  const unknown = new Set<string>();
  const itemOf = (name: string): SettledItem => {
    const item = items.get(name) ?? { addHeld: 0, slots: new Map() };
    items.set(name, item);
    return item;
  };
  const overruns = requests.map(({ amountUsdMicros: amount, charges, release }): Overrun | undefined => {
    const lateOn =
      release?.names.filter((name) => release.isOld || !isReturned(itemOf(name), images.get(name), release)) ?? [];
    const reserved = new Set(release?.names);
    let unreserved = 0;
    for (const charge of charges) {
      const item = itemOf(charge.name);
      if (!reserved.has(charge.name)) {
        const image = images.get(charge.name);
        const over = unreservedOver(item, image, amount, charge);
        if (over === 'unknown') unknown.add(charge.name);
        else unreserved = Math.max(unreserved, over);
      }
      item.addHeld += amount;
    }
    if (release && lateOn.length > 0 && amount > 0 && charges.length > 0)
      return { kind: 'LATE_SETTLE', overUsdMicros: amount };
    if (release && release.names.length > 0 && amount > release.amountUsdMicros && charges.length > 0)
      return { kind: 'ABOVE_RESERVATION', overUsdMicros: amount - release.amountUsdMicros };
    return unreserved > 0 ? { kind: 'UNRESERVED', overUsdMicros: unreserved } : undefined;
  });
  return { items, overruns, unknown };
}

/** Takes the reserved amount from an item. False if a sweep has returned it already. */
function isReturned(item: SettledItem, image: HeldImage | undefined, { amountUsdMicros, slot }: Release): boolean {
  const isLate = (image?.swept ?? noSlot) >= slot;
  if (isLate) {
    item.sweptFrom = Math.max(item.sweptFrom ?? slot, slot);
    return false;
  }
  item.sweptBelow = Math.min(item.sweptBelow ?? slot, slot);
  item.addHeld -= amountUsdMicros;
  item.slots.set(slot, (item.slots.get(slot) ?? 0) - amountUsdMicros);
  return true;
}

/** The part of a cost without a reservation that exceeds a bound. Narrows `maxHeld` to the state it is right for. */
function unreservedOver(
  item: SettledItem,
  image: HeldImage | undefined,
  amount: number,
  { limitUsdMicros }: NamedLimit,
): number | 'unknown' {
  const maxHeld = limitUsdMicros - item.addHeld - amount;
  const { held } = image ?? emptyHeld;
  if (held <= maxHeld) {
    item.maxHeld = Math.min(item.maxHeld ?? maxHeld, maxHeld);
    return 0;
  }
  if (!image) return 'unknown';
  item.maxHeld = Math.min(item.maxHeld ?? held, held);
  return Math.min(amount, held - maxHeld);
}
