import { print } from 'graphql';
import { partitionOf } from '../../src/alerts/alert.js';
import { entryKey, headKey } from '../../src/alerts/alert.store.js';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { adminKey, type PublicError, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import { cost, dayMs, newTenant, noonClock, submit, type Tenant } from '../worker/costs.js';

const clock = noonClock();
let app: TestApp;
let worker: Background;
const opened: AbortController[] = [];

beforeAll(async () => {
  app = await startTestApp({ clock });
  worker = buildBackground(app.config, { clock, log: silentLog });
});
afterEach(() => {
  for (const controller of opened.splice(0)) controller.abort();
  clock.advance(3 * dayMs);
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

interface Event {
  readonly data?: op.QuotaAlertsSubscription | null;
  readonly errors?: readonly PublicError[];
}

/** The first `count` events of a subscription over SSE, or those that arrive within two seconds. */
async function follow(variables: op.QuotaAlertsSubscriptionVariables, count: number): Promise<Event[]> {
  const controller = new AbortController();
  opened.push(controller);
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-admin-key': adminKey },
    body: JSON.stringify({ query: print(op.QuotaAlertsDocument), variables }),
    signal: controller.signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return [(await response.json()) as Event];
  const events: Event[] = [];
  const timer = setTimeout(() => controller.abort(), 2000);
  let text = '';
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const found = [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event);
      events.splice(0, events.length, ...found);
      if (events.length >= count) break;
    }
  } catch {
    // Aborted, because no more events arrived.
  }
  clearTimeout(timer);
  return events;
}

const alertsIn = (events: readonly Event[]) => events.map(({ data }) => data?.quotaAlerts as op.AlertFragment);
const labels = ['premium', 'standard', 'economy'];
const tightQuotas = { quotas: labels.map((label) => ({ label, dailyUsdMicros: 1000 })) };

/** Raises one alert per label and returns them, the oldest first. */
async function raiseAll(tenant: Tenant): Promise<op.AlertFragment[]> {
  for (const modelLabel of labels) {
    await submit(app.admin, [cost(tenant, { modelLabel, costUsdMicros: 1000 })]);
    await worker.spend.sumAll();
  }
  return ((await app.admin.ask(op.OrgAlertsDocument, { orgId: tenant.orgId })).org?.alerts.nodes ?? []).toReversed();
}

const numberOf = ({ id }: op.AlertFragment): number => Number(JSON.parse(Buffer.from(id, 'base64url').toString())[2]);
const remove = (alert: op.AlertFragment) =>
  app.gateway.services.store.write({ table: 'alerts', delete: entryKey(partitionOf(alert.orgId), numberOf(alert)) });

describe('a cursor of quotaAlerts', () => {
  it('whose next alerts have expired starts with a GAP, and continues with the stored alerts', async () => {
    const tenant = await newTenant(app, tightQuotas);
    const [first, second, third] = (await raiseAll(tenant)) as [op.AlertFragment, op.AlertFragment, op.AlertFragment];
    await remove(second);
    const [gap, next] = alertsIn(await follow({ orgId: tenant.orgId, after: first.cursor }, 2));
    expect(gap).toMatchObject({
      kind: 'GAP',
      orgId: tenant.orgId,
      appId: null,
      label: '',
      activeLabel: null,
      costUsdMicros: 0,
      quotaUsdMicros: 0,
    });
    expect(next).toEqual(third);
    // The cursor of the GAP continues after the gap.
    expect(alertsIn(await follow({ orgId: tenant.orgId, after: gap?.cursor }, 1))).toEqual([third]);
  });

  it('after which every alert has expired starts with a GAP too, whatever kinds and app were requested', async () => {
    const tenant = await newTenant(app, tightQuotas);
    const [first, ...rest] = (await raiseAll(tenant)) as [op.AlertFragment, ...op.AlertFragment[]];
    for (const alert of rest) await remove(alert);
    const [gap] = alertsIn(
      await follow({ orgId: tenant.orgId, appId: 'chat', kinds: ['FALLBACK_ACTIVATED'], after: first.cursor }, 1),
    );
    expect(gap).toMatchObject({ kind: 'GAP' });
    expect((await app.admin.ask(op.NodeDocument, { id: gap?.id ?? '' })).node).toBeNull();
  });

  it('of more than a month ago starts with a GAP after the sweep of expired items', async () => {
    const tenant = await newTenant(app, tightQuotas);
    const [first] = await raiseAll(tenant);
    clock.advance(40 * dayMs);
    await worker.sweep();
    expect(alertsIn(await follow({ orgId: tenant.orgId, after: first?.cursor }, 1))).toMatchObject([{ kind: 'GAP' }]);
  });

  it('after which no alert was raised starts with no event', async () => {
    const tenant = await newTenant(app, tightQuotas);
    const alerts = await raiseAll(tenant);
    expect(await follow({ orgId: tenant.orgId, after: alerts.at(-1)?.cursor }, 1)).toEqual([]);
    expect(alertsIn(await follow({ orgId: tenant.orgId, after: alerts[0]?.cursor }, 2))).toEqual(alerts.slice(1));
  });

  it('ahead of a log that was restored to an earlier time is rejected', async () => {
    const tenant = await newTenant(app, tightQuotas);
    const last = (await raiseAll(tenant)).at(-1) as op.AlertFragment;
    const update = headKey(partitionOf(tenant.orgId));
    await app.gateway.services.store.write({ table: 'alerts', update, set: { n: numberOf(last) - 1 } });
    const [{ errors } = {}] = await follow({ orgId: tenant.orgId, after: last.cursor }, 1);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: 'after' }] });
    expect(errors?.[0]?.message).toContain('subscribe without `after`');
    await app.gateway.services.store.write({ table: 'alerts', update, set: { n: numberOf(last) } });
  });

  it('of the list of alerts is rejected, and the message names the right one', async () => {
    const tenant = await newTenant(app, tightQuotas);
    await raiseAll(tenant);
    const listCursor = (await app.admin.ask(op.OrgAlertsDocument, { orgId: tenant.orgId })).org?.alerts.pageInfo
      .endCursor;
    const [{ errors } = {}] = await follow({ orgId: tenant.orgId, after: listCursor }, 1);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.message).toContain('the `cursor` field of a QuotaAlert');
  });
});
