import { Authorized, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import type { Policy } from '../identity/viewer.js';
import { ModelType } from './price.types.js';

@Resolver()
export class PriceResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => [ModelType], {
    description: 'The models of the catalog, each with its label and its price in force today (UTC).',
  })
  async models(@Ctx() { catalog, prices, clock }: Context) {
    const models = [...catalog.values()];
    const today = await prices.allAt(models, clock.nowMs());
    return models.map(({ label, bedrockModelId, tier, family, description }, i) => ({
      label,
      bedrockModelId,
      tier,
      family,
      description,
      price: today[i],
    }));
  }
}
