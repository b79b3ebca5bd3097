import type { Catalog } from './catalog/catalog.js';
import { modeOf, noUsage, quotaPct, type SpendMode, sum, type Usage, worstMode } from './money.js';
import { type DayRules, rulesNow, type Subject } from './subject.js';

/** The spend of one label on one day, compared with its quota. */
export interface LabelSpend extends Usage {
  readonly label: string;
  readonly bedrockModelId?: string;
  readonly quotaUsdMicros?: number;
  readonly quotaPct?: number;
  readonly thresholdPct: number;
  readonly mode: SpendMode;
  /** All costs acknowledged before this time are included. Absent before the first aggregation. */
  readonly asOf?: Date;
}

/** The figures of a label, aggregated or exact. */
export interface Figures extends Usage {
  readonly asOf?: Date;
  /** On a roll-up: the worst mode of its apps. */
  readonly mode?: SpendMode;
  /** The rules that the aggregator stored with the total while the day lasted. */
  readonly rules?: DayRules;
}

/** One day of a subject. The rules in force at the end of a day decide its modes, not the rules of today. */
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
  const bedrockModelId = catalog.get(label)?.modelId;
  const { quotaUsdMicros, thresholdPct } = isOver ? pastRules(subject, label, figures) : rulesNow(subject, label);
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

/** The rules of a day that is over. */
function pastRules(subject: Subject, label: string, { rules, requests }: Figures): DayRules {
  if (rules) return rules;
  const now = rulesNow(subject, label);
  // The aggregator stores rules only with spend. Without spend the quota of that day is unknown.
  return requests === 0 ? { thresholdPct: now.thresholdPct } : now;
}

export interface DaySpend extends Usage {
  readonly subject: Subject;
  readonly day: string;
  readonly isOver: boolean;
  readonly scope: 'ORG' | 'APP';
  readonly labels: readonly LabelSpend[];
  readonly mode: SpendMode;
}

/** The report of a day: the labels of the chain in its order, then all other labels with spend. */
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
    ...sum(labels),
    mode: worstMode(labels.map(({ mode }) => mode)),
  };
}
