import { ulidMs } from '../lib/id.js';

/**
 * Gateways read the last part of the feed again with each poll, because rows do not become visible in their order. It
 * covers the longest time that a call takes to store a segment (about 5 s) and the difference of the gateways' clocks.
 */
export const feedWindowMs = 10_000;
/** A busier feed may repeat some readings after it was resumed. */
const maxSeen = 16;

/** A place in the feed of an org: the content of a cursor. */
export interface FeedPosition {
  /** The row of the last reading that was delivered. Empty: none. */
  readonly rowId: string;
  /** The place of that reading in its segment. */
  readonly index: number;
  /** The time of the newest row that was delivered. A resumed stream reads the feed from `feedWindowMs` before it. */
  readonly newestMs: number;
  /** Other rows in that window that were delivered completely. */
  readonly seen: readonly string[];
}

export const startOf = (newestMs: number): FeedPosition => ({ rowId: '', index: -1, newestMs, seen: [] });

/** The position after one more reading, of row `rowId`. */
export function advanced(from: FeedPosition, rowId: string, index: number): FeedPosition {
  if (rowId === from.rowId) return { ...from, index };
  const newestMs = Math.max(from.newestMs, ulidMs(rowId));
  const seen = [...from.seen, from.rowId].filter((id) => id !== '' && ulidMs(id) >= newestMs - feedWindowMs);
  return { rowId, index, newestMs, seen: seen.slice(-maxSeen) };
}

export const formatFeedPosition = ({ rowId, index, newestMs, seen }: FeedPosition): string =>
  [rowId || '-', index, newestMs, ...seen].join(' ');

/** The position in a cursor. Cursors are sealed, so only `formatFeedPosition` can have made it. */
export function parseFeedPosition(text: string): FeedPosition {
  const [rowId = '', index = '', newestMs = '', ...seen] = text.split(' ');
  return { rowId: rowId === '-' ? '' : rowId, index: Number(index), newestMs: Number(newestMs), seen };
}
