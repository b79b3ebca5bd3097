import type { StoreClient } from '../dynamo/client.js';
import { absent, and, type Changes, type Condition, equals, or, present } from '../dynamo/expression.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { configKey, secretAttributes } from '../identity/client.item.js';
import { clientIdOf } from '../identity/client-id.js';
import type { AppRecord, TenantRef } from './settings.js';

const table = 'config';

/** A further client of an app that is deleted with it. */
export interface OwnedClient extends TenantRef {
  readonly clientKey?: string;
}

/**
 * Suspension and deletion of tenants. Not part of the settings, because a new version of the settings restarts the
 * fallback chain.
 */
export class LifecycleStore {
  constructor(private readonly client: StoreClient) {}

  /** False if it is already suspended, or does not exist. */
  async suspend(ref: TenantRef, atMs: number, riders: readonly TransactItem[]): Promise<boolean> {
    return this.update(ref, { set: { suspended_at_ms: atMs } }, and(exists, absent('suspended_at_ms')), riders);
  }

  /** False if it is not suspended, or does not exist. */
  async resume(ref: TenantRef, riders: readonly TransactItem[]): Promise<boolean> {
    return this.update(ref, { remove: ['suspended_at_ms'] }, and(exists, present('suspended_at_ms')), riders);
  }

  /**
   * Marks an app as deleted and removes its secrets and further clients. The item stays, because the sums of the org
   * include it, and because rotation and generation continue if the id is registered again. False if another change
   * came between.
   */
  async deleteApp(
    app: AppRecord,
    clients: readonly OwnedClient[],
    atMs: number,
    riders: readonly TransactItem[],
  ): Promise<boolean> {
    const { rotation, generation } = app.credentials;
    const { done } = await this.client.transact(
      'fresh',
      [
        {
          table,
          update: configKey(app),
          set: {
            deleted_at_ms: atMs,
            client_rotation: rotation + 1,
            client_generation: generation + 1,
            settings_version: app.version + 1,
          },
          remove: [...secretAttributes, 'client_count', 'suspended_at_ms'],
          condition: and(
            exists,
            equals('settings_version', app.version),
            equals('client_rotation', rotation),
            equals('client_generation', generation),
            clients.length === 0
              ? or(absent('client_count'), equals('client_count', 0))
              : equals('client_count', clients.length),
          ),
        },
        ...clients.map(
          (client) =>
            ({ table, delete: configKey(client), condition: equals('client_id', clientIdOf(client)) }) as const,
        ),
      ],
      { riders },
    );
    return done;
  }

  private async update(
    ref: TenantRef,
    changes: Changes,
    condition: Condition,
    riders: readonly TransactItem[],
  ): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [{ table, update: configKey(ref), ...changes, condition }], {
      riders,
    });
    return done;
  }
}

const exists = and(present('PK'), absent('deleted_at_ms'));
