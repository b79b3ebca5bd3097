import { connect } from 'node:net';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { endAll, LiveSocket, opened } from '../support/live-socket.js';
import { asAdmin, bearer, endless, eventInit, openStreams, transports } from '../support/live-transports.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { schemaWithTicks } from '../support/subscription.js';
import { until } from '../support/until.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ schema: await schemaWithTicks() });
});
afterAll(() => app.stop());
afterEach(endAll);

describe('a client that does not read', () => {
  it('loses its socket', async () => {
    const slow = await app.another();
    try {
      const live = await LiveSocket.connect(slow.url, asAdmin);
      await until('the socket is counted', async () => (await openStreams(slow, 'ws')) === 1);
      live.socket.pause();
      for (let i = 0; i < 5; i++) live.subscribe(`${i}`, 'subscription { bulk }');
      await until('the gateway ends it', async () => (await openStreams(slow, 'ws')) === 0, 15_000);
      live.end();
    } finally {
      await slow.stop();
    }
  });

  it('loses its event stream', async () => {
    const slow = await app.another();
    try {
      const { hostname, port } = new URL(slow.url);
      const socket = connect(Number(port), hostname);
      opened.add(() => socket.destroy());
      socket.on('error', () => {});
      const body = JSON.stringify({ query: 'subscription { bulk }' });
      const head = [
        'POST /graphql HTTP/1.1',
        'host: x',
        'accept: text/event-stream',
        `x-admin-key: ${adminKey}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
      socket.pause();
      await until('the stream is counted', async () => (await openStreams(slow, 'sse')) === 1);
      await until('the gateway ends it', async () => (await openStreams(slow, 'sse')) === 0, 15_000);
      socket.destroy();
    } finally {
      await slow.stop();
    }
  });

  it('differs from one that reads, which gets all of a large stream', async () => {
    for (const [, run] of transports) expect((await run(app.url, asAdmin, 'subscription { bulk }')).length).toBe(400);
  });
});

/** Opens an event stream. */
async function openEvents(
  url: string,
  credentials: Record<string, string>,
): Promise<{ readonly ended: () => boolean; abort(): void }> {
  const controller = new AbortController();
  const response = await fetch(url, { ...eventInit(credentials, { query: endless }), signal: controller.signal });
  expect(response.status).toBe(200);
  let ended = false;
  void response.text().then(
    () => {
      ended = true;
    },
    () => {
      ended = true;
    },
  );
  opened.add(() => controller.abort());
  return { ended: () => ended, abort: () => controller.abort() };
}

describe('a token', () => {
  it('ends its sockets and streams, and no others, on every gateway within 2 s of its revocation', async () => {
    const other = await app.another();
    try {
      const { clientId, clientSecret, accessToken } = await newOrg(app);
      const second = await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } });
      const connectAll = (credentials: Record<string, string>) =>
        Promise.all([app.url, other.url].map((url) => LiveSocket.connect(url, credentials)));
      const ending = await connectAll({ authorization: `Bearer ${accessToken}` });
      const staying = [
        ...(await connectAll({ authorization: `Bearer ${second.issueToken.accessToken}` })),
        ...(await connectAll(asAdmin)),
      ];
      for (const live of [...ending, ...staying]) live.subscribe('1', endless);
      const streams = await Promise.all(
        [app.url, other.url].map((url) => openEvents(url, { authorization: `Bearer ${accessToken}` })),
      );
      const lasting = await openEvents(other.url, asAdmin);

      await app.admin.ask(op.RevokeTokenDocument, { token: accessToken });
      for (const live of ending) expect(await live.closeCode(4000)).toBe(4403);
      await until('the event streams end', () => streams.every(({ ended }) => ended()), 4000);
      expect(staying.map(({ closed }) => closed)).toEqual([undefined, undefined, undefined, undefined]);
      expect(lasting.ended()).toBe(false);
      for (const live of staying) live.end();
      lasting.abort();
    } finally {
      await other.stop();
    }
  });

  it('ends its sockets when its session is revoked', async () => {
    const { accessToken, refreshToken } = await newOrg(app);
    const live = await LiveSocket.connect(app.url, { authorization: `Bearer ${accessToken}` });
    await app.admin.ask(op.RevokeTokenDocument, { token: refreshToken });
    expect(await live.closeCode(4000)).toBe(4403);
  });

  it('ends its sockets and streams when it expires, and not those of an admin key', async () => {
    const own = await startTestApp({ schema: await schemaWithTicks() });
    try {
      const client = await newOrg(own);
      const [live, admin, stream] = await Promise.all([
        LiveSocket.connect(own.url, bearer(client)),
        LiveSocket.connect(own.url, asAdmin),
        openEvents(own.url, bearer(client)),
      ]);
      admin.subscribe('1', endless);
      own.clock.advance(61 * 60_000);
      expect(await live.closeCode(4000)).toBe(4403);
      await until('the event stream ends', stream.ended, 4000);
      const before = admin.of('1').length;
      await until('the admin still gets events', () => admin.of('1').length > before);
      expect(admin.closed).toBeUndefined();
      admin.end();
      await until(
        'nothing is counted as open',
        async () => (await openStreams(own, 'ws')) + (await openStreams(own, 'sse')) === 0,
      );
    } finally {
      await own.stop();
    }
  });
});

const upgradeRequest = (path: string, ...lines: readonly string[]): string =>
  [
    `GET ${path} HTTP/1.1`,
    'host: x',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    ...lines,
    '',
    '',
  ].join('\r\n');

describe('a gateway', () => {
  it.each(['/', '/nowhere', '/graphql/more'])('refuses a WebSocket at %s', async (path) => {
    const live = new LiveSocket(app.origin + path);
    await until('it is refused', () => live.closed !== undefined);
    expect(live.messages).toEqual([]);
  });

  it('refuses a WebSocket with another protocol', async () => {
    const live = new LiveSocket(app.url, 'graphql-ws');
    await until('it is refused', () => live.closed !== undefined);
    expect(live.messages).toEqual([]);
  });

  it.each([
    ['invalid JSON', 'nonsense'],
    ['JSON that is not a message', '[1,2,3]'],
    ['a message of an unknown type', '{"type":"dance"}'],
    ['a subscribe without a payload', '{"type":"subscribe","id":"1"}'],
    ['a query that is a number', '{"type":"subscribe","id":"1","payload":{"query":7}}'],
    ['a second connection_init', '{"type":"connection_init"}'],
  ])('closes a socket that sends %s', async (_what, frame) => {
    const live = await LiveSocket.connect(app.url, asAdmin);
    live.send(frame);
    expect(await live.closeCode()).toBeGreaterThanOrEqual(4400);
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });

  it.each([
    ['bytes that are not a frame', Buffer.from('not a frame at all, but long enough to be taken for one')],
    ['a frame that is not masked', Buffer.from([0x81, 0x02, 0x68, 0x69])],
    ['a frame with reserved bits', Buffer.from([0xf1, 0x80, 0, 0, 0, 0])],
    ['text that is not UTF-8', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe])],
  ])('ends a connection that sends %s', async (_what, bytes) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    opened.add(() => socket.destroy());
    let text = '';
    let closed = false;
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        closed = true;
      });
    socket.write(upgradeRequest('/graphql', 'sec-websocket-protocol: graphql-transport-ws'));
    await until('the socket is open', () => text.includes('101 Switching'));
    socket.write(bytes);
    await until('the gateway ends it', () => {
      if (text.includes('\x88')) socket.end();
      return closed;
    });
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });

  /** Sends an upgrade and waits for the response or the end. `hangUp`: resets the connection then. */
  async function upgrade(path: string, hangUp: boolean): Promise<boolean> {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    opened.add(() => socket.destroy());
    const responded = new Promise<true>((resolve) => {
      socket.on('error', () => resolve(true)).on('close', () => resolve(true));
      socket.once('data', () => resolve(true));
    });
    socket.write(upgradeRequest(path));
    const inTime = await Promise.race([responded, sleep(patience * 3000)]);
    if (hangUp) socket.resetAndDestroy();
    else socket.destroy();
    return inTime === true;
  }

  it.each([
    ['a path that is not a URL', '//', false],
    ['an invalid host', 'http://[', false],
    ['another path, then a hang-up', '/nowhere', true],
    ['the right path, then a hang-up', '/graphql', true],
  ])('survives an upgrade with %s', async (_what, path, hangUp) => {
    // An uncaught exception would end the process. Here the upgrade would get no response, and jest would fail the
    // file.
    expect(await Promise.all(Array.from({ length: 5 }, () => upgrade(path, hangUp)))).toEqual(Array(5).fill(true));
    await sleep(100);
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });
});
