import { GatewayError } from '../../lib/errors.js';
import type { PriceEntry } from './price.js';
import type { PriceChange } from './price-history.js';

/** What a model is, without its price. */
export interface ModelFacts {
  /** The id of the model at its provider: a Bedrock model id, an ARN, or any other text. */
  readonly modelId: string;
  readonly provider?: string;
  readonly tier?: string;
  readonly family?: string;
  readonly description?: string;
}

/** A model of `config.yaml`, which is stored once as the first version of its label. */
export interface SeedModel extends ModelFacts {
  readonly label: string;
  readonly entries: readonly PriceEntry[];
}

export const modelOrigins = ['SEEDED', 'SET'] as const;

/** A model of the stored catalog. Model orderings, quotas and costs name it by its label. */
export interface CatalogModel extends ModelFacts {
  readonly label: string;
  /** Incremented by every change. A change is a conditional write on the version that was read. */
  readonly version: number;
  /** SEEDED as long as nobody has changed what `config.yaml` seeded. */
  readonly origin: (typeof modelOrigins)[number];
  /** A retired model gets no new costs and is not recommended. */
  readonly retiredAt?: Date;
  /** The price of `config.yaml`. Empty for a model that was not seeded. */
  readonly defaultEntries: readonly PriceEntry[];
  /** The prices that were set, oldest first. */
  readonly changes: readonly PriceChange[];
  /** When the label was added, and its place among those that were added at the same time. */
  readonly addedAtMs: number;
  readonly position: number;
}

/** The models that are not retired, by label, in the order in which they were added. */
export type Catalog = ReadonlyMap<string, CatalogModel>;

/** Every process has the whole catalog in memory. */
export const maxLabels = 500;
/** Bounds the labels in an error message. */
const maxListedLabels = 50;

/** The catalog in memory. Whoever has it sees every change as soon as the process has loaded it. */
export class LiveCatalog implements Catalog {
  private active: ReadonlyMap<string, CatalogModel> = new Map();
  private loaded: readonly CatalogModel[] = [];

  /** Replaces all models at once. */
  replace(models: readonly CatalogModel[]): void {
    this.loaded = [...models].sort(
      (a, b) => a.addedAtMs - b.addedAtMs || a.position - b.position || (a.label < b.label ? -1 : 1),
    );
    this.active = new Map(this.loaded.filter(({ retiredAt }) => !retiredAt).map((model) => [model.label, model]));
  }

  /** All models, retired ones included. */
  listAll(): readonly CatalogModel[] {
    return this.loaded;
  }

  get size(): number {
    return this.active.size;
  }
  get(label: string): CatalogModel | undefined {
    return this.active.get(label);
  }
  has(label: string): boolean {
    return this.active.has(label);
  }
  keys() {
    return this.active.keys();
  }
  values() {
    return this.active.values();
  }
  entries() {
    return this.active.entries();
  }
  forEach(visit: (model: CatalogModel, label: string, catalog: Catalog) => void): void {
    for (const [label, model] of this.active) visit(model, label, this);
  }
  [Symbol.iterator]() {
    return this.active[Symbol.iterator]();
  }
}

export function invalidLabel(labels: Iterable<string>): GatewayError {
  const valid = [...labels];
  const validLabels = valid.slice(0, maxListedLabels);
  const more = valid.length - validLabels.length;
  const message = `unknown model label; valid labels: ${validLabels.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return new GatewayError('INVALID_MODEL_LABEL', message, { validLabels });
}
