// The web console in a real browser, on a gateway with demo data: its pages, its sessions and its live data.
import { randomUUID } from 'node:crypto';
import type { Route } from 'playwright-core';
import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg } from '../support/app.js';
import { newLink } from '../support/console.js';
import { ConsoleStage, fillIn, findings, type Tab } from '../support/console-browser.js';
import * as op from '../support/operations.js';

const maxOperations = 3;
const idleMs = 30 * 60_000;

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await ConsoleStage.start(3);
}, 600_000);
afterAll(() => stage?.stop());

const hardwareId = 'D0:0D:00:00:03:03';

/** Each page with a text that only its loaded state has. */
const pages: readonly (readonly [name: string, path: () => string, shown: string])[] = [
  ['the overview', () => stage.path('/overview'), 'Includes all costs until'],
  ['spend by label', () => stage.path('/spend?days=2&step=HOUR'), 'support-chat'],
  ['spend by app', () => stage.path('/spend?days=2&split=app&tab=label'), 'US dollars per day'],
  ['the calls', () => stage.path('/calls'), 'Output tokens'],
  ['the budgets', () => stage.path('/budgets'), 'team-month'],
  ['the apps', () => stage.path('/apps'), 'Nightly reports'],
  ['an app', () => stage.path('/apps/support-chat'), 'asks again after'],
  ['the limits', () => stage.path('/limits?resource=model-calls'), 'In use now, all entities'],
  ['an entity', () => stage.path('/limits/entities/support-bot'), 'Tokens now'],
  ['the devices', () => stage.path('/devices'), 'greenhouse-01'],
  ['a device', () => stage.path(`/devices/${hardwareId}?span=24h`), 'Latest readings'],
  ['the alerts', () => stage.path('/alerts'), 'fell back from'],
  ['the keys', () => stage.path('/keys'), 'demo fleet'],
  ['the audit trail', () => stage.path('/audit'), 'org registered'],
  ['the settings', () => stage.path('/settings'), 'Chain and daily quotas'],
  ['the orgs', () => '/console/orgs', 'Demo Corp'],
  ['the models', () => '/console/models', 'Per 1M input'],
  ['the audit trail of the platform', () => '/console/platform-audit', 'All events'],
];

describe('a page of the console', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await stage.newTab();
    await stage.signInAsAdmin(tab);
    await tab.page.getByRole('link', { name: 'Demo Corp' }).waitFor();
  }, 600_000);
  afterAll(() => tab.context.close());

  it.each(pages)(
    '%s: no policy violation, no axe finding in both schemes, 3 operations, nothing from elsewhere',
    async (_name, path, shown) => {
      const { page, operations, requests, problems } = tab;
      await page.emulateMedia({ colorScheme: 'light' });
      operations.length = 0;
      await page.goto(`${stage.app.origin}${path()}`);
      await page.getByText(shown).first().waitFor();
      // Charts draw after their code has arrived.
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(operations.slice(maxOperations)).toEqual([]);
      expect(await page.locator('h1').count()).toBe(1);
      expect(requests.filter((url) => !url.startsWith(`${stage.app.origin}/`))).toEqual([]);
      const light = await findings(tab);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect({ light, dark: await findings(tab), problems }).toEqual({ light: [], dark: [], problems: [] });
    },
  );

  it('fits the screen of a phone: only its tables and its navigation scroll sideways', async () => {
    const { page } = tab;
    await page.setViewportSize({ width: 390, height: 844 });
    const tooWide: Record<string, unknown> = {};
    for (const [name, path, shown] of pages) {
      await page.goto(`${stage.app.origin}${path()}`);
      await page.getByText(shown).first().waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      const header = (await page.locator('.sidebar').boundingBox())?.height ?? Number.NaN;
      const over = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (over > 0 || !(header < 150)) tooWide[name] = { over, header };
    }
    expect(tooWide).toEqual({});
  });
});

describe('the sign-in', () => {
  it('is usable after at most 4 requests, and is without findings', async () => {
    const tab = await stage.newTab();
    await tab.page.goto(`${stage.app.origin}/console/`);
    await tab.page.getByLabel('Client id').waitFor();
    expect(tab.requests.length).toBeLessThanOrEqual(4);
    expect([await findings(tab), tab.problems]).toEqual([[], []]);
    await tab.context.close();
  });

  it('asks before it uses a link, takes the token out of the address, and uses it once', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    const link = `${stage.app.origin}/console/#token=${await newLink(stage.app)}`;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Sign in as platform admin?' }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Orgs', level: 1 }).waitFor();
    // Also in a tab with a session, where another link asks again, and a refusal returns to the session.
    await page.goto(`${stage.app.origin}/console/#token=${await newLink(stage.app, { orgId: stage.demo.orgId })}`);
    await page.getByRole('heading', { name: /^Sign in as Demo Corp/ }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Orgs', level: 1 }).waitFor();
    const other = await stage.newTab();
    await other.page.goto(link);
    await other.page.getByText('It was used before').waitFor();
    await Promise.all([tab.context.close(), other.context.close()]);
  });

  it('says how long to wait after too many attempts', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    const extensions = { code: 'RATE_LIMITED', retryAfterSecs: 30 };
    const body = JSON.stringify({ errors: [{ message: 'too many attempts', extensions }] });
    await page.route('**/session', (route) => route.fulfill({ status: 429, contentType: 'application/json', body }));
    await page.goto(`${stage.app.origin}/console/`);
    await page.getByLabel('Client id').fill('x');
    await page.getByLabel('Client secret').fill('y');
    await page.keyboard.press('Enter');
    await page.getByText(/You can try again in \d+ s/).waitFor();
    await tab.context.close();
  });

  it('warns before an idle session ends, and lets it go on', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    await stage.signIn(tab);
    const shorten = async (route: Route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), idleSecs: 60 } });
    };
    await page.route('**/session/me', shorten);
    await page.reload();
    await page.getByText('You will be signed out soon').waitFor();
    await page.unroute('**/session/me');
    const renewed = page.waitForRequest('**/session/me');
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    // The click is activity, so this request extends the session.
    expect((await renewed).headers()['x-tollgate-activity']).toBe('1');
    await page.getByText('You will be signed out soon').waitFor({ state: 'detached' });
    await tab.context.close();
  });

  it('is back after signing out, also in a second browser with the same session at another gateway', async () => {
    const [tab, second] = await Promise.all([stage.newTab(), stage.newTab()]);
    const other = await stage.app.another();
    try {
      await stage.signIn(tab);
      await second.context.addCookies(await tab.context.cookies());
      await second.page.goto(`${other.origin}${stage.path('/alerts')}`);
      await second.page.locator('.live.on').waitFor();
      await tab.page.locator('.user-button').click();
      await tab.page.getByRole('button', { name: 'Sign out' }).click();
      await tab.page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      // Nothing is clicked there: its stream ends with the session.
      await second.page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      await tab.page.reload();
      await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    } finally {
      await Promise.all([tab.context.close(), second.context.close()]);
      await other.stop();
    }
  });
});

describe('the session of a browser', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await stage.newTab();
    await stage.signIn(tab);
  }, 600_000);
  afterAll(() => tab.context.close());

  /** Sends a request from a page as a script would, and returns its status and error code. */
  const sent = (page: Tab['page'], path: string, init: object) =>
    page.evaluate(
      ([url, options]) =>
        fetch(url as string, options as RequestInit).then(
          async (response) => [response.status, (await response.json()).errors?.[0]?.extensions.code ?? 'ok'],
          () => ['blocked'],
        ),
      [`${stage.app.origin}${path}`, { method: 'POST', body: '{}', credentials: 'include', ...init }] as const,
    );
  const json = { 'content-type': 'application/json' };
  const marked = { ...json, 'x-tollgate-console': '1' };

  it('is a cookie that no script can read', async () => {
    const [cookie] = await tab.context.cookies();
    expect(cookie).toMatchObject({ name: 'tollgate', httpOnly: true, sameSite: 'Strict', path: '/' });
    const readable = '[document.cookie, ...Object.keys(localStorage), ...Object.keys(sessionStorage)]';
    expect(await tab.page.evaluate(readable)).toEqual(['', 'tollgate.theme']);
  });

  it('counts for no request without the header of the console, and for no document of its own', async () => {
    const query = JSON.stringify({ query: '{ me { kind } }' });
    expect(await sent(tab.page, '/session/me', { headers: marked })).toEqual([200, 'ok']);
    expect(await sent(tab.page, '/session/me', { headers: json })).not.toContain(200);
    expect(await sent(tab.page, '/graphql', { headers: json, body: query })).toContain('UNAUTHENTICATED');
    expect(await sent(tab.page, '/graphql', { headers: marked, body: query })).toEqual([403, 'FORBIDDEN']);
  });

  it('is of no use to a page of another site', async () => {
    const { context } = tab;
    const page = await context.newPage();
    // localhost and 127.0.0.1 are different sites.
    const elsewhere = `http://localhost:${new URL(stage.app.origin).port}/elsewhere`;
    const action = `${stage.app.origin}/session/end`;
    const form = `<form method="post" enctype="text/plain" action="${action}"><input name="{}"></form>`;
    await page.route(elsewhere, (route) => route.fulfill({ contentType: 'text/html', body: form }));
    await page.goto(elsewhere);
    expect(await sent(page, '/session/me', { headers: marked })).toEqual(['blocked']);
    const [response] = await Promise.all([
      page.waitForResponse('**/session/end'),
      // A page that is closed while it navigates may never close.
      page.waitForURL('**/session/end'),
      page.evaluate('document.forms[0].submit()'),
    ]);
    expect(response.status()).toBeGreaterThanOrEqual(400);
    await page.close();
    expect(await sent(tab.page, '/session/me', { headers: marked })).toEqual([200, 'ok']);
  });
});

describe('a browser in Tokyo', () => {
  it('shows the days and hours of an org in New York', async () => {
    const tab = await stage.newTab({ timezoneId: 'Asia/Tokyo' });
    const { page } = tab;
    const { from, to } = stage.demo;
    await stage.signIn(tab, stage.path(`/spend?from=${from}&to=${to}&step=DAY`));
    await page.getByText('Days and times in America/New_York').waitFor();
    expect(await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone')).toBe('Asia/Tokyo');
    const rows = async () => {
      await page.getByRole('button', { name: 'Table' }).first().click();
      await page.locator('.plot-table').waitFor();
      return page.locator('.plot-table tbody th').allTextContents();
    };
    const { org } = await stage.app.admin.ask<
      { org: { spendHistory: { day: string }[]; hours: { startsAt: string }[] } },
      never
    >(
      `{ org(orgId: "${stage.demo.orgId}") { spendHistory(from: "${from}", to: "${to}") { day }
         hours: spendSeries(from: "${from}", to: "${from}", step: HOUR) { startsAt } } }`,
    );
    const dayNumbers = org.spendHistory.map(({ day }) => Number(day.slice(8)));
    expect((await rows()).map((text) => Number(/\d+/.exec(text)?.[0]))).toEqual(dayNumbers);
    await page.goto(`${stage.app.origin}${stage.path(`/spend?from=${from}&to=${from}&step=HOUR`)}`);
    const hours = org.hours.map(({ startsAt }) =>
      new Date(startsAt).toLocaleTimeString('en-GB', {
        timeZone: 'America/New_York',
        hour: '2-digit',
        minute: '2-digit',
      }),
    );
    expect((await rows()).map((text) => text.slice(-5))).toEqual(hours);
    expect(hours[0]).toBe('00:00');
    await tab.context.close();
  });
});

describe('a list without entries', () => {
  const lists = ['/overview', '/spend', '/calls', '/budgets', '/apps', '/limits', '/devices', '/alerts', '/keys'];

  it('shows one command that makes the first entry, on every page', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    const { orgId } = await newOrg(stage.app);
    await stage.signInAsAdmin(tab, { orgId });
    const found: Record<string, number> = {};
    for (const path of lists) {
      await page.goto(`${stage.app.origin}/console/o/${orgId}${path}`);
      await page.locator('.command code').first().waitFor();
      found[path] = (await findings(tab)).length;
    }
    expect(found).toEqual(Object.fromEntries(lists.map((path) => [path, 0])));
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

describe('a session that may only read', () => {
  it('sees actions disabled, with the reason', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    await stage.signInAsAdmin(tab, { role: 'READ', orgId: stage.demo.orgId });
    await page.goto(`${stage.app.origin}${stage.path('/apps/search')}`);
    const button = page.getByRole('button', { name: 'Edit settings' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toContain('read-only');
    await button.click({ force: true });
    expect(await page.locator('dialog').count()).toBe(0);
    await tab.context.close();
  });
});

describe('an app client', () => {
  it('sees its own app and no other page', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    const client = stage.demo.clients.find(({ clientId }) => clientId.endsWith('-app-search'));
    await stage.signIn(tab, '/console/', client);
    await page.getByText('asks again after').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
      'App',
      'Models and prices',
      'Alerts',
    ]);
    await page.goto(`${stage.app.origin}${stage.path('/keys')}`);
    await page.getByText('There is no such page').waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

/** Lets an app use up its quota, and sums it as the worker does. */
async function exceedQuota(): Promise<void> {
  const { orgId } = stage.demo;
  const quotas = [{ label: 'premium', dailyUsdMicros: 1000 }];
  const input = { orgId, appId: 'burst', name: 'Burst', modelOrdering: ['premium'], quotas };
  await stage.app.admin.ask(op.RegisterAppDocument, { input });
  const cost = { modelLabel: 'premium', inputTokens: 0, outputTokens: 0, costUsdMicros: 1000 };
  await stage.app.admin.ask(op.SubmitCostDocument, {
    input: { orgId, appId: 'burst', requestId: randomUUID(), ...cost },
  });
  const worker = buildBackground(stage.app.config, { clock: stage.app.clock, log: silentLog });
  try {
    await worker.spend.sumAll();
  } finally {
    worker.close();
  }
}

describe('live data', () => {
  it('arrives without a reload, and stops while the tab is hidden', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    await stage.signIn(tab, stage.path('/alerts'));
    const live = page.locator('.live.on');
    await live.waitFor();
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await show('hidden');
    await live.waitFor({ state: 'detached' });
    await show('visible');
    await live.waitFor();
    await exceedQuota();
    await page.locator('.toast').getByText('burst: the quota of premium is used up').waitFor();
    await page.getByRole('rowheader', { name: 'burst: the quota of premium is used up' }).waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

// The last test, because the clock of the gateway moves on.
describe('a session without activity', () => {
  it('ends after 30 minutes, and returns to the same page after the sign-in', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    await stage.signIn(tab, stage.path('/limits?resource=exports'));
    await page.getByRole('heading', { name: 'exports' }).waitFor();
    stage.app.clock.advance(idleMs + 60_000);
    await page.getByRole('button', { name: 'model-calls', exact: true }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.locator('.sidebar').count()).toBe(0);
    await fillIn(tab, stage.orgClient);
    await page.getByRole('heading', { name: 'model-calls' }).waitFor();
    expect(page.url()).toContain(stage.path('/limits?resource=model-calls'));
    await tab.context.close();
  });
});
