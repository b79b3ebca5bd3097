import type { StoreClient } from '../dynamo/client.js';
import { absent, and, type Changes, type Condition, equals, or, present } from '../dynamo/expression.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { clientIdOf } from '../identity/client-id.js';
import { configKey } from '../identity/config-key.js';
import type { AppRecord } from './settings.js';

const table = 'config';

interface TenantRef {
  readonly orgId: string;
  readonly appId?: string;
}

/** A further client of an app, as far as its deletion needs it. */
export interface OwnedClient extends TenantRef {
  readonly clientKey?: string;
}

/** Suspension and deletion. Not part of the settings: their version also versions the fallback chain, which must not restart. */
export class LifecycleStore {
  constructor(private readonly client: StoreClient) {}

  /** False: it is suspended already, or gone. */
  async suspend(ref: TenantRef, atMs: number, drafts: readonly TransactItem[]): Promise<boolean> {
    return this.update(ref, { set: { suspended_at_ms: atMs } }, and(exists, absent('suspended_at_ms')), drafts);
  }

  /** False: it is not suspended, or gone. */
  async resume(ref: TenantRef, drafts: readonly TransactItem[]): Promise<boolean> {
    return this.update(ref, { remove: ['suspended_at_ms'] }, and(exists, present('suspended_at_ms')), drafts);
  }

  /**
   * Marks an app as deleted and removes its secrets and further clients. Its item stays, because the sums of its org include
   * it, and because rotation and generation go on from there if the id is registered again. False: it was changed meanwhile.
   */
  async deleteApp(
    app: AppRecord,
    clients: readonly OwnedClient[],
    atMs: number,
    drafts: readonly TransactItem[],
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
      { riders: drafts },
    );
    return done;
  }

  private async update(
    ref: TenantRef,
    changes: Changes,
    condition: Condition,
    drafts: readonly TransactItem[],
  ): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [{ table, update: configKey(ref), ...changes, condition }], {
      riders: drafts,
    });
    return done;
  }
}

const exists = and(present('PK'), absent('deleted_at_ms'));

const secretAttributes = [
  'client_secret_hash',
  'client_secret_check',
  'client_secret_rotation',
  'client_secret_previous_hash',
  'client_secret_previous_check',
  'client_secret_previous_rotation',
  'client_secret_rotation_grace_expires_at_epoch',
];
