import type { Item, StoreClient } from '../dynamo/client.js';
import { absent, and, beginsWith, type Condition, equals, present } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { clientIdOf } from '../identity/client-id.js';
import { configKey } from '../identity/config-key.js';
import { credentialsOf, newClientAttributes } from '../identity/secret.js';
import { epochSeconds } from '../lib/clock.js';
import type { ZoneHistory } from './calendar.js';
import { type AppRecord, inChainOrder, type Org, type QuotaScope, type Settings } from './settings.js';

const table = 'config';
const allOrgs = 'ORGS';

export interface AppRef {
  readonly orgId: string;
  readonly appId: string;
}

export type NewOrg = Omit<Org, 'credentials' | 'nodeType' | 'version' | 'suspendedAt'>;
export type NewApp = Omit<AppRecord, 'credentials' | 'version' | 'suspendedAt' | 'deletedAt'>;

export interface OrgPosition {
  readonly orgId: string;
  readonly createdAt: Date;
}

const listingKey = ({ orgId, createdAt }: OrgPosition) => ({
  gsi1pk: allOrgs,
  gsi1sk: key`${createdAt.toISOString()}#${orgId}`,
});

export class OrgStore {
  constructor(private readonly client: StoreClient) {}

  /** Registers an org together with what belongs to its registration. Undefined: the id is taken. */
  async createOrg(org: NewOrg, drafts: readonly TransactItem[]): Promise<Org | undefined> {
    const item = await this.create(
      {
        ...configKey(org),
        ...listingKey(org),
        ...newClientAttributes(clientIdOf({ orgId: org.orgId })),
        org_name: org.name,
        ...orgAttributes(org),
        ...settingAttributes(org),
        ...stamps(org),
        settings_version: 1,
      },
      drafts,
    );
    return item && toOrg(item);
  }

  /**
   * Registers an app. `deleted` is the app that had the id before, if any: rotation, generation and version go on from its
   * own, so that none of its retrieval tokens, access tokens and sessions works for its successor.
   */
  async createApp(app: NewApp, drafts: readonly TransactItem[], deleted?: AppRecord): Promise<AppRecord | undefined> {
    const goesOn = deleted && {
      rotation: deleted.credentials.rotation + 1,
      generation: deleted.credentials.generation,
    };
    const item = {
      ...configKey(app),
      ...newClientAttributes(clientIdOf(app), goesOn),
      app_name: app.name,
      ...settingAttributes(app.own),
      ...stamps(app),
      settings_version: (deleted?.version ?? 0) + 1,
    };
    const condition = deleted
      ? and(present('deleted_at_ms'), equals('settings_version', deleted.version))
      : absent('PK');
    const created = await this.create(item, drafts, condition);
    return created && toApp(created);
  }

  /** Saves settings if they are still those that were read. False: another change came between. */
  async saveOrg(org: Org, drafts: readonly TransactItem[]): Promise<boolean> {
    return this.save(
      configKey(org),
      org.version,
      { org_name: org.name, ...orgAttributes(org), ...settingAttributes(org), ...updated(org) },
      [],
      drafts,
    );
  }

  async saveApp(app: AppRecord, drafts: readonly TransactItem[]): Promise<boolean> {
    const own = settingAttributes(app.own);
    const inherited = Object.keys(own).filter((name) => own[name] === undefined);
    return this.save(configKey(app), app.version, { app_name: app.name, ...own, ...updated(app) }, inherited, drafts);
  }

  /** Consistent, because what is read is remembered. */
  async loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> {
    const items = await this.client.getMany(
      table,
      orgIds.map((orgId) => configKey({ orgId })),
      { consistent: true },
    );
    return items.map((item) => item && toOrg(item));
  }

  async loadApps(apps: readonly AppRef[]): Promise<(AppRecord | undefined)[]> {
    const items = await this.client.getMany(table, apps.map(configKey), { consistent: true });
    return items.map((item) => item && liveApp(item));
  }

  /** For a change: what is stored now, not a moment ago. */
  async readOrg(orgId: string): Promise<Org | undefined> {
    const item = await this.client.get(table, configKey({ orgId }), { consistent: true });
    return item && toOrg(item);
  }

  async readApp(app: AppRef): Promise<AppRecord | undefined> {
    const found = await this.readAppOrDeleted(app);
    return found?.deletedAt ? undefined : found;
  }

  async readAppOrDeleted(app: AppRef): Promise<AppRecord | undefined> {
    const item = await this.client.get(table, configKey(app), { consistent: true });
    return item && toApp(item);
  }

  /** Apps by id, up to `limit` after the one named. */
  listApps(orgId: string, limit: number, afterAppId?: string): Promise<AppRecord[]> {
    return this.appsAfter(orgId, limit, liveApp, afterAppId);
  }

  /** Every app that there ever was, deleted ones included: for sums, which keep their costs. */
  listAllApps(orgId: string): Promise<AppRecord[]> {
    return this.appsAfter(orgId, Number.POSITIVE_INFINITY, toApp);
  }

  private async appsAfter(
    orgId: string,
    limit: number,
    read: (item: Item) => AppRecord | undefined,
    afterAppId?: string,
  ): Promise<AppRecord[]> {
    const apps: AppRecord[] = [];
    let after = afterAppId === undefined ? undefined : configKey({ orgId, appId: afterAppId });
    do {
      const page = await this.client.query({
        table,
        where: and(equals('PK', key`ORG#${orgId}`), beginsWith('SK', 'APP#')),
        ...(Number.isFinite(limit) ? { limit: limit - apps.length } : {}),
        ...(after ? { after } : {}),
      });
      apps.push(...page.items.map(read).filter((app) => app !== undefined));
      after = page.next as typeof after;
    } while (after && apps.length < limit);
    return apps;
  }

  /** Orgs by the time of their registration. */
  async listOrgs(limit: number, after?: OrgPosition): Promise<Org[]> {
    const start = after ? { after: { ...configKey(after), ...listingKey(after) } } : {};
    const orgs = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', allOrgs),
      limit,
      ...start,
    });
    return orgs.map(({ item }) => toOrg(item));
  }

  private async create(
    item: Item,
    drafts: readonly TransactItem[],
    condition: Condition = absent('PK'),
  ): Promise<Item | undefined> {
    const outcome = await this.client.transact('fresh', [{ table, put: item, condition }], { riders: drafts });
    return outcome.done ? item : undefined;
  }

  private async save(
    target: ReturnType<typeof configKey>,
    seenVersion: number,
    set: Item,
    remove: readonly string[],
    drafts: readonly TransactItem[],
  ): Promise<boolean> {
    const outcome = await this.client.transact(
      'fresh',
      [
        {
          table,
          update: target,
          set: { ...set, settings_version: seenVersion + 1 },
          remove,
          condition: equals('settings_version', seenVersion),
        },
      ],
      { riders: drafts },
    );
    return outcome.done;
  }
}

const orgAttributes = ({
  timezone,
  zones,
  quotaScope,
  stickyFallbackEnabled,
  shardCount,
  appsMayBringLimits,
}: Pick<
  Org,
  'timezone' | 'zones' | 'quotaScope' | 'stickyFallbackEnabled' | 'shardCount' | 'appsMayBringLimits'
>): Item => ({
  timezone,
  timezone_history: zones.map(({ zone, fromMs }) => ({ zone, from_ms: fromMs })),
  quota_scope: quotaScope,
  sticky_fallback_enabled: stickyFallbackEnabled,
  agg_shard_count: shardCount,
  apps_may_bring_limits: appsMayBringLimits,
});

const settingAttributes = ({
  modelOrdering,
  quotas,
  tightModeThresholdPct,
  refreshIntervalNormalSecs,
  refreshIntervalTightSecs,
}: Partial<Settings>): Item => ({
  model_ordering: modelOrdering,
  quotas: quotas && Object.fromEntries(quotas.map(({ label, dailyUsdMicros }) => [label, dailyUsdMicros])),
  tight_mode_threshold_pct: tightModeThresholdPct,
  refresh_interval_normal_secs: refreshIntervalNormalSecs,
  refresh_interval_tight_secs: refreshIntervalTightSecs,
});

const stamps = ({ createdAt, updatedAt }: { readonly createdAt: Date; readonly updatedAt: Date }): Item => ({
  created_at_ms: createdAt.getTime(),
  created_at_epoch: epochSeconds(createdAt.getTime()),
  ...updated({ updatedAt }),
});

const updated = ({ updatedAt }: { readonly updatedAt: Date }): Item => ({
  updated_at_ms: updatedAt.getTime(),
  updated_at_epoch: epochSeconds(updatedAt.getTime()),
});

const registered = (item: Item) => ({
  orgId: (item.PK as string).slice('ORG#'.length),
  credentials: credentialsOf(item),
  createdAt: new Date(item.created_at_ms as number),
  updatedAt: new Date(item.updated_at_ms as number),
  ...(item.suspended_at_ms === undefined ? {} : { suspendedAt: new Date(item.suspended_at_ms as number) }),
  version: item.settings_version as number,
});

function settingsOf(item: Item): Partial<Settings> {
  const ordering = item.model_ordering as readonly string[] | undefined;
  const found = {
    modelOrdering: ordering,
    quotas:
      item.quotas &&
      inChainOrder(
        Object.entries(item.quotas as Readonly<Record<string, number>>).map(([label, dailyUsdMicros]) => ({
          label,
          dailyUsdMicros,
        })),
        ordering ?? [],
      ),
    tightModeThresholdPct: item.tight_mode_threshold_pct as number | undefined,
    refreshIntervalNormalSecs: item.refresh_interval_normal_secs as number | undefined,
    refreshIntervalTightSecs: item.refresh_interval_tight_secs as number | undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Partial<Settings>;
}

const toOrg = (item: Item): Org => ({
  nodeType: 'Org',
  ...registered(item),
  ...(settingsOf(item) as Settings),
  name: item.org_name as string,
  timezone: item.timezone as string,
  zones: (item.timezone_history as unknown as { zone: string; from_ms: number }[]).map(({ zone, from_ms }) => ({
    zone,
    fromMs: from_ms,
  })) as unknown as ZoneHistory,
  quotaScope: item.quota_scope as QuotaScope,
  stickyFallbackEnabled: item.sticky_fallback_enabled as boolean,
  shardCount: item.agg_shard_count as number,
  // Absent from an org that was registered before there was the setting.
  appsMayBringLimits: item.apps_may_bring_limits === true,
});

const toApp = (item: Item): AppRecord => ({
  ...registered(item),
  appId: (item.SK as string).slice('APP#'.length),
  name: item.app_name as string,
  own: settingsOf(item),
  ...(item.deleted_at_ms === undefined ? {} : { deletedAt: new Date(item.deleted_at_ms as number) }),
});

const liveApp = (item: Item): AppRecord | undefined => (item.deleted_at_ms === undefined ? toApp(item) : undefined);
