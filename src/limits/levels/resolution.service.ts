import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import { notFound } from '../../lib/errors.js';
import { Lru } from '../../lib/lru.js';
import { type ZonePeriod, zonePeriodAt } from '../../orgs/calendar.js';
import type { TenantCache } from '../../orgs/tenant-cache.service.js';
import type { Entity } from '../entities/entity.js';
import { inZone, type LimitSet, limitSet } from '../limit.js';
import { configKey, entityKey, placeName } from '../limiter-keys.js';
import {
  type ConfigPlace,
  type Level,
  type LimitConfig,
  type OnUnavailable,
  placesFor,
  policyOf,
  type ResolutionKey,
  type ResolvedLimits,
  type TakePath,
  winner,
} from './resolution.js';
import type { ResolutionStore } from './resolution.store.js';

/** An upper bound only: a change of the counter makes an entry stale long before. */
export const maxCachedMs = 3_600_000;
const maxCached = 50_000;

/**
 * A cache entry is valid while its change counter has the value that it had before the read, and for one hour at most.
 */
interface Validity {
  readonly counter: number;
  readonly count: number;
  readonly untilMs: number;
}
interface CachedValue<T> extends Validity {
  readonly value: T;
}
interface CachedPath {
  readonly path: TakePath;
  /** Set if a limit of the path resets by the calendar. */
  readonly zone?: ZonePeriod;
  /** The validity of each level and entity that the path was made of. */
  readonly parts: readonly Validity[];
}

export interface ResolutionDeps {
  readonly store: ResolutionStore;
  readonly changes: ChangeService;
  readonly orgs: Pick<TenantCache, 'org'>;
  readonly clock: Clock;
}

/**
 * Finds the limits in force. In the steady state an acquire reads nothing from the database. Three caches of 50,000
 * entries:
 *
 * - `levelCache`: place → the config that is set there, or that none is set.
 * - `entityCache`: entity → the entity with its parent, or that it was never created.
 * - `pathCache`: entity and resource → the complete result, made of up to ten entries of the other two.
 *
 * Each level and entity has a change counter (see `ChangeService`). A transaction that changes it raises the counter,
 * and every gateway learns the new counts within 2 s without a read per entry. An entry keeps the count from before its
 * read; if the count differs now, the entry is stale. A path is stale if any of its parts is.
 *
 * Two more caches are not invalidated: `policyCache`, the last policy per org, for outages; and `setCache`, the limit
 * set of a config object, which depends on nothing else.
 */
export class ResolutionService {
  private readonly pathCache = new Lru<string, CachedPath>(maxCached);
  private readonly levelCache = new Lru<string, CachedValue<Level>>(maxCached);
  private readonly entityCache = new Lru<string, CachedValue<Entity | undefined>>(maxCached);
  private readonly policyCache = new Lru<string, OnUnavailable>(maxCached);
  private readonly setCache = new Lru<LimitConfig, LimitSet>(10_000);

  constructor(private readonly deps: ResolutionDeps) {}

  /** The policy of the org as last resolved, however old. Never reads. */
  lastPolicy(orgId: string): OnUnavailable {
    return this.policyCache.get(orgId) ?? 'BLOCK';
  }

  /**
   * The entities that an acquire takes from, with the limits in force as cached. `onRead` gets each of them that is
   * about to be read, so that other reads can share the call.
   */
  async path(key: ResolutionKey, onRead?: (entityId: string) => void): Promise<TakePath> {
    const { orgId, entityId } = key;
    const cached = this.pathCache.get(pathName(key));
    if (
      cached &&
      this.areValid(cached.parts) &&
      (!cached.zone || (await this.zoneOf(orgId)).fromMs === cached.zone.fromMs)
    )
      return cached.path;
    onRead?.(entityId);
    const [entity, levels] = await this.load(key);
    const parentId = entity.value?.cascade ? entity.value.parentId : undefined;
    if (parentId !== undefined) onRead?.(parentId);
    const parent = parentId === undefined ? undefined : await this.load({ ...key, entityId: parentId });
    const zone = await this.zoneFor(orgId, [...levels, ...(parent?.[1] ?? [])]);
    const path: TakePath = {
      entityId,
      resolved: this.resolved(orgId, levels, zone),
      // A parent that was deleted is not charged.
      ...(parentId !== undefined && parent?.[0].value
        ? { parent: { entityId: parentId, resolved: this.resolved(orgId, parent[1], zone) } }
        : {}),
    };
    const parts = [entity, ...levels, ...(parent?.flat() ?? [])];
    this.pathCache.set(pathName(key), { path, parts, ...(zone ? { zone } : {}) });
    return path;
  }

  /**
   * The path as last cached, however old. Undefined if there is none or this process knows of a change since. Never
   * reads.
   */
  lastPath(key: Omit<ResolutionKey, 'orgId'>): TakePath | undefined {
    const cached = this.pathCache.get(pathName(key));
    return cached?.parts.every(({ counter, count }) => this.deps.changes.countAt(counter) === count)
      ? cached.path
      : undefined;
  }

  /** The path with limits as the database has them now. */
  async pathFresh(key: ResolutionKey): Promise<TakePath> {
    const { parent } = await this.path(key);
    const entityIds = [key.entityId, ...(parent ? [parent.entityId] : [])];
    await Promise.all(entityIds.map((entityId) => this.resolveFresh({ ...key, entityId })));
    return this.path(key);
  }

  /** The limits in force as cached. */
  async resolve(key: ResolutionKey): Promise<ResolvedLimits> {
    const levels = await this.loadLevels(key);
    return this.resolved(key.orgId, levels, await this.zoneFor(key.orgId, levels));
  }

  /** The limits in force as the database has them now. */
  async resolveFresh(key: ResolutionKey): Promise<ResolvedLimits> {
    const { orgId, namespace, entityId, resource } = key;
    const levels = await Promise.all(
      placesFor(entityId, resource).map((place) => this.loadLevelFresh(orgId, namespace, place)),
    );
    return this.resolved(orgId, levels, await this.zoneFor(orgId, levels));
  }

  /** The time zone of the org now, by which calendar limits reset. */
  async zoneOf(orgId: string): Promise<ZonePeriod> {
    const { orgs, clock } = this.deps;
    const org = await orgs.org(orgId);
    if (!org) throw notFound('org');
    return zonePeriodAt(org.zones, clock.nowMs());
  }

  /** An entity and its levels. All that is not cached is read in one call. */
  private load(key: ResolutionKey): Promise<[CachedValue<Entity | undefined>, CachedValue<Level>[]]> {
    const { orgId, namespace, entityId } = key;
    const name = placeName(entityKey(namespace, entityId));
    return Promise.all([
      this.loadCached(this.entityCache, orgId, name, () => this.deps.store.loadEntity({ orgId, namespace, entityId })),
      this.loadLevels(key),
    ]);
  }

  private loadLevels({ orgId, namespace, entityId, resource }: ResolutionKey): Promise<CachedValue<Level>[]> {
    const read = (place: ConfigPlace) => () => this.deps.store.loadLevel({ namespace, place });
    return Promise.all(
      placesFor(entityId, resource).map((place) =>
        this.loadCached(this.levelCache, orgId, placeName(configKey(namespace, place)), read(place)),
      ),
    );
  }

  private async loadCached<T>(
    cache: Lru<string, CachedValue<T>>,
    orgId: string,
    name: string,
    read: () => Promise<T>,
  ): Promise<CachedValue<T>> {
    const cached = cache.get(name);
    if (cached && this.isValid(cached)) return cached;
    const validity = this.validityOf(orgId, name);
    const entry = { value: await read(), ...validity };
    cache.set(name, entry);
    return entry;
  }

  /** Reads a level. If it differs from the cached one, paths that were made of the cached one become stale at once. */
  private async loadLevelFresh(orgId: string, namespace: string, place: ConfigPlace): Promise<CachedValue<Level>> {
    const { store, changes } = this.deps;
    const name = placeName(configKey(namespace, place));
    const validity = this.validityOf(orgId, name);
    const value = await store.loadLevel({ namespace, place });
    const isChanged = JSON.stringify(this.levelCache.get(name)?.value) !== JSON.stringify(value);
    const { counter, count } = validity;
    // Changed during the read: the value may be older than that change, so it is not cached.
    if (changes.countAt(counter) !== count) return { value, ...validity };
    if (isChanged) changes.note(counter);
    const entry = { value, ...validity, count: changes.countAt(counter) };
    this.levelCache.set(name, entry);
    return entry;
  }

  private resolved(orgId: string, levels: readonly CachedValue<Level>[], zone: ZonePeriod | undefined): ResolvedLimits {
    const configs = levels.map(({ value }) => value.config);
    const config = winner(configs);
    const onUnavailable = policyOf(configs);
    this.policyCache.set(orgId, onUnavailable);
    const versions = levels.map(({ value }) => value.version);
    return {
      onUnavailable,
      isEntityLevel: config?.place.level === 'ENTITY',
      // The zone counts as a level, so that a gateway with an older zone does not restamp the bucket with it.
      ...(config
        ? {
            set: { ...this.setOf(config, zone), levels: zone ? [...versions, zone.fromMs] : versions },
            source: config.place.level,
          }
        : {}),
      levels: versions,
    };
  }

  private setOf(config: LimitConfig, zone: ZonePeriod | undefined): LimitSet {
    if (zone && config.limits.some(({ window }) => window)) return limitSet(inZone(config.limits, zone.zone));
    const cached = this.setCache.get(config);
    if (cached) return cached;
    const set = limitSet(config.limits);
    this.setCache.set(config, set);
    return set;
  }

  /** The time zone of the org. Undefined if no limit resets by the calendar. */
  private async zoneFor(orgId: string, levels: readonly CachedValue<Level>[]): Promise<ZonePeriod | undefined> {
    return levels.some(({ value }) => value.config?.limits.some(({ window }) => window))
      ? this.zoneOf(orgId)
      : undefined;
  }

  /** Call it before the read begins: a change during the read must make the result stale. */
  private validityOf(orgId: string, name: string): Validity {
    const { changes, clock } = this.deps;
    const counter = changes.counterOf(orgId, name);
    return { counter, count: changes.countAt(counter), untilMs: clock.monotonicMs() + maxCachedMs };
  }

  // A loop, because this runs for every acquire.
  private areValid(parts: readonly Validity[]): boolean {
    for (const part of parts) if (!this.isValid(part)) return false;
    return true;
  }

  private isValid({ counter, count, untilMs }: Validity): boolean {
    const { changes, clock } = this.deps;
    return changes.countAt(counter) === count && untilMs > clock.monotonicMs();
  }
}

const pathName = ({ namespace, entityId, resource }: Omit<ResolutionKey, 'orgId'>): string =>
  `${namespace} ${entityId} ${resource}`;
