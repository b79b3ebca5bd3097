// The demo org of `tollgate seed`. Its history is not written item by item: the services that the API uses run on a
// clock that moves through the past, so that totals, alerts, usage, states and audit events fit together. Reading
// order: this file, history (hours and the clock), traffic and spend, limits-plan and limits, fleet-plan and fleet.
import { type Background, buildBackground, buildServices, type Services } from '../app.js';
import type { Config } from '../config.js';
import { systemClock } from '../lib/clock.js';
import { silentLog } from '../lib/log.js';
import { localDate } from '../orgs/calendar.js';
import { DemoFleet } from './fleet.js';
import { type DemoHour, dayStartMs, HistoryClock, hourMs, hoursOf } from './history.js';
import { DemoLimits } from './limits.js';
import { SeededRandom } from './random.js';
import { DemoSpend } from './spend.js';
import { createTenant, type DemoClient, type DemoTenant, demoZone } from './tenant.js';

export const minDays = 1;
export const maxDays = 90;
/** The org is registered this long before its first day begins: in the afternoon of the day before. */
const setupMs = 7.6 * hourMs;
/** The earliest moment of an hour at which its events are sent, as a part of the hour. */
const minMoment = 0.45;
const maxAlerts = 1000;

export interface DemoCounts {
  readonly costs: number;
  readonly costUsdMicros: number;
  readonly acquires: number;
  readonly refused: number;
  readonly readings: number;
}

/** How far the history is. */
export interface DemoProgress extends DemoCounts {
  /** The local date that is being written. */
  readonly day: string;
  /** From 1, today included. */
  readonly dayNumber: number;
  readonly dayCount: number;
  readonly hoursDone: number;
  readonly hourCount: number;
}

export interface DemoOptions {
  /** Full days before today. */
  readonly days: number;
  /** Called after each hour of the history. */
  onProgress?(progress: DemoProgress): void;
}

export interface DemoReport extends DemoCounts {
  readonly orgId: string;
  readonly name: string;
  readonly zone: string;
  readonly from: string;
  readonly to: string;
  readonly apps: number;
  readonly alerts: number;
  readonly devices: number;
  readonly clients: readonly DemoClient[];
  readonly apiKey: string;
}

/** Creates a demo org with a history of `days` days and today, in all three parts. */
export async function seedDemo(config: Config, options: DemoOptions): Promise<DemoReport> {
  const nowMs = systemClock.nowMs();
  const clock = new HistoryClock(dayStartMs(demoZone, nowMs, options.days) - setupMs);
  const overrides = { clock, log: silentLog };
  const services = await buildServices(config, overrides);
  const background = buildBackground(config, overrides);
  try {
    await services.changeFeed.start();
    await services.catalogSync.start();
    return await new DemoHistory({ services, background, clock, nowMs }, options).write();
  } finally {
    await services.changeFeed.stop();
    await services.catalogSync.stop();
    await Promise.all([services.costStore.flush(), services.buckets.flush(), services.pendingWrites.flush()]);
    background.close();
    services.store.close();
  }
}

interface HistoryDeps {
  readonly services: Services;
  readonly background: Background;
  readonly clock: HistoryClock;
  readonly nowMs: number;
}

interface Parts {
  readonly tenant: DemoTenant;
  readonly spend: DemoSpend;
  readonly limits: DemoLimits;
  readonly fleet: DemoFleet;
}

class DemoHistory {
  constructor(
    private readonly deps: HistoryDeps,
    private readonly options: DemoOptions,
  ) {}

  async write(): Promise<DemoReport> {
    const { clock, nowMs } = this.deps;
    const { days } = this.options;
    const parts = await this.create();
    const hours = hoursOf(demoZone, days, nowMs);
    const random = new SeededRandom(0xc10c4);
    for (const [i, hour] of hours.entries()) {
      // The events of an hour arrive at some moment of it, because alerts at full hours would not look real.
      clock.moveTo(hour.fromMs + Math.floor((hour.toMs - hour.fromMs) * (minMoment + random.fraction() / 2)));
      await Promise.all([parts.spend.step(hour), parts.limits.step(hour), parts.fleet.step(hour)]);
      this.report(parts, hour, { hoursDone: i + 1, hourCount: hours.length });
    }
    clock.release();
    const endMs = clock.nowMs();
    const today = localDate(demoZone, endMs);
    await Promise.all([
      parts.spend.finish(today, dayStartMs(demoZone, endMs, 0)),
      parts.limits.finish(),
      parts.fleet.finish(),
    ]);
    return this.resultOf(parts, { from: hours[0]?.day ?? today, to: today });
  }

  /** The org and its objects, minute by minute in the afternoon before the first day. */
  private async create(): Promise<Parts> {
    const { services, background, clock, nowMs } = this.deps;
    const { days } = this.options;
    const nextMinute = () => clock.moveTo(clock.nowMs() + 60_000);
    const tenant = await createTenant(services);
    const parts = {
      tenant,
      spend: new DemoSpend({ services, background, tenant, days }),
      limits: new DemoLimits({ services, tenant, days }),
      fleet: new DemoFleet({ services, tenant, days, nowMs }),
    };
    nextMinute();
    await parts.limits.create();
    nextMinute();
    await parts.fleet.create();
    return parts;
  }

  private report(parts: Parts, { day, daysAgo }: DemoHour, hours: { hoursDone: number; hourCount: number }): void {
    const { days, onProgress } = this.options;
    onProgress?.({ day, dayNumber: days - daysAgo + 1, dayCount: days + 1, ...hours, ...countsOf(parts) });
  }

  private async resultOf(parts: Parts, range: { from: string; to: string }): Promise<DemoReport> {
    const { tenant, fleet } = parts;
    const { orgId, name } = tenant.org;
    const alerts = await this.deps.services.alertStore.list(orgId, maxAlerts, {});
    return {
      orgId,
      name,
      zone: demoZone,
      ...range,
      apps: tenant.apps.length,
      alerts: alerts.length,
      devices: fleet.devices,
      clients: tenant.clients,
      apiKey: fleet.apiKey,
      ...countsOf(parts),
    };
  }
}

const countsOf = ({ spend, limits, fleet }: Parts): DemoCounts => ({
  costs: spend.costs,
  costUsdMicros: spend.costUsdMicros,
  acquires: limits.acquires,
  refused: limits.refused,
  readings: fleet.readings,
});
