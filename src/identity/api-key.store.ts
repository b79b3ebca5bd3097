import type { Key, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, equals, type Item, or, present } from '../dynamo/expression.js';
import { type Fields, fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import type { ApiKey } from './api-key.js';

const table = 'api_keys';

export const apiKeyKey = (keyId: string) => ({ key_id: key`${keyId}` });
export const apiKeyIndexKey = (orgId: string): string => key`${orgId}/api_keys`;

/** The hash of a key, and the root secret that it was made under. */
export interface KeyProof {
  readonly hash: string;
  readonly rootId: string;
}

export interface StoredApiKey {
  readonly apiKey: ApiKey;
  readonly proof: KeyProof;
}

export interface ApiKeyPosition {
  readonly keyId: string;
  readonly createdAt: Date;
}

export class ApiKeyStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Stores a new key and increments the count of active keys of its line. False if the id is taken or the line is gone.
   */
  async create({ apiKey, proof }: StoredApiKey, riders: readonly TransactItem[]): Promise<boolean> {
    const { keyId, ownerId, orgId } = apiKey;
    const isInOrg = and(present('key_id'), equals('org_id', orgId));
    const { done } = await this.client.transact(
      'fresh',
      [
        {
          table,
          put: { ...toItem(apiKey, proof), ...(ownerId === keyId ? { active_keys: 1 } : {}) },
          condition: absent('key_id'),
        },
        ...(ownerId === keyId
          ? []
          : [{ table, update: apiKeyKey(ownerId), add: { active_keys: 1 }, condition: isInOrg } as const]),
      ],
      { riders },
    );
    return done;
  }

  /** The lines without an active key. */
  async endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>> {
    const firstKeys = await this.client.getMany(table, ownerIds.map(apiKeyKey), { consistent: true });
    const activeKeys = (item: Item = {}) => fields(table, item).optionalNumber('active_keys') ?? 0;
    return new Set(ownerIds.filter((_, i) => activeKeys(firstKeys[i]) <= 0));
  }

  async load(keyId: string): Promise<StoredApiKey | undefined> {
    const item = await this.client.get(table, apiKeyKey(keyId), { consistent: true });
    if (!item) return undefined;
    const from = fields(table, item);
    return {
      apiKey: toApiKey(from),
      proof: { hash: from.string('api_key_hash'), rootId: from.string('api_key_root') },
    };
  }

  /** Keys of the org, newest first, after a position. */
  async list(orgId: string, limit: number, after?: ApiKeyPosition): Promise<ApiKey[]> {
    const gsi1pk = apiKeyIndexKey(orgId);
    const start: { after?: Key } = after
      ? { after: { ...apiKeyKey(after.keyId), gsi1pk, gsi1sk: after.createdAt.toISOString() } }
      : {};
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', gsi1pk),
      newestFirst: true,
      limit,
      ...start,
    });
    return found.map(({ item }) => toApiKey(fields(table, item)));
  }

  /** Revokes a key and decrements the count of its line. False if it is not a key of the org, or already revoked. */
  async revoke({ orgId, keyId, ownerId }: ApiKey, riders: readonly TransactItem[]): Promise<boolean> {
    const condition = and(equals('org_id', orgId), equals('is_active', true));
    const decrement = { add: { active_keys: -1 } };
    const { done } = await this.client.transact(
      'fresh',
      [
        {
          table,
          update: apiKeyKey(keyId),
          set: { is_active: false },
          condition,
          ...(ownerId === keyId ? decrement : {}),
        },
        ...(ownerId === keyId
          ? []
          : [{ table, update: apiKeyKey(ownerId), condition: present('key_id'), ...decrement } as const]),
      ],
      { riders },
    );
    return done;
  }

  /**
   * Updates `last_used_at` unless it was updated after `notSince`, and stores the hash under the current root secret.
   * Returns the stored `last_used_at`.
   */
  async touch(keyId: string, proof: KeyProof, at: Date, notSince: Date): Promise<Date> {
    const notYet = or(absent('last_used_at'), atMost('last_used_at', notSince.toISOString()));
    const condition = and(equals('is_active', true), notYet);
    const set = { last_used_at: at.toISOString(), ...proofAttributes(proof) };
    const outcome = await this.client.write(
      { table, update: apiKeyKey(keyId), set, condition },
      { repeat: 'idempotent' },
    );
    const stored = outcome.done || !outcome.old ? undefined : fields(table, outcome.old).optionalDate('last_used_at');
    return stored ?? at;
  }
}

const proofAttributes = ({ hash, rootId }: KeyProof) => ({ api_key_hash: hash, api_key_root: rootId });

const toItem = (
  { orgId, keyId, description, hardwareId, ownerId, active, createdAt }: ApiKey,
  proof: KeyProof,
): Item => ({
  ...apiKeyKey(keyId),
  org_id: orgId,
  ...proofAttributes(proof),
  description,
  hardware_id: hardwareId,
  owner_id: ownerId,
  is_active: active,
  created_at: createdAt.toISOString(),
  gsi1pk: apiKeyIndexKey(orgId),
  gsi1sk: createdAt.toISOString(),
});

function toApiKey(from: Fields): ApiKey {
  const description = from.optionalString('description');
  const hardwareId = from.optionalString('hardware_id');
  const lastUsedAt = from.optionalDate('last_used_at');
  return {
    nodeType: 'ApiKey',
    orgId: from.string('org_id'),
    keyId: from.string('key_id'),
    ...(description === undefined ? {} : { description }),
    ...(hardwareId === undefined ? {} : { hardwareId }),
    ownerId: from.string('owner_id'),
    active: from.boolean('is_active'),
    createdAt: from.date('created_at'),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
  };
}
