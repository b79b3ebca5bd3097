import { sleep } from '../lib/timers.js';

/**
 * How long the items of a committed transaction may become visible one by one. A reader can see one item as written
 * while another still has its old state. After this time all of them are visible.
 */
export const commitVisibleMs = 100;

/**
 * Reads the rows again after `commitVisibleMs`, so that rows of the same transactions that were not visible yet are
 * included. Stops at the last row of the first read: rows after it may be incomplete again.
 */
export async function rereadAfterCommit<T>(
  rows: readonly T[],
  read: () => Promise<readonly T[]>,
  nameOf: (row: T) => string | number,
): Promise<readonly T[]> {
  const last = rows.at(-1);
  if (!last) return rows;
  await sleep(commitVisibleMs);
  const again = await read();
  return again.slice(0, again.findLastIndex((row) => nameOf(row) === nameOf(last)) + 1 || again.length);
}
