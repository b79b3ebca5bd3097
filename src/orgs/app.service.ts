import type { AuditService } from '../audit/audit.service.js';
import { type Actor, appEntity, changesBetween } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { CredentialService, SecretRetrieval } from '../identity/credential.service.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, refuseAny, unavailable, versionConflict } from '../lib/errors.js';
import { expectedVersionIssues, isStale, type VersionedChange } from '../lib/expected-version.js';
import { nameIssues } from '../lib/text.js';
import type { AppStore } from './app.store.js';
import { dayAt } from './calendar.js';
import { atOnce, timingAt } from './enforcement.js';
import type { OrgStore } from './org.store.js';
import { becomesHard, resolvedQuotas, suddenIssues } from './quotas.js';
import {
  type App,
  type AppRecord,
  type AppRef,
  appIdIssues,
  includes,
  inForce,
  inheritable,
  intervalIssues,
  type KnownLabels,
  type Nullable,
  type Org,
  type Settings,
  type SettingsRequest,
  scopeIssues,
  settingsIssues,
  unmeteredIssues,
  withoutNull,
} from './settings.js';
import type { VersionStore } from './version.store.js';

const maxAttempts = 5;
/** Bounded because a roll-up reads all apps of an org. */
export const maxAppsPerOrg = 1000;

export interface AppRegistration extends Nullable<SettingsRequest> {
  readonly appId: string;
  readonly name: string;
}

/** A setting that is absent stays unchanged; null makes it inherited from the org. */
export type AppChanges = Nullable<SettingsRequest & { readonly name: string }>;

export interface AppDeps {
  readonly orgStore: OrgStore;
  readonly appStore: AppStore;
  readonly credentials: CredentialService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly labels: KnownLabels;
  readonly versions: Pick<VersionStore, 'requireHard'>;
  readonly clock: Clock;
}

/** Registers apps and changes their settings. */
export class AppService {
  constructor(private readonly deps: AppDeps) {}

  /** Registers an app and hands out the retrieval token for its first secret, in one transaction. */
  async registerApp(
    orgId: string,
    input: AppRegistration,
    actor: Actor,
  ): Promise<{ readonly app: App; readonly secretRetrieval: SecretRetrieval }> {
    const { appStore, credentials, audit, labels, clock } = this.deps;
    const { appId, name } = input;
    const requested = ownSettings(input);
    refuseAny([...appIdIssues(appId), ...nameIssues(name), ...settingsIssues(requested, labels)]);
    const [org, before] = await Promise.all([this.requireOrg(orgId), appStore.readAppOrDeleted({ orgId, appId })]);
    refuseInvalid(org, requested);
    if (!before) await this.refuseTooManyApps(orgId);
    const now = new Date(clock.nowMs());
    const deleted = before?.deletedAt ? before : undefined;
    const own = await this.withEnforcement(org, requested, before && inForce(org, before));
    const rotation = (deleted?.credentials.rotation ?? 0) + 1;
    const { retrieval, rider } = credentials.firstRetrieval({ orgId, appId }, rotation);
    const entityId = appEntity(appId);
    const event = audit.draft({ orgId, actor, action: 'app_registered', entityId, details: { name } });
    const record = { orgId, appId, name, own, createdAt: now, updatedAt: now };
    const app = await appStore.createApp(record, [rider, event], deleted);
    if (!app) throw new GatewayError('ALREADY_EXISTS', 'an app with this id is already registered');
    return { app: inForce(org, app), secretRetrieval: retrieval };
  }

  /**
   * Changes settings. With `expectedVersion`, a concurrent change that came first is a VERSION_CONFLICT; without it,
   * the change is made on top of that one.
   */
  async updateApp(ref: AppRef, input: AppChanges & VersionedChange, actor: Actor): Promise<App> {
    if (appIdIssues(ref.appId).length > 0) throw notFound('app');
    refuseAny(expectedVersionIssues(input.expectedVersion));
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const updated = await this.tryUpdate(ref, input, actor);
      if (updated) return updated;
    }
    throw unavailable('this app is being changed by several callers at the same time; retry');
  }

  /** Undefined if another change came between. */
  private async tryUpdate(ref: AppRef, input: AppChanges & VersionedChange, actor: Actor): Promise<App | undefined> {
    const { appStore, changes, audit, labels, clock } = this.deps;
    const { orgId, appId } = ref;
    const org = await this.requireOrg(orgId);
    const app = await appStore.readApp(ref);
    if (!app) throw notFound('app');
    if (isStale(input.expectedVersion, app.version)) throw versionConflict('this app', app.version);
    const merged = mergedSettings(app.own, input);
    const name = input.name ?? app.name;
    refuseAny([...nameIssues(name), ...settingsIssues(ownSettings(input), labels)]);
    refuseInvalid(org, merged);
    const own = input.quotas === undefined ? merged : await this.withEnforcement(org, merged, inForce(org, app));
    if (name === app.name && includes(app.own, own) && includes(own, app.own)) return inForce(org, app);
    const record: AppRecord = { ...app, name, own, updatedAt: new Date(clock.nowMs()) };
    const differences = changesBetween({ name: app.name, ...app.own }, { name, ...own }, 'inherited');
    const entityId = appEntity(appId);
    const event = audit.draft({ orgId, actor, action: 'app_updated', entityId, changes: differences });
    if (!(await appStore.saveApp(record, [event, changes.draftChange(orgId)]))) return undefined;
    await changes.refresh();
    return inForce(org, { ...record, version: app.version + 1 });
  }

  /**
   * The settings with the enforcement of their quotas. `before`: the app as it was. Without it, the app has no costs,
   * and the enforcement is in force at once.
   */
  private async withEnforcement(
    org: Org,
    { quotas: requested, ...others }: Partial<SettingsRequest>,
    before: App | undefined,
  ): Promise<Partial<Settings>> {
    const nowMs = this.deps.clock.nowMs();
    const earlier = before?.quotas ?? [];
    if (!requested) {
      if (before) refuseAny(suddenIssues(earlier, org.quotas, dayAt(org.zones, nowMs)));
      return others;
    }
    const quotas = resolvedQuotas(requested, earlier, before ? timingAt(org.zones, nowMs) : atOnce);
    if (becomesHard(earlier, quotas)) await this.deps.versions.requireHard();
    return { ...others, quotas };
  }

  /**
   * Refuses a new app id past the bound. Deleted apps count, because the sums of the org still read them; a deleted id
   * can always be registered again. The bound is approximate: apps that are registered at the same time do not see each
   * other.
   */
  private async refuseTooManyApps(orgId: string): Promise<void> {
    const { length } = await this.deps.appStore.listAllApps(orgId);
    if (length >= maxAppsPerOrg)
      throw badInput({
        path: 'input.appId',
        message: `the org has had ${maxAppsPerOrg} apps, the maximum: register a deleted app id again`,
      });
  }

  private async requireOrg(orgId: string): Promise<Org> {
    const org = await this.deps.orgStore.readOrg(orgId);
    if (!org) throw notFound('org');
    return org;
  }
}

/** Throws if the own settings of an app contradict each other or the settings of its org. */
function refuseInvalid(org: Org, own: Partial<Settings>): void {
  refuseAny([
    ...scopeIssues(org.quotaScope, own),
    ...unmeteredIssues({ modelOrdering: own.modelOrdering ?? org.modelOrdering, quotas: own.quotas ?? org.quotas }),
    ...intervalIssues({
      refreshIntervalNormalSecs: own.refreshIntervalNormalSecs ?? org.refreshIntervalNormalSecs,
      refreshIntervalTightSecs: own.refreshIntervalTightSecs ?? org.refreshIntervalTightSecs,
    }),
  ]);
}

function ownSettings(input: Nullable<SettingsRequest>): Partial<SettingsRequest> {
  return withoutNull(Object.fromEntries(inheritable.map((field) => [field, input[field]]))) as Partial<SettingsRequest>;
}

/** Absent keeps a setting, null removes it, a value replaces it. */
function mergedSettings(own: Partial<Settings>, changes: Nullable<SettingsRequest>): Partial<Settings> {
  return withoutNull(
    Object.fromEntries(inheritable.map((field) => [field, changes[field] === undefined ? own[field] : changes[field]])),
  ) as Partial<Settings>;
}
