import type { Item, Key, Page, StoreClient } from '../../dynamo/client.js';
import { absent, and, atMost, beginsWith, equals, or, present } from '../../dynamo/expression.js';
import { type TransactItem, transactItem } from '../../dynamo/transact-item.js';
import { randomToken } from '../../lib/id.js';
import { leasePartitions, namespaceIdKey, namespaceKey } from '../limiter-keys.js';

const table = 'limiter';
const partitionsAtOnce = 8;

/** A namespace that was given up and whose items are to be deleted. */
export interface Purged {
  readonly namespace: string;
  readonly sinceMs: number;
}

/** Which namespace is whose: the names of all of a limiter's items begin with it. */
export class NamespaceStore {
  constructor(private readonly client: StoreClient) {}

  async load(orgId: string): Promise<string | undefined> {
    const item = await this.client.get(table, namespaceKey(orgId), { consistent: true });
    return item?.namespace_id as string | undefined;
  }

  /** Gives an org its first namespace; false where it has got one meanwhile. */
  async create(orgId: string, namespace: string): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [
      { table, put: { ...namespaceKey(orgId), namespace_id: namespace }, condition: absent('PK') },
      { table, put: { ...namespaceIdKey(namespace), org_id: orgId }, condition: absent('PK'), fresh: true },
    ]);
    return done;
  }

  /** Gives an org another namespace in place of this one, which is then to be purged; false where it has another already. */
  async replace(
    orgId: string,
    { old, fresh }: { readonly old: string; readonly fresh: string },
    nowMs: number,
    drafts: readonly TransactItem[],
  ): Promise<boolean> {
    const { done } = await this.client.transact(
      'fresh',
      [
        { table, update: namespaceKey(orgId), set: { namespace_id: fresh }, condition: equals('namespace_id', old) },
        { table, put: { ...namespaceIdKey(fresh), org_id: orgId }, condition: absent('PK'), fresh: true },
        { table, update: namespaceIdKey(old), set: { purged_at_ms: nowMs } },
      ],
      { riders: drafts },
    );
    return done;
  }

  /** Keeps a write of another transaction from going into a namespace that was given up meanwhile. */
  draftCheck(orgId: string, namespace: string): TransactItem {
    return transactItem({ table, check: namespaceKey(orgId), condition: equals('namespace_id', namespace) });
  }

  async listAll(): Promise<{ readonly live: string[]; readonly purged: Purged[] }> {
    const live: string[] = [];
    const purged: Purged[] = [];
    const { PK } = namespaceIdKey('x');
    for (const { SK, purged_at_ms: sinceMs } of await this.client.queryAll({
      table,
      where: and(equals('PK', PK), beginsWith('SK', '#NSID#')),
    })) {
      const namespace = (SK as string).slice('#NSID#'.length);
      if (typeof sinceMs === 'number') purged.push({ namespace, sinceMs });
      else live.push(namespace);
    }
    return { live, purged };
  }

  /** Deletes a page of a purged namespace's items; returns how many it found. */
  async deleteSome(namespace: string): Promise<number> {
    const { items } = await this.client.query({ table, index: 'GSI4', where: equals('GSI4PK', namespace) });
    await this.deleteAll(items);
    return items.length;
  }

  async forgetPurged(namespace: string): Promise<void> {
    await this.client.write({ table, delete: namespaceIdKey(namespace) }, { repeat: 'idempotent' });
  }

  /** Lets one of several workers look for leases of a purged namespace, at most once every `everyMs`. */
  async takeLeases(namespace: string, nowMs: number, everyMs: number): Promise<boolean> {
    const nonce = randomToken(6);
    const isDue = or(absent('leases_at_ms'), atMost('leases_at_ms', nowMs - everyMs));
    const outcome = await this.client.write(
      // Only while it is purged: another worker may have forgotten it, and an update would make it again.
      {
        table,
        update: namespaceIdKey(namespace),
        set: { leases_at_ms: nowMs, leases_nonce: nonce },
        condition: and(present('purged_at_ms'), isDue),
      },
      { repeat: (old) => old.leases_nonce === nonce },
    );
    return outcome.done;
  }

  /** Deletes the leases of a purged namespace; returns how many it found. */
  async deleteLeases(namespace: string): Promise<number> {
    const partitions = leasePartitions(namespace);
    let deleted = 0;
    for (let i = 0; i < partitions.length; i += partitionsAtOnce) {
      const found = await Promise.all(
        partitions.slice(i, i + partitionsAtOnce).map((partition) => this.deletePartition(partition)),
      );
      deleted += found.reduce((sum, count) => sum + count, 0);
    }
    return deleted;
  }

  private async deletePartition(PK: string): Promise<number> {
    let deleted = 0;
    let after: Key | undefined;
    do {
      const page: Page = await this.client.query({
        table,
        where: equals('PK', PK),
        project: ['PK', 'SK'],
        ...(after ? { after } : {}),
      });
      await this.deleteAll(page.items);
      deleted += page.items.length;
      after = page.next;
    } while (after);
    return deleted;
  }

  private deleteAll(items: readonly Item[]): Promise<void> {
    return this.client.writeMany(
      table,
      items.map(({ PK, SK }) => ({ delete: { PK: PK as string, SK: SK as string } })),
    );
  }
}
