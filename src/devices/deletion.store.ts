import type { Item, StoreClient } from '../dynamo/client.js';
import { equals, present } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import type { DeviceRef, ReadingsRef } from './device.js';
import { deletionIndexKey, deletionKey, deviceRefIn, generationAttribute, generationIn } from './device-keys.js';

const table = 'devices';

/** A task for the worker: a deleted device, with each of its generations that may still have readings. */
export interface Deletion extends DeviceRef {
  /** The last time the device was deleted. */
  readonly deletedAt: Date;
  readonly generations: readonly (ReadingsRef & { readonly deletedAt: Date })[];
}

export class DeletionStore {
  constructor(private readonly client: StoreClient) {}

  /** Up to `limit` deletions, oldest first. */
  async list(limit: number): Promise<Deletion[]> {
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', deletionIndexKey),
      limit,
    });
    return found.map(({ item }) => toDeletion(item));
  }

  /** Removes one generation from a deletion. Idempotent. */
  async removeGeneration(device: ReadingsRef): Promise<void> {
    const write = {
      table,
      update: deletionKey(device),
      remove: [generationAttribute(device.generation)],
      condition: present('deleted_at'),
    } as const;
    await this.client.write(write, { repeat: 'idempotent' });
  }

  /** Removes a deletion, unless the device was deleted again since it was read. Idempotent. */
  async remove(deletion: Deletion): Promise<void> {
    const condition = equals('deleted_at', deletion.deletedAt.toISOString());
    await this.client.write({ table, delete: deletionKey(deletion), condition }, { repeat: 'idempotent' });
  }
}

function toDeletion(item: Item): Deletion {
  const stored = fields(table, item);
  const device = deviceRefIn(stored.string('hardware_id'));
  const generations = Object.keys(item).flatMap((attribute) => {
    const generation = generationIn(attribute);
    return generation === undefined ? [] : [{ ...device, generation, deletedAt: stored.date(attribute) }];
  });
  return { ...device, deletedAt: stored.date('deleted_at'), generations };
}
