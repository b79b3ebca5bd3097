import { sleep } from '../../src/lib/timers.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import * as op from '../support/operations.js';
import { untilWell } from './harness.js';
import { ended, killAll, startGatewayProcess } from './processes.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => {
  killAll();
  await app.stop();
  app.tableAdmin.client.destroy();
});

it('runs several processes on one port, restarts one that is killed, and stops them together', async () => {
  const lines: string[] = [];
  const gateway = await startGatewayProcess(app.config, testEndpoint(), {
    args: ['--processes', '2'],
    onOutput: (text) => lines.push(...text.split('\n')),
  });
  const serving = () =>
    lines
      .filter((line) => line.includes('gateway is serving'))
      .map((line) => JSON.parse(line) as { readonly pid: number; readonly url: string });
  await untilWell(15_000, async () => expect(serving()).toHaveLength(2));
  expect(new Set(serving().map(({ url }) => url)).size).toBe(1);
  expect(new Set(serving().map(({ pid }) => pid)).size).toBe(2);

  const served = async () => {
    const page = await (await fetch(`${gateway.origin}/metrics`)).text();
    return Number(/tollgate_requests_total\{operation="me",outcome="ok"\} (\d+)/.exec(page)?.[1] ?? 0);
  };
  // Each request on its own connection, so that both processes get some of them.
  for (let i = 0; i < 20; i++) await gateway.admin.send(op.MeDocument, {}, { connection: 'close' });
  expect([await served(), await served(), await served()]).toEqual([20, 20, 20]);

  process.kill(serving()[0]?.pid as number, 'SIGKILL');
  await untilWell(15_000, async () => expect(serving()).toHaveLength(3));
  for (let i = 0; i < 10; i++)
    expect((await gateway.admin.send(op.MeDocument, {}, { connection: 'close' })).errors).toBeUndefined();

  gateway.child.kill('SIGTERM');
  expect(await ended(gateway.child)).toBe(0);
  await sleep(100);
  await expect(gateway.admin.send(op.MeDocument)).rejects.toThrow('fetch failed');
});

it('prints the reason and exits if the gateway cannot start, with one process or several', async () => {
  for (const args of [
    ['--processes', '0'],
    ['--processes', 'many'],
    ['--processes', '65'],
  ])
    await expect(startGatewayProcess(app.config, testEndpoint(), { args })).rejects.toThrow(
      '--processes must be a whole number from 1 to 64',
    );
  const taken = Number(new URL(app.url).port);
  await expect(
    startGatewayProcess({ ...app.config, port: taken }, testEndpoint(), { args: ['--processes', '2'] }),
  ).rejects.toThrow(/ended with 1: [\s\S]*is in use/);
});
