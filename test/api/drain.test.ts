import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import WebSocket from 'ws';
import { type Gateway, startGateway } from '../../src/gateway.js';
import { silentLog } from '../../src/lib/log.js';
import { endOfTurn, sleep } from '../../src/lib/timers.js';
import { adminKey, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { post, typename } from '../support/http.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { startRelay } from '../support/relay.js';
import { until } from '../support/until.js';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp();
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const start = (noticeMs: number): Promise<Gateway> => {
  const store = { ...app.config.store, endpoint: proxy.endpoint, requestTimeoutMs: 1000 };
  const config = { ...app.config, operationTimeoutMs: 5000, store };
  return startGateway(config, { clock: app.clock, log: silentLog, noticeMs });
};

/** A caller that writes bytes and keeps the bytes that come back. */
class RawCaller {
  text = '';
  readonly closed: Promise<unknown>;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
    });
    // A connection that is reset closes as well.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async connect({ url }: Gateway): Promise<RawCaller> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    return new RawCaller(socket);
  }

  send(body: object, headers: Readonly<Record<string, string>> = {}): void {
    const text = JSON.stringify(body);
    const lines = Object.entries({
      host: 'gateway',
      'content-type': 'application/json',
      'content-length': String(text.length),
      ...headers,
    });
    this.socket.write(
      `POST /graphql HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
    );
  }

  async responses(count: number): Promise<void> {
    while (this.text.split('HTTP/1.1 ').length - 1 < count) await sleep(1);
  }
}

const me = { query: '{ me { kind } }' };

/** Blocks this process, and with it the gateway. */
function block(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
}

const responsesIn = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? [];

describe('a gateway that stops', () => {
  it('responds to a request that reached it before it closes the idle connection', async () => {
    const noticeMs = 100;
    const gateway = await start(noticeMs);
    const caller = await RawCaller.connect(gateway);
    caller.send(me);
    await caller.responses(1);
    const stopped = gateway.stop();
    await sleep(1.5 * noticeMs);
    // After the events of a turn and before its timers. When the gateway continues, the time to close idle connections
    // has come, and the request is in the buffer of the operating system.
    await endOfTurn();
    caller.send(me);
    block(2 * noticeMs);
    await stopped;
    await caller.closed;
    expect(responsesIn(caller.text)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(caller.text).toMatch(/connection: close/i);
  });

  it('gives the last request as much time as any other', async () => {
    const noticeMs = 1600;
    const gateway = await start(noticeMs);
    const caller = await RawCaller.connect(gateway);
    caller.send(me);
    await caller.responses(1);
    const { orgId } = await newOrg(app);
    const stopped = gateway.stop();
    await sleep(noticeMs + 900);
    // 2 s for the first read and 4 s for the second are more than an operation may take.
    proxy.inject({ operation: 'GetItem', table: 'limiter', fault: 'no-reply', nth: { first: 2 } });
    proxy.inject({ operation: 'BatchGetItem', table: 'config', fault: 'no-reply' });
    const input = `{ orgId: "${orgId}", entityId: "e", resource: "r", consume: [{ limit: "l", amount: 1 }] }`;
    const query = `mutation { acquire(input: ${input}) { __typename } }`;
    caller.send({ query }, { 'x-admin-key': adminKey });
    await stopped;
    await caller.closed;
    expect(responsesIn(caller.text)).toHaveLength(2);
    expect(caller.text).toContain('the operation took longer than');
  });

  it('finishes requests in flight, refuses new ones, and does not wait for idle connections', async () => {
    const relay = await startRelay();
    const stopping = await startTestApp({ endpoint: relay.endpoint });
    const agent = new Agent({ keepAlive: true });
    try {
      const { orgId } = await newOrg(stopping);
      await new Promise<void>((resolve, reject) => {
        httpRequest(`${stopping.origin}/healthz`, { agent }, (response) => response.resume().on('end', resolve))
          .on('error', reject)
          .end();
      });
      const socket = new WebSocket(stopping.url, 'graphql-transport-ws');
      const closed = new Promise<number>((resolve) => socket.on('close', resolve));
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject).on('message', () => resolve());
        socket.on('open', () =>
          socket.send(JSON.stringify({ type: 'connection_init', payload: { 'x-admin-key': adminKey } })),
        );
      });

      relay.hold(/\.Query\b/);
      const inFlight = stopping.admin.send(op.OrgsDocument, {});
      await until('the request waits for the store', () => relay.held() > 0);
      const beganMs = performance.now();
      const stopped = stopping.stop();
      expect(await closed).toBe(1001);
      // A request on an open connection may still get a response, which asks to close the connection.
      const isRefused = () =>
        fetch(stopping.url, post(typename)).then(
          () => false,
          () => true,
        );
      await until('new connections are refused', isRefused);
      relay.letGo();
      expect((await inFlight).data?.orgs.nodes.map((node) => node.orgId)).toEqual([orgId]);
      await stopped;
      expect(performance.now() - beganMs).toBeLessThan(patience * 10_000);
      await expect(fetch(stopping.url, post(typename))).rejects.toThrow();
    } finally {
      relay.letGo();
      agent.destroy();
      await relay.stop();
    }
  });

  it('does not wait for a WebSocket that does not respond', async () => {
    const stopping = await app.another();
    const socket = new WebSocket(stopping.url, 'graphql-transport-ws');
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject).on('open', () => resolve());
    });
    socket.pause();
    const beganMs = performance.now();
    await stopping.stop();
    expect(performance.now() - beganMs).toBeLessThan(patience * 10_000);
    socket.terminate();
  });
});
