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
import { JsonClient } from './load.mjs';

const tablePrefix = 'bench_';
const adminKey = 'admin-key-of-the-benchmarks-0123456789';
const readyMs = 20_000;
const stopMs = 12_000;

/** Starts both; a `profile` of the gateway's CPU is written to that folder. */
export async function openStage({ inFlight, profile }) {
  const engine = await startEngine({ only: 'dynoxide' });
  let gateway;
  try {
    const store = { endpoint: engine.endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
    const admin = adminClient(store);
    await createTables({ client: admin, prefix: tablePrefix, protect: false });
    admin.destroy();
    const port = await freePort();
    gateway = startGateway({ port, endpoint: engine.endpoint, signingKeys: await newSigningKeys(), profile });
    const origin = `http://127.0.0.1:${port}`;
    await ready(gateway, origin);
    const client = new JsonClient(`${origin}/graphql`, inFlight);
    const pids = { gateway: gateway.child.pid, engine: enginePid() };
    return {
      store,
      url: `${origin}/graphql`,
      tableName: (name) => tablePrefix + name,
      client,
      asAdmin: { 'x-admin-key': adminKey },
      /** CPU seconds so far of all who take part. */
      cpu: () => ({ gateway: cpuSeconds(pids.gateway), engine: cpuSeconds(pids.engine), load: ownCpuSeconds() }),
      /** Write units of the store that the gateway has consumed so far. */
      writeUnits: async () => Number(/^tollgate_store_units_total\{kind="write"\} (\S+)/m.exec(await (await fetch(`${origin}/metrics`)).text())?.[1] ?? 0),
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

function startGateway({ port, endpoint, signingKeys, profile }) {
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  const child = spawn(process.execPath, [...profiling, fileURLToPath(new URL('../dist/main.js', import.meta.url)), 'gateway'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DYNAMODB_ENDPOINT: endpoint,
      AWS_REGION: 'us-east-1',
      TABLE_PREFIX: tablePrefix,
      TOLLGATE_ADMIN_KEY: adminKey,
      API_KEY_PEPPER: 'a pepper of the benchmarks, 32 bytes and more',
      TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: signingKeys }),
      BCRYPT_COST: '4',
      PRINCIPAL_RPS: '0',
      PRINCIPAL_CONCURRENCY: '0',
      LOG_LEVEL: 'error',
      ...(process.env.STORE_CLIENT ? { STORE_CLIENT: process.env.STORE_CLIENT } : {}),
    },
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

async function ready({ child }, origin) {
  for (const untilMs = Date.now() + readyMs; Date.now() < untilMs; await sleep(50)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the gateway did not start');
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`the gateway was not ready within ${readyMs} ms`);
}

function freePort() {
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

const ticksASecond = 100;

function cpuSeconds(pid) {
  const fields = statOf(pid)?.fields;
  return fields ? (Number(fields[11]) + Number(fields[12])) / ticksASecond : Number.NaN;
}

function ownCpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The engine runs below a shell that guards it, so it is a grandchild of ours. */
function enginePid() {
  let pids = [];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    // No /proc on this system: its CPU stays unknown.
  }
  return pids.find((pid) => {
    const stat = statOf(pid);
    return stat?.name.startsWith('dynoxide') && statOf(stat.fields[1])?.fields[1] === String(process.pid);
  });
}
