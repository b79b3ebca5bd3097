// The web console in a real browser, on a gateway with demo data.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { buildBackground } from '../../src/app.js';
import { type DemoReport, seedDemo } from '../../src/demo/demo.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg, startTestApp, stoppedAfterAll, type TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { newLink } from '../support/console.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const maxOperations = 3;

const open = stoppedAfterAll();
let app: TestApp;
let demo: DemoReport;
let browser: Browser;
beforeAll(async () => {
  app = await open(startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } }));
  const [seeded, started] = await Promise.all([seedDemo(app.config, { days: 1 }), launchBrowser()]);
  demo = seeded;
  browser = started;
  const budget = { name: 'team-month', period: 'MONTH', usdMicros: 500_000_000 } as const;
  await app.admin.ask(op.SetBudgetDocument, { input: { orgId: demo.orgId, ...budget } });
}, 600_000);
afterAll(() => browser?.close());

/** A tab, with what it sent and what went wrong in it. */
interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The names of the queries that were sent, without streams. */
  readonly queries: string[];
  readonly requests: string[];
  readonly problems: string[];
}

const documents = JSON.parse(
  readFileSync(new URL('../../dist/console/documents.json', import.meta.url), 'utf8'),
) as Record<string, string>;
const nameOf = (body: string | null): string => {
  const { documentId = '' } = JSON.parse(body ?? '{}') as { documentId?: string };
  return /(?:query|mutation|subscription) \w+/.exec(documents[documentId.replace('sha256:', '')] ?? '')?.[0] ?? 'none';
};

async function newTab(): Promise<Tab> {
  // The headless browser has no language of its own.
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1360, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000 * patience);
  const tab: Tab = { page, context, queries: [], requests: [], problems: [] };
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) tab.requests.push(request.url());
    if (!request.url().endsWith('/graphql')) return;
    const name = nameOf(request.postData());
    if (!name.startsWith('subscription')) tab.queries.push(name);
  });
  page.on('pageerror', (error) => void tab.problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A refused sign-in is an error of the network for the browser, and what a test expects.
    if (message.type() === 'error' && !/status of (401|429)/.test(message.text())) tab.problems.push(message.text());
  });
  const report = "(e) => console.error('policy ' + e.violatedDirective + ' ' + e.blockedURI)";
  await context.addInitScript(`addEventListener('securitypolicyviolation', ${report})`);
  return tab;
}

const orgClient = () => {
  const [client] = demo.clients;
  if (!client) throw new Error('the demo has no client');
  return client;
};

async function signInAs({ page }: Tab, { clientId, clientSecret } = orgClient(), path = '/console/'): Promise<void> {
  await page.goto(`${app.origin}${path}`);
  await page.getByLabel('Client id').fill(clientId);
  await page.getByLabel('Client secret').fill(clientSecret);
  await page.keyboard.press('Enter');
  await page.locator('.sidebar').waitFor();
}

async function signInAsAdmin({ page }: Tab, wanted: object = {}): Promise<void> {
  await page.goto(`${app.origin}/console/#token=${await newLink(app, wanted)}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.sidebar').waitFor();
}

/** The accessibility findings of a page, by axe. It is run by the debugger, so that the policy of the page stays on. */
async function findings({ page, context }: Tab): Promise<string[]> {
  const session = await context.newCDPSession(page);
  const evaluate = (expression: string) =>
    session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  await evaluate(axe);
  const run = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`;
  const { result } = await evaluate(run);
  await session.detach();
  return result.value as string[];
}

const orgPath = (path: string) => `/o/${demo.orgId}${path}`;
const hardwareId = 'D0:0D:00:00:03:03';

/** Each page with a text that only its loaded state has. */
const pages: readonly (readonly [name: string, path: () => string, shown: string])[] = [
  ['the overview', () => orgPath('/overview'), 'Includes all costs until'],
  ['spend by label', () => orgPath('/spend?days=2&step=HOUR'), 'support-chat'],
  ['spend by app', () => orgPath('/spend?days=2&split=app&tab=label'), 'US dollars per day'],
  ['the budgets', () => orgPath('/budgets'), 'team-month'],
  ['the apps', () => orgPath('/apps'), 'Nightly reports'],
  ['an app', () => orgPath('/apps/support-chat'), 'asks again after'],
  ['the limits', () => orgPath('/limits?resource=model-calls'), 'In use now, all entities'],
  ['an entity', () => orgPath('/limits/entities/support-bot'), 'Tokens now'],
  ['the devices', () => orgPath('/devices'), 'greenhouse-01'],
  ['a device', () => orgPath(`/devices/${hardwareId}?span=24h`), 'Latest readings'],
  ['the alerts', () => orgPath('/alerts'), 'fell back from'],
  ['the keys', () => orgPath('/keys'), 'demo fleet'],
  ['the audit trail', () => orgPath('/audit'), 'org registered'],
  ['the settings', () => orgPath('/settings'), 'Chain and daily quotas'],
  ['the orgs', () => '/orgs', 'Demo Corp'],
  ['the models', () => '/models', 'Per 1M input'],
  ['the audit trail of the platform', () => '/platform-audit', 'All events'],
];

describe('a page of the console', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await newTab();
    await signInAsAdmin(tab);
    await tab.page.getByRole('link', { name: 'Demo Corp' }).waitFor();
  }, 600_000);
  afterAll(() => tab.context.close());

  it.each(pages)(
    '%s: no policy violation, no axe finding in both schemes, 3 operations',
    async (_name, path, shown) => {
      const { page, queries, problems } = tab;
      await page.emulateMedia({ colorScheme: 'light' });
      queries.length = 0;
      await page.goto(`${app.origin}/console${path()}`);
      await page.getByText(shown).first().waitFor();
      // Charts draw after their code has arrived.
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(queries.slice(maxOperations)).toEqual([]);
      expect(await page.locator('h1').count()).toBe(1);
      const light = await findings(tab);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect({ light, dark: await findings(tab), problems }).toEqual({ light: [], dark: [], problems: [] });
    },
  );
});

describe('the sign-in', () => {
  it('is usable after at most 4 requests, and is without findings', async () => {
    const tab = await newTab();
    await tab.page.goto(`${app.origin}/console/`);
    await tab.page.getByLabel('Client id').waitFor();
    expect(tab.requests.length).toBeLessThanOrEqual(4);
    expect([await findings(tab), tab.problems]).toEqual([[], []]);
    await tab.context.close();
  });

  it('says what is wrong, then works, by the keyboard alone', async () => {
    const tab = await newTab();
    const { page } = tab;
    await page.goto(`${app.origin}/console/`);
    await page.getByLabel('Client id').waitFor();
    // The first field has the focus.
    await page.keyboard.type(orgClient().clientId);
    await page.keyboard.press('Tab');
    await page.keyboard.type('tgs_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The client id or the secret is wrong').waitFor();
    await page.getByLabel('Client secret').fill(orgClient().clientSecret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await tab.context.close();
  });

  it('asks before it uses a link, takes the token out of the address, and uses it once', async () => {
    const tab = await newTab();
    const { page } = tab;
    const link = `${app.origin}/console/#token=${await newLink(app)}`;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Sign in as platform admin?' }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Orgs', level: 1 }).waitFor();
    // Also in a tab with a session, where another link asks again, and a refusal returns to the session.
    await page.goto(`${app.origin}/console/#token=${await newLink(app, { orgId: demo.orgId })}`);
    await page.getByRole('heading', { name: /^Sign in as Demo Corp/ }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Orgs', level: 1 }).waitFor();
    const other = await newTab();
    await other.page.goto(link);
    await other.page.getByText('It was used before').waitFor();
    await Promise.all([tab.context.close(), other.context.close()]);
  });

  it('returns to the page on which the session ended', async () => {
    const tab = await newTab();
    const { page, context } = tab;
    await signInAs(tab, orgClient(), `/console${orgPath('/limits?resource=exports')}`);
    await page.getByRole('heading', { name: 'exports' }).waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'model-calls', exact: true }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await page.getByLabel('Client id').fill(orgClient().clientId);
    await page.getByLabel('Client secret').fill(orgClient().clientSecret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'model-calls' }).waitFor();
    await context.close();
  });

  it('says how long to wait after too many attempts', async () => {
    const tab = await newTab();
    const { page } = tab;
    const extensions = { code: 'RATE_LIMITED', retryAfterSecs: 30 };
    const body = JSON.stringify({ errors: [{ message: 'too many attempts', extensions }] });
    await page.route('**/session', (route) => route.fulfill({ status: 429, contentType: 'application/json', body }));
    await page.goto(`${app.origin}/console/`);
    await page.getByLabel('Client id').fill('x');
    await page.getByLabel('Client secret').fill('y');
    await page.keyboard.press('Enter');
    await page.getByText(/You can try again in \d+ s/).waitFor();
    await tab.context.close();
  });

  it('warns before an idle session ends, and lets it go on', async () => {
    const tab = await newTab();
    const { page } = tab;
    await signInAs(tab);
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

  it('is back after signing out', async () => {
    const tab = await newTab();
    const { page } = tab;
    await signInAs(tab);
    await page.locator('.user-button').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await tab.context.close();
  });
});

describe('a list without entries', () => {
  const lists = ['/overview', '/spend', '/budgets', '/apps', '/limits', '/devices', '/alerts', '/keys'];

  it('shows one command that makes the first entry, on every page', async () => {
    const tab = await newTab();
    const { page } = tab;
    const { orgId } = await newOrg(app);
    await signInAsAdmin(tab, { orgId });
    const found: Record<string, number> = {};
    for (const path of lists) {
      await page.goto(`${app.origin}/console/o/${orgId}${path}`);
      await page.locator('.command code').first().waitFor();
      found[path] = (await findings(tab)).length;
    }
    expect(found).toEqual(Object.fromEntries(lists.map((path) => [path, 0])));
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

describe('an action', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await newTab();
    await signInAs(tab);
  }, 600_000);
  afterAll(() => tab.context.close());
  const go = async (path: string) => {
    await tab.page.goto(`${app.origin}/console${orgPath(path)}`);
  };

  it('changes the quotas of an app, by the keyboard alone', async () => {
    const { page } = tab;
    await go('/apps/search');
    await page.getByRole('button', { name: 'Edit settings' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.getByLabel('Daily quota of premium in dollars').focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('7.25');
    await page.keyboard.press('Enter');
    await page.getByText('premium $7.25').waitFor();
    expect(await page.locator('dialog').count()).toBe(0);
    // The focus is where it was before the dialog.
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Edit settings');
  });

  it('refuses to overwrite a change that somebody else has made meanwhile', async () => {
    const { page } = tab;
    await go('/apps/search');
    await page.getByRole('button', { name: 'Edit settings' }).click();
    await page.getByLabel('Daily quota of premium in dollars').fill('9');
    const input = { orgId: demo.orgId, appId: 'search', name: 'Search 2' };
    await app.admin.ask(op.UpdateAppDocument, { input });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has changed this meanwhile').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  });

  it('overrides the model of an app, and lets the quotas decide again', async () => {
    const { page } = tab;
    await go('/apps/support-chat');
    for (const [label, shown] of [
      ['economy', 'set by hand for today'],
      ['', 'within its quota'],
    ] as const) {
      await page.getByRole('button', { name: 'Override model' }).click();
      await page.getByLabel('Label', { exact: true }).selectOption(label);
      await page
        .locator('dialog')
        .getByRole('button', { name: label ? 'Use economy today' : 'Let the quotas' })
        .click();
      await page.getByText(shown).waitFor();
    }
  });

  it('sets limits for one entity, checks them and takes tokens', async () => {
    const { page } = tab;
    await go('/limits/entities/ana');
    await page.getByRole('button', { name: 'Set own limits' }).click();
    await page.getByLabel('Name', { exact: true }).fill('rpm');
    await page.getByLabel('Capacity').fill('3');
    await page.locator('dialog').getByRole('button', { name: 'Set limits' }).click();
    await page.getByText('set for this entity and resource').waitFor();
    await page.getByRole('button', { name: 'Try an acquire' }).click();
    await page.getByLabel('Amount of rpm').fill('2');
    await page.getByRole('button', { name: 'Take the tokens' }).click();
    await page.getByText('Granted. The tokens are taken.').waitFor();
    await page.getByRole('button', { name: 'Check only' }).click();
    await page.getByText('It would be refused').waitFor();
  });

  it('sets, raises and deletes a budget', async () => {
    const { page } = tab;
    await go('/budgets');
    await page.getByRole('button', { name: 'Set budget' }).click();
    await page.getByLabel('Name', { exact: true }).fill('daily');
    await page.getByLabel('Amount in dollars', { exact: true }).fill('40');
    await page.getByLabel('Per', { exact: true }).selectOption('DAY');
    await page.getByRole('dialog').getByRole('button', { name: 'Set budget' }).click();
    await page.getByRole('cell', { name: '$40.00' }).waitFor();
    await page.getByRole('button', { name: 'Change daily' }).click();
    await page.getByLabel('Raised amount in dollars').fill('55.50');
    await page.getByRole('dialog').getByRole('button', { name: 'Set budget' }).click();
    await page.getByRole('cell', { name: '$55.50 raised' }).waitFor();
    await page.getByRole('button', { name: 'Delete daily' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('rowheader', { name: 'daily' }).waitFor({ state: 'detached' });
  });

  it('exports the spend, and the rows add up to the days', async () => {
    const { page } = tab;
    await go(`/spend?from=${demo.from}&to=${demo.to}`);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByLabel('Rows').selectOption('app');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^tollgate-spend-by-app-.*\.csv$/);
    const [head, ...rows] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    const at = (head ?? '').split(',').indexOf('costUsdMicros');
    expect(rows.reduce((sum, row) => sum + Number(row.split(',')[at]), 0)).toBe(demo.costUsdMicros);
  });

  it('creates a device key and shows it once', async () => {
    const { page } = tab;
    await go('/keys');
    await page.getByRole('button', { name: 'Create device key' }).click();
    await page.getByLabel('Description').fill('of the console');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText(/^tgk_/).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('rowheader', { name: 'of the console' }).waitFor();
    expect(await page.getByText(/^tgk_/).count()).toBe(0);
  });

  it('reads the exact figure of today, and shows a chart as a table', async () => {
    const { page } = tab;
    await go('/spend?days=1');
    await page.getByRole('button', { name: 'Exact now' }).click();
    await page.getByText('Today exactly $').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('columnheader', { name: 'Hour' }).waitFor();
  });

  it('says what happened if the gateway fails, and works again after a retry', async () => {
    const { page } = tab;
    await page.route('**/graphql', (route) =>
      nameOf(route.request().postData()) === 'query Devices' ? route.abort() : route.continue(),
    );
    await go('/devices');
    await page.getByText('The gateway did not respond').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('greenhouse-01').first().waitFor();
  });
});

describe('a session that may only read', () => {
  it('sees actions disabled, with the reason', async () => {
    const tab = await newTab();
    const { page } = tab;
    await signInAsAdmin(tab, { role: 'READ', orgId: demo.orgId });
    await page.goto(`${app.origin}/console${orgPath('/apps/search')}`);
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
    const tab = await newTab();
    const { page } = tab;
    const client = demo.clients.find(({ clientId }) => clientId.endsWith('-app-search'));
    await signInAs(tab, client);
    await page.getByText('asks again after').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
      'App',
      'Models and prices',
      'Alerts',
    ]);
    await page.goto(`${app.origin}/console${orgPath('/keys')}`);
    await page.getByText('There is no such page').waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

/** Lets an app use up its quota, and sums it as the worker does. */
async function exceedQuota(): Promise<void> {
  const { orgId } = demo;
  const quotas = [{ label: 'premium', dailyUsdMicros: 1000 }];
  const input = { orgId, appId: 'burst', name: 'Burst', modelOrdering: ['premium'], quotas };
  await app.admin.ask(op.RegisterAppDocument, { input });
  const cost = { modelLabel: 'premium', inputTokens: 0, outputTokens: 0, costUsdMicros: 1000 };
  await app.admin.ask(op.SubmitCostDocument, { input: { orgId, appId: 'burst', requestId: randomUUID(), ...cost } });
  const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  try {
    await worker.spend.sumAll();
  } finally {
    worker.close();
  }
}

describe('live data', () => {
  it('arrives without a reload, and stops while the tab is hidden', async () => {
    const tab = await newTab();
    const { page } = tab;
    await signInAs(tab, orgClient(), `/console${orgPath('/alerts')}`);
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
