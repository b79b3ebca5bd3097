import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, changesBetween, resourceEntity, systemEntity } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { refuseAny, unavailable } from '../../lib/errors.js';
import type { Log } from '../../lib/log.js';
import type { Charge } from '../../lib/units.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { completeLimit, type LimitRequest, limitsIssues } from '../limit.js';
import { configKey, placeName } from '../limiter-keys.js';
import type { LimitConfigStore } from './limit-config.store.js';
import {
  type ConfigPlace,
  type LimitConfig,
  type OnUnavailable,
  type PlaceRequest,
  placeIssues,
  placeOf,
} from './resolution.js';

const attempts = 10;

export interface LimitsRequest extends PlaceRequest {
  readonly limits: readonly LimitRequest[];
  readonly onUnavailable?: OnUnavailable | null | undefined;
}

export interface LimitConfigDeps {
  readonly store: LimitConfigStore;
  readonly namespaces: NamespaceService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly log: Log;
  readonly buckets?: ChangedBuckets;
}

/** Told after an entity's own limits for a resource were changed. */
export interface ChangedBuckets {
  changed(orgId: string, namespace: string, entityId: string, resource: string): Promise<void>;
}

/** Sets limits, a level at a time and whole. */
export class LimitConfigService {
  constructor(private readonly parts: LimitConfigDeps) {}

  async set(orgId: string, request: LimitsRequest, actor: Actor): Promise<LimitConfig> {
    const { level, limits, onUnavailable } = request;
    refuseAny([
      ...placeIssues(request, 'input.'),
      // At the system level there may be nothing but the policy.
      ...limitsIssues(limits, 'input.limits', level === 'SYSTEM' && onUnavailable ? 0 : 1),
      ...(onUnavailable && level !== 'SYSTEM'
        ? [{ path: 'input.onUnavailable', message: 'can be set at level SYSTEM only' }]
        : []),
    ]);
    const { store, namespaces, audit } = this.parts;
    const place = placeOf(request);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const { version, config: before } = await store.loadLevel(namespace, place);
      const config: LimitConfig = {
        place,
        limits: limits.map(completeLimit).sort((a, b) => (a.name < b.name ? -1 : 1)),
        version: version + 1,
        ...(onUnavailable ? { onUnavailable } : {}),
      };
      const changes = changesBetween(audited(before), audited(config));
      const act = audit.draft({
        orgId,
        actor,
        action: 'limits_set',
        ...auditedPlace(place),
        details: { version: config.version },
        changes,
      });
      if (await this.change({ orgId, namespace, place }, act, (drafts) => store.save(namespace, config, drafts)))
        return config;
      namespaces.forget(orgId);
    }
    throw unavailable('these limits are being changed by others at the same time; nothing was changed: try again');
  }

  /** Removes a level; false where there was nothing. */
  async delete(orgId: string, request: PlaceRequest, actor: Actor): Promise<boolean> {
    refuseAny(placeIssues(request, 'input.'));
    const { store, namespaces, audit } = this.parts;
    const place = placeOf(request);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const namespace = await namespaces.of(orgId);
      const before = await store.load(namespace, place);
      if (!before) return false;
      const act = audit.draft({
        orgId,
        actor,
        action: 'limits_deleted',
        ...auditedPlace(place),
        changes: changesBetween(audited(before), {}),
      });
      if (await this.change({ orgId, namespace, place }, act, (drafts) => store.delete(namespace, before, drafts)))
        return true;
      namespaces.forget(orgId);
    }
    throw unavailable('these limits are being changed by others at the same time; nothing was changed: try again');
  }

  /** Writes a level with everything that belongs to its change; false where another change came first. */
  private async change(
    { orgId, namespace, place }: { readonly orgId: string; readonly namespace: string; readonly place: ConfigPlace },
    act: TransactItem,
    write: (drafts: readonly TransactItem[]) => Promise<boolean>,
  ): Promise<boolean> {
    const { namespaces, changes, buckets, log } = this.parts;
    const places = [placeName(configKey(namespace, place))];
    const drafts = [act, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
    const isDone = await changes.during(orgId, places, () => write(drafts));
    if (isDone && buckets && place.level === 'ENTITY') {
      const { entityId, resource } = place;
      // The limits are set. A bucket that could not be converted now is converted at its next use.
      await buckets
        .changed(orgId, namespace, entityId, resource)
        .catch((error: unknown) => log.warn({ err: error }, 'failed to convert a bucket to new limits'));
    }
    return isDone;
  }

  async load(orgId: string, request: PlaceRequest): Promise<LimitConfig | undefined> {
    refuseAny(placeIssues(request, ''));
    return this.parts.store.load(await this.parts.namespaces.of(orgId), placeOf(request));
  }

  /** The system's and every resource's. */
  async listDefaults(orgId: string, charge: Charge): Promise<LimitConfig[]> {
    const namespace = await this.parts.namespaces.of(orgId);
    const [system, resources] = await Promise.all([
      this.parts.store.load(namespace, { level: 'SYSTEM' }),
      this.parts.store.listResources(namespace, charge),
    ]);
    return system ? [system, ...resources] : resources;
  }
}

function inWords({
  name,
  capacity,
  burst,
  refillAmount,
  refillPeriodSecs,
  kind,
  window,
  enforce,
}: LimitConfig['limits'][number]): string {
  const shadow = enforce ? '' : ', not enforced';
  if (kind === 'CONCURRENCY') return `${name}: ${capacity} at the same time${shadow}`;
  return window
    ? `${name}: ${capacity} per ${window}${shadow}`
    : `${name}: ${capacity}, burst ${burst}, ${refillAmount} every ${refillPeriodSecs} s${shadow}`;
}

const audited = (config: LimitConfig | undefined) => ({
  limits: config?.limits.map(inWords).join(', ') || undefined,
  on_unavailable: config?.onUnavailable,
});

function auditedPlace(place: ConfigPlace): { readonly entityId: string; readonly resource?: string } {
  switch (place.level) {
    case 'SYSTEM':
      return { entityId: systemEntity };
    case 'RESOURCE':
      return { entityId: resourceEntity(place.resource), resource: place.resource };
    case 'ENTITY_DEFAULT':
      return { entityId: place.entityId };
    case 'ENTITY':
      return { entityId: place.entityId, resource: place.resource };
  }
}
