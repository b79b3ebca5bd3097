import { AlertStore, entryKey } from '../../../src/alerts/alert.store.js';
import { AuditStore, auditKey } from '../../../src/audit/audit.store.js';
import { ChangeStore, changeKey } from '../../../src/changes/change.store.js';
import { DeletionStore } from '../../../src/devices/deletion.store.js';
import { toDevice } from '../../../src/devices/device.item.js';
import { batchKey, deletionKey, deviceKey, feedKey, segmentKey } from '../../../src/devices/device-keys.js';
import { readingsIn, toFeedRow, toMarker } from '../../../src/devices/segment.item.js';
import { StoreClient } from '../../../src/dynamo/client.js';
import type { Item } from '../../../src/dynamo/expression.js';
import { CorruptItem } from '../../../src/dynamo/fields.js';
import type { TableName } from '../../../src/dynamo/tables.js';
import type { CallName, Transport } from '../../../src/dynamo/transport.js';
import { ApiKeyStore, apiKeyKey } from '../../../src/identity/api-key.store.js';
import { configKey, credentialsOf } from '../../../src/identity/client.item.js';
import { CredentialStore, retrievalKey } from '../../../src/identity/credential.store.js';
import { refreshKey, SessionStore } from '../../../src/identity/session.store.js';
import { toShard } from '../../../src/limits/buckets/bucket.item.js';
import { toEntity } from '../../../src/limits/entities/entity.store.js';
import { toOperationRecord, toState } from '../../../src/limits/lease.store.js';
import { toLevel } from '../../../src/limits/levels/limit-config.store.js';
import { shardKey as bucketKey, entityKey, leaseKey, configKey as levelKey } from '../../../src/limits/limiter-keys.js';
import { toApp, toOrg } from '../../../src/orgs/org.item.js';
import { modelKey, orgPriceKey, priceKey, toModel } from '../../../src/spend/catalog/catalog.item.js';
import { toOrgPrice } from '../../../src/spend/catalog/org-price.store.js';
import { PriceStore } from '../../../src/spend/catalog/price.store.js';
import { requestKey, toCostRecord } from '../../../src/spend/cost.item.js';
import { shardKey, totalKey, toUsage } from '../../../src/spend/spend.item.js';
import { StickyStore, stickyKey } from '../../../src/spend/sticky.store.js';
import { TotalStore } from '../../../src/spend/total.store.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const device = { orgId, hardwareId };
const spendId = { orgId, appId: 'chat', label: 'premium', day: '2026-01-02' };
const usage = { cost_usd_micros: 5, input_tokens: 2, output_tokens: 3, requests: 1 };
const credentials = { client_id: `org-${orgId}`, client_rotation: 1, client_generation: 1 };
const registration = { ...credentials, created_at_ms: 1, updated_at_ms: 2, settings_version: 1 };

/** A client whose every read finds this item. */
function clientWith(item: Item): StoreClient {
  const outputs: Partial<Record<CallName, (input: object) => object>> = {
    get: () => ({ Item: item }),
    query: () => ({ Items: [item] }),
    batchGet: (input) => {
      const [table = ''] = Object.keys((input as { RequestItems: object }).RequestItems);
      return { Responses: { [table]: [item] } };
    },
  };
  const transport: Transport = {
    send: async (call, input) => outputs[call]?.(input) as Record<string, unknown>,
    decode: (encoded) => encoded as Item,
    close: () => {},
  };
  return new StoreClient(transport, '');
}

interface Codec {
  readonly name: string;
  readonly table: TableName;
  readonly item: Item;
  readonly read: (item: Item) => unknown;
  /** Attributes without which the item cannot be read. */
  readonly required: readonly string[];
  /** Attributes that may be absent, but not of another type. */
  readonly optional?: readonly string[];
}

const codecs: readonly Codec[] = [
  {
    name: 'an org',
    table: 'config',
    item: {
      ...configKey({ orgId }),
      ...registration,
      org_name: 'Acme',
      timezone: 'UTC',
      timezone_history: [{ zone: 'UTC', from_ms: 0 }],
      quota_scope: 'APP',
      model_ordering: ['premium'],
      quotas: { premium: 1000 },
      tight_mode_threshold_pct: 80,
      refresh_interval_normal_secs: 60,
      refresh_interval_tight_secs: 10,
      sticky_fallback_enabled: true,
      agg_shard_count: 8,
    },
    read: toOrg,
    required: ['org_name', 'timezone_history', 'quota_scope', 'model_ordering', 'quotas', 'agg_shard_count'],
    optional: ['apps_may_bring_limits', 'suspended_at_ms'],
  },
  {
    name: 'an app',
    table: 'config',
    item: { ...configKey({ orgId, appId: 'chat' }), ...registration, app_name: 'Chat' },
    read: toApp,
    required: ['app_name', 'created_at_ms', 'settings_version'],
    optional: ['model_ordering', 'quotas', 'deleted_at_ms'],
  },
  {
    name: 'the credentials of a client',
    table: 'config',
    item: { ...configKey({ orgId }), ...credentials },
    read: credentialsOf,
    required: ['client_id', 'client_rotation', 'client_generation'],
    optional: ['client_role', 'client_secret_hash', 'client_secret_created_at_epoch'],
  },
  {
    name: 'an API key',
    table: 'api_keys',
    item: {
      ...apiKeyKey('k1'),
      org_id: orgId,
      owner_id: 'o1',
      api_key_hash: 'h',
      api_key_root: 'r',
      is_active: true,
      created_at: '2026-01-02T00:00:00.000Z',
    },
    read: (item) => new ApiKeyStore(clientWith(item)).load('k1'),
    required: ['org_id', 'owner_id', 'api_key_hash', 'api_key_root', 'is_active', 'created_at'],
    optional: ['description', 'hardware_id', 'last_used_at'],
  },
  {
    name: 'a refresh session',
    table: 'refresh_tokens',
    item: {
      ...refreshKey('t'),
      client_id: 'c',
      family: 'f',
      generation: 1,
      secret_rotation: 1,
      expires_at_epoch: 1_700_000_000,
    },
    read: (item) => new SessionStore(clientWith(item)).load('t'),
    required: ['client_id', 'family', 'generation', 'secret_rotation', 'expires_at_epoch'],
    optional: ['used_at_ms'],
  },
  {
    name: 'a secret retrieval',
    table: 'secret_retrieval_tokens',
    item: {
      ...retrievalKey('t'),
      client_id: `org-${orgId}`,
      rotation: 1,
      grace_hours: 24,
      expires_at_epoch: 1_700_000_000,
      used: false,
    },
    read: (item) => new CredentialStore(clientWith(item)).loadRetrieval('t'),
    required: ['client_id', 'rotation', 'grace_hours', 'expires_at_epoch', 'used'],
  },
  {
    name: 'an audit event',
    table: 'limiter',
    item: {
      ...auditKey(orgId, 'e', '01ARZ3NDEKTSV4RRFFQ69G5FAV'),
      org_id: orgId,
      event_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      at_ms: 1,
      actor: 'admin',
      action: 'org_updated',
      entity_id: 'e',
      details: [{ name: 'n', value: 'v' }],
    },
    read: (item) =>
      new AuditStore(clientWith(item)).load(orgId, { entityId: 'e', eventId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }),
    required: ['org_id', 'event_id', 'at_ms', 'actor', 'action', 'entity_id', 'details'],
    optional: ['resource', 'address', 'request_id'],
  },
  {
    name: 'a change counter',
    table: 'config',
    item: { ...changeKey(0), version: 1 },
    read: (item) => new ChangeStore(clientWith(item)).load(),
    required: [],
    optional: ['version', 'changed_by', 'purges', 'last_purged'],
  },
  {
    name: 'an alert',
    table: 'alerts',
    item: {
      ...entryKey(0, 1),
      number: 1,
      org_id: orgId,
      kind: 'QUOTA_EXCEEDED',
      label: 'premium',
      day: '2026-01-02',
      cost_usd_micros: 5,
      quota_usd_micros: 4,
      quota_pct: 125,
      threshold_pct: 80,
      raised_at_ms: 1,
    },
    read: (item) => new AlertStore(clientWith(item)).load(orgId, 1),
    required: ['number', 'kind', 'label', 'day', 'cost_usd_micros', 'quota_pct', 'raised_at_ms'],
    optional: ['app_id', 'active_label'],
  },
  {
    name: 'a cost in attributes',
    table: 'cost_requests',
    item: {
      ...requestKey({ orgId, appId: 'chat', requestId: 'r' }),
      ...usage,
      model_label: 'premium',
      day: '2026-01-02',
      payload_hash: 'h',
      price_source: 'SUBMITTED',
      call_status: 'OK',
      occurred_at_ms: 1,
      received_at_ms: 2,
    },
    read: toCostRecord,
    required: ['model_label', 'payload_hash', 'price_source', 'call_status', 'cost_usd_micros'],
    optional: ['input_price_usd_micros_per_1m', 'components', 'component_prices'],
  },
  {
    name: 'a cost in one text',
    table: 'cost_requests',
    item: {
      ...requestKey({ orgId, appId: 'chat', requestId: 'r' }),
      cost: JSON.stringify({
        ...usage,
        model_label: 'premium',
        day: '2026-01-02',
        payload_hash: 'h',
        price_source: 'SUBMITTED',
        call_status: 'OK',
        occurred_at_ms: 1,
        received_at_ms: 2,
      }),
    },
    read: toCostRecord,
    required: [],
    optional: ['cost'],
  },
  {
    name: 'a cost shard',
    table: 'usage_agg_sharded',
    item: { ...shardKey(spendId, 0), ...usage },
    read: (item) => toUsage('usage_agg_sharded', item),
    required: ['cost_usd_micros', 'input_tokens', 'output_tokens', 'requests'],
  },
  {
    name: 'a daily total',
    table: 'daily_total',
    item: { ...totalKey(spendId), ...usage, as_of_ms: 1 },
    read: (item) => new TotalStore(clientWith(item), 400).loadTotals([spendId]),
    required: ['cost_usd_micros', 'requests', 'as_of_ms'],
    optional: ['worst_mode', 'threshold_pct', 'quota_usd_micros'],
  },
  {
    name: 'a price',
    table: 'pricing_cache',
    item: {
      ...priceKey({ modelId: 'm', day: '2026-01-02' }),
      input_price_usd_micros_per_1m: 1,
      output_price_usd_micros_per_1m: 2,
      fetched_at_epoch: 1_700_000_000,
    },
    read: (item) => new PriceStore(clientWith(item), 400).load({ modelId: 'm', day: '2026-01-02' }),
    required: ['input_price_usd_micros_per_1m', 'output_price_usd_micros_per_1m', 'fetched_at_epoch'],
    optional: ['day', 'prices'],
  },
  {
    name: 'a model',
    table: 'pricing_cache',
    item: {
      ...modelKey('premium'),
      model_label: 'premium',
      model_id: 'm',
      model_version: 1,
      origin: 'SEEDED',
      default_prices: { input: 1 },
      price_changes: [{ from_ms: 1, prices: { 'input>200000': 2 } }],
      added_at_ms: 1,
      position: 0,
    },
    read: toModel,
    required: ['model_label', 'model_id', 'model_version', 'origin', 'default_prices', 'price_changes', 'added_at_ms'],
    optional: ['provider', 'retired_at_ms'],
  },
  {
    name: 'the price of an org',
    table: 'pricing_cache',
    item: { ...orgPriceKey(orgId, 'premium'), model_label: 'premium', price_version: 1, price_changes: [] },
    read: toOrgPrice,
    required: ['model_label', 'price_version', 'price_changes'],
  },
  {
    name: 'a sticky fallback',
    table: 'sticky_state',
    item: { ...stickyKey(spendId), active_model_label: 'economy', reason: 'QUOTA_EXCEEDED', activated_at_ms: 1 },
    read: (item) => new StickyStore(clientWith(item)).read(spendId),
    required: ['active_model_label', 'reason', 'activated_at_ms'],
    optional: ['previous_model_label'],
  },
  {
    name: 'a device',
    table: 'devices',
    item: {
      ...deviceKey(device),
      confirmation_id: '11111111-1111-4111-8111-111111111111',
      firmware_version: '1.0.0',
      capabilities: { sensors: ['bme280'], features: { ota: true } },
      first_registered_at: '2026-01-02T00:00:00.000Z',
      last_seen_at: '2026-01-02T00:00:00.000Z',
      last_boot_id: 'b',
    },
    read: toDevice,
    required: ['confirmation_id', 'firmware_version', 'capabilities', 'first_registered_at', 'last_boot_id'],
    optional: ['owner_key_id', 'friendly_name', 'reported_at'],
  },
  {
    name: 'a segment',
    table: 'device_readings',
    item: {
      ...segmentKey({ ...device, generation: '0123456789ab' }, '1767312000000#u'),
      readings: '[[["x","1.0.0",null]],[[0,"b",0,1,40]]]',
    },
    read: readingsIn,
    required: ['readings'],
  },
  {
    name: 'a marker',
    table: 'processed_batches',
    item: {
      ...batchKey({ ...device, generation: '0123456789ab' }, 'b'),
      payload_hash: 'h',
      segment: '1767312000000#u',
      segment_expires: 1,
      expiration_time: 2,
    },
    read: toMarker,
    required: ['payload_hash', 'expiration_time', 'segment', 'segment_expires'],
  },
  {
    name: 'a feed row',
    table: 'device_readings',
    item: {
      ...feedKey(device.orgId, '01ARZ3NDEKTSV4RRFFQ69G5FAV', 1),
      device: 'AA:BB:CC:DD:EE:FF/0123456789ab',
      segment: '1767312000000#u',
    },
    read: (item) => toFeedRow(device.orgId, item),
    required: ['device', 'segment'],
  },
  {
    name: 'a deletion',
    table: 'devices',
    item: { ...deletionKey(device), deleted_at: '2026-01-02T00:00:00.000Z' },
    read: (item) => new DeletionStore(clientWith(item)).list(1),
    required: ['deleted_at'],
  },
  {
    name: 'a bucket shard',
    table: 'limiter',
    item: {
      ...bucketKey({ namespace: 'aaaaaaaaaaa', entityId: 'e', resource: 'api', shard: 0 }),
      cv: 'v1',
      sc: 1,
      hw: 490_000,
      s_0: 'tokens 1000 1000 1000 60000',
      f_0: 0,
      c_0: 0,
      h_0: 0,
    },
    read: toShard,
    required: ['cv', 'sc', 'hw', 'f_0', 'c_0', 'h_0'],
    optional: ['s_0', 'lv', 'un', 'ttl', 'ec'],
  },
  {
    name: 'a level of limits',
    table: 'limiter',
    item: {
      ...levelKey('aaaaaaaaaaa', { level: 'SYSTEM' }),
      config_version: 1,
      l_tokens_cp: 10,
      l_tokens_bx: 10,
      l_tokens_ra: 1,
      l_tokens_rp: 60,
    },
    read: (item) => toLevel(item, { level: 'SYSTEM' }),
    required: ['config_version', 'l_tokens_bx', 'l_tokens_ra', 'l_tokens_rp'],
    optional: ['l_tokens_cp', 'l_tokens_kd', 'l_tokens_cw', 'l_tokens_en'],
  },
  {
    name: 'an entity',
    table: 'limiter',
    item: {
      ...entityKey('aaaaaaaaaaa', 'e'),
      entity_id: 'e',
      cascade: false,
      metadata: [{ name: 'n', value: 'v' }],
      created_at_ms: 1,
    },
    read: (item) => toEntity(item, orgId),
    required: ['entity_id', 'cascade', 'metadata', 'created_at_ms'],
    optional: ['name', 'parent_id', 'entity_version'],
  },
  {
    name: 'the record of an operation on a lease',
    table: 'limiter',
    item: { ...leaseKey('aaaaaaaaaaa', 'r-0'), request_hash: 'h', nonce: 'n' },
    read: toOperationRecord,
    required: ['request_hash', 'nonce'],
  },
  {
    name: 'the state of a lease',
    table: 'limiter',
    item: { ...leaseKey('aaaaaaaaaaa', 'l'), v: 1, exp_ms: 1, holdings: [[], [], []], adjusted: {} },
    read: toState,
    required: ['v', 'exp_ms', 'holdings', 'adjusted'],
    optional: ['released_by'],
  },
];

/** A value that no method of `fields` accepts in place of `value`. */
const wrongTypeFor = (value: unknown) => (Array.isArray(value) ? 'text' : [{}]);

const errorOf = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe.each(codecs)('$name', ({ table, item, read, required, optional = [] }) => {
  const corrupt = (attribute: string) => `corrupt item in table ${table}, key .*: attribute ${attribute} is not `;

  it('is read if its item is valid', async () => {
    expect(await errorOf(() => read(item))).toBeUndefined();
  });

  it('throws CorruptItem if an attribute has another type', async () => {
    for (const attribute of [...required, ...optional]) {
      const error = await errorOf(() => read({ ...item, [attribute]: wrongTypeFor(item[attribute]) }));
      expect(error).toBeInstanceOf(CorruptItem);
      expect((error as Error).message).toMatch(new RegExp(corrupt(attribute)));
    }
  });

  it('throws CorruptItem if a required attribute is missing', async () => {
    for (const attribute of required) {
      const { [attribute]: _, ...rest } = item;
      const error = await errorOf(() => read(rest));
      expect(error).toBeInstanceOf(CorruptItem);
      expect((error as Error).message).toMatch(new RegExp(corrupt(attribute)));
    }
  });
});
