import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../../src/cli/program.js';

const home = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command line without a gateway. */
async function run(...args: string[]): Promise<string> {
  let printed = '';
  const program = buildProgram({
    environment: { XDG_CONFIG_HOME: home, TOLLGATE_ADMIN_KEY: 'k'.repeat(32), TOLLGATE_URL: 'http://127.0.0.1:9' },
    print: (text) => {
      printed += text;
    },
    exitWith: () => {},
  });
  await program.parseAsync(args, { from: 'user' });
  return printed;
}

describe('a wrong command line', () => {
  it.each([
    ['limit set -l rpm=1', 'name the level by --system'],
    ['limit set --system --resource r -l rpm=1', 'name the level by --system'],
    ['limit set --system -l rpm', 'name=capacity'],
    ['limit set --system', "required option '-l, --limit"],
    ['budget set b --period year --amount 1', 'day, week, month'],
    ['budget set b --period day --amount lots', 'amount in dollars'],
    ['org list --max none', 'whole number'],
    ['org list --max 0', '1 or larger'],
    ['org list -o xml', 'table, json'],
    ['org lst', "unknown command 'lst'"],
    ['completion csh', 'bash, zsh, fish'],
    ['app delete chat', '--yes'],
    ['plan -f /nowhere/tollgate.yaml', 'tollgate export -f'],
    ['org list --context nowhere', 'tollgate context list'],
    ['context add x --url nowhere', 'is not a URL'],
  ])('%s', async (line, message) => {
    await expect(run(...line.split(' '))).rejects.toThrow(message);
  });
});

it('prints a completion script and the list of contexts without a gateway', async () => {
  expect(await run('completion', 'bash')).toContain('complete -o default -F _tollgate tollgate');
  expect(await run('context', 'add', 'prod', '--url', 'https://prod.example.com')).toContain('login --context prod');
  expect(await run('context', 'list', '-o', 'name')).toBe('prod\n');
  expect(await run('context', 'use', 'prod', '--quiet')).toBe('');
});
