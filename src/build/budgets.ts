import type { AlertService } from '../alerts/alert.service.js';
import { OrgStore } from '../orgs/org.store.js';
import { DimensionStore } from '../spend/breakdown/dimension.store.js';
import { BudgetRollup } from '../spend/budgets/budget.rollup.js';
import { BudgetService } from '../spend/budgets/budget.service.js';
import { BudgetStore } from '../spend/budgets/budget.store.js';
import { BudgetCheckService } from '../spend/budgets/budget-check.service.js';
import { BudgetStateStore } from '../spend/budgets/budget-state.store.js';
import { HeldStore } from '../spend/held/held.store.js';
import { LabelStore } from '../spend/label.store.js';
import { SliceStore } from '../spend/slice.store.js';
import { TotalStore } from '../spend/total.store.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

/** Budgets, for a gateway. */
export function buildBudgets(base: Base, identity: Identity, alerts: AlertService) {
  const { catalog, clock, log, store } = base;
  const { orgStore: orgs, appStore: apps, changes, audit, versions } = identity;
  const { budgets, states, checks, sums } = buildChecks(base, alerts);
  const slices = new SliceStore(store);
  const settings = { orgs, apps, changes, audit, versions, labels: catalog, clock, log };
  return {
    budgets: new BudgetService({ store: budgets, states, checks, slices, ...settings }),
    budgetStates: states,
    budgetSums: sums,
  };
}

/** The worker's part: sums budgets and raises their alerts. */
export function buildBudgetRollup(base: Base, alerts: AlertService): BudgetRollup {
  const { clock, log, store } = base;
  return new BudgetRollup({ checks: buildChecks(base, alerts).checks, orgs: new OrgStore(store), clock, log });
}

function buildChecks({ config, clock, store }: Base, alerts: AlertService) {
  const { totalDays, shardDays } = config.retention;
  const budgets = new BudgetStore(store);
  const states = new BudgetStateStore(store, totalDays);
  const sums = {
    totals: new TotalStore(store, totalDays),
    labels: new LabelStore(store),
    dimensions: new DimensionStore(store, totalDays),
  };
  const held = new HeldStore(store, clock, shardDays);
  const checks = new BudgetCheckService({ budgets, states, ...sums, alerts, held, clock });
  return { budgets, states, checks, sums };
}
