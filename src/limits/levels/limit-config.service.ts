import type { AuditService } from '../../audit/audit.service.js';
import { type Actor, changesBetween, resourceEntity, systemEntity } from '../../audit/audit-event.js';
import type { ChangeService } from '../../changes/change.service.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import { refuseAny, unavailable, versionConflict } from '../../lib/errors.js';
import {
  type ExpectedVersion,
  expectedVersionIssues,
  isStale,
  type VersionedChange,
} from '../../lib/expected-version.js';
import type { Log } from '../../lib/log.js';
import type { Charge } from '../../lib/units.js';
import type { NamespaceService } from '../entities/namespace.service.js';
import { completeLimit, type LimitRequest } from '../limit.js';
import { limitsIssues } from '../limit-input.js';
import { configKey, placeName } from '../limiter-keys.js';
import type { TakeService } from '../take.service.js';
import type { LimitConfigStore } from './limit-config.store.js';
import {
  type ConfigPlace,
  type Level,
  type LimitConfig,
  type OnUnavailable,
  type PlaceRequest,
  placeIssues,
  placeOf,
} from './resolution.js';

const maxAttempts = 10;

const concurrentChange = 'these limits are being changed by other requests; nothing was changed; retry';

export interface LimitsRequest extends PlaceRequest, VersionedChange {
  readonly limits: readonly LimitRequest[];
  readonly onUnavailable?: OnUnavailable | null | undefined;
}

export interface LimitConfigDeps {
  readonly store: LimitConfigStore;
  readonly namespaces: NamespaceService;
  readonly changes: ChangeService;
  readonly audit: AuditService;
  readonly log: Log;
  /** Converts the bucket of an entity after its limits of level ENTITY were changed. */
  readonly buckets?: Pick<TakeService, 'restamp'>;
}

interface LevelChange {
  readonly orgId: string;
  readonly place: ConfigPlace;
  readonly expectedVersion: ExpectedVersion;
}

/** Sets and deletes limits. A change replaces all limits of one level. */
export class LimitConfigService {
  constructor(private readonly deps: LimitConfigDeps) {}

  /** Replaces the limits of a level. Takes effect on all gateways within 2 s. */
  async set(orgId: string, request: LimitsRequest, actor: Actor): Promise<LimitConfig> {
    const { level, limits, onUnavailable, expectedVersion } = request;
    refuseAny([
      ...placeIssues(request, 'input.'),
      // Level SYSTEM may have only the policy and no limits.
      ...limitsIssues(limits, 'input.limits', level === 'SYSTEM' && onUnavailable ? 0 : 1),
      ...(onUnavailable && level !== 'SYSTEM'
        ? [{ path: 'input.onUnavailable', message: 'can be set at level SYSTEM only' }]
        : []),
      ...expectedVersionIssues(expectedVersion),
    ]);
    const { store, audit } = this.deps;
    const place = placeOf(request);
    return this.attempted({ orgId, place, expectedVersion }, async (namespace, { version, config: before }) => {
      const config: LimitConfig = {
        place,
        limits: limits.map(completeLimit).sort((a, b) => (a.name < b.name ? -1 : 1)),
        version: version + 1,
        ...(onUnavailable ? { onUnavailable } : {}),
      };
      const auditEvent = audit.draft({
        orgId,
        actor,
        action: 'limits_set',
        ...auditedPlace(place),
        details: { version: config.version },
        changes: changesBetween(audited(before), audited(config)),
      });
      const write = (riders: readonly TransactItem[]) => store.save(namespace, config, riders);
      return (await this.change({ orgId, namespace, place }, auditEvent, write)) ? config : undefined;
    });
  }

  /** Deletes the limits of a level. False if it had none. */
  async delete(orgId: string, request: PlaceRequest & VersionedChange, actor: Actor): Promise<boolean> {
    const { expectedVersion } = request;
    refuseAny([...placeIssues(request, 'input.'), ...expectedVersionIssues(expectedVersion)]);
    const { store, audit } = this.deps;
    const place = placeOf(request);
    return this.attempted({ orgId, place, expectedVersion }, async (namespace, { config: before }) => {
      if (!before) return false;
      const auditEvent = audit.draft({
        orgId,
        actor,
        action: 'limits_deleted',
        ...auditedPlace(place),
        changes: changesBetween(audited(before), {}),
      });
      const write = (riders: readonly TransactItem[]) => store.delete(namespace, before, riders);
      return (await this.change({ orgId, namespace, place }, auditEvent, write)) || undefined;
    });
  }

  /**
   * Reads the level and makes an attempt to change it. Undefined means that another change came first, so both are
   * repeated; with `expectedVersion`, the next read then finds a VERSION_CONFLICT.
   */
  private async attempted<T>(
    { orgId, place, expectedVersion }: LevelChange,
    attempt: (namespace: string, level: Level) => Promise<T | undefined>,
  ): Promise<T> {
    const { store, namespaces } = this.deps;
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      const namespace = await namespaces.of(orgId);
      const level = await store.loadLevel(namespace, place);
      // A deleted level keeps its version for the next change, but callers cannot read it: to them it is 0.
      const currentVersion = level.config?.version ?? 0;
      if (!isStale(expectedVersion, currentVersion)) {
        const done = await attempt(namespace, level);
        if (done !== undefined) return done;
      } else if (await namespaces.isCurrent(orgId, namespace)) {
        throw versionConflict('this level', currentVersion);
      }
      // A purge through another gateway may have replaced the namespace, and all levels with it.
      namespaces.invalidate(orgId);
    }
    throw unavailable(concurrentChange);
  }

  /** Writes a level in one transaction with its audit event and change counter. False if another change came first. */
  private async change(
    { orgId, namespace, place }: { readonly orgId: string; readonly namespace: string; readonly place: ConfigPlace },
    auditEvent: TransactItem,
    write: (riders: readonly TransactItem[]) => Promise<boolean>,
  ): Promise<boolean> {
    const { namespaces, changes, buckets, log } = this.deps;
    const places = [placeName(configKey(namespace, place))];
    const riders = [auditEvent, changes.draftPlaceChange(orgId, places), namespaces.draftCheck(orgId, namespace)];
    const isDone = await changes.during(orgId, places, () => write(riders));
    if (isDone && buckets && place.level === 'ENTITY') {
      const { entityId, resource } = place;
      // The limits are stored. If the bucket is not converted now, its next use converts it.
      await buckets
        .restamp({ orgId, namespace, entityId, resource })
        .catch((error: unknown) => log.warn({ err: error }, 'failed to convert bucket to new limits'));
    }
    return isDone;
  }

  async load(orgId: string, request: PlaceRequest): Promise<LimitConfig | undefined> {
    refuseAny(placeIssues(request, ''));
    return this.deps.store.load(await this.deps.namespaces.of(orgId), placeOf(request));
  }

  /** The limits of level SYSTEM and of all resources. */
  async listDefaults(orgId: string, charge: Charge): Promise<LimitConfig[]> {
    const namespace = await this.deps.namespaces.of(orgId);
    const [system, resources] = await Promise.all([
      this.deps.store.load(namespace, { level: 'SYSTEM' }),
      this.deps.store.listResources(namespace, charge),
    ]);
    return system ? [system, ...resources] : resources;
  }
}

/** A limit as the audit trail shows it. */
function limitText({
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
  limits: config?.limits.map(limitText).join(', ') || undefined,
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
