import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { jest } from '@jest/globals';
import type { GraphQLSchema } from 'graphql';
import WebSocket from 'ws';
import { buildBackground } from '../../src/app.js';
import { createHttpServer } from '../../src/http/server.js';
import { errorCodes } from '../../src/lib/errors.js';
import { createLog, silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, type Client, newApp, newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { schemaWithTicks } from '../support/subscription.js';
import { until } from '../support/until.js';

const closedSet: readonly string[] = [...errorCodes, 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];
const asAdmin = { 'x-admin-key': adminKey };
const bearer = ({ accessToken }: Pick<Client, 'accessToken'>) => ({ authorization: `Bearer ${accessToken}` });
const repeated = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

const complaints: string[] = [];
/** What goes past the log, straight to the terminal. */
const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
let schema: GraphQLSchema;
let app: TestApp;
let production: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  schema = await schemaWithTicks();
  const log = createLog('error', { write: (line: string) => void complaints.push(line) });
  app = await startTestApp({ schema, log, config: { principalConcurrency: 2000 } });
  production = await app.another({ production: true });
  org = await newOrg(app);
});
afterAll(() => Promise.all([app.stop(), production.stop()]));

const opened = new Set<() => void>();
function endAll(): void {
  for (const end of opened) end();
  opened.clear();
}

// After each abuse: nothing of it is left, nothing was taken for a fault of ours, and others are served.
afterEach(async () => {
  endAll();
  for (const gateway of [app, production])
    await until('no stream is left open', async () => (await openStreams(gateway)) === 0);
  expect(complaints.splice(0)).toEqual([]);
  printed.mockClear();
  await expectServing();
});

async function openStreams(of: TestApp, transport = '[a-z]+'): Promise<number> {
  const page = await (await fetch(`${of.origin}/metrics`)).text();
  const counts = [
    ...page.matchAll(new RegExp(`^tollgate_subscriptions_open\\{transport="${transport}"\\} (\\d+)$`, 'gm')),
  ];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Refusals that Node's parser makes itself, before there is a request to answer: they have no body. */
const bareStatuses = [400, 408, 417, 431];

/** What holds for every answer: no fault of ours, a code of the closed set, nothing of the inside. */
function decent<R extends Reply>(reply: R, bodyless = false): R {
  expect(reply.status).toBeLessThan(500);
  expect(reply.text).not.toMatch(/stack|node_modules|node:|\.[jt]s:\d|\/(tmp|work|home|src)\/| {4}at /);
  if (bodyless || reply.text === '') {
    expect(reply.text).toBe('');
    if (!bodyless) expect(bareStatuses).toContain(reply.status);
    return reply;
  }
  const { data, errors } = JSON.parse(reply.text) as { data?: unknown; errors?: PublicError[] };
  expect(data !== undefined || (errors?.length ?? 0) > 0).toBe(true);
  expectDecentErrors(errors ?? []);
  for (const { extensions } of errors ?? []) expect(extensions.requestId).toBe(reply.headers['x-request-id']);
  return reply;
}

function expectDecentErrors(errors: readonly PublicError[]): void {
  expect(JSON.stringify(errors)).not.toMatch(/stack|node_modules|\.[jt]s:\d|INTERNAL_SERVER_ERROR/);
  for (const { extensions } of errors) {
    expect(closedSet).toContain(extensions.code);
    expect(extensions.requestId).toEqual(expect.any(String));
  }
}

const codesIn = ({ text }: Reply): string[] =>
  ((JSON.parse(text) as { errors?: PublicError[] }).errors ?? []).map(({ extensions }) => extensions.code);
const dataIn = ({ text }: Reply): unknown => (JSON.parse(text) as { data?: unknown }).data;

async function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  url = app.url,
): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return decent({
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  });
}

const asks = (query: string, variables?: unknown): string => JSON.stringify({ query, variables });
const typename = asks('{ __typename }');

/** A plain connection: what is sent, byte by byte, and what comes of it. */
class Wire {
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        this.closed = true;
      });
    opened.add(() => socket.destroy());
  }

  static async open(url = app.url): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const wire = new Wire(connect(Number(port), hostname));
    await until('the connection opens', () => wire.socket.readyState === 'open');
    return wire;
  }

  write(bytes: string | Buffer): this {
    if (!this.closed) this.socket.write(bytes);
    return this;
  }

  /** The answers that have come in full, each of them found decent. */
  replies(bodyless = false): Reply[] {
    const replies: Reply[] = [];
    for (let rest = this.received; rest !== ''; ) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) break;
      const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      // Only refusals by Node itself come in chunks, of which they have none.
      const size = bodyless
        ? 0
        : headers['transfer-encoding'] === 'chunked'
          ? '0\r\n\r\n'.length
          : Number(headers['content-length'] ?? 0);
      if (rest.length < end + 4 + size) break;
      const text = Buffer.from(rest.slice(end + 4, end + 4 + size), 'latin1')
        .toString()
        .replace(/^0\r\n\r\n$/, '');
      rest = rest.slice(end + 4 + size);
      const status = Number(first.split(' ')[1]);
      replies.push(status === 100 ? { status, headers, text } : decent({ status, headers, text }, bodyless));
    }
    return replies;
  }

  async answers(count: number, bodyless = false): Promise<Reply[]> {
    await until(`${count} answers`, () => this.closed || this.replies(bodyless).length >= count);
    const replies = this.replies(bodyless);
    if (replies.length < count) throw new Error(`closed after ${replies.length} of ${count} answers`);
    return replies;
  }

  async end(): Promise<void> {
    await until('the gateway ends the connection', () => this.closed);
  }
}

/** A request as text; its length is told unless another is. */
function request(
  body = typename,
  headers: Record<string, string | number> = {},
  first = 'POST /graphql HTTP/1.1',
): string {
  const all: Record<string, string | number> = {
    host: 'x',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
  return `${first}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;
}

/** The head of a request, header lines as they are. */
const head = (...lines: readonly string[]): string =>
  ['POST /graphql HTTP/1.1', 'host: x', 'content-type: application/json', ...lines, '', ''].join('\r\n');

async function expectServing(url = app.url): Promise<void> {
  const reply = await post(asks('{ me { kind } }'), asAdmin, url);
  expect([reply.status, dataIn(reply)]).toEqual([200, { me: { kind: 'PLATFORM_ADMIN' } }]);
  const live = await LiveSocket.connect(url);
  live.subscribe('fresh', 'subscription { ticks(to: 1) }');
  await until('a fresh subscription runs to its end', () => live.of('fresh').length === 2);
  expect(live.of('fresh')).toEqual([
    { id: 'fresh', type: 'next', payload: { data: { ticks: 1 } } },
    { id: 'fresh', type: 'complete' },
  ]);
  live.end();
}

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** A socket of graphql-transport-ws by hand. Errors that come over it are found decent. */
/** How many alert streams this gateway's feed has. */
function followed(): number {
  const { partitions } = app.gateway.services.alertFeed as unknown as {
    readonly partitions: ReadonlyMap<number, { readonly streams: ReadonlySet<unknown> }>;
  };
  return [...partitions.values()].reduce((sum, { streams }) => sum + streams.size, 0);
}

class LiveSocket {
  readonly messages: Message[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly socket: WebSocket;

  constructor(url: string, protocols: string | string[] = 'graphql-transport-ws') {
    this.socket = new WebSocket(url, protocols);
    this.socket.on('message', (data) => this.messages.push(JSON.parse(String(data)) as Message));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    this.socket.on('error', () => {});
    opened.add(() => this.end());
  }

  static async open(url = app.url, protocols?: string | string[]): Promise<LiveSocket> {
    const live = new LiveSocket(url, protocols);
    await until('the socket opens', () => live.socket.readyState === WebSocket.OPEN);
    return live;
  }

  static async connect(url = app.url, payload: unknown = asAdmin): Promise<LiveSocket> {
    const live = await LiveSocket.open(url);
    live.send({ type: 'connection_init', payload });
    await until('the socket is let in', () => live.messages.some(({ type }) => type === 'connection_ack'));
    return live;
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, variables?: unknown): void {
    this.send({ type: 'subscribe', id, payload: { query, variables } });
  }

  of(id: string): Message[] {
    return this.messages.filter((message) => message.id === id);
  }

  /** The codes a subscription was refused with. */
  async refusal(id: string): Promise<string[]> {
    await until(
      'the subscription is refused',
      () => this.of(id).some(({ type }) => type === 'error') || this.closed !== undefined,
    );
    const errors = this.of(id)[0]?.payload as PublicError[];
    expectDecentErrors(errors);
    return [...new Set(errors.map(({ extensions }) => extensions.code))];
  }

  async closeCode(): Promise<number | undefined> {
    await until('the socket is closed', () => this.closed !== undefined);
    return this.closed?.code;
  }

  end(): void {
    this.socket.terminate();
  }
}

const endless = 'subscription { ticks(to: 1000000, everyMs: 50) }';

/** The bytes of one frame of a client, masked with zeros. */
function frame(opcode: number, payload: Buffer | string = '', last = true): Buffer {
  const bytes = Buffer.from(payload);
  const size =
    bytes.length < 126
      ? Buffer.from([0x80 | bytes.length])
      : Buffer.from([0xfe, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([Buffer.from([(last ? 0x80 : 0) | opcode]), size, Buffer.alloc(4), bytes]);
}
const text = 1;
const binary = 2;
const ping = 9;
const pong = 10;

const upgradeLines = [
  'host: x',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  `sec-websocket-key: ${'A'.repeat(22)}==`,
];
const protocolLine = 'sec-websocket-protocol: graphql-transport-ws';

/** A socket below the library: let in, and from then on whatever bytes a test likes. */
async function bareSocket(url = app.url): Promise<Wire> {
  const wire = await Wire.open(url);
  wire.write(['GET /graphql HTTP/1.1', ...upgradeLines, protocolLine, '', ''].join('\r\n'));
  await until('the upgrade is taken', () => wire.received.includes('101 Switching'));
  wire.write(frame(text, JSON.stringify({ type: 'connection_init', payload: asAdmin })));
  await until('the socket is let in', () => wire.received.includes('connection_ack'));
  return wire;
}

/** An edge of its own on the app's services: its connections can be counted, and its patience shortened. */
async function ownEdge(
  patience: Partial<Record<'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval', number>> = {},
) {
  const edge = await createHttpServer(app.gateway.services, schema);
  const server = Object.assign(edge.server, patience);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    connections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async stop() {
      endAll();
      server.closeAllConnections();
      await edge.close();
    },
  };
}

describe('a slow client', () => {
  const hasty = { headersTimeout: 400, requestTimeout: 800, connectionsCheckingInterval: 50 };

  it.each([
    ['sends its headers byte by byte', head(`content-length: ${typename.length}`, `x-padding: ${'x'.repeat(10_000)}`)],
    ['sends its request line byte by byte', `POST /graphql?${'x'.repeat(10_000)}`],
    ['sends its body byte by byte', request(typename.padEnd(10_000))],
    ['sends its chunks byte by byte', `${head('transfer-encoding: chunked')}2710\r\n${typename.padEnd(10_000)}`],
  ])('that %s is cut off, and others are served meanwhile', async (_how, bytes) => {
    const edge = await ownEdge(hasty);
    try {
      const wire = await Wire.open(edge.url);
      // All of the head at once where it is the body that drips.
      const begun = bytes.includes('x-padding') || bytes.includes('?') ? 0 : bytes.indexOf('\r\n\r\n') + 4;
      wire.write(bytes.slice(0, begun));
      for (let i = begun; !wire.closed && i < begun + 1000; i++) {
        wire.write(bytes.charAt(i));
        if (i === begun + 3) await expectServing(edge.url);
        await sleep(10);
      }
      expect(wire.closed).toBe(true);
      expect(wire.replies().map(({ status }) => status)).toEqual([408]);
    } finally {
      await edge.stop();
    }
  });

  it('that never says a word is cut off too', async () => {
    const edge = await ownEdge(hasty);
    try {
      const wire = await Wire.open(edge.url);
      await wire.end();
      expect(wire.replies().map(({ status }) => status)).toEqual([408]);
    } finally {
      await edge.stop();
    }
  });

  it('is looked for at least as often as it is promised to be cut off', async () => {
    const { server } = await createHttpServer(app.gateway.services, schema);
    const { headersTimeout, requestTimeout, connectionsCheckingInterval } = server as Server & {
      readonly connectionsCheckingInterval: number;
    };
    expect(headersTimeout).toBe(10_000);
    expect(requestTimeout).toBeLessThanOrEqual(15_000);
    // Node looks only every 30 s unless told otherwise, and a bound of 10 s is then one of 40.
    expect(connectionsCheckingInterval).toBeLessThanOrEqual(headersTimeout / 2);
  });
});

describe('a broken client', () => {
  it.each([
    ['never uses its connections', 200, ''],
    ['stops in the middle of its headers', 50, 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-'],
    ['stops in the middle of its body', 50, request('{"query":', { 'content-length': 1000 })],
    ['stops in the middle of a chunk', 50, `${head('transfer-encoding: chunked')}ff\r\n{"query"`],
  ])('that %s holds up nobody and leaves nothing behind, whether it hangs up or resets', async (_how, count, bytes) => {
    const edge = await ownEdge();
    try {
      const wires = await Promise.all(repeated(count, () => Wire.open(edge.url)));
      for (const wire of wires) wire.write(bytes);
      await until('all are connected', async () => (await edge.connections()) >= count);
      await expectServing(edge.url);
      expect(wires.filter(({ closed, received }) => closed || received !== '')).toEqual([]);
      for (const [i, { socket }] of wires.entries()) i % 2 === 0 ? socket.resetAndDestroy() : socket.destroy();
      // The connections of `fetch` are kept alive, and few.
      await until('all are gone', async () => (await edge.connections()) < 5);
      await expectServing(edge.url);
    } finally {
      await edge.stop();
    }
  });

  it('that resets its connection before its answers come leaves nothing behind', async () => {
    const edge = await ownEdge();
    try {
      const wires = await Promise.all(repeated(50, () => Wire.open(edge.url)));
      for (const { socket } of wires)
        socket.write(request(asks('{ orgs { nodes { name } } }'), asAdmin), () => socket.resetAndDestroy());
      await until('all are gone', async () => (await edge.connections()) < 5);
      await expectServing(edge.url);
    } finally {
      await edge.stop();
    }
  });

  it('that asks for several event streams on one connection and hangs up leaves none of them open', async () => {
    const own = await app.another();
    try {
      const wire = await Wire.open(own.url);
      const stream = request(asks(endless), { ...asAdmin, accept: 'text/event-stream' });
      wire.write(stream.repeat(3));
      await until('all are open', async () => (await openStreams(own, 'sse')) === 3);
      wire.socket.destroy();
      await until('all are ended', async () => (await openStreams(own, 'sse')) === 0, 4000);
    } finally {
      await own.stop();
    }
  });
});

describe('requests in a row', () => {
  it('sent without waiting are answered in their order', async () => {
    const wire = await Wire.open();
    const ids = repeated(60, (i) => `row-${i}`);
    // The slow ones first: they must not be overtaken.
    wire.write(
      ids
        .map((id, i) =>
          request(asks(i % 3 === 0 ? '{ orgs { nodes { name } } }' : '{ __typename }'), {
            ...asAdmin,
            'x-request-id': id,
          }),
        )
        .join(''),
    );
    const replies = await wire.answers(60);
    expect(replies.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('are answered up to the one that is garbage, which ends the connection', async () => {
    const wire = await Wire.open();
    wire.write(`${request()}${request()}`);
    await wire.answers(2);
    wire.write('garbage\r\n\r\n');
    await wire.end();
    expect(wire.replies().map(({ status }) => status)).toEqual([200, 200, 400]);
  });

  it('do not lend their credentials to the next', async () => {
    const wire = await Wire.open();
    wire.write(`${request(asks('{ me { kind } }'), asAdmin)}${request(asks('{ me { kind } }'))}`);
    const [first, second] = (await wire.answers(2)) as [Reply, Reply];
    expect(dataIn(first)).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
    expect(codesIn(second)).toEqual(['UNAUTHENTICATED']);
  });
});

describe('what is no HTTP', () => {
  const smuggled = request(asks('{ smuggled }'));

  it.each<[what: string, bytes: string | Buffer]>([
    ['words', 'hello, is anybody there?\r\n\r\n'],
    ['noise', Buffer.from(repeated(4096, (i) => (i * 151 + 7) % 256))],
    ['zeros', Buffer.alloc(1000)],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that is none', 'GET /graphql HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['a method that is none', 'BREW /graphql HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a header without a name', head('content-length: 0', ': x')],
    ['a header name with a blank', head('content-length: 0', 'x y: z')],
    ['a blank before the colon', head('content-length : 15')],
    ['a header that goes on in the next line after a bare return', head('content-length: 0', 'x-a: b\rx-admin-key: c')],
    ['a header with a NUL', head('content-length: 0', 'x-a: b\0c')],
    ['a length that is no number', head('content-length: many') + typename],
    ['a negative length', head('content-length: -1') + typename],
    ['a length in hex', head('content-length: 0x1b') + typename],
    ['a length beyond all numbers', head(`content-length: ${'9'.repeat(40)}`) + typename],
    ['two lengths', head(`content-length: ${typename.length}`, 'content-length: 0') + typename + smuggled],
    ['two lengths in one line', head(`content-length: ${typename.length}, 0`) + typename + smuggled],
    ['a length and chunks', `${head('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['chunks and a length', `${head('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n${smuggled}`],
    ['chunks that are not the last encoding', `${head('transfer-encoding: chunked, identity')}0\r\n\r\n${smuggled}`],
    ['an encoding that only resembles chunks', `${head('transfer-encoding: xchunked')}0\r\n\r\n${smuggled}`],
    ['a chunk whose size is none', `${head('transfer-encoding: chunked')}zz\r\n${typename}\r\n0\r\n\r\n`],
    [
      'a chunk whose size overflows',
      `${head('transfer-encoding: chunked')}${'f'.repeat(20)}\r\n${typename}\r\n0\r\n\r\n`,
    ],
    ['a chunk longer than its size', `${head('transfer-encoding: chunked')}2\r\n${typename}\r\n0\r\n\r\n`],
  ])('is refused with 400 and the connection ended: %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    const replies = wire.replies();
    // A request whose body turns out to be none has no answer of its own; nothing after it is one either.
    expect(replies.map(({ status }) => status)).toEqual([400]);
    expect(wire.received).not.toContain('smuggled');
  });

  it.each([
    [
      'longer than it says',
      request(typename + smuggled.replace('POST', 'POSED'), { 'content-length': typename.length }),
    ],
    ['cut by its own length', request(typename, { 'content-length': 10 })],
  ])('is what follows a body that is %s: the connection ends with it', async (_how, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    // Where both come in one piece, the fault is found before the request is answered.
    expect(wire.replies().at(-1)).toMatchObject({ status: 400, text: '' });
    expect(wire.replies().length).toBeLessThanOrEqual(2);
    expect(wire.received).not.toContain('smuggled');
  });
});

describe('the head of a request', () => {
  it.each([
    ['a header of 100 KB', request(typename, { 'x-padding': 'x'.repeat(100_000) })],
    ['a credential of 100 KB', request(typename, { authorization: `Bearer ${'x'.repeat(100_000)}` })],
    ['5,000 headers', request(typename, Object.fromEntries(repeated(5000, (i) => [`x-${i}`, i])))],
    ['an address of 100 KB', request(typename, {}, `POST /graphql?${'x'.repeat(100_000)} HTTP/1.1`)],
    ['a query of 100 KB by GET', `GET /graphql?query=${'x'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('is refused with 431, and the connection ended: %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    expect(wire.replies().map(({ status }) => status)).toEqual([431]);
  });

  it.each([
    ['1,000 headers', request(typename, Object.fromEntries(repeated(1000, (i) => [`x-${i}`, i])))],
    ['an address of 10 KB', request(typename, {}, `POST /graphql?${'x'.repeat(10_000)} HTTP/1.1`)],
    [
      'a query of 10 KB by GET',
      `GET /graphql?query=${encodeURIComponent('{ __typename } ')}${'%20'.repeat(3300)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ],
    ['an answer it is ready to wait for', request(typename, { expect: '100-continue' })],
  ])('may have %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await until('it is answered', () => wire.replies().some(({ status }) => status !== 100));
    const reply = wire.replies().at(-1) as Reply;
    expect([reply.status, dataIn(reply)]).toEqual([200, { __typename: 'Query' }]);
  });

  it('that waits to be told to go on is told so, once', async () => {
    const wire = await Wire.open();
    const whole = request(typename, { expect: '100-continue' });
    wire.write(whole.slice(0, -typename.length));
    await until('it may go on', () => wire.received.includes('100 Continue'));
    wire.write(typename);
    await wire.answers(2);
    expect(wire.replies().map(({ status }) => status)).toEqual([100, 200]);
  });

  it('that expects something else is refused with 417', async () => {
    const wire = await Wire.open();
    wire.write(request(typename, { expect: 'a-miracle' }));
    expect((await wire.answers(1)).map(({ status }) => status)).toEqual([417]);
  });

  it.each(['TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'LINK'])('may not ask for %s', async (method) => {
    const wire = await Wire.open();
    wire.write(request(typename, { 'x-secret': 'echo' }, `${method} /graphql HTTP/1.1`));
    const [reply] = (await wire.answers(1)) as [Reply];
    expect([reply.status, reply.headers.allow, codesIn(reply)]).toEqual([405, 'GET, POST', ['BAD_USER_INPUT']]);
    // TRACE would repeat what was sent, credentials and all.
    expect(wire.received).not.toContain('echo');
  });

  it('that asks for the head alone gets 405 without a body', async () => {
    const wire = await Wire.open();
    wire.write('HEAD /graphql HTTP/1.1\r\nhost: x\r\n\r\n');
    const [reply] = (await wire.answers(1, true)) as [Reply];
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST']);
    await sleep(50);
    expect(wire.received.endsWith('\r\n\r\n')).toBe(true);
  });

  it('that asks for a tunnel gets none', async () => {
    const wire = await Wire.open();
    wire.write('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n');
    await wire.end();
    expect(wire.received).toBe('');
  });

  it('that offers another protocol beside a plain request is answered, not left waiting', async () => {
    const wire = await Wire.open();
    wire.write(
      request(typename, {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
      }),
    );
    await until('it is answered', () => wire.received.includes('\r\n\r\n'));
    // By RFC 9110, 7.8, an offer that is not taken up is ignored; Java's HTTP client makes this one by default.
    expect(wire.received).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a body', () => {
  it('without an end is refused with 413, and the connection ended', async () => {
    const wire = await Wire.open();
    wire.write(head('transfer-encoding: chunked'));
    for (let i = 0; !wire.closed && i < 2000; i++) {
      wire.write(`4000\r\n${' '.repeat(0x4000)}\r\n`);
      await sleep(1);
    }
    expect(wire.closed).toBe(true);
    expect(wire.received).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ['gzip', gzipSync(typename)],
    ['gzip, of much more than is allowed', gzipSync(Buffer.alloc(10_000_000, ' '))],
    ['br', Buffer.from(typename)],
    ['deflate', Buffer.from('00ff00ff', 'hex')],
  ])('that is packed is refused as such: %s', async (encoding, bytes) => {
    const reply = await post(new Uint8Array(bytes), { 'content-encoding': encoding.split(',')[0] as string });
    expect([reply.status, codesIn(reply)]).toEqual([415, ['BAD_USER_INPUT']]);
  });

  it('that says it is not packed is taken', async () => {
    expect((await post(typename, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  it.each([
    ['a stray byte in a string', Buffer.from('{"query":"{ __typename } # \xff"}', 'latin1')],
    [
      'a letter of Latin-1 in a variable',
      Buffer.from('{"query":"{ __typename }","variables":{"name":"caf\xe9"}}', 'latin1'),
    ],
    ['an overlong sequence', Buffer.from('{"query":"{ __typename } # \xc0\xaf"}', 'latin1')],
    ['a surrogate in bytes', Buffer.from('{"query":"{ __typename } # \xed\xa0\x80"}', 'latin1')],
    ['a sequence that is cut off', Buffer.from('{"query":"{ __typename }"}\xe2\x82', 'latin1')],
    ['UTF-16', Buffer.from(typename, 'utf16le')],
  ])('that is no UTF-8 is refused, not mended: %s', async (_what, bytes) => {
    const reply = await post(new Uint8Array(bytes));
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
  });

  it('with a byte order mark is refused as no JSON', async () => {
    const reply = await post(`\ufeff${typename}`);
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
  });

  it('in UTF-8 arrives as it was sent', async () => {
    const appId = 'gr\u00fc\u00dfe-\u{1f6a6}';
    const reply = await post(
      asks('query ($appId: String!) { org { app(appId: $appId) { name } } }', { appId }),
      bearer(org),
    );
    expect([reply.status, dataIn(reply)]).toEqual([200, { org: { app: null } }]);
  });

  const deep = (open: string, close: string): string =>
    open.repeat(100_000 / open.length) + close.repeat(100_000 / open.length);
  it.each([
    ['lists that are never closed', '['.repeat(100_000), 400],
    ['lists', deep('[', ']'), 400],
    ['objects', `${deep('{"a":', '}').replace('{"a":}', '{"a":1}')}`, 400],
    ['lists in a variable nobody asked for', `{"query":"{ __typename }","variables":{"a":${deep('[', ']')}}}`, 200],
    ['lists in the extensions', `{"query":"{ __typename }","extensions":{"a":${deep('[', ']')}}}`, 200],
    [
      'lists for a string',
      `{"query":"query ($a: String!) { org { app(appId: $a) { name } } }","variables":{"a":${deep('[', ']')}}}`,
      400,
    ],
    [
      'lists for a list of strings',
      `{"query":"mutation ($a: [String!]) { updateOrg(input: { modelOrdering: $a }) { name } }","variables":{"a":${deep('[', ']')}}}`,
      400,
    ],
    [
      'lists for an input',
      `{"query":"mutation ($a: UpdateOrgInput!) { updateOrg(input: $a) { name } }","variables":{"a":{"quotas":${deep('[', ']')}}}}`,
      400,
    ],
  ])('100,000 deep is answered as any other: %s', async (_what, body, status) => {
    const reply = await post(body, { ...bearer(org), accept: 'application/graphql-response+json' });
    expect(reply.status).toBe(status);
    if (status === 400) expect(new Set(codesIn(reply))).toEqual(new Set(['BAD_USER_INPUT']));
  });

  it('that names a key twice is taken by the last', async () => {
    const reply = await post('{"query":"{ nothing }","variables":[],"query":"{ __typename }","variables":{}}');
    expect([reply.status, dataIn(reply)]).toEqual([200, { __typename: 'Query' }]);
  });

  it.each([
    '1e999',
    '-1e999',
    '1e-999',
    '9007199254740993',
    '4294967297',
    '-2147483649',
    '0.5',
    '"1"',
    'true',
    '[]',
    '{}',
  ])('with %s for a whole number is refused', async (number) => {
    const reply = await post(
      `{"query":"query ($n: Int) { orgs(first: $n) { nodes { name } } }","variables":{"n":${number}}}`,
      asAdmin,
    );
    expect([dataIn(reply) ?? null, codesIn(reply)]).toEqual([null, ['BAD_USER_INPUT']]);
  });

  it.each(['"\\ud800"', '"\\u0000"', '"a\\u0000b"', '"\\udc00\\ud800"', '""', `"${'x'.repeat(100_000)}"`])(
    'with text that is none for an id finds nothing (%#)',
    async (value) => {
      const reply = await post(
        `{"query":"query ($a: String!) { org { app(appId: $a) { name } } }","variables":{"a":${value}}}`,
        bearer(org),
      );
      expect([reply.status, dataIn(reply)]).toEqual([200, { org: { app: null } }]);
    },
  );
});

describe('keys that every object inherits', () => {
  const who = 'query ($orgId: UUID!) { org(orgId: $orgId) { name } }';

  it.each(['__proto__', 'constructor', 'prototype'])('plant no variable by way of %s', async (key) => {
    const reply = await post(
      `{"query":${JSON.stringify(who)},"variables":{"${key}":{"orgId":"${org.orgId}"}}}`,
      asAdmin,
    );
    expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
    expect(reply.text).not.toContain('Acme');
  });

  it.each(['__proto__', 'constructor', 'toString'])('plant no field of an input by way of %s', async (key) => {
    const reply = await post(
      `{"query":"mutation ($i: UpdateOrgInput!) { updateOrg(input: $i) { name } }","variables":{"i":{"${key}":{"name":"Planted"}}}}`,
      bearer(org),
    );
    expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
    expect(({} as Record<string, unknown>).name).toBeUndefined();
    expect((await org.caller.ask<{ org: { name: string } }, never>('{ org { name } }')).org.name).toBe('Acme');
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('are no label of a quota: %s', async (label) => {
    const reply = await post(
      asks('mutation ($i: UpdateOrgInput!) { updateOrg(input: $i) { name } }', {
        i: { quotas: [{ label, dailyUsdMicros: 999 }] },
      }),
      bearer(org),
    );
    expect(['BAD_USER_INPUT', 'INVALID_MODEL_LABEL']).toContain(codesIn(reply)[0]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'are no operation, app or device: %s',
    async (name) => {
      const named = await post(
        JSON.stringify({ query: 'query A { __typename } query B { __typename }', operationName: name }),
      );
      expect(codesIn(named)).toEqual(['BAD_USER_INPUT']);
      const found = await post(asks(`{ org { app(appId: "${name}") { name } } ${name} }`), bearer(org));
      expect(codesIn(found)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
      expect(dataIn(await post(asks(`{ org { app(appId: "${name}") { name } } }`), bearer(org)))).toEqual({
        org: { app: null },
      });
    },
  );

  // 1 + 1 + 100 × 99 + 1 + 98: beyond 10,000, unless the page is counted as the 50 of its default.
  const costly = (variable: string): string =>
    `query ($${variable}: Int = 100) { orgs(first: $${variable}) { nodes { ${'name '.repeat(50)} ${'orgId '.repeat(49)} } } models { ${'label '.repeat(49)} ${'tier '.repeat(49)} } }`;
  it.each(['n', 'constructor', 'toString', 'valueOf', '__proto__'])(
    'as the name of a variable hide no cost: %s',
    async (variable) => {
      const reply = await post(asks(costly(variable), {}), asAdmin);
      expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
      expect(reply.text).toContain('complexity');
    },
  );
});

describe('a socket', () => {
  it.each([
    ['with a protocol of another kind', ['soap'], undefined],
    ['with the older protocol', ['graphql-ws'], undefined],
    ['with no protocol', [], 4406],
  ])('%s is not served', async (_what, protocols, code) => {
    const live = new LiveSocket(app.url, protocols);
    await until('it is refused', () => live.closed !== undefined);
    if (code) expect(live.closed?.code).toBe(code);
    expect(live.messages).toEqual([]);
  });

  it('finds its protocol among several', async () => {
    const live = await LiveSocket.open(app.url, ['soap', 'graphql-transport-ws', 'graphql-ws']);
    expect(live.socket.protocol).toBe('graphql-transport-ws');
  });

  it.each([
    ['with no key', (lines: string[]) => lines.filter((line) => !line.includes('key'))],
    ['with a key that is none', (lines: string[]) => lines.map((line) => line.replace(/key: .*/, 'key: x'))],
    ['of an older version', (lines: string[]) => lines.map((line) => line.replace('13', '7'))],
    [
      'to something else',
      (lines: string[]) => lines.map((line) => line.replace('upgrade: websocket', 'upgrade: telnet')),
    ],
  ])('is not made by an upgrade %s', async (_what, change) => {
    const wire = await Wire.open();
    wire.write(['GET /graphql HTTP/1.1', ...change([...upgradeLines, protocolLine]), '', ''].join('\r\n'));
    await until('it is answered', () => wire.received.includes('\r\n\r\n'));
    expect(wire.received).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(wire.received).not.toMatch(/node_modules| {4}at /);
  });

  it('is not made by an upgrade that is a POST', async () => {
    const wire = await Wire.open();
    wire.write(
      [
        'POST /graphql HTTP/1.1',
        ...upgradeLines,
        protocolLine,
        `content-length: ${typename.length}`,
        '',
        typename,
      ].join('\r\n'),
    );
    await wire.end();
    expect(wire.received).toMatch(/^HTTP\/1\.1 405 /);
  });

  it('is ended where the body of its upgrade is no frame', async () => {
    const wire = await Wire.open();
    wire.write(
      ['GET /graphql HTTP/1.1', ...upgradeLines, protocolLine, `content-length: ${typename.length}`, '', typename].join(
        '\r\n',
      ),
    );
    await until('the gateway says goodbye', () => wire.closed || wire.received.includes('\x88'));
    expect(wire.received).not.toContain('connection_ack');
  });
});

describe('a message on a socket', () => {
  const subscribe = (payload: unknown, id: unknown = '1') => JSON.stringify({ type: 'subscribe', id, payload });
  const ticks = 'subscription { ticks(to: 1) }';

  it.each([
    ['a payload that is null', subscribe(null)],
    ['a payload that is a list', subscribe([ticks])],
    ['a payload that is text', subscribe(ticks)],
    ['no query', subscribe({})],
    ['a query that is a list', subscribe({ query: [ticks] })],
    ['variables that are a list', subscribe({ query: ticks, variables: [] })],
    ['variables that are text', subscribe({ query: ticks, variables: '{}' })],
    ['an operation name that is a number', subscribe({ query: ticks, operationName: 7 })],
    ['extensions that are text', subscribe({ query: ticks, extensions: 'x' })],
    ['an id that is a number', subscribe({ query: ticks }, 1)],
    ['an id that is an object', subscribe({ query: ticks }, {})],
    ['an empty id', subscribe({ query: ticks }, '')],
    ['a type that every object inherits', '{"type":"constructor","id":"1"}'],
    ['a type only the gateway may send', '{"type":"connection_ack"}'],
    ['a result from the wrong side', '{"type":"next","id":"1","payload":{"data":null}}'],
    ['a ping whose payload is text', '{"type":"ping","payload":"x"}'],
    ['a complete without an id', '{"type":"complete"}'],
    ['60,000 lists', '['.repeat(60_000)],
  ])('of the wrong form ends it with a code of the protocol: %s', async (_what, message) => {
    const live = await LiveSocket.connect();
    live.send(message);
    // 4400 is a message of the wrong form; 4500 would be a fault of ours.
    expect(await live.closeCode()).toBe(4400);
  });

  it.each([
    ['is null', null],
    ['is absent', undefined],
    ['is empty', {}],
    [
      'has keys that every object inherits',
      JSON.parse('{"__proto__":{"x-admin-key":"x"},"constructor":{"x-admin-key":"x"}}'),
    ],
  ])('that begins it ends it as unauthorized if its payload %s', async (_what, payload) => {
    const live = await LiveSocket.open();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4401);
    expect(live.messages).toEqual([]);
  });

  it.each([
    ['a list', []],
    ['text', 'x-admin-key'],
    ['a number', 7],
  ])('that begins it with %s for a payload ends it', async (_what, payload) => {
    const live = await LiveSocket.open();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4400);
  });

  it('that begins it a second time, at once, ends it', async () => {
    const live = await LiveSocket.open();
    for (let i = 0; i < 5; i++) live.send({ type: 'connection_init', payload: asAdmin });
    expect(await live.closeCode()).toBe(4429);
  });

  it.each([
    ['short', 'x'],
    ['as long as a reason may not be', 'x'.repeat(128)],
  ])('that takes an id twice ends it: an id %s', async (_what, id) => {
    const live = await LiveSocket.connect();
    live.subscribe(id, endless);
    live.subscribe(id, endless);
    expect(await live.closeCode()).toBe(4409);
  });

  it('may take an id again once it was completed, and hears nothing more of the first', async () => {
    const live = await LiveSocket.connect();
    live.subscribe('x', endless);
    await until('it runs', () => live.of('x').length > 0);
    live.send({ type: 'complete', id: 'x' });
    live.send({ type: 'complete', id: 'x' });
    live.subscribe('y', ticks);
    await until('the next one ends', () => live.of('y').some(({ type }) => type === 'complete'));
    const before = live.of('x').length;
    live.subscribe('x', 'subscription { ticks(to: 3) }');
    await until('the last one ends', () => live.of('x').some(({ type }) => type === 'complete'));
    await sleep(200);
    expect(live.of('x').slice(before)).toEqual([
      ...[1, 2, 3].map((tick) => ({ id: 'x', type: 'next', payload: { data: { ticks: tick } } })),
      { id: 'x', type: 'complete' },
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString', '\u0000', 'x'.repeat(128)])(
    'may have an odd id (%#)',
    async (id) => {
      const live = await LiveSocket.connect();
      live.send({ type: 'complete', id });
      live.subscribe(id, ticks);
      await until('it ends', () => live.closed !== undefined || live.of(id).length === 2);
      expect(live.of(id).map(({ type }) => type)).toEqual(['next', 'complete']);
    },
  );

  it('must not have an id of more than 128 characters: it is repeated in every message', async () => {
    const live = await LiveSocket.connect();
    live.subscribe('x'.repeat(129), ticks);
    expect(await live.closeCode()).toBe(4400);
  });

  it('may complete what never was, 10,000 times', async () => {
    const live = await LiveSocket.connect();
    for (let i = 0; i < 10_000; i++) live.send({ type: 'complete', id: `never-${i}` });
    live.subscribe('1', ticks);
    await until('it goes on', () => live.of('1').length === 2);
    expect(live.closed).toBeUndefined();
  });

  it('may be begun and completed in one breath, and then does not run', async () => {
    const before = followed();
    const live = await LiveSocket.connect();
    const query = 'subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }';
    for (let i = 0; i < 50; i++) {
      live.subscribe(`${i}`, query, { orgId: org.orgId });
      live.send({ type: 'complete', id: `${i}` });
      live.subscribe(`${i}`, query, { orgId: org.orgId });
    }
    live.end();
    await until('nothing is followed any more', () => followed() === before);
  });

  it('may be begun and completed 2,000 times, and leaves no operation behind', async () => {
    const live = await LiveSocket.connect();
    for (let i = 0; i < 2000; i++) {
      live.subscribe(`${i}`, endless);
      live.send({ type: 'complete', id: `${i}` });
    }
    // Ten at once are allowed: were any of the 2,000 still counted, there would be no room.
    for (let i = 0; i < 10; i++) live.subscribe(`last-${i}`, ticks);
    await until('the last ones end', () => repeated(10, (i) => live.of(`last-${i}`).length === 2).every(Boolean));
    expect(repeated(10, (i) => live.of(`last-${i}`)[0]?.type)).toEqual(repeated(10, () => 'next'));
  });

  it.each([
    [
      '5,000 aliases',
      `subscription { ${repeated(5000, (i) => `a${i}: ticks(to: 1)`).join(' ')} }`.slice(0, 60_000),
      'GRAPHQL_PARSE_FAILED',
    ],
    ['braces 20,000 deep', `subscription ${'{ a'.repeat(20_000)}`, 'GRAPHQL_PARSE_FAILED'],
    ['lists 20,000 deep', `subscription { ticks(to: ${'['.repeat(20_000)}`, 'GRAPHQL_PARSE_FAILED'],
    ['two root fields', 'subscription { ticks(to: 1) bulk }', 'GRAPHQL_VALIDATION_FAILED'],
    ['text that is not GraphQL', '\u0000\ud800', 'GRAPHQL_PARSE_FAILED'],
    ['a field of the schema itself', 'subscription { __schema { types { name } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a mutation beside it, by its name', 'mutation { revokeToken(token: "x") }', 'BAD_USER_INPUT'],
  ])('with %s is refused and the socket goes on, in development and production', async (_what, query, code) => {
    for (const { url } of [app, production]) {
      const live = await LiveSocket.connect(url);
      live.subscribe('1', query);
      expect(await live.refusal('1')).toEqual([code]);
      live.subscribe('2', ticks);
      await until('the next is served', () => live.of('2').length === 2);
    }
  });

  it('with a field the schema does not have names no other in production', async () => {
    const live = await LiveSocket.connect(production.url);
    live.subscribe('1', 'subscription { quotaAlertz { id } }');
    expect(await live.refusal('1')).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(JSON.stringify(live.of('1'))).not.toMatch(/did you mean|quotaAlerts\b/i);
  });
});

describe('a frame', () => {
  const message = JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { ticks(to: 1) }' } });

  it.each<[how: string, outcome: 'served' | 'refused', frames: Buffer[]]>([
    ['binary', 'served', [frame(binary, message)]],
    [
      'in pieces of one byte',
      'served',
      [...message].map((letter, i) => frame(i === 0 ? text : 0, letter, i === message.length - 1)),
    ],
    [
      'with 20,000 empty pieces',
      'refused',
      [frame(text, message, false), ...repeated(20_000, () => frame(0, '', false)), frame(0)],
    ],
    [
      'with pings between its pieces',
      'served',
      [frame(text, message.slice(0, 9), false), ...repeated(100, () => frame(ping, 'x')), frame(0, message.slice(9))],
    ],
    ['after 20,000 pings', 'served', [...repeated(20_000, () => frame(ping, 'x'.repeat(100))), frame(text, message)]],
    [
      'after 20,000 answers to no ping',
      'served',
      [...repeated(20_000, () => frame(pong, 'x'.repeat(100))), frame(text, message)],
    ],
  ])('%s is %s, and nobody waits for it', async (_how, outcome, frames) => {
    const wire = await bareSocket();
    wire.write(Buffer.concat(frames));
    await expectServing();
    const isServed = () => wire.received.includes('"ticks":1');
    await until('it is served or refused', () => isServed() || wire.closed || wire.received.includes('\x88'));
    expect(isServed()).toBe(outcome === 'served');
  });

  it('that is wrong, or a message that is, is no matter for the terminal', async () => {
    const [wire, live] = [await bareSocket(), await LiveSocket.connect()];
    wire.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
    live.send('{"type":"connection_ack"}');
    await until('both are ended', () => live.closed !== undefined && (wire.closed || wire.received.includes('\x88')));
    // With its stack, past the log and its form, as often as a stranger likes.
    expect(printed.mock.calls.map(([first]) => first)).toEqual([]);
  });

  it('in pieces without an end is ended at 64 KB', async () => {
    const wire = await bareSocket();
    wire.write(frame(text, 'x'.repeat(1000), false));
    for (let i = 0; i < 100 && !wire.closed; i++) wire.write(frame(0, 'x'.repeat(1000), false));
    // 0x03f1 is 1009, too big.
    await until('the gateway ends it', () => wire.received.includes('\x88') || wire.closed);
    expect(wire.received).toContain('\x03\xf1');
  });

  it.each([
    ['whose length is told as 2^62', Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), '\x03\xf1'],
    ['of a kind that is none', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), '\x03\xea'],
    ['that goes on with nothing', frame(0, 'x'), '\x03\xea'],
    ['that is a ping of 200 bytes', frame(ping, 'x'.repeat(200)), '\x03\xea'],
    ['that closes with a code that is none', frame(8, Buffer.from([0, 1])), '\x03\xea'],
  ])('%s ends the socket', async (_what, bytes, code) => {
    const wire = await bareSocket();
    wire.write(bytes);
    await until('the gateway ends it', () => wire.received.includes('\x88') || wire.closed);
    expect(wire.received).toContain(code);
  });
});

describe('a reader that never reads, but says it is alive', () => {
  const refused = (i: number) =>
    frame(text, JSON.stringify({ type: 'subscribe', id: `${i}`.padEnd(128), payload: { query: 'x' } }));
  const echoed = frame(text, JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(50_000) } }));
  const pinged = frame(ping, 'x'.repeat(125));

  // Each brings some 20 MB of answers; the network itself takes a few of them before any wait in the gateway.
  it.each<[how: string, batches: number, batch: (batch: number) => Buffer[]]>([
    ['by errors', 40, (batch) => repeated(2000, (i) => refused(batch * 2000 + i))],
    ['by echoes', 40, () => repeated(10, () => echoed)],
    ['by answers to pings', 40, () => repeated(4000, () => pinged)],
  ])('is cut off rather than buffered for: %s', async (_how, batches, batch) => {
    const own = await app.another();
    try {
      const wire = await bareSocket(own.url);
      await until('the socket is counted', async () => (await openStreams(own)) === 1);
      wire.socket.pause();
      const alive = setInterval(() => wire.write(frame(pong)), 200);
      opened.add(() => clearInterval(alive));
      for (let i = 0; i < batches; i++) {
        wire.write(Buffer.concat(batch(i)));
        await sleep(1);
      }
      await until('the gateway ends it', async () => (await openStreams(own)) === 0, 5000);
      await expectServing(own.url);
    } finally {
      endAll();
      await own.stop();
    }
  });
});

describe('500 idle subscriptions', () => {
  const query = 'subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id kind } }';
  interface Follower {
    readonly events: string[];
    end(): void;
  }

  async function overSocket(orgId: string): Promise<Follower> {
    const live = await LiveSocket.connect();
    const events: string[] = [];
    live.socket.on('message', (data) => {
      const { type, payload } = JSON.parse(String(data)) as Message;
      if (type !== 'pong') events.push(JSON.stringify(payload));
    });
    live.subscribe('1', query, { orgId });
    return { events, end: () => live.end() };
  }

  async function overEvents(orgId: string): Promise<Follower> {
    const wire = await Wire.open();
    wire.write(request(asks(query, { orgId }), { ...asAdmin, accept: 'text/event-stream' }));
    await until('the stream opens', () => wire.received.includes('text/event-stream'));
    const follower = { end: () => void wire.socket.destroy() };
    return {
      ...follower,
      get events() {
        return [...wire.received.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => data as string);
      },
    };
  }

  it('all hear of an alert, once, while others are served; and leave nothing behind', async () => {
    const place = await newOrg(app, { timezone: 'UTC' });
    await newApp(app, place);
    const handlesBefore = process.getActiveResourcesInfo().length;
    const followers = await Promise.all(
      repeated(500, (i) => (i % 2 === 0 ? overSocket(place.orgId) : overEvents(place.orgId))),
    );
    // The page of metrics is made at most once per second.
    await until(
      'all are open',
      async () => (await openStreams(app, 'ws')) === 250 && (await openStreams(app, 'sse')) === 250,
    );
    expect(process.getActiveResourcesInfo().length).toBeGreaterThan(handlesBefore + 900);
    const reply = await post(asks('{ me { kind } }'), asAdmin);
    expect(dataIn(reply)).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
    // A subscription that was taken on is answered by nothing: only the feed knows.
    await until('all are followed', () => followed() === 500);

    const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
    try {
      const cost = {
        orgId: place.orgId,
        appId: 'chat',
        requestId: randomUUID(),
        modelLabel: 'premium',
        inputTokens: 0,
        outputTokens: 0,
      };
      await app.admin.ask(op.SubmitCostDocument, { input: { ...cost, costUsdMicros: 10_000_000 } });
      await worker.spend.sumAll();
    } finally {
      worker.close();
    }
    await until('all have heard', () => followers.every(({ events }) => events.length > 0));
    // Two more looks at the log of alerts, in which nothing must come again.
    await sleep(2200);
    expect(new Set(followers.map(({ events }) => events.length))).toEqual(new Set([1]));
    const [event, ...others] = new Set(followers.flatMap(({ events }) => events));
    expect(others).toEqual([]);
    expect(JSON.parse(event ?? '')).toEqual({
      data: { quotaAlerts: { id: expect.any(String), kind: 'QUOTA_EXCEEDED' } },
    });

    for (const follower of followers) follower.end();
    await until('no stream is counted', async () => (await openStreams(app)) === 0);
    await until('the feed has forgotten them', () => followed() === 0);
    await until('their handles are closed', () => process.getActiveResourcesInfo().length < handlesBefore + 50);
  });
});

describe('credentials', () => {
  const me = asks('{ me { kind } }');
  const withoutId = ({ status, text }: Reply): string => `${status} ${text.replace(/"requestId":"[^"]+"/, '')}`;
  const someKey = () => `tgk_${randomBytes(16).toString('hex')}_${randomBytes(32).toString('hex')}`;

  async function sendLines(...lines: readonly string[]): Promise<Reply> {
    const wire = await Wire.open();
    wire.write(head(...lines, `content-length: ${me.length}`) + me);
    return (await wire.answers(1))[0] as Reply;
  }

  it.each([
    ['token and admin key', () => ({ ...bearer(org), ...asAdmin })],
    ['token and device key', () => ({ ...bearer(org), 'x-api-key': someKey() })],
    ['admin key and device key', () => ({ ...asAdmin, 'x-api-key': someKey() })],
    ['all three', () => ({ ...bearer(org), ...asAdmin, 'x-api-key': someKey() })],
    ['a good one and an empty one', () => ({ ...asAdmin, authorization: '' })],
  ])('of several kinds at once are refused: %s', async (_what, headers) => {
    const reply = await post(me, headers());
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
    expect(reply.text).not.toContain(adminKey);
  });

  it.each([
    ['the admin key twice', [`x-admin-key: ${adminKey}`, `x-admin-key: ${adminKey}`]],
    ['a wrong admin key beside the right one', [`x-admin-key: ${adminKey}`, 'X-Admin-Key: wrong']],
    ['two device keys', [`x-api-key: ${someKey()}`, `x-api-key: ${someKey()}`]],
  ])('of one kind sent twice are refused: %s', async (_what, lines) => {
    const reply = await sendLines(...lines);
    expect([400, 401]).toContain(reply.status);
    expect(['BAD_USER_INPUT', 'UNAUTHENTICATED']).toContain(codesIn(reply)[0]);
  });

  it.each([
    ['the good one first', () => [`authorization: Bearer ${org.accessToken}`, 'authorization: Bearer x.y.z']],
    ['the good one last', () => ['authorization: Bearer x.y.z', `authorization: Bearer ${org.accessToken}`]],
    [
      'the same one twice',
      () => [`authorization: Bearer ${org.accessToken}`, `Authorization: Bearer ${org.accessToken}`],
    ],
  ])('in two authorization headers are refused, not picked from: %s', async (_what, lines) => {
    const reply = await sendLines(...lines());
    expect([400, 401]).toContain(reply.status);
    expect(['BAD_USER_INPUT', 'UNAUTHENTICATED']).toContain(codesIn(reply)[0]);
  });

  it.each([
    ['a token of 12 KB', { authorization: `Bearer ${'x'.repeat(12_000)}` }],
    ['a token of 4,000 dots', { authorization: `Bearer ${'.'.repeat(4000)}` }],
    ['12,000 blanks before the token', { authorization: `Bearer${' '.repeat(12_000)}x y` }],
    ['an admin key of 12 KB', { 'x-admin-key': adminKey.repeat(300) }],
    ['a device key of 12 KB', { 'x-api-key': `tgk_${'0'.repeat(12_000)}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['the scheme alone', { authorization: 'Bearer' }],
    ['nothing', { authorization: '' }],
    ['two tokens in one', { authorization: 'Bearer x.y.z, Bearer x.y.z' }],
    ['a tab for a blank', { authorization: 'Bearer\tx.y.z' }],
    ['the admin key and more', { 'x-admin-key': `${adminKey}x` }],
    ['the admin key, cut short', { 'x-admin-key': adminKey.slice(0, -1) }],
    ['the admin key in upper case', { 'x-admin-key': adminKey.toUpperCase() }],
    ['the admin key in quotes', { 'x-admin-key': `"${adminKey}"` }],
    ['the admin key as a token', { authorization: `Bearer ${adminKey}` }],
    ['an admin key that every object inherits', { 'x-admin-key': 'constructor' }],
    ['letters beyond ASCII', { 'x-admin-key': '\u00e4\u00f6\u00fc' }],
    ['a device key of another alphabet', { 'x-api-key': `tgk_${'g'.repeat(32)}_${'g'.repeat(64)}` }],
    ['a device key for a pattern', { 'x-api-key': 'tgk_.*_.*' }],
  ])('that are none are refused with 401, and not repeated: %s', async (_what, headers) => {
    const reply = await post(me, headers as Record<string, string>);
    expect([reply.status, codesIn(reply), reply.headers['www-authenticate']]).toEqual([
      401,
      ['UNAUTHENTICATED'],
      'Bearer',
    ]);
    for (const value of Object.values(headers))
      if (value.length > 12) expect(reply.text).not.toContain(value.slice(0, 40));
  });

  it('of a device say the same for an unknown key, a wrong secret and a key that is none, by HTTP, by socket and by events', async () => {
    const { createApiKey } = await org.caller.ask<{ createApiKey: { secret: string } }, never>(
      'mutation { createApiKey(input: {}) { secret } }',
    );
    const known = createApiKey.secret;
    const keys = [someKey(), known.slice(0, 37) + randomBytes(32).toString('hex'), 'tgk_', 'x'.repeat(8000)];
    const answers = await Promise.all(keys.map(async (key) => withoutId(await post(me, { 'x-api-key': key }))));
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^401 .*"UNAUTHENTICATED"/);
    const streams = await Promise.all(
      keys.map(async (key) => withoutId(await post(asks(endless), { 'x-api-key': key, accept: 'text/event-stream' }))),
    );
    expect(new Set(streams)).toEqual(new Set(answers));
    const closes = await Promise.all(
      keys.map(async (key) => {
        const live = await LiveSocket.open();
        live.send({ type: 'connection_init', payload: { 'x-api-key': key } });
        await live.closeCode();
        return live.closed;
      }),
    );
    expect(closes).toEqual(repeated(4, () => ({ code: 4403, reason: expect.stringContaining('UNAUTHENTICATED') })));
    expect(new Set(closes.map((closed) => closed?.reason)).size).toBe(1);
    expect(dataIn(await post(me, { 'x-api-key': known }))).toEqual({ me: { kind: 'DEVICE_KEY' } });
  });

  it('that are wrong say the same for a token that is garbage and one that was forged from a good one', async () => {
    const [header, claims, signature = ''] = org.accessToken.split('.');
    const forged = [
      'x',
      'x.y.z',
      `${header}.${claims}.`,
      `${header}.${claims}.${signature.split('').reverse().join('')}`,
      `${header}.${Buffer.from('{}').toString('base64url')}.${signature}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
      `${org.accessToken}.${signature}`,
    ];
    const answers = await Promise.all(
      forged.map(async (token) => withoutId(await post(me, { authorization: `Bearer ${token}` }))),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^401 .*"UNAUTHENTICATED"/);
  });

  it.each([
    ['60 KB', { 'x-admin-key': 'x'.repeat(60_000) }],
    ['a list', { 'x-admin-key': [adminKey] }],
    ['an object', { authorization: { toString: 'x' } }],
    ['true', { 'x-api-key': true }],
    ['lines', { 'x-admin-key': `${adminKey}\r\nx-request-id: y` }],
    [
      'one name in 20 spellings',
      Object.fromEntries(
        repeated(20, (i) => [
          'x-admin-key'.replace(/[a-z]/g, (c, at: number) => (at % 20 === i ? c.toUpperCase() : c)),
          i,
        ]),
      ),
    ],
  ])('on a socket that are no text end it with 4403: %s', async (_what, payload) => {
    const live = await LiveSocket.open();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4403);
    expect(live.closed?.reason).toMatch(/^(UNAUTHENTICATED|BAD_USER_INPUT): /);
    expect(live.closed?.reason).not.toContain(adminKey);
  });

  it('and ids of requests cannot add a header to the answer', async () => {
    for (const line of [
      'x-request-id: a%0d%0ax-planted: 1',
      'x-request-id: a\tb',
      'x-request-id: a\u00e4b',
      `x-request-id: ${'a'.repeat(10_000)}`,
    ]) {
      const { headers } = await sendLines(line);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-planted']).toBeUndefined();
    }
  });
});
