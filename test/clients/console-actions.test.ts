// Each action of the web console in a real browser, and what the gateway has stored after it.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConsoleStage, findings, operationOf, type Tab } from '../support/console-browser.js';
import * as op from '../support/operations.js';

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await ConsoleStage.start(1);
}, 600_000);
afterAll(() => stage?.stop());

/** Presses Tab until the element with this name has the focus. */
async function tabTo({ page }: Tab, name: string): Promise<void> {
  const focused = `((element) =>
    (element.ariaLabel || element.labels?.[0]?.textContent || element.textContent).trim())(document.activeElement)`;
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(focused)) === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

describe('the keyboard alone', () => {
  it('signs in, changes the quota of an app, and signs out', async () => {
    const tab = await stage.newTab();
    const { page } = tab;
    await page.goto(`${stage.app.origin}/console/`);
    await page.getByLabel('Client id').waitFor();
    // The first field has the focus.
    await page.keyboard.type(stage.orgClient.clientId);
    await page.keyboard.press('Tab');
    await page.keyboard.type('tgs_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The client id or the secret is wrong').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(stage.orgClient.clientSecret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await tabTo(tab, 'Apps');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Semantic search' }).waitFor();
    await tabTo(tab, 'Semantic search');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Semantic search', level: 1 }).waitFor();
    await tabTo(tab, 'Edit settings');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(tab, 'Daily quota of premium in dollars');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('7.25');
    await page.keyboard.press('Enter');
    await page.getByText('premium $7.25').waitFor();
    expect(await page.locator('dialog').count()).toBe(0);
    // The focus is where it was before the dialog.
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Edit settings');
    await tabTo(tab, 'Demo Corp');
    await page.keyboard.press('Enter');
    await tabTo(tab, 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

describe('an action', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await stage.newTab();
    await stage.signIn(tab);
  }, 600_000);
  afterAll(() => tab.context.close());
  const go = async (path: string) => {
    await tab.page.goto(`${stage.app.origin}${stage.path(path)}`);
  };
  const button = (name: string | RegExp) => tab.page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => tab.page.getByRole('dialog').getByRole('button', { name, exact: true });
  const row = (name: string | RegExp) => tab.page.getByRole('row', { name });

  it('refuses to overwrite a change that somebody else has made meanwhile', async () => {
    const { page } = tab;
    await go('/apps/search');
    await page.getByRole('button', { name: 'Edit settings' }).click();
    await page.getByLabel('Daily quota of premium in dollars').fill('9');
    const input = { orgId: stage.demo.orgId, appId: 'search', name: 'Search 2' };
    await stage.app.admin.ask(op.UpdateAppDocument, { input });
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
    await page.keyboard.press('Escape');
    await button('Top up rpm of model-calls').click();
    await page.getByLabel('Tokens of rpm for model-calls').fill('2');
    await inDialog('Give the tokens').click();
    await page.getByText('3 tokens of rpm are available now').waitFor();
  });

  it('sets and deletes the limits of a resource', async () => {
    const { page } = tab;
    await go('/limits');
    await button('Set limits').click();
    await page.getByLabel('Resource', { exact: true }).fill('images');
    await page.getByLabel('Name', { exact: true }).fill('daily');
    await page.getByLabel('Kind').selectOption('DAY');
    await page.getByLabel('Capacity').fill('100');
    await inDialog('Set limits').click();
    await button('images').click();
    await page.getByRole('heading', { name: 'images' }).waitFor();
    await button('Delete the limits of images').click();
    await inDialog('Delete').click();
    await button('images').waitFor({ state: 'detached' });
  });

  it('creates, changes and deletes an entity, with its metadata', async () => {
    const { page } = tab;
    await go('/limits');
    await button('Create').click();
    await page.getByLabel('Id', { exact: true }).fill('visitor');
    await inDialog('Create').click();
    await page.getByRole('heading', { name: 'visitor', level: 1 }).waitFor();
    await button('Change').click();
    await page.getByLabel('Name', { exact: true }).fill('A visitor');
    await page.getByLabel('Parent', { exact: true }).fill('team-data');
    await button('Add a value').click();
    await page.getByLabel('Name of the value').fill('plan');
    await page.getByLabel('Value of plan').fill('gold');
    await inDialog('Save').click();
    await page.getByRole('heading', { name: 'A visitor', level: 1 }).waitFor();
    await page.locator('.pair', { hasText: 'plan' }).getByText('gold').waitFor();
    await button('Delete').click();
    await inDialog('Delete').click();
    await page.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'visitor' }).waitFor({ state: 'detached' });
  });

  it('renames a device, shows another metric and range, gives it to another key, and deletes it', async () => {
    const { page } = tab;
    await go('/devices');
    await button('Rename D0:0D:00:00:02:01').click();
    await page.getByLabel('Name', { exact: true }).fill('north door');
    await inDialog('Rename').click();
    await page.getByRole('link', { name: 'north door' }).click();
    // It has no other sensor, so the chart begins with this one.
    await page.getByRole('img', { name: /^Probe temperature in °C/ }).waitFor();
    await page.getByLabel('Metric').selectOption('DS18B20_TEMP_C');
    await page.getByLabel('7 days').check();
    await page.getByRole('img', { name: /^Probe temperature in °C/ }).waitFor();
    expect(page.url()).toMatch(/metric=DS18B20_TEMP_C&span=7d$/);
    const { createApiKey } = await stage.app.admin.ask(op.CreateApiKeyDocument, {
      input: { orgId: stage.demo.orgId, description: 'second fleet' },
    });
    await button('Assign').click();
    await page.getByLabel('Owner key').selectOption(createApiKey.apiKey.keyId);
    await inDialog('Assign').click();
    await page.getByText(createApiKey.apiKey.keyId, { exact: true }).waitFor();
    await button('Delete').click();
    await inDialog('Delete').click();
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'north door' }).waitFor({ state: 'detached' });
  });

  it('registers an app, shows its secret once, suspends, resumes and deletes it', async () => {
    const { page } = tab;
    await go('/apps');
    await button('Register app').click();
    await page.getByLabel('Name', { exact: true }).fill('Trial');
    await page.getByLabel('Id', { exact: true }).fill('trial');
    await inDialog('Register').click();
    await button('Show the secret').click();
    await page.getByText(/^tgs_/).waitFor();
    await button('Done').click();
    expect(await page.getByText(/^tgs_/).count()).toBe(0);
    await page.getByRole('link', { name: 'Trial' }).click();
    await button('Suspend').click();
    await inDialog('Suspend').click();
    await page.getByText('its credentials are refused').waitFor();
    await button('Resume').click();
    await page.getByText('its credentials are refused').waitFor({ state: 'detached' });
    await button('Delete this app').click();
    await inDialog('Delete').click();
    await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Trial' }).waitFor({ state: 'detached' });
  });

  it('rotates the credentials of an app', async () => {
    const { page } = tab;
    await go('/apps/reports');
    await button('Rotate').click();
    await button('Make a one-time token').click();
    await page.getByText(/^tgt_/).waitFor();
    await button('Show the secret').click();
    await page.getByText(/^tgs_/).waitFor();
    await button('Done').click();
    await page.getByText('the old one works for').waitFor();
  });

  it('creates and deletes a client of the org', async () => {
    const { page } = tab;
    await go('/keys');
    await button('Create client').click();
    await page.getByLabel('Name', { exact: true }).fill('auditor');
    await page.getByLabel('The secret you signed in with').fill(stage.orgClient.clientSecret);
    await inDialog('Create').click();
    await button('Done').click();
    await row(/^auditor .* read-only/).waitFor();
    await button('Delete auditor').click();
    await inDialog('Delete').click();
    await row(/^auditor/).waitFor({ state: 'detached' });
  });

  it('changes a setting of the org', async () => {
    const { page } = tab;
    await go('/settings');
    await button('Edit settings').click();
    await page.getByLabel('Tight mode from percent of a quota').fill('77');
    await inDialog('Save').click();
    await page.getByText('77 % of a quota').waitFor();
  });

  it('makes the quota of an app hard from a coming day on, shows it, and withdraws it', async () => {
    const { page } = tab;
    const quotas = async () => {
      const { orgId } = stage.demo;
      const { org } = await stage.app.admin.ask(op.AppEnforcementDocument, { orgId, appId: 'reports' });
      return org?.app?.quotas.map(({ label, enforcement, nextEnforcement }) => [
        label,
        enforcement,
        nextEnforcement?.enforcement ?? null,
      ]);
    };
    const before = await quotas();
    await go('/apps/reports');
    await button('Edit settings').click();
    await page.getByLabel('Inherit the quotas from the org').uncheck();
    const enforcement = page.getByLabel('Enforcement of economy');
    await enforcement.selectOption('HARD');
    await page.getByText('economy becomes hard on a coming day').waitFor();
    await page.getByText('admit reserves the estimated cost before a call').waitFor();
    expect(await findings(tab)).toEqual([]);
    await inDialog('Save').click();
    await page.getByText(/economy \$[\d.,]+ \(advisory; hard from \d+ \w+\)/).waitFor();
    const changed = before?.map(([label, now, next]) => [label, now, label === 'economy' ? 'HARD' : next]);
    expect(await quotas()).toEqual(changed);
    await button('Edit settings').click();
    await page.getByText(/economy is advisory today, and hard from \d+ \w+/).waitFor();
    await enforcement.selectOption('ADVISORY');
    await page.getByText('economy stays advisory').waitFor();
    await inDialog('Save').click();
    await page.getByText('hard from').waitFor({ state: 'detached' });
    expect(await quotas()).toEqual(before);
  });

  it('makes a quota of the org hard from a coming day on', async () => {
    const { page } = tab;
    await go('/settings');
    await button('Edit settings').click();
    await page.getByLabel('Enforcement of premium').selectOption('HARD');
    await inDialog('Save').click();
    await row(/^premium \$[\d.,]+ advisory; hard from \d+ \w+$/).waitFor();
  });

  it('lists the calls of an app, shows how a cost came about, and corrects it', async () => {
    const { page } = tab;
    await go('/calls?days=2');
    await page.getByLabel('App', { exact: true }).selectOption('search');
    await row(/search/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'support-chat' }).first().waitFor({ state: 'detached' });
    await page
      .getByRole('button', { name: /, details$/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Call of search' }).waitFor();
    await page.getByRole('columnheader', { name: 'Dollars per 1M' }).waitFor();
    const requestId = (await page.locator('dialog code').first().textContent()) ?? '';
    await button('Correct the cost').click();
    await page.getByLabel('Kind').selectOption('debit');
    await page.getByLabel('Amount in dollars').fill('1.25');
    await page.getByLabel('Reason').fill('invoice of the provider');
    await inDialog('Correct').click();
    await page.locator('dialog').getByRole('cell', { name: '$1.25', exact: true }).waitFor();
    await button('Done').click();
    await page.getByLabel('App of the call').selectOption('search');
    await page.getByLabel('Request id').fill(` ${requestId.toUpperCase()} `);
    await button('Look up').click();
    await page.getByText('invoice of the provider').waitFor();
    await page.keyboard.press('Escape');
  });

  it('marks a call whose cost was estimated', async () => {
    const { page } = tab;
    const place = { orgId: stage.demo.orgId, appId: 'search' };
    const estimate = { inputTokens: 10, maxOutputTokens: 10 };
    const { admit } = await stage.app.admin.ask(op.AdmitDocument, {
      input: { ...place, requestId: randomUUID(), estimate },
    });
    if (admit.__typename !== 'Admitted') throw new Error('denied');
    await stage.app.admin.ask(op.SettleDocument, {
      input: { admissionId: admit.admissionId, costUsdMicros: 5, estimated: true },
    });
    await go('/calls?days=2');
    await row(/ ok estimated /)
      .getByRole('button')
      .click();
    await page.getByText('estimated: the usage was not known exactly').waitFor();
    await button('Done').click();
  });

  it('filters the alerts and the audit trail', async () => {
    const { page } = tab;
    await go('/alerts');
    const alert = (text: RegExp) => page.getByRole('rowheader', { name: text }).first();
    await alert(/the quota of \w+ is used up/).waitFor();
    await page.getByLabel('Kind').selectOption('FALLBACK_ACTIVATED');
    await alert(/quota|budget/).waitFor({ state: 'detached' });
    const shown = await page.getByRole('rowheader').allTextContents();
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((text) => !text.includes('fell back from'))).toEqual([]);
    await go('/audit');
    await page.getByPlaceholder('Object, such as').fill('$APP:search');
    await button('Show').click();
    await page.getByRole('heading', { name: 'Events about $APP:search' }).waitFor();
    await page.getByRole('rowheader', { name: 'app registered' }).waitFor();
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
    await go(`/spend?from=${stage.demo.from}&to=${stage.demo.to}`);
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
    expect(rows.reduce((sum, row) => sum + Number(row.split(',')[at]), 0)).toBe(stage.demo.costUsdMicros);
  });

  it('creates a device key, shows it once, and revokes it', async () => {
    const { page } = tab;
    await go('/keys');
    await page.getByRole('button', { name: 'Create device key' }).click();
    await page.getByLabel('Description').fill('of the console');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText(/^tgk_/).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('rowheader', { name: 'of the console' }).waitFor();
    expect(await page.getByText(/^tgk_/).count()).toBe(0);
    await button('Revoke of the console').click();
    await inDialog('Revoke').click();
    await row(/^of the console .* revoked/).waitFor();
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
      operationOf(route.request().postData()) === 'query Devices' ? route.abort() : route.continue(),
    );
    await go('/devices');
    await page.getByText('The gateway did not respond').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('greenhouse-01').first().waitFor();
  });
});

describe('an action of the platform admin', () => {
  let tab: Tab;
  beforeAll(async () => {
    tab = await stage.newTab();
    await stage.signInAsAdmin(tab);
  }, 600_000);
  afterAll(() => tab.context.close());
  const button = (name: string) => tab.page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => tab.page.getByRole('dialog').getByRole('button', { name, exact: true });
  const row = (name: RegExp) => tab.page.getByRole('row', { name });
  const nav = (name: string) => tab.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });

  it('registers, suspends and resumes an org, and switches its ledger on', async () => {
    const { page } = tab;
    await nav('Orgs').click();
    await button('Register org').click();
    await page.getByLabel('Name', { exact: true }).fill('Umbrella');
    await page.getByLabel('Add a label').selectOption('premium');
    await page.getByLabel('Daily quota of premium in dollars').fill('12.50');
    await page.getByLabel('Enforcement of premium').selectOption('HARD');
    await inDialog('Register').click();
    await page.getByText(/^tgt_/).waitFor();
    await button('Done').click();
    for (const [action, state] of [
      ['Suspend', 'suspended'],
      ['Resume', 'active'],
    ] as const) {
      await button(`${action} Umbrella`).click();
      await inDialog(action).click();
      await row(new RegExp(`^Umbrella .* ${state}`)).waitFor();
    }
    await page.getByRole('link', { name: 'Umbrella' }).click();
    await nav('Settings').click();
    // An org without costs needs no notice.
    await row(/^premium \$12.50 hard$/).waitFor();
    await nav('Calls').click();
    await button('Switch on the ledger').click();
    await page.getByText('No calls in these days').waitFor();
  });

  it('adds, changes and retires a model', async () => {
    const { page } = tab;
    await nav('Models and prices').click();
    await button('Add model').click();
    await page.getByLabel('Label', { exact: true }).fill('tiny');
    await page.getByLabel('Model id at its provider').fill('example.tiny-1');
    await page.getByLabel('Dollars per 1M input').fill('0.10');
    await page.getByLabel('Dollars per 1M output').fill('0.40');
    await inDialog('Save').click();
    await row(/^tiny example.tiny-1 .*\$0.10 \$0.40/).waitFor();
    await button('Change tiny').click();
    await page.getByLabel('Provider', { exact: true }).fill('example');
    await inDialog('Save').click();
    await row(/^tiny example.tiny-1 example /).waitFor();
    await button('Retire tiny').click();
    await inDialog('Retire').click();
    await row(/^tiny/).waitFor({ state: 'detached' });
  });

  it('sets and clears the price of an org, which the next cost of the org has', async () => {
    const { page } = tab;
    const { orgId } = stage.demo;
    await page.goto(`${stage.app.origin}${stage.path('/overview')}`);
    await nav('Models and prices').click();
    await page.getByText('All costs of this org have the prices of the catalog').waitFor();
    await button('Set price').click();
    await page.getByLabel('Label', { exact: true }).selectOption('economy');
    await page.getByLabel('Dollars per 1M input').fill('7');
    await page.getByLabel('Dollars per 1M output').fill('9');
    await inDialog('Set price').click();
    await row(/^economy input \$7.00, output \$9.00/).waitFor();
    const input = { orgId, appId: 'search', requestId: randomUUID(), modelLabel: 'economy' };
    const { submitCost } = await stage.app.admin.ask(op.SubmitCostDocument, {
      input: { ...input, inputTokens: 1_000_000, outputTokens: 0 },
    });
    expect(submitCost.costUsdMicros).toBe(7_000_000);
    await button('Clear the price of economy').click();
    await inDialog('Clear').click();
    await row(/^economy price of the catalog/).waitFor();
  });

  it('sets a price of an org that starts later, and until then costs have the price before', async () => {
    const { page } = tab;
    const { orgId } = stage.demo;
    const startsAt = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16);
    await page.goto(`${stage.app.origin}${stage.path('/overview')}`);
    await nav('Models and prices').click();
    await button('Set price').click();
    await page.getByLabel('Label', { exact: true }).selectOption('standard');
    await page.getByLabel('Dollars per 1M input').fill('11');
    await page.getByLabel('Dollars per 1M output').fill('13');
    await page.getByLabel('Starts at, in UTC').fill(startsAt);
    expect(await findings(tab)).toEqual([]);
    await inDialog('Set price').click();
    await row(/^standard price of the catalog .*: input \$11.00, output \$13.00/).waitFor();
    const { org } = await stage.app.admin.ask(op.OrgPricesDocument, { orgId });
    expect(org?.prices.find(({ label }) => label === 'standard')?.changes).toEqual([
      expect.objectContaining({ effectiveFrom: `${startsAt}:00.000Z` }),
    ]);
  });
});
