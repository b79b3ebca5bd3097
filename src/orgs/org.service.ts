import type { AuditService } from '../audit/audit.service.js';
import { type Actor, changesBetween, orgEntity } from '../audit/audit-event.js';
import type { ChangeService } from '../changes/change.service.js';
import type { CredentialService, SecretRetrieval } from '../identity/credential.service.js';
import type { Clock } from '../lib/clock.js';
import {
  badInput,
  GatewayError,
  type Issue,
  notFound,
  refuseAny,
  unavailable,
  versionConflict,
} from '../lib/errors.js';
import { expectedVersionIssues, isStale, type VersionedChange } from '../lib/expected-version.js';
import { newUuid } from '../lib/id.js';
import { nameIssues } from '../lib/text.js';
import type { AppStore } from './app.store.js';
import { isTimeZone, withZone } from './calendar.js';
import { atOnce, timingAt } from './enforcement.js';
import type { OrgStore } from './org.store.js';
import { becomesHard, inChainOrder, resolvedQuotas } from './quotas.js';
import {
  changeableSettings,
  dimensionIssues,
  includes,
  inForce,
  intervalIssues,
  type KnownLabels,
  type Nullable,
  type Org,
  reservationIssues,
  type SettingsRequest,
  settingsIssues,
  shardCountIssues,
  unmeteredIssues,
  unmeteredLabels,
  withoutNull,
} from './settings.js';
import type { VersionStore } from './version.store.js';

const maxAttempts = 5;

export interface OrgRegistration extends SettingsRequest {
  readonly orgId?: string | null;
  readonly name: string;
  readonly timezone: string;
  readonly quotaScope: Org['quotaScope'];
  readonly stickyFallbackEnabled: boolean;
  readonly appsMayBringLimits: boolean;
  readonly attributeApps: boolean;
  readonly ledger: boolean;
  readonly dimensions: readonly string[];
  readonly maxReservationPct: number;
  readonly shardCount: number;
}

/** A setting that is absent or null stays unchanged. */
export type OrgChanges = Nullable<Omit<OrgRegistration, 'orgId' | 'quotaScope' | 'shardCount'>>;

export interface OrgDeps {
  readonly orgStore: OrgStore;
  readonly appStore: AppStore;
  readonly credentials: CredentialService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly labels: KnownLabels;
  readonly versions: Pick<VersionStore, 'requireHard'>;
  readonly clock: Clock;
}

/** Registers orgs and changes their settings. */
export class OrgService {
  constructor(private readonly deps: OrgDeps) {}

  /** Registers an org and hands out the retrieval token for its first secret, in one transaction. */
  async registerOrg(
    input: OrgRegistration,
    actor: Actor,
  ): Promise<{ readonly org: Org; readonly secretRetrieval: SecretRetrieval }> {
    const { orgStore, credentials, audit, labels, versions, clock } = this.deps;
    refuseAny([
      ...nameIssues(input.name),
      ...zoneIssues(input.timezone),
      ...settingsIssues(input, labels),
      ...unmeteredIssues(input),
      ...intervalIssues(input),
      ...shardCountIssues(input.shardCount),
      ...dimensionIssues(input.dimensions),
      ...reservationIssues(input.maxReservationPct),
    ]);
    const quotas = resolvedQuotas(input.quotas, [], atOnce);
    if (becomesHard([], quotas)) await versions.requireHard();
    const orgId = input.orgId ?? newUuid();
    const now = new Date(clock.nowMs());
    const { retrieval, rider } = credentials.firstRetrieval({ orgId });
    const details = { name: input.name };
    const event = audit.draft({ orgId, actor, action: 'org_registered', entityId: orgEntity, details });
    const zones = [{ zone: input.timezone, fromMs: 0 }] as const;
    // Returns what was written without another read: if that failed, the only copy of the token would be lost.
    const created = { ...input, orgId, quotas, zones, createdAt: now, updatedAt: now };
    const org = await orgStore.createOrg(created, [rider, event]);
    if (!org) throw new GatewayError('ALREADY_EXISTS', 'an org with this id is already registered');
    return { org, secretRetrieval: retrieval };
  }

  /**
   * Changes settings. A new time zone takes effect at the end of the local day. With `expectedVersion`, a concurrent
   * change that came first is a VERSION_CONFLICT; without it, the change is made on top of that one.
   */
  async updateOrg(
    orgId: string,
    { expectedVersion, ...changes }: OrgChanges & VersionedChange,
    actor: Actor,
  ): Promise<Org> {
    refuseAny(expectedVersionIssues(expectedVersion));
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const org = await this.deps.orgStore.readOrg(orgId);
      if (!org) throw notFound('org');
      if (isStale(expectedVersion, org.version)) throw versionConflict('this org', org.version);
      const updated = await this.tryUpdate(org, changes, actor);
      if (updated) return updated;
    }
    throw unavailable('this org is being changed by several callers at the same time; retry');
  }

  /** Undefined if another change came between. */
  private async tryUpdate(org: Org, input: OrgChanges, actor: Actor): Promise<Org | undefined> {
    const { orgStore, changes, audit, labels, clock } = this.deps;
    const { orgId } = org;
    const nowMs = clock.nowMs();
    const given = changesIn(org, input, nowMs);
    const changed: Org = { ...org, ...given, updatedAt: new Date(nowMs) };
    refuseAny([
      ...nameIssues(changed.name),
      ...zoneIssues(changed.timezone),
      ...settingsIssues(given, labels),
      ...unmeteredIssues(changed),
      ...intervalIssues(changed),
      ...dimensionIssues(changed.dimensions),
      ...reservationIssues(changed.maxReservationPct),
    ]);
    if (becomesHard(org.quotas, changed.quotas)) await this.deps.versions.requireHard();
    // Without a difference nothing is written, because a write makes the caches of every gateway stale.
    if (includes(org, given)) return org;
    await this.refuseStrandedApps(changed);
    const zones = given.timezone === undefined ? org.zones : withZone(org.zones, changed.timezone, nowMs);
    const saved = { ...changed, zones, quotas: inChainOrder(changed.quotas, changed.modelOrdering) };
    const differences = changesBetween(changeableSettings(org), changeableSettings(saved));
    const event = audit.draft({ orgId, actor, action: 'org_updated', entityId: orgEntity, changes: differences });
    if (!(await orgStore.saveOrg(saved, [event, changes.draftChange(orgId)]))) return undefined;
    await changes.refresh();
    return { ...saved, version: org.version + 1 };
  }

  /**
   * A change of the org must not leave an app with a label without quota, or with a tight interval above the normal
   * one.
   */
  private async refuseStrandedApps(org: Org): Promise<void> {
    for (const record of await this.deps.appStore.listApps(org.orgId, Number.POSITIVE_INFINITY)) {
      const app = inForce(org, record);
      const missing = unmeteredLabels(app);
      if (missing.length > 0)
        throw badInput({
          path: 'input.quotas',
          message: `app ${app.appId} would have no quota for ${missing.join(', ')}`,
        });
      refuseAny(intervalIssues(app).map(({ path, message }) => ({ path, message: `app ${app.appId}: ${message}` })));
    }
  }
}

/** The changes of a request, without what is to stay as it is. */
function changesIn(org: Org, input: OrgChanges, nowMs: number) {
  const { quotas, ...others } = withoutNull(input);
  return quotas ? { ...others, quotas: resolvedQuotas(quotas, org.quotas, timingAt(org.zones, nowMs)) } : others;
}

const zoneIssues = (timezone: string): Issue[] =>
  isTimeZone(timezone) ? [] : [{ path: 'input.timezone', message: 'must be an IANA time zone name' }];
