// Independent writes that share calls: `StoreClient.writeEach`.
import type { Item, Key, StoreClient } from '../../src/dynamo/client.js';
import { and, atMost, between, equals, or, present } from '../../src/dynamo/expression.js';
import { StoreUnavailable } from '../../src/dynamo/faults.js';
import type { EachWrite } from '../../src/dynamo/statement.js';
import type { Fault, FaultProxy } from '../support/fault-proxy.js';
import { newKey, type StoreBench, startStoreBench } from './harness.js';

const table = 'daily_total';
const batch = 'BatchExecuteStatement';
let bench: StoreBench;
let proxy: FaultProxy;
let truth: StoreClient;
let store: StoreClient;

beforeAll(async () => {
  bench = await startStoreBench();
  ({ proxy, truth } = bench);
});
beforeEach(() => {
  proxy.clear();
  store = bench.client();
});
afterEach(() => store.close());
afterAll(() => bench.stop());

const itemAt = (key: Key) => truth.get(table, key, { consistent: true });
const insertOf = (key: Key, rest: Item = {}): EachWrite => ({ table, insert: { ...key, ...rest } });
const countUp = (key: Key, seen: number): EachWrite => ({
  table,
  update: key,
  add: { cn: 1 },
  condition: equals('cn', seen),
  returnNew: 'all',
});
const kindsOf = (outcomes: readonly { readonly kind: string }[]) => outcomes.map(({ kind }) => kind);

async function newCounters(number: number): Promise<Key[]> {
  const keys = Array.from({ length: number }, newKey);
  await truth.writeMany(
    table,
    keys.map((key) => ({ put: { ...key, cn: 0 } })),
  );
  return keys;
}

it('inserts each item once and reports those that exist', async () => {
  const [first, second] = [newKey(), newKey()];
  const big = 2n ** 70n;
  expect(await store.writeEach([insertOf(first, { a: 'x', big }), insertOf(second)])).toEqual([
    { kind: 'done' },
    { kind: 'done' },
  ]);
  const third = newKey();
  expect(kindsOf(await store.writeEach([insertOf(first, { a: 'y' }), insertOf(third)]))).toEqual(['condition', 'done']);
  expect(await itemAt(first)).toEqual({ ...first, a: 'x', big });
  expect(bench.sent(batch)).toHaveLength(2);
});

it('updates each item on its own condition and returns the new item, all of it or the changes', async () => {
  const [first, second, third] = (await newCounters(3)) as [Key, Key, Key];
  const changed = { ...(countUp(third, 0) as object), returnNew: 'changed' } as EachWrite;
  const outcomes = await store.writeEach([countUp(first, 0), countUp(second, 7), changed]);
  expect(outcomes).toEqual([
    { kind: 'done', item: { ...first, cn: 1 } },
    expect.objectContaining({ kind: 'condition' }),
    { kind: 'done', item: { cn: 1 } },
  ]);
  expect(await itemAt(second)).toEqual({ ...second, cn: 0 });
});

it.each([
  ['holds', 5, 'done'],
  ['fails', 11, 'condition'],
])('judges a condition with alternatives that %s as a single write does', async (_, count, kind) => {
  const keys = await newCounters(2);
  const condition = and(present('cn'), or(equals('cn', 99), between('cn', 0, 10)), atMost('cn', 10));
  for (const key of keys) await truth.write({ table, update: key, set: { cn: count } });
  const updates = keys.map((update): EachWrite => ({ table, update, set: { a: 1 }, remove: ['b'], condition }));
  expect(kindsOf(await store.writeEach(updates))).toEqual([kind, kind]);
  expect(kindsOf(await store.writeEach(updates.slice(0, 1)))).toEqual([kind]);
});

it('does not create an item by an update', async () => {
  const [known] = (await newCounters(1)) as [Key];
  const missing = newKey();
  const update: EachWrite = { table, update: missing, set: { a: 1 }, condition: equals('PK', missing.PK) };
  expect(await store.writeEach([update, countUp(known, 0)])).toMatchObject([{ kind: 'condition' }, { kind: 'done' }]);
  expect(await itemAt(missing)).toBeUndefined();
});

it('sends 25 statements per call, and a single write as a plain call', async () => {
  const keys = await newCounters(26);
  expect(kindsOf(await store.writeEach(keys.map((key) => countUp(key, 0))))).toEqual(keys.map(() => 'done'));
  expect(bench.sent(batch).map(({ body }) => (body.Statements as unknown[]).length)).toEqual([25, 1]);
  proxy.clear();
  expect(await store.writeEach([countUp(keys[0] as Key, 1)])).toEqual([{ kind: 'done', item: { ...keys[0], cn: 2 } }]);
  expect(await store.writeEach([insertOf(keys[0] as Key)])).toMatchObject([{ kind: 'condition', old: { cn: 2 } }]);
  expect(proxy.calls.map(({ operation }) => operation)).toEqual(['UpdateItem', 'PutItem']);
  expect(await store.writeEach([])).toEqual([]);
});

it('sends a write that cannot be a statement by a call of its own', async () => {
  const keys = await newCounters(3);
  const [plain, dotted, other] = keys as [Key, Key, Key];
  const write: EachWrite = { table, update: dotted, set: { 'a.b': 1 }, condition: equals('cn', 0) };
  expect(kindsOf(await store.writeEach([countUp(plain, 0), write, countUp(other, 0)]))).toEqual([
    'done',
    'done',
    'done',
  ]);
  expect(await itemAt(dotted)).toEqual({ ...dotted, cn: 0, 'a.b': 1 });
  expect(proxy.calls.map(({ operation }) => operation).sort()).toEqual([batch, 'UpdateItem']);
});

it.each<[Fault, 'no' | 'unknown', boolean, number]>([
  ['throttle', 'no', true, 0],
  ['conflict', 'no', false, 0],
  ['error-before', 'unknown', false, 0],
  ['error-after', 'unknown', false, 1],
  ['drop-reply', 'unknown', false, 1],
])(
  'makes one attempt: after %s each outcome says whether it was applied',
  async (fault, applied, isThrottled, count) => {
    const keys = await newCounters(3);
    proxy.inject({ fault });
    const outcomes = await store.writeEach(keys.map((key) => countUp(key, 0)));
    expect(outcomes).toEqual(keys.map(() => ({ kind: 'failed', applied, isThrottled })));
    const [alone] = await store.writeEach([countUp(keys[0] as Key, count)]);
    expect(alone).toEqual({ kind: 'failed', applied, isThrottled });
    expect(proxy.calls).toHaveLength(2);
    proxy.clear();
    expect((await itemAt(keys[1] as Key))?.cn).toBe(count);
  },
);

it('gives each statement of a batch its own outcome', async () => {
  const keys = await newCounters(5);
  proxy.inject({ fault: 'partial-statements' });
  expect(await store.writeEach(keys.map((key, i) => countUp(key, i === 3 ? 9 : 0)))).toMatchObject([
    { kind: 'done' },
    { kind: 'failed', applied: 'no', isThrottled: true },
    { kind: 'failed', applied: 'unknown', isThrottled: false },
    { kind: 'condition' },
    { kind: 'failed', applied: 'no' },
  ]);
  const counts = await Promise.all(keys.map(async (key) => (await itemAt(key))?.cn));
  expect(counts).toEqual([1, 0, 1, 0, 0]);
});

it('does not fail the other writes of a batch because of one that is malformed', async () => {
  const [first, second] = (await newCounters(2)) as [Key, Key];
  await truth.write({ table, update: second, set: { cn: 'no number' } });
  const malformed: EachWrite = { table, update: second, add: { cn: 1 }, condition: equals('cn', 'no number') };
  expect(await store.writeEach([countUp(first, 0), malformed])).toEqual([
    { kind: 'done', item: { ...first, cn: 1 } },
    { kind: 'failed', applied: 'no', isThrottled: false },
  ]);
  await expect(store.writeEach([malformed])).rejects.not.toBeInstanceOf(StoreUnavailable);
});
