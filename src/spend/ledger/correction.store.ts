import type { StoreClient, Write } from '../../dynamo/client.js';
import { absent, and, equals, greaterThan, present } from '../../dynamo/expression.js';
import type { CancellationReason } from '../../dynamo/faults.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import type { Scope } from '../../orgs/scope.js';
import { costTable, type RequestRef, requestKey } from '../cost.item.js';
import { counterItems, counterWrite } from '../counter.item.js';
import { heldKey, heldName, nameOfKey } from '../held/held.item.js';
import { shardTable } from '../shard.store.js';
import {
  correctionKey,
  correctionMark,
  type StoredCorrection,
  toCorrectionItem,
  toStoredCorrection,
} from './correction.item.js';
import { correctionCounters } from './correction.js';
import type { RecordedCost } from './recorded-cost.item.js';

/** A correction of a cost in the state in which it was read. */
export interface CorrectionDraft {
  readonly cost: RecordedCost;
  readonly scope: Scope;
  readonly stored: StoredCorrection;
  readonly nowSecs: number;
  readonly expiresAtSecs: number;
  /** Marks the day to be summed again. */
  readonly dirtyMark?: Write;
  readonly audit: TransactItem;
}

/** `changed`: the cost is not in the state in which it was read. `gone`: its counters have expired. */
export type CorrectionOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'known'; readonly first: StoredCorrection }
  | { readonly kind: 'changed' | 'gone' };

export class CorrectionStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Counts a correction once. One transaction stores it, adds it to the sum of its cost and to each counter that the
   * cost was added to, marks a closed day, and records the audit event.
   */
  async apply(draft: CorrectionDraft): Promise<CorrectionOutcome> {
    const counters = counterWrites(draft);
    const marks = draft.dirtyMark ? [draft.dirtyMark] : [];
    const writes = [correctionWrite(draft), costWrite(draft), ...counters, ...marks];
    const outcome = await this.client.transact('judged', writes, { riders: [draft.audit] });
    if (outcome.done) return { kind: 'stored' };
    const [stored, , ...others] = outcome.reasons;
    if (stored?.kind === 'condition' && stored.old) {
      const first = toStoredCorrection(stored.old);
      // The response of an attempt of this call was lost, and the retry found what it had stored.
      return first.nonce === draft.stored.nonce ? { kind: 'stored' } : { kind: 'known', first };
    }
    const isGone = others.slice(0, counters.length).some(({ kind }: CancellationReason) => kind === 'condition');
    return { kind: isGone ? 'gone' : 'changed' };
  }

  /** Consistent reads. Undefined for an id that is not stored. */
  async loadMany(
    ids: readonly { readonly ref: RequestRef; readonly correctionId: string }[],
  ): Promise<(StoredCorrection | undefined)[]> {
    const keys = ids.map(({ ref, correctionId }) => correctionKey(ref, correctionId));
    const items = await this.client.getMany(costTable, keys, { consistent: true });
    return items.map((item) => item && toStoredCorrection(item));
  }
}

const correctionWrite = ({ cost, stored }: CorrectionDraft): Write => ({
  table: costTable,
  put: { ...toCorrectionItem(cost.record, stored), expires_at_epoch: cost.expiresAtSecs },
  condition: absent('PK'),
});

/** The number of corrections is the version of a cost: nothing else of it ever changes. */
function costWrite({ cost, stored: { correction }, nowSecs }: CorrectionDraft): Write {
  const { length: corrections } = cost.correctionIds;
  return {
    table: costTable,
    update: requestKey(cost.record),
    add: { corrected_usd_micros: correction.deltaUsdMicros, corrections: 1 },
    set: { [correctionMark(correction.correctionId)]: correction.correctedAt.getTime() },
    condition: and(
      greaterThan('expires_at_epoch', nowSecs),
      absent(correctionMark(correction.correctionId)),
      corrections === 0 ? absent('corrections') : equals('corrections', corrections),
    ),
  };
}

function counterWrites(draft: CorrectionDraft): Write[] {
  const { cost, scope, stored, nowSecs, expiresAtSecs } = draft;
  const { record, shard } = cost;
  const { deltaUsdMicros } = stored.correction;
  const counters = correctionCounters(deltaUsdMicros, record.hour);
  const held = new Map(cost.holds.map((ref) => [heldName(ref), heldKey(ref)]));
  const counted = counterItems(scope, record, shard).map((item): Write => {
    const write = counterWrite(item, counters, { nowSecs, expiresAtSecs });
    // Shard 0 of a HARD quota also holds the cost.
    const isHeld = held.delete(nameOfKey(item.key));
    const add = isHeld ? { ...write.add, held: deltaUsdMicros } : write.add;
    // A counter that has expired must not begin again with a correction alone.
    return { ...write, ...(add ? { add } : {}), condition: present('requests') };
  });
  const budgets = [...held.values()].map(
    (update): Write => ({ table: shardTable, update, add: { held: deltaUsdMicros }, condition: present('held') }),
  );
  return [...counted, ...budgets];
}
