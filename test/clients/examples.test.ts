import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { adminKey, startTestApp, type TestApp } from '../support/app.js';
import { until } from '../support/until.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

let gateway: TestApp;
const children: ChildProcess[] = [];
beforeAll(async () => {
  gateway = await startTestApp();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await gateway.stop();
});

/** Starts an example as its README says, and waits until it has printed this. */
async function start(example: string, printed: RegExp, ...args: readonly string[]) {
  const env = { PATH: process.env.PATH, PORT: '0', TOLLGATE_URL: gateway.url, TOLLGATE_ADMIN_KEY: adminKey };
  const child = spawn('node', [`examples/${example}`, ...args], { cwd: root, env });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const find = () => printed.exec(output);
  await until(`${example} prints ${printed}`, () => {
    if (child.exitCode !== null && !find()) throw new Error(`${example} ended with ${child.exitCode}: ${output}`);
    return find() !== null;
  });
  const ended = async () => {
    await until(`${example} ends`, () => child.exitCode !== null);
    return child.exitCode;
  };
  return { child, url: /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? '', output: () => output, ended };
}

describe('the examples', () => {
  it('chat: answers by the premium model, then by the economy model, then refuses', async () => {
    const { child, url, ended } = await start('chat/server.mjs', /curl .*\n/);
    const replies: string[] = [];
    for (let status = 200; status === 200 && replies.length < 50; ) {
      const response = await fetch(url, { method: 'POST', body: 'Hello '.repeat(20) });
      status = response.status;
      replies.push(`${status} ${await response.text()}`);
    }
    const kinds = replies.map((reply) => /sonnet|3-haiku|budget of today/.exec(reply)?.[0] ?? reply);
    expect([...new Set(kinds)]).toEqual(['sonnet', '3-haiku', 'budget of today']);
    expect(replies[0]).toMatch(/^200 This is anthropic\.claude-3-5-sonnet.* You said: Hello/);
    expect(replies.at(-1)).toMatch(/^429 /);
    child.kill('SIGTERM');
    expect(await ended()).toBe(0);
  });

  it('express: limits each user, with headers', async () => {
    const { child, url, ended } = await start('express/server.mjs', /curl .*\n/);
    const ask = async (user: string) => {
      const response = await fetch(`${url}/reports`, { headers: { 'x-user': user } });
      await response.text();
      return response;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 20 && statuses.at(-1) !== 429; i++) statuses.push((await ask('ana')).status);
    expect(statuses.at(-1)).toBe(429);
    const other = await ask('ben');
    expect([other.status, other.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"rpm";r=4')]);
    child.kill('SIGTERM');
    expect(await ended()).toBe(0);
  });

  it('device: stores every reading once, also those of times without a network', async () => {
    const args = ['--readings', '10', '--interval-ms', '1'];
    const { output, ended } = await start('device/device.mjs', /confirmation id/, ...args);
    expect(await ended()).toBe(0);
    const stored = [...output().matchAll(/stored (\d+)/g)].map(([, count]) => Number(count));
    expect(stored.reduce((sum, count) => sum + count, 0)).toBe(10);
    expect(output()).toMatch(/no network, buffered 1\n/);
    expect(output().trim()).toMatch(/buffered 0$/);
  });
});
