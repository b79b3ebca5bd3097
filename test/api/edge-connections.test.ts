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

/** Answers of any size, from a caller without a credential. */
@Resolver()
class BulkResolver {
  @Query(() => String)
  bulk(@Arg('bytes', () => Int) bytes: number): string {
    return 'x'.repeat(bytes);
  }
}

const megabyte = 1024 * 1024;
/** More than the network takes off a gateway's hands for a peer that does not read, which is about 4 MB. */
const large = 8 * megabyte;
const unreadMs = 31_000;
const lookMs = 1100;

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp({ schema: await createSchema([BulkResolver]) });
  org = await newOrg(app);
});
afterAll(() => app.stop());

/** The gateway's side of what is under way in this process. */
interface Served {
  readonly response: ServerResponse;
  readonly socket: Socket;
}
const served: Served[] = [];
const onRequest = (message: unknown): void => void served.push(message as Served);
beforeAll(() => channel('http.server.request.start').subscribe(onRequest));
afterAll(() => void channel('http.server.request.start').unsubscribe(onRequest));

const opened = new Set<() => void>();
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
  served.length = 0;
});

const portOf = ({ url }: TestApp): number => Number(new URL(url).port);
const post = (body: string, count = 1): string =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`.repeat(
    count,
  );
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

/** The gateway notices at its next look that a response waits, and ends it at a look 30 s later. */
async function endedInTime(connections: readonly Served[]): Promise<void> {
  for (let looks = 0; looks < 10 * patience && !connections.every(({ socket }) => socket.destroyed); looks++) {
    await sleep(lookMs);
    app.clock.age(unreadMs);
  }
  expect(connections.filter(({ socket }) => !socket.destroyed)).toHaveLength(0);
}

describe('a connection that does not read its responses', () => {
  it('is ended', async () => {
    await Promise.all(Array.from({ length: 10 }, () => unreading(app, post(bulk(large)))));
    await until(
      'all responses are made',
      () => served.length === 10 && served.every(({ response }) => response.writableEnded),
    );
    await endedInTime(served);
    expect((await app.anonymous.send('{ __typename }')).status).toBe(200);
  });

  it('is ended too if it has sent many requests at once', async () => {
    await unreading(app, post(bulk(megabyte), 20));
    await until(
      'all responses are made',
      () => served.length === 20 && served.every(({ response }) => response.writableEnded),
    );
    await endedInTime(served);
  });

  it('has little waiting for it if it was refused, however large its request and however many there are', async () => {
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
      () => served.length === 100 && served.every(({ response }) => response.writableEnded),
    );
    const waiting = served.reduce(
      (sum, { response, socket }) => sum + response.writableLength + socket.writableLength,
      0,
    );
    expect(waiting).toBeLessThanOrEqual(100 * 17 * 1024);
  });

  it('counts as in flight until its response is read, and then no more', async () => {
    const narrow = await app.another({ principalConcurrency: 3 });
    try {
      await Promise.all(Array.from({ length: 3 }, () => unreading(narrow, post(bulk(large)))));
      await until(
        'all responses are made',
        () => served.length === 3 && served.every(({ response }) => response.writableEnded),
      );
      const unread = [...served];
      const refused = await narrow.anonymous.send('{ __typename }');
      expect([refused.status, refused.errors?.[0]?.extensions.code]).toEqual([429, 'RATE_LIMITED']);
      expect((await narrow.as(org.accessToken).send('{ me { kind } }')).status).toBe(200);
      await endedInTime(unread);
      expect((await narrow.anonymous.send('{ __typename }')).status).toBe(200);
    } finally {
      await narrow.stop();
    }
  });

  it('is not one that reads slowly: it gets all of a large response', async () => {
    const socket = await unreading(app, post(bulk(large)));
    let received = 0;
    // Over several seconds, so that the gateway looks at it several times.
    while (received < large && !socket.destroyed) {
      await sleep(25);
      received += (socket.read() as Buffer | null)?.length ?? 0;
    }
    expect(received).toBeGreaterThanOrEqual(large);
  });
});

/** A socket as far as it gets: let in, closed with a code, or refused with a status. */
class Guest {
  outcome: string | undefined;
  private readonly socket: WebSocket;

  constructor(gateway: TestApp, init?: object) {
    this.socket = new WebSocket(gateway.url, 'graphql-transport-ws');
    opened.add(() => this.socket.terminate());
    this.socket.on('error', () => undefined);
    this.socket.on('unexpected-response', (_request, response) => this.end(`status ${response.statusCode}`));
    this.socket.on('open', () => init && this.socket.send(JSON.stringify({ type: 'connection_init', payload: init })));
    this.socket.on('message', () => this.end('let in'));
    this.socket.on('close', (code) => this.end(`closed with ${code}`));
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  private end(outcome: string): void {
    this.outcome ??= outcome;
  }
}

const guests = (count: number, gateway: TestApp, init?: object): Guest[] =>
  Array.from({ length: count }, () => new Guest(gateway, init));

describe('sockets', () => {
  const login = async (gateway: TestApp): Promise<string | undefined> => {
    const { clientId, clientSecret } = org;
    const { data, errors } = await gateway.anonymous.send(op.IssueTokenDocument, { input: { clientId, clientSecret } });
    return data?.issueToken.accessToken ? 'logged in' : errors?.[0]?.extensions.code;
  };

  it('without a credential are not kept, and do not keep anybody at their address from logging in', async () => {
    const many = guests(600, app, {});
    await until('each is let in or ended', () => many.every(({ outcome }) => outcome !== undefined), 20_000);
    expect(await login(app)).toBe('logged in');
    expect(new Set(many.map(({ outcome }) => outcome)).has('let in')).toBe(false);
    await until('none is kept', () => many.every(({ isOpen }) => !isOpen));
  });

  it('that say nothing do not keep anybody at their address from logging in, and are ended', async () => {
    const many = guests(600, app);
    await until(
      'each is open or ended',
      () => many.every(({ outcome, isOpen }) => isOpen || outcome !== undefined),
      20_000,
    );
    expect(await login(app)).toBe('logged in');
    await until('none is kept', () => many.every(({ isOpen }) => !isOpen));
  });

  it('that are let in do not count against the requests of their client', async () => {
    const narrow = await app.another({ principalConcurrency: 5 });
    try {
      const let5 = guests(5, narrow, { authorization: `Bearer ${org.accessToken}` });
      await until('all are let in', () => let5.every(({ outcome }) => outcome !== undefined));
      expect(let5.map(({ outcome }) => outcome)).toEqual(Array(5).fill('let in'));
      expect((await narrow.as(org.accessToken).send('{ me { kind } }')).status).toBe(200);
      expect(await login(narrow)).toBe('logged in');
    } finally {
      for (const end of opened) end();
      await narrow.stop();
    }
  });

  it('of one client are bounded, and those of another client are not affected', async () => {
    const greedy = await newOrg(app);
    const many = guests(1500, app, { authorization: `Bearer ${greedy.accessToken}` });
    await until('each is let in or refused', () => many.every(({ outcome }) => outcome !== undefined), 25_000);
    const letIn = many.filter(({ outcome }) => outcome === 'let in').length;
    expect(letIn).toBeGreaterThan(0);
    expect(letIn).toBeLessThan(1500);
    expect(await login(app)).toBe('logged in');
    const [other] = guests(1, app, { 'x-admin-key': adminKey });
    await until('it is let in or refused', () => other?.outcome !== undefined);
    expect(other?.outcome).toBe('let in');
  });
});
