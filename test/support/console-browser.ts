import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../../scripts/browser.mjs';
import { type DemoReport, seedDemo } from '../../src/demo/demo.js';
import { startTestApp, type TestApp } from './app.js';
import { newLink } from './console.js';
import { patience } from './patience.js';

const root = new URL('../../', import.meta.url);
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', root), 'utf8');
const documents = JSON.parse(readFileSync(new URL('dist/console/documents.json', root), 'utf8')) as Record<
  string,
  string
>;

/** The kind and the name of the operation that a body of the console asks for. */
export const operationOf = (body: string | null): string => {
  const { documentId = '' } = JSON.parse(body ?? '{}') as { documentId?: string };
  return /(?:query|mutation|subscription) \w+/.exec(documents[documentId.replace('sha256:', '')] ?? '')?.[0] ?? 'none';
};

/** A browser window of its own, with what it sent and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The operations that were sent, without streams. */
  readonly operations: string[];
  /** The addresses of all requests. */
  readonly requests: string[];
  readonly problems: string[];
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A gateway with the data of `tollgate seed`, and a browser. */
export class ConsoleStage {
  private constructor(
    readonly app: TestApp,
    readonly demo: DemoReport,
    private readonly browser: Browser,
  ) {}

  static async start(days: number): Promise<ConsoleStage> {
    const app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
    try {
      const [demo, browser] = await Promise.all([seedDemo(app.config, { days }), launchBrowser()]);
      return new ConsoleStage(app, demo, browser);
    } catch (error) {
      await app.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.app.stop();
  }

  /** The path of a page of the demo org. */
  path(page: string): string {
    return `/console/o/${this.demo.orgId}${page}`;
  }

  get orgClient(): Credentials {
    const [client] = this.demo.clients;
    if (!client) throw new Error('the demo has no client');
    return client;
  }

  async newTab(options: BrowserContextOptions = {}): Promise<Tab> {
    // The headless browser has no language of its own.
    const viewport = { width: 1360, height: 900 };
    const context = await this.browser.newContext({ locale: 'en-US', viewport, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000 * patience);
    const tab: Tab = { page, context, operations: [], requests: [], problems: [] };
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) tab.requests.push(request.url());
      if (!request.url().endsWith('/graphql')) return;
      const name = operationOf(request.postData());
      if (!name.startsWith('subscription')) tab.operations.push(name);
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

  /** Opens a page and signs in with credentials, by default those of the org. */
  async signIn(tab: Tab, path = '/console/', credentials: Credentials = this.orgClient): Promise<void> {
    await tab.page.goto(`${this.app.origin}${path}`);
    await fillIn(tab, credentials);
    await tab.page.locator('.sidebar').waitFor();
  }

  /** Signs in with a one-time link of the admin. */
  async signInAsAdmin({ page }: Tab, wanted: object = {}): Promise<void> {
    await page.goto(`${this.app.origin}/console/#token=${await newLink(this.app, wanted)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.sidebar').waitFor();
  }
}

/** Fills in the form of the sign-in and sends it. */
export async function fillIn({ page }: Tab, { clientId, clientSecret }: Credentials): Promise<void> {
  await page.getByLabel('Client id').fill(clientId);
  await page.getByLabel('Client secret').fill(clientSecret);
  await page.keyboard.press('Enter');
}

/** The accessibility findings of a page, by axe. It is run by the debugger, so that the policy of the page stays on. */
export async function findings({ page, context }: Tab): Promise<string[]> {
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
