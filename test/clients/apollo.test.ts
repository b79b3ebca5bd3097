import { createHash, randomUUID } from 'node:crypto';
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient as createSocketClient } from 'graphql-ws';
import WebSocket from 'ws';
import { AlertSource, bearer } from '../support/alert-source.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
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

/** A request as it was sent (a document or its hash), and the codes of its response. */
interface Exchange {
  readonly method: string;
  readonly hasQuery: boolean;
  readonly hasHash: boolean;
  readonly codes: readonly (string | undefined)[];
}

/** Subscriptions over WebSocket, everything else over HTTP. `before`: a link before HTTP. */
function apollo(
  credentials: Record<string, string> = bearer(alerts.org),
  before = ApolloLink.empty(),
): { client: ApolloClient; exchanges: Exchange[] } {
  const exchanges: Exchange[] = [];
  const http = new HttpLink({
    uri: app.url,
    headers: credentials,
    async fetch(url, init) {
      const response = await fetch(url, init);
      const sent = init?.body ? String(init.body) : decodeURIComponent(String(url));
      const { errors = [] } = (await response.clone().json()) as { errors?: { extensions?: { code: string } }[] };
      exchanges.push({
        method: init?.method ?? 'GET',
        hasQuery: /"query":|[?&]query=/.test(sent),
        hasHash: sent.includes('sha256Hash'),
        codes: errors.map(({ extensions }) => extensions?.code),
      });
      return response;
    },
  });
  const socket = createSocketClient({
    url: app.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: credentials,
    retryAttempts: 0,
  });
  opened.add(() => void socket.dispose());
  const overHttp = before instanceof PersistedQueryLink ? before.concat(http) : http;
  const link = ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(socket),
    overHttp,
  );
  const client = new ApolloClient({
    link,
    cache: new InMemoryCache({ typePolicies: { Org: { fields: { apps: relayStylePagination() } } } }),
  });
  opened.add(() => client.stop());
  return { client, exchanges };
}

/** The codes of an operation that must fail. */
async function codesOf(operation: Promise<unknown>): Promise<unknown[]> {
  const error = await operation.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!CombinedGraphQLErrors.is(error)) throw new Error(`expected errors of GraphQL, got ${error}`);
  return error.errors.map(({ extensions }) => extensions?.code);
}

describe('Apollo Client', () => {
  it('queries', async () => {
    const { client } = apollo();
    const { data } = await client.query({ query: op.MeDocument });
    expect(data?.me).toMatchObject({ kind: 'ORG_CLIENT', clientId: alerts.org.clientId });
  });

  it('mutates', async () => {
    const { client } = apollo();
    const { data } = await client.mutate({
      mutation: op.CreateApiKeyDocument,
      variables: { input: { description: 'by Apollo' } },
    });
    expect(data?.createApiKey?.secret).toMatch(/^tgk_/);
  });

  it('shows the code of an error, of a refused document and of a refused credential', async () => {
    const { client } = apollo();
    expect(
      await codesOf(client.mutate({ mutation: op.RevokeApiKeyDocument, variables: { keyId: randomUUID() } })),
    ).toEqual(['NOT_FOUND']);
    expect(await codesOf(client.query({ query: gql`{ nothing }` }))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codesOf(apollo({ authorization: 'Bearer x.y.z' }).client.query({ query: op.MeDocument }))).toEqual([
      'UNAUTHENTICATED',
    ]);
  });

  it('keeps the result of the first mutation if the second one fails', async () => {
    const { client } = apollo();
    const mutation = gql`
      mutation ($keyId: UUID!) {
        first: createApiKey(input: {}) { secret }
        second: revokeApiKey(keyId: $keyId) { keyId }
      }
    `;
    const { data, error } = await client.mutate<{ first: { secret: string } }>({
      mutation,
      variables: { keyId: randomUUID() },
      errorPolicy: 'all',
    });
    expect(data?.first.secret).toMatch(/^tgk_/);
    expect(CombinedGraphQLErrors.is(error) && error.errors.map(({ extensions }) => extensions?.code)).toEqual([
      'NOT_FOUND',
    ]);
  });

  it.each([
    ['POST', false],
    ['GET', true],
  ])(
    'falls back from a persisted query to the whole document, hash sent by %s, and sends no hash again',
    async (method, useGETForHashedQueries) => {
      const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
      const { client, exchanges } = apollo(
        bearer(alerts.org),
        new PersistedQueryLink({ sha256, useGETForHashedQueries }),
      );
      const { data } = await client.query({ query: op.MeDocument });
      expect(data?.me.kind).toBe('ORG_CLIENT');
      await client.query({ query: op.ModelsDocument });
      expect(exchanges).toEqual([
        { method, hasQuery: false, hasHash: true, codes: ['PERSISTED_QUERY_NOT_SUPPORTED'] },
        { method: 'POST', hasQuery: true, hasHash: false, codes: [] },
        { method: 'POST', hasQuery: true, hasHash: false, codes: [] },
      ]);
    },
  );

  it('pages through a connection with relayStylePagination', async () => {
    const org = await newOrg(app);
    const appIds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const appId of appIds) await newApp(app, org, appId);
    const { client } = apollo(bearer(org));
    const query = gql`
      query ($first: Int, $after: String) {
        org {
          id
          apps(first: $first, after: $after) {
            edges { cursor node { id appId } }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
          }
        }
      }
    `;
    interface Data {
      readonly org: {
        readonly apps: { edges: { node: { appId: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
      };
    }
    const watched = client.watchQuery<Data>({ query, variables: { first: 3 } });
    const subscription = watched.subscribe(() => undefined);
    opened.add(() => subscription.unsubscribe());
    const shown = () => (watched.getCurrentResult().data as Data | undefined)?.org.apps;
    await until('the first page arrives', () => shown() !== undefined);
    const sizes = [shown()?.edges.length ?? 0];
    while (shown()?.pageInfo.hasNextPage) {
      await watched.fetchMore({ variables: { after: shown()?.pageInfo.endCursor } });
      await until('the page is shown', () => (shown()?.edges.length ?? 0) > (sizes.at(-1) ?? 0));
      sizes.push(shown()?.edges.length ?? 0);
    }
    expect(sizes).toEqual([3, 6, 7]);
    expect(shown()?.edges.map(({ node }) => node.appId)).toEqual(appIds);
  });

  it('subscribes over graphql-ws', async () => {
    const [seen, missed] = [await alerts.raise(), await alerts.raise()];
    const received: unknown[] = [];
    const errors: unknown[] = [];
    const subscription = apollo()
      .client.subscribe({ query: op.QuotaAlertsDocument, variables: { after: seen.cursor } })
      .subscribe(({ data, error }) => {
        if (error) errors.push(error);
        if (data) received.push(data.quotaAlerts);
      });
    opened.add(() => subscription.unsubscribe());
    await until('the missed alert arrives', () => received.length === 1 || errors.length > 0);
    const live = await alerts.raise();
    await until('the live alert arrives', () => received.length === 2 || errors.length > 0);
    expect(errors).toEqual([]);
    expect(received).toMatchObject([missed, live]);
  });

  it('shows the code of a refused subscription', async () => {
    const codes: unknown[] = [];
    const subscription = apollo()
      .client.subscribe({ query: op.QuotaAlertsDocument, variables: { appId: 'nobody' } })
      .subscribe(({ error }) => {
        if (CombinedGraphQLErrors.is(error)) codes.push(...error.errors.map(({ extensions }) => extensions?.code));
      });
    opened.add(() => subscription.unsubscribe());
    await until('it is refused', () => codes.length > 0);
    expect(codes).toEqual(['NOT_FOUND']);
  });
});
