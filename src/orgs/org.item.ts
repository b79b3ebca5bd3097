import type { Item } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { credentialsOf } from '../identity/client.item.js';
import { epochSeconds } from '../lib/clock.js';
import type { ZoneHistory, ZonePeriod } from './calendar.js';
import { type EnforcementHistory, quotaEnforcements } from './enforcement.js';
import { inChainOrder } from './quotas.js';
import { type AppRecord, type Org, quotaScopes, type Settings } from './settings.js';

export const orgTable = 'config';
const orgPrefix = 'ORG#';
export const appPrefix = 'APP#';

/** The attributes that only orgs have. */
export const orgAttributes = ({
  timezone,
  zones,
  quotaScope,
  stickyFallbackEnabled,
  shardCount,
  appsMayBringLimits,
  attributeApps,
  ledger,
  dimensions,
  maxReservationPct,
}: Pick<
  Org,
  | 'timezone'
  | 'zones'
  | 'quotaScope'
  | 'stickyFallbackEnabled'
  | 'shardCount'
  | 'appsMayBringLimits'
  | 'attributeApps'
  | 'ledger'
  | 'dimensions'
  | 'maxReservationPct'
>): Item => ({
  timezone,
  timezone_history: zones.map(({ zone, fromMs }) => ({ zone, from_ms: fromMs })),
  quota_scope: quotaScope,
  sticky_fallback_enabled: stickyFallbackEnabled,
  agg_shard_count: shardCount,
  apps_may_bring_limits: appsMayBringLimits,
  attribute_apps: attributeApps,
  ledger,
  dimensions,
  max_reservation_pct: maxReservationPct,
});

/** Settings that are undefined are absent from the item: an app inherits them. */
export const settingAttributes = ({
  modelOrdering,
  quotas,
  tightModeThresholdPct,
  refreshIntervalNormalSecs,
  refreshIntervalTightSecs,
}: Partial<Settings>): Item => ({
  model_ordering: modelOrdering,
  quotas: quotas && Object.fromEntries(quotas.map(({ label, dailyUsdMicros }) => [label, dailyUsdMicros])),
  quota_changes:
    quotas &&
    Object.fromEntries(
      quotas.flatMap(({ label, changes }) => (changes ? [[label, enforcementAttribute(changes)]] : [])),
    ),
  tight_mode_threshold_pct: tightModeThresholdPct,
  refresh_interval_normal_secs: refreshIntervalNormalSecs,
  refresh_interval_tight_secs: refreshIntervalTightSecs,
});

export const timestamps = ({ createdAt, updatedAt }: { readonly createdAt: Date; readonly updatedAt: Date }): Item => ({
  created_at_ms: createdAt.getTime(),
  created_at_epoch: epochSeconds(createdAt.getTime()),
  ...updateTimestamps({ updatedAt }),
});

export const updateTimestamps = ({ updatedAt }: { readonly updatedAt: Date }): Item => ({
  updated_at_ms: updatedAt.getTime(),
  updated_at_epoch: epochSeconds(updatedAt.getTime()),
});

export function toOrg(item: Item): Org {
  const from = fields(orgTable, item);
  const modelOrdering = from.strings('model_ordering');
  return {
    nodeType: 'Org',
    ...registrationOf(from, item),
    modelOrdering,
    quotas: quotasOf(from, modelOrdering),
    tightModeThresholdPct: from.number('tight_mode_threshold_pct'),
    refreshIntervalNormalSecs: from.number('refresh_interval_normal_secs'),
    refreshIntervalTightSecs: from.number('refresh_interval_tight_secs'),
    name: from.string('org_name'),
    timezone: from.string('timezone'),
    zones: zonesOf(from),
    quotaScope: from.oneOf('quota_scope', quotaScopes),
    stickyFallbackEnabled: from.boolean('sticky_fallback_enabled'),
    shardCount: from.number('agg_shard_count'),
    // Orgs from before these settings do not have them.
    appsMayBringLimits: from.optionalBoolean('apps_may_bring_limits') ?? false,
    attributeApps: from.optionalBoolean('attribute_apps') ?? false,
    ledger: from.optionalBoolean('ledger') ?? false,
    dimensions: from.optionalStrings('dimensions') ?? [],
    maxReservationPct: from.optionalNumber('max_reservation_pct') ?? 100,
    budgetsVersion: from.optionalNumber('budgets_version') ?? 0,
  };
}

export function toApp(item: Item): AppRecord {
  const from = fields(orgTable, item);
  const deletedAt = from.optionalDate('deleted_at_ms');
  return {
    ...registrationOf(from, item),
    appId: from.string('SK').slice(appPrefix.length),
    name: from.string('app_name'),
    own: settingsOf(from),
    ...(deletedAt === undefined ? {} : { deletedAt }),
  };
}

/** The app of an item; undefined if it was deleted. */
export const toLiveApp = (item: Item): AppRecord | undefined =>
  item.deleted_at_ms === undefined ? toApp(item) : undefined;

function registrationOf(from: Fields, item: Item) {
  const suspendedAt = from.optionalDate('suspended_at_ms');
  return {
    orgId: from.string('PK').slice(orgPrefix.length),
    credentials: credentialsOf(item),
    createdAt: from.date('created_at_ms'),
    updatedAt: from.date('updated_at_ms'),
    ...(suspendedAt === undefined ? {} : { suspendedAt }),
    version: from.number('settings_version'),
  };
}

function settingsOf(from: Fields): Partial<Settings> {
  const modelOrdering = from.optionalStrings('model_ordering');
  const tightModeThresholdPct = from.optionalNumber('tight_mode_threshold_pct');
  const refreshIntervalNormalSecs = from.optionalNumber('refresh_interval_normal_secs');
  const refreshIntervalTightSecs = from.optionalNumber('refresh_interval_tight_secs');
  return {
    ...(modelOrdering === undefined ? {} : { modelOrdering }),
    ...(from.has('quotas') ? { quotas: quotasOf(from, modelOrdering ?? []) } : {}),
    ...(tightModeThresholdPct === undefined ? {} : { tightModeThresholdPct }),
    ...(refreshIntervalNormalSecs === undefined ? {} : { refreshIntervalNormalSecs }),
    ...(refreshIntervalTightSecs === undefined ? {} : { refreshIntervalTightSecs }),
  };
}

function quotasOf(from: Fields, ordering: readonly string[]) {
  const changes = from.optionalMap('quota_changes');
  const quotas = Object.entries(from.numbers('quotas')).map(([label, dailyUsdMicros]) => ({
    label,
    dailyUsdMicros,
    ...(changes && Object.hasOwn(changes, label) ? { changes: enforcementIn(fields(orgTable, changes), label) } : {}),
  }));
  return inChainOrder(quotas, ordering);
}

/** The attribute that `enforcementIn` reads. */
export const enforcementAttribute = (history: EnforcementHistory) =>
  history.map(({ enforcement, from }) => ({ enforcement, from }));

/** A list of enforcements with their first days. */
export const enforcementIn = (from: Fields, name: string): EnforcementHistory =>
  from.maps(name).map((item) => {
    const change = fields(orgTable, item);
    return { enforcement: change.oneOf('enforcement', quotaEnforcements), from: change.string('from') };
  });

function zonesOf(from: Fields): ZoneHistory {
  const [first, ...others] = from.maps('timezone_history').map((item): ZonePeriod => {
    const period = fields(orgTable, item);
    return { zone: period.string('zone'), fromMs: period.number('from_ms') };
  });
  return first ? [first, ...others] : from.corrupt('timezone_history', 'a list of at least one zone');
}
