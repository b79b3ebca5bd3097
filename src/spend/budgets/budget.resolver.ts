import { Arg, Authorized, Ctx, FieldResolver, Float, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../../graphql/context.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../../graphql/scalars.js';
import { orgIdText } from '../../identity/identity.types.js';
import { orgIdFor, type Policy } from '../../identity/viewer.js';
import { dayAt, endOfDayMs } from '../../orgs/calendar.js';
import { OrgType } from '../../orgs/org.types.js';
import { type Org, shardCounts } from '../../orgs/settings.js';
import { expectedVersionOrNoneText } from '../../orgs/settings.types.js';
import { quotaPct } from '../money.js';
import { amountInForce, enforcementOfBudget, nextEnforcementOf } from './budget.js';
import type { OrgBudget } from './budget.service.js';
import {
  BudgetEnforcementChangeType,
  BudgetEnforcementType,
  BudgetForecastType,
  BudgetRaiseType,
  BudgetType,
  SetBudgetInput,
} from './budget.types.js';
import { type BudgetState, stateFor } from './budget-state.js';
import { forecastDays } from './forecast.js';
import { periodOf } from './period.js';

const advice = 'request the budgets of fewer orgs in one operation';
const dimensionAdvice = 'set fewer budgets of dimension values in one operation';
/** A new budget of a dimension value sums every day of a month, shard by shard. */
const maxDimensionQueries = 31 * Math.max(...shardCounts);
const forecastAdvice = 'request the forecasts of fewer budgets in one operation';

@Resolver(() => OrgType)
export class OrgBudgetResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => [BudgetType], {
    description: 'The budgets of the org, by name. Adds one unit of complexity per budget.',
  })
  async budgets(@Root() org: Org, @Ctx() { budgets, loaders }: Context) {
    const found = await budgets.list(org);
    loaders.charge(found.length, advice);
    return found;
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => BudgetType, { nullable: true, description: 'A budget of the org. Null if it does not exist.' })
  async budget(
    @Root() org: Org,
    @Arg('name', () => String, { description: 'The name of the budget.' }) name: string,
    @Ctx() { budgets }: Context,
  ) {
    return (await budgets.list(org)).find((budget) => budget.name === name);
  }
}

@Resolver(() => BudgetType)
export class BudgetResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => BudgetType, {
    nullable: true,
    description:
      'Creates a budget, or replaces all settings of the budget with this name. ' +
      'Takes effect on all gateways within 2 s. Adds 1,984 units of complexity with `dimension`.',
  })
  setBudget(
    @Arg('input', () => SetBudgetInput, { description: 'The budget.' }) { orgId, ...budget }: SetBudgetInput,
    @Ctx() context: Context,
  ) {
    if (budget.dimension) context.loaders.charge(maxDimensionQueries, dimensionAdvice);
    return context.budgets.set(orgIdFor(context.viewer, orgId, 'input.orgId'), budget, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description: 'Deletes a budget. False if there is none with this name. Its alerts stay.',
  })
  deleteBudget(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('name', () => String, { description: 'The name of the budget.' }) name: string,
    @Arg('expectedVersion', () => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
    expectedVersion: number | null | undefined,
    @Ctx() context: Context,
  ) {
    return context.budgets.delete(orgIdFor(context.viewer, orgId), name, expectedVersion, context.actor);
  }

  @FieldResolver(() => BudgetEnforcementType, {
    description: 'What happens when the budget is used up: the enforcement that is in force today.',
  })
  enforcement(@Root() budget: OrgBudget, @Ctx() { clock }: Context) {
    return enforcementOfBudget(budget, dayAt(budget.org.zones, clock.nowMs()));
  }

  @FieldResolver(() => BudgetEnforcementChangeType, {
    nullable: true,
    description: 'The change that waits for a coming day. Null if there is none.',
  })
  nextEnforcement(@Root() budget: OrgBudget, @Ctx() { clock }: Context) {
    return nextEnforcementOf(budget, dayAt(budget.org.zones, clock.nowMs()));
  }

  @FieldResolver(() => BudgetRaiseType, {
    nullable: true,
    description: 'The raise that is in force. Null if there is none, or if it has ended.',
  })
  raise(@Root() { raise }: OrgBudget, @Ctx() { clock }: Context) {
    return raise && clock.nowMs() < raise.until.getTime() ? raise : null;
  }

  @FieldResolver(() => SafeInt, {
    description: 'The amount in force in micro-dollars: `usdMicros`, or the raised amount until the raise ends.',
  })
  inForceUsdMicros(@Root() budget: OrgBudget, @Ctx() { clock }: Context) {
    return amountInForce(budget, clock.nowMs());
  }

  @FieldResolver(() => LocalDate, { description: 'The first day of the current period.' })
  periodStart(@Root() budget: OrgBudget, @Ctx() context: Context) {
    return periodNow(budget, context).firstDay;
  }

  @FieldResolver(() => LocalDate, { description: 'The last day of the current period.' })
  periodEnd(@Root() budget: OrgBudget, @Ctx() context: Context) {
    return periodNow(budget, context).lastDay;
  }

  @FieldResolver(() => DateTime, { description: 'The end of the last day of the period, when the next one begins.' })
  resetsAt(@Root() budget: OrgBudget, @Ctx() context: Context) {
    return new Date(endOfDayMs(budget.org.zones, periodNow(budget, context).lastDay));
  }

  @FieldResolver(() => SafeInt, {
    description: 'The spend of the current period as last summed, in micro-dollars: the sum of its days.',
  })
  async spentUsdMicros(@Root() budget: OrgBudget, @Ctx() context: Context) {
    return spentOf(await stateOf(budget, context));
  }

  @FieldResolver(() => SafeInt, {
    description: 'The rest of the amount in force, in micro-dollars. 0 if the budget is used up.',
  })
  async remainingUsdMicros(@Root() budget: OrgBudget, @Ctx() context: Context) {
    const spent = spentOf(await stateOf(budget, context));
    return Math.max(0, amountInForce(budget, context.clock.nowMs()) - spent);
  }

  @FieldResolver(() => Float, {
    description: 'The spend as a percentage of the amount in force, rounded down to four decimal places.',
  })
  async pct(@Root() budget: OrgBudget, @Ctx() context: Context) {
    return quotaPct(spentOf(await stateOf(budget, context)), amountInForce(budget, context.clock.nowMs()));
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'All costs acknowledged before this time are included in the spend. It moves when the spend changes. ' +
      'Null if no cost of this period was summed yet.',
  })
  async asOf(@Root() budget: OrgBudget, @Ctx() context: Context) {
    const asOf = (await stateOf(budget, context))?.asOf;
    return asOf?.getTime() ? asOf : null;
  }

  @FieldResolver(() => BudgetForecastType, {
    nullable: true,
    description:
      'The expected spend of the current period, from the hours of the last four weeks. Adds 28 units of complexity ' +
      'per budget. Null with less than three hours of data, and for a budget of a dimension value.',
  })
  async forecast(@Root() budget: OrgBudget, @Ctx() context: Context) {
    context.loaders.charge(forecastDays, forecastAdvice);
    return context.budgets.forecast(budget, spentOf(await stateOf(budget, context)));
  }
}

const periodNow = ({ org, period }: OrgBudget, { clock }: Context) => periodOf(period, dayAt(org.zones, clock.nowMs()));

const spentOf = (state: BudgetState | undefined): number => state?.spentUsdMicros ?? 0;

/** The state of the current period. All fields of a budget share one read. */
async function stateOf(budget: OrgBudget, { budgets, loaders }: Context): Promise<BudgetState | undefined> {
  const { loaded } = budget;
  return stateFor(budget, loaded ? loaded.state : await loaders.budgetState(budgets.currentPeriod(budget)));
}
