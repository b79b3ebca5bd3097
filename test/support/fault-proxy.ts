import { randomUUID } from 'node:crypto';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { definitionOf, type TableName } from '../../src/dynamo/tables.js';
import { sleep } from '../../src/lib/timers.js';

export type Fault =
  /** 400 ProvisionedThroughputExceededException; nothing reaches the engine. */
  | 'throttle'
  /** 500 InternalServerError; nothing reaches the engine. */
  | 'error-before'
  /** The engine does it, the caller gets a 500 InternalServerError. */
  | 'error-after'
  /** The engine does it, the connection breaks before the reply. */
  | 'drop-reply'
  /** Nothing reaches the engine, and no answer ever comes. */
  | 'no-reply'
  /** The engine does it, and no answer ever comes. */
  | 'no-reply-after'
  /** Reaches the engine only after `ms`, even if the caller has hung up by then. */
  | 'slow'
  /** Reaches the engine only once the rule is removed, even if the caller has hung up by then. */
  | 'hold'
  /** Another transaction has the (first) item of this write; nothing reaches the engine. */
  | 'conflict'
  /** A transaction has its items for `ms`; a write that comes for one of them meanwhile is a 'conflict', as on Amazon. */
  | 'contend'
  /** A batch of n is done up to n/2, rounded down, and the rest truly left unprocessed. */
  | 'partial-batch'
  /** A read that is not consistent gets what the engine last told the same request; without such a memory, the truth. */
  | 'stale-read'
  /** Of the first answer to a request, the first of several items is left out: they were written together, and it cannot be read yet. */
  | 'torn-read'
  /** The connection is reset; nothing reaches the engine. (For a true ECONNREFUSED, `stop()` the proxy.) */
  | 'refuse';

export interface Rule {
  readonly fault: Fault;
  /** As in X-Amz-Target: 'TransactWriteItems'. Absent: any. */
  readonly operation?: string;
  /** With or without its prefix; a call on several tables matches by any of them. Absent: any. */
  readonly table?: string;
  /** Which of the matching calls since the rule was made: the nth, the first n, or (the default) every one. */
  readonly nth?: number | { readonly first: number } | 'every';
  /** For 'slow' and 'contend'. */
  readonly ms?: number;
}

export interface RuleHandle {
  /** How many calls have met the fault. */
  readonly hits: number;
  remove(): void;
}

export interface Call {
  readonly operation: string;
  readonly tables: readonly string[];
  /** Counts the calls of this operation, from 1. */
  readonly nth: number;
  readonly body: Body;
  /** What it met, if anything. */
  readonly fault?: Fault;
}

export interface FaultProxy {
  readonly endpoint: string;
  readonly port: number;
  /** Every call since the start or the last `clear`. */
  readonly calls: readonly Call[];
  /** Of several rules that apply to a call, the oldest acts; all of them count it. */
  inject(rule: Rule): RuleHandle;
  /** When the engine has answered all that was sent on to it: what a caller that is gone had asked for is done by then. */
  quiet(): Promise<void>;
  /** No rules, no calls, no memory: a plain proxy again. */
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

/** A proxy on loopback before the DynamoDB engine that does to calls what networks and busy stores do. */
export async function startFaultProxy(
  targetEndpoint: string,
  port = 0,
  { remembersCalls = true } = {},
): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  let calls: Call[] = [];
  const counts = new Map<string, number>();
  let rules: { readonly rule: Rule; matched: number; hits: number }[] = [];
  const remembered = new Map<string, Reply>();
  const answered = new WeakMap<Rule, Set<string>>();
  const held = new Set<string>();
  const serving = new Set<Promise<void>>();

  /** The rule to act on this call, which all that match it have counted. */
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
    if (remembersCalls) calls.push(rule ? { ...call, fault: rule.fault } : call);

    const memoryKey = isEventualRead(call) ? `${operation} ${text}` : undefined;
    const forward = async (sent = text): Promise<Reply> => {
      const reply = await forwarded(incoming, targetEndpoint, agent, sent);
      if (remembersCalls && memoryKey && sent === text && reply.status === 200) remembered.set(memoryKey, reply);
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
        if (items.some((item) => held.has(item)))
          return answer(
            response,
            conflict(
              body,
              items.map((item) => held.has(item)),
            ),
          );
        if (operation !== 'TransactWriteItems') return answer(response, await forward());
        for (const item of items) held.add(item);
        await sleep(rule?.ms ?? 0);
        const reply = await forward().finally(() => {
          for (const item of items) held.delete(item);
        });
        return answer(response, reply);
      }
      case 'partial-batch':
        return answer(response, await halfBatch(call, forward));
      case 'stale-read':
        return answer(response, (memoryKey && remembered.get(memoryKey)) || (await forward()));
      case 'torn-read': {
        const reply = await forward();
        const { Items = [], ...rest } = JSON.parse(reply.body) as { Items?: unknown[] };
        const before = answered.get(rule) ?? new Set();
        const isFirst = !before.has(text);
        if (Items.length > 0) answered.set(rule, before.add(text));
        if (!isFirst || Items.length < 2) return answer(response, reply);
        return answer(response, made(200, { ...rest, Items: Items.slice(1), Count: Items.length - 1 }));
      }
      case 'refuse':
        return void incoming.socket.resetAndDestroy();
    }
  }

  const server = createServer((incoming, response) => {
    // Whatever goes wrong here looks to the caller as if the engine had gone.
    const served: Promise<void> = serve(incoming, response)
      .catch(() => void response.destroy())
      .finally(() => serving.delete(served));
    serving.add(served);
  });
  // An idle connection that we closed just as it was used again would be a fault nobody asked for.
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
      remembered.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}

function matches({ fault, operation, table }: Rule, call: Call): boolean {
  if (operation !== undefined && operation !== call.operation) return false;
  if (table !== undefined && !call.tables.some((name) => name === table || name.endsWith(`_${table}`))) return false;
  if (fault === 'torn-read') return call.operation === 'Query';
  if (fault === 'stale-read') return isEventualRead(call);
  if (fault === 'partial-batch') return call.operation.startsWith('Batch');
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

function tablesOf({ TableName, RequestItems = {}, TransactItems = [] }: Body): string[] {
  const inTransaction = (TransactItems as Record<string, { TableName: string }>[]).flatMap((item) =>
    Object.values(item).map((part) => part.TableName),
  );
  return [
    ...new Set([...(TableName ? [TableName as string] : []), ...Object.keys(RequestItems as object), ...inTransaction]),
  ];
}

/** Each item that a write touches, by its table and key. */
function itemsOf({ operation, body }: Call): string[] {
  if (operation !== 'TransactWriteItems') return [itemOf(body)];
  return (body.TransactItems as Record<string, Body>[]).map((part) => itemOf(Object.values(part)[0] as Body));
}

/** Without the prefix of the tests, which has no name of a table in it. */
export const plainTable = (name: string): TableName => name.replace(/^[^_]*_/, '') as TableName;

function itemOf({ TableName, Key, Item }: Body): string {
  const { partitionKey, sortKey } = definitionOf(plainTable(TableName as string));
  const named = (Key ?? Item) as Record<string, unknown>;
  return JSON.stringify([TableName, named[partitionKey], sortKey && named[sortKey]]);
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function forwarded(incoming: IncomingMessage, targetEndpoint: string, agent: Agent, body: string): Promise<Reply> {
  const { host: _ours, connection: _hop, 'transfer-encoding': _framing, ...headers } = incoming.headers;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(incoming.url ?? '/', targetEndpoint),
      { method: incoming.method ?? 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (reply) =>
        textOf(reply).then(
          (text) => resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body: text }),
          reject,
        ),
    );
    outgoing.on('error', reject).end(body);
  });
}

function answer(response: ServerResponse, { status, headers, body }: Reply): void {
  const { connection: _hop, 'transfer-encoding': _framing, ...kept } = headers;
  response.writeHead(status, { ...kept, 'content-length': Buffer.byteLength(body) }).end(body);
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

function conflict({ TransactItems }: Body, isHeld: readonly boolean[] = [true]): Reply {
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

/** Sends on the first half and says of the rest, as DynamoDB does, that it was not processed. */
async function halfBatch({ operation, body }: Call, forward: (body: string) => Promise<Reply>): Promise<Reply> {
  const unprocessed = operation === 'BatchGetItem' ? 'UnprocessedKeys' : 'UnprocessedItems';
  const batch = body.RequestItems as Batch;
  const all = partsOf(batch);
  const half = Math.floor(all.length / 2);
  if (half === 0)
    return made(200, { ...(operation === 'BatchGetItem' ? { Responses: {} } : {}), [unprocessed]: batch });
  const reply = await forward(JSON.stringify({ ...body, RequestItems: regrouped(batch, all.slice(0, half)) }));
  if (reply.status !== 200) return reply;
  const told = JSON.parse(reply.body) as Record<string, Batch>;
  const left = [...partsOf(told[unprocessed] ?? {}), ...all.slice(half)];
  const { 'x-amz-crc32': _ofAnotherBody, ...headers } = reply.headers;
  return { ...reply, headers, body: JSON.stringify({ ...told, [unprocessed]: regrouped(batch, left) }) };
}

type Part = readonly [table: string, part: unknown];

const partsOf = (batch: Batch): Part[] =>
  Object.entries(batch).flatMap(([table, of]) => ('Keys' in of ? of.Keys : of).map((part): Part => [table, part]));

function regrouped(batch: Batch, parts: readonly Part[]): Batch {
  const grouped: Record<string, readonly unknown[] | { readonly Keys: readonly unknown[] }> = {};
  for (const [table, of] of Object.entries(batch)) {
    const own = parts.filter(([name]) => name === table).map(([, part]) => part);
    if (own.length > 0) grouped[table] = 'Keys' in of ? { ...of, Keys: own } : own;
  }
  return grouped;
}
