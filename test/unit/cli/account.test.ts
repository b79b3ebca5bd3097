import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { addContext, contextRows, useContext } from '../../../src/cli/account.js';
import { configPath, readCliConfig, updateContext } from '../../../src/cli/api/config-file.js';
import { askSecret, confirmed } from '../../../src/cli/api/prompt.js';
import { cliSession } from '../../../src/cli/api/session.js';

const home = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const environment = { XDG_CONFIG_HOME: home, TOLLGATE_DATA_DIR: join(home, 'none') };
const path = configPath(environment);
const secrets = { clientId: 'org-1', clientSecret: 'tgs_very-secret' };

describe('the config file', () => {
  it('is created for its owner only, and never half written', () => {
    addContext('prod', { url: 'https://prod.example.com/graphql' }, environment);
    updateContext(path, 'prod', (before) => before && { ...before, ...secrets });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(['config.json']);
    expect(readCliConfig(path)).toEqual({
      current: 'prod',
      contexts: { prod: { url: 'https://prod.example.com', ...secrets } },
    });
  });

  it('is refused if others may read it', () => {
    chmodSync(path, 0o644);
    expect(() => readCliConfig(path)).toThrow(`chmod 600 ${path}`);
    chmodSync(path, 0o600);
  });

  it('is refused if it is something else, and says what to do', () => {
    const other = join(home, 'other.json');
    writeFileSync(other, '{"contexts":{"a":{"url":5}}}', { mode: 0o600 });
    expect(() => readCliConfig(other)).toThrow('correct or delete it');
    writeFileSync(other, 'no json', { mode: 0o600 });
    expect(() => readCliConfig(other)).toThrow('correct or delete it');
  });

  it('lists contexts without their secrets', () => {
    const rows = contextRows(environment);
    expect(rows).toEqual([expect.objectContaining({ current: '*', name: 'prod', credentials: 'org-1' })]);
    expect(JSON.stringify(rows)).not.toContain(secrets.clientSecret);
  });

  it('drops the credentials of a context that gets another URL', () => {
    addContext('moved', { url: 'https://a.example.com' }, environment);
    updateContext(path, 'moved', (before) => before && { ...before, ...secrets });
    addContext('moved', { url: 'https://a.example.com/', org: 'o' }, environment);
    expect(readCliConfig(path).contexts.moved).toMatchObject({ org: 'o', ...secrets });
    addContext('moved', { url: 'https://b.example.com' }, environment);
    expect(readFileSync(path, 'utf8').split('tgs_').length).toBe(2);
    expect(() => useContext('nowhere', environment)).toThrow('tollgate context list');
    expect(() => addContext('a b', { url: 'https://a.example.com' }, environment)).toThrow('name of a context');
  });
});

describe('the session', () => {
  it('uses the context, and the environment wins', async () => {
    expect(await cliSession(environment, {})).toMatchObject({ url: 'https://prod.example.com', ...secrets });
    expect(await cliSession({ ...environment, TOLLGATE_ADMIN_KEY: 'k'.repeat(32) }, { org: 'o' })).toEqual({
      url: 'https://prod.example.com',
      path,
      orgId: 'o',
      adminKey: 'k'.repeat(32),
    });
    const own = { TOLLGATE_CLIENT_ID: 'other', TOLLGATE_CLIENT_SECRET: 'tgs_other' };
    expect(await cliSession({ ...environment, ...own }, {})).toMatchObject({
      clientId: 'other',
      clientSecret: 'tgs_other',
    });
  });

  it('never sends the secret of a context to another gateway', async () => {
    const session = await cliSession({ ...environment, TOLLGATE_URL: 'https://evil.example.com' }, {});
    expect(session).toEqual({ url: 'https://evil.example.com', path });
    await expect(cliSession(environment, { context: 'nowhere' })).rejects.toThrow('there is no context "nowhere"');
    await expect(cliSession({ ...environment, TOLLGATE_URL: 'prod' }, {})).rejects.toThrow('is not a URL');
  });
});

describe('a prompt', () => {
  it('reads a secret from a terminal without echo', async () => {
    const modes: boolean[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
    const output = new PassThrough();
    const asked = askSecret('Secret: ', { input, output });
    for (const typed of ['tgs', 'x\u007f', '_1\r']) input.write(typed);
    expect(await asked).toBe('tgs_1');
    expect(modes).toEqual([true, false]);
    expect(String(output.read())).toBe('Secret: \n');
  });

  it('ends with Ctrl+C and gives the terminal back', async () => {
    const modes: boolean[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
    const asked = askSecret('Secret: ', { input, output: new PassThrough() });
    input.write('ab\u0003');
    await expect(asked).rejects.toThrow('stopped');
    expect(modes).toEqual([true, false]);
  });

  it('reads a secret from a pipe', async () => {
    const input = new PassThrough();
    input.end('tgs_piped\n');
    expect(await askSecret('Secret: ', { input, output: new PassThrough() })).toBe('tgs_piped');
  });

  it('needs --yes where nobody can be asked', async () => {
    const terminal = { input: new PassThrough(), output: new PassThrough() };
    expect(await confirmed('Delete it?', true, terminal)).toBe(true);
    await expect(confirmed('Delete it?', false, terminal)).rejects.toThrow('--yes');
  });
});
