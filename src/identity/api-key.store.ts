import type { Item, Key, StoreClient } from '../dynamo/client.js';
import { absent, and, atMost, equals, or, present } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import type { ApiKey } from './api-key.js';

const table = 'api_keys';

export const apiKeyKey = (keyId: string) => ({ key_id: key`${keyId}` });
export const apiKeyIndexKey = (orgId: string): string => key`${orgId}/api_keys`;

/** The hash of a key, and the root that it was made under. */
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

  /** Stores a new key, and counts it in the line that it joins. */
  async create({ apiKey, proof }: StoredApiKey, drafts: readonly TransactItem[]): Promise<boolean> {
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
      { riders: drafts },
    );
    return done;
  }

  /** Those of the lines that have no active key left. */
  async endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>> {
    const roots = await this.client.getMany(table, ownerIds.map(apiKeyKey), { consistent: true });
    return new Set(ownerIds.filter((_, i) => ((roots[i]?.active_keys as number | undefined) ?? 0) <= 0));
  }

  async load(keyId: string): Promise<StoredApiKey | undefined> {
    const item = await this.client.get(table, apiKeyKey(keyId), { consistent: true });
    return (
      item && {
        apiKey: toApiKey(item),
        proof: { hash: item.api_key_hash as string, rootId: item.api_key_root as string },
      }
    );
  }

  /** Newest first, after the position named. */
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
    return found.map(({ item }) => toApiKey(item));
  }

  /** Revokes a key and counts it out of its line; false if it is not a key of the org, or revoked already. */
  async revoke({ orgId, keyId, ownerId }: ApiKey, drafts: readonly TransactItem[]): Promise<boolean> {
    const condition = and(equals('org_id', orgId), equals('is_active', true));
    const oneLess = { add: { active_keys: -1 } };
    const { done } = await this.client.transact(
      'fresh',
      [
        {
          table,
          update: apiKeyKey(keyId),
          set: { is_active: false },
          condition,
          ...(ownerId === keyId ? oneLess : {}),
        },
        ...(ownerId === keyId
          ? []
          : [{ table, update: apiKeyKey(ownerId), condition: present('key_id'), ...oneLess } as const]),
      ],
      { riders: drafts },
    );
    return done;
  }

  /**
   * Records that a key is in use, unless that was recorded after `notSince`, and stores its hash under the current root.
   * Returns when it was recorded last.
   */
  async touch(keyId: string, proof: KeyProof, at: Date, notSince: Date): Promise<Date> {
    const notYet = or(absent('last_used_at'), atMost('last_used_at', notSince.toISOString()));
    const condition = and(equals('is_active', true), notYet);
    const set = { last_used_at: at.toISOString(), ...proofAttributes(proof) };
    const outcome = await this.client.write(
      { table, update: apiKeyKey(keyId), set, condition },
      { repeat: 'idempotent' },
    );
    const noted = outcome.done ? undefined : outcome.old?.last_used_at;
    return noted === undefined ? at : new Date(noted as string);
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

const toApiKey = (item: Item): ApiKey => ({
  nodeType: 'ApiKey',
  orgId: item.org_id as string,
  keyId: item.key_id as string,
  ...(item.description === undefined ? {} : { description: item.description as string }),
  ...(item.hardware_id === undefined ? {} : { hardwareId: item.hardware_id as string }),
  ownerId: item.owner_id as string,
  active: item.is_active as boolean,
  createdAt: new Date(item.created_at as string),
  ...(item.last_used_at === undefined ? {} : { lastUsedAt: new Date(item.last_used_at as string) }),
});
