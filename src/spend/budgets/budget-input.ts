import type { Issue } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';
import { slug } from '../../lib/patterns.js';
import { lastEnforcement } from '../../orgs/enforcement.js';
import { type KnownLabels, listedLabels, type Org } from '../../orgs/settings.js';
import { isValue, maxValueLength } from '../breakdown/dimension.js';
import { type Budget, type BudgetScope, type BudgetSettings, usedUpPct } from './budget.js';

export const maxBudgetMicros = 1_000_000_000_000_000;
export const maxThresholds = 10;
export const maxRaiseDays = 31;
/** Bounds how many items a reservation writes, together with the one of its quota. */
export const maxHardBudgetsPerCost = 2;

export const budgetNameIssues = (name: string): Issue[] =>
  slug.test(name)
    ? []
    : [{ path: 'input.name', message: 'must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit' }];

/** What the issues of a budget depend on. */
export interface BudgetRules {
  readonly org: Org;
  readonly labels: KnownLabels;
  readonly nowMs: number;
}

/** All issues of the settings of a budget, each with its path below `input`. */
export function budgetIssues(settings: BudgetSettings, rules: BudgetRules): Issue[] {
  return [
    ...amountIssue('input.usdMicros', settings.usdMicros, 1),
    ...thresholdIssues(settings.thresholdsPct),
    ...scopeIssuesOf(settings, rules),
    ...dimensionIssues(settings, rules),
    ...raiseIssues(settings, rules.nowMs),
  ];
}

function amountIssue(path: string, amount: number, min: number): Issue[] {
  return isWholeWithin(amount, min, maxBudgetMicros)
    ? []
    : [{ path, message: `must be a whole number from ${min} to ${maxBudgetMicros}` }];
}

function thresholdIssues(thresholds: readonly number[]): Issue[] {
  const path = 'input.thresholdsPct';
  if (thresholds.length > maxThresholds) return [{ path, message: `must have at most ${maxThresholds} items` }];
  const isValid = thresholds.every(
    (pct, i) => isWholeWithin(pct, 1, usedUpPct) && (i === 0 || pct > (thresholds[i - 1] as number)),
  );
  return isValid ? [] : [{ path, message: `must be ascending whole numbers from 1 to ${usedUpPct}, each once` }];
}

function scopeIssuesOf({ appId, label, period }: BudgetScope, { org, labels }: BudgetRules): Issue[] {
  const isUnknown = label !== undefined && !labels.has(label);
  return [
    ...(isUnknown ? [{ path: 'input.label', message: `unknown label; known are ${listedLabels(labels)}` }] : []),
    ...(label !== undefined && period === 'DAY'
      ? [{ path: 'input.period', message: 'must be WEEK or MONTH for one label: use a quota for the day of a label' }]
      : []),
    ...(appId !== undefined && org.quotaScope === 'ORG' && !org.attributeApps
      ? [
          {
            path: 'input.appId',
            message:
              'apps of this org have no figures of their own, because quotaScope is ORG: ' +
              'set `attributeApps` to true with updateOrg first',
          },
        ]
      : []),
  ];
}

function dimensionIssues({ appId, label, dimension, enforcement }: BudgetSettings, { org }: BudgetRules): Issue[] {
  if (!dimension) return [];
  const path = 'input.dimension';
  const { name, value } = dimension;
  return [
    ...(label !== undefined || appId !== undefined
      ? [{ path, message: 'cannot be combined with `appId` or `label`: it counts all costs of the org' }]
      : []),
    ...(enforcement === 'HARD'
      ? [
          {
            path: 'input.enforcement',
            message: 'cannot be HARD for a budget of a dimension value: an `admit` does not know the dimensions yet',
          },
        ]
      : []),
    ...(org.dimensions.includes(name)
      ? []
      : [{ path: `${path}.name`, message: 'must be a dimension of the org: add it with updateOrg first' }]),
    ...(isValue(value)
      ? []
      : [
          {
            path: `${path}.value`,
            message: `must have 1 to ${maxValueLength} characters, without # and control characters`,
          },
        ]),
  ];
}

function raiseIssues({ raise, usdMicros }: BudgetSettings, nowMs: number): Issue[] {
  if (!raise) return [];
  const untilMs = raise.until.getTime();
  const isSoon = untilMs > nowMs && untilMs <= nowMs + maxRaiseDays * 86_400_000;
  return [
    ...(isSoon
      ? []
      : [{ path: 'input.raise.until', message: `must be in the future, at most ${maxRaiseDays} days from now` }]),
    ...amountIssue('input.raise.usdMicros', raise.usdMicros, 1),
    ...(raise.usdMicros < usdMicros
      ? [
          {
            path: 'input.raise.usdMicros',
            message: 'must be at least `usdMicros`: it replaces it until the raise ends',
          },
        ]
      : []),
  ];
}

/** The issue of a HARD budget beside which more than the allowed number of HARD budgets would apply to one cost. */
export function hardOverlapIssues(settings: BudgetSettings, others: readonly Budget[]): Issue[] {
  if (settings.enforcement !== 'HARD' || settings.dimension) return [];
  const hard: readonly BudgetScope[] = [
    settings,
    ...others.filter(({ enforcement, hardChanges, dimension }) => {
      return !dimension && (enforcement === 'HARD' || lastEnforcement(hardChanges) === 'HARD');
    }),
  ];
  const values = (name: 'appId' | 'label') => new Set([undefined, ...hard.map((scope) => scope[name])]);
  const applies = (own: string | undefined, wanted: string | undefined) => own === undefined || own === wanted;
  const overlaps = [...values('appId')].flatMap((appId) =>
    [...values('label')].map(
      (label) => hard.filter((scope) => applies(scope.appId, appId) && applies(scope.label, label)).length,
    ),
  );
  return Math.max(...overlaps) <= maxHardBudgetsPerCost
    ? []
    : [
        {
          path: 'input.enforcement',
          message:
            `more than ${maxHardBudgetsPerCost} HARD budgets would apply to one cost: set this one, or another that ` +
            'counts the same app and label, to ADVISORY or ALERT',
        },
      ];
}
