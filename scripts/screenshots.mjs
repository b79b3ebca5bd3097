// Takes the screenshots of the README from the console of a new gateway with the data of `tollgate seed`. With a folder
// as argument: all pages, light, dark and narrow, to look at. Run by `npm run screenshots`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from './browser.mjs';

const root = new URL('../', import.meta.url).pathname;
const program = join(root, 'dist', 'main.js');
const images = join(root, 'docs', 'images');
const wide = { width: 1280, height: 860 };
const narrow = { width: 390, height: 844 };
const schemes = ['light', 'dark'];
const maxBytes = 100 * 1024;

/** The pages of an org, with a text of each that is there when it has loaded. */
const orgPages = {
  overview: ['/overview', 'Includes all costs until'],
  spend: ['/spend', 'support-chat'],
  'spend-hours': ['/spend?days=7&step=HOUR&split=app', 'US dollars per hour'],
  calls: ['/calls', 'Output tokens'],
  budgets: ['/budgets', 'team-month'],
  apps: ['/apps', 'Nightly reports'],
  app: ['/apps/support-chat', 'asks again after'],
  limits: ['/limits?resource=model-calls', 'In use now, all entities'],
  entity: ['/limits/entities/ben', 'Tokens now'],
  devices: ['/devices', 'greenhouse-01'],
  device: ['/devices/D0:0D:00:00:01:01?span=7d', 'Latest readings'],
  alerts: ['/alerts', 'fell back from'],
  keys: ['/keys', 'demo fleet'],
  audit: ['/audit', 'org registered'],
  settings: ['/settings', 'Chain and daily quotas'],
};
const platformPages = {
  orgs: ['/orgs', 'Demo Corp'],
  models: ['/models', 'Per 1M input'],
  'platform-audit': ['/platform-audit', 'All events'],
};

/** Starts `tollgate dev` with an empty store and returns the link that it prints. */
async function startDev(env) {
  const child = spawn(process.execPath, [program, 'dev'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const link = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const [found] = /http\S+#token=\S+/.exec(text) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`tollgate dev has ended:\n${text}`)));
  });
  return { child, link };
}

async function seed(env) {
  const child = spawn(process.execPath, [program, 'seed'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  const [, orgId] = /with the id (\S+)\./.exec(text) ?? [];
  if (!orgId) throw new Error(`tollgate seed has failed:\n${text}`);
  return orgId;
}

async function signIn(browser, link) {
  // The headless browser has no language of its own.
  const context = await browser.newContext({ locale: 'en-US', viewport: wide });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.sidebar').waitFor();
  return page;
}

async function open(page, address, shown) {
  await page.goto(address);
  await page.getByText(shown).first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/** The page as it is on screen, as WebP, which is a third of the size of PNG. */
async function webp(page) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  return Buffer.from(data, 'base64');
}

async function takeReadme(page, at) {
  mkdirSync(images, { recursive: true });
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await open(page, at(orgPages.overview[0]), orgPages.overview[1]);
    // Budgets and refusals are read after the rest.
    await page.getByText('within the budget').or(page.getByText('above the budget')).first().waitFor();
    const bytes = await webp(page);
    if (bytes.length > maxBytes) throw new Error(`console-${colorScheme}.webp has ${bytes.length} bytes`);
    writeFileSync(join(images, `console-${colorScheme}.webp`), bytes);
  }
}

async function takeAll(page, at, folder) {
  mkdirSync(folder, { recursive: true });
  const pages = { ...orgPages, ...platformPages };
  for (const [name, [path, shown]] of Object.entries(pages)) {
    await open(page, at(path), shown);
    for (const [suffix, viewport, colorScheme] of [
      ['light', wide, 'light'],
      ['dark', wide, 'dark'],
      ['narrow', narrow, 'light'],
    ]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      // Charts follow their size in the next frames.
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `${name}-${suffix}.png`), fullPage: true });
    }
    await page.setViewportSize(wide);
  }
}

const [folder] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-screenshots-'));
const env = { ...process.env, TOLLGATE_DATA_DIR: dataDir, PORT: '0' };
const { child, link } = await startDev(env);
const ended = once(child, 'exit');
const browser = await launchBrowser();
try {
  const page = await signIn(browser, link);
  const orgId = await seed(env);
  const { origin } = new URL(link);
  const at = (path) =>
    Object.values(platformPages).some(([each]) => each === path)
      ? `${origin}/console${path}`
      : `${origin}/console/o/${orgId}${path}`;
  await (folder ? takeAll(page, at, folder) : takeReadme(page, at));
} finally {
  await browser.close();
  child.kill('SIGTERM');
  await ended;
  rmSync(dataDir, { recursive: true, force: true });
}
