import type { StoreClient } from '../../dynamo/client.js';
import { absent, equals, type Item } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import {
  fromChangeList,
  orgPriceKey,
  orgPricesPartition,
  catalogTable as table,
  toChangeList,
} from './catalog.item.js';
import type { PriceChange } from './price-history.js';

/** The prices of an org for one label, which apply instead of those of the catalog. */
export interface OrgPrice {
  readonly label: string;
  readonly version: number;
  /** Oldest first. */
  readonly changes: readonly PriceChange[];
}

/** The prices that orgs have instead of those of the catalog: one item per org and label. */
export class OrgPriceStore {
  constructor(private readonly client: StoreClient) {}

  /** All prices of an org, by label. A consistent read, because the result is cached. */
  async list(orgId: string): Promise<OrgPrice[]> {
    const where = equals('PK', orgPricesPartition(orgId));
    return (await this.client.queryAll({ table, where, consistent: true })).map(toOrgPrice);
  }

  /** A consistent read, because a change starts from the result. */
  async read(orgId: string, label: string): Promise<OrgPrice | undefined> {
    const item = await this.client.get(table, orgPriceKey(orgId, label), { consistent: true });
    return item && toOrgPrice(item);
  }

  /** Saves a price if the stored version is the one before. False if another change came between. */
  async save(orgId: string, price: OrgPrice, riders: readonly TransactItem[]): Promise<boolean> {
    const put = {
      ...orgPriceKey(orgId, price.label),
      model_label: price.label,
      price_version: price.version,
      price_changes: toChangeList(price.changes),
    };
    const condition = price.version === 1 ? absent('PK') : equals('price_version', price.version - 1);
    const { done } = await this.client.transact('fresh', [{ table, put, condition }], { riders });
    return done;
  }
}

export function toOrgPrice(item: Item): OrgPrice {
  const read = fields(table, item);
  return {
    label: read.string('model_label'),
    version: read.number('price_version'),
    changes: fromChangeList(item),
  };
}
