import type { Item } from '../../dynamo/expression.js';
import { type Fields, fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { enforcementAttribute, enforcementIn } from '../../orgs/org.item.js';
import { type Budget, type BudgetDimension, enforcements, type Raise } from './budget.js';
import { budgetPeriods } from './period.js';

export const budgetTable = 'config';
export const budgetPrefix = 'BUDGET#';
const orgPrefix = 'ORG#';

export const budgetKey = ({ orgId, name }: Pick<Budget, 'orgId' | 'name'>) => ({
  PK: key`ORG#${orgId}`,
  SK: key`BUDGET#${name}`,
});

export const toBudgetItem = (budget: Budget): Item => ({
  ...budgetKey(budget),
  app_id: budget.appId,
  label: budget.label,
  dimension: budget.dimension && { name: budget.dimension.name, value: budget.dimension.value },
  period: budget.period,
  usd_micros: budget.usdMicros,
  thresholds_pct: budget.thresholdsPct,
  enforcement: budget.enforcement,
  hard_changes: enforcementAttribute(budget.hardChanges),
  raise: budget.raise && { until_ms: budget.raise.until.getTime(), usd_micros: budget.raise.usdMicros },
  version: budget.version,
  revision: budget.revision,
  created_at_ms: budget.createdAt.getTime(),
  updated_at_ms: budget.updatedAt.getTime(),
});

export function toBudget(item: Item): Budget {
  const read = fields(budgetTable, item);
  const appId = read.optionalString('app_id');
  const label = read.optionalString('label');
  const dimension = dimensionIn(read);
  const raise = raiseIn(read);
  return {
    orgId: read.string('PK').slice(orgPrefix.length),
    name: read.string('SK').slice(budgetPrefix.length),
    ...(appId === undefined ? {} : { appId }),
    ...(label === undefined ? {} : { label }),
    ...(dimension ? { dimension } : {}),
    period: read.oneOf('period', budgetPeriods),
    usdMicros: read.number('usd_micros'),
    thresholdsPct: read
      .list('thresholds_pct')
      .map((pct) => (typeof pct === 'number' ? pct : read.corrupt('thresholds_pct', 'a list of numbers'))),
    enforcement: read.oneOf('enforcement', enforcements),
    // Budgets from before HARD was enforced do not have it.
    hardChanges: read.has('hard_changes') ? enforcementIn(read, 'hard_changes') : [],
    ...(raise ? { raise } : {}),
    version: read.number('version'),
    revision: read.number('revision'),
    createdAt: read.date('created_at_ms'),
    updatedAt: read.date('updated_at_ms'),
  };
}

function dimensionIn(read: Fields): BudgetDimension | undefined {
  const map = read.optionalMap('dimension');
  const from = map && fields(budgetTable, map);
  return from && { name: from.string('name'), value: from.string('value') };
}

function raiseIn(read: Fields): Raise | undefined {
  const map = read.optionalMap('raise');
  const from = map && fields(budgetTable, map);
  return from && { until: from.date('until_ms'), usdMicros: from.number('usd_micros') };
}
