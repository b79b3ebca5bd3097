import { LRUCache } from 'lru-cache';
import type { ChangeService } from '../../changes/change.service.js';
import type { Clock } from '../../lib/clock.js';
import { notFound } from '../../lib/errors.js';
import { type ZonePeriod, zonePeriodAt } from '../../orgs/calendar.js';
import type { TenantCache } from '../../orgs/tenant-cache.service.js';
import type { Entity } from '../entities/entity.js';
import { inZone, type LimitSet, limitSet } from '../limit.js';
import { configKey, entityKey, placeName } from '../limiter-keys.js';
import {
  type ConfigPlace,
  type Level,
  type LimitConfig,
  type LimitLevel,
  type OnUnavailable,
  placesFor,
  policyOf,
  winner,
} from './resolution.js';
import type { ResolutionStore } from './resolution.store.js';

/** A backstop: what is cached falls with its change counter long before. */
export const maxCachedMs = 3_600_000;
const maxCached = 50_000;

/** The limits in force for an entity and a resource. */
export interface Resolved {
  /** Absent where no level has any. */
  readonly set?: LimitSet;
  readonly source?: LimitLevel;
  readonly onUnavailable: OnUnavailable;
  /** Whether the entity has limits of its own for the resource: then its bucket is kept. */
  readonly isOwn: boolean;
  /** The version of each level, from the strongest to the weakest, 0 where nothing was ever set. No version ever goes back. */
  readonly levels: readonly number[];
}

/** Whom an acquire takes from: the entity, and its parent if it cascades. */
export interface TakePath {
  readonly entityId: string;
  readonly resolved: Resolved;
  readonly parent?: { readonly entityId: string; readonly resolved: Resolved };
}

/** Valid while its change counter is what it was before the read began, and an hour at most. */
interface Stamp {
  readonly counter: number;
  readonly count: number;
  readonly untilMs: number;
}
interface Cached<T> extends Stamp {
  readonly value: T;
}
interface CachedPath {
  readonly path: TakePath;
  /** Set if a limit of the path resets by the calendar. */
  readonly zone?: ZonePeriod;
  readonly parts: readonly Stamp[];
}

export interface ResolutionDeps {
  readonly store: ResolutionStore;
  readonly changes: ChangeService;
  readonly orgs: Pick<TenantCache, 'org'>;
  readonly clock: Clock;
}

/** What is set where, cached until it is changed, absence too. */
export class ResolutionService {
  private readonly paths = new LRUCache<string, CachedPath>({ max: maxCached });
  private readonly levels = new LRUCache<string, Cached<Level>>({ max: maxCached });
  private readonly entities = new LRUCache<string, Cached<Entity | undefined>>({ max: maxCached });
  /** By org, however old: what to do when the store cannot be asked. */
  private readonly policies = new LRUCache<string, OnUnavailable>({ max: maxCached });
  private readonly sets = new LRUCache<LimitConfig, LimitSet>({ max: 10_000 });

  constructor(private readonly parts: ResolutionDeps) {}

  lastPolicy(orgId: string): OnUnavailable {
    return this.policies.get(orgId) ?? 'BLOCK';
  }

  /** Cached for as long as each of the levels and entities that it was made of. */
  async path(orgId: string, namespace: string, entityId: string, resource: string): Promise<TakePath> {
    const name = `${namespace} ${entityId} ${resource}`;
    const cached = this.paths.get(name);
    if (
      cached &&
      this.areCurrent(cached.parts) &&
      (!cached.zone || (await this.zoneOf(orgId)).fromMs === cached.zone.fromMs)
    )
      return cached.path;
    const [entity, levels] = await this.read(orgId, namespace, entityId, resource);
    const parentId = entity.value?.cascade ? entity.value.parentId : undefined;
    const parent = parentId === undefined ? undefined : await this.read(orgId, namespace, parentId, resource);
    const zone = await this.zoneFor(orgId, [...levels, ...(parent?.[1] ?? [])]);
    const path: TakePath = {
      entityId,
      resolved: this.resolved(orgId, levels, zone),
      // A parent that was deleted is charged no more.
      ...(parentId !== undefined && parent?.[0].value
        ? { parent: { entityId: parentId, resolved: this.resolved(orgId, parent[1], zone) } }
        : {}),
    };
    this.paths.set(name, { path, parts: [entity, ...levels, ...(parent?.flat() ?? [])], ...(zone ? { zone } : {}) });
    return path;
  }

  /** The path as last known, however old; undefined if nothing is known, or if it was changed here since. Never reads. */
  lastPath(namespace: string, entityId: string, resource: string): TakePath | undefined {
    const cached = this.paths.get(`${namespace} ${entityId} ${resource}`);
    return cached?.parts.every(({ counter, count }) => this.parts.changes.countAt(counter) === count)
      ? cached.path
      : undefined;
  }

  /** The same, with limits as the store has them now. */
  async pathFresh(orgId: string, namespace: string, entityId: string, resource: string): Promise<TakePath> {
    const { parent } = await this.path(orgId, namespace, entityId, resource);
    await Promise.all(
      [entityId, ...(parent ? [parent.entityId] : [])].map((of) => this.resolveFresh(orgId, namespace, of, resource)),
    );
    return this.path(orgId, namespace, entityId, resource);
  }

  /** The limits in force, as cached. */
  async resolve(orgId: string, namespace: string, entityId: string, resource: string): Promise<Resolved> {
    const levels = await this.levelsFor(orgId, namespace, entityId, resource);
    return this.resolved(orgId, levels, await this.zoneFor(orgId, levels));
  }

  /** The limits in force now, whatever is cached. */
  async resolveFresh(orgId: string, namespace: string, entityId: string, resource: string): Promise<Resolved> {
    const levels = await Promise.all(
      placesFor(entityId, resource).map((place) => this.levelFresh(orgId, namespace, place)),
    );
    return this.resolved(orgId, levels, await this.zoneFor(orgId, levels));
  }

  /** An entity and its levels: what is not cached of them is read in one call. */
  private read(
    orgId: string,
    namespace: string,
    entityId: string,
    resource: string,
  ): Promise<[Cached<Entity | undefined>, Cached<Level>[]]> {
    const name = placeName(entityKey(namespace, entityId));
    return Promise.all([
      this.recall(this.entities, orgId, name, () => this.parts.store.loadEntity({ orgId, namespace, entityId })),
      this.levelsFor(orgId, namespace, entityId, resource),
    ]);
  }

  private levelsFor(orgId: string, namespace: string, entityId: string, resource: string): Promise<Cached<Level>[]> {
    const load = (place: ConfigPlace) => () => this.parts.store.loadLevel({ namespace, place });
    return Promise.all(
      placesFor(entityId, resource).map((place) =>
        this.recall(this.levels, orgId, placeName(configKey(namespace, place)), load(place)),
      ),
    );
  }

  private async recall<T>(
    cache: LRUCache<string, Cached<T>>,
    orgId: string,
    name: string,
    load: () => Promise<T>,
  ): Promise<Cached<T>> {
    const cached = cache.get(name);
    if (cached && this.isCurrent(cached)) return cached;
    const stamp = this.stamp(orgId, name);
    const read = { value: await load(), ...stamp };
    cache.set(name, read);
    return read;
  }

  /** A level as it is now. If it is another than was cached, paths that were made of that one fall at once. */
  private async levelFresh(orgId: string, namespace: string, place: ConfigPlace): Promise<Cached<Level>> {
    const { store, changes } = this.parts;
    const name = placeName(configKey(namespace, place));
    const stamp = this.stamp(orgId, name);
    const value = await store.loadLevel({ namespace, place });
    const isNews = JSON.stringify(this.levels.get(name)?.value) !== JSON.stringify(value);
    const { counter, count } = stamp;
    // If it was changed while it was being read, what was read may be older than that change.
    if (changes.countAt(counter) !== count) return { value, ...stamp };
    if (isNews) changes.note(counter);
    const read = { value, ...stamp, count: changes.countAt(counter) };
    this.levels.set(name, read);
    return read;
  }

  private resolved(orgId: string, levels: readonly Cached<Level>[], zone: ZonePeriod | undefined): Resolved {
    const configs = levels.map(({ value }) => value.config);
    const config = winner(configs);
    const onUnavailable = policyOf(configs);
    this.policies.set(orgId, onUnavailable);
    const versions = levels.map(({ value }) => value.version);
    return {
      onUnavailable,
      isOwn: config?.place.level === 'ENTITY',
      // The zone counts among the levels, so that a gateway that knows an older one does not bring it back.
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
    const known = this.sets.get(config);
    if (known) return known;
    const made = limitSet(config.limits);
    this.sets.set(config, made);
    return made;
  }

  /** Undefined where no limit resets by the calendar. */
  private async zoneFor(orgId: string, levels: readonly Cached<Level>[]): Promise<ZonePeriod | undefined> {
    return levels.some(({ value }) => value.config?.limits.some(({ window }) => window))
      ? this.zoneOf(orgId)
      : undefined;
  }

  /** The org's time zone now, by which calendar limits reset. */
  async zoneOf(orgId: string): Promise<ZonePeriod> {
    const { orgs, clock } = this.parts;
    const org = await orgs.org(orgId);
    if (!org) throw notFound('org');
    return zonePeriodAt(org.zones, clock.nowMs());
  }

  /** Taken before a read begins: a change that comes while reading makes what was read worthless. */
  private stamp(orgId: string, name: string): Stamp {
    const { changes, clock } = this.parts;
    const counter = changes.counterOf(orgId, name);
    return { counter, count: changes.countAt(counter), untilMs: clock.monotonicMs() + maxCachedMs };
  }

  private areCurrent(parts: readonly Stamp[]): boolean {
    for (const part of parts) if (!this.isCurrent(part)) return false;
    return true;
  }

  private isCurrent({ counter, count, untilMs }: Stamp): boolean {
    const { changes, clock } = this.parts;
    return changes.countAt(counter) === count && untilMs > clock.monotonicMs();
  }
}
