import { LRUCache } from 'lru-cache';
import type { StoreClient } from '../dynamo/client.js';
import { key } from '../dynamo/keys.js';

const table = 'daily_total';
const prefix = 'label_';

export const labelsKey = (orgId: string) => ({ PK: key`ORG#${orgId}`, SK: '#LABELS' });

/**
 * The labels that each org has ever spent on. A report must name them all, also those that the catalog of its own process
 * does not have: removed since, or added by a newer version that is being rolled out.
 */
export class LabelStore {
  private readonly noted = new LRUCache<string, Promise<void>>({ max: 50_000 });

  constructor(private readonly client: StoreClient) {}

  /** Before the first cost of a label is recorded: one write per process, org and label. */
  note(orgId: string, label: string): Promise<void> {
    const name = `${orgId} ${label}`;
    const known = this.noted.get(name);
    if (known) return known;
    const noting = this.write(orgId, label);
    this.noted.set(name, noting);
    noting.catch(() => this.noted.delete(name));
    return noting;
  }

  /** Consistent: a report that is called exact must not miss a label noted a moment ago. */
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
