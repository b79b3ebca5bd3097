import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, between, equals, greaterThan } from '../dynamo/expression.js';
import type { CancellationReason } from '../dynamo/faults.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import { unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { scopeKey } from '../orgs/scope.js';
import { type AlertDraft, alertKinds, markOf, partitionOf, type QuotaAlert } from './alert.js';

const table = 'alerts';
const digits = 12;
const maxAttempts = 50;

const padded = (number: number): string => String(number).padStart(digits, '0');

export const markerKey = (draft: AlertDraft) => ({
  PK: 'MARK#'.concat(scopeKey(draft)),
  SK: markOf(draft)
    .map((part) => key`${part}`)
    .join('#'),
});
export const headKey = (partition: number) => ({ PK: key`HEAD#${partition}`, SK: '#HEAD' });
export const entryKey = (partition: number, number: number) => ({
  PK: key`LOG#${partition}`,
  SK: key`${padded(number)}`,
});
const orgIndex = (orgId: string, number: number) => ({ gsi1pk: key`ORG#${orgId}`, gsi1sk: padded(number) });
const scopeIndex = (scope: Pick<AlertDraft, 'orgId' | 'appId'>, number: number) => ({
  gsi2pk: scopeKey(scope),
  gsi2sk: padded(number),
});

interface AlertEntry {
  readonly partition: number;
  readonly number: number;
  readonly raisedAt: Date;
  readonly expiresAtSecs: number;
}

export class AlertStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Raises an alert once. The marker, the partition's next number and the entry are one transaction. Returns false if
   * the alert was raised before. The marker may be stored for longer than the entry.
   */
  async raise(
    draft: AlertDraft,
    raisedAt: Date,
    expiresAtSecs: number,
    markedUntilSecs = expiresAtSecs,
  ): Promise<boolean> {
    const partition = partitionOf(draft.orgId);
    // Nobody changes a marker, so its nonce shows if this call raised the alert although its response was lost.
    const nonce = newUuid();
    const isOwn = ([marker]: readonly CancellationReason[]): boolean =>
      marker?.kind === 'condition' && marker.old?.nonce === nonce;
    let head = await this.head(partition);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const number = head + 1;
      const outcome = await this.client.transact(isOwn, [
        { table, put: { ...markerKey(draft), nonce, expires_at_epoch: markedUntilSecs }, condition: absent('PK') },
        {
          table,
          update: headKey(partition),
          set: { n: number },
          condition: head === 0 ? absent('n') : equals('n', head),
        },
        { table, put: toItem(draft, { partition, number, raisedAt, expiresAtSecs }), condition: absent('PK') },
      ]);
      if (outcome.done) return true;
      const [marker, taken] = outcome.reasons;
      if (marker?.kind === 'condition') return false;
      head =
        taken?.kind === 'condition' && taken.old ? fields(table, taken.old).number('n') : await this.head(partition);
    }
    throw unavailable('too many alerts are being raised at the same time; retry');
  }

  /** The number of the newest entry of a partition. 0 if it has none. */
  async head(partition: number): Promise<number> {
    const item = await this.client.get(table, headKey(partition), { consistent: true });
    return item ? (fields(table, item).optionalNumber('n') ?? 0) : 0;
  }

  /** The entries of a partition after a number, in order. */
  async listPartition(partition: number, after: number, limit: number): Promise<QuotaAlert[]> {
    const { items } = await this.client.query({
      table,
      where: and(equals('PK', key`LOG#${partition}`), greaterThan('SK', padded(after))),
      limit,
      consistent: true,
    });
    return items.map(toAlert);
  }

  /** Alerts of a whole org or of one of its scopes, newest first. */
  async list(
    orgId: string,
    limit: number,
    { scope, before }: { readonly scope?: { readonly appId?: string }; readonly before?: number },
  ): Promise<QuotaAlert[]> {
    const [index, partition, sort] = scope
      ? (['gsi2', 'gsi2pk', 'gsi2sk'] as const)
      : (['gsi1', 'gsi1pk', 'gsi1sk'] as const);
    const value = scope ? scopeKey({ orgId, ...scope }) : key`ORG#${orgId}`;
    const older = before === undefined ? [] : [between(sort, padded(0), padded(before - 1))];
    const found = await this.client.queryIndexed({
      table,
      index,
      where: and(equals(partition, value), ...older),
      newestFirst: true,
      limit,
    });
    return found.map(({ item }) => toAlert(item));
  }

  async load(orgId: string, number: number): Promise<QuotaAlert | undefined> {
    const item = await this.client.get(table, entryKey(partitionOf(orgId), number));
    return item?.org_id === orgId ? toAlert(item) : undefined;
  }
}

const toItem = (draft: AlertDraft, { partition, number, raisedAt, expiresAtSecs }: AlertEntry): Item => ({
  ...entryKey(partition, number),
  ...orgIndex(draft.orgId, number),
  ...scopeIndex(draft, number),
  number,
  org_id: draft.orgId,
  app_id: draft.appId,
  kind: draft.kind,
  label: draft.label,
  active_label: draft.activeLabel,
  day: draft.day,
  cost_usd_micros: draft.costUsdMicros,
  quota_usd_micros: draft.quotaUsdMicros,
  quota_pct: draft.quotaPct,
  threshold_pct: draft.thresholdPct,
  budget: draft.budget,
  budget_revision: draft.budgetRevision,
  period_start: draft.periodStart,
  period_end: draft.periodEnd,
  raised_at_ms: raisedAt.getTime(),
  raised_at_epoch: epochSeconds(raisedAt.getTime()),
  expires_at_epoch: expiresAtSecs,
});

function toAlert(item: Item): QuotaAlert {
  const read = fields(table, item);
  const appId = read.optionalString('app_id');
  const activeLabel = read.optionalString('active_label');
  const budget = read.optionalString('budget');
  return {
    nodeType: 'QuotaAlert',
    number: read.number('number'),
    orgId: read.string('org_id'),
    ...(appId === undefined ? {} : { appId }),
    kind: read.oneOf('kind', alertKinds),
    label: read.string('label'),
    ...(activeLabel === undefined ? {} : { activeLabel }),
    day: read.string('day'),
    costUsdMicros: read.number('cost_usd_micros'),
    quotaUsdMicros: read.number('quota_usd_micros'),
    quotaPct: read.number('quota_pct'),
    thresholdPct: read.number('threshold_pct'),
    ...(budget === undefined ? {} : { budget, ...budgetOf(read) }),
    raisedAt: read.date('raised_at_ms'),
  };
}

const budgetOf = (read: Fields) => ({
  budgetRevision: read.number('budget_revision'),
  periodStart: read.string('period_start'),
  periodEnd: read.string('period_end'),
});
