import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, lessThan, or } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { type Clock, epochSeconds } from '../../lib/clock.js';
import { refusalIndexKeys, refusalKey } from '../limiter-keys.js';
import type { Tally } from './refusals.js';
import type { CountsByLimit } from './usage.js';

const table = 'limiter';
const prefixes = { refused: 'r_', wouldRefuse: 'w_' } as const;

/** Stores refusal counts as usage items, beside those that the buckets book. */
export class RefusalStore {
  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly usageDays: number,
  ) {}

  /** Stores the sums of a tally. Idempotent: an older version never replaces a newer one. */
  async save({ bucket, hour, id, refused, wouldRefuse, version }: Tally): Promise<void> {
    const item = {
      ...refusalKey(bucket, hour, id),
      ...refusalIndexKeys(bucket, hour, id),
      ...attributesOf('refused', refused),
      ...attributesOf('wouldRefuse', wouldRefuse),
      version,
      ttl: epochSeconds(this.clock.nowMs()) + this.usageDays * 86_400,
    };
    await this.client.write(
      { table, put: item, condition: or(absent('PK'), lessThan('version', version)) },
      { repeat: (old) => fields(table, old).number('version') >= version },
    );
  }
}

const attributesOf = (kind: keyof typeof prefixes, counts: CountsByLimit): Item =>
  Object.fromEntries(Object.entries(counts).map(([limit, count]) => [prefixes[kind] + limit, count]));

const countsIn = (item: Item, kind: keyof typeof prefixes): CountsByLimit =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) =>
      name.startsWith(prefixes[kind]) ? [[name.slice(2), Number(value)]] : [],
    ),
  );

export const refusalsOf = (item: Item): { readonly refused: CountsByLimit; readonly wouldRefuse: CountsByLimit } => ({
  refused: countsIn(item, 'refused'),
  wouldRefuse: countsIn(item, 'wouldRefuse'),
});
