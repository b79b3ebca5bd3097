import type { StoreClient } from '../dynamo/client.js';
import { absent, equals, greaterThan, lessThan, or } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';

const table = 'daily_total';
/** Clocks of two machines may differ by this much without any harm. */
const skewMs = 5000;

const sliceKey = (slice: number) => ({ PK: key`#SLICE#${slice}`, SK: '#SLICE' });
/** One item for all slices: a round costs one write to mark, and one read shows every slice. */
export const roundsKey = { PK: '#ROUNDS', SK: '#ROUNDS' };
const markName = (slice: number): string => `slice_${slice}`;

export interface Claim {
  readonly slice: number;
  readonly worker: string;
  readonly nowMs: number;
  readonly claimMs: number;
}

/** Who sums which slice of the active scopes, and how far each slice has been summed. */
export class SliceStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Claims a slice for a while, so that two workers do not sum the same; a lost claim costs work, never exactness. A claim
   * that was made in the future comes from a wrong clock and does not count. Returns through which day the slice has been
   * summed for good; false: another worker has it.
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
          greaterThan('claimed_at_ms', nowMs + skewMs),
        ),
      },
      { repeat: 'idempotent', returnNew: 'all' },
    );
    if (!outcome.done) return false;
    const day = outcome.item?.summed_through as string | undefined;
    return day === undefined ? {} : { summedThrough: day };
  }

  /** Marks all days before this one as summed for good. It only moves on. */
  async closeDays(slice: number, day: string): Promise<void> {
    const condition = or(absent('summed_through'), lessThan('summed_through', day));
    await this.client.write(
      { table, update: sliceKey(slice), set: { summed_through: day }, condition },
      { repeat: 'idempotent' },
    );
  }

  /** The first day of a slice that is not summed for good; undefined: none is. */
  async summedThrough(slice: number): Promise<string | undefined> {
    return (await this.client.get(table, sliceKey(slice), { consistent: true }))?.summed_through as string | undefined;
  }

  /** Marks slices as summed in full by a round that includes everything acknowledged before `asOfMs`. */
  async markRounds(slices: readonly number[], asOfMs: number): Promise<void> {
    if (slices.length === 0) return;
    await this.client.write(
      { table, update: roundsKey, set: Object.fromEntries(slices.map((slice) => [markName(slice), asOfMs])) },
      { repeat: 'idempotent' },
    );
  }

  /** Up to when each slice has been summed; absent for one that never was. */
  async loadRounds(options: { readonly consistent?: boolean } = {}): Promise<(slice: number) => number | undefined> {
    const item = await this.client.get(table, roundsKey, options);
    return (slice) => item?.[markName(slice)] as number | undefined;
  }

  /** When the tables were made: no cost is older. */
  async birthMs(): Promise<number> {
    return (
      ((await this.client.get('limiter', { PK: '_/SYSTEM#', SK: '#VERSION' }))?.created_at_ms as number | undefined) ??
      0
    );
  }
}
