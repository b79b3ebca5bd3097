import { Field, Float, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, LocalDate, SafeInt } from '../graphql/scalars.js';
import { QuotaScopeType } from '../orgs/org.types.js';
import { type SpendMode, spendModes } from './money.js';
import { type StickyReason, stickyReasons } from './selection.js';
import type { Consistency } from './spend.service.js';

export const SpendModeType = enumOf<SpendMode>(spendModes);
registerEnumType(SpendModeType, {
  name: 'SpendMode',
  description: 'The state of a label’s spend relative to its daily quota.',
  valuesConfig: {
    NORMAL: { description: 'Below the tight-mode threshold, or without a quota.' },
    TIGHT: { description: 'At or above the tight-mode threshold.' },
    EXCEEDED: { description: 'At or above the quota.' },
  },
});
export const ConsistencyType = enumOf<Consistency>(['AGGREGATED', 'EXACT']);
registerEnumType(ConsistencyType, {
  name: 'Consistency',
  description: 'How fresh the figures must be.',
  valuesConfig: {
    AGGREGATED: {
      description: 'The totals of the last aggregation, which are cheap to read. `asOf` says how old they are.',
    },
    EXACT: {
      description:
        'All costs acknowledged before the request. Adds complexity: labels × shards, ' +
        'for an org under quotaScope APP × apps. The figures of a day whose aggregation is final come from its total.',
    },
  },
});
export const StickyReasonType = enumOf<StickyReason>(stickyReasons);
registerEnumType(StickyReasonType, {
  name: 'StickyReason',
  description: 'Why a scope uses a label for the rest of its day.',
  valuesConfig: {
    QUOTA_EXCEEDED: { description: 'The quota of the label before it was used up.' },
    MANUAL_OVERRIDE: { description: '`overrideModel` set it.' },
  },
});

@ObjectType('LabelSpend', { description: 'The spend of one label on one day.' })
export class LabelSpendType {
  @Field(() => String, { simple: true, description: 'The label.' })
  readonly label!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The Amazon Bedrock ID of the model. Null if this gateway has no model for the label.',
  })
  readonly bedrockModelId?: string;

  @Field(() => SafeInt, { simple: true, description: 'The cost in micro-dollars.' })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true, description: 'Input tokens used.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Output tokens used.' })
  readonly outputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Number of recorded calls.' })
  readonly requests!: number;

  @Field(() => SafeInt, {
    nullable: true,
    simple: true,
    description:
      'The daily quota in micro-dollars: for today the one in force now, for a past day the one it ended with. ' +
      'Null if there is none.',
  })
  readonly quotaUsdMicros?: number;

  @Field(() => Float, {
    nullable: true,
    simple: true,
    description: 'The cost as a percentage of the quota, rounded down to four decimal places. Null without a quota.',
  })
  readonly quotaPct?: number;

  @Field(() => SpendModeType, {
    simple: true,
    description: 'How near the cost is to the quota. On a roll-up: the worst mode of the apps.',
  })
  readonly mode!: SpendMode;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'All costs acknowledged before this time are included. Null before the first aggregation.',
  })
  readonly asOf?: Date;
}

@ObjectType('StickyFallback', {
  description: 'The label that a scope uses for the rest of its day, because of a fallback or an override.',
})
export class StickyFallbackType {
  @Field(() => String, { simple: true, description: 'The label in use.' })
  readonly activeLabel!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The label that was in use before its quota was used up. Null after an override.',
  })
  readonly previousLabel?: string;

  @Field(() => StickyReasonType, { simple: true, description: 'Why the scope uses this label.' })
  readonly reason!: StickyReason;

  @Field(() => DateTime, { simple: true, description: 'When the fallback or override happened.' })
  readonly activatedAt!: Date;
}

@ObjectType('DaySpend', { description: 'The spend of an org or app on one day, in the time zone of the org.' })
export class DaySpendType {
  @Field(() => LocalDate, { simple: true, description: 'The day.' })
  readonly day!: string;

  @Field(() => QuotaScopeType, {
    simple: true,
    description: 'ORG if the figures are those of the whole org, APP if they are those of one app.',
  })
  readonly scope!: 'ORG' | 'APP';

  @Field(() => [LabelSpendType], {
    simple: true,
    description:
      'The labels of the model ordering in its order, then every other label with spend, ' +
      'even if this gateway has no model for it.',
  })
  readonly labels!: LabelSpendType[];

  @Field(() => SafeInt, { simple: true, description: 'Total cost of all labels, in micro-dollars.' })
  readonly costUsdMicros!: number;

  @Field(() => SafeInt, { simple: true, description: 'Input tokens of all labels.' })
  readonly inputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Output tokens of all labels.' })
  readonly outputTokens!: number;

  @Field(() => SafeInt, { simple: true, description: 'Number of recorded calls of all labels.' })
  readonly requests!: number;

  @Field(() => SpendModeType, { simple: true, description: 'The worst mode of its labels.' })
  readonly mode!: SpendMode;
}
