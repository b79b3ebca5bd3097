import type { StoreClient, Update } from '../../dynamo/client.js';
import { absent, atMost, type Condition, equals, or } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import {
  catalogHeadKey,
  catalogPartition,
  modelKey,
  catalogTable as table,
  toModel,
  toModelItem,
} from './catalog.item.js';
import { type CatalogModel, maxLabels } from './catalog.js';

export interface StoredCatalog {
  /** Grows with every change of the catalog. */
  readonly version: number;
  readonly models: readonly CatalogModel[];
}

/** `stale`: another change came between. `full`: the catalog has the maximum of labels. */
export type SaveOutcome = 'saved' | 'stale' | 'full';

/** The catalog: one item per label, and a head that counts labels and changes. */
export class CatalogStore {
  constructor(private readonly client: StoreClient) {}

  /** All models. A consistent read, because the result is cached. */
  async load(): Promise<StoredCatalog> {
    const items = await this.client.queryAll({ table, where: equals('PK', catalogPartition), consistent: true });
    const [head, ...models] = items[0]?.SK === catalogHeadKey.SK ? items : [undefined, ...items];
    return {
      version: head ? fields(table, head).number('catalog_version') : 0,
      models: models.flatMap((item) => (item ? [toModel(item)] : [])),
    };
  }

  /** The version of the catalog, for half a read unit. */
  async loadVersion(): Promise<number> {
    const head = await this.client.get(table, catalogHeadKey);
    return head ? fields(table, head).number('catalog_version') : 0;
  }

  /** A consistent read, because a change starts from the result. */
  async read(label: string): Promise<CatalogModel | undefined> {
    const item = await this.client.get(table, modelKey(label), { consistent: true });
    return item && toModel(item);
  }

  /** Stores new labels, all or none. A label that exists stays as it is, and then nothing is stored. */
  async seed(models: readonly CatalogModel[], riders: readonly TransactItem[]): Promise<SaveOutcome> {
    const puts = models.map((model) => ({ table, put: toModelItem(model), condition: absent('PK') }) as const);
    // Judged: if the first response was lost, the labels exist, and `stale` is as good as `saved`.
    const outcome = await this.client.transact('judged', [headUpdate(models.length), ...puts], { riders });
    if (outcome.done) return 'saved';
    return outcome.reasons[0]?.kind === 'condition' ? 'full' : 'stale';
  }

  /** Saves a model if its stored version is the one before; version 1 only if there is none. */
  async save(model: CatalogModel, riders: readonly TransactItem[]): Promise<SaveOutcome> {
    const isNew = model.version === 1;
    const condition: Condition = isNew ? absent('PK') : equals('model_version', model.version - 1);
    const put = { table, put: toModelItem(model), condition } as const;
    const outcome = await this.client.transact('fresh', [headUpdate(isNew ? 1 : 0), put], { riders });
    if (outcome.done) return 'saved';
    return outcome.reasons[1]?.kind === 'condition' ? 'stale' : 'full';
  }
}

/** Counts a change and the new labels. Fails if the catalog would have too many. */
const headUpdate = (newLabels: number): Update => ({
  table,
  update: catalogHeadKey,
  add: { catalog_version: 1, labels: newLabels },
  ...(newLabels > 0 ? { condition: or(absent('labels'), atMost('labels', maxLabels - newLabels)) } : {}),
});
