import type { Credentials } from '../identity/secret.js';
import type { Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import { slug } from '../lib/patterns.js';
import type { ZoneHistory } from './calendar.js';
import type { ModelQuota, QuotaRequest } from './quotas.js';

export const quotaScopes = ['ORG', 'APP'] as const;
export type QuotaScope = (typeof quotaScopes)[number];

/** The settings that an app may override. It inherits the others from its org. */
export interface Settings {
  readonly modelOrdering: readonly string[];
  readonly quotas: readonly ModelQuota[];
  readonly tightModeThresholdPct: number;
  readonly refreshIntervalNormalSecs: number;
  readonly refreshIntervalTightSecs: number;
}

/** Settings as a caller sends them. */
export interface SettingsRequest extends Omit<Settings, 'quotas'> {
  readonly quotas: readonly QuotaRequest[];
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
  /** When it was suspended. Absent if its credentials work. */
  readonly suspendedAt?: Date;
  /** Incremented by every change of settings. A change is a conditional write on the version that was read. */
  readonly version: number;
}

export interface Org extends Registered, Settings {
  readonly nodeType: 'Org';
  /** The zone as last set; `zones` says when it takes effect. */
  readonly timezone: string;
  readonly zones: ZoneHistory;
  readonly quotaScope: QuotaScope;
  readonly stickyFallbackEnabled: boolean;
  readonly shardCount: number;
  /** True if its app clients may send limits with an acquire. */
  readonly appsMayBringLimits: boolean;
  /** True if costs are counted per app too. Under quotaScope APP they always are. */
  readonly attributeApps: boolean;
  /** True if its costs can be listed. */
  readonly ledger: boolean;
  /** The names under which its costs may carry values, for example `user`. */
  readonly dimensions: readonly string[];
  /** The largest share of a quota or budget that one reservation may take, in percent. */
  readonly maxReservationPct: number;
  /** Incremented by every change of a budget. 0 if the org never had one. */
  readonly budgetsVersion: number;
}

export interface AppRef {
  readonly orgId: string;
  readonly appId: string;
}

/** An org, or one of its apps. */
export interface TenantRef {
  readonly orgId: string;
  readonly appId?: string;
}

/** An app as stored: without the settings that it inherits. */
export interface AppRecord extends Registered {
  readonly appId: string;
  /** A deleted app is visible only to the sums over the apps of an org, because its costs remain. */
  readonly deletedAt?: Date;
  readonly own: Partial<Settings>;
}

/** An app with the settings in force: its own, or else those of its org. */
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

/** The settings of an org that can be changed. */
export const changeableSettings = (org: Org) => ({
  name: org.name,
  timezone: org.timezone,
  stickyFallbackEnabled: org.stickyFallbackEnabled,
  appsMayBringLimits: org.appsMayBringLimits,
  attributeApps: org.attributeApps,
  ledger: org.ledger,
  dimensions: org.dimensions,
  maxReservationPct: org.maxReservationPct,
  ...Object.fromEntries(inheritable.map((field) => [field, org[field]])),
});

export const shardCounts = [8, 16, 32, 64];
const maxQuotaMicros = 1_000_000_000_000_000;
const maxIntervalSecs = 86_400;
/** Bounds the labels in an error message. */
const maxListedLabels = 50;

/** The labels that orgs may use, which are the keys of the catalog. */
export type KnownLabels = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;

/** All issues of the settings that are present, each with its path below `input`. */
export function settingsIssues(settings: Partial<Settings>, labels: KnownLabels): Issue[] {
  const { modelOrdering = [], quotas = [] } = settings;
  const isEmpty = settings.modelOrdering?.length === 0;
  const quotaLabels = quotas.map(({ label }) => label);
  return [
    ...(isEmpty ? [{ path: 'input.modelOrdering', message: 'must have at least one label' }] : []),
    ...modelOrdering.flatMap((_, i) => labelIssues(`modelOrdering.${i}`, modelOrdering, i, labels)),
    ...quotas.flatMap(({ dailyUsdMicros }, i) => [
      ...labelIssues(`quotas.${i}.label`, quotaLabels, i, labels),
      ...rangeIssues(`quotas.${i}.dailyUsdMicros`, dailyUsdMicros, 0, maxQuotaMicros),
    ]),
    ...rangeIssues('tightModeThresholdPct', settings.tightModeThresholdPct, 1, 100),
    ...rangeIssues('refreshIntervalNormalSecs', settings.refreshIntervalNormalSecs, 1, maxIntervalSecs),
    ...rangeIssues('refreshIntervalTightSecs', settings.refreshIntervalTightSecs, 1, maxIntervalSecs),
  ];
}

/** The issues of the label at `index` of a list: it must be known and listed once. */
function labelIssues(name: string, list: readonly string[], index: number, known: KnownLabels): Issue[] {
  const label = list[index] as string;
  const path = `input.${name}`;
  if (!known.has(label)) return [{ path, message: `unknown label; known are ${listedLabels(known)}` }];
  return list.indexOf(label) === index ? [] : [{ path, message: `${label} is listed twice` }];
}

/** The labels for an error message, at most 50. */
export function listedLabels(known: KnownLabels): string {
  const labels = [...known.keys()];
  return labels.slice(0, maxListedLabels).join(', ') + (labels.length > maxListedLabels ? ', …' : '');
}

export const reservationIssues = (maxReservationPct: number): Issue[] =>
  rangeIssues('maxReservationPct', maxReservationPct, 1, 100);

function rangeIssues(name: string, value: number | undefined, min: number, max: number): Issue[] {
  const isValid = value === undefined || isWholeWithin(value, min, max);
  return isValid ? [] : [{ path: `input.${name}`, message: `must be from ${min} to ${max}` }];
}

/** The labels of an ordering without a quota. Spend on them would have no bound. */
export function unmeteredLabels({ modelOrdering, quotas }: Pick<Settings, 'modelOrdering' | 'quotas'>): string[] {
  const metered = new Set(quotas.map(({ label }) => label));
  return modelOrdering.filter((label) => !metered.has(label));
}

export function unmeteredIssues(settings: Pick<Settings, 'modelOrdering' | 'quotas'>): Issue[] {
  return unmeteredLabels(settings).map((label) => ({
    path: 'input.quotas',
    message: `must have a quota for ${label}, which is in modelOrdering`,
  }));
}

/** The tight interval is for rechecking sooner, so it must not be larger than the normal interval. */
export function intervalIssues({
  refreshIntervalNormalSecs: normal,
  refreshIntervalTightSecs: tight,
}: Pick<Settings, 'refreshIntervalNormalSecs' | 'refreshIntervalTightSecs'>): Issue[] {
  if (tight <= normal) return [];
  return [
    {
      path: 'input.refreshIntervalTightSecs',
      message: `must not be larger than refreshIntervalNormalSecs (${normal}), but is ${tight}`,
    },
  ];
}

/** Under quotaScope ORG all apps share one quota, so an app cannot have its own chain, amounts or threshold. */
export function scopeIssues(scope: QuotaScope, own: Partial<Settings>): Issue[] {
  if (scope === 'APP') return [];
  return (['modelOrdering', 'quotas', 'tightModeThresholdPct'] as const)
    .filter((field) => own[field] !== undefined)
    .map((field) => ({
      path: `input.${field}`,
      message: 'cannot be set on an app if quotaScope is ORG; set it on the org',
    }));
}

/** Each dimension is one more counter per cost. */
export const maxDimensions = 2;
const dimensionName = /^[a-z][a-z0-9_]{0,31}$/;

export const dimensionIssues = (names: readonly string[]): Issue[] => [
  ...(names.length > maxDimensions
    ? [{ path: 'input.dimensions', message: `must have at most ${maxDimensions} names` }]
    : []),
  ...(new Set(names).size < names.length ? [{ path: 'input.dimensions', message: 'must not list a name twice' }] : []),
  ...names.flatMap((name, i) =>
    dimensionName.test(name)
      ? []
      : [
          {
            path: `input.dimensions.${i}`,
            message: 'must have 1 to 32 characters of a-z 0-9 _ and begin with a letter',
          },
        ],
  ),
];

export const appIdIssues = (appId: string): Issue[] =>
  slug.test(appId)
    ? []
    : [{ path: 'input.appId', message: 'must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit' }];

export const shardCountIssues = (count: number): Issue[] =>
  shardCounts.includes(count)
    ? []
    : [{ path: 'input.shardCount', message: `must be one of ${shardCounts.join(', ')}` }];

/** The input of a change: each property may be absent or null. */
export type Nullable<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

type WithoutNull<T> = { [K in keyof T]?: NonNullable<T[K]> };

export const withoutNull = <T extends object>(value: T): WithoutNull<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null),
  ) as WithoutNull<T>;

/** True if every property of `some` has the same value in `all`. */
export const includes = (all: object, some: object): boolean =>
  Object.entries(some).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify((all as Record<string, unknown>)[name]),
  );
