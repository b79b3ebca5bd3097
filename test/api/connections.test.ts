import { channel } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Arg, Int, Query, Resolver } from 'type-graphql';
import WebSocket from 'ws';
import { createSchema } from '../../src/graphql/schema.js';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, type Client, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { until } from '../support/until.js';

/** Responses of any size, without a credential. */
@Resolver()
class BulkResolver {
  @Query(() => String)
  bulk(@Arg('bytes', () => Int) bytes: number): string {
    return 'x'.repeat(bytes);
  }
}

const megabyte = 1024 * 1024;
/** More than the network buffers for a peer that does not read, which is about 4 MB. */
const large = 8 * megabyte;
const unreadMs = 31_000;
const sweepMs = 1100;

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp({ schema: await createSchema([BulkResolver]) });
  org = await newOrg(app);
});
afterAll(() => app.stop());

/** A request in flight, as the gateway sees it. */
interface InFlight {
  readonly response: ServerResponse;
  readonly socket: Socket;
}
const inFlight: InFlight[] = [];
const onRequest = (message: unknown): void => void inFlight.push(message as InFlight);
beforeAll(() => channel('http.server.request.start').subscribe(onRequest));
afterAll(() => void channel('http.server.request.start').unsubscribe(onRequest));

const opened = new Set<() => void>();
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
  inFlight.length = 0;
});

const portOf = ({ url }: TestApp): number => Number(new URL(url).port);
const post = (body: string, count = 1): string =>
  [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ]
    .join('\r\n')
    .repeat(count);
const bulk = (bytes: number): string => JSON.stringify({ query: `{ bulk(bytes: ${bytes}) }` });

/** A connection that sends and does not read. */
async function unreading(gateway: TestApp, text: string): Promise<Socket> {
  const socket = connect(portOf(gateway), '127.0.0.1');
  opened.add(() => socket.destroy());
  socket.on('error', () => undefined).pause();
  await until('the connection opens', () => socket.readyState === 'open');
  socket.write(text);
  return socket;
}

/** The gateway notices at its next sweep that a response waits, and ends it at a sweep 30 s later. */
async function endedInTime(connections: readonly InFlight[]): Promise<void> {
  for (let sweeps = 0; sweeps < 10 * patience && !connections.every(({ socket }) => socket.destroyed); sweeps++) {
    await sleep(sweepMs);
    app.clock.age(unreadMs);
  }
  expect(connections.filter(({ socket }) => !socket.destroyed)).toHaveLength(0);
}

describe('a connection that does not read its responses', () => {
  it('is closed', async () => {
    await Promise.all(Array.from({ length: 10 }, () => unreading(app, post(bulk(large)))));
    await until(
      'all responses are written',
      () => inFlight.length === 10 && inFlight.every(({ response }) => response.writableEnded),
    );
    await endedInTime(inFlight);
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });

  it('is closed if it has sent many requests at once', async () => {
    await unreading(app, post(bulk(megabyte), 20));
    await until(
      'all responses are written',
      () => inFlight.length === 20 && inFlight.every(({ response }) => response.writableEnded),
    );
    await endedInTime(inFlight);
  });

  it('occupies little memory if its requests are refused, whatever their size and number', async () => {
    const input = {
      ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key${i}`, 1])),
      name: 'x'.repeat(250_000),
    };
    const query = 'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } } }';
    await Promise.all(
      Array.from({ length: 100 }, () => unreading(app, post(JSON.stringify({ query, variables: { input } })))),
    );
    await until(
      'all are refused',
      () => inFlight.length === 100 && inFlight.every(({ response }) => response.writableEnded),
    );
    const waiting = inFlight.reduce(
      (sum, { response, socket }) => sum + response.writableLength + socket.writableLength,
      0,
    );
    expect(waiting).toBeLessThanOrEqual(100 * 17 * 1024);
  });

  it('counts as in flight until it is closed', async () => {
    const narrow = await app.another({ principalConcurrency: 3 });
    try {
      await Promise.all(Array.from({ length: 3 }, () => unreading(narrow, post(bulk(large)))));
      await until(
        'all responses are written',
        () => inFlight.length === 3 && inFlight.every(({ response }) => response.writableEnded),
      );
      const unread = [...inFlight];
      const refused = await narrow.anonymous.send('{ __typename }');
      expect([refused.status, refused.errors?.[0]?.extensions.code]).toEqual([429, 'RATE_LIMITED']);
      expect((await narrow.as(org.accessToken).send('{ me { kind } }')).status).toBe(200);
      await endedInTime(unread);
      expect((await narrow.anonymous.send('{ __typename }')).status).toBe(200);
    } finally {
      await narrow.stop();
    }
  });

  it('differs from one that reads slowly, which gets all of a large response', async () => {
    const socket = await unreading(app, post(bulk(large)));
    let received = 0;
    // Over several seconds, so that the gateway sweeps several times.
    while (received < large && !socket.destroyed) {
      await sleep(25);
      received += (socket.read() as Buffer | null)?.length ?? 0;
    }
    expect(received).toBeGreaterThanOrEqual(large);
  });
});

/** A WebSocket with its outcome: accepted, closed with a code, or refused with a status. */
class SocketAttempt {
  outcome: string | undefined;
  private readonly socket: WebSocket;

  constructor(gateway: TestApp, init?: object) {
    this.socket = new WebSocket(gateway.url, 'graphql-transport-ws');
    opened.add(() => this.socket.terminate());
    this.socket.on('error', () => undefined);
    this.socket.on('unexpected-response', (_request, response) => this.end(`status ${response.statusCode}`));
    this.socket.on('open', () => init && this.socket.send(JSON.stringify({ type: 'connection_init', payload: init })));
    this.socket.on('message', () => this.end('accepted'));
    this.socket.on('close', (code) => this.end(`closed with ${code}`));
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  private end(outcome: string): void {
    this.outcome ??= outcome;
  }
}

const attempts = (count: number, gateway: TestApp, init?: object): SocketAttempt[] =>
  Array.from({ length: count }, () => new SocketAttempt(gateway, init));

describe('a gateway with many WebSockets', () => {
  const login = async (gateway: TestApp): Promise<string | undefined> => {
    const { clientId, clientSecret } = org;
    const { data, errors } = await gateway.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } });
    return data?.issueToken.accessToken ? 'logged in' : errors?.[0]?.extensions.code;
  };

  it('closes those without a credential, and still serves logins of their address', async () => {
    const many = attempts(600, app, {});
    await until('each is accepted or ended', () => many.every(({ outcome }) => outcome !== undefined), 20_000);
    expect(await login(app)).toBe('logged in');
    expect(new Set(many.map(({ outcome }) => outcome)).has('accepted')).toBe(false);
    await until('none is open', () => many.every(({ isOpen }) => !isOpen));
  });

  it('closes those that send nothing, and still serves logins of their address', async () => {
    const many = attempts(600, app);
    await until(
      'each is open or ended',
      () => many.every(({ outcome, isOpen }) => isOpen || outcome !== undefined),
      20_000,
    );
    expect(await login(app)).toBe('logged in');
    await until('none is open', () => many.every(({ isOpen }) => !isOpen));
  });

  it('does not count them against the requests of their client', async () => {
    const narrow = await app.another({ principalConcurrency: 5 });
    try {
      const five = attempts(5, narrow, { authorization: `Bearer ${org.accessToken}` });
      await until('all are accepted', () => five.every(({ outcome }) => outcome !== undefined));
      expect(five.map(({ outcome }) => outcome)).toEqual(Array(5).fill('accepted'));
      expect((await narrow.as(org.accessToken).send('{ me { kind } }')).status).toBe(200);
      expect(await login(narrow)).toBe('logged in');
    } finally {
      for (const end of opened) end();
      await narrow.stop();
    }
  });

  it('limits those of one client, and not those of another', async () => {
    const greedy = await newOrg(app);
    const many = attempts(1500, app, { authorization: `Bearer ${greedy.accessToken}` });
    await until('each is accepted or refused', () => many.every(({ outcome }) => outcome !== undefined), 25_000);
    const accepted = many.filter(({ outcome }) => outcome === 'accepted').length;
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(1500);
    expect(await login(app)).toBe('logged in');
    const [other] = attempts(1, app, { 'x-admin-key': adminKey });
    await until('it is accepted or refused', () => other?.outcome !== undefined);
    expect(other?.outcome).toBe('accepted');
  });
});
