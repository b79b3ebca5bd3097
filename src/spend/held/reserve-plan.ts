import { emptyHeld, type HeldImage, type NamedLimit, noSlot } from './held.js';

/** A reservation that is asked for. */
export interface ReserveRequest {
  readonly amountUsdMicros: number;
  readonly limits: readonly NamedLimit[];
  readonly slot: number;
}

/** What a group of reservations does to one item. */
export interface ReservedItem {
  readonly addHeld: number;
  readonly slots: ReadonlyMap<number, number>;
  /** All of them fit if the item holds at most this. */
  readonly maxHeld: number;
  /** The item must not have been swept up to this slot. */
  readonly minSlot: number;
}

export interface ReservePlan {
  /** Indexes of the requests that are written. */
  readonly admitted: readonly number[];
  /** Indexes of the requests that do not fit, not even alone. Those in neither list fit only without the others. */
  readonly denied: readonly number[];
  readonly items: ReadonlyMap<string, ReservedItem>;
}

interface Growing {
  addHeld: number;
  maxHeld: number;
  minSlot: number;
  readonly slots: Map<number, number>;
}

/** In order of arrival: each request that fits beside those before it is admitted. Unknown items count as empty. */
export function planReserves(requests: readonly ReserveRequest[], images: ReadonlyMap<string, HeldImage>): ReservePlan {
  const items = new Map<string, Growing>();
  const [admitted, denied]: [number[], number[]] = [[], []];
  const heldIn = (name: string) => (images.get(name) ?? emptyHeld).held;
  const added = (name: string) => items.get(name)?.addHeld ?? 0;
  for (const [i, { amountUsdMicros: amount, limits, slot }] of requests.entries()) {
    const fits = limits.every(({ name, limitUsdMicros }) => heldIn(name) + added(name) + amount <= limitUsdMicros);
    if (!fits) {
      if (limits.some(({ name, limitUsdMicros }) => heldIn(name) + amount > limitUsdMicros)) denied.push(i);
      continue;
    }
    admitted.push(i);
    for (const { name, limitUsdMicros } of limits) {
      const item = items.get(name) ?? newItem();
      item.addHeld += amount;
      item.maxHeld = Math.min(item.maxHeld, limitUsdMicros - item.addHeld);
      item.minSlot = Math.min(item.minSlot, slot);
      item.slots.set(slot, (item.slots.get(slot) ?? 0) + amount);
      items.set(name, item);
    }
  }
  return { admitted, denied, items };
}

const newItem = (): Growing => ({
  addHeld: 0,
  maxHeld: Number.MAX_SAFE_INTEGER,
  minSlot: Number.MAX_SAFE_INTEGER,
  slots: new Map(),
});

/** The bound that refuses a request most, and how much it allows. */
export interface Refusal {
  readonly name: string;
  readonly wouldPass: number;
  readonly missing: number;
}

/** The tightest bound of a request: the one that allows the smallest amount. `maxOf`: the largest one of each bound. */
export function tightestRefusal(
  amount: number,
  limits: readonly NamedLimit[],
  images: ReadonlyMap<string, HeldImage>,
  maxOf: (limit: NamedLimit) => number,
): Refusal | undefined {
  const refusals = limits.map((limit): Refusal => {
    const room = limit.limitUsdMicros - (images.get(limit.name) ?? emptyHeld).held;
    const wouldPass = Math.max(0, Math.min(room, maxOf(limit)));
    return { name: limit.name, wouldPass, missing: Math.max(0, amount - wouldPass) };
  });
  const [first, ...others] = refusals;
  return first && others.reduce((best, each) => (each.wouldPass < best.wouldPass ? each : best), first);
}

/** The newest slot that one of the items was swept to. */
export const sweptOf = (limits: readonly NamedLimit[], images: ReadonlyMap<string, HeldImage>): number =>
  Math.max(noSlot, ...limits.map(({ name }) => images.get(name)?.swept ?? noSlot));
