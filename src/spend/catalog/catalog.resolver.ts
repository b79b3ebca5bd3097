import { Arg, Authorized, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../graphql/context.js';
import { SafeInt } from '../../graphql/scalars.js';
import type { Policy } from '../../identity/viewer.js';
import { notFound } from '../../lib/errors.js';
import { OrgType } from '../../orgs/org.types.js';
import type { Org } from '../../orgs/settings.js';
import { expectedVersionText } from '../../orgs/settings.types.js';
import type { CatalogModel } from './catalog.js';
import { ModelType, OrgPriceType, SetOrgPriceInput, UpsertModelInput } from './catalog.types.js';
import type { OrgPrice } from './org-price.store.js';
import type { PriceSource } from './price.js';
import { PriceChangeType } from './price.types.js';
import type { PriceChange } from './price-history.js';

@Resolver(() => ModelType)
export class CatalogResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => [ModelType], { description: 'The models of the catalog, in the order in which they were added.' })
  models(
    @Arg('first', () => Int, { nullable: true, description: 'Max models, 1–100. Default 100.' })
    first: number | null | undefined,
    @Arg('after', () => String, {
      nullable: true,
      description: 'A label. The models that were added after it are returned.',
    })
    after: string | null | undefined,
    @Arg('includeRetired', () => Boolean, {
      nullable: true,
      description: 'Whether to return retired models too. Default false.',
    })
    includeRetired: boolean | null | undefined,
    @Ctx() { models, prices, work }: Context,
  ) {
    const page = models.page({ first, after, includeRetired });
    work.charge(page.length);
    return prices.withPrices(page);
  }

  @FieldResolver(() => [PriceChangeType], {
    description:
      'The prices that were set for the last 40 days and for the future, oldest first. The default price of ' +
      '`config.yaml` comes before them, if there is one. Prices of the price list are not in it.',
  })
  prices(@Root() { defaultEntries, changes }: CatalogModel, @Ctx() { work }: Context) {
    work.charge(changes.length);
    const standard = defaultEntries.length > 0 ? [{ source: 'CONFIG_DEFAULT', entries: defaultEntries }] : [];
    return [...standard, ...changes.map(changeOf('CATALOG'))];
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => ModelType, {
    nullable: true,
    description:
      'Adds a model, or changes one. A retired model is in use again. Takes effect on all gateways within 2 s. ' +
      'Platform admin only.',
  })
  async upsertModel(
    @Arg('input', () => UpsertModelInput, { description: 'The model.' }) input: UpsertModelInput,
    @Ctx() { models, prices, actor }: Context,
  ) {
    const [priced] = await prices.withPrices([await models.upsert(input, actor)]);
    return priced;
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => ModelType, {
    nullable: true,
    description:
      'Retires a model on all gateways within 2 s: new costs are refused with INVALID_MODEL_LABEL, and selections ' +
      'skip it. Orgs keep their settings, and recorded costs stay. Idempotent. Platform admin only.',
  })
  async retireModel(
    @Arg('label', () => String, { description: 'The label of the model.' }) label: string,
    @Arg('expectedVersion', () => SafeInt, { nullable: true, description: expectedVersionText })
    expectedVersion: number | null | undefined,
    @Ctx() { models, prices, actor }: Context,
  ) {
    const [priced] = await prices.withPrices([await models.retire(label, expectedVersion, actor)]);
    return priced;
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => OrgPriceType, {
    nullable: true,
    description:
      'Sets the price of an org for a label, or clears it. Takes effect on all gateways within 2 s. Platform admin ' +
      'only.',
  })
  async setOrgPrice(
    @Arg('input', () => SetOrgPriceInput, { description: 'The org, the label and the price.' })
    { orgId, ...price }: SetOrgPriceInput,
    @Ctx() { orgPrices, loaders, actor }: Context,
  ) {
    if (!(await loaders.org(orgId))) throw notFound('org');
    return orgPrices.set(orgId, price, actor);
  }
}

@Resolver(() => OrgPriceType)
export class OrgPriceResolver {
  @FieldResolver(() => [PriceChangeType], {
    description: 'The prices of the last 40 days and of the future, oldest first.',
  })
  changes(@Root() { changes }: OrgPrice) {
    return changes.map(changeOf('ORG_OVERRIDE'));
  }
}

@Resolver(() => OrgType)
export class OrgPricesResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => [OrgPriceType], {
    description:
      'The prices that the org has instead of those of the catalog, by label. The platform admin sets them. ' +
      'FORBIDDEN for device keys.',
  })
  async prices(@Root() { orgId }: Org, @Ctx() { orgPrices, work }: Context) {
    const all = await orgPrices.list(orgId);
    work.charge(all.length);
    return all;
  }
}

const changeOf =
  (source: PriceSource) =>
  ({ fromMs, entries }: PriceChange) => ({ effectiveFrom: new Date(fromMs), source, entries });
