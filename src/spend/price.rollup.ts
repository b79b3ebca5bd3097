import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../lib/clock.js';
import type { Log } from '../lib/log.js';
import { localDate } from './calendar.js';
import type { Catalog } from './price.js';
import type { PriceStore } from './price.store.js';

const fetchMs = 10_000;
const micros = z.number().int().min(0).max(1e12);
const priceList = z.record(z.string(), z.object({ inputUsdMicrosPer1M: micros, outputUsdMicrosPer1M: micros }));

/** Fills the day's price cache from a file or URL. A day's price, once set, stays: no cost is priced twice. */
export class PriceRollup {
  private doneFor: string | undefined;

  constructor(
    private readonly store: PriceStore,
    private readonly catalog: Catalog,
    private readonly source: string,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Once a day, however often it is called; returns how many prices it set. */
  async refresh(): Promise<number> {
    const nowMs = this.clock.nowMs();
    const day = localDate('UTC', nowMs);
    if (this.doneFor === day) return 0;
    const list = priceList.parse(JSON.parse(await read(this.source)));
    let set = 0;
    for (const model of this.catalog.values()) {
      const price = list[model.bedrockModelId];
      if (!price) this.log.warn({ label: model.label }, 'the price list has no price for this label; its default serves');
      else if (await this.store.save(model, day, price, nowMs)) set++;
    }
    this.doneFor = day;
    return set;
  }
}

async function read(source: string): Promise<string> {
  if (!/^https?:/.test(source)) return readFile(source, 'utf8');
  const response = await fetch(source, { signal: AbortSignal.timeout(fetchMs) });
  if (!response.ok) throw new Error(`the price list answered ${response.status}`);
  return response.text();
}
