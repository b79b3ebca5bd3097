// The stage of every benchmark: an in-memory engine and a gateway, each in its own process, on loopback.
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
/** The gateway makes its page of metrics anew after a second. */
const metricsMs = 1100;
/** So large that no request is rejected. The limit is still computed. */
const unbounded = '100000000';

/**
 * Starts both. `profile`: the folder for CPU profiles of the gateway. `args`, `env`: of the gateway. `isMute`: discard
 * its log. `core`: the core that the gateway is pinned to. `storeBehind`: the endpoint that the gateway uses instead of
 * the engine's.
 */
export async function openStage({
  profile,
  args = [],
  env = {},
  isMute = false,
  core,
  storeBehind = async (endpoint) => endpoint,
} = {}) {
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
      DYNAMODB_ENDPOINT: await storeBehind(engine.endpoint),
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
    gateway = startProcess([...profiling, pathOf('../dist/main.js'), 'gateway', ...args], environment, {
      output: isMute ? 'ignore' : 'inherit',
      core,
    });
    await ready(gateway, `${origin}/readyz`);
    const client = new Client(`${origin}/graphql`);
    return {
      store,
      url: `${origin}/graphql`,
      pid: gateway.child.pid,
      tableName: (name) => tablePrefix + name,
      client,
      asAdmin: { 'x-admin-key': adminKey },
      /** The CPU of gateway, engine and load so far. */
      cpu: () => ({ gatewayMs: cpuMs(gateway.child.pid), engineMs: cpuMs(enginePid), loadMs: ownCpuMs() }),
      /** The DynamoDB calls and units of the gateway so far. */
      async counts() {
        await sleep(metricsMs);
        return countedOn(await (await fetch(`${origin}/metrics`)).text());
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

/** The difference between two results of `cpu` or of `counts`. */
export const difference = (after, before) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Starts a Node process that is killed when this one exits. `core`: the core that it is pinned to. */
export function startProcess(args, env, { output = 'inherit', core } = {}) {
  const command = [...(core === undefined ? [] : ['taskset', '-c', String(core)]), process.execPath, ...args];
  const child = spawn(command[0], command.slice(1), {
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

/** Resolves when the process serves requests. `isServing`: whether a response shows that. */
export async function ready({ child }, url, options, isServing = ({ ok }) => ok) {
  for (const untilMs = Date.now() + readyMs; Date.now() < untilMs; await sleep(50)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the process for ${url} exited`);
    const response = await fetch(url, options).catch(() => undefined);
    if (response && isServing(response)) return;
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

/** The name and state of a process from /proc; undefined if there is none. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const nameEnd = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, nameEnd), fields: stat.slice(nameEnd + 2).split(' ') };
  } catch {
    return undefined;
  }
}

/** The ids of all processes. Empty if there is no /proc: then the CPU is unknown. */
function pids() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

const tickMs = 10;
const parentOf = (pid) => statOf(pid)?.fields[1];

/** The CPU time of a process and of its children so far. */
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

/** The engines of this process. Each runs under a shell that ends it, so it is a grandchild. */
const enginePids = () =>
  pids().filter((pid) => statOf(pid)?.name.startsWith('dynoxide') && parentOf(parentOf(pid)) === String(process.pid));
