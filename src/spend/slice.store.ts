import type { StoreClient } from '../dynamo/client.js';
import { absent, equals, greaterThan, lessThan, or } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { versionKey } from '../dynamo/version-item.js';

const table = 'daily_total';
/** The accepted difference between the clocks of two machines. */
const maxSkewMs = 5000;

const sliceKey = (slice: number) => ({ PK: key`#SLICE#${slice}`, SK: '#SLICE' });
/** One item for all slices, so that a round is marked with one write and all slices are read with one read. */
export const roundsKey = { PK: '#ROUNDS', SK: '#ROUNDS' };
const markName = (slice: number): string => `slice_${slice}`;

/** A worker's hold on a slice. */
export interface Claim {
  readonly slice: number;
  readonly worker: string;
  readonly nowMs: number;
  readonly claimMs: number;
}

/** Assigns the slices of the active scopes to workers, and stores how far each slice has been summed. */
export class SliceStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Claims a slice for `claimMs`, so that two workers do not sum the same scopes. A claim that is lost too early costs
   * work, not exactness. A claim dated in the future comes from a wrong clock and is ignored. Returns the first day of
   * the slice that is not closed, or false if another worker has the slice.
   */
  async claim({ slice, worker, nowMs, claimMs }: Claim): Promise<{ readonly summedThrough?: string } | false> {
    const outcome = await this.client.write(
      {
        table,
        update: sliceKey(slice),
        set: { worker, claimed_at_ms: nowMs, until_ms: nowMs + claimMs },
        condition: or(
          absent('until_ms'),
          lessThan('until_ms', nowMs),
          equals('worker', worker),
          greaterThan('claimed_at_ms', nowMs + maxSkewMs),
        ),
      },
      { repeat: 'idempotent', returnNew: 'all' },
    );
    if (!outcome.done) return false;
    const summedThrough = outcome.item && fields(table, outcome.item).optionalString('summed_through');
    return summedThrough === undefined ? {} : { summedThrough };
  }

  /** Closes all days before this one: their totals are final. Never moves back. */
  async closeDays(slice: number, day: string): Promise<void> {
    const condition = or(absent('summed_through'), lessThan('summed_through', day));
    await this.client.write(
      { table, update: sliceKey(slice), set: { summed_through: day }, condition },
      { repeat: 'idempotent' },
    );
  }

  /** The first day of a slice that is not closed. Undefined if no day is closed. */
  async summedThrough(slice: number): Promise<string | undefined> {
    const item = await this.client.get(table, sliceKey(slice), { consistent: true });
    return item && fields(table, item).optionalString('summed_through');
  }

  /** Marks slices as completely summed by a round that includes every cost acknowledged before `asOfMs`. */
  async markRounds(slices: readonly number[], asOfMs: number): Promise<void> {
    if (slices.length === 0) return;
    await this.client.write(
      { table, update: roundsKey, set: Object.fromEntries(slices.map((slice) => [markName(slice), asOfMs])) },
      { repeat: 'idempotent' },
    );
  }

  /** The time of the last complete round of each slice. Undefined for a slice that was never summed. */
  async loadRounds(options: { readonly consistent?: boolean } = {}): Promise<(slice: number) => number | undefined> {
    const item = await this.client.get(table, roundsKey, options);
    const read = item && fields(table, item);
    return (slice) => read?.optionalNumber(markName(slice));
  }

  /** When the tables were created. No cost is older. 0 if it is not known. */
  async tablesCreatedAtMs(): Promise<number> {
    const item = await this.client.get('limiter', versionKey);
    return (item && fields('limiter', item).optionalNumber('created_at_ms')) ?? 0;
  }
}
