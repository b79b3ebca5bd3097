import type { StoreClient } from '../dynamo/client.js';
import { equals, present } from '../dynamo/expression.js';
import type { DeviceRef, ReadingsRef } from './device.js';
import { deletionIndexKey, deletionKey, generationAttribute, generationIn } from './device-keys.js';

const table = 'devices';

/** The note that a device was deleted, with each life of it whose readings may still be there. */
export interface Deletion extends DeviceRef {
  /** The last time it was deleted. */
  readonly deletedAt: Date;
  readonly lives: readonly (ReadingsRef & { readonly deletedAt: Date })[];
}

export class DeletionStore {
  constructor(private readonly client: StoreClient) {}

  /** The deletions that wait longest, up to `limit`. */
  async list(limit: number): Promise<Deletion[]> {
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', deletionIndexKey),
      limit,
    });
    return found.map(({ item }) => {
      const [orgId = '', hardwareId = ''] = (item.hardware_id as string).split('/');
      const lives = Object.entries(item).flatMap(([attribute, deletedAt]) => {
        const generation = generationIn(attribute);
        return generation === undefined
          ? []
          : [{ orgId, hardwareId, generation, deletedAt: new Date(deletedAt as string) }];
      });
      return { orgId, hardwareId, deletedAt: new Date(item.deleted_at as string), lives };
    });
  }

  /** Strikes one life off the note. Idempotent. */
  async strike(life: ReadingsRef): Promise<void> {
    const write = {
      table,
      update: deletionKey(life),
      remove: [generationAttribute(life.generation)],
      condition: present('deleted_at'),
    } as const;
    await this.client.write(write, { repeat: 'idempotent' });
  }

  /** Removes the note, unless the device was deleted once more since. Idempotent. */
  async forget(deletion: Deletion): Promise<void> {
    const condition = equals('deleted_at', deletion.deletedAt.toISOString());
    await this.client.write({ table, delete: deletionKey(deletion), condition }, { repeat: 'idempotent' });
  }
}
