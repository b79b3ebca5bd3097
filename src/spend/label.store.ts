import type { StoreClient } from '../dynamo/client.js';
import { key } from '../dynamo/keys.js';
import { Lru } from '../lib/lru.js';

const table = 'daily_total';
const prefix = 'label_';

export const labelsKey = (orgId: string) => ({ PK: key`ORG#${orgId}`, SK: '#LABELS' });

/**
 * The labels that each org has ever spent on. A report must include all of them, also labels that the catalog of its
 * process does not have because they were retired, or added a moment ago.
 */
export class LabelStore {
  private readonly cache = new Lru<string, Promise<void>>(50_000);

  constructor(private readonly client: StoreClient) {}

  /** Adds a label before its first cost is recorded. One write per process, org and label. */
  add(orgId: string, label: string): Promise<void> {
    const name = `${orgId} ${label}`;
    const cached = this.cache.get(name);
    if (cached) return cached;
    const writing = this.write(orgId, label);
    this.cache.set(name, writing);
    writing.catch(() => this.cache.delete(name));
    return writing;
  }

  /** `consistent` is for EXACT reports, which must include a label that was added a moment ago. */
  async load(orgId: string, { consistent = false }: { readonly consistent?: boolean } = {}): Promise<string[]> {
    const item = await this.client.get(table, labelsKey(orgId), { consistent });
    return Object.keys(item ?? {})
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .sort();
  }

  private async write(orgId: string, label: string): Promise<void> {
    await this.client.write(
      { table, update: labelsKey(orgId), set: { [prefix + label]: true } },
      { repeat: 'idempotent' },
    );
  }
}
