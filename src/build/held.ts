import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import { Locks } from '../lib/locks.js';
import type { BudgetService } from '../spend/budgets/budget.service.js';
import type { BudgetSumDeps } from '../spend/budgets/budget-sums.service.js';
import { CostStore } from '../spend/cost.store.js';
import { HeldStore } from '../spend/held/held.store.js';
import { HeldMemory } from '../spend/held/held-memory.js';
import { BaseService, HoldService } from '../spend/held/hold.service.js';
import { OverrunService } from '../spend/held/overrun.service.js';
import { OverrunStore } from '../spend/held/overrun.store.js';
import { ReservationService } from '../spend/held/reservation.service.js';
import { ReserveStore } from '../spend/held/reserve.store.js';
import type { Base } from './base.js';
import type { Identity } from './identity.js';

export interface HeldDeps {
  readonly budgets: BudgetService;
  readonly budgetSums: BudgetSumDeps;
  readonly homeShard: number;
  readonly scheduler: EventLoopScheduler;
}

/** Costs, and the money that HARD quotas and budgets hold. */
export function buildHeld(base: Base, { audit, tenants }: Identity, deps: HeldDeps) {
  const { config, clock, metrics, store } = base;
  const { budgets, budgetSums, homeShard, scheduler } = deps;
  const { retention, submissionsWaiting: maxWaiting } = config;
  const memory = new HeldMemory(clock);
  const locks = new Locks();
  const overrunStore = new OverrunStore(store);
  const overruns = new OverrunService({ store: overrunStore, audit, metrics });
  const shared = { retention, maxWaiting, scheduler, locks, memory };
  const costStore = new CostStore(store, clock, {
    ...shared,
    homeShard,
    overruns: {
      list: (record, overrun, times) => overrunStore.draft(record, overrun, times),
      audit: (record, overrun) => overruns.auditDraft(record, overrun),
      count: (overrun) => overruns.count(overrun),
    },
  });
  const held = new HeldStore(store, clock, retention.shardDays);
  const bases = new BaseService({ held, budgets, ...budgetSums });
  const reserves = new ReserveStore(store, clock, {
    ...shared,
    held,
    costs: costStore,
    ensureBase: async (limit) => {
      const org = limit.ref.kind === 'budget' ? await tenants.org(limit.ref.orgId) : undefined;
      if (org) await bases.ensure(org, limit);
    },
  });
  const reservations = new ReservationService({ reserves, costs: costStore });
  return { costStore, reserves, reservations, memory, overruns, holds: new HoldService({ budgets, clock }) };
}
