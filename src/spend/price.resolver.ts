import { Authorized, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import type { Policy } from '../identity/viewer.js';
import { localDate } from './calendar.js';
import { priceInForce } from './price.js';
import { ModelType } from './price.types.js';

@Resolver()
export class PriceResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => [ModelType], { description: 'Every label that may be named, with the price of today (UTC).' })
  async models(@Ctx() { catalog, priceStore, clock }: Context) {
    const models = [...catalog.values()];
    const day = localDate('UTC', clock.nowMs());
    const cached = await priceStore.loadMany(models.map(({ bedrockModelId }) => ({ bedrockModelId, day })));
    return models.map((model, i) => ({ ...model, price: priceInForce(model, cached[i]) }));
  }
}
