import type { Item, Key, Page, StoreClient } from '../../dynamo/client.js';
import { absent, and, atMost, beginsWith, equals, or, present } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type TransactItem, transactItem } from '../../dynamo/transact-item.js';
import { randomToken } from '../../lib/id.js';
import { BucketPurge } from '../buckets/purge.store.js';
import {
  bucketOfDirectoryKey,
  directoryPrefix,
  leasePartitions,
  namespaceIdKey,
  namespaceKey,
} from '../limiter-keys.js';

const table = 'limiter';
const partitionsAtOnce = 8;
const idPrefix = '#NSID#';

/** A namespace that was replaced and whose items the worker deletes. */
export interface PurgedNamespace {
  readonly namespace: string;
  readonly purgedAtMs: number;
}

/** Maps orgs to namespaces, and deletes the items of purged namespaces. */
export class NamespaceStore {
  private readonly buckets: BucketPurge;

  constructor(private readonly client: StoreClient) {
    this.buckets = new BucketPurge(client);
  }

  async load(orgId: string): Promise<string | undefined> {
    const item = await this.client.get(table, namespaceKey(orgId), { consistent: true });
    return item && fields(table, item).optionalString('namespace_id');
  }

  /** Gives an org its first namespace. False if it already has one. */
  async create(orgId: string, namespace: string): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [
      { table, put: { ...namespaceKey(orgId), namespace_id: namespace }, condition: absent('PK') },
      { table, put: { ...namespaceIdKey(namespace), org_id: orgId }, condition: absent('PK'), fresh: true },
    ]);
    return done;
  }

  /** Replaces the namespace of an org and marks the old one as purged. False if the org no longer has the old one. */
  async replace(
    orgId: string,
    { old, fresh }: { readonly old: string; readonly fresh: string },
    nowMs: number,
    riders: readonly TransactItem[],
  ): Promise<boolean> {
    const { done } = await this.client.transact(
      'fresh',
      [
        { table, update: namespaceKey(orgId), set: { namespace_id: fresh }, condition: equals('namespace_id', old) },
        { table, put: { ...namespaceIdKey(fresh), org_id: orgId }, condition: absent('PK'), fresh: true },
        { table, update: namespaceIdKey(old), set: { purged_at_ms: nowMs } },
      ],
      { riders },
    );
    return done;
  }

  /** Makes a transaction fail if the namespace was replaced meanwhile. */
  draftCheck(orgId: string, namespace: string): TransactItem {
    return transactItem({ table, check: namespaceKey(orgId), condition: equals('namespace_id', namespace) });
  }

  /** All namespaces, live and purged. */
  async listAll(): Promise<{ readonly live: string[]; readonly purged: PurgedNamespace[] }> {
    const live: string[] = [];
    const purged: PurgedNamespace[] = [];
    const { PK } = namespaceIdKey('x');
    const where = and(equals('PK', PK), beginsWith('SK', idPrefix));
    for (const item of await this.client.queryAll({ table, where })) {
      const read = fields(table, item);
      const namespace = read.string('SK').slice(idPrefix.length);
      const purgedAtMs = read.optionalNumber('purged_at_ms');
      if (purgedAtMs === undefined) live.push(namespace);
      else purged.push({ namespace, purgedAtMs });
    }
    return { live, purged };
  }

  /**
   * Deletes the items of a purged namespace, except leases. Keeps directory entries that were stamped after
   * `keepAfterMs`, because a gateway that has not seen the purge may be about to create the bucket. Returns the number
   * of items deleted.
   */
  async deleteItems(namespace: string, keepAfterMs: number): Promise<number> {
    let deleted = 0;
    let after: Key | undefined;
    do {
      const page: Page = await this.client.query({
        table,
        index: 'GSI4',
        where: equals('GSI4PK', namespace),
        ...(after ? { after } : {}),
      });
      const isEntry = ({ PK }: Item): boolean => (PK as string).startsWith(directoryPrefix(namespace));
      const others = page.items.filter((item) => !isEntry(item));
      await this.deleteAll(others);
      const ids = page.items.filter(isEntry).map(({ PK }) => bucketOfDirectoryKey(namespace, PK as string));
      deleted += others.length + (await this.buckets.deleteAll(ids, keepAfterMs));
      after = page.next;
    } while (after);
    return deleted;
  }

  /** Deletes the entry of a purged namespace, once it has no items left. */
  async deleteEntry(namespace: string): Promise<void> {
    await this.client.write({ table, delete: namespaceIdKey(namespace) }, { repeat: 'idempotent' });
  }

  /** True if this worker is to delete the leases of a purged namespace: one worker, at most once per `everyMs`. */
  async claimLeaseDeletion(namespace: string, nowMs: number, everyMs: number): Promise<boolean> {
    const nonce = randomToken(6);
    const isDue = or(absent('leases_at_ms'), atMost('leases_at_ms', nowMs - everyMs));
    const outcome = await this.client.write(
      // Another worker may have deleted the entry, and an update without this condition would create it again.
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

  /** Deletes the leases of a purged namespace. Returns the number of leases found. */
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
      items.map((item) => {
        const read = fields(table, item);
        return { delete: { PK: read.string('PK'), SK: read.string('SK') } };
      }),
    );
  }
}
