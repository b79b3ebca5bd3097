import { badInput } from '../../lib/errors.js';
import { type PriceEntry, sortedEntries } from './price.js';

/** A price from a time on, until the next change. Without entries: no price of this kind from then on. */
export interface PriceChange {
  readonly fromMs: number;
  readonly entries: readonly PriceEntry[];
}

const dayMs = 86_400_000;
/** How far back a change may take effect. Costs are accepted for a day; the rest is for corrections of the history. */
export const maxBackDays = 35;
export const maxAheadDays = 365;
/** Changes older than this are dropped, except the last of them. */
export const historyDays = 40;
/** Bounds the history of a label, and with it the size of its item. */
export const maxPriceChanges = 32;

/** The entries in force at a time. Undefined if there are none. `history` is sorted by time. */
export function entriesAt(history: readonly PriceChange[], atMs: number): readonly PriceEntry[] | undefined {
  const entries = history.findLast(({ fromMs }) => fromMs <= atMs)?.entries;
  return entries && entries.length > 0 ? entries : undefined;
}

/** The history with a change. A change from the same time is replaced; changes that are too old are dropped. */
export function withChange(history: readonly PriceChange[], change: PriceChange, nowMs: number): PriceChange[] {
  const changed = [...history.filter(({ fromMs }) => fromMs !== change.fromMs), change].sort(
    (a, b) => a.fromMs - b.fromMs,
  );
  // The last change before the window still decides at the beginning of it.
  const first = changed.findLastIndex(({ fromMs }) => fromMs <= nowMs - historyDays * dayMs);
  return changed.slice(Math.max(0, first));
}

/** True if a change may take effect at this time. */
export const isWithinReach = (fromMs: number, nowMs: number): boolean =>
  fromMs >= nowMs - maxBackDays * dayMs && fromMs <= nowMs + maxAheadDays * dayMs;

/** A price to set from a time on. */
export interface PriceInput {
  /** Absent or null: now. */
  readonly effectiveFrom?: Date | null | undefined;
  /** None: no price of this kind from then on. */
  readonly prices?: readonly PriceEntry[] | null | undefined;
}

/** The history with the price of the input. Throws if it would be too long. */
export function nextHistory(history: readonly PriceChange[], input: PriceInput, nowMs: number): PriceChange[] {
  const { effectiveFrom, prices } = input;
  const change = { fromMs: effectiveFrom?.getTime() ?? nowMs, entries: sortedEntries(prices ?? []) };
  const changed = withChange(history, change, nowMs);
  if (changed.length > maxPriceChanges)
    throw badInput({
      path: 'input.effectiveFrom',
      message: `the label would have more than ${maxPriceChanges} price changes; use the time of an existing change`,
    });
  return changed;
}
