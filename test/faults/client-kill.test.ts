// The client library under `kill -9` of the client and of the gateway, with faults of the database in between.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../src/lib/timers.js';
import { newApp, newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { ended, type GatewayProcess, killAll, startGatewayProcess } from './processes.js';

/** `npm run torture -- client` sets another number. */
const isLong = process.env.CLIENT_SEEDS !== undefined;
const seeds = Array.from({ length: Number(process.env.CLIENT_SEEDS ?? 2) }, (_, i) => testSeed + i);
const rounds = isLong ? 5 : 2;
const callsPerRound = 24;
const estimate = { inputTokens: 1000, maxOutputTokens: 500 };
const faults: readonly Fault[] = [
  'throttle',
  'error-before',
  'error-after',
  'drop-reply',
  'no-reply-after',
  'conflict',
];
const script = fileURLToPath(new URL('client-process.mjs', import.meta.url));
// These processes use the real time, so the org is in a time zone where the day does not end within an hour.
const timezone = new Date().getUTCHours() === 23 ? 'Etc/GMT+6' : 'UTC';

let proxy: FaultProxy;
let app: TestApp;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint(), 0, { recordsCalls: false });
  app = await startTestApp();
});
afterEach(() => {
  proxy.clear();
  killAll();
  for (const child of children) child.kill('SIGKILL');
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

type Outcome = 'ok' | 'fail' | 'abort';
interface PlannedCall {
  readonly requestId: string;
  readonly estimate: typeof estimate;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly outcome: Outcome;
  readonly ms: number;
}

const planOf = (chance: Chance, count: number): PlannedCall[] =>
  Array.from({ length: count }, () => ({
    requestId: randomUUID(),
    estimate,
    usage: { inputTokens: 900, outputTokens: 1 + chance.below(400) },
    outcome: chance.one<Outcome>(['ok', 'ok', 'ok', 'fail', 'abort']),
    ms: chance.below(30),
  }));

/** A client whose processes come and go, with one outbox. */
class Subject {
  readonly directory = mkdtempSync(join(tmpdir(), 'client-'));
  readonly calls = new Map<string, PlannedCall>();
  private readonly log = join(this.directory, 'log.jsonl');

  constructor(
    private readonly url: string,
    private readonly credentials: { readonly clientId: string; readonly clientSecret: string },
  ) {}

  start(plan: readonly PlannedCall[]): ChildProcess {
    for (const call of plan) this.calls.set(call.requestId, call);
    const { url, credentials, log } = this;
    const directory = join(this.directory, 'outbox');
    const CLIENT_PLAN = JSON.stringify({ url, credentials, directory, log, plan });
    const child = spawn('node', [script], { env: { PATH: process.env.PATH ?? '', CLIENT_PLAN }, stdio: 'inherit' });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  }

  lines(): readonly { readonly made?: string; readonly dead?: string; readonly ended?: true }[] {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as object);
  }

  made(): readonly string[] {
    return this.lines().flatMap(({ made }) => made ?? []);
  }
}

/** A port that is free now, so that a gateway can be started again where clients look for it. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });

const costsQuery = `query($orgId: UUID!, $from: LocalDate!, $to: LocalDate!, $after: String) {
  org(orgId: $orgId) { costs(first: 100, after: $after, from: $from, to: $to) {
    nodes { requestId inputTokens outputTokens costUsdMicros status }
    pageInfo { hasNextPage endCursor }
  } }
}`;
interface Recorded {
  readonly requestId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsdMicros: number;
  readonly status: string;
}
interface CostsPage {
  readonly org: {
    readonly costs: {
      readonly nodes: readonly Recorded[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
    };
  };
}

async function recordedCosts(orgId: string): Promise<readonly Recorded[]> {
  const day = 86_400_000;
  const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const range = { orgId, from: dateAt(Date.now() - day), to: dateAt(Date.now() + day) };
  const all: Recorded[] = [];
  for (let after: string | null = null; ; ) {
    const { org }: CostsPage = await app.admin.ask<CostsPage, object>(costsQuery, { ...range, after });
    all.push(...org.costs.nodes);
    if (!org.costs.pageInfo.hasNextPage) return all;
    after = org.costs.pageInfo.endCursor;
  }
}

/** Waits until so many more calls were made, or the process has ended by itself. */
async function untilMade(subject: Subject, child: ChildProcess, count: number): Promise<void> {
  const target = subject.made().length + count;
  const untilMs = performance.now() + patience * 30_000;
  while (subject.made().length < target && child.exitCode === null) {
    if (performance.now() > untilMs) throw new Error(`only ${subject.made().length} of ${target} calls were made`);
    await sleep(5);
  }
}

/** A recorded cost is the usage of its call, an estimate if the call did not tell it, or 0 if it was not made. */
function isPlausible(
  { inputTokens, outputTokens }: Recorded,
  { usage, outcome }: PlannedCall,
  isMade: boolean,
): boolean {
  if (!isMade && inputTokens + outputTokens === 0) return true;
  const known = outcome === 'fail' ? { inputTokens: estimate.inputTokens, outputTokens: 0 } : usage;
  const whole = { inputTokens: estimate.inputTokens, outputTokens: estimate.maxOutputTokens };
  return [known, whole].some((each) => each.inputTokens === inputTokens && each.outputTokens === outputTokens);
}

it.each(seeds)('counts each call once, whatever is killed (seed %d)', async (seed) => {
  const chance = new Chance(seed);
  const enforcement = seed % 2 === 0 ? ('ADVISORY' as const) : ('HARD' as const);
  const quotas = ['premium', 'standard', 'economy'].map((label) => ({
    label,
    dailyUsdMicros: 1_000_000_000,
    enforcement,
  }));
  const org = await newOrg(app, { timezone, ledger: true, quotas });
  const chat = await newApp(app, org);
  const config = { ...app.config, port: await freePort() };
  let gateway: GatewayProcess = await startGatewayProcess(config, proxy.endpoint);
  const subject = new Subject(`http://127.0.0.1:${config.port}/graphql`, chat);
  for (let round = 0; round < rounds; round++) {
    const child = subject.start(planOf(chance, callsPerRound));
    const rule = proxy.inject({ operation: 'TransactWriteItems', fault: chance.one(faults), nth: { first: 3 } });
    await untilMade(subject, child, 1 + chance.below(callsPerRound - 2));
    if (chance.below(2) === 0) {
      gateway.child.kill('SIGKILL');
      await ended(gateway.child);
      gateway = await startGatewayProcess(config, proxy.endpoint);
    }
    child.kill('SIGKILL');
    await ended(child);
    rule.remove();
  }
  expect(await ended(subject.start([]))).toBe(0);
  await proxy.quiet();

  const recorded = await recordedCosts(org.orgId);
  const ids = recorded.map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(subject.made().filter((id) => !ids.includes(id))).toEqual([]);
  expect(subject.lines().filter(({ dead }) => dead)).toEqual([]);
  // Between the note that a call begins and the call itself are microseconds, in which a process may be killed too.
  const unmade = recorded.filter(
    ({ requestId, inputTokens }) => inputTokens > 0 && !subject.made().includes(requestId),
  );
  expect(unmade.length).toBeLessThanOrEqual(1);
  for (const cost of recorded) {
    const call = subject.calls.get(cost.requestId);
    const isMade = subject.made().includes(cost.requestId);
    expect([cost, call && isPlausible(cost, call, isMade)]).toEqual([cost, true]);
  }
  const variables = { orgId: org.orgId, appId: 'chat', consistency: 'EXACT' as const };
  const total = (await app.admin.ask(op.AppSpendDocument, variables)).org?.app?.spend;
  const sum = (of: (cost: Recorded) => number) => recorded.reduce((all, cost) => all + of(cost), 0);
  expect(total).toMatchObject({
    requests: recorded.length,
    costUsdMicros: sum((cost) => cost.costUsdMicros),
    outputTokens: sum((cost) => cost.outputTokens),
  });
  gateway.child.kill('SIGKILL');
  rmSync(subject.directory, { recursive: true, force: true });
});
