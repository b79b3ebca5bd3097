// Starts the Chromium of the tests and of the screenshots.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const root = new URL('../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8'));

/** Without the package's own arguments, because they disable web security and with it the CORS checks under test. */
const args = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-proxy-server',
  // Only localhost resolves, so that a test cannot reach another machine.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/** Starts Chromium: on Linux x64 the one from npm, elsewhere the one at CHROME_PATH. Throws if there is none. */
export async function launchBrowser() {
  const installed = process.env.CHROME_PATH;
  if (installed) return chromium.launch({ executablePath: installed, args, chromiumSandbox: false });
  if (platform() !== 'linux' || arch() !== 'x64')
    throw new Error(`npm has no Chromium for ${platform()} ${arch()}; set CHROME_PATH to an installed Chrome`);
  const folder = await unpackedChromium();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    // The package's own configuration expects the fonts in /tmp.
    FONTCONFIG_FILE: join(root, 'test', 'support', 'fonts.conf'),
    XDG_DATA_HOME: join(folder, 'fonts'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
  return chromium.launch({ executablePath: join(folder, 'chromium'), args, env, chromiumSandbox: false });
}

/** The folder with Chromium and its libraries, unpacked once per installation of the dependencies. */
async function unpackedChromium() {
  const cache = join(root, 'node_modules', '.cache');
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'chromium-unpacking-'));
  try {
    // The package unpacks into the temporary directory, and unpacks its libraries only on AWS Lambda.
    const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
    const script = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, env });
    // Atomic: another worker sees the complete folder or none.
    await rename(own, folder);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    // Another worker was first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
