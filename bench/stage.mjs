// What every part is measured on: an engine in memory and a gateway, each in a process of its own, on loopback.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTables } from '../dist/dynamo/table-admin.js';
import { adminClient } from '../dist/dynamo/transport.js';
import { startEngine } from '../dist/embedded/engine.js';
import { newSigningKeys } from '../dist/identity/token.js';
import { Client } from './load.mjs';

const tablePrefix = 'bench_';
const adminKey = 'admin-key-of-the-benchmarks-0123456789';
const readyMs = 20_000;
const stopMs = 12_000;
/** So much that nothing is ever refused by it; the bound is there, and is reckoned. */
const unbounded = '100000000';

/** Starts both. `profile`: the folder for a profile of the gateway's CPU; `args` and `env` are the gateway's, `isMute` if nobody reads its log. */
export async function openStage({ profile, args = [], env = {}, isMute = false } = {}) {
  const others = new Set(enginePids());
  const engine = await startEngine({ only: 'dynoxide' });
  const [enginePid] = enginePids().filter((pid) => !others.has(pid));
  let gateway;
  try {
    const store = {
      endpoint: engine.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    };
    const admin = adminClient(store);
    await createTables({ client: admin, prefix: tablePrefix, protect: false });
    admin.destroy();
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
    const environment = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DYNAMODB_ENDPOINT: engine.endpoint,
      AWS_REGION: 'us-east-1',
      TABLE_PREFIX: tablePrefix,
      TOLLGATE_ADMIN_KEY: adminKey,
      API_KEY_PEPPER: 'a pepper of the benchmarks, 32 bytes and more',
      TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
      BCRYPT_COST: '4',
      PRINCIPAL_RPS: unbounded,
      PRINCIPAL_CONCURRENCY: unbounded,
      LOG_LEVEL: 'error',
      ...(process.env.STORE_CLIENT ? { STORE_CLIENT: process.env.STORE_CLIENT } : {}),
      ...env,
    };
    gateway = startProcess(
      [...profiling, pathOf('../dist/main.js'), 'gateway', ...args],
      environment,
      isMute ? 'ignore' : 'inherit',
    );
    await ready(gateway, `${origin}/readyz`);
    const client = new Client(`${origin}/graphql`);
    return {
      store,
      url: `${origin}/graphql`,
      pid: gateway.child.pid,
      tableName: (name) => tablePrefix + name,
      client,
      asAdmin: { 'x-admin-key': adminKey },
      /** All that was used so far: CPU of each who takes part, calls and units of the store by the gateway. */
      async used() {
        const cpu = { gatewayMs: cpuMs(gateway.child.pid), engineMs: cpuMs(enginePid), loadMs: ownCpuMs() };
        return { ...cpu, ...countedOn(await (await fetch(`${origin}/metrics`)).text()) };
      },
      async close() {
        client.close();
        await gateway.stop();
        await engine.stop();
      },
    };
  } catch (error) {
    await gateway?.stop();
    await engine.stop();
    throw error;
  }
}

function countedOn(page) {
  const sum = (pattern) => [...page.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    calls: sum(/^tollgate_store_calls_total\{[^}]*\} (\S+)/gm),
    read: sum(/^tollgate_store_units_total\{kind="read"\} (\S+)/gm),
    write: sum(/^tollgate_store_units_total\{kind="write"\} (\S+)/gm),
  };
}

/** What was used between the two. */
export const difference = (after, before) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** A Node process that dies with this one. */
export function startProcess(args, env, output = 'inherit') {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output, 'inherit'],
    env: { PATH: process.env.PATH, ...env },
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const orphaned = () => child.kill('SIGKILL');
  process.once('exit', orphaned);
  return {
    child,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await exited;
      clearTimeout(late);
      process.off('exit', orphaned);
    },
  };
}

/** When the process serves. */
export async function ready({ child }, url, options) {
  for (const untilMs = Date.now() + readyMs; Date.now() < untilMs; await sleep(50)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`what should serve ${url} did not start`);
    const answer = await fetch(url, options).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`${url} was not ready within ${readyMs} ms`);
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** The state of a process from /proc, after its name; undefined where there is no such thing. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const nameEnd = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, nameEnd), fields: stat.slice(nameEnd + 2).split(' ') };
  } catch {
    return undefined;
  }
}

/** All processes; none where there is no /proc, and their CPU stays unknown. */
function pids() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

const tickMs = 10;
const parentOf = (pid) => statOf(pid)?.fields[1];

/** CPU so far of a process and of those it has started. */
export function cpuMs(pid) {
  const own = statOf(pid)?.fields;
  if (!own) return Number.NaN;
  const children = pids().filter((child) => parentOf(child) === String(pid));
  return (Number(own[11]) + Number(own[12])) * tickMs + children.reduce((sum, child) => sum + cpuMs(child), 0);
}

export function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Engines of ours: each runs below a shell that guards it, so it is a grandchild. */
const enginePids = () =>
  pids().filter((pid) => statOf(pid)?.name.startsWith('dynoxide') && parentOf(parentOf(pid)) === String(process.pid));
