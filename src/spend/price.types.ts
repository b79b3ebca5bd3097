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
      description: 'The price list that the platform fetches: the price of the day, or the last one known before it.',
    },
    CONFIG_DEFAULT: {
      description:
        'The default price in the configuration of the platform, because no price list has had a price for this model.',
    },
    SUBMITTED: { description: 'The caller submitted the cost itself.' },
  },
});

@ObjectType('ModelPrice', { description: 'The price of the tokens of a model.' })
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

@ObjectType('Model', { description: 'A model. Model orderings, quotas and costs name it by its label.' })
export class ModelType {
  @Field(() => String, { simple: true, description: 'The name to use in model orderings, quotas and costs.' })
  readonly label!: string;

  @Field(() => String, { simple: true, description: 'The ID of the model at Amazon Bedrock.' })
  readonly bedrockModelId!: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The tier that the platform assigns to it, such as `premium`.',
  })
  readonly tier?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'The model family it belongs to.' })
  readonly family?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'A description for people.' })
  readonly description?: string;

  @Field(() => ModelPriceType, { simple: true, description: 'The price in force today (UTC).' })
  readonly price!: ModelPriceType;
}
