import { CatalogService } from '../spend/catalog/catalog.service.js';
import { CatalogStore } from '../spend/catalog/catalog.store.js';
import { CatalogSyncService } from '../spend/catalog/catalog-sync.service.js';
import { OrgPriceService } from '../spend/catalog/org-price.service.js';
import { OrgPriceStore } from '../spend/catalog/org-price.store.js';
import { PriceService } from '../spend/catalog/price.service.js';
import { PriceStore } from '../spend/catalog/price.store.js';
import { LabelCheckService } from '../spend/label-check.service.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

/** Models and prices, for a gateway. */
export function buildCatalog(base: Base, { audit, changes, orgStore }: Identity) {
  const { config, clock, log, store, catalog } = base;
  const catalogStore = new CatalogStore(store);
  const sync = new CatalogSyncService({ store: catalogStore, catalog, seeds: config.seedModels, clock, log, changes });
  const orgPrices = new OrgPriceService({ store: new OrgPriceStore(store), catalog, changes, audit, clock });
  const priceStore = new PriceStore(store, config.retention.priceDays);
  return {
    catalogSync: sync,
    models: new CatalogService({ store: catalogStore, catalog, sync, changes, audit, clock }),
    orgPrices,
    prices: new PriceService({ store: priceStore, orgPrices, catalog, clock }),
    labelCheck: new LabelCheckService({ orgs: orgStore, catalog, log }),
  };
}

/** The worker's copy of the catalog. A worker has no change counter. */
export const buildWorkerSync = ({ config, clock, log, store, catalog }: Base): CatalogSyncService =>
  new CatalogSyncService({ store: new CatalogStore(store), catalog, seeds: config.seedModels, clock, log });
