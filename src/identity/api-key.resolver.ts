import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { Uuid } from '../graphql/scalars.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import type { ApiKey } from './api-key.js';
import { ApiKeyConnection, ApiKeyType, CreateApiKeyInput, CreateApiKeyPayload } from './api-key.types.js';
import { orgIdText } from './identity.types.js';
import { orgIdFor, type Policy } from './viewer.js';

@Resolver(() => ApiKeyType)
export class ApiKeyResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => CreateApiKeyPayload, {
    nullable: true,
    description: 'Creates a key for devices of the org. The secret is shown only in this response.',
  })
  createApiKey(
    @Arg('input', () => CreateApiKeyInput, { description: 'The key to create.' }) input: CreateApiKeyInput,
    @Ctx() { viewer, actor, apiKeys }: Context,
  ) {
    return apiKeys.create({ ...input, orgId: orgIdFor(viewer, input.orgId, 'input.orgId') }, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => ApiKeyType, {
    nullable: true,
    description:
      'Revokes a device key on all gateways within 2 s. Another key of the org may then register its devices. ' +
      'Idempotent.',
  })
  revokeApiKey(
    @Arg('orgId', () => Uuid, { nullable: true, description: orgIdText }) orgId: string | null | undefined,
    @Arg('keyId', () => Uuid, { description: 'The key to revoke: `ApiKey.keyId`.' }) keyId: string,
    @Ctx() context: Context,
  ) {
    return context.apiKeys.revoke(orgIdFor(context.viewer, orgId), keyId, context.actor);
  }

  @FieldResolver(() => ID, { description: 'Opaque id of this object. Pass it to `node`.' })
  id(@Root() { orgId, keyId }: ApiKey) {
    return nodeId('ApiKey', orgId, keyId);
  }
}

@Resolver(() => OrgType)
export class OrgApiKeyResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => ApiKeyConnection, {
    description: 'The API keys of the org, newest first, revoked ones included.',
  })
  apiKeys(@Root() { orgId }: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { apiKeyStore, cursors }: Context) {
    return paginate(
      page,
      { cursors, tenant: orgId, field: 'Org.apiKeys' },
      ({ createdAt, keyId }: ApiKey) => `${createdAt.getTime()} ${keyId}`,
      (limit, after) => apiKeyStore.list(orgId, limit, after === undefined ? undefined : parsePosition(after)),
    );
  }
}

function parsePosition(position: string): { createdAt: Date; keyId: string } {
  const [createdAtMs = '', keyId = ''] = position.split(' ');
  return { createdAt: new Date(Number(createdAtMs)), keyId };
}
