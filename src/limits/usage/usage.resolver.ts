import { Arg, Authorized, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../graphql/context.js';
import { DateTime } from '../../graphql/scalars.js';
import type { Policy } from '../../identity/viewer.js';
import { OrgType } from '../../orgs/org.types.js';
import type { Org } from '../../orgs/settings.js';
import { countersOf, type TopOrder, type UsageWindow, type WindowUsage } from './usage.js';
import { ResourceUsageType, TopEntitiesByType, TopEntitiesType, UsageWindowType } from './usage.types.js';

/** The usage of a window as GraphQL shows it, in whole tokens. */
export const inTokens = (usage: WindowUsage) => ({
  windowStart: new Date(usage.startMs),
  windowEnd: new Date(usage.endMs),
  resource: usage.resource,
  counters: countersOf(usage),
});

@Resolver(() => OrgType)
export class OrgUsageResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => [ResourceUsageType], {
    description: 'Usage of a resource by all entities. Windows that begin in the range, oldest first.',
  })
  async resourceUsage(
    @Root() { orgId }: Org,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Arg('window', () => UsageWindowType, { description: 'The length of the windows.' }) window: UsageWindow,
    @Arg('from', () => DateTime, { description: 'Start of the range, included.' }) from: Date,
    @Arg('to', () => DateTime, { description: 'End of the range, not included.' }) to: Date,
    @Arg('parentsOnly', () => Boolean, {
      defaultValue: false,
      description:
        'If true, counts only entities that were created without a parent. An acquire that cascades counts for both ' +
        'the entity and its parent.',
    })
    parentsOnly: boolean,
    @Ctx() { usage, work }: Context,
  ) {
    const windows = await usage.ofResource(orgId, { resource, window, from, to, parentsOnly }, work.charge);
    return windows.map((found) => ({ ...inTokens(found), entities: found.entities.size }));
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => TopEntitiesType, {
    description: 'The entities with the most usage or refusals of a limit in the current hour, day or month of UTC.',
  })
  async topEntities(
    @Root() { orgId }: Org,
    @Arg('resource', () => String, { description: 'The name of the resource.' }) resource: string,
    @Arg('window', () => UsageWindowType, { description: 'The length of the window.' }) window: UsageWindow,
    @Arg('limit', () => String, { description: 'The name of the limit.' }) limit: string,
    @Arg('by', () => TopEntitiesByType, { defaultValue: 'CONSUMED', description: 'The measure to sort by.' })
    by: TopOrder,
    @Arg('first', () => Int, { defaultValue: 10, description: 'Number of entities, 1–50.' }) first: number,
    @Ctx() { usage, work }: Context,
  ) {
    const { startMs, endMs, ...top } = await usage.topEntities(
      orgId,
      { resource, window, limit, by, first },
      work.charge,
    );
    return { ...top, windowStart: new Date(startMs), windowEnd: new Date(endMs) };
  }
}
