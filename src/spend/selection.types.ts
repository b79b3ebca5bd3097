import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, LocalDate, Uuid } from '../graphql/scalars.js';
import type { SpendMode } from './money.js';
import { ModelPriceType } from './price.types.js';
import { type SelectionReason, type SkipReason, selectionReasons, skipReasons } from './selection.js';
import { LabelSpendType, SpendModeType } from './spend.types.js';

export const SelectionReasonType = enumOf<SelectionReason>(selectionReasons);
registerEnumType(SelectionReasonType, {
  name: 'SelectionReason',
  description: 'Why a selection recommends its label, or none.',
  valuesConfig: {
    WITHIN_QUOTA: { description: 'It is the first usable label of the chain, and its quota is not used up.' },
    QUOTA_EXCEEDED: { description: 'The quotas of labels before it are used up.' },
    STICKY_FALLBACK: { description: 'An earlier selection of this day fell back to it, and its quota is not used up.' },
    MANUAL_OVERRIDE: { description: '`overrideModel` put the scope on it for the rest of the day, used up or not.' },
    ALL_QUOTAS_EXCEEDED: { description: 'No label is recommended: the quotas of all usable labels are used up.' },
    NO_USABLE_MODEL: {
      description: 'No label is recommended: this gateway has no model for any label of the chain. See `skipped`.',
    },
  },
});

export const SkipReasonType = enumOf<SkipReason>(skipReasons);
registerEnumType(SkipReasonType, {
  name: 'SkipReason',
  description: 'Why a selection passed over a label without looking at its quota.',
  valuesConfig: {
    UNKNOWN_LABEL: {
      description:
        'The configuration of this gateway has no model for the label: it was removed, or is still being rolled out.',
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

@ObjectType('ModelSelection', { description: 'Which model to call now.' })
export class ModelSelectionType {
  @Field(() => Boolean, {
    simple: true,
    description: 'False if no label can be called: all quotas are used up, or no label has a model.',
  })
  readonly allowed!: boolean;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The label to call and to submit the cost under. Null if nothing is allowed.',
  })
  readonly label?: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The Bedrock id of that model. Never null if a label is recommended.',
  })
  readonly bedrockModelId?: string;

  @Field(() => SelectionReasonType, { simple: true, description: 'Why this label, or none.' })
  readonly reason!: SelectionReason;

  @Field(() => SpendModeType, { simple: true, description: 'How near the recommended label is to its quota.' })
  readonly mode!: SpendMode;

  @Field(() => [LabelSpendType], {
    simple: true,
    description: 'All labels of the chain in order, with what they have used today.',
  })
  readonly chain!: LabelSpendType[];

  @Field(() => [SkippedLabelType], {
    simple: true,
    description: 'Labels of the chain that this gateway has no model for. They are never recommended.',
  })
  readonly skipped!: SkippedLabelType[];

  @Field(() => ModelPriceType, {
    nullable: true,
    simple: true,
    description: 'The price of the recommended model today. Null if nothing is allowed.',
  })
  readonly price?: ModelPriceType;

  @Field(() => Int, {
    simple: true,
    description: 'Ask again after this many seconds. Never past `resetsAt`; if all quotas are used up, at `resetsAt`.',
  })
  readonly recheckAfterSecs!: number;

  @Field(() => LocalDate, { simple: true, description: 'Today in the org’s time zone.' })
  readonly day!: string;

  @Field(() => DateTime, { simple: true, description: 'The end of the day, when the quotas start anew.' })
  readonly resetsAt!: Date;
}

@InputType({ description: 'Which label a scope is put on for the rest of its day.' })
export class OverrideModelInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin; absent: the caller’s own.',
  })
  readonly orgId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The app. Required under quotaScope APP; under quotaScope ORG the override is for all apps.',
  })
  readonly appId?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'A label of the model ordering. Null clears the override and the fallback of the day. It must not be left out.',
  })
  readonly label?: string | null;
}
