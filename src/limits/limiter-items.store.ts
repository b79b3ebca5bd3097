import DataLoader from 'dataloader';
import type { Item, Key, StoreClient } from '../dynamo/client.js';

const maxPerRead = 100;

/** Reads items of the limiter consistently. All loads of one event loop turn share one BatchGetItem call. */
export class LimiterItems {
  private readonly loader: DataLoader<Key, Item | undefined>;

  constructor(client: StoreClient) {
    this.loader = new DataLoader((keys) => client.getMany('limiter', keys, { consistent: true }), {
      cache: false,
      maxBatchSize: maxPerRead,
    });
  }

  load(key: Key): Promise<Item | undefined> {
    return this.loader.load(key);
  }
}
