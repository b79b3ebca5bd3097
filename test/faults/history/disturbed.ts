import type { ChildProcess } from 'node:child_process';
import { sleep } from '../../../src/lib/timers.js';
import { type TestApp, testEndpoint } from '../../support/app.js';
import type { Chance } from '../../support/chance.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.js';
import { ended, moveClock, startGatewayProcess, startWorkerProcess } from '../processes.js';
import type { Facts } from './checks.js';

export const processes = 2;
export const skewMs = 5000;

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

export interface DisturbedDeps {
  /** For the configuration of the processes. Its own gateway is not disturbed. */
  readonly app: TestApp;
  readonly chance: Chance;
  readonly print: (line: string) => void;
  /** The name of the only disturbance to use. Default: all. */
  readonly only?: string | undefined;
}

interface Process {
  readonly child: ChildProcess;
  /** How far its clock is ahead of those of the others. */
  readonly skewMs: number;
}

type Disturbance = () => Promise<void>;

/** Two gateways and two workers as processes, behind a fault proxy, that are disturbed in every way that can happen. */
export class Disturbed {
  readonly gateways: (Process & { readonly url: string })[] = [];
  readonly drains: Facts['drains'][number][] = [];
  /** Number of disturbances by name. */
  readonly actions: Record<string, number> = {};
  /** What the processes have written. */
  readonly output: string[] = [];
  /** How far all clocks were moved, and when. */
  readonly moves: { readonly fromMs: number; readonly aheadMs: number }[] = [{ fromMs: 0, aheadMs: 0 }];
  private readonly workers: Process[] = [];
  private aheadMs = 0;

  private constructor(
    private readonly deps: DisturbedDeps,
    private proxy: FaultProxy,
  ) {}

  static async start(deps: DisturbedDeps): Promise<Disturbed> {
    const disturbed = new Disturbed(deps, await startFaultProxy(testEndpoint(), 0, { recordsCalls: false }));
    const each = Array.from({ length: processes });
    disturbed.gateways.push(...(await Promise.all(each.map(() => disturbed.newGateway(0)))));
    disturbed.workers.push(...(await Promise.all(each.map(() => disturbed.newWorker(0)))));
    return disturbed;
  }

  /** Disturbs until then, in an order that the seed decides. Each disturbance comes once per round. */
  async disturb(untilMs: number, isLong: boolean, more: Readonly<Record<string, Disturbance>> = {}): Promise<void> {
    const { chance, only, print } = this.deps;
    const storeMs = isLong ? 30_000 : 4000;
    const all = { ...this.faults(), ...this.failures(storeMs), ...more };
    let plan: string[] = [];
    let pausing = Promise.resolve();
    for (let round = 0; Date.now() < untilMs; ) {
      if (plan.length === 0) {
        plan = chance.shuffled(Object.keys(all).filter((name) => only === undefined || name === only));
        if (plan.length === 0) throw new Error(`unknown disturbance ${only}; known: ${Object.keys(all).join(', ')}`);
        if (round++ % 3 === 0 && only === undefined) pausing = this.pauseWorker(isLong ? 90_000 : 8000);
      }
      const name = plan.pop() as string;
      if (name === 'store stopped' && Date.now() + storeMs > untilMs) continue;
      this.actions[name] = (this.actions[name] ?? 0) + 1;
      print(`${Math.round((untilMs - Date.now()) / 1000)} s left: ${name}`);
      await all[name]?.();
    }
    await pausing;
  }

  /** Restarts the gateways, so that all their clocks are the same again. */
  async restartGateways(): Promise<void> {
    for (let i = 0; i < processes; i++) {
      await this.end(this.gateways[i], 'SIGKILL');
      this.gateways[i] = await this.newGateway(0);
    }
  }

  /** Moves the clocks of all processes. One that misses the move follows with the next one. */
  moveClocks(byMs: number, isMissed: () => boolean = () => false): void {
    this.aheadMs += byMs;
    this.moves.push({ fromMs: Date.now(), aheadMs: this.aheadMs });
    for (const { child, skewMs: own } of [...this.gateways, ...this.workers])
      if (!isMissed()) moveClock(child, this.aheadMs + own);
  }

  stop(): Promise<void> {
    return this.proxy.stop();
  }

  private async newGateway(own: number) {
    const onOutput = (text: string) => void this.output.push(text);
    const options = { skewMs: this.aheadMs + own, onOutput };
    const { child, origin } = await startGatewayProcess(this.deps.app.config, this.proxy.endpoint, options);
    // The clocks may have been moved while it started.
    moveClock(child, this.aheadMs + own);
    return { child, skewMs: own, url: `${origin}/graphql` };
  }

  private async newWorker(own: number): Promise<Process> {
    const onOutput = (text: string) => void this.output.push(text);
    const options = { skewMs: this.aheadMs + own, onOutput };
    const child = await startWorkerProcess(this.deps.app.config, this.proxy.endpoint, options);
    moveClock(child, this.aheadMs + own);
    return { child, skewMs: own };
  }

  private async end(process: Process | undefined, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!process) return;
    process.child.kill(signal);
    await ended(process.child);
  }

  /** Runs concurrently with the disturbances. The pause is longer than any claim of a worker. */
  private async pauseWorker(ms: number): Promise<void> {
    const paused = this.workers[0]?.child;
    paused?.kill('SIGSTOP');
    await sleep(ms);
    paused?.kill('SIGCONT');
  }

  private faults(): Record<string, Disturbance> {
    const { chance } = this.deps;
    const inject = async (fault: Fault) => {
      const rule = this.proxy.inject({ fault, nth: { first: chance.between(5, 40) }, ms: chance.between(100, 1500) });
      await sleep(chance.between(500, 1500));
      rule.remove();
    };
    return Object.fromEntries(faults.map((fault) => [fault, () => inject(fault)]));
  }

  private failures(storeMs: number): Record<string, Disturbance> {
    const { chance } = this.deps;
    const restartGateway = async (pauseMs: number, own: number) => {
      const i = chance.below(processes);
      await this.end(this.gateways[i], 'SIGKILL');
      await sleep(pauseMs);
      this.gateways[i] = await this.newGateway(own);
    };
    const restartWorker = async (pauseMs: number, own: number) => {
      const i = chance.below(processes);
      await this.end(this.workers[i], 'SIGKILL');
      await sleep(pauseMs);
      this.workers[i] = await this.newWorker(own);
    };
    return {
      'gateway killed': () => restartGateway(chance.between(200, 1500), 0),
      'gateway stopped': async () => {
        const i = chance.below(processes);
        const fromMs = Date.now();
        await this.end(this.gateways[i], 'SIGTERM');
        this.drains.push({ via: i, fromMs, toMs: Date.now() });
        this.gateways[i] = await this.newGateway(0);
      },
      'gateway with a wrong clock': () => restartGateway(0, chance.one([-skewMs, skewMs])),
      'worker killed': () => restartWorker(chance.between(200, 1500), 0),
      'worker with a wrong clock': () => restartWorker(0, chance.one([-skewMs, skewMs])),
      'store stopped': async () => {
        const { port } = this.proxy;
        await this.proxy.stop();
        await sleep(storeMs);
        this.proxy = await startFaultProxy(testEndpoint(), port, { recordsCalls: false });
      },
    };
  }
}
