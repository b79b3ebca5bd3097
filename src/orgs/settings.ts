import type { Credentials } from '../identity/secret.js';
import type { Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import { slug } from '../lib/patterns.js';
import type { ZoneHistory } from './calendar.js';

export const quotaScopes = ['ORG', 'APP'] as const;
export type QuotaScope = (typeof quotaScopes)[number];

export interface ModelQuota {
  readonly label: string;
  readonly dailyUsdMicros: number;
}

/** What an app may set for itself; what it does not set is the org's. */
export interface Settings {
  readonly modelOrdering: readonly string[];
  readonly quotas: readonly ModelQuota[];
  readonly tightModeThresholdPct: number;
  readonly refreshIntervalNormalSecs: number;
  readonly refreshIntervalTightSecs: number;
}

export const inheritable = [
  'modelOrdering',
  'quotas',
  'tightModeThresholdPct',
  'refreshIntervalNormalSecs',
  'refreshIntervalTightSecs',
] as const satisfies readonly (keyof Settings)[];

interface Registered {
  readonly orgId: string;
  readonly name: string;
  readonly credentials: Credentials;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Since when its credentials do not work; absent: they do. */
  readonly suspendedAt?: Date;
  /** Raised by every change of settings: a change is made to what was read, or not at all. */
  readonly version: number;
}

export interface Org extends Registered, Settings {
  readonly nodeType: 'Org';
  /** The zone asked for; `zones` says from when it counts. */
  readonly timezone: string;
  readonly zones: ZoneHistory;
  readonly quotaScope: QuotaScope;
  readonly stickyFallbackEnabled: boolean;
  readonly shardCount: number;
  /** Whether its apps may send limits of their own with an acquire. */
  readonly appsMayBringLimits: boolean;
}

export interface AppRecord extends Registered {
  readonly appId: string;
  /** Only the sums over an org's apps still see an app that was deleted: its costs remain. */
  readonly deletedAt?: Date;
  readonly own: Partial<Settings>;
}

/** An app as it is in force: its own settings over its org's. */
export interface App extends AppRecord, Settings {
  readonly nodeType: 'App';
  readonly org: Org;
  readonly inheritedFields: readonly string[];
}

export function inForce(org: Org, app: AppRecord): App {
  const { modelOrdering, quotas, tightModeThresholdPct, refreshIntervalNormalSecs, refreshIntervalTightSecs } = org;
  return {
    modelOrdering,
    quotas,
    tightModeThresholdPct,
    refreshIntervalNormalSecs,
    refreshIntervalTightSecs,
    ...app.own,
    ...app,
    nodeType: 'App',
    org,
    inheritedFields: inheritable.filter((field) => app.own[field] === undefined),
  };
}

/** The settings of an org that a change may touch. */
export const changeableSettings = (org: Org) => ({
  name: org.name,
  timezone: org.timezone,
  stickyFallbackEnabled: org.stickyFallbackEnabled,
  appsMayBringLimits: org.appsMayBringLimits,
  ...Object.fromEntries(inheritable.map((field) => [field, org[field]])),
});

export const shardCounts = [8, 16, 32, 64];
const mostMicros = 1_000_000_000_000_000;
const longestIntervalSecs = 86_400;

/** The labels that orgs may use: the keys of the catalog. */
export type KnownLabels = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;

/** Everything wrong with settings, each with its path below `input`. A missing one is somebody else's business. */
export function settingsIssues(settings: Partial<Settings>, labels: KnownLabels): Issue[] {
  const { modelOrdering, quotas, tightModeThresholdPct, refreshIntervalNormalSecs, refreshIntervalTightSecs } =
    settings;
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => issues.push({ path: `input.${path}`, message });
  const known = [...labels.keys()].join(', ');
  if (modelOrdering) {
    if (modelOrdering.length === 0) refuse('modelOrdering', 'needs at least one label');
    modelOrdering.forEach((label, i) => {
      if (!labels.has(label)) refuse(`modelOrdering.${i}`, `unknown label; known are ${known}`);
      else if (modelOrdering.indexOf(label) !== i) refuse(`modelOrdering.${i}`, `${label} stands twice`);
    });
  }
  if (quotas) {
    const quotaLabels = quotas.map(({ label }) => label);
    quotas.forEach(({ label, dailyUsdMicros }, i) => {
      if (!labels.has(label)) refuse(`quotas.${i}.label`, `unknown label; known are ${known}`);
      else if (quotaLabels.indexOf(label) !== i) refuse(`quotas.${i}.label`, `${label} stands twice`);
      if (!isWholeWithin(dailyUsdMicros, 0, mostMicros))
        refuse(`quotas.${i}.dailyUsdMicros`, `must be from 0 to ${mostMicros}`);
    });
  }
  const inRange = (name: keyof Settings, value: number | undefined, min: number, max: number) => {
    if (value !== undefined && !isWholeWithin(value, min, max)) refuse(name, `must be from ${min} to ${max}`);
  };
  inRange('tightModeThresholdPct', tightModeThresholdPct, 1, 100);
  inRange('refreshIntervalNormalSecs', refreshIntervalNormalSecs, 1, longestIntervalSecs);
  inRange('refreshIntervalTightSecs', refreshIntervalTightSecs, 1, longestIntervalSecs);
  return issues;
}

/** Labels of an ordering that no quota is set for: spend on them would know no bound. */
export function unmetered({ modelOrdering, quotas }: Pick<Settings, 'modelOrdering' | 'quotas'>): string[] {
  const metered = new Set(quotas.map(({ label }) => label));
  return modelOrdering.filter((label) => !metered.has(label));
}

export function unmeteredIssues(settings: Pick<Settings, 'modelOrdering' | 'quotas'>): Issue[] {
  return unmetered(settings).map((label) => ({
    path: 'input.quotas',
    message: `needs a quota for ${label}, which the ordering names`,
  }));
}

/** The tight interval is for rechecking sooner: a larger one than the normal interval is a mistake. */
export function intervalIssues({
  refreshIntervalNormalSecs: normal,
  refreshIntervalTightSecs: tight,
}: Pick<Settings, 'refreshIntervalNormalSecs' | 'refreshIntervalTightSecs'>): Issue[] {
  if (tight <= normal) return [];
  return [
    {
      path: 'input.refreshIntervalTightSecs',
      message: `is ${tight}, larger than refreshIntervalNormalSecs, which is ${normal}: lower it or raise that`,
    },
  ];
}

/** Under quotaScope ORG there is one quota for all apps. An app's own chain, amounts or threshold would judge the others too. */
export function scopeIssues(scope: QuotaScope, own: Partial<Settings>): Issue[] {
  if (scope === 'APP') return [];
  return (['modelOrdering', 'quotas', 'tightModeThresholdPct'] as const)
    .filter((field) => own[field] !== undefined)
    .map((field) => ({
      path: `input.${field}`,
      message: "is the org's under quotaScope ORG; an app cannot set its own",
    }));
}

export const appIdIssues = (appId: string): Issue[] =>
  slug.test(appId)
    ? []
    : [{ path: 'input.appId', message: 'must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit' }];

export const shardCountIssues = (count: number): Issue[] =>
  shardCounts.includes(count)
    ? []
    : [{ path: 'input.shardCount', message: `must be one of ${shardCounts.join(', ')}` }];

/** Quotas in the order of the chain, then by label: they are stored in a map, which has no order of its own. */
export function inChainOrder(quotas: readonly ModelQuota[], ordering: readonly string[]): ModelQuota[] {
  const rank = (label: string) => (ordering.includes(label) ? ordering.indexOf(label) : ordering.length);
  return [...quotas].sort((a, b) => rank(a.label) - rank(b.label) || (a.label < b.label ? -1 : 1));
}
