import { print } from 'graphql';
import { type ClientOptions, createClient, type Client as SocketClient } from 'graphql-ws';
import WebSocket from 'ws';
import { AlertSource, bearer } from '../support/alert-source.js';
import { adminKey, newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
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

function socketClient(connectionParams: ClientOptions['connectionParams'], on: ClientOptions['on'] = {}): SocketClient {
  const client = createClient({
    url: app.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams,
    on,
    retryAttempts: 0,
    lazyCloseTimeout: 0,
  });
  opened.add(() => void client.dispose());
  return client;
}

/** One subscription with its events and its end. */
interface Following {
  readonly alerts: op.AlertFragment[];
  /** The codes of a refusal, or the close code of the socket. */
  readonly refusals: (string | number)[];
  end(): void;
}

function follow(client: SocketClient, variables: op.QuotaAlertsSubscriptionVariables = {}): Following {
  const received: op.AlertFragment[] = [];
  const refusals: (string | number)[] = [];
  const end = client.subscribe<op.QuotaAlertsSubscription>(
    { query: print(op.QuotaAlertsDocument), variables: { ...variables } },
    {
      next({ data, errors }) {
        if (data) received.push(data.quotaAlerts);
        for (const { extensions } of (errors ?? []) as PublicError[]) refusals.push(extensions.code);
      },
      error: (error) =>
        void refusals.push(
          ...(Array.isArray(error)
            ? (error as PublicError[]).map(({ extensions }) => extensions.code)
            : [(error as { code: number }).code]),
        ),
      complete: () => undefined,
    },
  );
  return { alerts: received, refusals, end };
}

describe('the graphql-ws client', () => {
  it.each([
    ['a token', () => bearer(alerts.org), () => ({})],
    ['a token, from a function', () => async () => ({ Authorization: `Bearer ${alerts.org.accessToken}` }), () => ({})],
    ['the admin key', () => ({ 'x-admin-key': adminKey }), () => ({ orgId: alerts.org.orgId })],
  ])('subscribes with %s in connectionParams', async (_what, params, variables) => {
    const [seen, missed] = [await alerts.raise(), await alerts.raise()];
    const following = follow(socketClient(params()), { ...variables(), after: seen.cursor });
    await until('the missed alert arrives', () => following.alerts.length === 1 || following.refusals.length > 0);
    const live = await alerts.raise();
    await until('the live alert arrives', () => following.alerts.length === 2 || following.refusals.length > 0);
    expect(following.refusals).toEqual([]);
    expect(following.alerts).toEqual([missed, live]);
  });

  it.each([11, 12, 30])(
    'gets 10 of %d subscriptions sent at once on one socket, and RATE_LIMITED for the rest',
    async (count) => {
      const [seen, missed] = [await alerts.raise(), await alerts.raise()];
      let sockets = 0;
      const client = socketClient(bearer(alerts.org), { opened: () => void sockets++ });
      const followings = Array.from({ length: count }, () => follow(client, { after: seen.cursor }));
      await until('each is accepted or refused', () =>
        followings.every(({ alerts, refusals }) => alerts.length + refusals.length > 0),
      );
      expect(sockets).toBe(1);
      const outcomes = followings.map(({ alerts, refusals }) => [...alerts.map(({ id }) => id), ...refusals].join());
      const accepted = outcomes.filter((outcome) => outcome === missed.id);
      const refused = outcomes.filter((outcome) => outcome === 'RATE_LIMITED');
      expect([accepted.length, refused.length]).toEqual([10, count - 10]);
    },
  );

  it('gets another subscription as soon as one of ten has ended, even after refusals', async () => {
    const [seen, missed] = [await alerts.raise(), await alerts.raise()];
    const client = socketClient(bearer(alerts.org));
    const followings = Array.from({ length: 25 }, () => follow(client, { after: seen.cursor }));
    await until('each is accepted or refused', () =>
      followings.every(({ alerts, refusals }) => alerts.length + refusals.length > 0),
    );
    followings.find(({ alerts }) => alerts.length > 0)?.end();
    const next = follow(client, { after: seen.cursor });
    await until('it is accepted or refused', () => next.alerts.length + next.refusals.length > 0);
    expect([next.alerts, next.refusals]).toEqual([[missed], []]);
  });

  it.each([
    ['no connectionParams', undefined, 4401],
    ['empty connectionParams', {}, 4401],
    ['connectionParams without a credential', { locale: 'en' }, 4401],
    ['an empty credential', { authorization: null }, 4401],
    ['a wrong token', { authorization: 'Bearer x.y.z' }, 4403],
    ['a wrong admin key', { 'x-admin-key': 'wrong' }, 4403],
    ['a wrong device key', { 'x-api-key': 'tgk_nothing' }, 4403],
    ['two credentials', { 'x-admin-key': adminKey, 'x-api-key': 'tgk_nothing' }, 4403],
  ])('is closed, and not acknowledged, with %s', async (_what, params, code) => {
    let acknowledged = false;
    const client = socketClient(params, {
      connected: () => {
        acknowledged = true;
      },
    });
    const following = follow(client);
    await until('the socket is closed', () => following.refusals.length > 0);
    expect([following.refusals, acknowledged]).toEqual([[code], false]);
  });

  it('is closed with 4403 when its token is revoked', async () => {
    const org = await newOrg(app);
    let isOpen = false;
    const following = follow(
      socketClient(bearer(org), {
        connected: () => {
          isOpen = true;
        },
      }),
    );
    await until('the socket is let in', () => isOpen);
    await app.admin.ask(op.RevokeTokenDocument, { token: org.accessToken });
    await until('the socket is closed', () => following.refusals.length > 0);
    expect(following.refusals).toEqual([4403]);
  });
});
