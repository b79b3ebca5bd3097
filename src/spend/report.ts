import type { App, Org, Settings } from '../orgs/settings.js';
import { modeOf, noUsage, quotaPct, type SpendMode, sum, type Usage, worstMode } from './money.js';
import type { Catalog } from './price.js';
import { orgScope, type Scope, type SpendId, scopeOf } from './scope.js';
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

export interface LabelSpend extends Usage {
  readonly label: string;
  readonly bedrockModelId?: string;
  readonly quotaUsdMicros?: number;
  readonly quotaPct?: number;
  readonly mode: SpendMode;
  /** When these figures were true; absent before the first aggregation. */
  readonly asOf?: Date;
}

/** Figures of a label, as summed or exact; on a roll-up with the worst mode of its apps. */
export type Figures = Usage & { readonly asOf?: Date; readonly mode?: SpendMode };

export function labelSpend({ settings, isRollup }: Subject, catalog: Catalog, label: string, figures: Figures | undefined): LabelSpend {
  const { asOf, mode: stored, ...usage } = figures ?? (noUsage as Figures);
  const bedrockModelId = catalog.get(label)?.bedrockModelId;
  const quota = isRollup ? undefined : settings.quotas.find((entry) => entry.label === label)?.dailyUsdMicros;
  return {
    label,
    ...(bedrockModelId ? { bedrockModelId } : {}),
    ...usage,
    ...(quota === undefined ? {} : { quotaUsdMicros: quota, quotaPct: quotaPct(usage.costUsdMicros, quota) }),
    mode: quota === undefined ? (stored ?? 'NORMAL') : modeOf(usage.costUsdMicros, quota, settings.tightModeThresholdPct),
    ...(asOf ? { asOf } : {}),
  };
}

export interface DaySpend extends Usage {
  readonly subject: Subject;
  readonly day: string;
  readonly scope: 'ORG' | 'APP';
  readonly labels: readonly LabelSpend[];
  readonly mode: SpendMode;
}

/** Labels that a report names: those of the chain in its order, then whatever else was spent on. */
export function daySpend(subject: Subject, catalog: Catalog, day: string, figures: ReadonlyMap<string, Figures | undefined>): DaySpend {
  const { modelOrdering } = subject.settings;
  const others = [...figures.keys()].filter((label) => !modelOrdering.includes(label) && (figures.get(label)?.requests ?? 0) > 0);
  const labels = [...modelOrdering, ...others].map((label) => labelSpend(subject, catalog, label, figures.get(label)));
  return {
    subject,
    day,
    scope: subject.scope.appId === undefined ? 'ORG' : 'APP',
    labels,
    ...sum(labels.map(({ costUsdMicros, inputTokens, outputTokens, requests }) => ({ costUsdMicros, inputTokens, outputTokens, requests }))),
    mode: worstMode(labels.map(({ mode }) => mode)),
  };
}

/** How a request reads what is stored: batched with the request's other reads. */
export interface SpendReader {
  total(id: SpendId): Promise<Figures | undefined>;
  sticky(id: Scope & { readonly day: string }): Promise<Sticky | undefined>;
}
