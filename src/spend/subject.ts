import { orgScope, type Scope, scopeOf } from '../orgs/scope.js';
import type { App, Org, Settings } from '../orgs/settings.js';

/**
 * The org or app that a report, a selection or an alert is about, with the settings in force and the scope it counts
 * in.
 */
export interface Subject {
  readonly org: Org;
  readonly scope: Scope;
  readonly settings: Settings;
  /** The app, also under quotaScope ORG. Absent for the org itself. */
  readonly appId?: string;
  /** True for the org itself under quotaScope APP: a sum over its apps, without a quota of its own. */
  readonly isRollup: boolean;
  /** Grows with every change that may have changed the model ordering. */
  readonly orderingVersion: number;
}

export function appSubject(app: App): Subject {
  const { org } = app;
  // Under quotaScope ORG the apps share the chain of the org, so they must have the same version of it.
  const orderingVersion = org.quotaScope === 'ORG' ? org.version : org.version + app.version;
  return { org, scope: scopeOf(app), settings: app, appId: app.appId, isRollup: false, orderingVersion };
}

export const orgSubject = (org: Org): Subject => ({
  org,
  scope: orgScope(org),
  settings: org,
  isRollup: org.quotaScope === 'APP',
  orderingVersion: org.version,
});

/** The quota and threshold that decide the mode of a label on one day. */
export interface DayRules {
  /** Absent if the label had no quota. */
  readonly quotaUsdMicros?: number;
  readonly thresholdPct: number;
}

/** The rules in force now. */
export function rulesNow({ settings }: Subject, label: string): DayRules {
  const quota = settings.quotas.find((entry) => entry.label === label)?.dailyUsdMicros;
  return { ...(quota === undefined ? {} : { quotaUsdMicros: quota }), thresholdPct: settings.tightModeThresholdPct };
}

/** The labels of the settings. The database has every label that the org has spent on. */
export const configuredLabels = ({ settings }: Subject): string[] => [
  ...new Set([...settings.modelOrdering, ...settings.quotas.map(({ label }) => label)]),
];

/** All labels that a report must include. `stored`: the labels that the org has ever spent on. */
export const labelsOf = (subject: Subject, stored: readonly string[]): string[] => [
  ...new Set([...configuredLabels(subject), ...stored]),
];
