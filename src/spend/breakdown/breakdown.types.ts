import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../graphql/enum.js';
import { DateTime, LocalDate, SafeInt } from '../../graphql/scalars.js';
import { type BreakdownKind, breakdownKinds } from './breakdown.js';
import { type SeriesStep, seriesSteps } from './spend-series.js';

export const SeriesStepType = enumOf<SeriesStep>(seriesSteps);
registerEnumType(SeriesStepType, {
  name: 'SpendStep',
  description: 'The length of the intervals of a series.',
  valuesConfig: {
    HOUR: {
      description: 'Hours since the local day began. The last hour of a day may be shorter, when clocks are changed.',
    },
    DAY: { description: 'Days in the time zone of the org.' },
  },
});

export const BreakdownKindType = enumOf<BreakdownKind>(breakdownKinds);
registerEnumType(BreakdownKindType, {
  name: 'BreakdownKind',
  description: 'By what the spend of an org is split up.',
  valuesConfig: {
    APP: { description: 'By app, deleted apps included. Under quotaScope ORG: needs `Org.attributeApps`.' },
    LABEL: { description: 'By model label.' },
    DIMENSION: { description: 'By the values of one dimension of `Org.dimensions`.' },
  },
});

@ObjectType('SpendPoint', { description: 'The spend of one hour or one day.' })
export class SpendPointType {
  @Field(() => LocalDate, { simple: true, description: 'The day, in the time zone of the org.' })
  readonly day!: string;

  @Field(() => DateTime, { simple: true, description: 'When the interval begins.' })
  readonly startsAt!: Date;

  @Field(() => DateTime, { simple: true, description: 'When the interval ends.' })
  readonly endsAt!: Date;

  @Field(() => SafeInt, { simple: true, description: 'The cost in micro-dollars, corrections included.' })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true, description: 'Number of recorded calls.' })
  readonly requests!: number;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'The cost of the day that belongs to no hour, because it was recorded before hours were counted. ' +
      'Only on the first hour of a day, else 0. With it, the hours of a day add up to the day.',
  })
  readonly unattributedUsdMicros!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'The calls of the day that belong to no hour. Only on the first hour of a day, else 0.',
  })
  readonly unattributedRequests!: number;
}

@ObjectType('SpendFigures', { description: 'Figures of a range of days.' })
export class SpendFiguresType {
  @Field(() => SafeInt, { simple: true, description: 'The cost in micro-dollars, corrections included.' })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true, description: 'Input tokens used.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Output tokens used.' })
  readonly outputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Number of recorded calls.' })
  readonly requests!: number;
}

@ObjectType('SpendShare', { description: 'The figures of one app, label or dimension value.' })
export class SpendShareType extends SpendFiguresType {
  @Field(() => String, { simple: true, description: 'The id of the app, the label, or the value.' })
  readonly name!: string;

  @Field(() => [SpendShareType], {
    simple: true,
    nullable: true,
    description: 'The labels of the app, the largest costs first. Null unless `by` is APP.',
  })
  readonly labels?: SpendShareType[];
}

@ObjectType('SpendBreakdown', {
  description: 'The spend of an org in a range of days, split up. `rows` and `rest` add up to `total`.',
})
export class SpendBreakdownType {
  @Field(() => BreakdownKindType, { simple: true, description: 'By what the spend is split up.' })
  readonly by!: BreakdownKind;

  @Field(() => SpendFiguresType, { simple: true, description: 'All spend of the org in these days.' })
  readonly total!: SpendFiguresType;

  @Field(() => [SpendShareType], { simple: true, description: 'The largest costs first.' })
  readonly rows!: SpendShareType[];

  @Field(() => SpendFiguresType, {
    simple: true,
    description:
      'Everything that no row has: smaller rows, costs without a value, costs from before the figures were counted, ' +
      'and for DIMENSION on a closed day the values after its 100 largest.',
  })
  readonly rest!: SpendFiguresType;
}
