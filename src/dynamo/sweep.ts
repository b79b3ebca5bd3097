import { type Clock, epochSeconds } from '../lib/clock.js';
import type { Key, StoreClient } from './client.js';
import { lessThan } from './expression.js';
import { definitionOf, tableNames } from './tables.js';

/** Deletes expired items, because the embedded engine has no TTL. Returns how many. */
export async function sweepExpired(store: StoreClient, clock: Clock): Promise<number> {
  let swept = 0;
  for (const table of tableNames) {
    const { partitionKey, sortKey, ttl } = definitionOf(table);
    if (!ttl) continue;
    const nowSecs = epochSeconds(clock.nowMs());
    for (let after: Key | undefined, more = true; more; ) {
      const page = await store.scan(table, after);
      for (const item of page.items) {
        if (typeof item[ttl] !== 'number' || item[ttl] >= nowSecs) continue;
        const key = {
          [partitionKey]: item[partitionKey] as string,
          ...(sortKey ? { [sortKey]: item[sortKey] as string } : {}),
        };
        // The item stays if its expiry was extended after the scan.
        if (
          (await store.write({ table, delete: key, condition: lessThan(ttl, nowSecs) }, { repeat: 'idempotent' })).done
        )
          swept++;
      }
      after = page.next;
      more = after !== undefined;
    }
  }
  return swept;
}
