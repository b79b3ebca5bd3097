import { randomUUID } from 'node:crypto';
import type { StoreClient } from '../../src/dynamo/client.js';
import { absent, equals, present } from '../../src/dynamo/expression.js';
import { sleep } from '../../src/lib/timers.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { patience } from '../support/patience.js';
import { failureOf, newKey, type StoreBench, startStoreBench } from './harness.js';

const table = 'daily_total';

let bench: StoreBench;
let proxy: FaultProxy;
let truth: StoreClient;
let store: StoreClient;
const sent = (operation: string) => bench.sent(operation);

beforeAll(async () => {
  bench = await startStoreBench();
  ({ proxy, truth } = bench);
});
// A new client per test, so that no test inherits a used-up retry budget.
beforeEach(() => {
  proxy.clear();
  store = bench.client();
});
afterEach(() => store.close());
afterAll(() => bench.stop());

describe('a read', () => {
  it.each<Fault>(['throttle', 'error-before', 'error-after', 'drop-reply', 'refuse'])(
    'succeeds after %s twice in a row',
    async (fault) => {
      const key = newKey();
      await truth.write({ table, put: { ...key, colour: 'red' } });
      const faults = ['GetItem', 'BatchGetItem', 'Query', 'Scan'].map((operation) =>
        proxy.inject({ operation, fault, nth: { first: 2 } }),
      );
      expect(await store.get(table, key)).toEqual({ ...key, colour: 'red' });
      expect(await store.getMany(table, [key])).toEqual([{ ...key, colour: 'red' }]);
      expect((await store.query({ table, where: equals('PK', key.PK) })).items).toEqual([{ ...key, colour: 'red' }]);
      expect((await store.scan(table)).items).toContainEqual({ ...key, colour: 'red' });
      expect(faults.map(({ hits }) => hits)).toEqual([2, 2, 2, 2]);
    },
  );

  it('returns undefined for an absent item', async () => {
    expect(await store.get(table, newKey())).toBeUndefined();
  });

  it('waits for a response that arrives within one second', async () => {
    const key = newKey();
    await truth.write({ table, put: key });
    proxy.inject({ operation: 'GetItem', fault: 'slow', ms: 300 });
    expect(await store.get(table, key)).toEqual(key);
    expect(sent('GetItem')).toHaveLength(1);
  });

  it('is strongly consistent if requested, even if a replica lags', async () => {
    const key = newKey();
    await truth.write({ table, put: { ...key, colour: 'red' } });
    expect(await store.get(table, key)).toMatchObject({ colour: 'red' });
    await truth.write({ table, put: { ...key, colour: 'blue' } });
    proxy.inject({ fault: 'stale-read' });
    expect(await store.get(table, key)).toMatchObject({ colour: 'red' });
    expect(await store.get(table, key, { consistent: true })).toMatchObject({ colour: 'blue' });
    expect(await store.getMany(table, [key], { consistent: true })).toEqual([{ ...key, colour: 'blue' }]);
  });
});

describe('an index query', () => {
  it('skips index entries of deleted items without making a page shorter', async () => {
    const gsi1pk = `TEST#${randomUUID()}`;
    const items = ['a', 'b', 'c', 'd', 'e'].map((gsi1sk) => ({ ...newKey(), gsi1pk, gsi1sk }));
    for (const put of items) await truth.write({ table: 'alerts', put });
    const names = async (limit: number) => {
      const found = await store.queryIndexed({
        table: 'alerts',
        index: 'gsi1',
        where: equals('gsi1pk', gsi1pk),
        limit,
      });
      expect(found.map(({ entry }) => entry.PK)).toEqual(found.map(({ item }) => item.PK));
      return found.map(({ item }) => item.gsi1sk).join('');
    };
    expect([await names(3), await names(5), await names(9)]).toEqual(['abc', 'abcde', 'abcde']);
    for (const { PK, SK } of items.slice(1, 3)) await truth.write({ table: 'alerts', delete: { PK, SK } });
    proxy.inject({ fault: 'stale-read', operation: 'Query' });
    expect([await names(3), await names(5), await names(9)]).toEqual(['ade', 'ade', 'ade']);
    proxy.clear();
    expect(await names(2)).toBe('ad');
    expect(sent('Query')).toHaveLength(1);
  });
});

describe('a batch', () => {
  const items = (PK: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ PK, SK: String(i).padStart(4, '0'), i }));

  it('returns duplicate, absent and more than 100 keys in the order of the keys', async () => {
    const { PK } = newKey();
    const all = items(PK, 130);
    await store.writeMany(
      table,
      all.map((put) => ({ put })),
    );
    const order = [129, 0, 0, 64, 500, 129, ...all.map(({ i }) => 129 - i)];
    const found = await store.getMany(
      table,
      order.map((i) => ({ PK, SK: String(i).padStart(4, '0') })),
    );
    expect(found.map((item) => item?.i)).toEqual(order.map((i) => (i === 500 ? undefined : i)));
    expect(sent('BatchGetItem')).toHaveLength(2);
    expect(await store.getMany(table, [])).toEqual([]);
  });

  it('treats keys as equal in any order of their attributes', async () => {
    const { PK, SK } = newKey();
    await truth.write({ table, put: { PK, SK, i: 1 } });
    const found = await store.getMany(table, [
      { SK, PK },
      { PK, SK },
    ]);
    expect(found.map((item) => item?.i)).toEqual([1, 1]);
  });

  it('reads until no key is unprocessed', async () => {
    const { PK } = newKey();
    await truth.writeMany(
      table,
      items(PK, 120).map((put) => ({ put })),
    );
    const partial = proxy.inject({ operation: 'BatchGetItem', fault: 'partial-batch', nth: { first: 6 } });
    const found = await store.getMany(
      table,
      items(PK, 120).map(({ SK }) => ({ PK, SK })),
    );
    expect(found.map((item) => item?.i)).toEqual(items(PK, 120).map(({ i }) => i));
    expect(partial.hits).toBe(6);
  });

  it('reads unprocessed keys with the same consistency', async () => {
    const { PK } = newKey();
    proxy.inject({ operation: 'BatchGetItem', fault: 'partial-batch', nth: { first: 2 } });
    await store.getMany(
      table,
      items(PK, 10).map(({ SK }) => ({ PK, SK })),
      { consistent: true },
    );
    const requests = sent('BatchGetItem').flatMap(({ body }) =>
      Object.values(body.RequestItems as Record<string, { ConsistentRead: boolean }>),
    );
    expect(requests.map(({ ConsistentRead }) => ConsistentRead)).toEqual([true, true, true]);
  });

  it('writes until no item is unprocessed, despite throttling and lost responses', async () => {
    const { PK } = newKey();
    await truth.writeMany(
      table,
      items(PK, 30).map((put) => ({ put })),
    );
    const faults = (
      ['throttle', 'drop-reply', 'partial-batch', 'error-after', 'partial-batch', 'error-before'] as const
    ).map((fault, i) => proxy.inject({ operation: 'BatchWriteItem', fault, nth: i + 1 }));
    await store.writeMany(table, [
      ...items(PK, 30).map(({ SK }) => ({ delete: { PK, SK } })),
      ...Array.from({ length: 30 }, (_, i) => ({ put: { PK, SK: `new ${i}` } })),
    ]);
    expect(faults.map(({ hits }) => hits)).toEqual([1, 1, 1, 1, 1, 1]);
    const { items: left } = await truth.query({ table, where: equals('PK', PK), consistent: true });
    expect(left.map(({ SK }) => SK).sort()).toEqual(Array.from({ length: 30 }, (_, i) => `new ${i}`).sort());
  });

  it('throws if a key or item stays unprocessed until the deadline', async () => {
    const { PK } = newKey();
    await truth.writeMany(
      table,
      items(PK, 8).map((put) => ({ put })),
    );
    proxy.inject({ fault: 'partial-batch' });
    const [read, written] = await Promise.all([
      failureOf(
        store.getMany(
          table,
          items(PK, 8).map(({ SK }) => ({ PK, SK })),
        ),
      ),
      failureOf(
        store.writeMany(
          table,
          items(PK, 8).map((put) => ({ put: { ...put, i: -1 } })),
        ),
      ),
    ]);
    for (const { error, ms } of [read, written]) {
      expect(error.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(ms).toBeLessThan(patience * 8000);
    }
    expect(written.error.applied).toBe('unknown');
  });
});

describe('a call without a response', () => {
  it('fails within the deadline with a retryable error', async () => {
    proxy.inject({ fault: 'no-reply' });
    const [key, counter] = [newKey(), newKey()];
    const failures = await Promise.all(
      [
        store.get(table, key),
        store.getMany(table, [key]),
        store.query({ table, where: equals('PK', key.PK) }),
        store.transact('judged', [{ table, update: counter, add: { count: 1 }, condition: absent('count') }]),
        store.write({ table, put: key }, { repeat: 'idempotent' }),
        store.write({ table, put: key, condition: absent('PK') }),
      ].map(failureOf),
    );
    for (const { error, ms } of failures) {
      expect(error.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(ms).toBeLessThan(patience * 8000);
    }
    expect(failures.slice(3).map(({ error }) => error.applied)).toEqual(['unknown', 'unknown', 'unknown']);
    // The put that is not idempotent was sent once, the other one until the deadline.
    const puts = sent('PutItem').map(({ body }) => 'ConditionExpression' in body);
    expect(puts.filter((isConditional) => isConditional)).toHaveLength(1);
    expect(puts.length).toBeGreaterThan(2);
  });

  it('reports that nothing was changed if every attempt was throttled', async () => {
    proxy.inject({ fault: 'throttle' });
    const { error, ms } = await failureOf(store.write({ table, put: newKey(), condition: absent('PK') }));
    expect(error).toMatchObject({ applied: 'no', message: expect.stringContaining('nothing was changed') });
    expect(ms).toBeLessThan(patience * 8000);
  });

  it('retries any write while the connection is refused, because nothing was applied', async () => {
    const { port, endpoint, stop } = await startFaultProxy(bench.config.store.endpoint as string);
    await stop();
    const client = bench.client(endpoint);
    const key = newKey();
    const back = sleep(300).then(() => startFaultProxy(bench.config.store.endpoint as string, port));
    try {
      expect(await client.write({ table, update: key, add: { count: 1 }, condition: absent('count') })).toEqual({
        done: true,
      });
      expect(await truth.get(table, key, { consistent: true })).toMatchObject({ count: 1 });
    } finally {
      client.close();
      await (await back).stop();
    }
    const late = bench.client(endpoint);
    expect((await failureOf(late.write({ table, put: newKey(), condition: absent('PK') }))).error.applied).toBe('no');
    late.close();
  });

  it('is retried within a budget of the whole process', async () => {
    proxy.inject({ fault: 'throttle' });
    const startedMs = performance.now();
    const failed = await Promise.all(Array.from({ length: 100 }, () => failureOf(store.get(table, newKey()))));
    expect(failed.every(({ error }) => error.code === 'SERVICE_UNAVAILABLE')).toBe(true);
    // One retry per ten calls, a reserve of twenty, and ten per second.
    const seconds = (performance.now() - startedMs) / 1000;
    expect(sent('GetItem').length).toBeLessThanOrEqual(100 + 10 + 20 + Math.ceil(10 * seconds));
  });

  it('says nothing about changes if it is a read', async () => {
    for (const fault of ['throttle', 'error-before'] as const) {
      proxy.clear();
      proxy.inject({ fault });
      const failed = await Promise.all(Array.from({ length: 50 }, () => failureOf(store.get(table, newKey()))));
      for (const { error } of failed) expect(error.message).not.toMatch(/chang/);
    }
  });
});

describe('consumed capacity', () => {
  it('is the sum over all calls of one operation and no other', async () => {
    const [key, there, other] = [newKey(), newKey(), newKey()];
    await truth.write({ table, put: there });
    const [mine, others] = [
      { read: 0, write: 0, calls: 0 },
      { read: 0, write: 0, calls: 0 },
    ];
    await Promise.all([
      store.metered(mine, async () => {
        await store.write({ table, put: key, condition: absent('PK') }); // 1 written
        await store.get(table, key); // 0.5 read
        await store.get(table, key, { consistent: true }); // 1 read
        await store.getMany(table, [key, there]); // 1 read
        await store.query({ table, where: equals('PK', key.PK) }); // 0.5 read
        await store.transact('judged', [
          { table, put: key, condition: present('PK') },
          { table, put: newKey() },
        ]); // 2 written per item, two items
        await store.writeMany(table, [{ put: key }, { put: newKey() }]); // 2 written
      }),
      store.metered(others, () => store.write({ table, put: other })),
    ]);
    expect(mine).toEqual({ read: 3, write: 7, calls: 7 });
    expect(others).toEqual({ read: 0, write: 1, calls: 1 });
    expect(store.consumed).toEqual({ read: 3, write: 8, calls: 8 });
  });

  it('counts failed calls, and the units of all parts of a batch', async () => {
    const [key, there] = [newKey(), newKey()];
    for (const put of [key, there]) await truth.write({ table, put });
    proxy.inject({ operation: 'BatchGetItem', fault: 'partial-batch', nth: 1 });
    proxy.inject({ operation: 'GetItem', fault: 'throttle', nth: 1 });
    const units = { read: 0, write: 0, calls: 0 };
    await store.metered(units, async () => {
      await store.getMany(table, [key, there], { consistent: true });
      await store.get(table, key, { consistent: true });
    });
    expect(units).toEqual({ read: 3, write: 0, calls: 4 });
  });
});

describe('a number', () => {
  it.each([
    9_007_199_254_740_991,
    -9_007_199_254_740_991,
    9_007_199_254_740_993n,
    -9_007_199_254_740_993n,
    2n ** 64n,
    10n ** 20n,
    10n ** 37n,
    12_345_678_901_234_567_890_123_456_789_012_345_678n,
    0,
    0.1,
    -1.5e-7,
  ])('is stored exactly: %s', async (value) => {
    const key = newKey();
    await store.write({ table, put: { ...key, value, nested: { list: [value] } } });
    const stored = { ...key, value, nested: { list: [value] } };
    expect(await store.get(table, key)).toEqual(stored);
    expect(await store.getMany(table, [key])).toEqual([stored]);
    expect((await store.query({ table, where: equals('PK', key.PK) })).items).toEqual([stored]);
    expect(await store.write({ table, put: key, condition: absent('PK') })).toEqual({ done: false, old: stored });
    expect(await store.transact('judged', [{ table, put: key, condition: absent('PK') }])).toEqual({
      done: false,
      reasons: [{ kind: 'condition', old: stored }],
      riderReasons: [],
    });
    const { item } = (await store.write(
      { table, update: key, set: { touched: true }, condition: present('PK') },
      { returnNew: 'all' },
    )) as { item: unknown };
    expect(item).toEqual({ ...stored, touched: true });
  });

  it('is incremented exactly past 2^53', async () => {
    const key = newKey();
    await store.write({ table, put: { ...key, sum: 9_007_199_254_740_993n } });
    const added = await store.write(
      { table, update: key, add: { sum: 2n }, condition: equals('sum', 9_007_199_254_740_993n) },
      { returnNew: 'all' },
    );
    expect(added).toEqual({ done: true, item: { ...key, sum: 9_007_199_254_740_995n } });
  });
});
