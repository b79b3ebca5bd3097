import { jest } from '@jest/globals';
import type { GraphQLSchema } from 'graphql';
import { createLog } from '../../src/lib/log.js';
import { type Client, newOrg, type PublicError, startTestApp, type TestApp } from './app.js';
import { publicCodes } from './http.js';
import { endAll, LiveSocket } from './live-socket.js';
import { asAdmin, openStreams } from './live-transports.js';
import { schemaWithTicks } from './subscription.js';
import { until } from './until.js';

export const repeated = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

interface AbuseWorld {
  schema: GraphQLSchema;
  app: TestApp;
  production: TestApp;
  org: Client & { readonly orgId: string };
}
/** Filled before the first test of a file that calls `testAbuse`. */
export const world = {} as AbuseWorld;
/** What is written to stderr, past the log. */
export const printed = jest.spyOn(console, 'error').mockImplementation(() => {});

/**
 * Starts the gateways of a file of abuse tests. After each test: no stream is left open, the log has no error, and the
 * gateways still serve others.
 */
export function testAbuse(): void {
  const errorLines: string[] = [];
  beforeAll(async () => {
    world.schema = await schemaWithTicks();
    const log = createLog('error', { write: (line: string) => void errorLines.push(line) });
    world.app = await startTestApp({ schema: world.schema, log, config: { principalConcurrency: 2000 } });
    world.production = await world.app.another({ production: true });
    world.org = await newOrg(world.app);
  });
  afterAll(() => Promise.all([world.app.stop(), world.production.stop()]));
  afterEach(async () => {
    endAll();
    for (const gateway of [world.app, world.production])
      await until('no stream is left open', async () => (await openStreams(gateway)) === 0);
    expect(errorLines.splice(0)).toEqual([]);
    printed.mockClear();
    await expectServing();
  });
}

/** The number of alert streams in the feed of this gateway. */
export function followed(): number {
  const feed = world.app.gateway.services.alertFeed as unknown as {
    readonly followed: ReadonlyMap<string, { readonly streams: ReadonlySet<unknown> }>;
  };
  return [...feed.followed.values()].reduce((sum, { streams }) => sum + streams.size, 0);
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The parser of Node refuses with these itself, before there is a request. Such responses have no body. */
const statusesWithoutBody = [400, 408, 417, 431];

/** Expects what holds for every response: not a 5xx, only public codes, no internals. */
export function decent<R extends Reply>(reply: R, bodyless = false): R {
  expect(reply.status).toBeLessThan(500);
  expect(reply.text).not.toMatch(/stack|node_modules|node:|\.[jt]s:\d|\/(tmp|work|home|src)\/| {4}at /);
  if (bodyless || reply.text === '') {
    expect(reply.text).toBe('');
    if (!bodyless) expect(statusesWithoutBody).toContain(reply.status);
    return reply;
  }
  const { data, errors } = JSON.parse(reply.text) as { data?: unknown; errors?: PublicError[] };
  expect(data !== undefined || (errors?.length ?? 0) > 0).toBe(true);
  expectDecentErrors(errors ?? []);
  for (const { extensions } of errors ?? []) expect(extensions.requestId).toBe(reply.headers['x-request-id']);
  return reply;
}

export function expectDecentErrors(errors: readonly PublicError[]): void {
  expect(JSON.stringify(errors)).not.toMatch(/stack|node_modules|\.[jt]s:\d|INTERNAL_SERVER_ERROR/);
  for (const { extensions } of errors) {
    expect(publicCodes).toContain(extensions.code);
    expect(extensions.requestId).toEqual(expect.any(String));
  }
}

export const codesIn = ({ text }: Reply): string[] =>
  ((JSON.parse(text) as { errors?: PublicError[] }).errors ?? []).map(({ extensions }) => extensions.code);
export const dataIn = ({ text }: Reply): unknown => (JSON.parse(text) as { data?: unknown }).data;

export async function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  url = world.app.url,
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

/** The body of an operation. */
export const bodyOf = (query: string, variables?: unknown): string => JSON.stringify({ query, variables });
export const typename = bodyOf('{ __typename }');

export const openSocket = (url = world.app.url, protocols?: string | string[]) => LiveSocket.open(url, protocols);
export const connectSocket = (url = world.app.url, payload: unknown = asAdmin) => LiveSocket.connect(url, payload);

/** Expects that a request and a subscription are served. */
export async function expectServing(url = world.app.url): Promise<void> {
  const reply = await post(bodyOf('{ me { kind } }'), asAdmin, url);
  expect([reply.status, dataIn(reply)]).toEqual([200, { me: { kind: 'PLATFORM_ADMIN' } }]);
  const live = await connectSocket(url);
  live.subscribe('fresh', 'subscription { ticks(to: 1) }');
  await until('a fresh subscription runs to its end', () => live.of('fresh').length === 2);
  expect(live.of('fresh')).toEqual([
    { id: 'fresh', type: 'next', payload: { data: { ticks: 1 } } },
    { id: 'fresh', type: 'complete' },
  ]);
  live.end();
}
