import type { StoreClient, Write } from '../../dynamo/client.js';
import { absent } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key, slashed } from '../../dynamo/keys.js';
import { type CommitResult, GroupCommit } from '../../lib/group-commit.js';
import { compactDate } from '../../orgs/calendar.js';

const table = 'usage_agg_sharded';
/** With the count they make the 100 writes that DynamoDB allows per transaction. */
const maxGroupSize = 99;
const maxWaiting = 10_000;

/** One dimension of an org on one local day. */
export interface DimensionDay {
  readonly orgId: string;
  readonly name: string;
  readonly day: string;
}

interface NewValue {
  readonly id: DimensionDay;
  readonly value: string;
  readonly expiresAtSecs: number;
}

const partition = ({ orgId, name, day }: DimensionDay): string =>
  key`ORG#${orgId}#DIM#${name}#${compactDate(day)}#VALUES`;
export const valueKey = (id: DimensionDay, value: string) => ({ PK: partition(id), SK: key`V#${slashed(value)}` });
export const valueCountKey = (id: DimensionDay) => ({ PK: partition(id), SK: '#COUNT' });

/** The values that each dimension has had on a day, and their number. */
export class DimensionValueStore {
  private readonly commits: GroupCommit<NewValue, void>;

  constructor(private readonly client: StoreClient) {
    this.commits = new GroupCommit({
      maxGroupSize,
      maxWaiting,
      tenant: ({ id }) => id.orgId,
      identity: ({ value }) => value,
      commit: (_key, group) => this.commit(group),
    });
  }

  /** Adds a value if it is new, and counts it once. New values of one dimension share a transaction. */
  add(id: DimensionDay, value: string, expiresAtSecs: number): Promise<void> {
    return this.commits.submit(partition(id), { id, value, expiresAtSecs });
  }

  async has(id: DimensionDay, value: string): Promise<boolean> {
    return (await this.client.get(table, valueKey(id, value), { consistent: true })) !== undefined;
  }

  /** How many values a dimension has had on a day. */
  async count(id: DimensionDay): Promise<number> {
    const item = await this.client.get(table, valueCountKey(id));
    return (item && fields(table, item).optionalNumber('values')) ?? 0;
  }

  private async commit(group: readonly NewValue[]): Promise<CommitResult<void>[]> {
    const { id, expiresAtSecs } = group[0] as NewValue;
    const puts = group.map(
      ({ value }): Write => ({
        table,
        put: { ...valueKey(id, value), expires_at_epoch: expiresAtSecs },
        condition: absent('PK'),
      }),
    );
    const set = { expires_at_epoch: expiresAtSecs };
    const count: Write = { table, update: valueCountKey(id), add: { values: group.length }, set };
    const outcome = await this.client.transact('judged', [...puts, count]);
    if (outcome.done) return group.map(() => ({ done: undefined }));
    // A value that is there already was added and counted before, maybe by a transaction whose response was lost.
    return group.map((_, i) => (outcome.reasons[i]?.kind === 'condition' ? { done: undefined } : 'again'));
  }
}
