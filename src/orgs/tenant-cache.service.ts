import type { ChangeService } from '../changes/change.service.js';
import type { Tenants } from '../identity/tenants.js';
import { GatewayError } from '../lib/errors.js';
import { VersionedCache } from '../lib/versioned-cache.js';
import type { AppStore } from './app.store.js';
import type { OrgStore } from './org.store.js';
import type { AppRecord, AppRef, Org, TenantRef } from './settings.js';

const maxCachedOrgs = 10_000;
const maxCachedApps = 50_000;

interface TenantCacheDeps {
  readonly orgStore: OrgStore;
  readonly appStore: AppStore;
  readonly changes: ChangeService;
}

/** Orgs and apps, cached until something is changed or revoked anywhere. Every request reads them. */
export class TenantCache implements Tenants {
  private readonly orgs: VersionedCache<Org>;
  private readonly apps: VersionedCache<AppRecord>;

  constructor(private readonly deps: TenantCacheDeps) {
    this.orgs = new VersionedCache(() => deps.changes.version(), maxCachedOrgs);
    this.apps = new VersionedCache(() => deps.changes.version(), maxCachedApps);
  }

  async org(orgId: string): Promise<Org | undefined> {
    const [org] = await this.loadOrgs([orgId]);
    return org;
  }

  /** The orgs in the order of the ids; undefined for each that does not exist. */
  loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> {
    return this.orgs.loadMany(orgIds, (missing) => this.deps.orgStore.loadOrgs(missing));
  }

  /** The apps in the order of the refs; undefined for each that does not exist or was deleted. */
  loadApps(refs: readonly AppRef[]): Promise<(AppRecord | undefined)[]> {
    const byKey = new Map(refs.map((ref) => [appKey(ref), ref]));
    return this.apps.loadMany(refs.map(appKey), (missing) =>
      this.deps.appStore.loadApps(missing.flatMap((key) => byKey.get(key) ?? [])),
    );
  }

  async refusal({ orgId, appId }: TenantRef): Promise<GatewayError | undefined> {
    const org = await this.org(orgId);
    const [app] = appId === undefined ? [] : await this.loadApps([{ orgId, appId }]);
    if (!org || (appId !== undefined && !app))
      return new GatewayError('UNAUTHENTICATED', 'the org or app of this credential no longer exists');
    return suspension(org, app);
  }

  lastRefusal({ orgId, appId }: TenantRef): GatewayError | undefined {
    const app = appId === undefined ? undefined : this.apps.last(appKey({ orgId, appId }));
    return suspension(this.orgs.last(orgId), app);
  }
}

function suspension(org: Org | undefined, app: AppRecord | undefined): GatewayError | undefined {
  if (org?.suspendedAt)
    return new GatewayError('FORBIDDEN', 'the org is suspended: ask the operator of the platform to resume it');
  if (app?.suspendedAt) return new GatewayError('FORBIDDEN', 'the app is suspended: ask its org to resume it');
  return undefined;
}

const appKey = ({ orgId, appId }: AppRef): string => `${orgId} ${appId}`;
