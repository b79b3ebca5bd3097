import { Arg, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { DateTime, LocalDate } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { dayAt, endOfDayMs } from '../orgs/calendar.js';
import { AppType, OrgType } from '../orgs/org.types.js';
import { type App, appIdIssues, type Org } from '../orgs/settings.js';
import { CostOutcomeType, CostReceiptType, SubmitCostInput } from './cost.types.js';
import { appSubject, type DaySpend, labelSpend, orgSubject } from './report.js';
import { ModelSelectionType, OverrideModelInput } from './selection.types.js';
import type { Consistency, CostReceipt } from './spend.service.js';
import { ConsistencyType, DaySpendType, LabelSpendType, StickyFallbackType } from './spend.types.js';

const maxInputs = 100;

/** The app a call is about: the caller's own, or the one it names. A foreign one is not found. */
async function appFor(
  { viewer, loaders }: Context,
  orgId: string | null | undefined,
  appId: string | null | undefined,
): Promise<App> {
  const org = orgIdFor(viewer, orgId, 'input.orgId');
  if (viewer.kind === 'APP_CLIENT' && appId && appId !== viewer.appId) throw notFound('app');
  const named = viewer.kind === 'APP_CLIENT' ? viewer.appId : appId;
  if (!named) throw badInput({ path: 'input.appId', message: 'is required unless the caller is the app itself' });
  const app = appIdIssues(named).length > 0 ? undefined : await loaders.app({ orgId: org, appId: named });
  if (!app) throw notFound('app');
  return app;
}

@Resolver(() => CostReceiptType)
export class CostResolver {
  @Authorized<Policy>('spend:submit')
  @Mutation(() => CostReceiptType, {
    nullable: true,
    description: 'Records what a model call cost. Idempotent by `requestId` within its app.',
  })
  async submitCost(
    @Arg('input', () => SubmitCostInput, { description: 'What the call has used.' }) input: SubmitCostInput,
    @Ctx() context: Context,
  ) {
    return context.spend.submitCost(await appFor(context, input.orgId, input.appId), input);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => [CostOutcomeType], {
    nullable: true,
    description: 'Records 1 to 100 costs. Each gets its own outcome, in the order of the inputs.',
  })
  submitCosts(
    @Arg('inputs', () => [SubmitCostInput], { description: 'One input per call.' }) inputs: SubmitCostInput[],
    @Ctx() context: Context,
  ) {
    if (inputs.length < 1 || inputs.length > maxInputs)
      throw badInput({ path: 'inputs', message: `must have 1 to ${maxInputs} items` });
    // Of two items with one id the first is recorded first, whatever scopes and labels they name.
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
      return { requestId, error: { code: 'INTERNAL_SERVER_ERROR', message: 'internal error' } };
    }
  }

  @FieldResolver(() => LabelSpendType, {
    description: 'The running total of the label on that day, as last aggregated.',
  })
  async spend(@Root() { app, label, day }: CostReceipt, @Ctx() { catalog, loaders, clock }: Context) {
    const subject = appSubject(app);
    const isOver = day < dayAt(app.org.zones, clock.nowMs());
    return labelSpend({ subject, catalog, day, isOver }, label, await loaders.total({ ...subject.scope, label, day }));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => ModelSelectionType, {
    nullable: true,
    description:
      'Puts an app, or an org under quotaScope ORG, on a label for the rest of its day, whether its quota is used up or not. `label: null` lets the quotas decide again.',
  })
  async overrideModel(
    @Arg('input', () => OverrideModelInput, { description: 'Whom to put on which label.' }) {
      orgId,
      appId,
      label,
    }: OverrideModelInput,
    @Ctx() context: Context,
  ) {
    const org = await context.loaders.org(orgIdFor(context.viewer, orgId, 'input.orgId'));
    if (!org) throw notFound('org');
    if (!appId && org.quotaScope === 'APP')
      throw badInput({ path: 'input.appId', message: 'is required under quotaScope APP' });
    const subject = appId ? appSubject(await appFor(context, orgId, appId)) : orgSubject(org);
    await context.selection.override(subject, label, context.actor);
    return context.selection.select(subject, context.freshLoaders());
  }
}

@Resolver(() => OrgType)
export class OrgSpendResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => DaySpendType, {
    description:
      'The spend of a day. Under quotaScope APP: the sum over the org’s apps, without a quota of its own (`quotaUsdMicros` and `quotaPct` are null, `mode` is the worst of the apps).',
  })
  spend(
    @Root() org: Org,
    @Arg('day', () => LocalDate, {
      nullable: true,
      description: 'A day in the org’s time zone, not in the future. Absent: today.',
    })
    day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, {
      defaultValue: 'AGGREGATED',
      description: 'How fresh the figures have to be.',
    })
    consistency: Consistency,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.day(orgSubject(org), day, consistency, loaders);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [DaySpendType], {
    description:
      'The spend of each day of a range, oldest first, as last aggregated. At most 366 days; costs one unit of complexity per day.',
  })
  spendHistory(
    @Root() org: Org,
    @Arg('from', () => LocalDate, { description: 'The first day.' }) from: string,
    @Arg('to', () => LocalDate, { description: 'The last day, not in the future.' }) to: string,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.history(orgSubject(org), from, to, loaders);
  }
}

@Resolver(() => AppType)
export class AppSpendResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => DaySpendType, {
    description: 'The spend of a day. Under quotaScope ORG: the spend of the org, which all its apps share.',
  })
  spend(
    @Root() app: App,
    @Arg('day', () => LocalDate, {
      nullable: true,
      description: 'A day in the org’s time zone, not in the future. Absent: today.',
    })
    day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, {
      defaultValue: 'AGGREGATED',
      description: 'How fresh the figures have to be.',
    })
    consistency: Consistency,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.day(appSubject(app), day, consistency, loaders);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => [DaySpendType], {
    description:
      'The spend of each day of a range, oldest first, as last aggregated. At most 366 days; costs one unit of complexity per day.',
  })
  spendHistory(
    @Root() app: App,
    @Arg('from', () => LocalDate, { description: 'The first day.' }) from: string,
    @Arg('to', () => LocalDate, { description: 'The last day, not in the future.' }) to: string,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.history(appSubject(app), from, to, loaders);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => ModelSelectionType, {
    description: 'Which model to call now. Ask again after `recheckAfterSecs`.',
  })
  modelSelection(@Root() app: App, @Ctx() { selection, loaders }: Context) {
    return selection.select(appSubject(app), loaders);
  }
}

@Resolver(() => DaySpendType)
export class DaySpendResolver {
  @FieldResolver(() => StickyFallbackType, {
    nullable: true,
    description:
      'The fallback or override that selections of this day go by. Null if there is none, and on the roll-up of an org whose apps have the quotas.',
  })
  async stickyFallback(@Root() { subject, day, isOver }: DaySpend, @Ctx() { loaders }: Context) {
    if (subject.isRollup) return null;
    const sticky = await loaders.sticky({ ...subject.scope, day });
    // Selections ignore it while sticky fallback is off, except for an override.
    const isIgnored = !isOver && !subject.org.stickyFallbackEnabled && sticky?.reason === 'QUOTA_EXCEEDED';
    return isIgnored ? null : sticky;
  }

  @FieldResolver(() => DateTime, { description: 'The end of this day, when the quotas start anew.' })
  resetsAt(@Root() { subject, day }: DaySpend) {
    return new Date(endOfDayMs(subject.org.zones, day));
  }
}
