import type { AuditService } from '../audit/audit.service.js';
import { type Actor, appEntity, changesBetween, orgEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { CredentialService, SecretRetrieval } from '../identity/credential.service.js';
import type { Tenants } from '../identity/tenants.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, refuseAny, unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { nameIssues } from '../lib/text.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import { isTimeZone, withZone, zoneAt } from './calendar.js';
import type { AppRef, OrgStore } from './org.store.js';
import {
  type App,
  type AppRecord,
  appIdIssues,
  changeableSettings,
  inChainOrder,
  inForce,
  inheritable,
  intervalIssues,
  type KnownLabels,
  type Org,
  type Settings,
  scopeIssues,
  settingsIssues,
  shardCountIssues,
  unmetered,
  unmeteredIssues,
} from './settings.js';

const attempts = 5;
/** A roll-up reads all of an org's apps. */
export const maxAppsPerOrg = 1000;

export interface OrgRegistration extends Settings {
  readonly orgId?: string | null;
  readonly name: string;
  readonly timezone: string;
  readonly quotaScope: Org['quotaScope'];
  readonly stickyFallbackEnabled: boolean;
  readonly appsMayBringLimits: boolean;
  readonly shardCount: number;
}

/** Absent and null alike leave a setting as it is. */
export type OrgChanges = Nullable<Omit<OrgRegistration, 'orgId' | 'quotaScope' | 'shardCount'>>;

/** Absent leaves a setting as it is; null returns it to the org's. */
export type AppChanges = Nullable<Settings & { readonly name: string }>;

export interface AppRegistration extends Nullable<Settings> {
  readonly appId: string;
  readonly name: string;
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

const maxCachedOrgs = 10_000;
const maxCachedApps = 50_000;

export interface OrgDeps {
  readonly store: OrgStore;
  readonly credentials: CredentialService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly labels: KnownLabels;
  readonly clock: Clock;
}

export class OrgService implements Tenants {
  private readonly store: OrgStore;
  private readonly credentials: CredentialService;
  private readonly audit: AuditService;
  private readonly labels: KnownLabels;
  private readonly clock: Clock;
  private readonly orgs: VersionedCache<Org>;
  private readonly apps: VersionedCache<AppRecord>;

  constructor(private readonly deps: OrgDeps) {
    ({
      store: this.store,
      credentials: this.credentials,
      audit: this.audit,
      labels: this.labels,
      clock: this.clock,
    } = deps);
    this.orgs = new VersionedCache(() => deps.changes.version(), maxCachedOrgs);
    this.apps = new VersionedCache(() => deps.changes.version(), maxCachedApps);
  }

  /** Orgs by id, from the cache unless something was changed or revoked anywhere. Missing orgs are undefined. */
  recallOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> {
    return this.orgs.loadMany(orgIds, (missing) => this.store.loadOrgs(missing));
  }

  recallApps(refs: readonly AppRef[]): Promise<(AppRecord | undefined)[]> {
    const byName = new Map(refs.map((ref) => [appName(ref), ref]));
    return this.apps.loadMany(refs.map(appName), (missing) =>
      this.store.loadApps(missing.flatMap((name) => byName.get(name) ?? [])),
    );
  }

  async refusal({
    orgId,
    appId,
  }: {
    readonly orgId: string;
    readonly appId?: string;
  }): Promise<GatewayError | undefined> {
    const [org] = await this.recallOrgs([orgId]);
    const [app] = appId === undefined ? [] : await this.recallApps([{ orgId, appId }]);
    if (!org || (appId !== undefined && !app))
      return new GatewayError('UNAUTHENTICATED', 'the org or app of this credential does not exist any more');
    return suspension(org, app);
  }

  lastRefusal({ orgId, appId }: { readonly orgId: string; readonly appId?: string }): GatewayError | undefined {
    return suspension(
      this.orgs.last(orgId),
      appId === undefined ? undefined : this.apps.last(appName({ orgId, appId })),
    );
  }

  /** Registers an org and hands out the token for its first secret: all of it or nothing. */
  async registerOrg(
    input: OrgRegistration,
    actor: Actor,
  ): Promise<{ readonly org: Org; readonly secretRetrieval: SecretRetrieval }> {
    refuseAny([
      ...nameIssues(input.name),
      ...zoneIssues(input.timezone),
      ...settingsIssues(input, this.labels),
      ...unmeteredIssues(input),
      ...intervalIssues(input),
      ...shardCountIssues(input.shardCount),
    ]);
    const orgId = input.orgId ?? newUuid();
    const now = new Date(this.clock.nowMs());
    const { retrieval, draft } = this.credentials.firstRetrieval({ orgId });
    const act = this.audit.draft({
      orgId,
      actor,
      action: 'org_registered',
      entityId: orgEntity,
      details: { name: input.name },
    });
    const zones = [{ zone: input.timezone, fromMs: 0 }] as const;
    const org = await this.store.createOrg({ ...input, orgId, zones, createdAt: now, updatedAt: now }, [draft, act]);
    if (!org) throw new GatewayError('ALREADY_EXISTS', 'an org with this id is registered already');
    // Answered from what was written: a read that failed now would lose the only copy of the token.
    return { org, secretRetrieval: retrieval };
  }

  /** Changes settings; a new time zone waits for the day's end. */
  async updateOrg(orgId: string, wanted: OrgChanges, actor: Actor): Promise<Org> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const org = await this.requireOrg(orgId);
      const given = withoutNull(wanted);
      const nowMs = this.clock.nowMs();
      const changed: Org = { ...org, ...given, updatedAt: new Date(nowMs) };
      refuseAny([
        ...nameIssues(changed.name),
        ...zoneIssues(changed.timezone),
        ...settingsIssues(given, this.labels),
        ...unmeteredIssues(changed),
        ...intervalIssues(changed),
      ]);
      // A change that changes nothing is not told to every gateway.
      if (isSame(given, org)) return org;
      await this.refuseStrandedApps(changed);
      const zones = given.timezone === undefined ? org.zones : withZone(org.zones, changed.timezone, nowMs);
      const saved = { ...changed, zones, quotas: inChainOrder(changed.quotas, changed.modelOrdering) };
      const changes = changesBetween(changeableSettings(org), changeableSettings(saved));
      const act = this.audit.draft({ orgId, actor, action: 'org_updated', entityId: orgEntity, changes });
      if (await this.store.saveOrg(saved, [act, this.deps.changes.draftChange(orgId)])) {
        await this.deps.changes.refresh();
        return { ...saved, version: org.version + 1 };
      }
    }
    throw unavailable('this org is being changed by many at once: try again');
  }

  /** Registers an app of an org and hands out the token for its first secret: all of it or nothing. */
  async registerApp(
    orgId: string,
    input: AppRegistration,
    actor: Actor,
  ): Promise<{ readonly app: App; readonly secretRetrieval: SecretRetrieval }> {
    const { appId, name } = input;
    const own = ownSettings(input);
    refuseAny([...appIdIssues(appId), ...nameIssues(name), ...settingsIssues(own, this.labels)]);
    const [org, before] = await Promise.all([this.requireOrg(orgId), this.store.readAppOrDeleted({ orgId, appId })]);
    this.refuseUnfit(org, own);
    if (!before) await this.refuseTooManyApps(orgId);
    const now = new Date(this.clock.nowMs());
    const deleted = before?.deletedAt ? before : undefined;
    const { retrieval, draft } = this.credentials.firstRetrieval(
      { orgId, appId },
      (deleted?.credentials.rotation ?? 0) + 1,
    );
    const act = this.audit.draft({
      orgId,
      actor,
      action: 'app_registered',
      entityId: appEntity(appId),
      details: { name },
    });
    const app = await this.store.createApp(
      { orgId, appId, name, own, createdAt: now, updatedAt: now },
      [draft, act],
      deleted,
    );
    if (!app) throw new GatewayError('ALREADY_EXISTS', 'an app with this id is registered already');
    return { app: inForce(org, app), secretRetrieval: retrieval };
  }

  async updateApp(ref: AppRef, changes: AppChanges, actor: Actor): Promise<App> {
    const { orgId, appId } = ref;
    if (appIdIssues(appId).length > 0) throw notFound('app');
    for (let attempt = 0; attempt < attempts; attempt++) {
      const org = await this.requireOrg(orgId);
      const app = await this.store.readApp(ref);
      if (!app) throw notFound('app');
      const own = mergedSettings(app.own, changes);
      const name = changes.name ?? app.name;
      refuseAny([...nameIssues(name), ...settingsIssues(ownSettings(changes), this.labels)]);
      this.refuseUnfit(org, own);
      if (name === app.name && isSame(own, app.own) && isSame(app.own, own)) return inForce(org, app);
      const record: AppRecord = { ...app, name, own, updatedAt: new Date(this.clock.nowMs()) };
      const changed = changesBetween({ name: app.name, ...app.own }, { name, ...own }, 'inherited');
      const act = this.audit.draft({
        orgId,
        actor,
        action: 'app_updated',
        entityId: appEntity(appId),
        changes: changed,
      });
      if (await this.store.saveApp(record, [act, this.deps.changes.draftChange(orgId)])) {
        await this.deps.changes.refresh();
        return inForce(org, { ...record, version: app.version + 1 });
      }
    }
    throw unavailable('this app is being changed by many at once: try again');
  }

  private refuseUnfit(org: Org, own: Partial<Settings>): void {
    refuseAny([
      ...scopeIssues(org.quotaScope, own),
      ...unmeteredIssues({ modelOrdering: own.modelOrdering ?? org.modelOrdering, quotas: own.quotas ?? org.quotas }),
      ...intervalIssues({
        refreshIntervalNormalSecs: own.refreshIntervalNormalSecs ?? org.refreshIntervalNormalSecs,
        refreshIntervalTightSecs: own.refreshIntervalTightSecs ?? org.refreshIntervalTightSecs,
      }),
    ]);
  }

  /** A change of the org must not leave an app with a chain in which a label has no quota, or with intervals the wrong way round. */
  private async refuseStrandedApps(org: Org): Promise<void> {
    for (const record of await this.store.listApps(org.orgId, Number.POSITIVE_INFINITY)) {
      const app = inForce(org, record);
      const missing = unmetered(app);
      if (missing.length > 0)
        throw badInput({
          path: 'input.quotas',
          message: `app ${app.appId} would have no quota for ${missing.join(', ')}`,
        });
      refuseAny(intervalIssues(app).map(({ path, message }) => ({ path, message: `of app ${app.appId} ${message}` })));
    }
  }

  /**
   * Refuses a new app id past the bound. Deleted apps count, because the org's sums still read them; registering one of them
   * again is always possible. The bound is approximate: apps that are registered at the same moment do not see each other.
   */
  private async refuseTooManyApps(orgId: string): Promise<void> {
    const { length } = await this.store.listAllApps(orgId);
    if (length >= maxAppsPerOrg)
      throw badInput({
        path: 'input.appId',
        message: `the org has had ${maxAppsPerOrg} apps, the maximum: register a deleted app id again`,
      });
  }

  private async requireOrg(orgId: string): Promise<Org> {
    const org = await this.store.readOrg(orgId);
    if (!org) throw notFound('org');
    return org;
  }
}

/** From when the zone asked for counts; undefined once it does. */
export function zoneEffectiveAt({ zones, timezone }: Org, nowMs: number): Date | undefined {
  return zoneAt(zones, nowMs) === timezone ? undefined : new Date(zones[zones.length - 1]?.fromMs ?? 0);
}

/** Whether every part of `some` is in `all` as it stands. */
const isSame = (some: object, all: object): boolean =>
  Object.entries(some).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify((all as Record<string, unknown>)[name]),
  );

const zoneIssues = (timezone: string) =>
  isTimeZone(timezone) ? [] : [{ path: 'input.timezone', message: 'is no IANA time zone name' }];

const withoutNull = <T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

function ownSettings(input: Nullable<Settings>): Partial<Settings> {
  return withoutNull(Object.fromEntries(inheritable.map((field) => [field, input[field]]))) as Partial<Settings>;
}

/** Absent keeps, null drops, a value replaces. */
function mergedSettings(own: Partial<Settings>, changes: Nullable<Settings>): Partial<Settings> {
  return withoutNull(
    Object.fromEntries(inheritable.map((field) => [field, changes[field] === undefined ? own[field] : changes[field]])),
  ) as Partial<Settings>;
}

function suspension(org: Org | undefined, app: AppRecord | undefined): GatewayError | undefined {
  if (org?.suspendedAt)
    return new GatewayError('FORBIDDEN', 'the org is suspended: ask the operator of the platform to resume it');
  if (app?.suspendedAt) return new GatewayError('FORBIDDEN', 'the app is suspended: ask its org to resume it');
  return undefined;
}

const appName = ({ orgId, appId }: AppRef): string => `${orgId} ${appId}`;
