import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../lib/clock.js';
import type { Metrics } from '../lib/metrics.js';
import { sleep } from '../lib/timers.js';
import type { Units } from '../lib/units.js';
import { EachWriter, type Sent } from './each-writer.js';
import { type Changes, type Condition, Expression, type Item, type Value } from './expression.js';
import {
  type Applied,
  type CancellationReason,
  classify,
  type Definite,
  definite,
  type EachOutcome,
  hasKind,
  isFault,
  StoreUnavailable,
} from './faults.js';
import { pauseMs, RetryBudget } from './retry.js';
import type { EachWrite } from './statement.js';
import { definitionOf, type TableName } from './tables.js';
import type { TransactItem } from './transact-item.js';
import type { CallName, Transport } from './transport.js';

export type Key = Readonly<Record<string, string | number>>;

interface Target {
  readonly table: TableName;
  readonly condition?: Condition;
}
export type Put = Target & {
  readonly put: Item;
  /**
   * The key is random and used in this transaction only. So its condition fails only if the transaction was applied
   * before.
   */
  readonly fresh?: true;
};
export type Update = Target & Changes & { readonly update: Key };
export type Delete = Target & { readonly delete: Key };
export type Check = Target & { readonly check: Key };
export type Write = Put | Update | Delete;

/** A failed condition is a result, with the item that failed it. */
export type WriteOutcome =
  | { readonly done: true; readonly item?: Item }
  | { readonly done: false; readonly old?: Item };
export type TransactOutcome =
  | { readonly done: true }
  | {
      readonly done: false;
      /** One per write, in their order. */
      readonly reasons: readonly CancellationReason[];
      /** One per rider, in their order. */
      readonly riderReasons: readonly CancellationReason[];
    };

export interface WriteOptions {
  /** Return the item after the write: all attributes, or only the changed ones. */
  readonly returnNew?: 'all' | 'changed';
  /**
   * What to do if the response is lost. `never` (default): fail with an unknown outcome. `idempotent`: retry. Function:
   * retry; if the condition then fails, the function receives the current item and returns true if the first attempt
   * wrote it.
   */
  readonly repeat?: 'never' | 'idempotent' | ((old: Item) => boolean);
  /** Called each time DynamoDB throttles these keys. */
  readonly onThrottled?: () => void;
  /** Default: as many as fit into the deadline. */
  readonly maxAttempts?: number;
}

export interface TransactOptions extends Pick<WriteOptions, 'onThrottled'> {
  /** Writes of other features that must be applied together with these. */
  readonly riders?: readonly TransactItem[];
}

/**
 * How a transaction is resolved if its response is lost. It is retried without a request token, because the embedded
 * engine scans all tokens of the last ten minutes on each transaction. So a transaction that was applied must fail one
 * of its own conditions when it is retried, and that failure must be recognised as success:
 * - 'fresh': one of its puts is `fresh`. If the condition of that put fails, the transaction is done.
 * - a function: returns true if the reasons show a nonce of this attempt. Then the transaction is done.
 * - 'judged': the caller decides for each write by its reason, by a nonce in the item, or by reading again.
 * - 'never': the transaction could be applied twice. It is not retried, and it fails with an unknown outcome.
 */
export type TransactRepeat = 'fresh' | 'judged' | 'never' | ((reasons: readonly CancellationReason[]) => boolean);

export interface Query {
  readonly table: TableName;
  readonly index?: string;
  readonly where: Condition;
  readonly newestFirst?: boolean;
  readonly limit?: number;
  readonly after?: Key;
  readonly consistent?: boolean;
  /** The attributes or map paths to return. Default: all. Saves CPU, not read units. */
  readonly project?: readonly (string | readonly string[])[];
}
export interface Page {
  readonly items: readonly Item[];
  /** The key to continue after; absent on the last page. */
  readonly next?: Key;
}

export interface Indexed {
  readonly entry: Item;
  readonly item: Item;
}

const deadlineMs = 4000;
const maxKeysPerBatch = 100;
const maxConcurrentBatches = 8;
const maxWritesPerBatch = 25;

/** The only way to DynamoDB: conditions, old images, consumed capacity, classified errors, bounded and safe retries. */
export class StoreClient {
  /** What this process has consumed so far. */
  readonly consumed: Units = { read: 0, write: 0, calls: 0 };
  private readonly budget: RetryBudget;
  private readonly operation = new AsyncLocalStorage<Units>();
  private readonly eachWriter = new EachWriter({
    write: (write, options) => this.write(write, options),
    send: (input) => this.sendOnce('batchStatement', input),
    tableName: (table) => this.named(table),
  });

  constructor(
    private readonly transport: Transport,
    private readonly tablePrefix: string,
    private readonly metrics?: Metrics,
    private readonly clock: Clock = systemClock,
  ) {
    this.budget = new RetryBudget(clock);
  }

  /** Runs `task` and adds to `units` what it consumes. */
  metered<T>(units: Units, task: () => T): T {
    return this.operation.run(units, task);
  }

  async get(table: TableName, key: Key, options: { readonly consistent?: boolean } = {}): Promise<Item | undefined> {
    const output = await this.read('get', {
      TableName: this.named(table),
      Key: key,
      ConsistentRead: options.consistent ?? false,
    });
    return output.Item as Item | undefined;
  }

  /** One item per key, in the order of the keys. Throws if a key stays unprocessed, because it must not look absent. */
  async getMany(
    table: TableName,
    keys: readonly Key[],
    options: { readonly consistent?: boolean } = {},
  ): Promise<(Item | undefined)[]> {
    const wanted = new Map(keys.map((key) => [identity(key), key]));
    const names = Object.keys(keys[0] ?? {});
    const found = new Map<string, Item>();
    const chunks = chunked([...wanted.values()], maxKeysPerBatch);
    for (let i = 0; i < chunks.length; i += maxConcurrentBatches) {
      const some = chunks.slice(i, i + maxConcurrentBatches).map((chunk) =>
        this.untilProcessed('read', chunk, async (pending, untilMs) => {
          const request = { Keys: pending, ConsistentRead: options.consistent ?? false };
          const output = await this.read('batchGet', { RequestItems: { [this.named(table)]: request } }, untilMs);
          for (const item of (output.Responses as Record<string, Item[]> | undefined)?.[this.named(table)] ?? []) {
            found.set(identity(Object.fromEntries(names.map((name) => [name, item[name] as string]))), item);
          }
          return (
            (output.UnprocessedKeys as Record<string, { Keys: Key[] }> | undefined)?.[this.named(table)]?.Keys ?? []
          );
        }),
      );
      await Promise.all(some);
    }
    return keys.map((key) => found.get(identity(key)));
  }

  /** Unconditional puts and deletes, in any order, of items that nothing else writes. Throws unless all are applied. */
  async writeMany(
    table: TableName,
    writes: readonly ({ readonly put: Item } | { readonly delete: Key })[],
  ): Promise<void> {
    const requests = writes.map((write) =>
      'put' in write ? { PutRequest: { Item: write.put } } : { DeleteRequest: { Key: write.delete } },
    );
    for (const chunk of chunked(requests, maxWritesPerBatch)) {
      await this.untilProcessed('unknown', chunk, async (pending, untilMs) => {
        const output = await this.attempt('batchWrite', { RequestItems: { [this.named(table)]: pending } }, true, {
          untilMs,
        });
        if (isFault(output)) throw new Error(`a batch write cannot fail with ${output.kind}`);
        return ((output.UnprocessedItems as Record<string, typeof requests> | undefined)?.[this.named(table)] ??
          []) as typeof requests;
      });
    }
  }

  async query({
    table,
    index,
    where,
    newestFirst = false,
    limit,
    after,
    consistent = false,
    project,
  }: Query): Promise<Page> {
    const expression = new Expression();
    const output = await this.read('query', {
      TableName: this.named(table),
      ...(index ? { IndexName: index } : {}),
      KeyConditionExpression: expression.condition(where),
      ScanIndexForward: !newestFirst,
      ...(limit ? { Limit: limit } : {}),
      ...(after ? { ExclusiveStartKey: after } : {}),
      ConsistentRead: consistent,
      ...(project ? { ProjectionExpression: expression.projection(project) } : {}),
      ...expression.placeholders(),
    });
    return page(output);
  }

  /** All items of a query, over all pages. */
  async queryAll(query: Omit<Query, 'limit' | 'after'>): Promise<Item[]> {
    const found: Item[] = [];
    let after: Key | undefined;
    do {
      const page = await this.query({ ...query, ...(after ? { after } : {}) });
      found.push(...page.items);
      after = page.next;
    } while (after);
    return found;
  }

  /** Up to `max` items of a query, and whether there are more. */
  async queryUpTo(
    query: Omit<Query, 'limit' | 'after'>,
    max: number,
  ): Promise<{ readonly items: readonly Item[]; readonly truncated: boolean }> {
    const found: Item[] = [];
    let after: Key | undefined;
    do {
      const limit = max - found.length + 1;
      const page = await this.query({
        ...query,
        ...(Number.isFinite(limit) ? { limit } : {}),
        ...(after ? { after } : {}),
      });
      found.push(...page.items);
      after = page.next;
    } while (after && found.length <= max);
    return { items: found.slice(0, max), truncated: found.length > max };
  }

  /**
   * Up to `limit` items that an index points to, each with its index entry. An index is eventually consistent: entries
   * whose item is gone are skipped and do not make the page shorter.
   */
  async queryIndexed(query: Query & { readonly index: string; readonly limit: number }): Promise<Indexed[]> {
    const { table, limit } = query;
    const { partitionKey, sortKey } = definitionOf(table);
    const names = sortKey ? [partitionKey, sortKey] : [partitionKey];
    const found: Indexed[] = [];
    let { after } = query;
    do {
      const page: Page = await this.query({ ...query, ...(after ? { after } : {}) });
      const keys = page.items.map(
        (entry): Key => Object.fromEntries(names.map((name) => [name, entry[name] as string])),
      );
      const items = await this.getMany(table, keys, { consistent: true });
      for (const [i, entry] of page.items.entries()) {
        const item = items[i];
        if (item) found.push({ entry, item });
      }
      after = page.next;
    } while (after && found.length < limit);
    return found.slice(0, limit);
  }

  /** One page of a table scan. For sweeps and checks only, never for a request. */
  async scan(table: TableName, after?: Key): Promise<Page> {
    return page(
      await this.read('scan', { TableName: this.named(table), ...(after ? { ExclusiveStartKey: after } : {}) }),
    );
  }

  async write(write: Write, { returnNew, repeat = 'never', ...options }: WriteOptions = {}): Promise<WriteOutcome> {
    if ('add' in write && !write.condition)
      throw new Error('an ADD without a condition would count twice when it is retried');
    const [call, input] = this.writeInput(write);
    const output = await this.attempt(
      call,
      {
        ...input,
        ...(write.condition ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
        ...(returnNew ? { ReturnValues: returnNew === 'all' ? 'ALL_NEW' : 'UPDATED_NEW' } : {}),
      },
      repeat !== 'never',
      options,
    );
    if (!isFault(output)) return output.Attributes ? { done: true, item: output.Attributes as Item } : { done: true };
    if (output.kind !== 'condition') throw new Error(`a single write cannot fail with ${output.kind}`);
    if (typeof repeat === 'function' && output.old && repeat(output.old)) return { done: true, item: output.old };
    return output.old ? { done: false, old: output.old } : { done: false };
  }

  /** Independent writes of distinct items, each with its own condition and outcome. See `EachWriter`. */
  writeEach(writes: readonly EachWrite[]): Promise<EachOutcome[]> {
    return this.eachWriter.write(writes);
  }

  /** Applies all of the writes and riders, or none. `repeat` says how a lost response is resolved. */
  async transact(
    repeat: TransactRepeat,
    writes: readonly (Write | Check)[],
    { riders = [], ...options }: TransactOptions = {},
  ): Promise<TransactOutcome> {
    const all = [...writes, ...(riders as readonly unknown[] as readonly (Write | Check)[])];
    if (!all.some((write) => write.condition))
      throw new Error('a transaction without a condition is not safe to repeat');
    const freshAt = all.findIndex((write) => 'put' in write && write.fresh && write.condition);
    if (repeat === 'fresh' && freshAt < 0)
      throw new Error('a transaction without a fresh put cannot recognise its own success by one');
    const TransactItems = all.map((write) => this.transactItem(write));
    const output = await this.attempt('transact', { TransactItems }, repeat !== 'never', options);
    if (!isFault(output)) return { done: true };
    if (output.kind !== 'cancelled') throw new Error(`a transaction cannot fail with ${output.kind}`);
    const isOwn =
      repeat === 'fresh'
        ? output.reasons[freshAt]?.kind === 'condition'
        : typeof repeat === 'function' && repeat(output.reasons);
    if (isOwn) return { done: true };
    const [reasons, riderReasons] = [output.reasons.slice(0, writes.length), output.reasons.slice(writes.length)];
    return { done: false, reasons, riderReasons };
  }

  close(): void {
    // Otherwise the storage stays registered, and every promise of the process gets slower with each closed client.
    this.operation.disable();
    this.transport.close();
  }

  private named(table: TableName): string {
    return this.tablePrefix + table;
  }

  private transactItem(write: Write | Check): object {
    const old = write.condition ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {};
    if ('check' in write) return { ConditionCheck: { ...this.conditionInput(write), Key: write.check, ...old } };
    const [call, input] = this.writeInput(write);
    const kind = { put: 'Put', update: 'Update', delete: 'Delete' }[call as 'put' | 'update' | 'delete'];
    return { [kind]: { ...input, ...old } };
  }

  private writeInput(write: Write): [CallName, Record<string, unknown>] {
    if ('put' in write) return ['put', { ...this.conditionInput(write), Item: write.put }];
    if ('delete' in write) return ['delete', { ...this.conditionInput(write), Key: write.delete }];
    const expression = new Expression();
    return [
      'update',
      {
        TableName: this.named(write.table),
        Key: write.update,
        UpdateExpression: expression.changes(write),
        ...(write.condition ? { ConditionExpression: expression.condition(write.condition) } : {}),
        ...expression.placeholders(),
      },
    ];
  }

  private conditionInput({ table, condition }: Target): Record<string, unknown> {
    if (!condition) return { TableName: this.named(table) };
    const expression = new Expression();
    return {
      TableName: this.named(table),
      ConditionExpression: expression.condition(condition),
      ...expression.placeholders(),
    };
  }

  private async read(call: CallName, input: object, untilMs?: number): Promise<Record<string, unknown>> {
    const output = await this.attempt(call, input, true, untilMs === undefined ? {} : { untilMs });
    if (isFault(output)) throw new Error(`a read cannot fail with ${output.kind}`);
    return output;
  }

  /** Repeats a batch with its unprocessed part until nothing is left or the deadline has passed. */
  private async untilProcessed<T>(
    applied: Applied,
    all: readonly T[],
    process: (pending: readonly T[], untilMs: number) => Promise<readonly T[]>,
  ): Promise<void> {
    const untilMs = this.clock.monotonicMs() + deadlineMs;
    let pending = all;
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt > 0) {
        if (this.clock.monotonicMs() > untilMs)
          throw new StoreUnavailable(applied, {
            cause: new Error(`${pending.length} keys of a batch were not processed`),
          });
        await sleep(pauseMs(attempt));
      }
      pending = await process(pending, untilMs);
    }
  }

  /** Sends a call and retries it until it succeeds, a condition fails, or the deadline or retry budget is reached. */
  private async attempt(
    call: CallName,
    input: object,
    safeToRepeat: boolean,
    { untilMs = this.clock.monotonicMs() + deadlineMs, onThrottled, maxAttempts = Infinity }: AttemptOptions = {},
  ): Promise<Record<string, unknown> | Definite> {
    let applied: Applied = isRead(call) ? 'read' : 'no';
    // A query that timed out must not consume more read capacity. A write continues: its outcome would be unknown
    // otherwise.
    if (isRead(call) && this.operation.getStore()?.isOver)
      throw new StoreUnavailable('read', { cause: new Error('the operation has timed out') });
    this.budget.called();
    for (let attempt = 0; ; attempt++) {
      const { output, fault, error } = await this.sendOnce(call, input);
      if (output) return output;
      const answer = definite(fault, applied);
      if (answer) return answer;
      if (hasKind(fault, 'throttled')) onThrottled?.();
      if (fault.kind === 'unknown') {
        if (applied === 'no') applied = 'unknown';
        if (!safeToRepeat) throw new StoreUnavailable(applied, { cause: error });
      }
      const pause = pauseMs(attempt);
      // Conflicts between our own writers end by themselves: only failures of DynamoDB count against the budget.
      const isLate = attempt + 1 >= maxAttempts || this.clock.monotonicMs() + pause > untilMs;
      if (isLate || !(hasKind(fault, 'conflict') || this.budget.mayRepeat()))
        throw new StoreUnavailable(applied, { cause: error });
      await sleep(pause);
    }
  }

  /** One attempt of a call. Throws only if the call is malformed. */
  private async sendOnce(call: CallName, input: object): Promise<Sent> {
    try {
      const output = await this.transport.send(call, { ...input, ReturnConsumedCapacity: 'TOTAL' });
      this.charge(call, output);
      this.metrics?.storeCalls.inc({ call, outcome: 'ok' });
      return { output };
    } catch (error) {
      const fault = classify(error, this.transport.decode);
      this.metrics?.storeCalls.inc({ call, outcome: fault.kind });
      this.tally(0, 0);
      if (fault.kind === 'bug') throw error;
      return { fault, error };
    }
  }

  private charge(call: CallName, output: Record<string, unknown>): void {
    const reported = output.ConsumedCapacity as { CapacityUnits?: number } | { CapacityUnits?: number }[] | undefined;
    const units = [reported ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    this.tally(isRead(call) ? units : 0, isRead(call) ? 0 : units);
  }

  private tally(read: number, write: number): void {
    for (const units of [this.consumed, this.operation.getStore()]) {
      if (!units) continue;
      units.read += read;
      units.write += write;
      units.calls += 1;
    }
    this.metrics?.storeUnits.inc({ kind: 'read' }, read);
    this.metrics?.storeUnits.inc({ kind: 'write' }, write);
  }
}

const isRead = (call: CallName): boolean =>
  call === 'get' || call === 'batchGet' || call === 'query' || call === 'scan';

interface AttemptOptions extends Pick<WriteOptions, 'onThrottled' | 'maxAttempts'> {
  readonly untilMs?: number;
}

const page = (output: Record<string, unknown>): Page => ({
  items: (output.Items as Item[] | undefined) ?? [],
  ...(output.LastEvaluatedKey ? { next: output.LastEvaluatedKey as Key } : {}),
});

const identity = (key: Key): string => JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));

function chunked<T>(all: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let i = 0; i < all.length; i += size) chunks.push(all.slice(i, i + size));
  return chunks;
}

export type { Item, Value };
