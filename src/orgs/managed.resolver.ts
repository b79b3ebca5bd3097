import { Arg, Args, Authorized, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { platformTenant } from '../audit/audit-event.js';
import { type Listing, PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import { ManagedItemConnection, ManagedItemType, managedOrgText, SetManagedItemsInput } from './managed.types.js';
import type { ManagedItem } from './managed-item.js';

@Resolver(() => ManagedItemType)
export class ManagedResolver {
  @Authorized<Policy>('org:manage')
  @Query(() => ManagedItemConnection, {
    description: 'What configuration files manage in an org (`tollgate apply`), by item.',
  })
  async managedItems(
    @Arg('orgId', () => Uuid, { nullable: true, description: managedOrgText }) orgId: string | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() context: Context,
  ) {
    const tenant = await tenantOf(orgId, 'orgId', context);
    const { managedStore, cursors } = context;
    const listing: Listing = { cursors, tenant, field: 'Query.managedItems' };
    return paginate(
      page,
      listing,
      ({ item }: ManagedItem) => item,
      (limit, after) => managedStore.list(tenant, limit, after),
    );
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => [ManagedItemType], {
    nullable: true,
    description:
      'Saves what `tollgate apply` has applied or is about to apply, in one transaction. Changes nothing but these ' +
      'records. Returns the saved ones. Idempotent.',
  })
  async setManagedItems(
    @Arg('input', () => SetManagedItemsInput, { description: 'The records.' })
    { orgId, ...request }: SetManagedItemsInput,
    @Ctx() context: Context,
  ) {
    return context.managed.set(await tenantOf(orgId, 'input.orgId', context), request, context.actor);
  }
}

/** The org, or the platform for an admin who names none. */
async function tenantOf(named: string | null | undefined, path: string, context: Context): Promise<string> {
  const { viewer, loaders } = context;
  if (viewer.kind === 'PLATFORM_ADMIN' && !named) return platformTenant;
  const orgId = orgIdFor(viewer, named, path);
  if (!(await loaders.org(orgId))) throw notFound('org');
  return orgId;
}
