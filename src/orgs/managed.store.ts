import type { StoreClient, Write } from '../dynamo/client.js';
import { and, beginsWith, equals, type Item } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key, slashed } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import type { ManagedItem } from './managed-item.js';

const table = 'config';
const prefix = 'MANAGED#';

const managedKey = (tenant: string, item: string) => ({
  PK: key`ORG#${tenant}`,
  SK: key`MANAGED#${slashed(item)}`,
});

/** The records of configuration files about what they manage. `tenant`: an org, or the platform. */
export class ManagedStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * The records by item, after `after`. A consistent read, because the next apply starts from it. `next` is present if
   * the records are so large that DynamoDB returned fewer than `limit`.
   */
  async list(
    tenant: string,
    limit: number,
    after?: string,
  ): Promise<{ readonly rows: readonly ManagedItem[]; readonly next?: string }> {
    const { items, next } = await this.client.query({
      table,
      where: and(equals('PK', key`ORG#${tenant}`), beginsWith('SK', prefix)),
      limit,
      consistent: true,
      ...(after === undefined ? {} : { after: managedKey(tenant, after) }),
    });
    const rows = items.map(toManagedItem);
    const last = rows.at(-1)?.item;
    return next && rows.length < limit && last !== undefined ? { rows, next: last } : { rows };
  }

  /** Replaces and deletes records in one transaction. The last writer wins. */
  async save(
    tenant: string,
    saved: readonly ManagedItem[],
    removed: readonly string[],
    riders: readonly TransactItem[],
  ): Promise<void> {
    const writes: Write[] = [
      ...saved.map((record) => ({ table, put: toItem(tenant, record) }) as const),
      ...removed.map((item) => ({ table, delete: managedKey(tenant, item) }) as const),
    ];
    await this.client.transact('fresh', writes, { riders });
  }
}

const toItem = (tenant: string, { item, manager, document, version, intent, updatedAt }: ManagedItem): Item => ({
  ...managedKey(tenant, item),
  manager,
  document,
  applied_version: version,
  intent,
  updated_at_ms: updatedAt.getTime(),
});

function toManagedItem(item: Item): ManagedItem {
  const read = fields(table, item);
  const document = read.optionalString('document');
  const version = read.optionalNumber('applied_version');
  const intent = read.optionalString('intent');
  return {
    item: read.string('SK').slice(prefix.length),
    manager: read.string('manager'),
    ...(document === undefined ? {} : { document }),
    ...(version === undefined ? {} : { version }),
    ...(intent === undefined ? {} : { intent }),
    updatedAt: read.date('updated_at_ms'),
  };
}
