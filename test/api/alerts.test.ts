import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import WebSocket from 'ws';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { adminKey, type Client, newApp, newOrg, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

const dayMs = 24 * 3_600_000;
/** Longer than a worker's claim on a slice. */
const claimMs = 91_000;

let app: TestApp;
let other: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp();
  other = await app.another();
  worker = newWorker();
  app.clock.advance(Date.parse('2030-03-05T03:00:00Z') - app.clock.nowMs());
});
afterAll(async () => {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
});

// Closes what a failed test has left open.
const opened = new Set<() => void>();
afterEach(() => {
  for (const end of opened) end();
  opened.clear();
  // The days of one test are closed in the next one, so that a round does not sum them again.
  app.clock.advance(3 * dayMs);
});

const newWorker = () => buildBackground(app.config, { clock: app.clock, log: silentLog });
const asAdmin = { 'x-admin-key': adminKey };
const bearer = ({ accessToken }: Pick<Client, 'accessToken'>) => ({ authorization: `Bearer ${accessToken}` });

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

const small = {
  timezone: 'UTC',
  quotas: ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1000 })),
} satisfies Partial<op.RegisterOrgInput>;

async function addApp(orgId: string, appId: string): Promise<Place> {
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
  return { orgId, appId };
}

async function newPlace(overrides: Partial<op.RegisterOrgInput> = {}): Promise<Place> {
  const { orgId } = await newOrg(app, { ...small, ...overrides });
  return addApp(orgId, 'chat');
}

const cost = (place: Place, costUsdMicros: number, modelLabel = 'premium'): op.SubmitCostInput => ({
  ...place,
  requestId: randomUUID(),
  modelLabel,
  inputTokens: 0,
  outputTokens: 0,
  costUsdMicros,
});

/** Submits a cost and runs a round of the worker. */
async function spend(place: Place, costUsdMicros: number, modelLabel = 'premium'): Promise<void> {
  await app.admin.ask(op.SubmitCostDocument, { input: cost(place, costUsdMicros, modelLabel) });
  await worker.spend.sumAll();
}

const select = async (place: Place, on = app) =>
  (await on.admin.ask(op.SelectionDocument, place)).org?.app?.modelSelection;
const alertsOf = async (orgId: string): Promise<op.AlertFragment[]> =>
  (await app.admin.ask(op.OrgAlertsDocument, { orgId, first: 100 })).org?.alerts.nodes ?? [];
const kindsOf = async (orgId: string) => (await alertsOf(orgId)).map(({ kind, label }) => `${kind} ${label}`).reverse();

/** Uses up the quotas of `count` new apps, which raises one alert each. */
async function raise(orgId: string, count: number, prefix: string): Promise<void> {
  const inputs: op.SubmitCostInput[] = [];
  for (let i = 0; i < count; i++) inputs.push(cost(await addApp(orgId, `${prefix}-${i}`), 1000));
  await app.admin.ask(op.SubmitCostsDocument, { inputs });
  await worker.spend.sumAll();
}

describe('an alert', () => {
  it('of tight mode is raised at 95 % of a quota, and not earlier', async () => {
    const place = await newPlace();
    await spend(place, 949);
    expect(await alertsOf(place.orgId)).toEqual([]);
    const beganMs = app.clock.nowMs();
    await spend(place, 1);
    const [alert, ...more] = await alertsOf(place.orgId);
    expect(more).toEqual([]);
    expect(alert).toMatchObject({
      kind: 'TIGHT_MODE',
      ...place,
      label: 'premium',
      activeLabel: null,
      day: '2030-03-05',
      costUsdMicros: 950,
      quotaUsdMicros: 1000,
      quotaPct: 95,
      thresholdPct: 95,
    });
    expect(Date.parse(alert?.raisedAt ?? '')).toBeGreaterThanOrEqual(beganMs);
    expect(Date.parse(alert?.raisedAt ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
  });

  it('of a used-up quota follows the one of tight mode, and replaces it if one cost exceeds both', async () => {
    const [slow, sudden] = [await newPlace(), await newPlace()];
    await spend(slow, 999);
    await spend(slow, 1);
    expect(await kindsOf(slow.orgId)).toEqual(['TIGHT_MODE premium', 'QUOTA_EXCEEDED premium']);
    await spend(sudden, 1500);
    await spend(sudden, 1);
    expect(await kindsOf(sudden.orgId)).toEqual(['QUOTA_EXCEEDED premium']);
    expect(await alertsOf(sudden.orgId)).toMatchObject([{ costUsdMicros: 1500, quotaPct: 150 }]);
  });

  it('uses the threshold of the app', async () => {
    const { orgId } = await newOrg(app, small);
    await app.admin.ask(op.RegisterAppDocument, {
      input: { orgId, appId: 'wary', name: 'Wary', tightModeThresholdPct: 50 },
    });
    await spend({ orgId, appId: 'wary' }, 500);
    expect(await alertsOf(orgId)).toMatchObject([{ kind: 'TIGHT_MODE', thresholdPct: 50, quotaPct: 50 }]);
  });

  it('of a fallback names the used-up label and the label now in use', async () => {
    const place = await newPlace();
    await spend(place, 1000);
    expect(await kindsOf(place.orgId)).toEqual(['QUOTA_EXCEEDED premium']);
    await select(place);
    await select(place);
    expect(await kindsOf(place.orgId)).toEqual(['QUOTA_EXCEEDED premium', 'FALLBACK_ACTIVATED premium']);
    expect((await alertsOf(place.orgId))[0]).toMatchObject({
      ...place,
      label: 'premium',
      activeLabel: 'standard',
      costUsdMicros: 1000,
      quotaUsdMicros: 1000,
    });
    await spend(place, 1000, 'standard');
    await select(place);
    expect((await kindsOf(place.orgId)).slice(2)).toEqual(['QUOTA_EXCEEDED standard', 'FALLBACK_ACTIVATED standard']);
    expect((await alertsOf(place.orgId))[0]).toMatchObject({ label: 'standard', activeLabel: 'economy' });
  });

  it('is raised by the first selection after a change of a quota', async () => {
    const place = await newPlace();
    await spend(place, 500);
    await app.admin.ask(op.UpdateAppDocument, { input: { ...place, tightModeThresholdPct: 40 } });
    await select(place);
    expect(await kindsOf(place.orgId)).toEqual(['TIGHT_MODE premium']);
  });

  it('is raised once per day, however many workers and gateways find it, and again on the next day', async () => {
    const place = await newPlace();
    const [second, third] = [newWorker(), newWorker()];
    try {
      const findOften = async () => {
        await spend(place, 1000);
        for (let round = 0; round < 3; round++) {
          // After a claim has expired, another worker sums the same scopes.
          app.clock.advance(claimMs);
          await Promise.all([worker, second, third].map((each) => each.spend.sumAll()));
          await Promise.all([worker, second, third].map((each) => each.spend.sumNear()));
          await Promise.all([select(place), select(place, other)]);
        }
      };
      await findOften();
      const once = ['QUOTA_EXCEEDED premium', 'FALLBACK_ACTIVATED premium'];
      expect(await kindsOf(place.orgId)).toEqual(once);
      app.clock.advance(dayMs);
      await findOften();
      expect(await kindsOf(place.orgId)).toEqual([...once, ...once]);
      expect(new Set((await alertsOf(place.orgId)).map(({ day }) => day)).size).toBe(2);
    } finally {
      app.clock.advance(claimMs);
      second.close();
      third.close();
    }
  });

  it('is raised once when two workers find it at the same time', async () => {
    const place = await newPlace();
    await app.admin.ask(op.SubmitCostDocument, { input: cost(place, 960) });
    app.clock.advance(claimMs);
    const [first, second] = [newWorker(), newWorker()];
    try {
      // Scopes near their quota are summed without a claim. Each worker finds them in a round of its own.
      await first.spend.sumAll();
      app.clock.advance(claimMs);
      await second.spend.sumAll();
      await app.admin.ask(op.SubmitCostDocument, { input: cost(place, 40) });
      await Promise.all([first.spend.sumNear(), second.spend.sumNear()]);
      expect(await kindsOf(place.orgId)).toEqual(['TIGHT_MODE premium', 'QUOTA_EXCEEDED premium']);
    } finally {
      app.clock.advance(claimMs);
      first.close();
      second.close();
    }
  });

  it('belongs to the org under quotaScope ORG, and every app shows it', async () => {
    const one = await newPlace({ quotaScope: 'ORG' });
    const two = await addApp(one.orgId, 'two');
    await spend(one, 500);
    await spend(two, 500);
    expect(await alertsOf(one.orgId)).toMatchObject([{ kind: 'QUOTA_EXCEEDED', appId: null, costUsdMicros: 1000 }]);
    for (const place of [one, two])
      expect((await app.admin.ask(op.AppAlertsDocument, place)).org?.app?.alerts.nodes).toEqual(
        await alertsOf(one.orgId),
      );
  });

  it('is not raised for the roll-up of an org under quotaScope APP', async () => {
    const place = await newPlace();
    await spend(place, 600);
    await spend(await addApp(place.orgId, 'two'), 600);
    expect(await alertsOf(place.orgId)).toEqual([]);
  });
});

describe('lists', () => {
  it('have the newest alert first, and their pages contain every alert once', async () => {
    const place = await newPlace();
    for (const label of ['premium', 'standard', 'economy']) {
      await spend(place, 960, label);
      await spend(place, 40, label);
    }
    const all = ['TIGHT_MODE', 'QUOTA_EXCEEDED'];
    const inOrder = ['premium', 'standard', 'economy'].flatMap((label) => all.map((kind) => `${kind} ${label}`));
    expect(await kindsOf(place.orgId)).toEqual(inOrder);
    const pages: string[][] = [];
    for (let after: string | null | undefined; ; ) {
      const { org } = await app.admin.ask(op.OrgAlertsDocument, { orgId: place.orgId, first: 4, after });
      pages.push(org?.alerts.nodes.map(({ kind, label }) => `${kind} ${label}`) ?? []);
      after = org?.alerts.pageInfo.endCursor;
      if (!org?.alerts.pageInfo.hasNextPage) break;
    }
    expect(pages.map((page) => page.length)).toEqual([4, 2]);
    expect(pages.flat().reverse()).toEqual(inOrder);
  });

  it('of an app contain only the alerts of its scope, and reject cursors of other lists', async () => {
    const place = await newPlace();
    const second = await addApp(place.orgId, 'second');
    await spend(place, 1000);
    await spend(second, 960);
    const alertsOfApp = async (place: Place, after?: string | null) =>
      (await app.admin.ask(op.AppAlertsDocument, { ...place, first: 1, after })).org?.app?.alerts;
    expect((await alertsOfApp(place))?.nodes).toMatchObject([{ kind: 'QUOTA_EXCEEDED', appId: 'chat' }]);
    expect((await alertsOfApp(second))?.nodes).toMatchObject([{ kind: 'TIGHT_MODE', appId: 'second' }]);
    expect((await alertsOfApp(place))?.pageInfo.hasNextPage).toBe(false);
    const after = (await alertsOfApp(second))?.pageInfo.endCursor;
    expect(await app.admin.codeOf(op.AppAlertsDocument, { ...place, after })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.OrgAlertsDocument, { orgId: place.orgId, after })).toBe('BAD_USER_INPUT');
  });

  it('and `node` show an app client only alerts of its scope, and an org client only those of its org', async () => {
    const org = await newOrg(app, small);
    const own = await newApp(app, org, 'own');
    const foreign = await newOrg(app, small);
    await spend({ orgId: org.orgId, appId: 'own' }, 1000);
    await spend(await addApp(org.orgId, 'sibling'), 1000);
    const [sibling, mine] = await alertsOf(org.orgId);
    expect([sibling?.appId, mine?.appId]).toEqual(['sibling', 'own']);
    const node = async (caller: typeof own.caller, alert: op.AlertFragment | undefined) =>
      (await caller.ask(op.NodeDocument, { id: alert?.id ?? '' })).node;
    expect(await node(org.caller, sibling)).toMatchObject({ __typename: 'QuotaAlert', id: sibling?.id });
    expect(await node(own.caller, mine)).toMatchObject({ __typename: 'QuotaAlert', id: mine?.id });
    expect(await node(own.caller, sibling)).toBeNull();
    expect(await node(foreign.caller, mine)).toBeNull();
    expect((await own.caller.ask(op.AppAlertsDocument, { appId: 'own' })).org?.app?.alerts.nodes).toEqual([mine]);
    expect((await own.caller.ask(op.AppAlertsDocument, { appId: 'sibling' })).org?.app).toBeNull();
    expect(await own.caller.codeOf(op.OrgAlertsDocument)).toBe('FORBIDDEN');
    expect((await foreign.caller.ask(op.OrgAlertsDocument)).org?.alerts.nodes).toEqual([]);
  });
});

/** A subscription to quotaAlerts, and what has arrived so far. */
interface Following {
  readonly alerts: op.AlertFragment[];
  readonly codes: string[];
  readonly ended: () => boolean;
  /** The close code of the socket. */
  readonly closeCode: () => number | undefined;
}

interface Payload {
  readonly data?: op.QuotaAlertsSubscription | null;
  readonly errors?: readonly PublicError[];
}

type Follow = (
  url: string,
  credentials: Record<string, string>,
  variables?: op.QuotaAlertsSubscriptionVariables,
) => Promise<Following>;

function collector(): { readonly alerts: op.AlertFragment[]; readonly codes: string[]; take(payload: Payload): void } {
  const alerts: op.AlertFragment[] = [];
  const codes: string[] = [];
  return {
    alerts,
    codes,
    take({ data, errors }) {
      if (data) alerts.push(data.quotaAlerts);
      for (const { extensions } of errors ?? []) codes.push(extensions.code);
    },
  };
}

const query = print(op.QuotaAlertsDocument);

const overWebSocket: Follow = async (url, credentials, variables = {}) => {
  const { alerts, codes, take } = collector();
  let ended = false;
  let closeCode: number | undefined;
  let acknowledged = false;
  const socket = new WebSocket(url, 'graphql-transport-ws');
  opened.add(() => socket.terminate());
  socket.on('error', () => {});
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text)) as { type: string; payload?: unknown };
    if (type === 'connection_ack') acknowledged = true;
    if (type === 'next') take(payload as Payload);
    if (type === 'error') take({ errors: payload as PublicError[] });
    if (type === 'error' || type === 'complete') ended = true;
  });
  socket.on('close', (code) => {
    ended = true;
    closeCode = code;
  });
  await until('the socket is acknowledged', () => acknowledged);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  return { alerts, codes, ended: () => ended, closeCode: () => closeCode };
};

const overEvents: Follow = async (url, credentials, variables = {}) => {
  const { alerts, codes, take } = collector();
  let ended = false;
  const controller = new AbortController();
  opened.add(() => controller.abort());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials },
    body: JSON.stringify({ query, variables }),
    signal: controller.signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    take((await response.json()) as Payload);
    return { alerts, codes, ended: () => true, closeCode: () => undefined };
  }
  const read = async () => {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^event: next\ndata: (.*)$/m.exec(block) ?? [];
        if (data) take(JSON.parse(data) as Payload);
        if (block.startsWith('event: complete')) ended = true;
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return { alerts, codes, ended: () => ended, closeCode: () => undefined };
};

const ids = (alerts: readonly op.AlertFragment[]) => alerts.map(({ id }) => id);
const oldestFirst = async (orgId: string) => (await alertsOf(orgId)).reverse();

describe.each([
  ['WebSocket', overWebSocket],
  ['SSE', overEvents],
] as const)('quotaAlerts over %s', (_name, follow) => {
  /** Returns when the subscription is open: it waits until an alert raised before it has been replayed. */
  async function followWhenOpen(
    url: string,
    credentials: Record<string, string>,
    place: Place,
    variables: op.QuotaAlertsSubscriptionVariables = {},
  ) {
    const [last] = (await app.admin.ask(op.AppAlertsDocument, place)).org?.app?.alerts.nodes.slice(-1) ?? [];
    await spend(place, 1000, 'economy');
    const following = await follow(url, credentials, { ...variables, after: last?.cursor });
    await until('the missed alert arrives', () => following.alerts.length > 0);
    following.alerts.length = 0;
    return following;
  }

  it('delivers an alert within a few seconds, equal to that of the list, on this and on another gateway', async () => {
    const org = await newOrg(app, small);
    const place = await addApp(org.orgId, 'chat');
    await spend(place, 960, 'economy');
    const [economyTight] = await alertsOf(org.orgId);
    expect(economyTight?.kind).toBe('TIGHT_MODE');
    const here = await followWhenOpen(app.url, bearer(org), place);
    const there = await follow(other.url, asAdmin, { orgId: org.orgId, after: economyTight?.cursor });
    await until('the missed alert arrives there', () => there.alerts.length > 0);
    await spend(place, 1000);
    await until('the alert arrives on both', () => here.alerts.length > 0 && there.alerts.length > 1);
    const [newest] = await alertsOf(org.orgId);
    expect(newest).toMatchObject({ kind: 'QUOTA_EXCEEDED', label: 'premium' });
    expect(here.alerts).toEqual([newest]);
    expect(there.alerts.slice(1)).toEqual([newest]);
  });

  it('delivers without `after` no earlier alert, and every alert from the first live one on', async () => {
    const org = await newOrg(app, small);
    await raise(org.orgId, 2, 'past');
    const following = await follow(app.url, bearer(org));
    let raised = 0;
    await until('a live alert arrives', async () => {
      await raise(org.orgId, 1, `live${raised++}`);
      return following.alerts.length > 0;
    });
    await raise(org.orgId, 2, 'more');
    const all = await oldestFirst(org.orgId);
    await until('the last arrives', () => following.alerts.at(-1)?.id === all.at(-1)?.id);
    expect(following.alerts.length).toBeGreaterThanOrEqual(3);
    expect(following.alerts).toEqual(all.slice(-following.alerts.length));
    expect(all.length - following.alerts.length).toBeGreaterThanOrEqual(2);
  });

  it('delivers with `after` the missed alerts and then live ones, without gap or repeat', async () => {
    const org = await newOrg(app, small);
    await raise(org.orgId, 5, 'missed');
    const [, second] = await oldestFirst(org.orgId);
    const followings = [
      await follow(app.url, bearer(org), { after: second?.cursor }),
      await follow(other.url, asAdmin, { orgId: org.orgId, after: second?.cursor }),
    ];
    await raise(org.orgId, 3, 'live');
    const all = await oldestFirst(org.orgId);
    expect(all).toHaveLength(8);
    for (const { alerts } of followings) {
      await until('the eighth arrives', () => alerts.some(({ id }) => id === all[7]?.id));
      expect(ids(alerts)).toEqual(ids(all.slice(2)));
    }
    // One more, so that a repeated alert would have arrived before it.
    await raise(org.orgId, 1, 'last');
    const [last] = await alertsOf(org.orgId);
    for (const { alerts } of followings) {
      await until('the ninth arrives', () => alerts.at(-1)?.id === last?.id);
      expect(ids(alerts)).toEqual(ids([...all.slice(2), last as op.AlertFragment]));
    }
  });

  it('delivers to an app client only the alerts of its scope, live and missed', async () => {
    const org = await newOrg(app, small);
    const own = await newApp(app, org, 'own');
    const [place, sibling] = [{ orgId: org.orgId, appId: 'own' }, await addApp(org.orgId, 'sibling')];
    await spend(place, 960);
    const [first] = await alertsOf(org.orgId);
    await spend(sibling, 960);
    const following = await follow(app.url, bearer(own), { after: first?.cursor });
    const named = await follow(other.url, bearer(own), { orgId: org.orgId, appId: 'own', after: first?.cursor });
    await spend(sibling, 40);
    await spend(place, 40);
    for (const { alerts } of [following, named]) {
      await until('the alert of the app arrives', () => alerts.length > 0);
      expect(alerts.map(({ appId, kind }) => `${appId} ${kind}`)).toEqual(['own QUOTA_EXCEEDED']);
    }
  });

  it('rejects foreign cursors, orgs and apps', async () => {
    const org = await newOrg(app, small);
    const own = await newApp(app, org, 'own');
    await addApp(org.orgId, 'sibling');
    const foreign = await newOrg(app, small);
    await spend(await addApp(foreign.orgId, 'chat'), 1000);
    const [foreignAlert] = await alertsOf(foreign.orgId);
    await spend({ orgId: org.orgId, appId: 'own' }, 1000);
    const listCursor = (await app.admin.ask(op.OrgAlertsDocument, { orgId: org.orgId })).org?.alerts.pageInfo.endCursor;
    const codesOf = async (credentials: Record<string, string>, variables: op.QuotaAlertsSubscriptionVariables) => {
      const { codes, alerts, ended } = await follow(app.url, credentials, variables);
      await until('it is rejected', () => codes.length > 0 || ended());
      expect(alerts).toEqual([]);
      return codes;
    };
    expect(await codesOf(bearer(org), { after: foreignAlert?.cursor })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf(bearer(org), { after: listCursor })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf(bearer(org), { after: 'nonsense' })).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf(bearer(org), { orgId: foreign.orgId })).toEqual(['NOT_FOUND']);
    expect(await codesOf(asAdmin, { orgId: randomUUID() })).toEqual(['NOT_FOUND']);
    expect(await codesOf(asAdmin, {})).toEqual(['BAD_USER_INPUT']);
    expect(await codesOf(bearer(org), { appId: 'nobody' })).toEqual(['NOT_FOUND']);
    expect(await codesOf(bearer(org), { appId: 'x#y' })).toEqual(['NOT_FOUND']);
    expect(await codesOf(bearer(own), { appId: 'sibling' })).toEqual(['NOT_FOUND']);
    expect(await codesOf(bearer(own), { orgId: foreign.orgId })).toEqual(['NOT_FOUND']);
  });

  it('ends when the token is revoked, and delivers nothing afterwards', async () => {
    const org = await newOrg(app, small);
    const place = await addApp(org.orgId, 'chat');
    await spend(place, 960, 'economy');
    const ending = await followWhenOpen(app.url, bearer(org), place);
    const lasting = await follow(app.url, asAdmin, { orgId: org.orgId, after: (await alertsOf(org.orgId))[0]?.cursor });
    await app.admin.ask(op.RevokeTokenDocument, { token: org.accessToken });
    await until('it ends', ending.ended);
    if (follow === overWebSocket) expect(ending.closeCode()).toBe(4403);
    await spend(place, 1000);
    await until('the other subscription still gets alerts', () => lasting.alerts.length > 0);
    expect(ending.alerts).toEqual([]);
    expect(lasting.ended()).toBe(false);
  });
});

// Tested with one transport, because it does not depend on the transport.
describe('quotaAlerts', () => {
  const follow = overWebSocket;

  it('delivers without gap or repeat to subscriptions that start while alerts are being raised', async () => {
    const org = await newOrg(app, small);
    await raise(org.orgId, 1, 'first');
    const [first] = await alertsOf(org.orgId);
    const raising = raise(org.orgId, 12, 'many');
    const followings: Following[] = [];
    for (let i = 0; i < 5; i++)
      followings.push(
        await follow(i % 2 === 0 ? app.url : other.url, asAdmin, { orgId: org.orgId, after: first?.cursor }),
      );
    await raising;
    const all = await oldestFirst(org.orgId);
    expect(all).toHaveLength(13);
    for (const { alerts } of followings) {
      await until('the last arrives', () => alerts.at(-1)?.id === all.at(-1)?.id);
      expect(ids(alerts)).toEqual(ids(all.slice(1)));
    }
  });

  it('delivers only the requested kinds, and only those of the requested app', async () => {
    const org = await newOrg(app, small);
    const [one, two] = [await addApp(org.orgId, 'one'), await addApp(org.orgId, 'two')];
    await spend(one, 960);
    const [first] = await alertsOf(org.orgId);
    const after = first?.cursor;
    const fallbacks = await follow(app.url, bearer(org), { kinds: ['FALLBACK_ACTIVATED'], after });
    const quotas = await follow(app.url, bearer(org), { kinds: ['QUOTA_EXCEEDED', 'TIGHT_MODE'], after });
    const ofTwo = await follow(app.url, bearer(org), { appId: 'two', after });
    const usedUpOfTwo = await follow(app.url, bearer(org), { appId: 'two', kinds: ['QUOTA_EXCEEDED'], after });
    for (const place of [one, two]) {
      await spend(place, 960);
      await spend(place, 40);
      await select(place);
    }
    await until(
      'the last of each arrives',
      () =>
        fallbacks.alerts.length >= 2 &&
        quotas.alerts.length >= 3 &&
        ofTwo.alerts.length >= 3 &&
        usedUpOfTwo.alerts.length >= 1,
    );
    const kindsIn = ({ alerts }: Following) => alerts.map(({ appId, kind }) => `${appId} ${kind}`);
    expect(kindsIn(fallbacks)).toEqual(['one FALLBACK_ACTIVATED', 'two FALLBACK_ACTIVATED']);
    expect(kindsIn(quotas)).toEqual(['one QUOTA_EXCEEDED', 'two TIGHT_MODE', 'two QUOTA_EXCEEDED']);
    expect(kindsIn(ofTwo)).toEqual(['two TIGHT_MODE', 'two QUOTA_EXCEEDED', 'two FALLBACK_ACTIVATED']);
    expect(kindsIn(usedUpOfTwo)).toEqual(['two QUOTA_EXCEEDED']);
  });

  it('delivers the alerts of an org under quotaScope ORG to each of its apps', async () => {
    const org = await newOrg(app, { ...small, quotaScope: 'ORG' });
    const own = await newApp(app, org, 'own');
    const sibling = await addApp(org.orgId, 'sibling');
    await spend(sibling, 960);
    const [first] = await alertsOf(org.orgId);
    const following = await follow(app.url, bearer(own), { after: first?.cursor });
    await spend(sibling, 40);
    await until('the alert arrives', () => following.alerts.length > 0);
    expect(following.alerts).toMatchObject([{ kind: 'QUOTA_EXCEEDED', appId: null }]);
  });
});
