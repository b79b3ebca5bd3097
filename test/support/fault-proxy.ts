import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { definitionOf, type TableName } from '../../src/dynamo/tables.js';
import { sleep } from '../../src/lib/timers.js';

export type Fault =
  /** 400 ProvisionedThroughputExceededException; nothing reaches the engine. */
  | 'throttle'
  /** 500 InternalServerError; nothing reaches the engine. */
  | 'error-before'
  /** The engine executes the call, and the caller gets a 500 InternalServerError. */
  | 'error-after'
  /** The engine executes the call, and the connection breaks before the reply. */
  | 'drop-reply'
  /** Nothing reaches the engine, and no reply is sent. */
  | 'no-reply'
  /** The engine executes the call, and no reply is sent. */
  | 'no-reply-after'
  /** Reaches the engine after `ms`, even if the caller has disconnected by then. */
  | 'slow'
  /** Reaches the engine when the rule is removed, even if the caller has disconnected by then. */
  | 'hold'
  /** The (first) item of this write is in another transaction; nothing reaches the engine. */
  | 'conflict'
  /** A transaction locks its items for `ms`. Other writes to them are a 'conflict' meanwhile, as on Amazon DynamoDB. */
  | 'contend'
  /** The first half of a batch, rounded down, is executed. The rest is returned as unprocessed. */
  | 'partial-batch'
  /**
   * Of every three statements of a batch, the first is executed, the second is throttled, and the third is executed but
   * reported as an InternalServerError.
   */
  | 'partial-statements'
  /** An eventually consistent read gets the previous reply to the same request, if there is one. */
  | 'stale-read'
  /**
   * The first reply to a query lacks the first of several items: they were written in one transaction, and the first is
   * not visible yet.
   */
  | 'torn-read'
  /** The connection is reset; nothing reaches the engine. (For a true ECONNREFUSED, `stop()` the proxy.) */
  | 'refuse';

export interface Rule {
  readonly fault: Fault;
  /** As in X-Amz-Target, for example 'TransactWriteItems'. Default: any. */
  readonly operation?: string;
  /** With or without prefix. A call on several tables matches if one of them does. Default: any. */
  readonly table?: string;
  /** Which matching calls since the rule was added: the nth, the first n, or every one (default). */
  readonly nth?: number | { readonly first: number } | 'every';
  /** For 'slow' and 'contend'. */
  readonly ms?: number;
}

export interface RuleHandle {
  /** The number of calls with the fault. */
  readonly hits: number;
  remove(): void;
}

export interface Call {
  readonly operation: string;
  readonly tables: readonly string[];
  /** The number of this call among those of its operation, from 1. */
  readonly nth: number;
  readonly body: Body;
  /** The injected fault, if any. */
  readonly fault?: Fault;
}

export interface FaultProxy {
  readonly endpoint: string;
  readonly port: number;
  /** Every call since the start or the last `clear`. */
  readonly calls: readonly Call[];
  /** If several rules apply to a call, the oldest one is used. All of them count the call. */
  inject(rule: Rule): RuleHandle;
  /** Resolves when the engine has executed all forwarded calls, including those of disconnected callers. */
  quiet(): Promise<void>;
  /** Removes all rules, recorded calls and cached replies. */
  clear(): void;
  stop(): Promise<void>;
}

type Body = Readonly<Record<string, unknown>>;
type Batch = Readonly<Record<string, readonly unknown[] | { readonly Keys: readonly unknown[] }>>;

interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Starts a proxy on loopback in front of the DynamoDB engine that injects faults of networks and busy databases. */
export async function startFaultProxy(
  targetEndpoint: string,
  port = 0,
  { recordsCalls = true } = {},
): Promise<FaultProxy> {
  const engine = new Pool(targetEndpoint, { headersTimeout: 0, bodyTimeout: 0 });
  let calls: Call[] = [];
  const counts = new Map<string, number>();
  let rules: { readonly rule: Rule; matched: number; hits: number }[] = [];
  const cachedReplies = new Map<string, Reply>();
  const tornRequests = new WeakMap<Rule, Set<string>>();
  const lockedItems = new Set<string>();
  const serving = new Set<Promise<void>>();

  /** The rule to apply to this call. Every matching rule counts it. */
  function due(call: Call): Rule | undefined {
    const ready = rules.filter((state) => matches(state.rule, call) && isDue(state.rule, ++state.matched));
    if (ready[0]) ready[0].hits++;
    return ready[0]?.rule;
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(incoming);
    const operation = String(incoming.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    const body = (text ? JSON.parse(text) : {}) as Body;
    const nth = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, nth);
    const call: Call = { operation, tables: tablesOf(body), nth, body };
    const rule = due(call);
    if (recordsCalls) calls.push(rule ? { ...call, fault: rule.fault } : call);

    const cacheKey = isEventualRead(call) ? `${operation} ${text}` : undefined;
    const forward = async (sent = text): Promise<Reply> => {
      const reply = await forwarded(incoming, engine, sent);
      if (recordsCalls && cacheKey && sent === text && reply.status === 200) cachedReplies.set(cacheKey, reply);
      return reply;
    };
    switch (rule?.fault) {
      case undefined:
        return answer(response, await forward());
      case 'throttle':
        return answer(
          response,
          refusal(
            'ProvisionedThroughputExceededException',
            'The level of configured provisioned throughput was exceeded.',
          ),
        );
      case 'error-before':
        return answer(response, internalError());
      case 'error-after':
        await forward();
        return answer(response, internalError());
      case 'drop-reply':
        await forward();
        return void response.destroy();
      case 'no-reply':
        return;
      case 'no-reply-after':
        await forward();
        return;
      case 'slow':
        await sleep(rule?.ms ?? 0);
        return answer(response, await forward());
      case 'hold':
        while (rules.some((state) => state.rule === rule)) await sleep(1);
        return answer(response, await forward());
      case 'conflict':
        return answer(response, conflict(body));
      case 'contend': {
        const items = itemsOf(call);
        if (items.some((item) => lockedItems.has(item)))
          return answer(
            response,
            conflict(
              body,
              items.map((item) => lockedItems.has(item)),
            ),
          );
        if (operation !== 'TransactWriteItems') return answer(response, await forward());
        for (const item of items) lockedItems.add(item);
        await sleep(rule?.ms ?? 0);
        const reply = await forward().finally(() => {
          for (const item of items) lockedItems.delete(item);
        });
        return answer(response, reply);
      }
      case 'partial-batch':
        return answer(response, await halfBatch(call, forward));
      case 'partial-statements':
        return answer(response, await someStatements(call, forward));
      case 'stale-read':
        return answer(response, (cacheKey && cachedReplies.get(cacheKey)) || (await forward()));
      case 'torn-read': {
        const reply = await forward();
        const { Items = [], ...rest } = JSON.parse(reply.body) as { Items?: unknown[] };
        const before = tornRequests.get(rule) ?? new Set();
        const isFirst = !before.has(text);
        if (Items.length > 0) tornRequests.set(rule, before.add(text));
        if (!isFirst || Items.length < 2) return answer(response, reply);
        return answer(response, made(200, { ...rest, Items: Items.slice(1), Count: Items.length - 1 }));
      }
      case 'refuse':
        return void incoming.socket.resetAndDestroy();
    }
  }

  const server = createServer((incoming, response) => {
    // A failure of this proxy looks to the caller like a lost connection.
    const served: Promise<void> = serve(incoming, response)
      .catch(() => void response.destroy())
      .finally(() => serving.delete(served));
    serving.add(served);
  });
  // Closing an idle connection just as it is used again would be a fault that no rule has injected.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;

  return {
    endpoint: `http://127.0.0.1:${bound}`,
    port: bound,
    get calls() {
      return calls;
    },
    inject(rule) {
      const state = { rule, matched: 0, hits: 0 };
      rules.push(state);
      return {
        get hits() {
          return state.hits;
        },
        remove() {
          rules = rules.filter((other) => other !== state);
        },
      };
    },
    async quiet() {
      while (serving.size > 0) await Promise.all(serving);
    },
    clear() {
      rules = [];
      calls = [];
      counts.clear();
      cachedReplies.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await engine.destroy();
    },
  };
}

function matches({ fault, operation, table }: Rule, call: Call): boolean {
  if (operation !== undefined && operation !== call.operation) return false;
  if (table !== undefined && !call.tables.some((name) => name === table || name.endsWith(`_${table}`))) return false;
  if (fault === 'torn-read') return call.operation === 'Query';
  if (fault === 'stale-read') return isEventualRead(call);
  if (fault === 'partial-batch') return /^Batch(Get|Write)Item$/.test(call.operation);
  if (fault === 'partial-statements') return call.operation === 'BatchExecuteStatement';
  if (fault === 'conflict' && call.operation === 'BatchExecuteStatement') return true;
  if (fault === 'conflict' || fault === 'contend')
    return /^(Put|Update|Delete)Item$|^TransactWriteItems$/.test(call.operation);
  return true;
}

function isDue({ nth = 'every' }: Rule, matched: number): boolean {
  if (nth === 'every') return true;
  return typeof nth === 'number' ? matched === nth : matched <= nth.first;
}

function isEventualRead({ operation, body }: Call): boolean {
  if (operation === 'GetItem' || operation === 'Query') return body.ConsistentRead !== true;
  return (
    operation === 'BatchGetItem' &&
    !Object.values(body.RequestItems as Record<string, Body>).some(({ ConsistentRead }) => ConsistentRead === true)
  );
}

function tablesOf({ TableName, RequestItems = {}, TransactItems = [], Statements = [] }: Body): string[] {
  const inTransaction = (TransactItems as Record<string, { TableName: string }>[]).flatMap((item) =>
    Object.values(item).map((part) => part.TableName),
  );
  const inStatements = (Statements as { Statement: string }[]).map(({ Statement }) => Statement.split('"')[1] ?? '');
  const single = TableName ? [TableName as string] : [];
  return [...new Set([...single, ...Object.keys(RequestItems as object), ...inTransaction, ...inStatements])];
}

/** The table and key of each item of a write. */
function itemsOf({ operation, body }: Call): string[] {
  if (operation !== 'TransactWriteItems') return [itemOf(body)];
  return (body.TransactItems as Record<string, Body>[]).map((part) => itemOf(Object.values(part)[0] as Body));
}

/** The table name without the prefix of the tests. */
export const plainTable = (name: string): TableName => name.replace(/^[^_]*_/, '') as TableName;

function itemOf({ TableName, Key, Item }: Body): string {
  const { partitionKey, sortKey } = definitionOf(plainTable(TableName as string));
  const named = (Key ?? Item) as Record<string, unknown>;
  return JSON.stringify([TableName, named[partitionKey], sortKey && named[sortKey]]);
}

/** The text of a message. Not read with an async iterator, which is slower. */
function textOf(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      .on('error', reject);
  });
}

async function forwarded(incoming: IncomingMessage, engine: Pool, body: string): Promise<Reply> {
  const { host: _host, connection: _hop, 'transfer-encoding': _framing, ...headers } = incoming.headers;
  const reply = await engine.request({
    path: incoming.url ?? '/',
    method: (incoming.method ?? 'POST') as Dispatcher.HttpMethod,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    body,
  });
  return { status: reply.statusCode, headers: reply.headers, body: await reply.body.text() };
}

function answer(response: ServerResponse, { status, headers, body }: Reply): void {
  const { connection: _hop, 'transfer-encoding': _framing, ...rest } = headers;
  response.writeHead(status, { ...rest, 'content-length': Buffer.byteLength(body) }).end(body);
}

function made(status: number, body: object): Reply {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() },
    body: JSON.stringify(body),
  };
}

const refusal = (name: string, message: string, details: object = {}): Reply =>
  made(400, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, ...details });

const internalError = (): Reply =>
  made(500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'Internal server error' });

function conflict({ TransactItems, Statements }: Body, isHeld: readonly boolean[] = [true]): Reply {
  if (Statements) {
    return made(200, { Responses: (Statements as unknown[]).map(() => statementError('TransactionConflict')) });
  }
  if (!TransactItems) return refusal('TransactionConflictException', 'Transaction is ongoing for the item');
  const codes = (TransactItems as unknown[]).map((_, i) => (isHeld[i] ? 'TransactionConflict' : 'None'));
  return refusal(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    {
      CancellationReasons: codes.map((Code) =>
        Code === 'None' ? { Code } : { Code, Message: 'Transaction is ongoing for the item' },
      ),
    },
  );
}

/** Forwards the first half and returns the rest as unprocessed, like DynamoDB. */
async function halfBatch({ operation, body }: Call, forward: (body: string) => Promise<Reply>): Promise<Reply> {
  const unprocessed = operation === 'BatchGetItem' ? 'UnprocessedKeys' : 'UnprocessedItems';
  const batch = body.RequestItems as Batch;
  const all = partsOf(batch);
  const half = Math.floor(all.length / 2);
  if (half === 0)
    return made(200, { ...(operation === 'BatchGetItem' ? { Responses: {} } : {}), [unprocessed]: batch });
  const reply = await forward(JSON.stringify({ ...body, RequestItems: regrouped(batch, all.slice(0, half)) }));
  if (reply.status !== 200) return reply;
  const output = JSON.parse(reply.body) as Record<string, Batch>;
  const left = [...partsOf(output[unprocessed] ?? {}), ...all.slice(half)];
  const { 'x-amz-crc32': _checksum, ...headers } = reply.headers;
  return { ...reply, headers, body: JSON.stringify({ ...output, [unprocessed]: regrouped(batch, left) }) };
}

const statementError = (Code: string): object => ({ Error: { Code, Message: 'injected' } });

async function someStatements({ body }: Call, forward: (body: string) => Promise<Reply>): Promise<Reply> {
  const all = body.Statements as readonly unknown[];
  const reply = await forward(JSON.stringify({ ...body, Statements: all.filter((_, i) => i % 3 !== 1) }));
  if (reply.status !== 200) return reply;
  const { Responses, ...rest } = JSON.parse(reply.body) as { Responses: readonly object[] };
  let executed = 0;
  const responses = all.map((_, i) => {
    if (i % 3 === 1) return statementError('ThrottlingError');
    const response = Responses[executed++];
    return i % 3 === 0 ? response : statementError('InternalServerError');
  });
  return made(200, { ...rest, Responses: responses });
}

type Part = readonly [table: string, part: unknown];

const partsOf = (batch: Batch): Part[] =>
  Object.entries(batch).flatMap(([table, request]) =>
    ('Keys' in request ? request.Keys : request).map((part): Part => [table, part]),
  );

function regrouped(batch: Batch, parts: readonly Part[]): Batch {
  const grouped: Record<string, readonly unknown[] | { readonly Keys: readonly unknown[] }> = {};
  for (const [table, request] of Object.entries(batch)) {
    const left = parts.filter(([name]) => name === table).map(([, part]) => part);
    if (left.length > 0) grouped[table] = 'Keys' in request ? { ...request, Keys: left } : left;
  }
  return grouped;
}
