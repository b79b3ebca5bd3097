import { sleep } from '../lib/timers.js';

/**
 * A transaction's items change together, but not for whoever reads them one by one: one may be read as written while
 * another still reads as it was. After this time they all read as written.
 */
export const commitVisibleMs = 100;

/** These rows, and whatever else was written together with them: read again, up to the last of them. */
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
