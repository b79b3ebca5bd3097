import type { Item, Key, StoreClient, Write } from '../dynamo/client.js';
import { absent, and, atMost, equals, or } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { Draft } from '../lib/draft.js';
import type { ApiKey } from './api-key.js';

const table = 'api_keys';

export const apiKeyKey = (keyId: string) => ({ key_id: key`${keyId}` });
export const apiKeyIndexKey = (orgId: string): string => key`${orgId}/api_keys`;

/** A key with what proves it. */
export interface StoredApiKey {
  readonly apiKey: ApiKey;
  readonly hash: string;
}

export interface ApiKeyPosition {
  readonly keyId: string;
  readonly createdAt: Date;
}

export class ApiKeyStore {
  constructor(private readonly client: StoreClient) {}

  async create({ apiKey, hash }: StoredApiKey, drafts: readonly Draft[]): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [{ table, put: toItem(apiKey, hash), condition: absent('key_id') }, ...(drafts as readonly Write[])]);
    return done;
  }

  async load(keyId: string): Promise<StoredApiKey | undefined> {
    const item = await this.client.get(table, apiKeyKey(keyId), { consistent: true });
    return item && { apiKey: toApiKey(item), hash: item.api_key_hash as string };
  }

  /** Newest first, after the position named. */
  async list(orgId: string, limit: number, after?: ApiKeyPosition): Promise<ApiKey[]> {
    const gsi1pk = apiKeyIndexKey(orgId);
    const start: { after?: Key } = after ? { after: { ...apiKeyKey(after.keyId), gsi1pk, gsi1sk: after.createdAt.toISOString() } } : {};
    const found = await this.client.queryIndexed({ table, index: 'gsi1', where: equals('gsi1pk', gsi1pk), newestFirst: true, limit, ...start });
    return found.map(({ item }) => toApiKey(item));
  }

  /** Ends a key of the org; false where it is none of its, or ended already. */
  async revoke(orgId: string, keyId: string, drafts: readonly Draft[]): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [
      { table, update: apiKeyKey(keyId), set: { is_active: false }, condition: and(equals('org_id', orgId), equals('is_active', true)) },
      ...(drafts as readonly Write[]),
    ]);
    return done;
  }

  /** Notes that a key is in use, unless that was noted after `notSince`. Returns when it was noted last. */
  async touch(keyId: string, at: Date, notSince: Date): Promise<Date> {
    const notYet = or(absent('last_used_at'), atMost('last_used_at', notSince.toISOString()));
    const condition = and(equals('is_active', true), notYet);
    const outcome = await this.client.write({ table, update: apiKeyKey(keyId), set: { last_used_at: at.toISOString() }, condition }, { repeat: 'idempotent' });
    const noted = outcome.done ? undefined : outcome.old?.last_used_at;
    return noted === undefined ? at : new Date(noted as string);
  }
}

const toItem = ({ orgId, keyId, description, active, createdAt }: ApiKey, hash: string): Item => ({
  ...apiKeyKey(keyId),
  org_id: orgId,
  api_key_hash: hash,
  description,
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
  active: item.is_active as boolean,
  createdAt: new Date(item.created_at as string),
  ...(item.last_used_at === undefined ? {} : { lastUsedAt: new Date(item.last_used_at as string) }),
});
