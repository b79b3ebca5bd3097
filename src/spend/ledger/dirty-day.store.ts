import type { Item, StoreClient, Write } from '../../dynamo/client.js';
import { equals } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { newUuid } from '../../lib/id.js';
import { sliceOf } from '../../orgs/scope.js';
import { shardTable } from '../shard.store.js';
import { dayKey } from '../spend.item.js';

/** A closed day of an org whose shards have changed since. */
export interface DirtyDay {
  readonly orgId: string;
  readonly day: string;
  /** New with each change. A mark is removed only if the change that it stands for was summed. */
  readonly nonce: string;
}

export const dirtyKey = (orgId: string, day: string) => ({ PK: key`DIRTY#${orgId}`, SK: dayKey(day) });
const dirtyIndex = (orgId: string, day: string) => ({
  gsi1pk: key`DIRTY#${sliceOf(orgId)}`,
  gsi1sk: key`${orgId}#${day}`,
});

/** Marks closed days that the aggregator has to sum again. */
export class DirtyDayStore {
  constructor(private readonly client: StoreClient) {}

  /** A write for the transaction that changes the shards. The mark expires with them. */
  draft(orgId: string, day: string, expiresAtSecs: number): Write {
    return {
      table: shardTable,
      put: {
        ...dirtyKey(orgId, day),
        ...dirtyIndex(orgId, day),
        org_id: orgId,
        day,
        nonce: newUuid(),
        expires_at_epoch: expiresAtSecs,
      },
    };
  }

  /** The marks of one slice, as they are now. The index is eventually consistent and may miss those of a second. */
  async list(slice: number): Promise<DirtyDay[]> {
    const entries = await this.client.queryAll({
      table: shardTable,
      index: 'gsi1',
      where: equals('gsi1pk', key`DIRTY#${slice}`),
    });
    const keys = entries.map((entry) => {
      const read = fields(shardTable, entry);
      return { PK: read.string('PK'), SK: read.string('SK') };
    });
    // Consistent, because the nonce must be older than the sum that follows.
    const items = await this.client.getMany(shardTable, keys, { consistent: true });
    return items.flatMap((item) => (item ? [toDirtyDay(item)] : []));
  }

  /** True if a closed day has changes that are not in its totals. A consistent read. */
  async isDirty(orgId: string, day: string): Promise<boolean> {
    return (await this.client.get(shardTable, dirtyKey(orgId, day), { consistent: true })) !== undefined;
  }

  /** Removes a mark unless the day has changed again. */
  async clear({ orgId, day, nonce }: DirtyDay): Promise<void> {
    await this.client.write(
      { table: shardTable, delete: dirtyKey(orgId, day), condition: equals('nonce', nonce) },
      { repeat: 'idempotent' },
    );
  }
}

function toDirtyDay(item: Item): DirtyDay {
  const read = fields(shardTable, item);
  return { orgId: read.string('org_id'), day: read.string('day'), nonce: read.string('nonce') };
}
