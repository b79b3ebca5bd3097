import type { ChildProcess } from 'node:child_process';
import { tableNames } from '../../../src/dynamo/tables.js';
import { sleep } from '../../../src/lib/timers.js';
import { adminKey, startTestApp, testEndpoint } from '../../support/app.js';
import { Chance } from '../../support/chance.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.js';
import { ended, killAll, startGatewayProcess, startWorkerProcess } from '../processes.js';
import { type Facts, type Violation, violations } from './checks.js';
import { type Entry, History } from './history.js';
import { measureLag } from './lag.js';
import { factsOf, Load, newCanary, newTenants } from './load.js';

const processes = 2;
const calmMs = 8000;
const settleMs = 120_000;
const skewMs = 5000;
// Gateways trust their revocation cache for five seconds while DynamoDB does not respond.
const revocationGraceMs = 6000;

const faults: readonly Fault[] = [
  'throttle',
  'error-before',
  'error-after',
  'drop-reply',
  'no-reply',
  'no-reply-after',
  'slow',
  'conflict',
  'contend',
  'partial-batch',
  'refuse',
];

export interface TortureOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly print: (line: string) => void;
  /** The name of the only disturbance to use. Default: all. */
  readonly only?: string | undefined;
}

export interface TortureReport {
  readonly violations: readonly Violation[];
  readonly leaks: readonly string[];
  /** Number of calls by kind and outcome. */
  readonly tally: Readonly<Record<string, number>>;
  /** Number of disturbances by name. */
  readonly actions: Readonly<Record<string, number>>;
}

/**
 * Runs two gateways and two workers under a mixed load, disturbs them in every way that can happen, and checks the
 * history.
 */
export async function torture({ minutes, seed, print, only }: TortureOptions): Promise<TortureReport> {
  const chance = new Chance(seed);
  const isLong = minutes >= 5;
  // The processes use the real time, so the orgs get a time zone in which the day does not end during the run.
  const timezone = new Date().getUTCHours() >= 22 ? 'Etc/GMT+6' : 'UTC';
  const app = await startTestApp();
  let proxy: FaultProxy = await startFaultProxy(testEndpoint(), 0, { recordsCalls: false });
  const { endpoint, port } = proxy;
  const output: string[] = [];
  const lag = measureLag();
  const onOutput = (text: string) => void output.push(text);

  const gateways = await Promise.all(Array.from({ length: processes }, () => newGateway(0)));
  const workers = await Promise.all(Array.from({ length: processes }, () => newWorker(0)));
  const history = new History();
  const canaries = { red: newCanary(), blue: newCanary() };
  const tenants = await newTenants(app, { history, gateways, canaries }, adminKey, timezone);
  const load = new Load(tenants, processes, chance.fork());
  const drains: Facts['drains'][number][] = [];
  const actions: Record<string, number> = {};

  async function newGateway(skew: number) {
    const { child, origin } = await startGatewayProcess(app.config, endpoint, { skewMs: skew, onOutput });
    return { child, url: `${origin}/graphql` };
  }
  function newWorker(skew: number): Promise<ChildProcess> {
    return startWorkerProcess(app.config, endpoint, { skewMs: skew, onOutput });
  }
  async function endGateway(i: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = gateways[i] as { child: ChildProcess };
    child.kill(signal);
    await ended(child);
  }
  async function endWorker(i: number): Promise<void> {
    const child = workers[i] as ChildProcess;
    child.kill('SIGKILL');
    await ended(child);
  }

  const disturbances: Readonly<Record<string, () => Promise<void>>> = {
    ...Object.fromEntries(
      faults.map((fault) => [
        fault,
        async () => {
          const rule = proxy.inject({ fault, nth: { first: chance.between(5, 40) }, ms: chance.between(100, 1500) });
          await sleep(chance.between(500, 1500));
          rule.remove();
        },
      ]),
    ),
    'gateway killed': async () => {
      const i = chance.below(processes);
      await endGateway(i, 'SIGKILL');
      await sleep(chance.between(200, 1500));
      gateways[i] = await newGateway(0);
    },
    'gateway stopped': async () => {
      const i = chance.below(processes);
      const fromMs = Date.now();
      await endGateway(i, 'SIGTERM');
      drains.push({ via: i, fromMs, toMs: Date.now() });
      gateways[i] = await newGateway(0);
    },
    'gateway with a wrong clock': async () => {
      const i = chance.below(processes);
      await endGateway(i, 'SIGKILL');
      gateways[i] = await newGateway(chance.one([-skewMs, skewMs]));
    },
    'worker killed': async () => {
      const i = chance.below(processes);
      await endWorker(i);
      await sleep(chance.between(200, 1500));
      workers[i] = await newWorker(0);
    },
    'worker with a wrong clock': async () => {
      const i = chance.below(processes);
      await endWorker(i);
      workers[i] = await newWorker(chance.one([-skewMs, skewMs]));
    },
    'store stopped': async () => {
      await proxy.stop();
      await sleep(isLong ? 30_000 : 4000);
      proxy = await startFaultProxy(testEndpoint(), port, { recordsCalls: false });
    },
  };

  /** Runs concurrently with the disturbances. The pause is longer than any claim of a worker. */
  async function pauseWorker(): Promise<void> {
    const paused = workers[0] as ChildProcess;
    paused.kill('SIGSTOP');
    await sleep(isLong ? 90_000 : 8000);
    paused.kill('SIGCONT');
  }

  try {
    load.start();
    const untilMs = Date.now() + minutes * 60_000 - calmMs;
    let plan: string[] = [];
    let pausing = Promise.resolve();
    for (let round = 0; Date.now() < untilMs; ) {
      if (plan.length === 0) {
        plan = chance.shuffled(Object.keys(disturbances).filter((name) => only === undefined || name === only));
        if (plan.length === 0)
          throw new Error(`unknown disturbance ${only}; known: ${Object.keys(disturbances).join(', ')}`);
        if (round++ % 3 === 0 && only === undefined) pausing = pauseWorker();
      }
      const name = plan.pop() as string;
      if (name === 'store stopped' && Date.now() + (isLong ? 30_000 : 4000) > untilMs) continue;
      actions[name] = (actions[name] ?? 0) + 1;
      print(`${Math.round((untilMs - Date.now()) / 1000)} s left: ${name}`);
      await disturbances[name]?.();
    }
    await pausing;
    // Restart the gateways, so that all clocks are right again.
    for (let i = 0; i < processes; i++) {
      await endGateway(i, 'SIGKILL');
      gateways[i] = await newGateway(0);
    }
    await sleep(3000);
    const fromMs = Date.now();
    await sleep(calmMs);
    const calm = [{ fromMs, toMs: Date.now() }];
    const settledMs = await load.settle(settleMs);
    const served = new Set(Array.from(output.join('').matchAll(/"requestId":"([^"]+)"/g), ([, id]) => id as string));
    const facts: Facts = {
      ...factsOf(tenants),
      skewMs: 2 * skewMs,
      calm,
      drains,
      served,
      settledMs,
      revocationGraceMs,
      lagMs: lag.ms,
    };
    const written = [...output, ...(await dump(app.gateway.services.store))].join('\n');
    return {
      violations: violations(history.entries, facts),
      leaks: [...load.secrets, adminKey]
        .filter((secret) => written.includes(secret))
        .map((secret) => `${secret.slice(0, 8)}…`),
      tally: tallied(history.entries),
      actions,
    };
  } finally {
    lag.stop();
    killAll();
    await app.stop();
    app.tableAdmin.client.destroy();
    await proxy.stop();
  }
}

/** All stored items as text. */
async function dump(
  store: Awaited<ReturnType<typeof startTestApp>>['gateway']['services']['store'],
): Promise<string[]> {
  const items: string[] = [];
  for (const table of tableNames) {
    for (let page = await store.scan(table); ; page = await store.scan(table, page.next)) {
      items.push(
        ...page.items.map((item) =>
          JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
        ),
      );
      if (!page.next) break;
    }
  }
  return items;
}

function tallied(entries: readonly Entry[]): Record<string, number> {
  const tally: Record<string, number> = {};
  for (const { act, outcome, code } of entries) {
    const name = `${act.kind} ${outcome}${code ? ` (${code})` : ''}`;
    tally[name] = (tally[name] ?? 0) + 1;
  }
  return tally;
}
