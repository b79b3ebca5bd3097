import { Arg, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { DateTime, LocalDate } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { badInput, GatewayError, notFound } from '../lib/errors.js';
import { AppType } from '../orgs/app.types.js';
import { dayAt, endOfDayMs } from '../orgs/calendar.js';
import { OrgType } from '../orgs/org.types.js';
import type { App, Org } from '../orgs/settings.js';
import { CostLineType, CostOutcomeType, CostReceiptType, SubmitCostInput } from './cost.types.js';
import { appFor } from './cost-app.types.js';
import { type DaySpend, labelSpend } from './day-spend.js';
import { ModelSelectionType, OverrideModelInput } from './selection.types.js';
import type { Consistency, CostReceipt } from './spend.service.js';
import { ConsistencyType, DaySpendType, LabelSpendType, StickyFallbackType } from './spend.types.js';
import { appSubject, orgSubject } from './subject.js';

const maxInputs = 100;

@Resolver(() => CostReceiptType)
export class CostResolver {
  @Authorized<Policy>('spend:submit')
  @Mutation(() => CostReceiptType, {
    nullable: true,
    description: 'Records the cost of a model call. Idempotent by `requestId` within its app.',
  })
  async submitCost(
    @Arg('input', () => SubmitCostInput, { description: 'The usage of the call.' }) input: SubmitCostInput,
    @Ctx() context: Context,
  ) {
    return context.spend.submitCost(await appFor(context, input), input);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => [CostOutcomeType], {
    nullable: true,
    description: 'Records 1 to 100 costs. Returns one outcome per input, in the order of the inputs.',
  })
  submitCosts(
    @Arg('inputs', () => [SubmitCostInput], { description: 'The usage of each call.' }) inputs: SubmitCostInput[],
    @Ctx() context: Context,
  ) {
    if (inputs.length < 1 || inputs.length > maxInputs)
      throw badInput({ path: 'inputs', message: `must have 1 to ${maxInputs} items` });
    // Two items with the same id are recorded in their order, even if their scopes and labels differ.
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

  @FieldResolver(() => [CostLineType], {
    description:
      'How the cost was computed: one line per part of the usage, in the order input, output, components by name. ' +
      'The lines sum to `costUsdMicros`. Empty if the cost was submitted.',
  })
  lines(@Root() receipt: CostReceipt) {
    return receipt.lines();
  }

  @FieldResolver(() => LabelSpendType, {
    description: 'The total of the label on that day, as last aggregated.',
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
      'Sets the label that an app, or an org under quotaScope ORG, uses for the rest of its day, ' +
      'even if the quota of the label is used up. `label: null` clears the override, so that the quotas decide again.',
  })
  async overrideModel(
    @Arg('input', () => OverrideModelInput, { description: 'The scope and its label.' }) input: OverrideModelInput,
    @Ctx() context: Context,
  ) {
    const { orgId, appId, label } = input;
    const org = await context.loaders.org(orgIdFor(context.viewer, orgId, 'input.orgId'));
    if (!org) throw notFound('org');
    if (!appId && org.quotaScope === 'APP')
      throw badInput({ path: 'input.appId', message: 'is required under quotaScope APP' });
    const subject = appId ? appSubject(await appFor(context, input)) : orgSubject(org);
    await context.selection.override(subject, label, context.actor);
    return context.selection.select(subject, context.freshLoaders());
  }
}

@Resolver(() => OrgType)
export class OrgSpendResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => DaySpendType, {
    description:
      'The spend of a day. Under quotaScope APP: the sum over the apps of the org, without a quota of its own ' +
      '(`quotaUsdMicros` and `quotaPct` are null, `mode` is the worst mode of the apps).',
  })
  spend(
    @Root() org: Org,
    @Arg('day', () => LocalDate, {
      nullable: true,
      description: 'A day in the time zone of the org, not in the future. Default: today.',
    })
    day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, {
      defaultValue: 'AGGREGATED',
      description: 'How fresh the figures must be.',
    })
    consistency: Consistency,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.day(orgSubject(org), day, consistency, loaders);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [DaySpendType], {
    description:
      'The spend of each day of a range, oldest first, as last aggregated. ' +
      'At most 366 days. Adds one unit of complexity per day.',
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
    description: 'The spend of a day. Under quotaScope ORG: the spend of the whole org, which its apps share.',
  })
  spend(
    @Root() app: App,
    @Arg('day', () => LocalDate, {
      nullable: true,
      description: 'A day in the time zone of the org, not in the future. Default: today.',
    })
    day: string | null | undefined,
    @Arg('consistency', () => ConsistencyType, {
      defaultValue: 'AGGREGATED',
      description: 'How fresh the figures must be.',
    })
    consistency: Consistency,
    @Ctx() { spend, loaders }: Context,
  ) {
    return spend.day(appSubject(app), day, consistency, loaders);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => [DaySpendType], {
    description:
      'The spend of each day of a range, oldest first, as last aggregated. ' +
      'At most 366 days. Adds one unit of complexity per day.',
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
    description: 'The model to call now. Request a new selection after `recheckAfterSecs`.',
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
      'The fallback or override that decides the selections of this day. Null if there is none, ' +
      'and for an org under quotaScope APP.',
  })
  async stickyFallback(@Root() { subject, day, isOver }: DaySpend, @Ctx() { loaders }: Context) {
    if (subject.isRollup) return null;
    const sticky = await loaders.sticky({ ...subject.scope, day });
    // While sticky fallback is disabled, selections ignore a stored fallback but not an override.
    const isIgnored = !isOver && !subject.org.stickyFallbackEnabled && sticky?.reason === 'QUOTA_EXCEEDED';
    return isIgnored ? null : sticky;
  }

  @FieldResolver(() => DateTime, { description: 'The end of this day, when all quotas start again.' })
  resetsAt(@Root() { subject, day }: DaySpend) {
    return new Date(endOfDayMs(subject.org.zones, day));
  }
}
