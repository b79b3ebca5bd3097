import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../graphql/enum.js';
import { DateTime, SafeInt } from '../../graphql/scalars.js';
import { type PriceSource, priceSources } from './price.js';

export const PriceSourceType = enumOf<PriceSource>(priceSources);
registerEnumType(PriceSourceType, {
  name: 'PriceSource',
  description:
    'Where a price or cost comes from. The first of these that has a price in force decides: ORG_OVERRIDE, CATALOG, ' +
    'PRICING_CACHE, CONFIG_DEFAULT.',
  valuesConfig: {
    PRICING_CACHE: {
      description: 'The price list that the platform fetches: the price of the day, or the last one known before it.',
    },
    CONFIG_DEFAULT: {
      description:
        'The default price in the configuration of the platform, because no price list has had a price for this model.',
    },
    CATALOG: { description: 'A price that `upsertModel` has set.' },
    ORG_OVERRIDE: { description: 'A price that `setOrgPrice` has set for the org.' },
    SUBMITTED: { description: 'The caller submitted the cost itself.' },
  },
});

const entryNameText =
  'What is priced: `input` or `output` for the tokens of a call, or the name of a component such as `cacheRead`. ' +
  '1–32 letters, digits or `_`, beginning with a lower-case letter.';
const entryPriceText = 'Micro-dollars per million tokens, or per million units of the component. 0 to 10^15.';
const entryAboveText =
  'The price applies to calls with more than this many tokens of input, those from and to a cache included. It then ' +
  'applies to the whole quantity. 0 is the base price. 0 to 10^12.';

@ObjectType('PriceEntry', { description: 'The price of one part of the usage of a call.' })
export class PriceEntryType {
  @Field(() => String, { simple: true, description: entryNameText })
  readonly name!: string;

  @Field(() => SafeInt, { simple: true, description: entryPriceText })
  readonly usdMicrosPer1M!: number;

  @Field(() => SafeInt, { simple: true, description: entryAboveText })
  readonly above!: number;
}

@InputType({ description: 'The price of one part of the usage of a call.' })
export class PriceEntryInput {
  @Field(() => String, { description: entryNameText })
  readonly name!: string;

  @Field(() => SafeInt, { description: entryPriceText })
  readonly usdMicrosPer1M!: number;

  @Field(() => SafeInt, { defaultValue: 0, description: entryAboveText })
  readonly above!: number;
}

@ObjectType('ModelPrice', { description: 'The price of a model.' })
export class ModelPriceType {
  @Field(() => SafeInt, {
    simple: true,
    description: 'Micro-dollars per million input tokens, without tiers. 0 if `entries` has no price for them.',
  })
  readonly inputUsdMicrosPer1M!: number;

  @Field(() => SafeInt, {
    simple: true,
    description: 'Micro-dollars per million output tokens, without tiers. 0 if `entries` has no price for them.',
  })
  readonly outputUsdMicrosPer1M!: number;

  @Field(() => [PriceEntryType], {
    simple: true,
    description:
      'All parts of the price. Usage without a price is refused. Empty if the model has no price yet; a cost is then ' +
      'accepted only with `costUsdMicros`.',
  })
  readonly entries!: PriceEntryType[];

  @Field(() => PriceSourceType, { simple: true, description: 'Where the price comes from.' })
  readonly source!: PriceSource;

  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the price was fetched. Null for a price that was not fetched.',
  })
  readonly fetchedAt?: Date;
}

@ObjectType('PriceChange', { description: 'A price from a time on, until the next change.' })
export class PriceChangeType {
  @Field(() => DateTime, {
    nullable: true,
    simple: true,
    description: 'When the price takes effect. Null for the default price of `config.yaml`, which applies at any time.',
  })
  readonly effectiveFrom?: Date;

  @Field(() => PriceSourceType, { simple: true, description: 'CONFIG_DEFAULT, CATALOG or ORG_OVERRIDE.' })
  readonly source!: PriceSource;

  @Field(() => [PriceEntryType], {
    simple: true,
    description: 'The price. Empty if the price before it was cleared at this time.',
  })
  readonly entries!: PriceEntryType[];
}
