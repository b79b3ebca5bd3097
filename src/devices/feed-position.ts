import { ulidMs } from '../lib/id.js';

/**
 * Gateways read the last part of the feed again with each poll, because rows do not become visible in their order. It
 * covers the longest time that a call takes to store a segment (about 5 s) and the difference of the gateways' clocks.
 */
export const feedWindowMs = 10_000;
/** How far back a subscription can be resumed. */
export const feedRetentionMs = 86_400_000;
/** Feed rows are stored for longer, so that a subscription can also be resumed shortly after a gap. */
export const feedRowMs = feedRetentionMs + 3_600_000;
/**
 * The number of partitions of an org's feed, from which readers collect its rows: one per 8 cost shards, because both
 * are chosen by the load that the org expects and never change. A partition takes 1,000 segments per second.
 */
export const feedPartitions = (shardCount: number): number => Math.max(1, Math.floor(shardCount / 8));
/** Finds the number of partitions of the feed of an org. */
export type FeedPartitionsOf = (orgId: string) => Promise<number>;
/** A busier feed may repeat some readings after it was resumed. */
const maxSeen = 64;
/** The end of a ULID, 40 random bits, tells the rows of one window apart. */
const shortIdLength = 8;

/** A row that was delivered completely, or that arrived before the subscription. */
interface SeenRow {
  readonly shortId: string;
  readonly atMs: number;
}

/** A place in the feed of an org: the content of a cursor. */
export interface FeedPosition {
  /** The row of the last reading that was delivered. Empty: none. */
  readonly rowId: string;
  /** The place of that reading in its segment. */
  readonly index: number;
  /** The time of the newest row that was delivered. A resumed stream reads the feed from `feedWindowMs` before it. */
  readonly newestMs: number;
  /** The other rows in that window that a resumed stream leaves out. */
  readonly seen: readonly SeenRow[];
}

/** True if rows after this position may have expired. A position without a row is that of a gap, reported before. */
export const isTooOld = ({ rowId, newestMs }: FeedPosition, nowMs: number): boolean =>
  newestMs < nowMs - (rowId === '' ? feedRowMs : feedRetentionMs);

export const startOf = (newestMs: number): FeedPosition => ({ rowId: '', index: -1, newestMs, seen: [] });

/** The position after one more reading, of row `rowId`. */
export function advanced(from: FeedPosition, rowId: string, index: number): FeedPosition {
  if (rowId === from.rowId) return { ...from, index };
  const newestMs = Math.max(from.newestMs, ulidMs(rowId));
  const { seen } = from.rowId === '' ? from : passedOver({ ...from, newestMs }, from.rowId);
  return { rowId, index, newestMs, seen };
}

/** The position with one more row that is not delivered after it. */
export function passedOver(from: FeedPosition, rowId: string): FeedPosition {
  const row = { shortId: shortIdOf(rowId), atMs: ulidMs(rowId) };
  const seen = [...from.seen, row].filter(({ atMs }) => atMs >= from.newestMs - feedWindowMs);
  return { ...from, seen: seen.slice(-maxSeen) };
}

/** True if the row is left out after this position. */
export const hasSeen = ({ seen }: FeedPosition, rowId: string): boolean =>
  seen.length > 0 && seen.some(({ shortId }) => shortId === shortIdOf(rowId));

const shortIdOf = (rowId: string): string => rowId.slice(-shortIdLength);

export const formatFeedPosition = ({ rowId, index, newestMs, seen }: FeedPosition): string =>
  [
    rowId || '-',
    index,
    newestMs,
    ...seen.map(({ shortId, atMs }) => shortId + Math.max(0, newestMs - atMs).toString(36)),
  ].join(' ');

/** The position in a cursor. Cursors are sealed, so only `formatFeedPosition` can have made it. */
export function parseFeedPosition(text: string): FeedPosition {
  const [rowId = '', index = '', newest = '', ...rows] = text.split(' ');
  const newestMs = Number(newest);
  const seen = rows.map((row) => ({
    shortId: row.slice(0, shortIdLength),
    atMs: newestMs - Number.parseInt(row.slice(shortIdLength), 36),
  }));
  return { rowId: rowId === '-' ? '' : rowId, index: Number(index), newestMs, seen };
}
