import DataLoader from 'dataloader';
import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import type { Entity } from '../entities/entity.js';
import { type StoredEntityRef, toEntity } from '../entities/entity.store.js';
import { configKey, entityKey } from '../limiter-keys.js';
import { type NamespacePlace, toLevel } from './limit-config.store.js';
import type { Level } from './resolution.js';

/** Reads levels and entities consistently. All loads of one event loop turn share one BatchGetItem call. */
export class ResolutionStore {
  private readonly items: DataLoader<Key, Item | undefined>;

  constructor(client: StoreClient) {
    this.items = new DataLoader((keys) => client.getMany('limiter', keys, { consistent: true }), {
      cache: false,
      maxBatchSize: 100,
    });
  }

  async loadLevel({ namespace, place }: NamespacePlace): Promise<Level> {
    return toLevel(await this.items.load(configKey(namespace, place)), place);
  }

  async loadEntity({ orgId, namespace, entityId }: StoredEntityRef): Promise<Entity | undefined> {
    const item = await this.items.load(entityKey(namespace, entityId));
    return item && toEntity(item, orgId);
  }
}
