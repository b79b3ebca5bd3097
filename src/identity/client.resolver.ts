import { Arg, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { Uuid } from '../graphql/scalars.js';
import { notFound } from '../lib/errors.js';
import { AppType } from '../orgs/app.types.js';
import { OrgType } from '../orgs/org.types.js';
import { type App, appIdIssues, type Org } from '../orgs/settings.js';
import { needsOwnSecret, requireSecret } from './client.js';
import { ClientType, CreateClientInput, CreateClientPayload } from './client.types.js';
import { orgIdText } from './identity.types.js';
import { orgIdFor, type Policy, type Viewer } from './viewer.js';

/** Throws unless `currentSecret` is the current secret of the caller. */
export async function requireOwnSecret(context: Context, currentSecret: string | null | undefined): Promise<void> {
  const { viewer, logins, address, requestId } = context;
  const { clientId } = (viewer as Extract<Viewer, { kind: 'ORG_CLIENT' | 'APP_CLIENT' }>).token;
  await logins.requireCurrent(
    { clientId, clientSecret: requireSecret(currentSecret) },
    { address, requestId, via: 'graphql' },
  );
}

@Resolver(() => ClientType)
export class ClientResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => CreateClientPayload, {
    nullable: true,
    description: 'Creates a further client of the org or of one of its apps.',
  })
  async createClient(
    @Arg('input', () => CreateClientInput, { description: 'The client to create.' }) input: CreateClientInput,
    @Ctx() context: Context,
  ) {
    const { name, role, currentSecret } = input;
    const appId = input.appId ?? undefined;
    if (appId !== undefined && appIdIssues(appId).length > 0) throw notFound('app');
    const owner = {
      orgId: orgIdFor(context.viewer, input.orgId, 'input.orgId'),
      ...(appId === undefined ? {} : { appId }),
    };
    if (needsOwnSecret(context.viewer, owner)) await requireOwnSecret(context, currentSecret);
    return context.clients.create(owner, { name, role }, context.actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description: 'Ends a further client with its secrets and tokens on all gateways within 2 s.',
  })
  async deleteClient(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('clientId', () => String, { description: 'A client from `Org.clients` or `App.clients`.' }) clientId: string,
    @Ctx() context: Context,
  ) {
    await context.clients.delete(orgIdFor(context.viewer, orgId), clientId, context.actor);
    return true;
  }
}

@Resolver(() => OrgType)
export class OrgClientResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => [ClientType], {
    description: 'Further clients of the org itself, oldest first. The first client is in `credentials`.',
  })
  clients(@Root() { orgId }: Org, @Ctx() { clientStore }: Context) {
    return clientStore.list({ orgId });
  }
}

@Resolver(() => AppType)
export class AppClientResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => [ClientType], {
    description: 'Further clients of the app, oldest first. The first client is in `credentials`.',
  })
  clients(@Root() { orgId, appId }: App, @Ctx() { clientStore }: Context) {
    return clientStore.list({ orgId, appId });
  }
}
