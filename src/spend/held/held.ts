/*
 * Money that is held: settled and reserved costs of a HARD quota or budget, in one number on one item.
 *
 * Reading order: this file (slots and images), reserve-plan.ts and settle-plan.ts (what a group of requests does to the
 * items), held.item.ts (the items), hold.service.ts (which items a cost counts in), reservation.item.ts (the request
 * item while it is reserved), reserve.store.ts, held.store.ts (sweep, base), overrun.store.ts. Costs are settled by
 * ../cost.store.ts.
 */

/** Reservations are summed by the slot in which they expire. Slots are absolute numbers: epoch time by five minutes. */
export const slotMs = 5 * 60_000;
/** `swept` of an item that was never swept. */
export const noSlot = -1;

/** What an item holds. */
export interface HeldImage {
  /** Settled and reserved, in micro-dollars. */
  readonly held: number;
  /** The newest slot that was swept. Reservations up to this slot were returned. */
  readonly swept: number;
  /** The reserved amounts that were not returned, by slot. */
  readonly slots: ReadonlyMap<number, number>;
  /** Only of a budget: the spend of the days before it became HARD. Absent until it is known. */
  readonly base?: number;
}

/** An item that does not exist yet. */
export const emptyHeld: HeldImage = { held: 0, swept: noSlot, slots: new Map() };

/** A bound that a cost counts against, by the name of its item. */
export interface NamedLimit {
  readonly name: string;
  readonly limitUsdMicros: number;
}

/**
 * The slot of a reservation that is made now. An item that was swept further than this clock knows shows that the clock
 * is late, so time is taken from the item then: the slot is always one that was not swept.
 */
export const slotFor = (nowMs: number, ttlMs: number, swept: number): number =>
  Math.floor((Math.max(nowMs, sweepableFromMs(swept)) + ttlMs) / slotMs);

/** When a slot may be swept: one slot after its end. */
export const sweepableFromMs = (slot: number): number => (slot + 2) * slotMs;

/** The slots of an item that are due to be swept. */
export const dueSlots = ({ slots }: HeldImage, nowMs: number): number[] =>
  [...slots.keys()].filter((slot) => sweepableFromMs(slot) <= nowMs).sort((a, b) => a - b);

/** The amount that is reserved in these slots. */
export const reservedIn = ({ slots }: HeldImage, wanted: Iterable<number> = slots.keys()): number => {
  let sum = 0;
  for (const slot of wanted) sum += slots.get(slot) ?? 0;
  return sum;
};

/**
 * `swept` after a sweep of these slots. It never decreases: a clock that is very late can reserve in a slot while a
 * later one is swept, and that slot is due afterwards.
 */
export const sweptThrough = (swept: number, due: readonly number[]): number => Math.max(swept, ...due);

/** The item after a sweep of these slots. */
export function sweptImage(image: HeldImage, due: readonly number[]): HeldImage {
  const slots = new Map([...image.slots].filter(([slot]) => !due.includes(slot)));
  return { ...image, held: image.held - reservedIn(image, due), swept: sweptThrough(image.swept, due), slots };
}

/** The amount that one reservation may take of a bound. Exact: products pass 2^53. */
export const maxReservation = (limitUsdMicros: number, pct: number): number =>
  Number((BigInt(limitUsdMicros) * BigInt(pct)) / 100n);
