import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../graphql/enum.js';
import { DateTime, SafeInt } from '../graphql/scalars.js';
import { type PriceSource, priceSources } from './price.js';

export const PriceSourceType = enumOf<PriceSource>(priceSources);
registerEnumType(PriceSourceType, {
  name: 'PriceSource',
  description: 'Where a price or cost comes from.',
  valuesConfig: {
    PRICING_CACHE: {
      description: 'The price list that the platform fetches: the price of the day, or the last known one before it.',
    },
    CONFIG_DEFAULT: {
      description:
        'The default price of the platform’s configuration, because no price list has had one for this model.',
    },
    SUBMITTED: { description: 'The caller submitted the cost itself.' },
  },
});

@ObjectType('ModelPrice', { description: 'What the tokens of a model cost.' })
export class ModelPriceType {
  @Field(() => SafeInt, { simple: true, description: 'Micro-dollars per million input tokens.' })
  readonly inputUsdMicrosPer1M!: number;

  @Field(() => SafeInt, { simple: true, description: 'Micro-dollars per million output tokens.' })
  readonly outputUsdMicrosPer1M!: number;

  @Field(() => PriceSourceType, { simple: true, description: 'Where the price comes from.' })
  readonly source!: PriceSource;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the price was fetched. Null for a default price.',
  })
  readonly fetchedAt?: Date;
}

@ObjectType('Model', { description: 'A model that a model ordering may name by its label.' })
export class ModelType {
  @Field(() => String, { simple: true, description: 'The name to use in model orderings, quotas and costs.' })
  readonly label!: string;

  @Field(() => String, { simple: true, description: 'The id to call the model by at Amazon Bedrock.' })
  readonly bedrockModelId!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The tier the platform has put it in, such as `premium`.',
  })
  readonly tier?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The family of models it belongs to.' })
  readonly family?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'A sentence for people.' })
  readonly description?: string;

  @Field(() => ModelPriceType, { simple: true, description: 'The price in force today (UTC).' })
  readonly price!: ModelPriceType;
}
