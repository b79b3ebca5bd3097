import { Arg, Authorized, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../graphql/context.js';
import { LocalDate } from '../../graphql/scalars.js';
import type { Policy } from '../../identity/viewer.js';
import { badInput } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';
import { AppType } from '../../orgs/app.types.js';
import { OrgType } from '../../orgs/org.types.js';
import type { App, Org } from '../../orgs/settings.js';
import { appSubject, orgSubject } from '../subject.js';
import type { BreakdownKind } from './breakdown.js';
import { BreakdownKindType, SeriesStepType, SpendBreakdownType, SpendPointType } from './breakdown.types.js';
import type { SeriesStep } from './spend-series.js';

const fromText = 'The first day.';
const toText = 'The last day, not in the future.';
const seriesText =
  'The spend of each hour or day of a range, oldest first, as last aggregated. Hours that have not begun are left ' +
  'out. At most 31 days of hours, or 366 days. Adds 5 units of complexity per day of hours, else 1 per day.';
const labelText = 'Only this label. Default: all labels.';
const maxRows = 1000;

@Resolver(() => OrgType)
export class OrgBreakdownResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => [SpendPointType], { description: seriesText })
  spendSeries(
    @Root() org: Org,
    @Arg('from', () => LocalDate, { description: fromText }) from: string,
    @Arg('to', () => LocalDate, { description: toText }) to: string,
    @Arg('step', () => SeriesStepType, { description: 'Hours or days.' }) step: SeriesStep,
    @Arg('label', () => String, { nullable: true, description: labelText }) label: string | null | undefined,
    @Ctx() { breakdowns, loaders }: Context,
  ) {
    return breakdowns.series(orgSubject(org), { from, to, step, label }, loaders);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => SpendBreakdownType, {
    description:
      'The spend of a range of days, split up by app, label or dimension value, as last aggregated. At most 366 ' +
      'days; 92 for DIMENSION. Adds complexity: 1 per day; for APP also apps × labels; for DIMENSION also 1 per 20 ' +
      'values of each day that is not closed.',
  })
  spendBreakdown(
    @Root() org: Org,
    @Arg('from', () => LocalDate, { description: fromText }) from: string,
    @Arg('to', () => LocalDate, { description: toText }) to: string,
    @Arg('by', () => BreakdownKindType, { description: 'By what to split up.' }) by: BreakdownKind,
    @Arg('name', () => String, {
      nullable: true,
      description: 'The dimension. Required if `by` is DIMENSION, else ignored.',
    })
    name: string | null | undefined,
    @Arg('top', () => Int, { defaultValue: 100, description: 'The maximum number of rows, 1 to 1000.' })
    top: number,
    @Ctx() { breakdowns, loaders }: Context,
  ) {
    if (!isWholeWithin(top, 1, maxRows)) throw badInput({ path: 'top', message: `must be from 1 to ${maxRows}` });
    return breakdowns.breakdown(org, { from, to, by, name, top }, loaders);
  }
}

@Resolver(() => AppType)
export class AppBreakdownResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => [SpendPointType], {
    description: `${seriesText} Under quotaScope ORG: the spend of the whole org, which its apps share.`,
  })
  spendSeries(
    @Root() app: App,
    @Arg('from', () => LocalDate, { description: fromText }) from: string,
    @Arg('to', () => LocalDate, { description: toText }) to: string,
    @Arg('step', () => SeriesStepType, { description: 'Hours or days.' }) step: SeriesStep,
    @Arg('label', () => String, { nullable: true, description: labelText }) label: string | null | undefined,
    @Ctx() { breakdowns, loaders }: Context,
  ) {
    return breakdowns.series(appSubject(app), { from, to, step, label }, loaders);
  }
}
