import fc from 'fast-check';
import { type AlertDraft, alertKinds } from '../../../src/alerts/alert.js';
import { entryKey, headKey, markerKey } from '../../../src/alerts/alert.store.js';
import { auditIndexKey, auditKey } from '../../../src/audit/audit.store.js';
import { auditEventId, auditedEntity } from '../../../src/audit/audit-event.js';
import { changeKey } from '../../../src/changes/change.store.js';
import * as device from '../../../src/devices/device-keys.js';
import { batchIdPattern } from '../../../src/devices/reading.js';
import { definitionOf, type tableNames } from '../../../src/dynamo/tables.js';
import { apiKeyIndexKey, apiKeyKey } from '../../../src/identity/api-key.store.js';
import { configKey } from '../../../src/identity/client.item.js';
import { type ClientRef, clientIdOf } from '../../../src/identity/client-id.js';
import { consoleLinkKey } from '../../../src/identity/console-link.store.js';
import { consoleSessionKey, openSessionsKey } from '../../../src/identity/console-session.store.js';
import { retrievalKey } from '../../../src/identity/credential.store.js';
import { clientKey, familyKey, tokenKey } from '../../../src/identity/revocation.store.js';
import { refreshKey } from '../../../src/identity/session.store.js';
import { sha256, ulid, ulidFloor } from '../../../src/lib/id.js';
import { hardwareIdPattern, slug } from '../../../src/lib/patterns.js';
import { entityIdPattern } from '../../../src/limits/entities/entity-id.js';
import type { ConfigPlace } from '../../../src/limits/levels/resolution.js';
import { resourcePattern } from '../../../src/limits/limit-input.js';
import * as limiter from '../../../src/limits/limiter-keys.js';
import type { SpendId } from '../../../src/orgs/scope.js';
import { budgetKey } from '../../../src/spend/budgets/budget.item.js';
import { budgetStateKey } from '../../../src/spend/budgets/budget-state.store.js';
import {
  catalogHeadKey,
  lastPriceKey,
  modelKey,
  orgPriceKey,
  priceKey,
} from '../../../src/spend/catalog/catalog.item.js';
import { requestKey } from '../../../src/spend/cost.item.js';
import { labelsKey } from '../../../src/spend/label.store.js';
import { correctionKey } from '../../../src/spend/ledger/correction.item.js';
import { dirtyKey } from '../../../src/spend/ledger/dirty-day.store.js';
import { ledgerKey } from '../../../src/spend/ledger/ledger-key.js';
import { roundsKey } from '../../../src/spend/slice.store.js';
import { shardKey, totalKey } from '../../../src/spend/spend.item.js';

describe('the stored keys', () => {
  // Few ids, so that two calls often share some: two key functions can collide only then.
  const orgIds = ['00000000-0000-4000-8000-000000000000', '11111111-1111-4111-8111-111111111111'];
  const orgId = fc.oneof(fc.constantFrom(...orgIds), fc.uuid());
  const appId = fc.oneof(fc.constantFrom('a', 'app', 'app-app-a', 'org', 'org-', '0.-_'), fc.stringMatching(slug));
  const clientRef: fc.Arbitrary<ClientRef> = fc.oneof(fc.record({ orgId }), fc.record({ orgId, appId }));
  const token = fc.oneof(fc.constantFrom('FAM', 'CLIENT', 'VERSION'), fc.stringMatching(/^[A-Za-z0-9_-]{22}$/));
  const entity = fc.oneof(
    fc.constantFrom('$ORG', '$APP:a', '$CLIENT:org-1', 'AUDIT', 'a'),
    fc.stringMatching(auditedEntity),
  );
  const event = fc.oneof(fc.constant('01ARZ3NDEKTSV4RRFFQ69G5FAV'), fc.stringMatching(auditEventId));
  const model = fc.oneof(
    fc.constantFrom('anthropic.claude-3-haiku-20240307-v1:0', '2026-01-01', '#CATALOG', '#ORG#a', 'MODEL#a', 'a/b'),
    fc.stringMatching(/^[^\p{C}]{1,40}$/u),
  );
  const day = fc.constantFrom('2026-01-01', '2026-01-02', '2025-12-31');
  const secret = fc.string({ unit: 'grapheme' });
  const label = fc.oneof(fc.constantFrom('premium', 'label', 'sh', '1'), fc.stringMatching(slug));
  const whole = fc.oneof(fc.nat({ max: 3 }), fc.nat());
  const spendId: fc.Arbitrary<SpendId> = fc.oneof(
    fc.record({ orgId, label, day }),
    fc.record({ orgId, appId, label, day }),
  );
  const alert = fc.tuple(spendId, fc.constantFrom(...alertKinds));
  const budgetAlert = fc.record({
    orgId,
    kind: fc.constantFrom(...alertKinds),
    thresholdPct: whole,
    budget: label,
    budgetRevision: whole,
    periodStart: day,
  });
  const requestId = fc.oneof(fc.constantFrom('1', 'REQ', 'req-1'), fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,40}$/));

  const namespace = fc.oneof(
    fc.constantFrom('aaaaaaaaaaa', '_aaaaaaaaaa', 'SYSTEM-----'),
    fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_-]{10}$/),
  );
  const entityId = fc.oneof(fc.constantFrom('a', 'BUCKET', 'CONFIG', '0'), fc.stringMatching(entityIdPattern));
  const resource = fc.oneof(fc.constantFrom('a', 'a/b', 'HOUR', 'CONFIG', 'META'), fc.stringMatching(resourcePattern));
  const leaseName = fc.oneof(
    fc.constantFrom('l-0', 'r-0'),
    fc.uuid().map((uuid) => `r-${uuid}`),
  );
  const tallyId = fc.oneof(fc.constantFrom('0', 'r-0'), fc.stringMatching(/^[A-Za-z0-9_-]{8}$/));
  const hour = fc.oneof(fc.constantFrom(500_000, 500_001), fc.nat({ max: 2_000_000 }));
  const shardId = fc.record(
    { namespace, entityId, resource, shard: fc.nat({ max: 31 }), isOwn: fc.constant(true as const) },
    { requiredKeys: ['namespace', 'entityId', 'resource', 'shard'] },
  );
  const bucketId = fc.record({ namespace, entityId, resource });
  const birth = fc.stringMatching(/^[A-Za-z0-9_-]{8}$/);
  const place: fc.Arbitrary<ConfigPlace> = fc.oneof(
    fc.constant({ level: 'SYSTEM' } as const),
    fc.record({ level: fc.constant('RESOURCE' as const), resource }),
    fc.record({ level: fc.constant('ENTITY_DEFAULT' as const), entityId }),
    fc.record({ level: fc.constant('ENTITY' as const), entityId, resource }),
  );
  const hardwareId = fc.oneof(
    fc.constantFrom('AA:BB:CC:DD:EE:FF', '00:00:00:00:00:00'),
    fc.stringMatching(hardwareIdPattern),
  );
  const deviceRef = fc.record({ orgId, hardwareId });
  const readingsRef = fc.record({ orgId, hardwareId, generation: fc.stringMatching(/^[0-9a-f]{12}$/) });
  const batchId = fc.oneof(
    fc.constantFrom('a', 'devices', '1000000000000', 'AA:BB:CC:DD:EE:FF'),
    fc.stringMatching(batchIdPattern),
  );
  const momentMs = fc.oneof(
    fc.constantFrom(999_999_999_999, 1_000_000_000_000, 100_000_000_000),
    fc.integer({ min: 946_684_800_000, max: 4_102_444_799_999 }),
  );
  const listedPlace = place.filter(({ level }) => level === 'RESOURCE' || level === 'ENTITY');
  /** The key attributes of one index. */
  const ofIndex = (index: string, keys: object) =>
    Object.fromEntries(Object.entries(keys).filter(([name]) => name.startsWith(index)));

  const call = <A>(table: string, name: string, args: fc.Arbitrary<A>, build: (args: A) => object) =>
    args.map((given) => ({ table, identity: JSON.stringify([name, given]), key: JSON.stringify(build(given)) }));
  const anyCall = fc.oneof(
    call('config', 'configKey', clientRef, configKey),
    call('revoked_tokens', 'tokenKey', token, tokenKey),
    call('revoked_tokens', 'familyKey', token, familyKey),
    call('revoked_tokens', 'clientKey', clientRef, (client) => clientKey(clientIdOf(client))),
    call('config', 'changeKey', fc.nat(7), changeKey),
    call('limiter', 'auditKey', fc.tuple(orgId, entity, event), (args) => auditKey(...args)),
    call('limiter', 'schema version', fc.constant(''), () => ({ PK: '_/SYSTEM#', SK: '#VERSION' })),
    call('limiter GSI1', 'auditIndexKey', fc.tuple(orgId, event), (args) => auditIndexKey(...args)),
    call('limiter', 'limiter.shardKey', shardId, limiter.shardKey),
    call('limiter', 'limiter.directoryKey', bucketId, limiter.directoryKey),
    call('limiter', 'limiter.entityKey', fc.tuple(namespace, entityId), (args) => limiter.entityKey(...args)),
    call('limiter', 'limiter.configKey', fc.tuple(namespace, place), (args) => limiter.configKey(...args)),
    call('limiter', 'limiter.usageKey', fc.tuple(shardId, hour, birth), (args) => limiter.usageKey(...args)),
    call('limiter', 'limiter.refusalKey', fc.tuple(bucketId, hour, tallyId), (args) => limiter.refusalKey(...args)),
    call('limiter', 'limiter.leaseKey', fc.tuple(namespace, leaseName), (args) => limiter.leaseKey(...args)),
    call('limiter', 'limiter.namespaceKey', orgId, limiter.namespaceKey),
    call('limiter', 'limiter.namespaceIdKey', namespace, limiter.namespaceIdKey),
    call('limiter', 'limiter.taskKey', fc.constantFrom('tidy-buckets', 'a'), limiter.taskKey),
    call('limiter GSI1', 'limiter.parentIndexKey', fc.tuple(namespace, entityId, entityId), ([ns, parent, child]) => ({
      GSI1PK: limiter.parentIndexKey(ns, parent),
      GSI1SK: limiter.childIndexKey(child),
    })),
    call('limiter GSI1', 'limiter.rootsIndexKey', fc.tuple(namespace, entityId), ([ns, child]) => ({
      GSI1PK: limiter.rootsIndexKey(ns),
      GSI1SK: limiter.childIndexKey(child),
    })),
    call('limiter GSI2', 'limiter.directoryIndexKeys', bucketId, (id) =>
      ofIndex('GSI2', limiter.directoryIndexKeys(id)),
    ),
    call('limiter GSI2', 'limiter.usageIndexKeys', fc.tuple(shardId, hour, birth), (args) =>
      ofIndex('GSI2', limiter.usageIndexKeys(...args)),
    ),
    call('limiter GSI2', 'limiter.refusalIndexKeys', fc.tuple(bucketId, hour, tallyId), (args) =>
      ofIndex('GSI2', limiter.refusalIndexKeys(...args)),
    ),
    call('limiter GSI3', 'limiter.directoryIndexKeys', bucketId, (id) =>
      ofIndex('GSI3', limiter.directoryIndexKeys(id)),
    ),
    call('limiter GSI3', 'limiter.configIndexKeys', fc.tuple(namespace, listedPlace), (args) =>
      ofIndex('GSI3', limiter.configIndexKeys(...args)),
    ),
    call('pricing_cache', 'priceKey', fc.record({ modelId: model, day }), priceKey),
    call('usage_agg_sharded', 'shardKey', fc.tuple(spendId, whole), (args) => shardKey(...args)),
    call('daily_total', 'totalKey', spendId, totalKey),
    call('daily_total', 'slice', whole, (slice) => ({ PK: `#SLICE#${slice}`, SK: '#SLICE' })),
    call('daily_total', 'labelsKey', orgId, labelsKey),
    call('daily_total', 'roundsKey', fc.constant(0), () => roundsKey),
    call('pricing_cache', 'catalogHeadKey', fc.constant(0), () => catalogHeadKey),
    call('pricing_cache', 'modelKey', label, modelKey),
    call('pricing_cache', 'orgPriceKey', fc.tuple(orgId, label), (args) => orgPriceKey(...args)),
    call('pricing_cache', 'lastPriceKey', fc.record({ modelId: model }), lastPriceKey),
    call('cost_requests', 'requestKey', fc.record({ orgId, appId, requestId }), requestKey),
    call('cost_requests', 'correctionKey', fc.tuple(fc.record({ orgId, appId, requestId }), requestId), (args) =>
      correctionKey(...args),
    ),
    call('cost_requests gsi1', 'ledgerKey', fc.tuple(orgId, day, whole), (args) => ({ gsi1pk: ledgerKey(...args) })),
    call('usage_agg_sharded', 'dirtyKey', fc.tuple(orgId, day), (args) => dirtyKey(...args)),
    call('alerts', 'markerKey', alert, ([id, kind]) => markerKey({ ...id, kind } as AlertDraft)),
    call('alerts', 'budget markerKey', budgetAlert, (draft) => markerKey(draft as unknown as AlertDraft)),
    call('config', 'budgetKey', fc.record({ orgId, name: label }), budgetKey),
    call('daily_total', 'budgetStateKey', fc.record({ orgId, name: label, firstDay: day }), budgetStateKey),
    call('alerts', 'headKey', whole, headKey),
    call('alerts', 'entryKey', fc.tuple(whole, whole), (args) => entryKey(...args)),
    call('devices', 'device.deviceKey', deviceRef, device.deviceKey),
    call('devices', 'device.deviceCountKey', orgId, device.deviceCountKey),
    call('devices', 'device.deletionKey', deviceRef, device.deletionKey),
    call('devices gsi1', 'deletionIndexKey', fc.constant(''), () => ({ gsi1pk: device.deletionIndexKey })),
    call('devices gsi1', 'device.deviceIndexKey', orgId, (id) => ({ gsi1pk: device.deviceIndexKey(id) })),
    call('device_readings ts_batch', 'device.segmentSortKey', fc.tuple(momentMs, batchId), ([atMs, id]) => ({
      ts_batch: device.segmentSortKey(atMs, id),
    })),
    call('device_readings', 'device.feedKey', fc.tuple(orgId, momentMs), ([id, atMs]) =>
      device.feedKey(id, `${ulidFloor(atMs)}${'0'.repeat(16)}`, 8),
    ),
    call('processed_batches', 'device.batchKey', fc.tuple(readingsRef, batchId), (args) => device.batchKey(...args)),
    call('api_keys', 'apiKeyKey', orgId, apiKeyKey),
    call('api_keys gsi1', 'apiKeyIndexKey', orgId, (id) => ({ gsi1pk: apiKeyIndexKey(id) })),
    call('refresh_tokens', 'refreshKey', secret, refreshKey),
    call('refresh_tokens', 'consoleSessionKey', secret, (token) => consoleSessionKey(sha256(token))),
    call('refresh_tokens', 'openSessionsKey', orgId, (id) => openSessionsKey(`org-${id}`)),
    call('secret_retrieval_tokens', 'retrievalKey', secret, retrievalKey),
    call('secret_retrieval_tokens', 'consoleLinkKey', secret, consoleLinkKey),
  );

  it('are equal within a table only if the key function and its arguments are equal', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { minLength: 20, maxLength: 60 }), (calls) => {
        const owners = new Map<string, string>();
        for (const { table, identity, key } of calls) {
          const place = `${table} ${key}`;
          expect(owners.get(place) ?? identity).toBe(identity);
          owners.set(place, identity);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('have the key attributes of their tables', () => {
    const names = (built: object) => Object.keys(built).sort();
    const keyOf = (table: (typeof tableNames)[number]) => {
      const { partitionKey, sortKey } = definitionOf(table);
      return [partitionKey, ...(sortKey ? [sortKey] : [])].sort();
    };
    const [id] = orgIds as [string, string];
    expect(names(configKey({ orgId: id }))).toEqual(keyOf('config'));
    expect(names(tokenKey('t'))).toEqual(keyOf('revoked_tokens'));
    expect(names(familyKey('t'))).toEqual(keyOf('revoked_tokens'));
    expect(names(clientKey('t'))).toEqual(keyOf('revoked_tokens'));
    expect(names(auditKey(id, 'e', 'v'))).toEqual(keyOf('limiter'));
    expect(names(auditIndexKey(id, 'v'))).toEqual([...(definitionOf('limiter').indexes?.GSI1 ?? [])].sort());
    const shard = { namespace: 'n', entityId: 'e', resource: 'r', shard: 0 };
    for (const built of [
      limiter.shardKey(shard),
      limiter.directoryKey(shard),
      limiter.entityKey('n', 'e'),
      limiter.configKey('n', { level: 'SYSTEM' }),
      limiter.usageKey(shard, 0, 'b1rth'),
      limiter.refusalKey(shard, 0, 'i'),
      limiter.leaseKey('n', 'l'),
      limiter.namespaceKey(id),
      limiter.namespaceIdKey('n'),
      limiter.taskKey('t'),
    ])
      expect(names(built)).toEqual(keyOf('limiter'));
    expect(names(priceKey({ modelId: 'm', day: 'd' }))).toEqual(keyOf('pricing_cache'));
    const ref = { orgId: id, hardwareId: 'AA:BB:CC:DD:EE:FF', generation: '0123456789ab' };
    expect(names(device.deviceKey(ref))).toEqual(keyOf('devices'));
    expect(names(device.segmentKey(ref, '1#u'))).toEqual(keyOf('device_readings'));
    expect(names(device.feedKey(id, ulid(1), 1))).toEqual(keyOf('device_readings'));
    expect(names(device.batchKey(ref, 'b'))).toEqual(keyOf('processed_batches'));
    expect(names(apiKeyKey(id))).toEqual(keyOf('api_keys'));
    for (const table of ['devices', 'api_keys'] as const)
      expect(definitionOf(table).indexes?.gsi1).toEqual(['gsi1pk', 'gsi1sk']);
    expect(names(refreshKey('t'))).toEqual(keyOf('refresh_tokens'));
    expect(names(consoleSessionKey('t'))).toEqual(keyOf('refresh_tokens'));
    expect(names(openSessionsKey('t'))).toEqual(keyOf('refresh_tokens'));
    expect(names(retrievalKey('t'))).toEqual(keyOf('secret_retrieval_tokens'));
    expect(names(consoleLinkKey('t'))).toEqual(keyOf('secret_retrieval_tokens'));
  });

  it('contain only the hash of a refresh or retrieval token', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^tg[rt]_[A-Za-z0-9_-]{43}$/), (secretToken) =>
        [refreshKey(secretToken), retrievalKey(secretToken)].every(
          ({ PK }) => /^[A-Za-z0-9_-]{43}$/.test(PK) && !secretToken.includes(PK),
        ),
      ),
    );
  });

  it('put a usage item into the range of its own hour and resource, and into no other', () => {
    fc.assert(
      fc.property(shardId, hour, resource, hour, (id, usedHour, queried, hourFrom) => {
        const [first, last] = limiter.usageRange(queried, hourFrom, hourFrom + 1);
        const { SK } = limiter.usageKey(id, usedHour, 'b1rth');
        return (SK >= first && SK <= last) === (queried === id.resource && usedHour === hourFrom);
      }),
    );
    fc.assert(
      fc.property(shardId, hour, hour, (id, usedHour, hourFrom) => {
        const [first, last] = limiter.resourceUsageRange(hourFrom, hourFrom + 1);
        const { GSI2SK } = limiter.usageIndexKeys(id, usedHour, 'b1rth');
        expect(limiter.directoryIndexKeys(id).GSI2SK.startsWith('USAGE#')).toBe(false);
        return (GSI2SK >= first && GSI2SK <= last) === (usedHour === hourFrom);
      }),
    );
  });

  it('contain the hour of a usage item', () => {
    fc.assert(
      fc.property(
        shardId,
        hour,
        (id, usedHour) =>
          limiter.hourOfInstant(limiter.usageKey(id, usedHour, 'b1rth').SK.split('#')[4] ?? '') === usedHour,
      ),
    );
  });

  it('sort an org before its apps, so that one query can distinguish them', () => {
    fc.assert(
      fc.property(orgId, appId, (org, app) => configKey({ orgId: org }).SK < configKey({ orgId: org, appId: app }).SK),
    );
  });
});
