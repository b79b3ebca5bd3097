import { LabelStore } from '../spend/label.store.js';
import { CorrectionService } from '../spend/ledger/correction.service.js';
import { CorrectionStore } from '../spend/ledger/correction.store.js';
import { DirtyDayStore } from '../spend/ledger/dirty-day.store.js';
import { ExportService } from '../spend/ledger/export.service.js';
import { LedgerService } from '../spend/ledger/ledger.service.js';
import { LedgerStore } from '../spend/ledger/ledger.store.js';
import { TotalStore } from '../spend/total.store.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

/** Recorded calls, corrections and exports. */
export function buildLedger({ config, clock, store }: Base, { audit, appStore }: Identity) {
  const { retention } = config;
  const ledger = new LedgerStore(store, clock);
  const correctionStore = new CorrectionStore(store);
  const corrections = new CorrectionService({
    ledger,
    corrections: correctionStore,
    dirtyDays: new DirtyDayStore(store),
    audit,
    clock,
    shardDays: retention.shardDays,
  });
  const spendExport = new ExportService({
    totals: new TotalStore(store, retention.totalDays),
    ledger,
    labels: new LabelStore(store),
    apps: appStore,
    clock,
  });
  return { ledger: new LedgerService({ ledger }), correctionStore, corrections, spendExport };
}
