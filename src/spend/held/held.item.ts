import type { Key, Update } from '../../dynamo/client.js';
import {
  absent,
  and,
  atLeast,
  atMost,
  type Condition,
  equals,
  type Item,
  lessThan,
  or,
  present,
} from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { sha256 } from '../../lib/id.js';
import { compactDate } from '../../orgs/calendar.js';
import { type Scope, type SpendId, sliceOf } from '../../orgs/scope.js';
import { activeKey, activeSortKey, shardKey } from '../spend.item.js';
import { type HeldImage, type NamedLimit, noSlot, sweptThrough } from './held.js';
import type { ReservedItem } from './reserve-plan.js';
import type { SettledItem } from './settle-plan.js';

const heldTable = 'usage_agg_sharded';

/**
 * The item of a quota is shard 0 of its label and day. A budget has one item per period and per run of HARD days, so
 * that what was counted in an earlier run, or under another scope, does not count in this one.
 */
export type HeldRef =
  | { readonly kind: 'quota'; readonly id: SpendId }
  | {
      readonly kind: 'budget';
      readonly orgId: string;
      readonly budget: string;
      readonly scopeHash: string;
      readonly firstDay: string;
      /** The first day of the run. */
      readonly since: string;
    };

/** A bound of a cost, with the item that holds what counts against it. */
export interface HeldLimit extends NamedLimit {
  readonly ref: HeldRef;
  /** The name of the budget, or the label of the quota. */
  readonly title: string;
  /** When the day or the period ends. */
  readonly endsAtMs: number;
  /** The last day of the period of a budget. */
  readonly lastDay: string;
  /** True if days before it became HARD count too, whose sum the item must have before anything can be reserved. */
  readonly needsBase: boolean;
}

export const scopeHashOf = (scope: string): string => sha256(scope).slice(0, 8);

export const heldKey = (ref: HeldRef): Key =>
  ref.kind === 'quota'
    ? shardKey(ref.id, 0)
    : {
        PK: key`ORG#${ref.orgId}#HELD#${ref.budget}#${ref.scopeHash}`,
        SK: key`${compactDate(ref.firstDay)}#${compactDate(ref.since)}`,
      };

export const nameOfKey = ({ PK, SK }: Key): string => `${PK} ${SK}`;
export const heldName = (ref: HeldRef): string => nameOfKey(heldKey(ref));

/** The short form in the item of a request, which knows its app, label and day. */
export const heldText = (ref: HeldRef): string =>
  ref.kind === 'quota'
    ? ref.id.appId === undefined
      ? 'ORG'
      : 'APP'
    : `${ref.budget}#${ref.scopeHash}#${ref.firstDay}#${ref.since}`;

export function parseHeldText(
  text: string,
  { orgId, appId, label, day }: { orgId: string; appId: string; label: string; day: string },
): HeldRef {
  const scope: Scope = text === 'APP' ? { orgId, appId } : { orgId };
  if (text === 'ORG' || text === 'APP') return { kind: 'quota', id: { ...scope, label, day } };
  const [budget = '', scopeHash = '', firstDay = '', since = ''] = text.split('#');
  return { kind: 'budget', orgId, budget, scopeHash, firstDay, since };
}

const slotName = (slot: number): string => `r${slot}`;
const slotPattern = /^r(\d+)$/;

/** An item that does not exist holds nothing. */
export function toHeld(item: Item): HeldImage {
  const read = fields(heldTable, item);
  const slots = Object.keys(item).flatMap((name): [number, number][] => {
    const slot = slotPattern.exec(name)?.[1];
    return slot === undefined ? [] : [[Number(slot), read.number(name)]];
  });
  const base = read.optionalNumber('base');
  return {
    held: Math.min(Number(read.optionalBigint('held') ?? 0n), Number.MAX_SAFE_INTEGER),
    swept: read.optionalNumber('swept') ?? noSlot,
    slots: new Map(slots),
    ...(base === undefined ? {} : { base }),
  };
}

/** The partition of the index that lists the items of budgets of a slice, by the last day of their period. */
export const heldIndexKey = (slice: number): string => key`HELD#${slice}`;

/**
 * Set when the item is created. That of a quota is listed with the costs of its day, so that the aggregator finds it.
 */
function indexOf({ ref, lastDay }: HeldLimit): Item {
  if (ref.kind === 'quota') {
    const { id } = ref;
    return { gsi1pk: activeKey(id.day, sliceOf(id.orgId), 0), gsi1sk: activeSortKey(id) };
  }
  return { gsi1pk: heldIndexKey(sliceOf(ref.orgId)), gsi1sk: key`${compactDate(lastDay)}#${ref.orgId}#${ref.budget}` };
}

/** Readers of a shard expect its counters. */
const noCosts = { cost_usd_micros: 0, input_tokens: 0, output_tokens: 0, requests: 0 };

/** What every write to the item of a bound has in common. */
export const heldUpdate = (limit: HeldLimit, expiresAtSecs: number): Update => ({
  table: heldTable,
  update: heldKey(limit.ref),
  add: limit.ref.kind === 'quota' ? noCosts : {},
  setIfAbsent: { ...indexOf(limit), expires_at_epoch: expiresAtSecs },
});

const slotAdds = (slots: ReadonlyMap<number, number>) =>
  Object.fromEntries([...slots].map(([slot, amount]) => [slotName(slot), amount]));

const isSweptBelow = (slot: number): Condition => or(absent('swept'), lessThan('swept', slot));

/** Adds reservations to an item if they all fit. */
export const withReserves = (
  update: Update,
  { addHeld, slots, maxHeld, minSlot }: ReservedItem,
  needsBase: boolean,
): Update => ({
  ...update,
  add: { ...update.add, held: addHeld, ...slotAdds(slots) },
  condition: and(
    ...(needsBase ? [present('base')] : []),
    or(absent('held'), atMost('held', maxHeld)),
    isSweptBelow(minSlot),
  ),
});

/** Adds costs to an item and takes the reservations that they settle from it. */
export function withSettles(update: Update, { addHeld, slots, sweptBelow, sweptFrom, maxHeld }: SettledItem): Update {
  const conditions = [
    ...(sweptBelow === undefined ? [] : [isSweptBelow(sweptBelow)]),
    ...(sweptFrom === undefined ? [] : [atLeast('swept', sweptFrom)]),
    ...(maxHeld === undefined ? [] : [or(absent('held'), atMost('held', maxHeld))]),
  ];
  return {
    ...update,
    add: { ...update.add, held: addHeld, ...slotAdds(slots) },
    ...(conditions.length > 0 ? { condition: and(...conditions) } : {}),
  };
}

/** Moves a reservation from one slot to a later one. */
export const moveWrite = (ref: HeldRef, amount: number, from: number, to: number): Update => ({
  table: heldTable,
  update: heldKey(ref),
  add: { [slotName(from)]: -amount, [slotName(to)]: amount },
  condition: isSweptBelow(from),
});

/** True if the item shows this sweep: no other write removes a slot. */
export const isSwept = (item: Item, { swept }: HeldImage, due: readonly number[]): boolean => {
  const image = toHeld(item);
  return image.swept === sweptThrough(swept, due) && !due.some((slot) => image.slots.has(slot));
};

/** Returns the reservations of slots that are over, if they are what was read. */
export const sweepWrite = (at: Key, { swept, slots }: HeldImage, due: readonly number[]): Update => ({
  table: heldTable,
  update: at,
  add: { held: -due.reduce((sum, slot) => sum + (slots.get(slot) ?? 0), 0) },
  set: { swept: sweptThrough(swept, due) },
  remove: due.map(slotName),
  condition: and(
    swept === noSlot ? absent('swept') : equals('swept', swept),
    ...due.map((slot) => equals(slotName(slot), slots.get(slot) ?? 0)),
  ),
});
