import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from '../../src/http/server.js';
import { sleep } from '../../src/lib/timers.js';
import {
  bodyOf,
  codesIn,
  dataIn,
  expectServing,
  type Reply,
  repeated,
  testAbuse,
  typename,
  world,
} from '../support/abuse.js';
import { endAll } from '../support/live-socket.js';
import { asAdmin, endless, openStreams } from '../support/live-transports.js';
import { until } from '../support/until.js';
import { head, request, Wire } from '../support/wire.js';

testAbuse();

/** A second HTTP server on the services of the app. Its connections can be counted and its timeouts shortened. */
async function ownServer(
  timeouts: Partial<Record<'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval', number>> = {},
) {
  const http = await createHttpServer(world.app.gateway.services, world.schema);
  const server = Object.assign(http.server, timeouts);
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
      await http.close();
    },
  };
}

describe('a gateway with slow clients', () => {
  const shortTimeouts = { headersTimeout: 400, requestTimeout: 800, connectionsCheckingInterval: 50 };

  it.each([
    ['sends its headers byte by byte', head(`content-length: ${typename.length}`, `x-padding: ${'x'.repeat(10_000)}`)],
    ['sends its request line byte by byte', `POST /graphql?${'x'.repeat(10_000)}`],
    ['sends its body byte by byte', request(typename.padEnd(10_000))],
    ['sends its chunks byte by byte', `${head('transfer-encoding: chunked')}2710\r\n${typename.padEnd(10_000)}`],
  ])('disconnects a client that %s, and serves others meanwhile', async (_how, bytes) => {
    const own = await ownServer(shortTimeouts);
    try {
      const wire = await Wire.open(own.url);
      // If it is the body that is slow, the head is sent at once.
      const sent = bytes.includes('x-padding') || bytes.includes('?') ? 0 : bytes.indexOf('\r\n\r\n') + 4;
      wire.write(bytes.slice(0, sent));
      for (let i = sent; !wire.closed && i < sent + 1000; i++) {
        wire.write(bytes.charAt(i));
        if (i === sent + 3) await expectServing(own.url);
        await sleep(10);
      }
      expect(wire.closed).toBe(true);
      expect(wire.replies().map(({ status }) => status)).toEqual([408]);
    } finally {
      await own.stop();
    }
  });

  it('disconnects a client that sends nothing', async () => {
    const own = await ownServer(shortTimeouts);
    try {
      const wire = await Wire.open(own.url);
      await wire.end();
      expect(wire.replies().map(({ status }) => status)).toEqual([408]);
    } finally {
      await own.stop();
    }
  });

  it('checks for slow clients often enough to keep its timeouts', async () => {
    const { server } = await createHttpServer(world.app.gateway.services, world.schema);
    const { headersTimeout, requestTimeout, connectionsCheckingInterval } = server as Server & {
      readonly connectionsCheckingInterval: number;
    };
    expect(headersTimeout).toBe(10_000);
    expect(requestTimeout).toBeLessThanOrEqual(15_000);
    // By default Node checks every 30 s, which turns a timeout of 10 s into one of 40 s.
    expect(connectionsCheckingInterval).toBeLessThanOrEqual(headersTimeout / 2);
  });
});

describe('a gateway with broken clients', () => {
  it.each([
    ['never uses its connections', 200, ''],
    ['stops in the middle of its headers', 50, 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-'],
    ['stops in the middle of its body', 50, request('{"query":', { 'content-length': 1000 })],
    ['stops in the middle of a chunk', 50, `${head('transfer-encoding: chunked')}ff\r\n{"query"`],
  ])('serves others while a client %s, and keeps nothing when it closes or resets', async (_how, count, bytes) => {
    const own = await ownServer();
    try {
      const wires = await Promise.all(repeated(count, () => Wire.open(own.url)));
      for (const wire of wires) wire.write(bytes);
      await until('all are connected', async () => (await own.connections()) >= count);
      await expectServing(own.url);
      expect(wires.filter(({ closed, received }) => closed || received !== '')).toEqual([]);
      for (const [i, { socket }] of wires.entries()) i % 2 === 0 ? socket.resetAndDestroy() : socket.destroy();
      // `fetch` keeps a few connections alive.
      await until('all are gone', async () => (await own.connections()) < 5);
      await expectServing(own.url);
    } finally {
      await own.stop();
    }
  });

  it('keeps nothing of a client that resets its connection before the response', async () => {
    const own = await ownServer();
    try {
      const wires = await Promise.all(repeated(50, () => Wire.open(own.url)));
      for (const { socket } of wires)
        socket.write(request(bodyOf('{ orgs { nodes { name } } }'), asAdmin), () => socket.resetAndDestroy());
      await until('all are gone', async () => (await own.connections()) < 5);
      await expectServing(own.url);
    } finally {
      await own.stop();
    }
  });

  it('ends all event streams of a connection that is closed', async () => {
    const own = await world.app.another();
    try {
      const wire = await Wire.open(own.url);
      const stream = request(bodyOf(endless), { ...asAdmin, accept: 'text/event-stream' });
      wire.write(stream.repeat(3));
      await until('all are open', async () => (await openStreams(own, 'sse')) === 3);
      wire.socket.destroy();
      await until('all are ended', async () => (await openStreams(own, 'sse')) === 0, 4000);
    } finally {
      await own.stop();
    }
  });
});

describe('pipelined requests', () => {
  it('get their responses in order', async () => {
    const wire = await Wire.open();
    const ids = repeated(60, (i) => `row-${i}`);
    // Some are slow, and the fast ones must not overtake them.
    wire.write(
      ids
        .map((id, i) =>
          request(bodyOf(i % 3 === 0 ? '{ orgs { nodes { name } } }' : '{ __typename }'), {
            ...asAdmin,
            'x-request-id': id,
          }),
        )
        .join(''),
    );
    const replies = await wire.responses(60);
    expect(replies.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('get their responses up to one that is garbage, which ends the connection', async () => {
    const wire = await Wire.open();
    wire.write(`${request()}${request()}`);
    await wire.responses(2);
    wire.write('garbage\r\n\r\n');
    await wire.end();
    expect(wire.replies().map(({ status }) => status)).toEqual([200, 200, 400]);
  });

  it('do not share credentials', async () => {
    const wire = await Wire.open();
    wire.write(`${request(bodyOf('{ me { kind } }'), asAdmin)}${request(bodyOf('{ me { kind } }'))}`);
    const [first, second] = (await wire.responses(2)) as [Reply, Reply];
    expect(dataIn(first)).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
    expect(codesIn(second)).toEqual(['UNAUTHENTICATED']);
  });
});

describe('invalid HTTP', () => {
  const smuggled = request(bodyOf('{ smuggled }'));

  it.each<[what: string, bytes: string | Buffer]>([
    ['words', 'hello, is anybody there?\r\n\r\n'],
    ['noise', Buffer.from(repeated(4096, (i) => (i * 151 + 7) % 256))],
    ['zeros', Buffer.alloc(1000)],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', 'GET /graphql HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['an unknown method', 'BREW /graphql HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a header without a name', head('content-length: 0', ': x')],
    ['a header name with a blank', head('content-length: 0', 'x y: z')],
    ['a blank before the colon', head('content-length : 15')],
    ['a header with a bare carriage return', head('content-length: 0', 'x-a: b\rx-admin-key: c')],
    ['a header with a NUL', head('content-length: 0', 'x-a: b\0c')],
    ['a length that is not a number', head('content-length: many') + typename],
    ['a negative length', head('content-length: -1') + typename],
    ['a length in hex', head('content-length: 0x1b') + typename],
    ['a length that overflows', head(`content-length: ${'9'.repeat(40)}`) + typename],
    ['two lengths', head(`content-length: ${typename.length}`, 'content-length: 0') + typename + smuggled],
    ['two lengths in one line', head(`content-length: ${typename.length}, 0`) + typename + smuggled],
    ['a length and chunks', `${head('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['chunks and a length', `${head('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n${smuggled}`],
    ['chunks that are not the last encoding', `${head('transfer-encoding: chunked, identity')}0\r\n\r\n${smuggled}`],
    ['an encoding that only resembles chunks', `${head('transfer-encoding: xchunked')}0\r\n\r\n${smuggled}`],
    ['a chunk with an invalid size', `${head('transfer-encoding: chunked')}zz\r\n${typename}\r\n0\r\n\r\n`],
    [
      'a chunk whose size overflows',
      `${head('transfer-encoding: chunked')}${'f'.repeat(20)}\r\n${typename}\r\n0\r\n\r\n`,
    ],
    ['a chunk longer than its size', `${head('transfer-encoding: chunked')}2\r\n${typename}\r\n0\r\n\r\n`],
  ])('gets 400 and ends the connection: %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    const replies = wire.replies();
    // A request with an invalid body gets no response of its own, and neither does anything after it.
    expect(replies.map(({ status }) => status)).toEqual([400]);
    expect(wire.received).not.toContain('smuggled');
  });

  it.each([
    [
      'longer than it says',
      request(typename + smuggled.replace('POST', 'POSED'), { 'content-length': typename.length }),
    ],
    ['cut by its own length', request(typename, { 'content-length': 10 })],
  ])('ends the connection after a body that is %s', async (_how, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    // If both arrive in one piece, Node finds the error before the request gets its response.
    expect(wire.replies().at(-1)).toMatchObject({ status: 400, text: '' });
    expect(wire.replies().length).toBeLessThanOrEqual(2);
    expect(wire.received).not.toContain('smuggled');
  });
});

describe('a request', () => {
  it.each([
    ['a header of 100 KB', request(typename, { 'x-padding': 'x'.repeat(100_000) })],
    ['a credential of 100 KB', request(typename, { authorization: `Bearer ${'x'.repeat(100_000)}` })],
    ['5,000 headers', request(typename, Object.fromEntries(repeated(5000, (i) => [`x-${i}`, i])))],
    ['a URL of 100 KB', request(typename, {}, `POST /graphql?${'x'.repeat(100_000)} HTTP/1.1`)],
    ['a query of 100 KB by GET', `GET /graphql?query=${'x'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('gets 431 and loses its connection with %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await wire.end();
    expect(wire.replies().map(({ status }) => status)).toEqual([431]);
  });

  it.each([
    ['1,000 headers', request(typename, Object.fromEntries(repeated(1000, (i) => [`x-${i}`, i])))],
    ['a URL of 10 KB', request(typename, {}, `POST /graphql?${'x'.repeat(10_000)} HTTP/1.1`)],
    [
      'a query of 10 KB by GET',
      `GET /graphql?query=${encodeURIComponent('{ __typename } ')}${'%20'.repeat(3300)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ],
    ['Expect: 100-continue', request(typename, { expect: '100-continue' })],
  ])('is served with %s', async (_what, bytes) => {
    const wire = await Wire.open();
    wire.write(bytes);
    await until('the response arrives', () => wire.replies().some(({ status }) => status !== 100));
    const reply = wire.replies().at(-1) as Reply;
    expect([reply.status, dataIn(reply)]).toEqual([200, { __typename: 'Query' }]);
  });

  it('with Expect: 100-continue gets one 100 Continue before it sends its body', async () => {
    const wire = await Wire.open();
    const whole = request(typename, { expect: '100-continue' });
    wire.write(whole.slice(0, -typename.length));
    await until('it gets 100 Continue', () => wire.received.includes('100 Continue'));
    wire.write(typename);
    await wire.responses(2);
    expect(wire.replies().map(({ status }) => status)).toEqual([100, 200]);
  });

  it('gets 417 if it expects anything else', async () => {
    const wire = await Wire.open();
    wire.write(request(typename, { expect: 'a-miracle' }));
    expect((await wire.responses(1)).map(({ status }) => status)).toEqual([417]);
  });

  it.each(['TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'LINK'])('gets 405 for the method %s', async (method) => {
    const wire = await Wire.open();
    wire.write(request(typename, { 'x-secret': 'echo' }, `${method} /graphql HTTP/1.1`));
    const [reply] = (await wire.responses(1)) as [Reply];
    expect([reply.status, reply.headers.allow, codesIn(reply)]).toEqual([405, 'GET, POST', ['BAD_USER_INPUT']]);
    // TRACE would return the request, including its credentials.
    expect(wire.received).not.toContain('echo');
  });

  it('gets 405 without a body for HEAD', async () => {
    const wire = await Wire.open();
    wire.write('HEAD /graphql HTTP/1.1\r\nhost: x\r\n\r\n');
    const [reply] = (await wire.responses(1, true)) as [Reply];
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST']);
    await sleep(50);
    expect(wire.received.endsWith('\r\n\r\n')).toBe(true);
  });

  it('gets no tunnel by CONNECT', async () => {
    const wire = await Wire.open();
    wire.write('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n');
    await wire.end();
    expect(wire.received).toBe('');
  });

  it('is served if it offers to upgrade to HTTP/2', async () => {
    const wire = await Wire.open();
    wire.write(
      request(typename, {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
      }),
    );
    await until('the response arrives', () => wire.received.includes('\r\n\r\n'));
    // RFC 9110, 7.8: a server may ignore the offer. The HTTP client of Java makes it by default.
    expect(wire.received).toMatch(/^HTTP\/1\.1 200 /);
  });
});
