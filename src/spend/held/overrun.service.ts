import type { AuditService } from '../../audit/audit.service.js';
import { appEntity } from '../../audit/audit-event.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { refuseAny } from '../../lib/errors.js';
import type { Metrics } from '../../lib/metrics.js';
import type { CostRecord } from '../cost.item.js';
import { rangeIssues } from '../day-range.js';
import { daysBetween } from '../open-days.js';
import type { SpendReader } from '../spend-reader.js';
import { maxOverrunDays, type Overrun } from './overrun.js';
import type { OverrunRow, OverrunStore } from './overrun.store.js';

/** The maximum number of entries that one page reads. With a filter, most of them may not match. */
export const maxEntriesPerPage = 1000;
const batchSize = 100;
const filterUnits = 100;
const advice = 'request fewer days of overruns in one operation';
/** The actor of an act that no caller asked for. */
const actor = 'system';

export interface OverrunRange {
  readonly orgId: string;
  readonly appId?: string;
  readonly from: string;
  readonly to: string;
}

export interface OverrunDeps {
  readonly store: OverrunStore;
  readonly audit: Pick<AuditService, 'draft'>;
  readonly metrics: Metrics;
}

/** Lists, counts and audits costs that no reservation covered. */
export class OverrunService {
  constructor(private readonly deps: OverrunDeps) {}

  /** The audit event of an overrun, for the transaction that records its cost. */
  auditDraft({ orgId, appId, requestId, label, day }: CostRecord, { kind, overUsdMicros }: Overrun): TransactItem {
    const details = { request: requestId, label, day, kind, overUsdMicros };
    return this.deps.audit.draft({ orgId, actor, action: 'quota_overrun', entityId: appEntity(appId), details });
  }

  count({ kind }: Overrun): void {
    this.deps.metrics.overruns.inc({ kind });
  }

  /** Refuses an invalid range, and charges its reads. */
  check({ from, to, appId }: OverrunRange, reader: Pick<SpendReader, 'charge'>): void {
    refuseAny(rangeIssues({ from, to }, maxOverrunDays));
    reader.charge(daysBetween(from, to).length + (appId === undefined ? 0 : filterUnits), advice);
  }

  /** Up to `limit` overruns, newest first, after a position. */
  async list(
    { orgId, appId, from, to }: OverrunRange,
    limit: number,
    after?: string,
  ): Promise<{ readonly rows: readonly OverrunRow[]; readonly next?: string }> {
    const [lastDay = to, sortKey] = after?.split(' ') ?? [];
    const rows: OverrunRow[] = [];
    let read = 0;
    for (const day of daysBetween(from, to).reverse()) {
      if (day > lastDay) continue;
      let before = after !== undefined && day === lastDay ? sortKey : undefined;
      for (let isLast = false; !isLast; ) {
        const size = appId === undefined ? limit - rows.length : batchSize;
        const found = await this.deps.store.list(orgId, day, size, before);
        isLast = found.length < size;
        read += found.length;
        rows.push(...found.filter((row) => appId === undefined || row.appId === appId));
        if (rows.length >= limit) return { rows: rows.slice(0, limit) };
        const last = found.at(-1);
        before = last?.position.split(' ')[1];
        if (last && read >= maxEntriesPerPage) return { rows, next: last.position };
      }
    }
    return { rows };
  }
}
