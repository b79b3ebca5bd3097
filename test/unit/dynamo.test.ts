import fc from 'fast-check';
import { type AlertDraft, alertKinds } from '../../src/alerts/alert.js';
import { entryKey, headKey, markerKey } from '../../src/alerts/alert.store.js';
import { auditIndexKey, auditKey } from '../../src/audit/audit.store.js';
import { auditEventId, auditedEntity } from '../../src/audit/audit-event.js';
import { changeKey } from '../../src/changes/change.store.js';
import * as device from '../../src/devices/device-keys.js';
import { batchIdPattern } from '../../src/devices/reading.js';
import {
  absent,
  and,
  atLeast,
  atMost,
  beginsWith,
  between,
  type Changes,
  type Condition,
  Expression,
  equals,
  greaterThan,
  lessThan,
  or,
  present,
} from '../../src/dynamo/expression.js';
import { classify, StoreUnavailable } from '../../src/dynamo/faults.js';
import { key, slashed } from '../../src/dynamo/keys.js';
import { pauseMs, RetryBudget } from '../../src/dynamo/retry.js';
import { definitionOf, keyAttributes, tableNames } from '../../src/dynamo/tables.js';
import { cloudFormationTemplate } from '../../src/dynamo/template.js';
import { apiKeyIndexKey, apiKeyKey } from '../../src/identity/api-key.store.js';
import { configKey } from '../../src/identity/client.item.js';
import { type ClientRef, clientIdOf } from '../../src/identity/client-id.js';
import { retrievalKey } from '../../src/identity/credential.store.js';
import { clientKey, familyKey, tokenKey } from '../../src/identity/revocation.store.js';
import { refreshKey } from '../../src/identity/session.store.js';
import { hardwareIdPattern, slug } from '../../src/lib/patterns.js';
import { entityIdPattern } from '../../src/limits/entities/entity-id.js';
import type { ConfigPlace } from '../../src/limits/levels/resolution.js';
import { resourcePattern } from '../../src/limits/limit-input.js';
import * as limiter from '../../src/limits/limiter-keys.js';
import type { SpendId } from '../../src/orgs/scope.js';
import { requestKey } from '../../src/spend/cost.item.js';
import { labelsKey } from '../../src/spend/label.store.js';
import { lastPriceKey, priceKey } from '../../src/spend/price.store.js';
import { roundsKey } from '../../src/spend/slice.store.js';
import { shardKey, totalKey } from '../../src/spend/spend.item.js';
import { HandClock } from './hand-clock.js';

describe('key', () => {
  it.each([
    ['a hash', 'a#b'],
    ['a slash', 'a/b'],
    ['nothing', ''],
    ['a newline at the end', 'a\n'],
    ['a null character', '\u0000'],
    ['a tab', 'a\tb'],
    ['a delete character', 'a\u007f'],
    ['a hash alone', '#'],
  ])('refuses %s in a value', (_, value) => {
    expect(() => key`ORG#${value}`).toThrow('not allowed in a key');
    expect(() => key`${value}#X#${'b'}`).toThrow('not allowed in a key');
  });

  it('refuses each control character, wherever it stands', () => {
    const control = fc
      .oneof(fc.integer({ min: 0, max: 31 }), fc.constant(127))
      .map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string(), control, fc.string(), (before, character, after) => {
        expect(() => key`ORG#${before + character + after}`).toThrow('not allowed in a key');
      }),
    );
  });

  it('refuses two values with no separator between them', () => {
    expect(() => key`${'a'}${'b'}`).toThrow('separator');
    expect(() => key`${'a'}x${'b'}`).toThrow('separator');
    expect(() => key`X#${'a'}-${'b'}`).toThrow('separator');
    expect(key`${'a'}#${'b'}/${'c'}`).toBe('a#b/c');
  });

  it('takes 1024 bytes and not one more, counted as they are stored', () => {
    expect(key`${'a'.repeat(1024)}`).toHaveLength(1024);
    expect(() => key`${'a'.repeat(1025)}`).toThrow('1025 bytes');
    expect(key`${'é'.repeat(512)}`).toHaveLength(512);
    expect(() => key`#${'é'.repeat(512)}`).toThrow('1025 bytes');
  });

  it('says of a value it refuses only its beginning', () => {
    expect(() => key`${'#'.repeat(5000)}`).toThrow(/^.{0,120}$/);
  });

  it('writes numbers as they are read, and literals as they stand', () => {
    expect(key`#AUDIT#${'x'}#HOUR#${1_700_000_000_000}`).toBe('#AUDIT#x#HOUR#1700000000000');
    expect(key`#ORG`).toBe('#ORG');
  });

  it('gives equal stored bytes only for equal values', () => {
    // Half a surrogate pair is stored as U+FFFD, like every other half.
    const unit = fc.oneof(
      { arbitrary: fc.string({ minLength: 1, unit: 'binary' }), weight: 3 },
      fc.constantFrom('\ud800', '\udfff', '\ufffd'),
    );
    const built = (a: string, b: string): string | undefined => {
      try {
        return Buffer.from(key`A#${a}#B#${b}`).toString('hex');
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(fc.tuple(unit, unit), fc.tuple(unit, unit), ([a, b], [c, d]) => {
        const first = built(a, b);
        return first === undefined || first !== built(c, d) || (a === c && b === d);
      }),
      {
        examples: [
          [
            ['\ud800', 'x'],
            ['\udfff', 'x'],
          ],
        ],
      },
    );
  });
});

describe('slashed', () => {
  it('lets a value hold slashes, and nothing else that a value may not hold', () => {
    expect(key`${'ns'}/BUCKET#${'a'}#${slashed('v1/chat/')}#${0}`).toBe('ns/BUCKET#a#v1/chat/#0');
    for (const value of ['', 'a#b', '#', 'a\n', '\u0000', 'a\tb', 'a\u007f', '\ud800']) {
      expect(() => key`RESOURCE#${slashed(value)}`).toThrow('not allowed in a key');
      expect(() => key`RESOURCE#${slashed(value)}#X`).toThrow('not allowed in a key');
    }
  });

  it('refuses a slash as the separator after it, which could be its own', () => {
    expect(() => key`${slashed('a')}/${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}${'b'}`).toThrow('separator');
    expect(() => key`${slashed('a')}-${slashed('b')}`).toThrow('separator');
    expect(key`${'a'}/${slashed('b/c')}#${slashed('d/e')}`).toBe('a/b/c#d/e');
  });

  it('counts towards the 1024 bytes', () => {
    expect(key`${slashed('/'.repeat(1024))}`).toHaveLength(1024);
    expect(() => key`${slashed('/'.repeat(1025))}`).toThrow('1025 bytes');
  });

  it('gives equal keys only for equal values', () => {
    const part = fc.stringMatching(/^[ab/]{1,4}$/);
    const plain = fc.stringMatching(/^[ab]{1,4}$/);
    fc.assert(
      fc.property(fc.tuple(plain, part, part), fc.tuple(plain, part, part), ([a, b, c], [d, e, f]) => {
        const equal = key`${a}/X#${slashed(b)}#${slashed(c)}` === key`${d}/X#${slashed(e)}#${slashed(f)}`;
        return equal === (a === d && b === e && c === f);
      }),
    );
  });
});

describe('the keys of the project', () => {
  // Few ids, so that two calls often share some: that is where a forged key would show.
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
    fc.constantFrom('anthropic.claude-3-haiku-20240307-v1:0', '2026-01-01'),
    fc.stringMatching(/^[^#/\s\p{C}]{1,40}$/u),
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
  /** The keys of one index among all that an item carries. */
  const ofIndex = (index: string, keys: object) =>
    Object.fromEntries(Object.entries(keys).filter(([name]) => name.startsWith(index)));

  const call = <A>(table: string, name: string, args: fc.Arbitrary<A>, build: (args: A) => object) =>
    args.map((given) => ({ table, identity: JSON.stringify([name, given]), key: JSON.stringify(build(given)) }));
  const anyCall = fc.oneof(
    call('config', 'configKey', clientRef, configKey),
    call('revoked_tokens', 'tokenKey', token, tokenKey),
    call('revoked_tokens', 'familyKey', token, familyKey),
    call('revoked_tokens', 'clientKey', clientRef, (client) => clientKey(clientIdOf(client))),
    call('revoked_tokens', 'version', fc.nat(7), changeKey),
    call('limiter', 'auditKey', fc.tuple(orgId, entity, event), (args) => auditKey(...args)),
    call('limiter', 'schema version', fc.constant(''), () => ({ PK: '_/SYSTEM#', SK: '#VERSION' })),
    call('limiter GSI1', 'auditIndexKey', fc.tuple(orgId, event), (args) => auditIndexKey(...args)),
    call('limiter', 'limiter.shardKey', shardId, limiter.shardKey),
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
    call('limiter GSI2', 'limiter.shardIndexKeys', shardId, (id) => ofIndex('GSI2', limiter.shardIndexKeys(id))),
    call('limiter GSI2', 'limiter.usageIndexKeys', fc.tuple(shardId, hour, birth), (args) =>
      ofIndex('GSI2', limiter.usageIndexKeys(...args)),
    ),
    call('limiter GSI2', 'limiter.refusalIndexKeys', fc.tuple(bucketId, hour, tallyId), (args) =>
      ofIndex('GSI2', limiter.refusalIndexKeys(...args)),
    ),
    call('limiter GSI3', 'limiter.shardIndexKeys', shardId, (id) => ofIndex('GSI3', limiter.shardIndexKeys(id))),
    call('limiter GSI3', 'limiter.configIndexKeys', fc.tuple(namespace, listedPlace), (args) =>
      ofIndex('GSI3', limiter.configIndexKeys(...args)),
    ),
    call('pricing_cache', 'priceKey', fc.record({ bedrockModelId: model, day }), priceKey),
    call('usage_agg_sharded', 'shardKey', fc.tuple(spendId, whole), (args) => shardKey(...args)),
    call('daily_total', 'totalKey', spendId, totalKey),
    call('daily_total', 'slice', whole, (slice) => ({ PK: `#SLICE#${slice}`, SK: '#SLICE' })),
    call('daily_total', 'labelsKey', orgId, labelsKey),
    call('daily_total', 'roundsKey', fc.constant(0), () => roundsKey),
    call('pricing_cache', 'lastPriceKey', fc.record({ bedrockModelId: model }), lastPriceKey),
    call('cost_requests', 'requestKey', fc.record({ orgId, appId, requestId }), requestKey),
    call('alerts', 'markerKey', alert, ([id, kind]) => markerKey({ ...id, kind } as AlertDraft)),
    call('alerts', 'headKey', whole, headKey),
    call('alerts', 'entryKey', fc.tuple(whole, whole), (args) => entryKey(...args)),
    call('devices', 'device.deviceKey', deviceRef, device.deviceKey),
    call('devices', 'device.deviceCountKey', orgId, device.deviceCountKey),
    call('devices', 'device.deletionKey', deviceRef, device.deletionKey),
    call('devices gsi1', 'deletionIndexKey', fc.constant(''), () => ({ gsi1pk: device.deletionIndexKey })),
    call('devices gsi1', 'device.deviceIndexKey', orgId, (id) => ({ gsi1pk: device.deviceIndexKey(id) })),
    call('device_readings', 'device.readingKey', fc.tuple(readingsRef, momentMs, batchId), (args) =>
      device.readingKey(...args),
    ),
    call('device_readings ts_batch', 'device.readingSortKey', fc.tuple(momentMs, batchId), ([atMs, id]) => ({
      ts_batch: device.readingSortKey(atMs, id),
    })),
    call('processed_batches', 'device.batchKey', fc.tuple(readingsRef, batchId), (args) => device.batchKey(...args)),
    call('api_keys', 'apiKeyKey', orgId, apiKeyKey),
    call('api_keys gsi1', 'apiKeyIndexKey', orgId, (id) => ({ gsi1pk: apiKeyIndexKey(id) })),
    call('refresh_tokens', 'refreshKey', secret, refreshKey),
    call('secret_retrieval_tokens', 'retrievalKey', secret, retrievalKey),
  );

  it('are equal within a table only where function and arguments are', () => {
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

  it('name the key attributes of their tables', () => {
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
    expect(names(priceKey({ bedrockModelId: 'm', day: 'd' }))).toEqual(keyOf('pricing_cache'));
    const ref = { orgId: id, hardwareId: 'AA:BB:CC:DD:EE:FF', generation: '0123456789ab' };
    expect(names(device.deviceKey(ref))).toEqual(keyOf('devices'));
    expect(names(device.readingKey(ref, 1, 'b'))).toEqual(keyOf('device_readings'));
    expect(names(device.batchKey(ref, 'b'))).toEqual(keyOf('processed_batches'));
    expect(names(apiKeyKey(id))).toEqual(keyOf('api_keys'));
    for (const table of ['devices', 'api_keys'] as const)
      expect(definitionOf(table).indexes?.gsi1).toEqual(['gsi1pk', 'gsi1sk']);
    expect(names(refreshKey('t'))).toEqual(keyOf('refresh_tokens'));
    expect(names(retrievalKey('t'))).toEqual(keyOf('secret_retrieval_tokens'));
  });

  it('hold no refresh or retrieval token, only its hash', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^tg[rt]_[A-Za-z0-9_-]{43}$/), (secretToken) =>
        [refreshKey(secretToken), retrievalKey(secretToken)].every(
          ({ PK }) => /^[A-Za-z0-9_-]{43}$/.test(PK) && !secretToken.includes(PK),
        ),
      ),
    );
  });

  it('of a use are found by the bounds of its hour and by those of no other, nor of another resource', () => {
    fc.assert(
      fc.property(shardId, hour, resource, hour, (id, used, asked, from) => {
        const [least, most] = limiter.usageRange(asked, from, from + 1);
        const { SK } = limiter.usageKey(id, used, 'b1rth');
        return (SK >= least && SK <= most) === (asked === id.resource && used === from);
      }),
    );
    fc.assert(
      fc.property(shardId, hour, hour, (id, used, from) => {
        const [least, most] = limiter.resourceUsageRange(from, from + 1);
        const { GSI2SK } = limiter.usageIndexKeys(id, used, 'b1rth');
        expect(limiter.shardIndexKeys(id).GSI2SK.startsWith('USAGE#')).toBe(false);
        return (GSI2SK >= least && GSI2SK <= most) === (used === from);
      }),
    );
  });

  it('of a use tell its hour', () => {
    fc.assert(
      fc.property(
        shardId,
        hour,
        (id, used) => limiter.hourOfInstant(limiter.usageKey(id, used, 'b1rth').SK.split('#')[4] ?? '') === used,
      ),
    );
  });

  it('sort the org before its apps, so that one query can tell them apart', () => {
    fc.assert(
      fc.property(orgId, appId, (org, app) => configKey({ orgId: org }).SK < configKey({ orgId: org, appId: app }).SK),
    );
  });
});

describe('Expression', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'status',
      'name',
      'ttl',
      'size',
      'AND',
      'OR',
      'SET',
      'b_tokens-per.minute_fa',
      'a.b',
      'a-b',
      '#n0',
      ':v0',
      '__proto__',
      '',
    ),
    fc.string({ unit: 'grapheme' }),
  );
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.bigInt());
  const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
    condition: fc.oneof(
      { depthSize: 'small' },
      name.map(absent),
      name.map(present),
      fc.tuple(name, value).map((args) => equals(...args)),
      fc.tuple(name, value).map((args) => lessThan(...args)),
      fc.tuple(name, value, value).map((args) => between(...args)),
      fc.tuple(name, fc.string()).map((args) => beginsWith(...args)),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((parts) => and(...parts)),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((parts) => or(...parts)),
    ),
  }));
  const words = new Set(
    'AND OR BETWEEN SET ADD REMOVE attribute_exists attribute_not_exists begins_with if_not_exists = <> < <= > >='.split(
      ' ',
    ),
  );

  /** Every word of the text is the language's own or a placeholder, and the placeholders are exactly those of the maps. */
  function expectOnlyPlaceholders(expression: Expression, ...texts: string[]): void {
    const tokens = texts.flatMap((text) => text.split(/[\s(),]+/)).filter((token) => token !== '' && !words.has(token));
    const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = expression.placeholders();
    expect([...new Set(tokens)].sort()).toEqual([...Object.keys(names ?? {}), ...Object.keys(values ?? {})].sort());
    expect(tokens.every((token) => /^(#n|:v)\d+$/.test(token))).toBe(true);
    for (const map of [names, values]) if (map) expect(Object.keys(map)).not.toHaveLength(0);
    const all = Object.values(names ?? {});
    expect(new Set(all).size).toBe(all.length);
  }

  const attributesOf = (given: Condition): string[] =>
    'conditions' in given ? given.conditions.flatMap(attributesOf) : [given.attribute];
  const changes: fc.Arbitrary<Changes> = fc.record({
    set: fc.dictionary(name, value, { maxKeys: 5 }),
    setIfAbsent: fc.dictionary(name, value, { maxKeys: 5 }),
    add: fc.dictionary(name, fc.oneof(fc.integer(), fc.bigInt()), { maxKeys: 5 }),
    remove: fc.array(name, { maxLength: 5 }),
  });

  it('writes every attribute name as a placeholder, reserved words, dots and dashes alike', () => {
    fc.assert(
      fc.property(condition, (given) => {
        const expression = new Expression();
        expectOnlyPlaceholders(expression, expression.condition(given));
        expect(Object.values(expression.placeholders().ExpressionAttributeNames ?? {}).sort()).toEqual(
          [...new Set(attributesOf(given))].sort(),
        );
      }),
    );
  });

  it('shares the placeholders of changes and condition of one call', () => {
    fc.assert(
      fc.property(changes, condition, (change, guard) => {
        const expression = new Expression();
        const texts = [expression.changes(change), expression.condition(guard)];
        expectOnlyPlaceholders(expression, ...texts);
      }),
    );
  });

  it('writes each section of an update at most once, and only those that change something', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const text = new Expression().changes(change);
        const count = (section: string) => text.split(' ').filter((word) => word === section).length;
        const size = (of: object | undefined) => Object.keys(of ?? {}).length;
        expect(count('SET')).toBe(size(change.set) + size(change.setIfAbsent) > 0 ? 1 : 0);
        expect(count('ADD')).toBe(size(change.add) > 0 ? 1 : 0);
        expect(count('REMOVE')).toBe(size(change.remove) > 0 ? 1 : 0);
      }),
    );
  });

  it('writes all kinds of changes in one expression', () => {
    const expression = new Expression();
    const text = expression.changes({
      set: { name: 'a', skipped: undefined },
      setIfAbsent: { first: 1 },
      add: { total: 5n, n: 1 },
      remove: ['old', 'older'],
    });
    expect(text).toBe('SET #n0 = :v0, #n1 = if_not_exists(#n1, :v1) ADD #n2 :v2, #n3 :v3 REMOVE #n4, #n5');
    expect(expression.placeholders()).toEqual({
      ExpressionAttributeNames: {
        '#n0': 'name',
        '#n1': 'first',
        '#n2': 'total',
        '#n3': 'n',
        '#n4': 'old',
        '#n5': 'older',
      },
      ExpressionAttributeValues: { ':v0': 'a', ':v1': 1, ':v2': 5n, ':v3': 1 },
    });
  });

  it('nests and within or, and or within and, each part in parentheses of its own', () => {
    const expression = new Expression();
    expect(
      expression.condition(
        or(and(absent('a'), equals('b', 1)), and(or(present('a'), lessThan('c', 2)), greaterThan('d', 3))),
      ),
    ).toBe(
      '((attribute_not_exists(#n0)) AND (#n1 = :v0)) OR (((attribute_exists(#n0)) OR (#n2 < :v1)) AND (#n3 > :v2))',
    );
  });

  it.each<[Condition, string]>([
    [equals('a', 1), '#n0 = :v0'],
    [lessThan('a', 1), '#n0 < :v0'],
    [atMost('a', 1), '#n0 <= :v0'],
    [greaterThan('a', 1), '#n0 > :v0'],
    [atLeast('a', 1), '#n0 >= :v0'],
    [between('a', 1, 2), '#n0 BETWEEN :v0 AND :v1'],
    [beginsWith('a', 'x'), 'begins_with(#n0, :v0)'],
    [absent('a'), 'attribute_not_exists(#n0)'],
    [present('a'), 'attribute_exists(#n0)'],
  ])('writes %j as %s', (given, text) => {
    expect(new Expression().condition(given)).toBe(text);
  });

  it('gives no empty map, which DynamoDB would refuse', () => {
    expect(new Expression().placeholders()).toEqual({});
    const onlyNames = new Expression();
    onlyNames.condition(absent('a'));
    expect(onlyNames.placeholders()).toEqual({ ExpressionAttributeNames: { '#n0': 'a' } });
  });

  it('keeps values apart that are equal, and a name that stands twice together', () => {
    const expression = new Expression();
    expect(expression.condition(and(equals('a', 1), equals('a', 1)))).toBe('(#n0 = :v0) AND (#n0 = :v1)');
  });
});

describe('classify', () => {
  const decode = (item: unknown) => ({ decoded: JSON.stringify(item) });
  const shaped = (name: string, more: object = {}) => Object.assign(new Error('m'), { name, ...more });
  const client = { $fault: 'client' };
  const server = { $fault: 'server' };
  const item = { PK: { S: 'a' } };
  const old = { decoded: '{"PK":{"S":"a"}}' };

  it.each<[string, unknown, object]>([
    ['a failed condition', shaped('ConditionalCheckFailedException', client), { kind: 'condition' }],
    [
      'a failed condition with the old item',
      shaped('ConditionalCheckFailedException', { ...client, Item: item }),
      { kind: 'condition', old },
    ],
    [
      'provisioned throughput exceeded',
      shaped('ProvisionedThroughputExceededException', client),
      { kind: 'throttled' },
    ],
    ['throttling', shaped('ThrottlingException', client), { kind: 'throttled' }],
    ['the request limit', shaped('RequestLimitExceeded', client), { kind: 'throttled' }],
    ['a conflict with a transaction', shaped('TransactionConflictException', client), { kind: 'conflict' }],
    [
      'a refused connection',
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
      { kind: 'refused' },
    ],
    [
      'refused connections to every address',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      { kind: 'refused' },
    ],
    ['an unknown host', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), { kind: 'refused' }],
    ['a resolver in trouble', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }), { kind: 'refused' }],
    ['an unreachable host', Object.assign(new Error('connect'), { code: 'EHOSTUNREACH' }), { kind: 'refused' }],
    ['an unreachable network', Object.assign(new Error('connect'), { code: 'ENETUNREACH' }), { kind: 'refused' }],
    ['credentials that could not be had', shaped('CredentialsProviderError'), { kind: 'refused' }],
    ['credentials that have run out', shaped('ExpiredTokenException', client), { kind: 'refused' }],
    ['a signature of another time or key', shaped('InvalidSignatureException', client), { kind: 'refused' }],
    ['credentials that are not known yet', shaped('UnrecognizedClientException', client), { kind: 'refused' }],
    [
      'a connect timeout',
      Object.assign(
        new Error(
          '@smithy/node-http-handler - the request socket did not establish a connection with the server within the configured timeout of 300 ms.',
        ),
        { name: 'TimeoutError' },
      ),
      { kind: 'refused' },
    ],
    ['a reset connection', shaped('TimeoutError', { code: 'ECONNRESET' }), { kind: 'unknown' }],
    [
      'a reset connection under its own name',
      Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
      { kind: 'unknown' },
    ],
    ['a broken pipe', shaped('TimeoutError', { code: 'EPIPE' }), { kind: 'unknown' }],
    ['a request timeout', shaped('TimeoutError'), { kind: 'unknown' }],
    ["a request timeout called the client's", shaped('TimeoutError', client), { kind: 'unknown' }],
    ['a timeout that the server noticed', shaped('RequestTimeout', client), { kind: 'unknown' }],
    ['a 500', shaped('InternalServerError', { ...server, $metadata: { httpStatusCode: 500 } }), { kind: 'unknown' }],
    ['a 503', shaped('ServiceUnavailable', { ...server, $metadata: { httpStatusCode: 503 } }), { kind: 'unknown' }],
    ['an answer that is no JSON', new SyntaxError('Unexpected token < in JSON'), { kind: 'unknown' }],
    ['a validation error', shaped('ValidationException', client), { kind: 'bug' }],
    ['a missing table', shaped('ResourceNotFoundException', client), { kind: 'bug' }],
    ['a token used for another transaction', shaped('IdempotentParameterMismatchException', client), { kind: 'bug' }],
    ['a missing right', shaped('AccessDeniedException', client), { kind: 'bug' }],
    ['nothing at all', undefined, { kind: 'unknown' }],
    ['null', null, { kind: 'unknown' }],
    ['a string', 'boom', { kind: 'unknown' }],
  ])('takes %s for what it is', (_, error, fault) => {
    expect(classify(error, decode)).toEqual(fault);
  });

  it('gives a reason for each write of a cancelled transaction, in their order', () => {
    const error = shaped('TransactionCanceledException', {
      ...client,
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: item, Message: 'The conditional request failed' },
        { Code: 'ConditionalCheckFailed' },
        { Code: 'TransactionConflict' },
        { Code: 'ProvisionedThroughputExceeded' },
        { Code: 'ThrottlingError' },
        {},
      ],
    });
    expect(classify(error, decode)).toEqual({
      kind: 'cancelled',
      reasons: [
        { kind: 'none' },
        { kind: 'condition', old },
        { kind: 'condition' },
        { kind: 'conflict' },
        { kind: 'throttled' },
        { kind: 'throttled' },
        { kind: 'none' },
      ],
    });
  });

  it('takes a cancelled transaction without reasons for cancelled', () => {
    expect(classify(shaped('TransactionCanceledException', client), decode)).toEqual({
      kind: 'cancelled',
      reasons: [],
    });
  });

  it.each(['ValidationError', 'ItemCollectionSizeLimitExceeded'])(
    'throws on a transaction cancelled by %s: it is ours to mend',
    (Code) => {
      const error = shaped('TransactionCanceledException', {
        ...client,
        CancellationReasons: [{ Code: 'None' }, { Code }],
      });
      expect(() => classify(error, decode)).toThrow(Code);
    },
  );

  it('never takes a fault for a failed condition that is none', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('client', 'server', undefined), fc.string(), (name, $fault, message) => {
        fc.pre(name !== 'ConditionalCheckFailedException' && name !== 'TransactionCanceledException');
        return !['condition', 'cancelled'].includes(classify({ name, $fault, message }, decode).kind);
      }),
    );
  });
});

describe('StoreUnavailable', () => {
  it('says whether the change may have been made, may be tried again, and keeps its cause', () => {
    const cause = new Error('socket');
    expect(new StoreUnavailable('no', { cause })).toMatchObject({
      message: expect.stringContaining('nothing was changed'),
      cause,
    });
    expect(new StoreUnavailable('read', { cause }).message).not.toMatch(/change/);
    expect(new StoreUnavailable('unknown', { cause })).toMatchObject({
      message: expect.stringContaining('may or may not'),
      extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true },
    });
  });
});

describe('pauseMs', () => {
  it('is full jitter: from nothing up to 25 ms doubled each time, and never more than 400 ms', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5000 }), (attempt) => {
        const pause = pauseMs(attempt);
        return pause >= 0 && pause < Math.min(400, 25 * 2 ** attempt);
      }),
    );
    const many = Array.from({ length: 2000 }, () => pauseMs(10));
    expect(Math.min(...many)).toBeLessThan(40);
    expect(Math.max(...many)).toBeGreaterThan(360);
  });
});

describe('RetryBudget', () => {
  const granted = (budget: RetryBudget, tries: number): number =>
    Array.from({ length: tries }, () => budget.mayRepeat()).filter(Boolean).length;

  it('grants at most a tenth of the calls and ten a second, beyond the twenty it starts with', () => {
    const step = fc.record({ waitMs: fc.nat({ max: 3000 }), calls: fc.nat({ max: 200 }), tries: fc.nat({ max: 100 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const clock = new HandClock();
        const startMs = clock.nowMs();
        const budget = new RetryBudget(clock);
        let calls = 0;
        let repeats = 0;
        for (const step of steps) {
          clock.advance(step.waitMs);
          for (let i = 0; i < step.calls; i++) budget.called();
          calls += step.calls;
          repeats += granted(budget, step.tries);
          const most = 20 + 0.1 * calls + (10 * (clock.nowMs() - startMs)) / 1000;
          if (repeats > most + 1e-6) return false;
        }
        return true;
      }),
    );
  });

  it('grants ten a second whatever the load, even to those who have used up all else', () => {
    const clock = new HandClock();
    const budget = new RetryBudget(clock);
    granted(budget, 1000);
    expect(budget.mayRepeat()).toBe(false);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      expect(granted(budget, 100)).toBe(10);
    }
  });

  it('grants one repeat for ten calls', () => {
    const budget = new RetryBudget(new HandClock());
    granted(budget, 1000);
    for (let i = 0; i < 500; i++) budget.called();
    expect(granted(budget, 1000)).toBeGreaterThanOrEqual(49);
  });

  it('saves up no more than a hundred and ten, however long nothing failed', () => {
    const clock = new HandClock();
    const budget = new RetryBudget(clock);
    for (let i = 0; i < 100_000; i++) budget.called();
    clock.advance(86_400_000);
    expect(granted(budget, 1000)).toBe(110);
  });
});

describe('cloudFormationTemplate', () => {
  interface Resource {
    readonly Type: string;
    readonly DeletionPolicy?: string;
    readonly Properties: Record<string, never>;
  }
  interface Statement {
    readonly Effect: string;
    readonly Action: string[];
    readonly Resource: Record<string, unknown>[];
  }
  interface TableProperties {
    readonly TableName: { 'Fn::Sub': string };
    readonly AttributeDefinitions: { AttributeName: string }[];
    readonly KeySchema: { AttributeName: string }[];
    readonly GlobalSecondaryIndexes?: {
      KeySchema: { AttributeName: string }[];
      Projection: { ProjectionType: string };
    }[];
    readonly TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean };
    readonly PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean };
    readonly DeletionProtectionEnabled: boolean;
    readonly BillingMode: string;
  }
  const template = cloudFormationTemplate('prefix_') as {
    Resources: Record<string, Resource>;
    Parameters: { TablePrefix: { Default: string } };
  };
  const ofType = (type: string) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
  const tables = ofType('AWS::DynamoDB::Table').map(([id, { Properties }]) => ({
    id,
    ...(Properties as unknown as TableProperties),
  }));
  const statements = (policy: string): Statement[] =>
    (template.Resources[policy]!.Properties as unknown as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument
      .Statement;
  const writableTables = (policy: string): string[] =>
    statements(policy)
      .filter(({ Action }) => Action.some((action) => /:(Put|Update|Delete|BatchWrite)Item$/.test(action)))
      .flatMap(({ Resource }) =>
        Resource.flatMap((resource) =>
          'Fn::GetAtt' in resource ? [(resource['Fn::GetAtt'] as string[])[0] as string] : [],
        ),
      );

  const designed = {
    config: undefined,
    sticky_state: 'expires_at_epoch',
    usage_agg_sharded: 'expires_at_epoch',
    daily_total: 'expires_at_epoch',
    pricing_cache: 'expires_at_epoch',
    revoked_tokens: 'expires_at_epoch',
    refresh_tokens: 'expires_at_epoch',
    secret_retrieval_tokens: 'expires_at_epoch',
    cost_requests: 'expires_at_epoch',
    alerts: 'expires_at_epoch',
    limiter: 'ttl',
    devices: undefined,
    device_readings: 'expiration_time',
    processed_batches: 'expiration_time',
    api_keys: undefined,
  };

  it('has every table of the design under the prefix, each with its expiry', () => {
    const found = Object.fromEntries(
      tables.map(({ TableName, TimeToLiveSpecification }) => [TableName['Fn::Sub'], TimeToLiveSpecification]),
    );
    const expected = Object.entries(designed).map(([name, ttl]) => [
      `\${TablePrefix}${name}`,
      ttl && { AttributeName: ttl, Enabled: true },
    ]);
    expect(found).toEqual(Object.fromEntries(expected));
    expect(template.Parameters.TablePrefix.Default).toBe('prefix_');
    expect([...tableNames].sort()).toEqual(Object.keys(designed).sort());
  });

  it('protects every table: recovery to a point in time, deletion protection, kept when the stack goes, on demand', () => {
    for (const table of tables) {
      expect(table).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
        BillingMode: 'PAY_PER_REQUEST',
      });
      expect(template.Resources[table.id]).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('defines exactly the attributes that keys and indexes use, and projects keys only', () => {
    for (const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } of tables) {
      const used = [...KeySchema, ...GlobalSecondaryIndexes.flatMap((index) => index.KeySchema)].map(
        ({ AttributeName }) => AttributeName,
      );
      expect(AttributeDefinitions.map(({ AttributeName }) => AttributeName).sort()).toEqual([...new Set(used)].sort());
      for (const { Projection } of GlobalSecondaryIndexes) expect(Projection.ProjectionType).toBe('KEYS_ONLY');
    }
    for (const table of tableNames)
      expect(new Set(keyAttributes(definitionOf(table))).size).toBe(keyAttributes(definitionOf(table)).length);
  });

  it('lets the worker write fewer tables than the gateway, and none that hold credentials', () => {
    const gateway = writableTables('GatewayPolicy');
    const worker = writableTables('WorkerPolicy');
    expect(gateway.sort()).toEqual(tables.map(({ id }) => id).sort());
    expect(worker.length).toBeLessThan(gateway.length);
    expect(gateway).toEqual(expect.arrayContaining(worker));
    for (const table of [
      'ConfigTable',
      'RevokedTokensTable',
      'RefreshTokensTable',
      'SecretRetrievalTokensTable',
      'ApiKeysTable',
      'CostRequestsTable',
    ]) {
      expect(worker).not.toContain(table);
    }
  });

  it('names every resource and every action: no policy has a star but for the indexes of a named table', () => {
    for (const [name] of ofType('AWS::IAM::ManagedPolicy')) {
      for (const { Effect, Action, Resource } of statements(name)) {
        expect(Effect).toBe('Allow');
        for (const action of Action) expect(action).toMatch(/^dynamodb:[A-Za-z]+$/);
        for (const resource of Resource) {
          const id =
            'Fn::GetAtt' in resource
              ? (resource['Fn::GetAtt'] as string[])[0]
              : /^\$\{(\w+)\.Arn\}\/index\/\*$/.exec(String(resource['Fn::Sub']))?.[1];
          expect(tables.map((table) => table.id)).toContain(id);
        }
      }
    }
    expect(ofType('AWS::IAM::ManagedPolicy').map(([name]) => name)).toEqual([
      'GatewayPolicy',
      'WorkerPolicy',
      'TablesPolicy',
    ]);
  });

  it('grants gateway and worker no scan and nothing that changes a table', () => {
    const actions = ['GatewayPolicy', 'WorkerPolicy'].flatMap(statements).flatMap(({ Action }) => Action);
    expect(actions.filter((action) => /Scan|CreateTable|UpdateTable|DeleteTable|TimeToLive/.test(action))).toEqual([]);
  });
});
