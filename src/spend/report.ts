import { orgScope, type Scope, type SpendId, scopeOf } from '../orgs/scope.js';
import type { App, Org, Settings } from '../orgs/settings.js';
import { modeOf, noUsage, quotaPct, type SpendMode, sum, type Usage, worstMode } from './money.js';
import type { Catalog } from './price.js';
import type { Sticky } from './selection.js';

/** Whose spend is asked about: the settings in force, and the scope it counts in. */
export interface Subject {
  readonly org: Org;
  readonly scope: Scope;
  readonly settings: Settings;
  /** Under quotaScope APP, the org itself: a sum over its apps, with no quota of its own. */
  readonly isRollup: boolean;
  /** Raised whenever the chain may have changed. */
  readonly orderingVersion: number;
}

export function appSubject(app: App): Subject {
  const { org } = app;
  // Under quotaScope ORG the chain is the org's: apps that share it must agree on its version.
  const orderingVersion = org.quotaScope === 'ORG' ? org.version : org.version + app.version;
  return { org, scope: scopeOf(app), settings: app, isRollup: false, orderingVersion };
}

export const orgSubject = (org: Org): Subject => ({
  org,
  scope: orgScope(org),
  settings: org,
  isRollup: org.quotaScope === 'APP',
  orderingVersion: org.version,
});

/** What a label's spend of one day is judged by. */
export interface DayRules {
  /** Absent: the label had no quota. */
  readonly quotaUsdMicros?: number;
  readonly thresholdPct: number;
}

/** The rules in force now. */
export function rulesNow({ settings }: Subject, label: string): DayRules {
  const quota = settings.quotas.find((entry) => entry.label === label)?.dailyUsdMicros;
  return { ...(quota === undefined ? {} : { quotaUsdMicros: quota }), thresholdPct: settings.tightModeThresholdPct };
}

export interface LabelSpend extends Usage {
  readonly label: string;
  readonly bedrockModelId?: string;
  readonly quotaUsdMicros?: number;
  readonly quotaPct?: number;
  readonly thresholdPct: number;
  readonly mode: SpendMode;
  /** All costs that were acknowledged before it are included; absent before the first aggregation. */
  readonly asOf?: Date;
}

/** Figures of a label, as summed or exact. */
export interface Figures extends Usage {
  readonly asOf?: Date;
  /** On a roll-up: the worst mode of its apps. */
  readonly mode?: SpendMode;
  /** As stamped by the aggregator while the day lasted. */
  readonly rules?: DayRules;
}

/** One day of a subject. A day that is over is judged by the rules it ended with, not by those of today. */
export interface DayView {
  readonly subject: Subject;
  readonly catalog: Catalog;
  readonly day: string;
  readonly isOver: boolean;
}

export function labelSpend(
  { subject, catalog, isOver }: DayView,
  label: string,
  figures: Figures = noUsage,
): LabelSpend {
  const { costUsdMicros, inputTokens, outputTokens, requests, asOf, mode } = figures;
  const bedrockModelId = catalog.get(label)?.bedrockModelId;
  const { quotaUsdMicros, thresholdPct } = rulesOf(subject, label, figures, isOver);
  const quota = subject.isRollup ? undefined : quotaUsdMicros;
  return {
    label,
    ...(bedrockModelId ? { bedrockModelId } : {}),
    costUsdMicros,
    inputTokens,
    outputTokens,
    requests,
    ...(quota === undefined ? {} : { quotaUsdMicros: quota, quotaPct: quotaPct(costUsdMicros, quota) }),
    thresholdPct,
    mode: quota === undefined ? (mode ?? 'NORMAL') : modeOf(costUsdMicros, quota, thresholdPct),
    ...(asOf ? { asOf } : {}),
  };
}

function rulesOf(subject: Subject, label: string, { rules, requests }: Figures, isOver: boolean): DayRules {
  const now = rulesNow(subject, label);
  if (!isOver) return now;
  // Nothing was spent, so nothing was stamped: the quota of that day is not known.
  if (!rules && requests === 0) return { thresholdPct: now.thresholdPct };
  return rules ?? now;
}

export interface DaySpend extends Usage {
  readonly subject: Subject;
  readonly day: string;
  readonly isOver: boolean;
  readonly scope: 'ORG' | 'APP';
  readonly labels: readonly LabelSpend[];
  readonly mode: SpendMode;
}

/** A day's report: the labels of the chain in its order, then all others that were spent on. */
export function daySpend(view: DayView, figures: ReadonlyMap<string, Figures | undefined>): DaySpend {
  const { subject, day, isOver } = view;
  const { modelOrdering } = subject.settings;
  const others = [...figures.keys()].filter(
    (label) => !modelOrdering.includes(label) && (figures.get(label)?.requests ?? 0) > 0,
  );
  const labels = [...modelOrdering, ...others].map((label) => labelSpend(view, label, figures.get(label)));
  return {
    subject,
    day,
    isOver,
    scope: subject.scope.appId === undefined ? 'ORG' : 'APP',
    labels,
    ...sum(
      labels.map(({ costUsdMicros, inputTokens, outputTokens, requests }) => ({
        costUsdMicros,
        inputTokens,
        outputTokens,
        requests,
      })),
    ),
    mode: worstMode(labels.map(({ mode }) => mode)),
  };
}

/** Labels that may have figures, as far as a process knows by itself; the store may have more. */
export const knownLabels = ({ settings }: Subject, catalog: Catalog): string[] => [
  ...new Set([...settings.modelOrdering, ...catalog.keys(), ...settings.quotas.map(({ label }) => label)]),
];

/** How a selection reads what is stored: batched with the request's other reads. */
export interface SelectionReader {
  total(id: SpendId): Promise<Figures | undefined>;
  sticky(id: Scope & { readonly day: string }): Promise<Sticky | undefined>;
}

/** How a report reads what is stored. */
export interface SpendReader extends SelectionReader {
  /** Every label that the org has ever spent on. */
  labels(orgId: string): Promise<readonly string[]>;
  /** Charges work to the operation before it is done. Throws past the bound. */
  charge(units: number, advice: string): void;
  /** Does a piece of work once per operation, however often it is asked for by this name. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>;
}
