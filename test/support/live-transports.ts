import { adminKey, type Client, type PublicError, type TestApp } from './app.js';
import { LiveSocket, operation } from './live-socket.js';
import { until } from './until.js';

export const bearer = ({ accessToken }: Pick<Client, 'accessToken'>) => ({ authorization: `Bearer ${accessToken}` });
export const asAdmin = { 'x-admin-key': adminKey };
export const endless = 'subscription { ticks(to: 1000000, everyMs: 50) }';

export interface Result {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly PublicError[];
}

/** Runs a subscription to its end and returns its results. An error message counts as a result with errors. */
export type Transport = (
  url: string,
  credentials: Record<string, string>,
  query: string,
  variables?: Record<string, unknown>,
) => Promise<Result[]>;

export const overWebSocket: Transport = async (url, credentials, query, variables) => {
  const live = await LiveSocket.connect(url, credentials);
  try {
    live.subscribe('1', query, variables);
    await until(
      'the subscription ends',
      () => live.closed !== undefined || live.of('1').some(({ type }) => type === 'complete' || type === 'error'),
    );
    if (live.closed) throw new Error(`closed with ${live.closed.code}`);
    return live
      .of('1')
      .flatMap(({ type, payload }) =>
        type === 'next' ? [payload as Result] : type === 'error' ? [{ errors: payload as PublicError[] }] : [],
      );
  } finally {
    live.end();
  }
};

const events = (text: string): { event: string; data: string }[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => ({
      event: /^event: ?(.*)$/m.exec(block)?.[1] ?? '',
      data: /^data: ?(.*)$/m.exec(block)?.[1] ?? '',
    }));

/** A request for an event stream. */
export const eventInit = (credentials: Record<string, string>, body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
  body: JSON.stringify(body),
});

/** The results of an event stream, or the JSON body of a refusal. */
export async function resultsOf(response: Response): Promise<Result[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return [JSON.parse(text) as Result];
  expect(events(text).at(-1)?.event).toBe('complete');
  return events(text)
    .filter(({ event }) => event === 'next')
    .map(({ data }) => JSON.parse(data) as Result);
}

export const overEvents: Transport = async (url, credentials, query, variables) =>
  resultsOf(await fetch(url, eventInit(credentials, operation(query, variables))));

/** The number of open streams, by the metrics of a gateway. */
export async function openStreams(of: TestApp, transport = '[a-z]+'): Promise<number> {
  const page = await (await fetch(`${of.origin}/metrics`)).text();
  const counts = [
    ...page.matchAll(new RegExp(`^tollgate_subscriptions_open\\{transport="${transport}"\\} (\\d+)$`, 'gm')),
  ];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

export const transports: readonly (readonly [name: string, run: Transport])[] = [
  ['WebSocket', overWebSocket],
  ['SSE', overEvents],
];
