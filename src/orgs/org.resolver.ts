import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type Listing, PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { globalIdText, nodeId } from '../graphql/node.js';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { orgIdText } from '../identity/identity.types.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { AppConnection, AppType, RegisterAppInput, RegisterAppPayload, UpdateAppInput } from './app.types.js';
import { zoneEffectiveAt } from './calendar.js';
import { OrgConnection, OrgType, RegisterOrgInput, RegisterOrgPayload, UpdateOrgInput } from './org.types.js';
import { type App, appIdIssues, inForce, type Org } from './settings.js';
import { expectedVersionText, ModelQuotaType, quotasText, quotasToday } from './settings.types.js';

@Resolver(() => OrgType)
export class OrgResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => OrgType, {
    nullable: true,
    description: 'An org. Null if it does not exist, or if the caller may not see it.',
  })
  org(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Ctx() { viewer, loaders }: Context,
  ) {
    return loaders.org(orgId ?? orgIdFor(viewer, orgId));
  }

  @Authorized<Policy>('platform:manage')
  @Query(() => OrgConnection, { description: 'All orgs, in the order of their registration. Platform admin only.' })
  orgs(@Args(() => PageArgs) page: PageArgs, @Ctx() { orgStore, cursors }: Context) {
    const listing: Listing = { cursors, tenant: 'platform', field: 'Query.orgs' };
    return paginate(page, listing, orgPosition, (limit, after) =>
      orgStore.listOrgs(limit, after === undefined ? undefined : parseOrgPosition(after)),
    );
  }

  @FieldResolver(() => ID, { description: globalIdText })
  id(@Root() { orgId }: Org) {
    return nodeId('Org', orgId);
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the current `timezone` takes effect. Null once it has.',
  })
  timezoneEffectiveAt(@Root() { zones, timezone }: Org, @Ctx() { clock }: Context) {
    return zoneEffectiveAt(zones, timezone, clock.nowMs());
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => [ModelQuotaType], { description: `${quotasText} FORBIDDEN for device keys.` })
  quotas(@Root() org: Org, @Ctx() { clock }: Context) {
    return quotasToday(org.quotas, org, clock.nowMs());
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => AppType, {
    nullable: true,
    description: 'An app of the org. Null if it does not exist, or if the caller may not see it.',
  })
  app(
    @Root() { orgId }: Org,
    @Arg('appId', () => String, { description: 'The id of the app.' }) appId: string,
    @Ctx() { loaders }: Context,
  ) {
    return appIdIssues(appId).length > 0 ? null : loaders.app({ orgId, appId });
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => AppConnection, { description: 'Apps of the org, by id.' })
  apps(@Root() org: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { appStore, cursors }: Context) {
    const listing: Listing = { cursors, tenant: org.orgId, field: 'Org.apps' };
    return paginate(
      page,
      listing,
      ({ appId }: App) => appId,
      async (limit, after) => (await appStore.listApps(org.orgId, limit, after)).map((app) => inForce(org, app)),
    );
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => RegisterOrgPayload, { nullable: true, description: 'Registers an org. Platform admin only.' })
  registerOrg(
    @Arg('input', () => RegisterOrgInput, { description: 'The org to register.' }) input: RegisterOrgInput,
    @Ctx() context: Context,
  ) {
    return context.orgs.registerOrg(input, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => OrgType, {
    nullable: true,
    description: 'Changes settings of an org. Takes effect on all gateways within 2 s.',
  })
  updateOrg(
    @Arg('input', () => UpdateOrgInput, { description: 'The settings to change; absent fields stay unchanged.' }) {
      orgId,
      ...changes
    }: UpdateOrgInput,
    @Ctx() context: Context,
  ) {
    return context.orgs.updateOrg(orgIdFor(context.viewer, orgId, 'input.orgId'), changes, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => RegisterAppPayload, { nullable: true, description: 'Registers an app of an org.' })
  registerApp(
    @Arg('input', () => RegisterAppInput, { description: 'The app to register.' }) { orgId, ...app }: RegisterAppInput,
    @Ctx() context: Context,
  ) {
    return context.apps.registerApp(orgIdFor(context.viewer, orgId, 'input.orgId'), app, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => AppType, {
    nullable: true,
    description: 'Changes settings of an app. Takes effect on all gateways within 2 s.',
  })
  updateApp(
    @Arg('input', () => UpdateAppInput, {
      description: 'The settings to change; absent fields stay unchanged, null fields are inherited from the org.',
    })
    { orgId, appId, ...changes }: UpdateAppInput,
    @Ctx() context: Context,
  ) {
    return context.apps.updateApp(
      { orgId: orgIdFor(context.viewer, orgId, 'input.orgId'), appId },
      changes,
      context.actor,
    );
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => OrgType, {
    nullable: true,
    description:
      'Suspends an org: all its tokens, secrets and device keys are FORBIDDEN on all gateways within 2 s. Idempotent.',
  })
  suspendOrg(@Arg('orgId', () => Uuid, { description: 'The org to suspend.' }) orgId: string, @Ctx() context: Context) {
    return context.lifecycle.setOrgSuspended(orgId, true, context.actor);
  }

  @Authorized<Policy>('platform:manage')
  @Mutation(() => OrgType, {
    nullable: true,
    description: 'Ends the suspension of an org: its credentials work again as before. Idempotent.',
  })
  resumeOrg(@Arg('orgId', () => Uuid, { description: 'The org to resume.' }) orgId: string, @Ctx() context: Context) {
    return context.lifecycle.setOrgSuspended(orgId, false, context.actor);
  }
}

@Resolver(() => AppType)
export class AppResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => AppType, {
    nullable: true,
    description: 'Suspends an app: its tokens and secrets are FORBIDDEN on all gateways within 2 s. Idempotent.',
  })
  suspendApp(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('appId', () => String, { description: 'The app to suspend.' }) appId: string,
    @Ctx() context: Context,
  ) {
    return context.lifecycle.setAppSuspended({ orgId: orgIdFor(context.viewer, orgId), appId }, true, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => AppType, {
    nullable: true,
    description: 'Ends the suspension of an app: its credentials work again as before. Idempotent.',
  })
  resumeApp(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('appId', () => String, { description: 'The app to resume.' }) appId: string,
    @Ctx() context: Context,
  ) {
    return context.lifecycle.setAppSuspended({ orgId: orgIdFor(context.viewer, orgId), appId }, false, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Deletes an app with all its clients, on all gateways within 2 s. Its recorded costs stay in the totals of ' +
      'the org. The id may be registered again.',
  })
  async deleteApp(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('appId', () => String, { description: 'The app to delete.' }) appId: string,
    @Arg('expectedVersion', () => SafeInt, { nullable: true, description: expectedVersionText })
    expectedVersion: number | null | undefined,
    @Ctx() context: Context,
  ) {
    const ref = { orgId: orgIdFor(context.viewer, orgId), appId };
    await context.lifecycle.deleteApp(ref, expectedVersion, context.actor);
    return true;
  }

  @FieldResolver(() => ID, { description: globalIdText })
  id(@Root() { orgId, appId }: App) {
    return nodeId('App', orgId, appId);
  }

  @FieldResolver(() => [ModelQuotaType], { description: quotasText })
  quotas(@Root() { quotas, org }: App, @Ctx() { clock }: Context) {
    return quotasToday(quotas, org, clock.nowMs());
  }
}

const orgPosition = ({ createdAt, orgId }: Org): string => `${createdAt.getTime()} ${orgId}`;

function parseOrgPosition(position: string): { createdAt: Date; orgId: string } {
  const [createdAtMs = '', orgId = ''] = position.split(' ');
  return { createdAt: new Date(Number(createdAtMs)), orgId };
}
