import { createReadStream } from 'node:fs';
import type { Clock } from '../../lib/clock.js';
import type { Log } from '../../lib/log.js';
import type { Metrics } from '../../lib/metrics.js';
import { localDate, nextDate } from '../../orgs/calendar.js';
import type { Catalog, CatalogModel } from './catalog.js';
import type { CatalogSyncService } from './catalog-sync.service.js';
import type { PriceStore } from './price.store.js';
import { entriesAt } from './price-history.js';
import { type PriceList, parsePriceList } from './price-list.js';

const fetchMs = 10_000;
const hourMs = 3_600_000;
/** LiteLLM's list has 2 MB. */
export const maxListBytes = 8 * 1024 * 1024;

export interface PriceRefreshDeps {
  readonly store: PriceStore;
  readonly catalog: Catalog;
  readonly sync: Pick<CatalogSyncService, 'refresh'>;
  /** A file or an http(s) URL. */
  readonly source: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Fetches the price list once per hour (UTC), and again if the catalog has a new model. A price that differs from the
 * stored price of today replaces it for later costs; costs recorded before keep their price. In the last hour of a day
 * it also sets the prices of the next day.
 */
export class PriceRefreshService {
  private doneHour: number | undefined;
  private doneModels: ReadonlySet<string> = new Set();
  private readonly startedMs: number;

  constructor(private readonly deps: PriceRefreshDeps) {
    this.startedMs = deps.clock.nowMs();
  }

  /**
   * Fetches at most once per hour, however often it is called. Returns how many prices of today it set or corrected.
   */
  async refresh(): Promise<number> {
    await this.deps.sync.refresh();
    const nowMs = this.deps.clock.nowMs();
    const hour = Math.floor(nowMs / hourMs);
    const models = this.models();
    try {
      if (this.doneHour === hour && models.every(({ modelId }) => this.doneModels.has(modelId))) return 0;
      const set = await this.save(await this.fetchList(models), nowMs);
      this.doneHour = hour;
      this.doneModels = new Set(models.map(({ modelId }) => modelId));
      return set;
    } finally {
      await this.measureAge(models);
    }
  }

  /** One model per model id: labels of the same model share its price. */
  private models(): CatalogModel[] {
    return [...new Map([...this.deps.catalog.values()].map((model) => [model.modelId, model])).values()];
  }

  private async fetchList(models: readonly CatalogModel[]): Promise<PriceList> {
    const { source, log, metrics } = this.deps;
    try {
      const list = await parsePriceList(await read(source), models);
      for (const { label, kind, message } of list.faults) {
        if (kind === 'missing' && this.hasSetPrice(label)) continue;
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
    for (const { model, entries } of prices) {
      if (await store.save(model, today, entries, nowMs)) set++;
      if (isLastHour) await store.save(model, nextDate(today), entries, nowMs);
      await store.saveLast(model, today, entries, nowMs);
    }
    return set;
  }

  /** True if the label needs no price list, because a price is set in the catalog. */
  private hasSetPrice(label: string): boolean {
    const { catalog, clock } = this.deps;
    return entriesAt(catalog.get(label)?.changes ?? [], clock.nowMs()) !== undefined;
  }

  /** The age of the oldest price in use, whichever worker fetched it. */
  private async measureAge(models: readonly CatalogModel[]): Promise<void> {
    const { store, clock, metrics } = this.deps;
    const listed = models.filter(({ label }) => !this.hasSetPrice(label));
    const times = (await store.loadFetchTimes(listed)).map((fetchedAtMs) => fetchedAtMs ?? this.startedMs);
    const oldestMs = Math.min(clock.nowMs(), ...times);
    metrics.priceAge.set((clock.nowMs() - oldestMs) / 1000);
  }
}

/** The source without its query, which may contain a credential. */
const loggable = (source: string): string => source.replace(/[?#].*$/s, '');

async function read(source: string): Promise<string> {
  if (!/^https?:/.test(source)) return bounded(createReadStream(source));
  const response = await fetch(source, { signal: AbortSignal.timeout(fetchMs) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.body ? bounded(response.body) : '';
}

/** The text of a stream. Throws if it is too long; the rest is then not read. */
async function bounded(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > maxListBytes) throw new Error(`it has more than ${maxListBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
