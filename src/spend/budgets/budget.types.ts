import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../graphql/enum.js';
import { DateTime, LocalDate, SafeInt, Uuid } from '../../graphql/scalars.js';
import { orgIdText } from '../../identity/identity.types.js';
import { expectedVersionOrNoneText, settingsVersionText } from '../../orgs/settings.types.js';
import { DimensionInput } from '../cost.types.js';
import { type Enforcement, enforcements } from './budget.js';
import { type BudgetPeriod, budgetPeriods } from './period.js';

export const BudgetPeriodType = enumOf<BudgetPeriod>(budgetPeriods);
registerEnumType(BudgetPeriodType, {
  name: 'BudgetPeriod',
  description: 'How long a budget lasts, in local days of the org.',
  valuesConfig: {
    DAY: { description: 'One local day.' },
    WEEK: { description: 'Seven local days, from Monday to Sunday.' },
    MONTH: { description: 'A calendar month, from the 1st to its last day.' },
  },
});

export const BudgetEnforcementType = enumOf<Enforcement>(enforcements);
registerEnumType(BudgetEnforcementType, {
  name: 'BudgetEnforcement',
  description: 'What happens when a budget is used up.',
  valuesConfig: {
    ALERT: { description: 'Alerts only. Selections ignore the budget.' },
    ADVISORY: {
      description: 'Alerts, and selections do not recommend the labels of the budget. Costs are still recorded.',
    },
    HARD: {
      description:
        'The same as ADVISORY, and `admit` reserves the estimated cost before a call, so that settled and reserved ' +
        'costs together never exceed the budget, except for overruns. Takes effect on a coming day, and is ADVISORY ' +
        'until then. Not for a budget of a dimension value. At most 2 HARD budgets may apply to one cost.',
    },
  },
});

const scopeText =
  'A budget of an app counts the costs of the app, a budget without one the costs of the whole org. ' +
  'Under quotaScope ORG, a budget of an app needs `attributeApps`.';
const labelText = 'Counts only this label. Null: all labels. The day of one label has a quota instead of a budget.';
const dimensionText = 'Counts only costs with this value of a dimension. Selections ignore such a budget.';
const thresholdsText = 'Percentages of the budget that raise an alert. 100 always does.';
const raiseText = 'A larger amount for a limited time. A raise makes a new version, so its thresholds alert again.';
const raisedAmountText = 'The amount that replaces `usdMicros` until the raise ends, in micro-dollars.';

@ObjectType('BudgetDimension', { description: 'A value of a dimension.' })
export class BudgetDimensionType {
  @Field(() => String, { simple: true, description: 'The name of the dimension.' })
  readonly name!: string;

  @Field(() => String, { simple: true, description: 'The value.' })
  readonly value!: string;
}

@ObjectType('BudgetRaise', { description: 'A larger amount that is in force until a point in time.' })
export class BudgetRaiseType {
  @Field(() => DateTime, { simple: true, description: 'When the raise ends. `usdMicros` is in force again from then.' })
  readonly until!: Date;

  @Field(() => SafeInt, { simple: true, description: raisedAmountText })
  readonly usdMicros!: number;
}

@ObjectType('BudgetForecast', { description: 'The expected spend of the current period.' })
export class BudgetForecastType {
  @Field(() => SafeInt, { simple: true, description: 'The cost of the last 60 minutes, in micro-dollars.' })
  readonly burnUsdMicrosPerHour!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The expected spend at the end of the period, in micro-dollars. Never less than what was spent.',
  })
  readonly projectedUsdMicros!: number;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the amount in force is expected to be used up. Null if not within this period.',
  })
  readonly exhaustsAt?: Date;

  @Field(() => String, { simple: true, description: 'How the figures were found, in words.' })
  readonly basis!: string;
}

@ObjectType('BudgetEnforcementChange', { description: 'A change of the enforcement of a budget on a coming day.' })
export class BudgetEnforcementChangeType {
  @Field(() => BudgetEnforcementType, { simple: true, description: 'The enforcement from that day on.' })
  readonly enforcement!: Enforcement;

  @Field(() => LocalDate, { simple: true, description: 'The first local day of the org on which it is in force.' })
  readonly from!: string;
}

@ObjectType('Budget', {
  description:
    'An amount that an org, an app or a label may spend per day, week or month of the org’s time zone. ' +
    'Its spend is always the sum of the days of its period.',
})
export class BudgetType {
  @Field(() => String, { simple: true, description: 'The name of the budget, unique within its org.' })
  readonly name!: string;

  @Field(() => String, { nullable: true, simple: true, description: scopeText })
  readonly appId?: string;

  @Field(() => String, { nullable: true, simple: true, description: labelText })
  readonly label?: string;

  @Field(() => BudgetDimensionType, { nullable: true, simple: true, description: dimensionText })
  readonly dimension?: BudgetDimensionType;

  @Field(() => BudgetPeriodType, { simple: true, description: 'How long the budget lasts.' })
  readonly period!: BudgetPeriod;

  @Field(() => SafeInt, { simple: true, description: 'The amount per period, in micro-dollars.' })
  readonly usdMicros!: number;

  @Field(() => [Int], { simple: true, description: thresholdsText })
  readonly thresholdsPct!: number[];

  @Field(() => SafeInt, { simple: true, description: settingsVersionText })
  readonly version!: number;

  @Field(() => DateTime, { simple: true, description: 'When the budget was created.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the budget was last changed.' })
  readonly updatedAt!: Date;
}

@InputType({ description: 'A larger amount that is in force until a point in time.' })
export class BudgetRaiseInput {
  @Field(() => DateTime, { description: 'When the raise ends: in the future, at most 31 days from now.' })
  readonly until!: Date;

  @Field(() => SafeInt, { description: `${raisedAmountText} At least \`usdMicros\`, at most 10^15.` })
  readonly usdMicros!: number;
}

@InputType({ description: 'A budget to create or to replace. It replaces all settings: absent ones are not kept.' })
export class SetBudgetInput {
  @Field(() => Uuid, { nullable: true, description: orgIdText })
  readonly orgId?: string | null;

  @Field(() => String, {
    description:
      'The name of the budget, unique within its org: 1–64 characters of a-z 0-9 . _ - ' +
      'that begin with a letter or digit. An org has at most 50 budgets.',
  })
  readonly name!: string;

  @Field(() => String, { nullable: true, description: scopeText })
  readonly appId?: string | null;

  @Field(() => String, { nullable: true, description: `${labelText} Not with \`period: DAY\`.` })
  readonly label?: string | null;

  @Field(() => DimensionInput, {
    nullable: true,
    description: `${dimensionText} Not with \`appId\` or \`label\`.`,
  })
  readonly dimension?: DimensionInput | null;

  @Field(() => BudgetPeriodType, { description: 'How long the budget lasts.' })
  readonly period!: BudgetPeriod;

  @Field(() => SafeInt, { description: 'The amount per period in micro-dollars, 1 to 10^15.' })
  readonly usdMicros!: number;

  @Field(() => [Int], {
    defaultValue: [50, 80, 95],
    description: `${thresholdsText} Up to 10 ascending whole numbers from 1 to 100.`,
  })
  readonly thresholdsPct!: number[];

  @Field(() => BudgetEnforcementType, {
    defaultValue: 'ALERT',
    description:
      'What happens when the budget is used up. A change from or to HARD takes effect on the next local day, or on ' +
      'the day after it if that day begins in less than 310 seconds.',
  })
  readonly enforcement!: Enforcement;

  @Field(() => BudgetRaiseInput, { nullable: true, description: raiseText })
  readonly raise?: BudgetRaiseInput | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
  readonly expectedVersion?: number | null;
}
