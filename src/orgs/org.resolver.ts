import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type Listing, PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { actorName, orgIdFor, type Policy } from '../identity/viewer.js';
import { zoneEffectiveAt } from './org.service.js';
import {
  AppConnection,
  AppType,
  OrgConnection,
  OrgType,
  RegisterAppInput,
  RegisterAppPayload,
  RegisterOrgInput,
  RegisterOrgPayload,
  UpdateAppInput,
  UpdateOrgInput,
} from './org.types.js';
import { type App, appIdIssues, inForce, type Org } from './settings.js';

@Resolver(() => OrgType)
export class OrgResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => OrgType, { nullable: true })
  org(
    @Arg('orgId', () => Uuid, { nullable: true, description: "Absent: the caller's own." }) orgId: string | null | undefined,
    @Ctx() { viewer, loaders }: Context,
  ) {
    return loaders.org(orgId ?? orgIdFor(viewer, orgId));
  }

  @Authorized<Policy>('platform:manage')
  @Query(() => OrgConnection, { description: 'By the time of their registration.' })
  orgs(@Args(() => PageArgs) page: PageArgs, @Ctx() { orgStore, cursors }: Context) {
    const listing: Listing = { cursors, tenant: 'platform', field: 'Query.orgs' };
    return paginate(page, listing, orgPosition, (limit, after) => orgStore.listOrgs(limit, after === undefined ? undefined : parseOrgPosition(after)));
  }

  @FieldResolver(() => ID)
  id(@Root() { orgId }: Org) {
    return nodeId('Org', orgId);
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'When the zone asked for last begins to count; null once it does.' })
  timezoneEffectiveAt(@Root() org: Org, @Ctx() { clock }: Context) {
    return zoneEffectiveAt(org, clock.nowMs());
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => AppType, { nullable: true })
  app(@Root() { orgId }: Org, @Arg('appId', () => String) appId: string, @Ctx() { loaders }: Context) {
    return appIdIssues(appId).length > 0 ? null : loaders.app({ orgId, appId });
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => AppConnection, { description: 'By id.' })
  apps(@Root() org: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { orgStore, cursors }: Context) {
    const listing: Listing = { cursors, tenant: org.orgId, field: 'Org.apps' };
    return paginate(
      page,
      listing,
      ({ appId }: App) => appId,
      async (limit, after) => (await orgStore.listApps(org.orgId, limit, after)).map((app) => inForce(org, app)),
    );
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => RegisterOrgPayload, { nullable: true })
  registerOrg(@Arg('input', () => RegisterOrgInput) input: RegisterOrgInput, @Ctx() { viewer, orgs }: Context) {
    return orgs.registerOrg(input, actorName(viewer));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => OrgType, { nullable: true })
  updateOrg(@Arg('input', () => UpdateOrgInput) { orgId, ...changes }: UpdateOrgInput, @Ctx() { viewer, orgs }: Context) {
    return orgs.updateOrg(orgIdFor(viewer, orgId, 'input.orgId'), changes, actorName(viewer));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => RegisterAppPayload, { nullable: true })
  registerApp(@Arg('input', () => RegisterAppInput) { orgId, ...app }: RegisterAppInput, @Ctx() { viewer, orgs }: Context) {
    return orgs.registerApp(orgIdFor(viewer, orgId, 'input.orgId'), app, actorName(viewer));
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => AppType, { nullable: true })
  updateApp(@Arg('input', () => UpdateAppInput) { orgId, appId, ...changes }: UpdateAppInput, @Ctx() { viewer, orgs }: Context) {
    return orgs.updateApp({ orgId: orgIdFor(viewer, orgId, 'input.orgId'), appId }, changes, actorName(viewer));
  }
}

@Resolver(() => AppType)
export class AppResolver {
  @FieldResolver(() => ID)
  id(@Root() { orgId, appId }: App) {
    return nodeId('App', orgId, appId);
  }
}

const orgPosition = ({ createdAt, orgId }: Org): string => `${createdAt.getTime()} ${orgId}`;

function parseOrgPosition(position: string): { createdAt: Date; orgId: string } {
  const [createdAtMs = '', orgId = ''] = position.split(' ');
  return { createdAt: new Date(Number(createdAtMs)), orgId };
}
