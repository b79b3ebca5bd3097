import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, between, equals, greaterThan } from '../dynamo/expression.js';
import type { CancellationReason } from '../dynamo/faults.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import { unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { scopeKey } from '../orgs/scope.js';
import { type AlertDraft, type AlertKind, partitionOf, type QuotaAlert } from './alert.js';

const table = 'alerts';
const digits = 12;

const padded = (number: number): string => String(number).padStart(digits, '0');

export const markerKey = (draft: AlertDraft) => ({
  PK: 'MARK#'.concat(scopeKey(draft)),
  SK: key`${draft.day}#${draft.label}#${draft.kind}`,
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

export class AlertStore {
  constructor(private readonly client: StoreClient) {}

  /** Raises an alert once: marker, the partition's next number and the entry are one transaction. False: it was raised before. */
  async raise(draft: AlertDraft, raisedAt: Date, expiresAtSecs: number): Promise<boolean> {
    const partition = partitionOf(draft.orgId);
    // A marker is never changed, so the nonce in it shows for good who raised the alert.
    const nonce = newUuid();
    const isOwn = ([marker]: readonly CancellationReason[]): boolean =>
      marker?.kind === 'condition' && marker.old?.nonce === nonce;
    let head = await this.head(partition);
    for (let attempt = 0; attempt < 50; attempt++) {
      const number = head + 1;
      const outcome = await this.client.transact(isOwn, [
        { table, put: { ...markerKey(draft), nonce, expires_at_epoch: expiresAtSecs }, condition: absent('PK') },
        {
          table,
          update: headKey(partition),
          set: { n: number },
          condition: head === 0 ? absent('n') : equals('n', head),
        },
        { table, put: toItem(draft, partition, number, raisedAt, expiresAtSecs), condition: absent('PK') },
      ]);
      if (outcome.done) return true;
      const [marker, taken] = outcome.reasons;
      if (marker?.kind === 'condition') return false;
      head = taken?.kind === 'condition' && taken.old ? (taken.old.n as number) : await this.head(partition);
    }
    throw unavailable('too many alerts are being raised at once: retry');
  }

  /** The number of the newest entry of a partition; 0: none yet. */
  async head(partition: number): Promise<number> {
    const item = await this.client.get(table, headKey(partition), { consistent: true });
    return (item?.n as number | undefined) ?? 0;
  }

  /** A partition's entries beyond a number, in order. */
  async listPartition(partition: number, beyond: number, limit: number): Promise<QuotaAlert[]> {
    const { items } = await this.client.query({
      table,
      where: and(equals('PK', key`LOG#${partition}`), greaterThan('SK', padded(beyond))),
      limit,
      consistent: true,
    });
    return items.map(toAlert);
  }

  /** Newest first: of a whole org, or of one scope of it. */
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

const toItem = (draft: AlertDraft, partition: number, number: number, raisedAt: Date, expiresAtSecs: number): Item => ({
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
  raised_at_ms: raisedAt.getTime(),
  raised_at_epoch: epochSeconds(raisedAt.getTime()),
  expires_at_epoch: expiresAtSecs,
});

const toAlert = (item: Item): QuotaAlert => ({
  nodeType: 'QuotaAlert',
  number: item.number as number,
  orgId: item.org_id as string,
  ...(item.app_id ? { appId: item.app_id as string } : {}),
  kind: item.kind as AlertKind,
  label: item.label as string,
  ...(item.active_label ? { activeLabel: item.active_label as string } : {}),
  day: item.day as string,
  costUsdMicros: item.cost_usd_micros as number,
  quotaUsdMicros: item.quota_usd_micros as number,
  quotaPct: item.quota_pct as number,
  thresholdPct: item.threshold_pct as number,
  raisedAt: new Date(item.raised_at_ms as number),
});
