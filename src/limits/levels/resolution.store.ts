import type { Entity } from '../entities/entity.js';
import { type StoredEntityRef, toEntity } from '../entities/entity.store.js';
import type { LimiterItems } from '../limiter-items.store.js';
import { configKey, entityKey } from '../limiter-keys.js';
import { type NamespacePlace, toLevel } from './limit-config.store.js';
import type { Level } from './resolution.js';

/** Reads levels and entities consistently. */
export class ResolutionStore {
  constructor(private readonly items: LimiterItems) {}

  async loadLevel({ namespace, place }: NamespacePlace): Promise<Level> {
    return toLevel(await this.items.load(configKey(namespace, place)), place);
  }

  async loadEntity({ orgId, namespace, entityId }: StoredEntityRef): Promise<Entity | undefined> {
    const item = await this.items.load(entityKey(namespace, entityId));
    return item && toEntity(item, orgId);
  }
}
