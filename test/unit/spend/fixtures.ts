import fc from 'fast-check';
import { type App, inForce, type Org, type QuotaScope, type Settings } from '../../../src/orgs/settings.js';
import type { Catalog, CatalogModel } from '../../../src/spend/catalog/catalog.js';
import { tokenEntries } from '../../../src/spend/catalog/price.js';
import type { DayView } from '../../../src/spend/day-spend.js';
import { maxAmountPerCall, type Usage } from '../../../src/spend/money.js';
import type { Subject } from '../../../src/spend/subject.js';

export const amount = fc.integer({ min: 0, max: maxAmountPerCall });
export const usage: fc.Arbitrary<Usage> = fc.record({
  costUsdMicros: amount,
  inputTokens: amount,
  outputTokens: amount,
  requests: fc.nat(),
});
export const figureNames = ['costUsdMicros', 'inputTokens', 'outputTokens', 'requests'] as const;

/** A seeded model with the default price 1 and 2. */
export const modelOf = (label: string, change: Partial<CatalogModel> = {}): CatalogModel => ({
  label,
  modelId: `m-${label}`,
  version: 1,
  origin: 'SEEDED',
  defaultEntries: tokenEntries(1, 2),
  changes: [],
  addedAtMs: 0,
  position: 0,
  ...change,
});
export const catalog: Catalog = new Map(['premium', 'standard', 'economy'].map((label) => [label, modelOf(label)]));
export const settings: Settings = {
  modelOrdering: ['premium', 'standard'],
  quotas: [
    { label: 'standard', dailyUsdMicros: 1_000 },
    { label: 'premium', dailyUsdMicros: 100 },
  ],
  tightModeThresholdPct: 95,
  refreshIntervalNormalSecs: 300,
  refreshIntervalTightSecs: 30,
};
const registration = {
  orgId: 'org-a',
  credentials: { clientId: 'c', role: 'FULL' as const, rotation: 1, generation: 0 },
  createdAt: new Date(0),
  updatedAt: new Date(0),
};
export const orgWith = (quotaScope: QuotaScope, version = 1, over: Partial<Settings> = {}): Org => ({
  ...registration,
  ...settings,
  ...over,
  nodeType: 'Org',
  name: 'Acme',
  timezone: 'UTC',
  zones: [{ zone: 'UTC', fromMs: 0 }],
  quotaScope,
  stickyFallbackEnabled: true,
  shardCount: 8,
  maxReservationPct: 100,
  appsMayBringLimits: false,
  attributeApps: false,
  ledger: false,
  dimensions: [],
  budgetsVersion: 0,
  version,
});
export const appOf = (org: Org, appId = 'web', version = 1, own: Partial<Settings> = {}): App =>
  inForce(org, { ...registration, appId, name: 'Web', version, own });
export const spent = (costUsdMicros: number, requests = 1): Usage => ({
  costUsdMicros,
  inputTokens: 10 * costUsdMicros,
  outputTokens: 3,
  requests,
});

/** A day that is not over, of the subject. */
export const today = (subject: Subject): DayView => ({ subject, catalog, day: '2026-05-05', isOver: false });
