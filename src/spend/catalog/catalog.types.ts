import { Field, InputType, ObjectType } from 'type-graphql';
import { DateTime, SafeInt, Uuid } from '../../graphql/scalars.js';
import { expectedVersionOrNoneText } from '../../orgs/settings.types.js';
import { ModelPriceType, PriceEntryInput } from './price.types.js';

const modelIdText =
  'The id of the model at its provider, such as a Bedrock model id, an inference profile or an ARN. ' +
  '1–256 characters without control characters. The price list is keyed by it.';
const providerText = 'The provider of the model, such as `bedrock` or `openai`. 1–64 characters.';
const tierText = 'The tier that the platform assigns to it, such as `premium`. 1–64 characters.';
const familyText = 'The model family it belongs to. 1–64 characters.';
const descriptionText = 'A description for people. 1–500 characters.';
const effectiveText =
  'When the price takes effect: at most 35 days in the past and 365 days ahead. Costs that are already recorded keep ' +
  'their price. Default: now.';

@ObjectType('Model', { description: 'A model. Model orderings, quotas and costs name it by its label.' })
export class ModelType {
  @Field(() => String, { simple: true, description: 'The name to use in model orderings, quotas and costs.' })
  readonly label!: string;

  @Field(() => String, { simple: true, description: modelIdText })
  readonly modelId!: string;

  @Field(() => String, { simple: true, description: 'The same as `modelId`.' })
  readonly bedrockModelId!: string;

  @Field(() => String, { nullable: true, simple: true, description: providerText })
  readonly provider?: string;

  @Field(() => String, { nullable: true, simple: true, description: tierText })
  readonly tier?: string;

  @Field(() => String, { nullable: true, simple: true, description: familyText })
  readonly family?: string;

  @Field(() => String, { nullable: true, simple: true, description: descriptionText })
  readonly description?: string;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'Increases by one with each change of the model. Send it as `expectedVersion` to change only what you have read.',
  })
  readonly version!: number;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the model was retired. Null if it is in use.',
  })
  readonly retiredAt?: Date;

  @Field(() => ModelPriceType, {
    simple: true,
    description: 'The price in force now. An org may have another one: `Org.prices`.',
  })
  readonly price!: ModelPriceType;
}

@InputType({ description: 'A model to add or change. A field that is absent or null stays unchanged.' })
export class UpsertModelInput {
  @Field(() => String, {
    description: 'The label: 1–64 of `a-z 0-9 . _ -`, beginning with a letter or digit. The catalog has at most 500.',
  })
  readonly label!: string;

  @Field(() => String, { description: modelIdText })
  readonly modelId!: string;

  @Field(() => String, { nullable: true, description: providerText })
  readonly provider?: string | null;

  @Field(() => String, { nullable: true, description: tierText })
  readonly tier?: string | null;

  @Field(() => String, { nullable: true, description: familyText })
  readonly family?: string | null;

  @Field(() => String, { nullable: true, description: descriptionText })
  readonly description?: string | null;

  @Field(() => [PriceEntryInput], {
    nullable: true,
    description:
      'The price, 1–64 entries. It applies before a price of the price list. Null or absent: unchanged. Empty: from ' +
      'then on, the price list or the default of `config.yaml` applies again.',
  })
  readonly prices?: PriceEntryInput[] | null;

  @Field(() => DateTime, { nullable: true, description: `${effectiveText} Needs \`prices\`.` })
  readonly effectiveFrom?: Date | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
  readonly expectedVersion?: number | null;
}

@InputType({ description: 'A price that an org has instead of the one of the catalog.' })
export class SetOrgPriceInput {
  @Field(() => Uuid, { description: 'The org.' })
  readonly orgId!: string;

  @Field(() => String, { description: 'The label of a model.' })
  readonly label!: string;

  @Field(() => [PriceEntryInput], {
    nullable: true,
    description:
      'The price, 1–64 entries. It replaces the whole price of the label. Null or empty: from then on, the org has ' +
      'the price of the catalog.',
  })
  readonly prices?: PriceEntryInput[] | null;

  @Field(() => DateTime, { nullable: true, description: effectiveText })
  readonly effectiveFrom?: Date | null;

  @Field(() => SafeInt, { nullable: true, description: expectedVersionOrNoneText })
  readonly expectedVersion?: number | null;
}

@ObjectType('OrgPrice', { description: 'The prices that an org has for a label instead of those of the catalog.' })
export class OrgPriceType {
  @Field(() => String, { simple: true, description: 'The label.' })
  readonly label!: string;

  @Field(() => SafeInt, {
    simple: true,
    description:
      'Increases by one with each change of the price. Send it as `expectedVersion` to change only what you have read.',
  })
  readonly version!: number;
}
