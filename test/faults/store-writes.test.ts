import { randomUUID } from 'node:crypto';
import type { StoreClient, TransactOutcome, TransactRepeat } from '../../src/dynamo/client.js';
import { absent, equals, present } from '../../src/dynamo/expression.js';
import { StoreUnavailable } from '../../src/dynamo/faults.js';
import { sleep } from '../../src/lib/timers.js';
import type { Fault, FaultProxy } from '../support/fault-proxy.js';
import { failureOf, newKey, type StoreBench, startStoreBench } from './harness.js';

const table = 'daily_total';
const marks = 'cost_requests';

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

/** Adds 1 to `counter` in a transaction with a mark, which can be put only once and has a nonce of this call. */
function countOnce(counter: ReturnType<typeof newKey>, markId = randomUUID()): Promise<TransactOutcome> {
  const nonce = randomUUID();
  const isOwn: TransactRepeat = ([, mark]) => mark?.kind === 'condition' && mark.old?.nonce === nonce;
  return store.transact(isOwn, [
    { table, update: counter, add: { count: 1 } },
    { table: marks, put: { PK: markId, nonce }, condition: absent('PK') },
  ]);
}

describe('a transaction', () => {
  it.each([1, 2, 3])(
    'is applied once and reported as done if its response is lost %i times in a row',
    async (times) => {
      for (const fault of ['drop-reply', 'error-after'] as const) {
        proxy.clear();
        const counter = newKey();
        const lost = proxy.inject({ operation: 'TransactWriteItems', fault, nth: { first: times } });
        expect(await countOnce(counter)).toEqual({ done: true });
        expect(lost.hits).toBe(times);
        expect(await truth.get(table, counter, { consistent: true })).toEqual({ ...counter, count: 1 });
      }
    },
  );

  it('is retried and applied once if its response never arrives', async () => {
    const counter = newKey();
    proxy.inject({ operation: 'TransactWriteItems', fault: 'no-reply-after', nth: 1 });
    expect(await countOnce(counter)).toEqual({ done: true });
    expect(await truth.get(table, counter, { consistent: true })).toMatchObject({ count: 1 });
  });

  it('is applied once if the first attempt arrives after the retry', async () => {
    const counter = newKey();
    proxy.inject({ operation: 'TransactWriteItems', fault: 'slow', ms: 1500, nth: 1 });
    expect(await countOnce(counter)).toEqual({ done: true });
    await sleep(1000);
    expect(await truth.get(table, counter, { consistent: true })).toMatchObject({ count: 1 });
  });

  it.each<Fault>(['drop-reply', 'error-after'])(
    'with a fresh put is done after %s, even if another writer has changed every other item since',
    async (fault) => {
      const [counter, mark] = [newKey(), { PK: randomUUID() }];
      await truth.write({ table, put: { ...counter, version: 1 } });
      const lost = proxy.inject({ operation: 'TransactWriteItems', fault, nth: 1 });
      const held = proxy.inject({ operation: 'TransactWriteItems', fault: 'hold', nth: 2 });
      const outcome = store.transact('fresh', [
        { table, update: counter, set: { version: 2 }, add: { count: 1 }, condition: equals('version', 1) },
        { table: marks, put: mark, condition: absent('PK'), fresh: true },
      ]);
      while (held.hits === 0) await sleep(1);
      // The first version is restored, so that only the fresh put keeps the retry from counting twice.
      await truth.write({ table, update: counter, set: { version: 1 } });
      held.remove();
      expect(await outcome).toEqual({ done: true });
      expect(lost.hits).toBe(1);
      expect(await truth.get(table, counter, { consistent: true })).toEqual({ ...counter, version: 1, count: 1 });
    },
  );

  it('in the mode `judged` returns the failed conditions if it is retried after its own success', async () => {
    const [counter, mark] = [newKey(), { PK: randomUUID(), nonce: randomUUID() }];
    proxy.inject({ operation: 'TransactWriteItems', fault: 'drop-reply', nth: 1 });
    const outcome = await store.transact('judged', [
      { table, update: counter, add: { count: 1 } },
      { table: marks, put: mark, condition: absent('PK') },
    ]);
    expect(outcome).toEqual({
      done: false,
      reasons: [{ kind: 'none' }, { kind: 'condition', old: mark }],
      riderReasons: [],
    });
    expect(await truth.get(table, counter, { consistent: true })).toMatchObject({ count: 1 });
  });

  it.each<Fault>(['drop-reply', 'error-after', 'no-reply-after'])(
    'that must not be retried is sent once, and its outcome is unknown after %s',
    async (fault) => {
      const counter = newKey();
      proxy.inject({ operation: 'TransactWriteItems', fault });
      const { error } = await failureOf(
        store.transact('never', [{ table, update: counter, add: { count: 1 }, condition: absent('done') }]),
      );
      expect(error.applied).toBe('unknown');
      expect(sent('TransactWriteItems')).toHaveLength(1);
      expect(await truth.get(table, counter, { consistent: true })).toMatchObject({ count: 1 });
    },
  );

  it('without a fresh put with a condition cannot use the mode `fresh`', async () => {
    const put = { table, put: newKey(), condition: absent('PK') } as const;
    await expect(store.transact('fresh', [put])).rejects.toThrow(/fresh put/);
    await expect(store.transact('fresh', [put, { table, put: newKey(), fresh: true }])).rejects.toThrow(/fresh put/);
    expect(proxy.calls).toEqual([]);
  });

  it('is retried after conflicts without using the retry budget', async () => {
    const counters = Array.from({ length: 12 }, newKey);
    const conflicts = proxy.inject({ operation: 'TransactWriteItems', fault: 'conflict', nth: { first: 48 } });
    expect(await Promise.all(counters.map((counter) => countOnce(counter)))).toEqual(
      counters.map(() => ({ done: true })),
    );
    expect(conflicts.hits).toBe(48);
    expect((await truth.getMany(table, counters, { consistent: true })).map((item) => item?.count)).toEqual(
      counters.map(() => 1),
    );
    // The budget is unused: it still allows ten retries at once.
    proxy.inject({ operation: 'GetItem', fault: 'throttle', nth: { first: 10 } });
    await Promise.all(counters.map((counter) => store.get(table, counter)));
  });

  it('returns the failed conditions with the decoded items', async () => {
    const [first, second, nobody] = [newKey(), newKey(), newKey()];
    const old = {
      ...second,
      text: 'ü',
      exact: 9_007_199_254_740_993n,
      yes: true,
      nothing: null,
      list: [1, 'two', { three: 3n ** 40n }],
      map: { a: { b: -1 } },
    };
    await truth.write({ table, put: first });
    await truth.write({ table, put: old });
    const outcome = await store.transact('judged', [
      { table, check: first, condition: present('PK') },
      { table, put: { ...second, text: 'new' }, condition: absent('PK') },
      { table, update: nobody, set: { a: 1 }, condition: present('PK') },
      { table, put: newKey() },
    ]);
    expect(outcome).toEqual({
      done: false,
      reasons: [{ kind: 'none' }, { kind: 'condition', old }, { kind: 'condition' }, { kind: 'none' }],
      riderReasons: [],
    });
    expect(sent('TransactWriteItems')).toHaveLength(1);
  });

  it('returns its failed condition even if that response was lost first', async () => {
    const [counter, markId] = [newKey(), randomUUID()];
    await truth.write({ table: marks, put: { PK: markId, by: 'another' } });
    proxy.inject({ operation: 'TransactWriteItems', fault: 'drop-reply', nth: 1 });
    expect(await countOnce(counter, markId)).toEqual({
      done: false,
      reasons: [{ kind: 'none' }, { kind: 'condition', old: { PK: markId, by: 'another' } }],
      riderReasons: [],
    });
    expect(await truth.get(table, counter, { consistent: true })).toBeUndefined();
  });

  it('without any condition is rejected before it is sent', async () => {
    await expect(store.transact('judged', [{ table, update: newKey(), add: { count: 1 } }])).rejects.toThrow(
      /condition/,
    );
    await expect(
      store.transact('judged', [
        { table, put: newKey() },
        { table, delete: newKey() },
      ]),
    ).rejects.toThrow(/condition/);
    expect(proxy.calls).toEqual([]);
  });
});

describe('a single write', () => {
  it.each<Fault>(['drop-reply', 'error-after', 'no-reply-after'])(
    'that must not be retried is sent once, and its outcome is unknown after %s',
    async (fault) => {
      const key = newKey();
      proxy.inject({ operation: 'PutItem', fault });
      const { error } = await failureOf(store.write({ table, put: { ...key, a: 1 }, condition: absent('PK') }));
      expect(error).toMatchObject({ applied: 'unknown', code: 'SERVICE_UNAVAILABLE', extensions: { retryable: true } });
      expect(error.cause).toBeInstanceOf(Error);
      expect(sent('PutItem')).toHaveLength(1);
      expect(await truth.get(table, key, { consistent: true })).toMatchObject({ a: 1 });
    },
  );

  it.each<Fault>(['throttle', 'conflict'])('is always retried after %s, because it was not applied', async (fault) => {
    const key = newKey();
    for (const operation of ['PutItem', 'UpdateItem', 'DeleteItem'])
      proxy.inject({ operation, fault, nth: { first: 3 } });
    expect(await store.write({ table, put: { ...key, count: 1 }, condition: absent('PK') })).toEqual({ done: true });
    const update = { table, update: key, add: { count: 1 }, condition: equals('count', 1) } as const;
    expect(await store.write(update, { returnNew: 'all' })).toEqual({ done: true, item: { ...key, count: 2 } });
    expect(await store.write({ table, delete: key, condition: equals('count', 2) })).toEqual({ done: true });
    expect(['PutItem', 'UpdateItem', 'DeleteItem'].map((operation) => sent(operation).length)).toEqual([4, 4, 4]);
  });

  it.each<Fault>(['drop-reply', 'error-after'])(
    'recognises its own success after %s, and not that of another writer',
    async (fault) => {
      const key = newKey();
      const claim = (by: string) =>
        store.write(
          { table, update: key, set: { by }, add: { count: 1 }, condition: absent('by') },
          { repeat: (old) => old.by === by },
        );
      proxy.inject({ operation: 'UpdateItem', fault, nth: { first: 2 } });
      expect(await claim('me')).toEqual({ done: true, item: { ...key, by: 'me', count: 1 } });
      expect(sent('UpdateItem')).toHaveLength(3);
      proxy.inject({ operation: 'UpdateItem', fault, nth: 1 });
      expect(await claim('another')).toEqual({ done: false, old: { ...key, by: 'me', count: 1 } });
      expect(await truth.get(table, key, { consistent: true })).toMatchObject({ by: 'me', count: 1 });
    },
  );

  it('that recognises its own success is retried if the request is lost', async () => {
    const key = newKey();
    proxy.inject({ operation: 'PutItem', fault: 'error-before', nth: { first: 2 } });
    const outcome = await store.write(
      { table, put: { ...key, by: 'me' }, condition: absent('PK') },
      { repeat: (old) => old.by === 'me' },
    );
    expect(outcome).toEqual({ done: true });
  });

  it('that is idempotent is retried after lost responses', async () => {
    const key = newKey();
    proxy.inject({ operation: 'PutItem', fault: 'drop-reply', nth: { first: 3 } });
    expect(await store.write({ table, put: { ...key, a: 1 } }, { repeat: 'idempotent' })).toEqual({ done: true });
    expect(await truth.get(table, key, { consistent: true })).toEqual({ ...key, a: 1 });
  });

  it('returns the item that failed its condition, if there is one', async () => {
    const key = newKey();
    await truth.write({ table, put: { ...key, nested: { list: [1, 2n ** 64n] } } });
    const put = { table, put: key, condition: absent('PK') } as const;
    expect(await store.write(put)).toEqual({ done: false, old: { ...key, nested: { list: [1, 2n ** 64n] } } });
    expect(await store.write({ table, delete: newKey(), condition: present('PK') })).toEqual({ done: false });
  });

  it('with an ADD and no condition is rejected before it is sent', async () => {
    await expect(store.write({ table, update: newKey(), add: { count: 1 } })).rejects.toThrow(
      /ADD without a condition/,
    );
    await expect(store.write({ table, update: newKey(), add: { count: 1 } }, { repeat: 'idempotent' })).rejects.toThrow(
      /ADD without a condition/,
    );
    expect(proxy.calls).toEqual([]);
  });

  it('that is malformed is neither retried nor reported as an outage', async () => {
    await expect(store.write({ table, put: { PK: 'no sort key' } })).rejects.not.toBeInstanceOf(StoreUnavailable);
    expect(sent('PutItem')).toHaveLength(1);
  });
});
