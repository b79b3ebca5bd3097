import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, LocalDate, Uuid } from '../graphql/scalars.js';
import { ModelPriceType } from './catalog/price.types.js';
import type { SpendMode } from './money.js';
import { type SelectionReason, type SkipReason, selectionReasons, skipReasons } from './selection.js';
import { LabelSpendType, SpendModeType } from './spend.types.js';

export const SelectionReasonType = enumOf<SelectionReason>(selectionReasons);
registerEnumType(SelectionReasonType, {
  name: 'SelectionReason',
  description: 'Why a selection recommends its label, or none.',
  valuesConfig: {
    WITHIN_QUOTA: { description: 'It is the first label of the chain that has a model, and its quota is not used up.' },
    QUOTA_EXCEEDED: { description: 'The quotas of the labels before it are used up.' },
    STICKY_FALLBACK: { description: 'An earlier selection of the day fell back to it, and its quota is not used up.' },
    MANUAL_OVERRIDE: { description: '`overrideModel` set it for the rest of the day, even if its quota is used up.' },
    ALL_QUOTAS_EXCEEDED: {
      description: 'No label is recommended: the quotas of all labels that have a model are used up.',
    },
    BUDGET_EXCEEDED: {
      description:
        'A budget is used up, see `budget`. With a label: the labels before it were skipped because of budgets. ' +
        'Without one: no label is recommended, because budgets exclude every label that its quota would allow.',
    },
    NO_USABLE_MODEL: {
      description: 'No label is recommended: this gateway has no model for any label of the chain. See `skipped`.',
    },
  },
});

export const SkipReasonType = enumOf<SkipReason>(skipReasons);
registerEnumType(SkipReasonType, {
  name: 'SkipReason',
  description: 'Why a selection skipped a label without checking its quota.',
  valuesConfig: {
    UNKNOWN_LABEL: {
      description:
        'The configuration of this gateway has no model for the label. It was removed, or is still being rolled out.',
    },
  },
});

@ObjectType('SkippedLabel', { description: 'A label of the chain that cannot be recommended.' })
export class SkippedLabelType {
  @Field(() => String, { simple: true, description: 'The label, as the model ordering names it.' })
  readonly label!: string;

  @Field(() => SkipReasonType, { simple: true, description: 'Why it cannot be recommended.' })
  readonly reason!: SkipReason;
}

@ObjectType('ModelSelection', { description: 'The model to call now.' })
export class ModelSelectionType {
  @Field(() => Boolean, {
    simple: true,
    description:
      'False if no label can be called, because all quotas or a budget are used up, or no label has a model.',
  })
  readonly allowed!: boolean;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The label to call and to submit the cost under. Null if `allowed` is false.',
  })
  readonly label?: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The Amazon Bedrock ID of the model. Not null if `label` is not null.',
  })
  readonly bedrockModelId?: string;

  @Field(() => SelectionReasonType, { simple: true, description: 'Why this label is recommended, or none.' })
  readonly reason!: SelectionReason;

  @Field(() => SpendModeType, {
    simple: true,
    description: 'How near the recommended label is to its quota. EXCEEDED if no label is recommended.',
  })
  readonly mode!: SpendMode;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description:
      'The name of the budget that excluded a label which its quota would allow: of several, the one with the ' +
      'largest share used. Null if no budget decided.',
  })
  readonly budget?: string;

  @Field(() => [LabelSpendType], {
    simple: true,
    description: 'All labels of the model ordering, in its order, with their spend of today.',
  })
  readonly chain!: LabelSpendType[];

  @Field(() => [SkippedLabelType], {
    simple: true,
    description: 'Labels of the model ordering for which this gateway has no model. They are never recommended.',
  })
  readonly skipped!: SkippedLabelType[];

  @Field(() => ModelPriceType, {
    nullable: true,
    simple: true,
    description: 'Today’s price of the recommended model. Null if `allowed` is false.',
  })
  readonly price?: ModelPriceType;

  @Field(() => Int, {
    simple: true,
    description:
      'Request a new selection after this many seconds. ' +
      'At `resetsAt` if all quotas are used up, and never later than that. ' +
      'If a budget is used up, after the normal interval, because it may be raised.',
  })
  readonly recheckAfterSecs!: number;

  @Field(() => LocalDate, { simple: true, description: 'Today in the time zone of the org.' })
  readonly day!: string;

  @Field(() => DateTime, { simple: true, description: 'The end of the day, when all quotas start again.' })
  readonly resetsAt!: Date;
}

@InputType({ description: 'The label that a scope uses for the rest of its day.' })
export class OverrideModelInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin. Default: the org of the caller.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app. Required under quotaScope APP. Under quotaScope ORG the override applies to all apps.',
  })
  readonly appId?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'A label of the model ordering. Null clears the override and the fallback of the day. ' +
      'Required: send null explicitly to clear.',
  })
  readonly label?: string | null;
}
