import { Arg, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { DateTime, LocalDate } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { AppType, OrgType } from '../orgs/org.types.js';
import { type App, appIdIssues, type Org } from '../orgs/settings.js';
import { endOfDayMs } from './calendar.js';
import { appSubject, type DaySpend, labelSpend, orgSubject } from './report.js';
import type { Consistency, CostReceipt } from './spend.service.js';
import {
  ConsistencyType,
  CostOutcomeType,
  CostReceiptType,
  DaySpendType,
  LabelSpendType,
  ModelSelectionType,
  OverrideModelInput,
  StickyFallbackType,
  SubmitCostInput,
} from './spend.types.js';

const mostInputs = 100;

/** The app a call is about: the caller's own, or the one it names. A foreign one does not exist for it. */
async function appFor({ viewer, loaders }: Context, orgId: string | null | undefined, appId: string | null | undefined): Promise<App> {
  const org = orgIdFor(viewer, orgId, 'input.orgId');
  if (viewer.kind === 'APP_CLIENT' && appId && appId !== viewer.appId) throw notFound('app');
  const named = viewer.kind === 'APP_CLIENT' ? viewer.appId : appId;
  if (!named) throw badInput({ path: 'input.appId', message: 'is needed unless the caller is the app itself' });
  const app = appIdIssues(named).length > 0 ? undefined : await loaders.app({ orgId: org, appId: named });
  if (!app) throw notFound('app');
  return app;
}

@Resolver(() => CostReceiptType)
export class CostResolver {
  @Authorized<Policy>('spend:submit')
  @Mutation(() => CostReceiptType, { nullable: true, description: 'Counts what a call cost, once.' })
  async submitCost(@Arg('input', () => SubmitCostInput) input: SubmitCostInput, @Ctx() context: Context) {
    return context.spend.submitCost(await appFor(context, input.orgId, input.appId), input);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => [CostOutcomeType], { nullable: true, description: '1 to 100; each gets its own outcome.' })
  submitCosts(@Arg('inputs', () => [SubmitCostInput]) inputs: SubmitCostInput[], @Ctx() context: Context) {
    if (inputs.length < 1 || inputs.length > mostInputs) throw badInput({ path: 'inputs', message: `must have 1 to ${mostInputs} items` });
    // Of two items with one id the first is judged first, whatever scopes and labels they name.
    const turns = new Map<string, Promise<unknown>>();
    return Promise.all(
      inputs.map((input) => {
        const turn = (turns.get(input.requestId) ?? Promise.resolve()).then(() => this.outcomeOf(input, context));
        turns.set(input.requestId, turn);
        return turn;
      }),
    );
  }

  private async outcomeOf(input: SubmitCostInput, context: Context) {
    const { requestId } = input;
    try {
      return { requestId, receipt: await this.submitCost(input, context) };
    } catch (error) {
      if (error instanceof GatewayError) return { requestId, error: { code: error.code, message: error.message } };
      context.log.error({ requestId: context.requestId, err: error }, 'unexpected error');
      return { requestId, error: { code: 'INTERNAL_SERVER_ERROR', message: 'something went wrong on our side' } };
    }
  }

  @FieldResolver(() => LabelSpendType, { description: "The label's running total for the day, as last aggregated." })
  async spend(@Root() { app, label, day }: CostReceipt, @Ctx() { catalog, loaders }: Context) {
    const subject = appSubject(app);
    return labelSpend(subject, catalog, label, await loaders.total({ ...subject.scope, label, day }));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => ModelSelectionType, {
    nullable: true,
    description: 'Puts a scope on a label for the rest of its day, used up or not; null lets the quotas decide again.',
  })
  async overrideModel(@Arg('input', () => OverrideModelInput) { orgId, appId, label }: OverrideModelInput, @Ctx() context: Context) {
    const org = await context.loaders.org(orgIdFor(context.viewer, orgId, 'input.orgId'));
    if (!org) throw notFound('org');
    if (!appId && org.quotaScope === 'APP') throw badInput({ path: 'input.appId', message: 'is needed under quotaScope APP' });
    const subject = appId ? appSubject(await appFor(context, orgId, appId)) : orgSubject(org);
    await context.selection.override(subject, label, context.actor);
    return context.selection.select(subject, context.freshReader());
  }
}

@Resolver(() => OrgType)
export class OrgSpendResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => DaySpendType, {
    description: "Under quotaScope APP: the sum over the org's apps, with no quota of its own (quotaUsdMicros and quotaPct null, mode the worst of its apps').",
  })
  spend(
    @Root() org: Org,
    @Arg('day', () => LocalDate, { nullable: true, description: 'Absent: today.' }) day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, { defaultValue: 'AGGREGATED' }) consistency: Consistency,
    @Ctx() { spend, reader }: Context,
  ) {
    return spend.day(orgSubject(org), day, consistency, reader);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [DaySpendType], { description: 'Oldest first, at most 366 days.' })
  spendHistory(@Root() org: Org, @Arg('from', () => LocalDate) from: string, @Arg('to', () => LocalDate) to: string, @Ctx() { spend }: Context) {
    return spend.history(orgSubject(org), from, to);
  }
}

@Resolver(() => AppType)
export class AppSpendResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => DaySpendType, { description: "Under quotaScope ORG: the org's, which all its apps share." })
  spend(
    @Root() app: App,
    @Arg('day', () => LocalDate, { nullable: true, description: 'Absent: today.' }) day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, { defaultValue: 'AGGREGATED' }) consistency: Consistency,
    @Ctx() { spend, reader }: Context,
  ) {
    return spend.day(appSubject(app), day, consistency, reader);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => [DaySpendType], { description: 'Oldest first, at most 366 days.' })
  spendHistory(@Root() app: App, @Arg('from', () => LocalDate) from: string, @Arg('to', () => LocalDate) to: string, @Ctx() { spend }: Context) {
    return spend.history(appSubject(app), from, to);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => ModelSelectionType, { description: 'Which model to call now; ask again after `recheckAfterSecs`.' })
  modelSelection(@Root() app: App, @Ctx() { selection, reader }: Context) {
    return selection.select(appSubject(app), reader);
  }
}

@Resolver(() => DaySpendType)
export class DaySpendResolver {
  @FieldResolver(() => StickyFallbackType, { nullable: true })
  stickyFallback(@Root() { subject, day }: DaySpend, @Ctx() { loaders }: Context) {
    return subject.isRollup ? null : loaders.sticky({ ...subject.scope, day });
  }

  @FieldResolver(() => DateTime)
  resetsAt(@Root() { subject, day }: DaySpend) {
    return new Date(endOfDayMs(subject.org.zones, day));
  }
}
