import { tableNames } from '../../../src/dynamo/tables.js';
import { sleep } from '../../../src/lib/timers.js';
import { adminKey, startTestApp } from '../../support/app.js';
import { Chance } from '../../support/chance.js';
import { killAll } from '../processes.js';
import { type Facts, violations } from './checks.js';
import { Disturbed, processes, skewMs } from './disturbed.js';
import { type Entry, History, type Violation } from './history.js';
import { measureLag } from './lag.js';
import { factsOf, Load, newCanary, newTenants } from './load.js';

const calmMs = 8000;
const settleMs = 120_000;
// Gateways trust their revocation cache for five seconds while DynamoDB does not respond.
const revocationGraceMs = 6000;

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
  // The processes use the real time, so the orgs get a time zone in which the day does not end during the run.
  const timezone = new Date().getUTCHours() >= 22 ? 'Etc/GMT+6' : 'UTC';
  const app = await startTestApp();
  const lag = measureLag();
  const disturbed = await Disturbed.start({ app, chance, print, only });
  const { gateways, drains, actions, output } = disturbed;
  try {
    const history = new History();
    const canaries = { red: newCanary(), blue: newCanary() };
    const tenants = await newTenants(app, { history, gateways, canaries }, adminKey, timezone);
    const load = new Load(tenants, processes, chance.fork());
    load.start();
    await disturbed.disturb(Date.now() + minutes * 60_000 - calmMs, minutes >= 5);
    await disturbed.restartGateways();
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
    await disturbed.stop();
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

export function tallied(entries: readonly Entry[]): Record<string, number> {
  const tally: Record<string, number> = {};
  for (const { act, outcome, code } of entries) {
    const name = `${act.kind} ${outcome}${code ? ` (${code})` : ''}`;
    tally[name] = (tally[name] ?? 0) + 1;
  }
  return tally;
}
