import { badInput, refuseAny } from '../../lib/errors.js';
import type { Org } from '../../orgs/settings.js';
import type { RequestRef } from '../cost.item.js';
import { dayCount, rangeIssues } from '../day-range.js';
import type { SpendReader } from '../spend-reader.js';
import { ledgerOff, maxLedgerDays, newestFirst } from './ledger.js';
import type { LedgerRows, LedgerStore } from './ledger.store.js';
import { ledgerPartitions, parsePosition } from './ledger-key.js';
import type { RecordedCost } from './recorded-cost.item.js';

/** With a filter, a page may read 1,000 entries for one row. */
const filterCharge = 100;
const advice = 'request fewer days of costs, or omit the filter';

export interface CostQuery {
  readonly from: string;
  readonly to: string;
  readonly appId?: string | null | undefined;
  readonly label?: string | null | undefined;
}

export interface LedgerDeps {
  readonly ledger: LedgerStore;
}

/** The recorded calls of an org. */
export class LedgerService {
  constructor(private readonly deps: LedgerDeps) {}

  /** One recorded call. It needs no index, so it works whether the ledger is on or off. */
  load(ref: RequestRef): Promise<RecordedCost | undefined> {
    return this.deps.ledger.load(ref);
  }

  /** Throws if the org has no ledger or the range is too long. Charges the reads of a page before they are done. */
  checkQuery(
    { ledger, shardCount }: Org,
    { from, to, appId, label }: CostQuery,
    reader: Pick<SpendReader, 'charge'>,
  ): void {
    refuseAny(rangeIssues({ from, to }, maxLedgerDays));
    if (!ledger) throw badInput({ path: 'costs', message: ledgerOff });
    const isFiltered = typeof appId === 'string' || typeof label === 'string';
    reader.charge(dayCount({ from, to }) * ledgerPartitions(shardCount) + (isFiltered ? filterCharge : 0), advice);
  }

  /** A page of calls, newest first. */
  list({ orgId, shardCount }: Org, query: CostQuery, limit: number, after?: string): Promise<LedgerRows> {
    const { from, to, appId, label } = query;
    const filter = {
      orgId,
      partitions: ledgerPartitions(shardCount),
      days: newestFirst(from, to),
      ...(typeof appId === 'string' ? { appId } : {}),
      ...(typeof label === 'string' ? { label } : {}),
    };
    return this.deps.ledger.list(filter, limit, after === undefined ? undefined : parsePosition(after));
  }
}
