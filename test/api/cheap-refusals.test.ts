import { request as httpRequest, type IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import { bounds } from '../../src/graphql/bounds.js';
import { createLog } from '../../src/lib/log.js';
import { adminKey, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import { publicCodes } from '../support/http.js';
import { until } from '../support/until.js';

const maxErrorBytes = 16 * 1024;
/** Five errors of variables, and one that says that there are more. */
const maxVariableErrors = 5 + 1;
/** Quadratic work on an input of this size takes many times as long, linear work a small part of it. */
const maxCpuMs = 1000;
const refusalCodes = publicCodes.filter((code) => code !== 'INTERNAL_SERVER_ERROR');
const asAdmin = { 'x-admin-key': adminKey };

const errorLines: string[] = [];
let app: TestApp;
let production: TestApp;
beforeAll(async () => {
  const log = createLog('error', { write: (line: string) => void errorLines.push(line) });
  app = await startTestApp({ log, config: { trustProxy: true } });
  production = await app.another({ production: true });
});
afterAll(() => Promise.all([app.stop(), production.stop()]));

const opened = new Set<() => void>();
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
  // None of this is an error of the gateway, so its operators must not be alarmed.
  expect(errorLines.splice(0)).toEqual([]);
});

interface Payload {
  readonly query?: string;
  readonly variables?: unknown;
  readonly operationName?: string;
  readonly extensions?: unknown;
}

/** The response, the event or the frame as text, and the errors in it. */
interface Refusal {
  readonly text: string;
  readonly errors: readonly PublicError[];
}

type Transport = (url: string, payload: Payload | string) => Promise<Refusal>;

const textOf = (payload: Payload | string): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));
const errorsIn = (text: string): readonly PublicError[] =>
  (JSON.parse(text) as { errors?: PublicError[] }).errors ?? [];

const overHttp: Transport = async (url, payload) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: textOf(payload),
  });
  const text = await response.text();
  expect(response.status).toBeLessThan(500);
  return { text, errors: errorsIn(text) };
};

const overEvents: Transport = async (url, payload) => {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...asAdmin };
  const response = await fetch(url, { method: 'POST', headers, body: textOf(payload) });
  const text = await response.text();
  expect(response.status).toBeLessThan(500);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return { text, errors: errorsIn(text) };
  return { text, errors: [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, data]) => errorsIn(data ?? '')) };
};

/** A frame that closes its socket counts as a short refusal. */
const overWebSocket: Transport = async (url, payload) => {
  const socket = new WebSocket(url, 'graphql-transport-ws');
  opened.add(() => socket.terminate());
  const frames: string[] = [];
  let closed: { code: number; reason: string } | undefined;
  socket.on('error', () => undefined);
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: asAdmin })));
  socket.on('message', (data) => {
    const frame = String(data);
    if (frame.includes('"connection_ack"')) socket.send(`{"type":"subscribe","id":"1","payload":${textOf(payload)}}`);
    else frames.push(frame);
  });
  socket.on('close', (code, reason) => {
    closed = { code, reason: String(reason) };
  });
  await until('the frame is refused', () => frames.length > 0 || closed !== undefined, 120_000);
  if (closed) expect([1009, 4400, 4500]).toContain(closed.code);
  expect(closed?.code).not.toBe(4500);
  socket.terminate();
  return { text: frames.join('\n'), errors: frames.flatMap(errorsInFrame) };
};

/** A refused operation ends with an error message. One that began may have errors in its first result. */
function errorsInFrame(frame: string): readonly PublicError[] {
  const { payload } = JSON.parse(frame) as { payload?: readonly PublicError[] | { errors?: readonly PublicError[] } };
  return Array.isArray(payload)
    ? payload
    : ((payload as { errors?: readonly PublicError[] } | undefined)?.errors ?? []);
}

const transports: readonly (readonly [name: string, size: number, send: Transport])[] = [
  // Leaves room for the JSON around the text.
  ['HTTP', bounds.bodyBytes - 1024, overHttp],
  ['SSE', bounds.bodyBytes - 1024, overEvents],
  ['WebSocket', bounds.frameBytes - 1024, overWebSocket],
];

/** The CPU time of this process, because a busy machine delays the gateway but does not make it work more. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Expects a refusal that takes little CPU, is short, and says that the caller is wrong. */
async function expectCheapRefusal(send: () => Promise<Refusal>): Promise<Refusal> {
  let refusal: Refusal = { text: '', errors: [] };
  const cpuMs = await cpuMsOf(async () => {
    refusal = await send();
  });
  expect(cpuMs).toBeLessThan(maxCpuMs);
  expect(Buffer.byteLength(refusal.text)).toBeLessThanOrEqual(maxErrorBytes);
  for (const { extensions } of refusal.errors) expect(refusalCodes).toContain(extensions.code);
  return refusal;
}

type Document = (filler: string) => string;
const byName: readonly (readonly [where: string, document: Document])[] = [
  ['a field', (name) => `{ ${name} }`],
  ['a field of a subscription', (name) => `subscription { ${name} }`],
  ['an alias', (name) => `{ ${name}: nothing }`],
  ['an argument', (name) => `{ me(${name}: 1) { kind } }`],
  ['a variable', (name) => `query ($${name}: Nothing) { me { kind } }`],
  ['an undeclared variable', (name) => `{ node(id: $${name}) { id } }`],
  ['a type', (name) => `query ($x: ${name}) { me { kind } }`],
  ['an operation', (name) => `query ${name} { nothing }`],
  ['a spread', (name) => `{ ...${name} }`],
  ['a fragment', (name) => `{ me { kind } } fragment ${name} on ${name} { kind }`],
  ['a directive', (name) => `{ me @${name} { kind } }`],
  ['an enum value', (name) => `subscription { quotaAlerts(kinds: [${name}]) { id } }`],
  ['an input field', (name) => `mutation { registerApp(input: { ${name}: 1 }) { app { appId } } }`],
];
const byText: readonly (readonly [where: string, document: Document])[] = [
  ['an integer', (text) => `{ orgs(first: "${text}") { nodes { orgId } } }`],
  ['a UUID', (text) => `subscription { quotaAlerts(orgId: "${text}") { id } }`],
  ['an enum', (text) => `subscription { quotaAlerts(kinds: ["${text}"]) { id } }`],
  ['a UUID, as a block', (text) => `{ org(orgId: """${text}""") { name } }`],
  ['an unknown field', (text) => `{ nothing(x: "${text}") }`],
  ['a string without an end', (text) => `{ org(orgId: "${text}`],
  ['a comment', (text) => `{ nothing } # ${text}`],
];
const names = ['eyJ', 'tgk_', 'Did_you_mean_', 'a'];
const texts = ['eyJ', 'tgs_', 'Did you mean ', ' at \\"', 'Variable \\"$', 'a', ' ', '\\\\', '\ufffd', '😀'];
const junk = [
  '{',
  '}',
  '[',
  '(',
  '"',
  ' ',
  '\n',
  ',',
  '#',
  '!',
  '@',
  '$',
  '...',
  '1',
  '-',
  '{a',
  'a ',
  'a:',
  '\ufeff',
  '\u0000',
  '😀',
  '{...on Query',
];

const fill = (filler: string, bytes: number): string =>
  filler.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(filler).slice(1, -1))));

describe.each([
  ['production', () => production],
  ['development', () => app],
])('a gateway in %s', (_mode, on) => {
  describe.each(transports)('given a document over %s', (_name, size, send) => {
    it.each(byName)('refuses the longest name of %s with little CPU and a short error', async (_where, document) => {
      for (const name of names) await expectCheapRefusal(() => send(on().url, { query: document(fill(name, size)) }));
    });

    it.each(byText)('refuses the longest text for %s with little CPU and a short error', async (_where, document) => {
      for (const text of texts) await expectCheapRefusal(() => send(on().url, { query: document(fill(text, size)) }));
    });

    it('refuses one token repeated with little CPU and a short error', async () => {
      for (const token of junk) await expectCheapRefusal(() => send(on().url, { query: fill(token, size) }));
    });

    it('refuses a document with hundreds of errors with a short error', async () => {
      const fields = Array.from({ length: 900 }, (_, i) => `${'f'.repeat(100)}${i}`).join(' ');
      for (const query of [`{ ${fields} }`, `{ me { ${fields} } }`, `subscription { ${fields} }`])
        await expectCheapRefusal(() => send(on().url, { query: query.slice(0, size) }));
    });
  });
});

/** Operations with one variable `$x`, and one with any number of variables. */
interface Shapes {
  readonly uuid: string;
  readonly oneEnum: string;
  readonly list: string;
  readonly many: (declared: (type: string) => string, used: string) => string;
}
const requestShapes: Shapes = {
  uuid: 'query ($x: UUID) { org(orgId: $x) { name } }',
  oneEnum: 'query ($x: Consistency!) { org { spend(consistency: $x) { day } } }',
  list: 'mutation ($x: [SubmitCostInput!]!) { submitCosts(inputs: $x) { requestId } }',
  many: (declared, used) =>
    [
      `query (${declared('ConsumeInput!')})`,
      `{ availability(entityId: "x", resource: "x", consume: [${used}]) { retryAfterSecs } }`,
    ].join(' '),
};
const subscriptionShapes: Shapes = {
  uuid: 'subscription ($x: UUID) { quotaAlerts(orgId: $x) { id } }',
  oneEnum: 'subscription ($x: QuotaAlertKind!) { quotaAlerts(kinds: [$x]) { id } }',
  list: 'subscription ($x: [QuotaAlertKind!]) { quotaAlerts(kinds: $x) { id } }',
  many: (declared, used) => `subscription (${declared('QuotaAlertKind!')}) { quotaAlerts(kinds: [${used}]) { id } }`,
};
const [http, events, socket] = transports as [(typeof transports)[0], (typeof transports)[0], (typeof transports)[0]];

describe.each([
  ['HTTP', requestShapes, http],
  ['SSE', requestShapes, events],
  ['SSE, of a subscription,', subscriptionShapes, events],
  ['WebSocket', subscriptionShapes, socket],
] as const)('variables over %s', (_name, shapes, [, size, send]) => {
  const secret = 'the value that was sent';
  const expectShortRefusal = async (query: string, x: unknown): Promise<void> => {
    const { text, errors } = await expectCheapRefusal(() => send(app.url, { query, variables: { x } }));
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
    expect(errors.length).toBeLessThanOrEqual(maxVariableErrors);
    expect(errors.flatMap(({ extensions }) => extensions.issues ?? []).length).toBeLessThanOrEqual(maxVariableErrors);
    for (const value of [secret, 'eyJeyJ', 'Did you mean Did you', 'xxxxxx']) expect(text).not.toContain(value);
  };
  const bytes = size - 2048;

  it.each<[what: string, shape: 'uuid' | 'oneEnum' | 'list', x: unknown]>([
    ['the longest text for a UUID', 'uuid', fill('eyJ', bytes)],
    ['an object for a UUID', 'uuid', { [secret]: 'x'.repeat(bytes) }],
    ['the longest key', 'uuid', { [fill('eyJ', bytes)]: secret }],
    ['the longest text for an enum', 'oneEnum', fill('Did you mean ', bytes)],
    ['the longest text for a list', 'list', fill('eyJ', bytes)],
    ['100 wrong values', 'list', Array.from({ length: 100 }, () => secret)],
    ['100 long wrong values', 'list', Array.from({ length: 100 }, () => 'x'.repeat(bytes / 120))],
  ])('with %s are refused with little CPU and a short error, and not repeated', async (_what, shape, x) => {
    await expectShortRefusal(shapes[shape], x);
  });

  it('get a short BAD_USER_INPUT if more than 50 of them are invalid', async () => {
    for (const count of [50, 51, 60, 99]) {
      const names = Array.from({ length: count }, (_, i) => `v${i}`);
      const query = shapes.many(
        (type) => names.map((name) => `$${name}: ${type}`).join(' '),
        names.map((name) => `$${name}`).join(' '),
      );
      const { errors, text } = await expectCheapRefusal(() =>
        send(app.url, { query, variables: Object.fromEntries(names.map((name) => [name, secret])) }),
      );
      expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
      expect(errors.length).toBeLessThanOrEqual(maxVariableErrors);
      expect(text).not.toContain(secret);
    }
  });

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('of the deepest %s are refused with little CPU and a short error', async (_what, open, close) => {
    const depth = Math.floor(bytes / (open.length + close.length));
    const value = `${open.repeat(depth)}1${close.repeat(depth)}`;
    for (const body of [
      `{"query":${JSON.stringify(shapes.uuid)},"variables":{"x":${value}}}`,
      `{"query":${value}}`,
      `{"query":"{a}","extensions":{"a":${value}}}`,
    ])
      await expectCheapRefusal(() => send(app.url, body));
  });

  it('are refused with little CPU if they are a list, or come with a long operation name or hash', async () => {
    await expectCheapRefusal(() => send(app.url, { query: shapes.uuid, variables: [secret] }));
    await expectCheapRefusal(() => send(app.url, { query: '{ me { kind } }', operationName: fill('eyJ', bytes) }));
    await expectCheapRefusal(() =>
      send(app.url, { extensions: { persistedQuery: { version: 1, sha256Hash: fill('eyJ', bytes) } } }),
    );
  });
});

describe.each([http, events])('an input object over %s', (_name, size, send) => {
  const query = 'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } } }';
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 1]));

  it.each<[what: string, input: unknown]>([
    ['60 unknown keys and the longest text', { ...unknown(60), name: 'x'.repeat(size - 4096) }],
    ['10,000 unknown keys', unknown(10_000)],
    ['the longest key', { [fill('eyJ', size - 2048)]: 1 }],
    ['the longest text for an enum', { quotaScope: fill('eyJ', size - 2048) }],
    ['a text in its place', fill('tgs_', size - 2048)],
    ['a long list in its place', Array.from({ length: size / 4 }, () => 1)],
  ])('with %s is refused with little CPU and a short error', async (_what, input) => {
    const { errors } = await expectCheapRefusal(() => send(app.url, { query, variables: { input } }));
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
    expect(errors.length).toBeLessThanOrEqual(maxVariableErrors);
  });
});

/** One POST by node:http, which sends headers unchanged. */
async function withHeaders(url: string, headers: Record<string, string>, body: string): Promise<Refusal> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, resolve)
      .on('error', reject)
      .end(body);
  });
  let text = '';
  for await (const chunk of response) text += chunk;
  expect(response.statusCode).toBeLessThan(500);
  expect(JSON.stringify(response.headers).length).toBeLessThan(4096);
  return { text, errors: [] };
}

describe('a header of 15 KB', () => {
  const size = 15_000;
  const fillers = [
    'eyJ',
    'tgk_',
    'Did you mean ',
    ' ',
    ',',
    ';',
    ';q=',
    'text/event-stream;q=0,',
    '*/*,',
    'a=',
    '"',
    '\t',
    '1.',
    ':',
    '/',
    '=',
  ];
  it.each([
    'x-request-id',
    'authorization',
    'x-admin-key',
    'x-api-key',
    'accept',
    'accept-encoding',
    'content-type',
    'origin',
    'last-event-id',
    'x-forwarded-for',
    'cookie',
    'if-none-match',
    'access-control-request-headers',
    'expect',
  ])('takes little CPU as %s, and is not repeated', async (name) => {
    for (const filler of fillers) {
      const value = fill(filler, size);
      const body = JSON.stringify({ query: '{ nothing }' });
      for (const sent of name === 'authorization' ? [value, `Bearer ${value}x`, `Basic ${value}x`] : [value]) {
        const { text } = await expectCheapRefusal(() =>
          withHeaders(production.url, { [name]: sent.trim() || 'x' }, body),
        );
        if (filler.trim().length > 2) expect(text).not.toContain(filler.repeat(200));
      }
    }
  });
});

describe('a form of 256 KB', () => {
  it.each(['/oauth/token', '/oauth/revoke'])('is refused at %s with little CPU and a short error', async (path) => {
    const size = bounds.bodyBytes - 1024;
    const bodies = [
      ...['eyJ', 'a=b&', '%', '%41', '+', '&', '=', 'grant_type=x&', 'tgs_', 'Did you mean '].map((filler) =>
        filler.repeat(Math.floor(size / filler.length)),
      ),
      `grant_type=${'eyJ'.repeat(size / 4)}`,
      `grant_type=client_credentials&client_id=${'eyJ'.repeat(size / 4)}&client_secret=x`,
      `grant_type=refresh_token&refresh_token=${'tgr_'.repeat(size / 5)}`,
      `token=${'eyJ'.repeat(size / 4)}`,
    ];
    for (const body of bodies)
      await expectCheapRefusal(() =>
        withHeaders(`${production.origin}${path}`, { 'content-type': 'application/x-www-form-urlencoded' }, body),
      );
  });
});

describe('a frame of 64 KB', () => {
  const size = bounds.frameBytes - 1024;

  /** Sends one frame on an accepted socket, or as the first frame of a socket, and returns the refusal. */
  async function refusalOf(frame: string, isFirst: boolean): Promise<Refusal> {
    const socket = new WebSocket(production.url, 'graphql-transport-ws');
    opened.add(() => socket.terminate());
    const frames: string[] = [];
    let closed: { code: number; reason: string } | undefined;
    socket.on('error', () => undefined);
    socket.on('open', () =>
      socket.send(isFirst ? frame : JSON.stringify({ type: 'connection_init', payload: asAdmin })),
    );
    socket.on('message', (data) => {
      if (!isFirst && String(data).includes('"connection_ack"')) socket.send(frame);
      else frames.push(String(data));
    });
    socket.on('close', (code, reason) => {
      closed = { code, reason: String(reason) };
    });
    await until('it is refused', () => frames.length > 0 || closed !== undefined, 60_000);
    expect(closed?.code).not.toBe(4500);
    socket.terminate();
    return { text: frames.join('\n') + (closed?.reason ?? ''), errors: [] };
  }

  it.each(['eyJ', 'tgk_', 'Did you mean ', '\ufffd', '😀', 'a'])(
    'full of %s is refused with little CPU and a short error',
    async (filler) => {
      const text = fill(filler, size);
      for (const frame of [
        text,
        `"${text}"`,
        `{"type":"${text}"}`,
        `{"${text}":1}`,
        `{"type":"subscribe","id":"${text}","payload":{"query":"x"}}`,
        `{"type":"subscribe","id":"1","payload":{"query":"x","operationName":"${text}"}}`,
        `{"type":"subscribe","id":"1","payload":"${text}"}`,
      ])
        await expectCheapRefusal(() => refusalOf(frame, false));
      for (const frame of [
        text,
        `{"type":"connection_init","payload":{"authorization":"Bearer ${text}"}}`,
        `{"type":"connection_init","payload":{"x-api-key":"${text}"}}`,
      ])
        await expectCheapRefusal(() => refusalOf(frame, true));
    },
  );
});
