import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.js';
import type { Entity } from '../entities/entity.js';
import type { EntityRef, EntityStore } from '../entities/entity.store.js';
import { type LimitSet, limitSet } from '../limit.js';
import { configKey } from '../limiter-keys.js';
import type { LimitConfigStore, NamespacePlace } from './limit-config.store.js';
import { type ConfigPlace, type LimitConfig, type LimitLevel, type OnUnavailable, placesFor, policyOf, winner } from './resolution.js';

const rememberedMs = 60_000;

/** The limits in force for an entity and a resource. */
export interface Resolved {
  /** Absent where no level has any. */
  readonly set?: LimitSet;
  readonly source?: LimitLevel;
  readonly onUnavailable: OnUnavailable;
  /** Whether the entity has limits of its own for the resource: then its bucket is kept. */
  readonly isOwn: boolean;
}

/** Whom an acquire takes from: the entity, and its parent if it cascades. */
export interface TakePath {
  readonly entityId: string;
  readonly resolved: Resolved;
  readonly parent?: { readonly entityId: string; readonly resolved: Resolved };
  /** The entities that decide whom it takes from, a parent that is not there included. */
  readonly follows: readonly string[];
}

interface Stamp {
  readonly untilMs: number;
  readonly generation: number;
}

interface Remembered<T> extends Stamp {
  readonly value: T;
}

export interface ResolutionParts {
  readonly configs: LimitConfigStore;
  readonly entities: EntityStore;
  readonly clock: Clock;
}

/** What is set where, remembered for a minute, absence too; a change made through this process counts at once. */
export class ResolutionService {
  private readonly paths = new LRUCache<string, Remembered<TakePath>>({ max: 50_000 });
  private readonly levels = new LRUCache<string, Remembered<{ readonly config: LimitConfig | undefined }>>({ max: 50_000 });
  private readonly entities = new LRUCache<string, Remembered<{ readonly entity: Entity | undefined }>>({ max: 50_000 });
  private readonly generations = new Map<string, number>();
  /** By org, however old: what to do when the store cannot be asked. */
  private readonly policies = new Map<string, OnUnavailable>();
  private entityChanges = 0;
  private readonly sets = new LRUCache<LimitConfig, LimitSet>({ max: 10_000 });

  private readonly configLoader: DataLoader<NamespacePlace, LimitConfig | undefined>;
  private readonly entityLoader: DataLoader<EntityRef, Entity | undefined>;

  constructor(private readonly parts: ResolutionParts) {
    // No memory of their own: they only read together what is asked for together.
    this.configLoader = new DataLoader((places) => parts.configs.loadMany(places), { cache: false, maxBatchSize: 100 });
    this.entityLoader = new DataLoader((refs) => parts.entities.loadMany(refs), { cache: false, maxBatchSize: 100 });
  }

  /** Something of the namespace was changed here: all that is remembered of it falls. */
  noteChange(namespace: string): void {
    this.generations.set(namespace, this.generationOf(namespace) + 1);
  }

  /** An entity was created or deleted here: what is remembered of it, and of takes by way of it, falls. */
  noteEntityChange(namespace: string, entityId: string): void {
    this.entityChanges++;
    this.entities.delete(`${namespace} ${entityId}`);
  }

  lastPolicy(orgId: string): OnUnavailable {
    return this.policies.get(orgId) ?? 'BLOCK';
  }

  async path(orgId: string, namespace: string, entityId: string, resource: string): Promise<TakePath> {
    const name = `${namespace} ${entityId} ${resource}`;
    const remembered = this.current(this.paths, name, namespace);
    if (remembered?.value.follows.every((of) => this.entities.has(`${namespace} ${of}`))) return remembered.value;
    const stamp = this.stamp(namespace);
    const [entity, resolved] = await Promise.all([this.entity(orgId, namespace, entityId), this.resolve(orgId, namespace, entityId, resource)]);
    const parentId = entity?.cascade ? entity.parentId : undefined;
    const parent = parentId === undefined ? undefined : await this.parent(orgId, namespace, parentId, resource);
    const path: TakePath = { entityId, resolved, ...(parent ? { parent } : {}), follows: parentId === undefined ? [entityId] : [entityId, parentId] };
    this.paths.set(name, { value: path, ...stamp });
    return path;
  }

  /** The path as last known, however old; undefined if nothing is known, or if it was changed here since. Never reads. */
  lastPath(namespace: string, entityId: string, resource: string): TakePath | undefined {
    const remembered = this.paths.get(`${namespace} ${entityId} ${resource}`);
    return remembered?.generation === this.generationOf(namespace) ? remembered.value : undefined;
  }

  /** The same, with limits as the store has them now. */
  async pathFresh(orgId: string, namespace: string, entityId: string, resource: string): Promise<TakePath> {
    const { parent } = await this.path(orgId, namespace, entityId, resource);
    await Promise.all([entityId, ...(parent ? [parent.entityId] : [])].map((of) => this.resolveFresh(orgId, namespace, of, resource)));
    return this.path(orgId, namespace, entityId, resource);
  }

  /** The limits in force, as remembered. */
  async resolve(orgId: string, namespace: string, entityId: string, resource: string): Promise<Resolved> {
    const places = placesFor(entityId, resource);
    const names = places.map((place) => levelName(namespace, place));
    const found = names.map((name) => this.current(this.levels, name, namespace));
    const missing = places.filter((_, i) => !found[i]);
    const stamp = this.stamp(namespace);
    const loaded = await Promise.all(missing.map((place) => this.configLoader.load({ namespace, place })));
    this.remember(namespace, missing, loaded, stamp);
    let next = 0;
    return this.resolved(
      orgId,
      found.map((remembered) => (remembered ? remembered.value.config : loaded[next++])),
    );
  }

  /** The limits in force now, whatever is remembered: if that was wrong, the rest of it may be too. */
  async resolveFresh(orgId: string, namespace: string, entityId: string, resource: string): Promise<Resolved> {
    const places = placesFor(entityId, resource);
    const before = this.stamp(namespace);
    const configs = await Promise.all(places.map((place) => this.configLoader.load({ namespace, place })));
    const isChanged = places.some((place, i) => JSON.stringify(this.levels.get(levelName(namespace, place))?.value.config) !== JSON.stringify(configs[i]));
    // Changed here while it was being read: then what was read may be older than that, and is not remembered as new.
    const isOurs = isChanged && this.generationOf(namespace) === before.generation;
    if (isOurs) this.noteChange(namespace);
    const stamp = isOurs ? { ...before, generation: before.generation + 1 } : before;
    this.remember(namespace, places, configs, stamp);
    return this.resolved(orgId, configs);
  }

  private remember(namespace: string, places: readonly ConfigPlace[], configs: readonly (LimitConfig | undefined)[], stamp: Stamp): void {
    for (const [i, place] of places.entries()) this.levels.set(levelName(namespace, place), { value: { config: configs[i] }, ...stamp });
  }

  /** A parent that was deleted is charged no more. */
  private async parent(orgId: string, namespace: string, entityId: string, resource: string): Promise<TakePath['parent']> {
    const [entity, resolved] = await Promise.all([this.entity(orgId, namespace, entityId), this.resolve(orgId, namespace, entityId, resource)]);
    return entity ? { entityId, resolved } : undefined;
  }

  private async entity(orgId: string, namespace: string, entityId: string): Promise<Entity | undefined> {
    const name = `${namespace} ${entityId}`;
    const remembered = this.current(this.entities, name, namespace);
    if (remembered) return remembered.value.entity;
    const stamp = this.stamp(namespace);
    const { entityChanges } = this;
    const entity = await this.entityLoader.load({ orgId, namespace, entityId });
    if (entityChanges === this.entityChanges) this.entities.set(name, { value: { entity }, ...stamp });
    return entity;
  }

  private resolved(orgId: string, configs: readonly (LimitConfig | undefined)[]): Resolved {
    const config = winner(configs);
    const onUnavailable = policyOf(configs);
    this.policies.set(orgId, onUnavailable);
    return { onUnavailable, isOwn: config?.place.level === 'ENTITY', ...(config ? { set: this.setOf(config), source: config.place.level } : {}) };
  }

  private setOf(config: LimitConfig): LimitSet {
    const known = this.sets.get(config);
    if (known) return known;
    const made = limitSet(config.limits);
    this.sets.set(config, made);
    return made;
  }

  private current<T extends object>(memory: LRUCache<string, Remembered<T>>, name: string, namespace: string): Remembered<T> | undefined {
    const remembered = memory.get(name);
    return remembered && remembered.generation === this.generationOf(namespace) && remembered.untilMs > this.parts.clock.monotonicMs() ? remembered : undefined;
  }

  /** Taken before a read begins: a change that comes while reading makes what was read worthless. */
  private stamp(namespace: string): Stamp {
    return { generation: this.generationOf(namespace), untilMs: this.parts.clock.monotonicMs() + rememberedMs };
  }

  private generationOf(namespace: string): number {
    return this.generations.get(namespace) ?? 0;
  }
}

function levelName(namespace: string, place: ConfigPlace): string {
  const { PK, SK } = configKey(namespace, place);
  return `${PK} ${SK}`;
}
