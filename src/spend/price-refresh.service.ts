import { readFile } from 'node:fs/promises';
import type { Clock } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { localDate, nextDate } from '../orgs/calendar.js';
import type { Catalog } from './price.js';
import type { PriceStore } from './price.store.js';
import { type PriceList, parsePriceList } from './price-list.js';

const fetchMs = 10_000;
const hourMs = 3_600_000;

export interface PriceRefreshDeps {
  readonly store: PriceStore;
  readonly catalog: Catalog;
  /** A file or an http(s) URL. */
  readonly source: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Fetches the price list once per hour (UTC). A price that differs from the stored price of today replaces it for later
 * costs; costs recorded before keep their price. In the last hour of a day it also sets the prices of the next day.
 */
export class PriceRefreshService {
  private doneHour: number | undefined;
  private readonly startedMs: number;

  constructor(private readonly deps: PriceRefreshDeps) {
    this.startedMs = deps.clock.nowMs();
  }

  /**
   * Fetches at most once per hour, however often it is called. Returns how many prices of today it set or corrected.
   */
  async refresh(): Promise<number> {
    const nowMs = this.deps.clock.nowMs();
    const hour = Math.floor(nowMs / hourMs);
    try {
      if (this.doneHour === hour) return 0;
      const set = await this.save(await this.fetchList(), nowMs);
      this.doneHour = hour;
      return set;
    } finally {
      await this.measureAge();
    }
  }

  private async fetchList(): Promise<PriceList> {
    const { source, catalog, log, metrics } = this.deps;
    try {
      const list = parsePriceList(await read(source), catalog);
      for (const { label, kind, message } of list.faults) {
        metrics.priceFailures.inc({ reason: kind });
        log.warn(
          { label, source: loggable(source), fault: message },
          'the price list has no valid price for this label; its last known price applies',
        );
      }
      return list;
    } catch (error) {
      metrics.priceFailures.inc({ reason: 'source' });
      throw new Error(`failed to read the price list ${loggable(source)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  private async save({ prices }: PriceList, nowMs: number): Promise<number> {
    const { store } = this.deps;
    const today = localDate('UTC', nowMs);
    const isLastHour = localDate('UTC', nowMs + hourMs) !== today;
    let set = 0;
    for (const { model, price } of prices) {
      if (await store.save(model, today, price, nowMs)) set++;
      if (isLastHour) await store.save(model, nextDate(today), price, nowMs);
      await store.saveLast(model, today, price, nowMs);
    }
    return set;
  }

  /** The age of the oldest price in use, whichever worker fetched it. */
  private async measureAge(): Promise<void> {
    const { store, catalog, clock, metrics } = this.deps;
    const times = (await store.loadFetchTimes([...catalog.values()])).map(
      (fetchedAtMs) => fetchedAtMs ?? this.startedMs,
    );
    metrics.priceAge.set(Math.max(0, clock.nowMs() - Math.min(...times)) / 1000);
  }
}

/** The source without its query, which may contain a credential. */
const loggable = (source: string): string => source.replace(/[?#].*$/s, '');

async function read(source: string): Promise<string> {
  if (!/^https?:/.test(source)) return readFile(source, 'utf8');
  const response = await fetch(source, { signal: AbortSignal.timeout(fetchMs) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}
