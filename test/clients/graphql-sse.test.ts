import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import {
  type ClientOptions,
  createClient,
  NetworkError,
  type RequestParams,
  type Client as SseClient,
} from 'graphql-sse';
import { within } from '../../src/lib/timers.js';
import { AlertSource, bearer } from '../support/alert-source.js';
import { newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

let app: TestApp;
let alerts: AlertSource;
beforeAll(async () => {
  app = await startTestApp();
  alerts = await AlertSource.start(app);
});
afterAll(async () => {
  alerts.stop();
  await app.stop();
});

const opened = new Set<() => void>();
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
});

/** The default of the client: distinct connections, one request per operation. */
function sseClient(
  headers: Record<string, string> = bearer(alerts.org),
  options: Partial<ClientOptions<false>> = {},
): SseClient {
  const client = createClient({ url: app.url, headers, retryAttempts: 0, ...options });
  opened.add(() => client.dispose());
  return client;
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly PublicError[];
}

/** All results of an operation that completes by itself. */
async function resultsOf(client: SseClient, request: RequestParams): Promise<Result[]> {
  const results: Result[] = [];
  for await (const result of client.iterate<unknown, unknown>(request)) results.push(result as unknown as Result);
  return results;
}

const codesOf = (results: readonly Result[]) =>
  results.flatMap(({ errors }) => (errors ?? []).map(({ extensions }) => extensions.code));
const following = (variables: op.QuotaAlertsSubscriptionVariables): RequestParams => ({
  query: print(op.QuotaAlertsDocument),
  variables: { ...variables },
});

describe('the graphql-sse client', () => {
  it('queries', async () => {
    expect(await resultsOf(sseClient(), { query: '{ me { kind clientId } }' })).toEqual([
      { data: { me: { kind: 'ORG_CLIENT', clientId: alerts.org.clientId } } },
    ]);
  });

  it('mutates', async () => {
    const request = { query: print(op.CreateApiKeyDocument), variables: { input: { description: 'by graphql-sse' } } };
    expect(await resultsOf(sseClient(), request)).toMatchObject([
      { data: { createApiKey: { secret: expect.stringMatching(/^tgk_/) } } },
    ]);
  });

  it('shows the code of an error', async () => {
    const [revoked] = await resultsOf(sseClient(), {
      query: print(op.RevokeApiKeyDocument),
      variables: { keyId: randomUUID() },
    });
    expect([revoked?.data, codesOf([revoked ?? {}])]).toEqual([{ revokeApiKey: null }, ['NOT_FOUND']]);
  });

  it('subscribes, and gets missed and live events', async () => {
    const [seen, missed] = [await alerts.raise(), await alerts.raise()];
    const received: unknown[] = [];
    const errors: unknown[] = [];
    const end = sseClient().subscribe<op.QuotaAlertsSubscription>(following({ after: seen.cursor }), {
      next: ({ data }) => void received.push(data?.quotaAlerts),
      error: (error) => void errors.push(error),
      complete: () => undefined,
    });
    opened.add(end);
    await until('the missed alert arrives', () => received.length === 1 || errors.length > 0);
    const live = await alerts.raise();
    await until('the live alert arrives', () => received.length === 2 || errors.length > 0);
    expect(errors).toEqual([]);
    expect(received).toEqual([missed, live]);
  });

  it('resumes after its connection was cut, with Last-Event-ID in its headers', async () => {
    const seen = await alerts.raise();
    let lastEventId: string | undefined;
    let connections = 0;
    let cut: (() => void) | undefined;
    const client = sseClient(bearer(alerts.org), {
      retryAttempts: 5,
      retry: async () => undefined,
      headers: () => ({ ...bearer(alerts.org), ...(lastEventId ? { 'last-event-id': lastEventId } : {}) }),
      // Reads the ids, which the client ignores, and lets the test cut the connection.
      async fetchFn(url: string, init: RequestInit) {
        connections++;
        const aborted = new AbortController();
        cut = () => aborted.abort();
        const response = await fetch(url, {
          ...init,
          signal: AbortSignal.any([aborted.signal, ...(init.signal ? [init.signal] : [])]),
        });
        const read = new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            lastEventId = /^id: ?(.+)$/m.exec(new TextDecoder().decode(chunk))?.[1] ?? lastEventId;
            controller.enqueue(chunk);
          },
        });
        return new Response(response.body?.pipeThrough(read), response);
      },
    });
    const received: (string | undefined)[] = [];
    const errors: unknown[] = [];
    const end = client.subscribe<op.QuotaAlertsSubscription>(following({ after: seen.cursor }), {
      next: ({ data }) => void received.push(data?.quotaAlerts.id),
      error: (error) => void errors.push(error),
      complete: () => undefined,
    });
    opened.add(end);
    const first = await alerts.raise();
    await until('the first alert arrives', () => received.length === 1 || errors.length > 0);
    cut?.();
    const meanwhile = [await alerts.raise(), await alerts.raise()];
    await until('what was raised meanwhile arrives', () => received.length === 3 || errors.length > 0);
    expect(errors).toEqual([]);
    expect(connections).toBeGreaterThan(1);
    // Without the header the second connection would begin after `seen` and repeat the first alert.
    expect(received).toEqual([first, ...meanwhile].map(({ id }) => id));
  });

  it.each([
    ['no credential', {}],
    ['a wrong token', { authorization: 'Bearer x.y.z' }],
    ['a wrong admin key', { 'x-admin-key': 'wrong' }],
  ])('gets status 401 for a subscription with %s, not an event', async (_what, headers) => {
    const error = await resultsOf(sseClient(headers), following({})).then(
      (results) => results,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(NetworkError);
    const { response } = error as NetworkError<Response>;
    expect(response?.status).toBe(401);
    expect(response?.headers.get('www-authenticate')).toBe('Bearer');
    expect(codesOf([(await response?.json()) as { errors: PublicError[] }])).toEqual(['UNAUTHENTICATED']);
  });
});

interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

const patienceMs = 20_000;

/** The first `count` events of a stream. The request is ended then. */
async function eventsOf(
  count: number,
  request: RequestParams,
  headers: Record<string, string>,
): Promise<StreamEvent[]> {
  const controller = new AbortController();
  opened.add(() => controller.abort());
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(request),
    signal: AbortSignal.any([controller.signal, AbortSignal.timeout(patienceMs)]),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const events: StreamEvent[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const event = field('event');
      if (event !== undefined) events.push({ event, id: field('id'), data: field('data') ?? '' });
    }
    if (events.length >= count) break;
  }
  controller.abort();
  return events;
}

describe('the id of an event', () => {
  const idsIn = (events: readonly StreamEvent[]) =>
    events.map(({ data }) => (JSON.parse(data) as { data: { quotaAlerts: { id: string } } }).data.quotaAlerts.id);

  it.each([
    ['selects the cursor', print(op.QuotaAlertsDocument)],
    [
      'does not select the cursor',
      'subscription QuotaAlerts($after: String) { quotaAlerts(after: $after) { id kind } }',
    ],
    [
      'selects the cursor by another name',
      'subscription QuotaAlerts($after: String) { news: quotaAlerts(after: $after) { at: cursor } }',
    ],
  ])('is the cursor of its alert, if the subscription %s', async (_what, query) => {
    const [seen, first, second] = [await alerts.raise(), await alerts.raise(), await alerts.raise()];
    const events = await eventsOf(2, { query, variables: { after: seen.cursor } }, bearer(alerts.org));
    expect(events.map(({ event, id }) => [event, id])).toEqual([
      ['next', first.cursor],
      ['next', second.cursor],
    ]);
  });

  it('resumes a stream as Last-Event-ID, and takes precedence over `after`', async () => {
    const raised = [await alerts.raise(), await alerts.raise(), await alerts.raise(), await alerts.raise()];
    const [first, second, third, fourth] = raised as [
      op.AlertFragment,
      op.AlertFragment,
      op.AlertFragment,
      op.AlertFragment,
    ];
    const query = 'subscription ($after: String) { quotaAlerts(after: $after) { id } }';
    const resume = (lastEventId: string, variables: object) =>
      eventsOf(2, { query, variables: { ...variables } }, { ...bearer(alerts.org), 'last-event-id': lastEventId });
    expect(idsIn(await resume(second.cursor, {}))).toEqual([third.id, fourth.id]);
    expect(idsIn(await resume(second.cursor, { after: first.cursor }))).toEqual([third.id, fourth.id]);
    const withoutArgument = 'subscription { quotaAlerts { id } }';
    const events = await eventsOf(
      2,
      { query: withoutArgument },
      { ...bearer(alerts.org), 'last-event-id': second.cursor },
    );
    expect(idsIn(events)).toEqual([third.id, fourth.id]);
  });

  it('is refused as Last-Event-ID if it is of another org or invalid', async () => {
    const { cursor } = await alerts.raise();
    const foreign = bearer(await newOrg(app));
    const request = { query: 'subscription { quotaAlerts { id } }' };
    for (const [credentials, lastEventId] of [
      [foreign, cursor],
      [bearer(alerts.org), 'nonsense'],
      [bearer(alerts.org), 'x'.repeat(10_000)],
    ] as const) {
      const client = sseClient({ ...credentials, 'last-event-id': lastEventId });
      const refused = await within(patienceMs, resultsOf(client, request), () => []).catch(
        async (error: NetworkError<Response>) => [(await error.response?.json()) as { errors: PublicError[] }],
      );
      expect(codesOf(refused)).toEqual(['BAD_USER_INPUT']);
    }
  });
});
