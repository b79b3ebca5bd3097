import { randomUUID } from 'node:crypto';
import {
  type AnyVariables,
  Client,
  type ClientOptions,
  cacheExchange,
  type DocumentInput,
  fetchExchange,
  subscriptionExchange,
} from '@urql/core';
import { createClient as createSocketClient, type Sink } from 'graphql-ws';
import WebSocket from 'ws';
import { AlertSource, bearer } from '../support/alert-source.js';
import { startTestApp, type TestApp } from '../support/app.js';
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

interface Sent {
  readonly method: string | undefined;
  readonly status: number;
  readonly type: string | null;
}

/** A client as in its documentation, and the requests that it has sent by `fetch`. */
function urql(
  options: Partial<ClientOptions> = {},
  credentials: Record<string, string> = bearer(alerts.org),
): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const socket = createSocketClient({
    url: app.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: credentials,
    retryAttempts: 0,
  });
  opened.add(() => void socket.dispose());
  const overSocket = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({
        unsubscribe: socket.subscribe({ query, variables: variables as Record<string, unknown> }, sink as Sink),
      }),
    }),
  });
  const client = new Client({
    url: app.url,
    exchanges: [cacheExchange, fetchExchange, overSocket],
    fetchOptions: { headers: credentials },
    async fetch(url, init) {
      const response = await fetch(url, init);
      sent.push({ method: init?.method, status: response.status, type: response.headers.get('content-type') });
      return response;
    },
    ...options,
  });
  return { client, sent };
}

const json = 'application/graphql-response+json; charset=utf-8';

describe('urql', () => {
  it('queries by GET, its default', async () => {
    const { client, sent } = urql();
    const { data, error } = await client.query(op.MeDocument, {}).toPromise();
    expect(error).toBeUndefined();
    expect(data?.me).toMatchObject({ kind: 'ORG_CLIENT', clientId: alerts.org.clientId });
    expect(sent).toEqual([{ method: 'GET', status: 200, type: json }]);
  });

  it('queries by POST', async () => {
    const { client, sent } = urql({ preferGetMethod: false });
    const { data, error } = await client.query(op.MeDocument, {}).toPromise();
    expect(error).toBeUndefined();
    expect(data?.me.kind).toBe('ORG_CLIENT');
    expect(sent).toEqual([{ method: 'POST', status: 200, type: json }]);
  });

  it('mutates', async () => {
    const { client, sent } = urql();
    const { data, error } = await client
      .mutation(op.CreateApiKeyDocument, { input: { description: 'by urql' } })
      .toPromise();
    expect(error).toBeUndefined();
    expect(data?.createApiKey?.secret).toMatch(/^tgk_/);
    expect(sent).toEqual([{ method: 'POST', status: 200, type: json }]);
  });

  it('shows the code of an error', async () => {
    const { client } = urql();
    const { data, error } = await client.mutation(op.RevokeApiKeyDocument, { keyId: randomUUID() }).toPromise();
    expect(data).toEqual({ revokeApiKey: null });
    expect(error?.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND']);
  });

  it('shows the code of a refused credential, which comes with status 401', async () => {
    const { client, sent } = urql({}, { authorization: 'Bearer x.y.z' });
    const { error } = await client.query(op.MeDocument, {}).toPromise();
    expect(error?.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    expect(sent.map(({ status }) => status)).toEqual([401]);
  });

  it.each([
    ['graphql-ws', false],
    ['its own server-sent events', true],
  ])('subscribes over %s', async (_transport, fetchSubscriptions) => {
    const [seen, missed] = [await alerts.raise(), await alerts.raise()];
    const { client, sent } = urql({ fetchSubscriptions });
    const received: unknown[] = [];
    const errors: unknown[] = [];
    const subscription = follow(client, op.QuotaAlertsDocument, { after: seen.cursor }, ({ data, error }) => {
      if (error) errors.push(error);
      if (data) received.push(data.quotaAlerts);
    });
    opened.add(() => subscription.unsubscribe());
    await until('the missed alert arrives', () => received.length === 1 || errors.length > 0);
    const live = await alerts.raise();
    await until('the live alert arrives', () => received.length === 2 || errors.length > 0);
    expect(errors).toEqual([]);
    expect(received).toMatchObject([missed, live]);
    expect(sent).toEqual(
      fetchSubscriptions ? [{ method: 'POST', status: 200, type: 'text/event-stream; charset=utf-8' }] : [],
    );
  });

  it.each([
    ['graphql-ws', false],
    ['its own server-sent events', true],
  ])('shows the code of a subscription refused over %s', async (_transport, fetchSubscriptions) => {
    const { client } = urql({ fetchSubscriptions });
    const codes: unknown[] = [];
    const subscription = follow(client, op.QuotaAlertsDocument, { appId: 'nobody' }, ({ error }) => {
      for (const { extensions } of error?.graphQLErrors ?? []) codes.push(extensions.code);
    });
    opened.add(() => subscription.unsubscribe());
    await until('it is refused', () => codes.length > 0);
    // urql repeats a result when its subscription has ended.
    expect(new Set(codes)).toEqual(new Set(['NOT_FOUND']));
  });
});

type Result<T> = {
  readonly data?: T | undefined;
  readonly error?: { readonly graphQLErrors: readonly { extensions: Record<string, unknown> }[] } | undefined;
};

function follow<T, V extends AnyVariables>(
  client: Client,
  document: DocumentInput<T, V>,
  variables: V,
  take: (result: Result<T>) => void,
) {
  return client.subscription(document, variables).subscribe(take);
}
