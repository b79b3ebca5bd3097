import { connect, type Socket } from 'node:net';
import { type Gateway, startGateway } from '../../src/gateway.js';
import { silentLog } from '../../src/lib/log.js';
import { endOfTurn, sleep } from '../../src/lib/timers.js';
import { adminKey, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';

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
  const config = { ...app.config, operationTimeoutMs: 5000, store: { ...app.config.store, endpoint: proxy.endpoint } };
  return startGateway(config, { clock: app.clock, log: silentLog, noticeMs });
};

/** A caller that writes bytes and keeps what comes back. */
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

  async answers(count: number): Promise<void> {
    while (this.text.split('HTTP/1.1 ').length - 1 < count) await sleep(1);
  }
}

const me = { query: '{ me { kind } }' };

/** Keeps this process, and with it the gateway, from doing anything else. */
function block(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
}

const answersIn = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? [];

describe('a gateway that is told to stop', () => {
  it('answers a request that had reached it before it closes the idle connection', async () => {
    const noticeMs = 100;
    const gateway = await start(noticeMs);
    const caller = await RawCaller.connect(gateway);
    caller.send(me);
    await caller.answers(1);
    const stopped = gateway.stop();
    await sleep(1.5 * noticeMs);
    // After a turn's events and before its timers: when the gateway may go on, the time to close idle connections has
    // come, and the request is in the buffer of the operating system.
    await endOfTurn();
    caller.send(me);
    block(2 * noticeMs);
    await stopped;
    await caller.closed;
    expect(answersIn(caller.text)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(caller.text).toMatch(/connection: close/i);
  });

  it('gives a request that it took on last as much time as any other', async () => {
    const noticeMs = 1600;
    const gateway = await start(noticeMs);
    const caller = await RawCaller.connect(gateway);
    caller.send(me);
    await caller.answers(1);
    const { orgId } = await newOrg(app);
    const stopped = gateway.stop();
    await sleep(noticeMs + 900);
    // Two seconds for the first read and four for the second: more than an operation may take.
    proxy.inject({ operation: 'GetItem', table: 'limiter', fault: 'no-reply', nth: { first: 2 } });
    proxy.inject({ operation: 'BatchGetItem', table: 'config', fault: 'no-reply' });
    const query = `mutation { acquire(input: { orgId: "${orgId}", entityId: "e", resource: "r", consume: [{ limit: "l", amount: 1 }] }) { __typename } }`;
    caller.send({ query }, { 'x-admin-key': adminKey });
    await stopped;
    await caller.closed;
    expect(answersIn(caller.text)).toHaveLength(2);
    expect(caller.text).toContain('the operation took longer than');
  });
});
