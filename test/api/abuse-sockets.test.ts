import { randomUUID } from 'node:crypto';
import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import {
  bodyOf,
  connectSocket,
  dataIn,
  expectDecentErrors,
  expectServing,
  followed,
  openSocket,
  post,
  printed,
  repeated,
  testAbuse,
  typename,
  world,
} from '../support/abuse.js';
import { newApp, newOrg, type PublicError } from '../support/app.js';
import { endAll, LiveSocket, type Message, opened } from '../support/live-socket.js';
import { asAdmin, endless, openStreams } from '../support/live-transports.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import {
  bareSocket,
  binary,
  frame,
  ping,
  pong,
  protocolLine,
  request,
  text,
  upgradeLines,
  Wire,
} from '../support/wire.js';

testAbuse();

/** The codes that a subscription was refused with. */
async function refusal(live: LiveSocket, id: string): Promise<string[]> {
  await until(
    'the subscription is refused',
    () => live.of(id).some(({ type }) => type === 'error') || live.closed !== undefined,
  );
  const errors = live.of(id)[0]?.payload as PublicError[];
  expectDecentErrors(errors);
  return [...new Set(errors.map(({ extensions }) => extensions.code))];
}

describe('a WebSocket', () => {
  it.each([
    ['with another protocol', ['soap'], undefined],
    ['with the older protocol', ['graphql-ws'], undefined],
    ['with no protocol', [], 4406],
  ])('is refused %s', async (_what, protocols, code) => {
    const live = new LiveSocket(world.app.url, protocols);
    await until('it is refused', () => live.closed !== undefined);
    if (code) expect(live.closed?.code).toBe(code);
    expect(live.messages).toEqual([]);
  });

  it('gets graphql-transport-ws if it offers several protocols', async () => {
    const live = await openSocket(world.app.url, ['soap', 'graphql-transport-ws', 'graphql-ws']);
    expect(live.socket.protocol).toBe('graphql-transport-ws');
  });

  it.each([
    ['with no key', (lines: string[]) => lines.filter((line) => !line.includes('key'))],
    ['with an invalid key', (lines: string[]) => lines.map((line) => line.replace(/key: .*/, 'key: x'))],
    ['of an older version', (lines: string[]) => lines.map((line) => line.replace('13', '7'))],
    [
      'to something else',
      (lines: string[]) => lines.map((line) => line.replace('upgrade: websocket', 'upgrade: telnet')),
    ],
  ])('is refused after an upgrade %s', async (_what, change) => {
    const wire = await Wire.open();
    wire.write(['GET /graphql HTTP/1.1', ...change([...upgradeLines, protocolLine]), '', ''].join('\r\n'));
    await until('the response arrives', () => wire.received.includes('\r\n\r\n'));
    expect(wire.received).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(wire.received).not.toMatch(/node_modules| {4}at /);
  });

  it('is refused after an upgrade by POST', async () => {
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

  it('is closed if its upgrade has a body that is not a frame', async () => {
    const wire = await Wire.open();
    wire.write(
      ['GET /graphql HTTP/1.1', ...upgradeLines, protocolLine, `content-length: ${typename.length}`, '', typename].join(
        '\r\n',
      ),
    );
    await until('the gateway closes it', () => wire.closed || wire.received.includes('\x88'));
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
  ])('closes the socket with 4400 if it is invalid: %s', async (_what, message) => {
    const live = await connectSocket();
    live.send(message);
    // 4400 is an invalid message. 4500 would be an error of the gateway.
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
  ])('of type connection_init closes the socket with 4401 if its payload %s', async (_what, payload) => {
    const live = await openSocket();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4401);
    expect(live.messages).toEqual([]);
  });

  it.each([
    ['a list', []],
    ['text', 'x-admin-key'],
    ['a number', 7],
  ])('of type connection_init closes the socket with 4400 if its payload is %s', async (_what, payload) => {
    const live = await openSocket();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4400);
  });

  it('of type connection_init closes the socket with 4429 if it is repeated', async () => {
    const live = await openSocket();
    for (let i = 0; i < 5; i++) live.send({ type: 'connection_init', payload: asAdmin });
    expect(await live.closeCode()).toBe(4429);
  });

  it.each([
    ['short', 'x'],
    ['too long for the reason of a close', 'x'.repeat(128)],
  ])('closes the socket with 4409 if it reuses the id of a running operation: %s', async (_what, id) => {
    const live = await connectSocket();
    live.subscribe(id, endless);
    live.subscribe(id, endless);
    expect(await live.closeCode()).toBe(4409);
  });

  it('may reuse the id of a completed operation, and gets no more events of the first', async () => {
    const live = await connectSocket();
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
      const live = await connectSocket();
      live.send({ type: 'complete', id });
      live.subscribe(id, ticks);
      await until('it ends', () => live.closed !== undefined || live.of(id).length === 2);
      expect(live.of(id).map(({ type }) => type)).toEqual(['next', 'complete']);
    },
  );

  it('closes the socket if its id has more than 128 characters', async () => {
    const live = await connectSocket();
    live.subscribe('x'.repeat(129), ticks);
    expect(await live.closeCode()).toBe(4400);
  });

  it('may complete unknown operations, 10,000 times', async () => {
    const live = await connectSocket();
    for (let i = 0; i < 10_000; i++) live.send({ type: 'complete', id: `never-${i}` });
    live.subscribe('1', ticks);
    await until('it goes on', () => live.of('1').length === 2);
    expect(live.closed).toBeUndefined();
  });

  it('may subscribe and complete at once, which follows nothing', async () => {
    const before = followed();
    const live = await connectSocket();
    const query = 'subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }';
    for (let i = 0; i < 50; i++) {
      live.subscribe(`${i}`, query, { orgId: world.org.orgId });
      live.send({ type: 'complete', id: `${i}` });
      live.subscribe(`${i}`, query, { orgId: world.org.orgId });
    }
    live.end();
    await until('nothing is followed any more', () => followed() === before);
  });

  it('may subscribe and complete 2,000 times, which keeps no operation', async () => {
    const live = await connectSocket();
    for (let i = 0; i < 2000; i++) {
      live.subscribe(`${i}`, endless);
      live.send({ type: 'complete', id: `${i}` });
    }
    // Ten at the same time are allowed. If any of the 2,000 still counted, these would be refused.
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
    ['introspection', 'subscription { __schema { types { name } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a mutation', 'mutation { revokeToken(token: "x") }', 'BAD_USER_INPUT'],
  ])('is refused with %s, and its socket stays open, in development and production', async (_what, query, code) => {
    for (const { url } of [world.app, world.production]) {
      const live = await connectSocket(url);
      live.subscribe('1', query);
      expect(await refusal(live, '1')).toEqual([code]);
      live.subscribe('2', ticks);
      await until('the next is served', () => live.of('2').length === 2);
    }
  });

  it('gets no suggestion for an unknown field in production', async () => {
    const live = await connectSocket(world.production.url);
    live.subscribe('1', 'subscription { quotaAlertz { id } }');
    expect(await refusal(live, '1')).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(JSON.stringify(live.of('1'))).not.toMatch(/did you mean|quotaAlerts\b/i);
  });
});

describe('a frame', () => {
  const message = JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { ticks(to: 1) }' } });

  it.each<[how: string, outcome: 'served' | 'refused', frames: Buffer[]]>([
    ['binary', 'served', [frame(binary, message)]],
    [
      'in fragments of one byte',
      'served',
      [...message].map((letter, i) => frame(i === 0 ? text : 0, letter, i === message.length - 1)),
    ],
    [
      'with 20,000 empty fragments',
      'refused',
      [frame(text, message, false), ...repeated(20_000, () => frame(0, '', false)), frame(0)],
    ],
    [
      'with pings between its fragments',
      'served',
      [frame(text, message.slice(0, 9), false), ...repeated(100, () => frame(ping, 'x')), frame(0, message.slice(9))],
    ],
    ['after 20,000 pings', 'served', [...repeated(20_000, () => frame(ping, 'x'.repeat(100))), frame(text, message)]],
    [
      'after 20,000 unexpected pongs',
      'served',
      [...repeated(20_000, () => frame(pong, 'x'.repeat(100))), frame(text, message)],
    ],
  ])('%s is %s, and delays nobody', async (_how, outcome, frames) => {
    const wire = await bareSocket();
    wire.write(Buffer.concat(frames));
    await expectServing();
    const isServed = () => wire.received.includes('"ticks":1');
    await until('it is served or refused', () => isServed() || wire.closed || wire.received.includes('\x88'));
    expect(isServed()).toBe(outcome === 'served');
  });

  it('writes nothing to stderr if it is malformed', async () => {
    const [wire, live] = [await bareSocket(), await connectSocket()];
    wire.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
    live.send('{"type":"connection_ack"}');
    await until('both are ended', () => live.closed !== undefined && (wire.closed || wire.received.includes('\x88')));
    // It would be written with its stack, past the log, as often as any stranger likes.
    expect(printed.mock.calls.map(([first]) => first)).toEqual([]);
  });

  it('closes the socket at 64 KB if its fragments have no end', async () => {
    const wire = await bareSocket();
    wire.write(frame(text, 'x'.repeat(1000), false));
    for (let i = 0; i < 100 && !wire.closed; i++) wire.write(frame(0, 'x'.repeat(1000), false));
    // 0x03f1 is 1009, too big.
    await until('the gateway ends it', () => wire.received.includes('\x88') || wire.closed);
    expect(wire.received).toContain('\x03\xf1');
  });

  it.each([
    ['with a length of 2^62', Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), '\x03\xf1'],
    ['with an unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), '\x03\xea'],
    ['that continues no message', frame(0, 'x'), '\x03\xea'],
    ['that is a ping of 200 bytes', frame(ping, 'x'.repeat(200)), '\x03\xea'],
    ['that closes with an invalid code', frame(8, Buffer.from([0, 1])), '\x03\xea'],
  ])('%s closes the socket', async (_what, bytes, code) => {
    const wire = await bareSocket();
    wire.write(bytes);
    await until('the gateway ends it', () => wire.received.includes('\x88') || wire.closed);
    expect(wire.received).toContain(code);
  });
});

describe('a peer that never reads, but sends pongs', () => {
  const refused = (i: number) =>
    frame(text, JSON.stringify({ type: 'subscribe', id: `${i}`.padEnd(128), payload: { query: 'x' } }));
  const echoed = frame(text, JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(50_000) } }));
  const pinged = frame(ping, 'x'.repeat(125));

  // Each causes about 20 MB of responses. The network buffers a few MB before any wait in the gateway.
  it.each<[how: string, batches: number, batch: (batch: number) => Buffer[]]>([
    ['errors', 40, (batch) => repeated(2000, (i) => refused(batch * 2000 + i))],
    ['echoed pings', 40, () => repeated(10, () => echoed)],
    ['pongs', 40, () => repeated(4000, () => pinged)],
  ])('is disconnected before its responses fill the memory: %s', async (_how, batches, batch) => {
    const own = await world.app.another();
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
    const live = await connectSocket();
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
    wire.write(request(bodyOf(query, { orgId }), { ...asAdmin, accept: 'text/event-stream' }));
    await until('the stream opens', () => wire.received.includes('text/event-stream'));
    const follower = { end: () => void wire.socket.destroy() };
    return {
      ...follower,
      get events() {
        return [...wire.received.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => data as string);
      },
    };
  }

  it('all get an alert once, while others are served, and leave no resource open', async () => {
    const owner = await newOrg(world.app, { timezone: 'UTC' });
    await newApp(world.app, owner);
    const handlesBefore = process.getActiveResourcesInfo().length;
    const followers = await Promise.all(
      repeated(500, (i) => (i % 2 === 0 ? overSocket(owner.orgId) : overEvents(owner.orgId))),
    );
    // The metrics are rendered at most once per second.
    await until(
      'all are open',
      async () => (await openStreams(world.app, 'ws')) === 250 && (await openStreams(world.app, 'sse')) === 250,
    );
    expect(process.getActiveResourcesInfo().length).toBeGreaterThan(handlesBefore + 900);
    const reply = await post(bodyOf('{ me { kind } }'), asAdmin);
    expect(dataIn(reply)).toEqual({ me: { kind: 'PLATFORM_ADMIN' } });
    // Nothing confirms a subscription. Only the feed knows.
    await until('all are followed', () => followed() === 500);

    const worker = buildBackground(world.app.config, { clock: world.app.clock, log: silentLog });
    try {
      const cost = {
        orgId: owner.orgId,
        appId: 'chat',
        requestId: randomUUID(),
        modelLabel: 'premium',
        inputTokens: 0,
        outputTokens: 0,
      };
      await world.app.admin.ask(op.SubmitCostDocument, { input: { ...cost, costUsdMicros: 10_000_000 } });
      await worker.spend.sumAll();
    } finally {
      worker.close();
    }
    await until('all have got it', () => followers.every(({ events }) => events.length > 0));
    // Two more polls of the alert log, which must bring nothing again.
    await sleep(2200);
    expect(new Set(followers.map(({ events }) => events.length))).toEqual(new Set([1]));
    const [event, ...others] = new Set(followers.flatMap(({ events }) => events));
    expect(others).toEqual([]);
    expect(JSON.parse(event ?? '')).toEqual({
      data: { quotaAlerts: { id: expect.any(String), kind: 'QUOTA_EXCEEDED' } },
    });

    for (const follower of followers) follower.end();
    await until('no stream is counted', async () => (await openStreams(world.app)) === 0);
    await until('the feed has none of them', () => followed() === 0);
    await until('their handles are closed', () => process.getActiveResourcesInfo().length < handlesBefore + 50);
  });
});
