import type { Clock } from '../lib/clock.js';
import { SharedCalls } from '../lib/shared-calls.js';
import { sleep } from '../lib/timers.js';
import type { StoreClient } from './client.js';
import { maxStatementsPerCall } from './each-writer.js';
import type { EachOutcome } from './faults.js';
import { pauseMs, RetryBudget } from './retry.js';
import type { EachWrite } from './statement.js';
import { definitionOf } from './tables.js';

/**
 * The outcome of one write: `unsure` if its condition failed after an attempt whose response was lost, so that this
 * writer or another may have applied it; `failed` if it may or may not be applied later.
 */
export type RepeatedResult = 'done' | 'condition' | 'unsure' | 'failed';

const maxAttempts = 6;
/** More writes go by calls of their own, which they fill. */
const maxSharedWrites = 10;

/**
 * Repeats independent conditional writes that DynamoDB did not take, within a deadline and a retry budget. Writes of
 * different requests share calls.
 */
export class RepeatedWriter {
  private readonly budget: RetryBudget;
  private readonly shared: SharedCalls<EachWrite, EachOutcome>;

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
  ) {
    this.budget = new RetryBudget(clock);
    const send = (writes: readonly EachWrite[]) => client.writeEach(writes);
    this.shared = new SharedCalls({ minSize: 2, maxSize: maxStatementsPerCall, clock, identity: itemOf, send });
  }

  /** The results in the order of the writes. Starts no attempt after `untilMs` of the monotonic clock. */
  async write(writes: readonly EachWrite[], untilMs: number): Promise<RepeatedResult[]> {
    const results: RepeatedResult[] = writes.map(() => 'failed');
    const doubtful = new Set<number>();
    let open = writes.map((_, i) => i);
    this.budget.called();
    for (let attempt = 0; open.length > 0 && this.clock.monotonicMs() < untilMs; attempt++) {
      if (attempt === maxAttempts || (attempt > 0 && !this.budget.mayRepeat())) break;
      const outcomes = await this.send(open.map((i) => writes[i] as EachWrite));
      open = open.filter((i, nth) => {
        const outcome = outcomes[nth];
        if (outcome?.kind === 'done') results[i] = 'done';
        else if (outcome?.kind === 'condition') results[i] = doubtful.has(i) ? 'unsure' : 'condition';
        else if (outcome?.applied === 'unknown') doubtful.add(i);
        return outcome?.kind === 'failed';
      });
      if (open.length > 0) await sleep(pauseMs(attempt));
    }
    return results;
  }
  private send(writes: readonly EachWrite[]): Promise<EachOutcome[]> {
    if (writes.length > maxSharedWrites) return this.client.writeEach(writes);
    return Promise.all(writes.map((write) => this.shared.submit(write)));
  }
}

/** The table and the key of the item that is written. */
function itemOf(write: EachWrite): string {
  const { partitionKey, sortKey } = definitionOf(write.table);
  const item = 'insert' in write ? write.insert : write.update;
  return JSON.stringify([write.table, item[partitionKey], sortKey === undefined ? undefined : item[sortKey]]);
}
