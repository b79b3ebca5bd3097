import { sleep } from '../../../src/lib/timers.js';
import { slotMs } from '../../../src/spend/held/held.js';
import { adminKey, startTestApp } from '../../support/app.js';
import { Chance } from '../../support/chance.js';
import { killAll } from '../processes.js';
import { AdmitLoad, admitFacts, denialMs, newAdmitApp } from './admit-load.js';
import { type Facts, violations } from './checks.js';
import { HistoryClient } from './client.js';
import { Disturbed, processes, skewMs } from './disturbed.js';
import { History } from './history.js';
import { measureLag } from './lag.js';
import { type TortureOptions, type TortureReport, tallied } from './torture.js';

const settleMs = 120_000;
const returnMs = 60_000;
/** The maximum time of a call while DynamoDB fails, after which a gateway may repeat the figures that it has read. */
const disturbedMs = 10_000;
/** The clocks are moved by less than the rest of the day. */
const maxAheadMs = 8 * 3_600_000;

/**
 * Runs two gateways and two workers under a load of admissions, disturbs them in every way that can happen, moves their
 * clocks past the slots of reservations, and checks the history.
 */
export async function tortureAdmit({ minutes, seed, print, only }: TortureOptions): Promise<TortureReport> {
  const chance = new Chance(seed);
  const timezone = new Date().getUTCHours() >= 14 ? 'Etc/GMT+12' : 'UTC';
  const app = await startTestApp();
  const lag = measureLag();
  const place = await newAdmitApp(app, timezone);
  const disturbed = await Disturbed.start({ app, chance, print, only });
  const { gateways, drains, actions, output, moves } = disturbed;
  const history = new History();
  const admin = { name: 'admin', headers: { 'x-admin-key': adminKey } };
  const client = new HistoryClient({ history, gateways, canaries: {} }, 'admin', admin);
  const nowMs = () => Date.now() + (moves.at(-1)?.aheadMs ?? 0);
  const load = new AdmitLoad({ client, place, gateways: processes, chance: chance.fork(), nowMs });
  const untilMs = Date.now() + minutes * 60_000;

  /** Runs concurrently with the disturbances. */
  async function passTime(times: Chance): Promise<void> {
    for (; Date.now() < untilMs; await sleep(times.between(1500, 4000)))
      if ((moves.at(-1)?.aheadMs ?? 0) < maxAheadMs)
        disturbed.moveClocks(times.one([slotMs, 2 * slotMs]), () => times.hit(0.2));
  }

  try {
    load.start();
    const passing = passTime(chance.fork());
    await disturbed.disturb(untilMs, minutes >= 5);
    await passing;
    await disturbed.restartGateways();
    await load.settle(settleMs);
    const settledMs = Date.now();
    const pausedMs: number[] = [];
    const readAll = async () => {
      await sleep(2 * denialMs + lag.ms);
      pausedMs.push(Date.now());
      await load.readAll();
    };
    await readAll();
    disturbed.moveClocks(4 * slotMs);
    await load.untilReturned(returnMs);
    const sweptMs = Date.now();
    await readAll();
    const served = new Set(Array.from(output.join('').matchAll(/"requestId":"([^"]+)"/g), ([, id]) => id as string));
    const facts: Facts = {
      ...{ limits: {}, saturated: [], skewMs: 2 * skewMs, calm: [], drains, served, settledMs },
      ...{ revocationGraceMs: 0, lagMs: lag.ms },
      admissions: {
        ...admitFacts(place),
        clocks: moves.map(({ fromMs, aheadMs }) => ({ fromMs, aheadMs: aheadMs + skewMs })),
        denialMs: denialMs + disturbedMs + lag.ms,
        pausedMs,
        sweptMs,
      },
    };
    return { violations: violations(history.entries, facts), leaks: [], tally: tallied(history.entries), actions };
  } finally {
    lag.stop();
    killAll();
    await app.stop();
    app.tableAdmin.client.destroy();
    await disturbed.stop();
  }
}
