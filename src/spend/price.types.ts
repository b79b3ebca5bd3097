import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime, SafeInt } from '../graphql/scalars.js';
import { enumOf } from '../lib/enum.js';
import { type PriceSource, priceSources } from './price.js';

export const PriceSourceType = enumOf<PriceSource>(priceSources);
registerEnumType(PriceSourceType, { name: 'PriceSource' });

@ObjectType('ModelPrice')
export class ModelPriceType {
  @Field(() => SafeInt, { simple: true })
  readonly inputUsdMicrosPer1M!: number;

  @Field(() => SafeInt, { simple: true })
  readonly outputUsdMicrosPer1M!: number;

  @Field(() => PriceSourceType, { simple: true })
  readonly source!: PriceSource;

  @Field(() => DateTime, { nullable: true, simple: true })
  readonly fetchedAt?: Date;
}

@ObjectType('Model', { description: 'A model that a fallback chain may name.' })
export class ModelType {
  @Field(() => String, { simple: true })
  readonly label!: string;

  @Field(() => String, { simple: true })
  readonly bedrockModelId!: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly tier?: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly family?: string;

  @Field(() => String, { nullable: true, simple: true })
  readonly description?: string;

  @Field(() => ModelPriceType, { simple: true, description: "Today's." })
  readonly price!: ModelPriceType;
}
