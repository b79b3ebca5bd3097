import type { StoreClient } from '../../dynamo/client.js';
import { absent } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key, slashed } from '../../dynamo/keys.js';

const table = 'usage_agg_sharded';

/** One dimension of an org on one local day. */
export interface DimensionDay {
  readonly orgId: string;
  readonly name: string;
  readonly day: string;
}

const partition = ({ orgId, name, day }: DimensionDay): string =>
  key`ORG#${orgId}#DIM#${name}#${day.replaceAll('-', '')}#VALUES`;
export const valueKey = (id: DimensionDay, value: string) => ({ PK: partition(id), SK: key`V#${slashed(value)}` });
export const valueCountKey = (id: DimensionDay) => ({ PK: partition(id), SK: '#COUNT' });

/** The values that each dimension has had on a day, and their number. */
export class DimensionValueStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Adds a value. The count is written after the value and not together with it, because costs of many values at the
   * same time would conflict on one item. A crash between the two makes the count one too small.
   */
  async add(id: DimensionDay, value: string, expiresAtSecs: number): Promise<void> {
    const put = { ...valueKey(id, value), expires_at_epoch: expiresAtSecs };
    const { done } = await this.client.write({ table, put, condition: absent('PK') }, { repeat: () => true });
    if (!done) return;
    const set = { expires_at_epoch: expiresAtSecs };
    await this.client.write({ table, update: valueCountKey(id), add: { values: 1 }, set });
  }

  async has(id: DimensionDay, value: string): Promise<boolean> {
    return (await this.client.get(table, valueKey(id, value), { consistent: true })) !== undefined;
  }

  /** How many values a dimension has had on a day. */
  async count(id: DimensionDay): Promise<number> {
    const item = await this.client.get(table, valueCountKey(id));
    return (item && fields(table, item).optionalNumber('values')) ?? 0;
  }
}
