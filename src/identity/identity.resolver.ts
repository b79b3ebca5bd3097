import { Arg, Authorized, Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { AppType } from '../orgs/app.types.js';
import { OrgType } from '../orgs/org.types.js';
import { clientToRotate, needsOwnSecret } from './client.js';
import { requireOwnSecret } from './client.resolver.js';
import {
  IssueTokenInput,
  RetrievedSecretType,
  RotateCredentialsInput,
  RotateCredentialsPayload,
  TokenPairType,
  ViewerType,
} from './identity.types.js';
import type { Policy } from './viewer.js';

@Resolver(() => ViewerType)
export class IdentityResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => ViewerType, { description: 'The caller, and the tenant that it acts for.' })
  me(@Ctx() { viewer }: Context) {
    const { kind } = viewer;
    if ('token' in viewer) {
      const { clientId, role, expiresAtMs } = viewer.token;
      return { kind, clientId, role, expiresAt: new Date(expiresAtMs) };
    }
    const session = viewer.kind === 'PLATFORM_ADMIN' ? viewer.session : undefined;
    return session ? { kind, role: session.role, expiresAt: new Date(session.expiresAtMs) } : { kind };
  }

  @FieldResolver(() => OrgType, {
    nullable: true,
    description: 'The org that the caller acts for. Null for the platform admin.',
  })
  org(@Ctx() { viewer, loaders }: Context) {
    return 'orgId' in viewer ? loaders.org(viewer.orgId) : null;
  }

  @FieldResolver(() => AppType, {
    nullable: true,
    description: 'The app that the caller acts for. Null unless the caller is an app client.',
  })
  app(@Ctx() { viewer, loaders }: Context) {
    return viewer.kind === 'APP_CLIENT' ? loaders.app(viewer) : null;
  }

  @Authorized<Policy>('public')
  @Mutation(() => TokenPairType, {
    nullable: true,
    description: 'Logs a client in and opens a session of up to 30 days.',
  })
  async issueToken(
    @Arg('input', () => IssueTokenInput, { description: 'The credentials of the client.' }) input: IssueTokenInput,
    @Ctx() { logins, sessions, address, requestId }: Context,
  ) {
    return sessions.issue(await logins.logIn(input, { address, requestId, via: 'graphql' }));
  }

  @Authorized<Policy>('public')
  @Mutation(() => TokenPairType, {
    nullable: true,
    description:
      'Exchanges a refresh token for a new pair. The same token sent again within 30 s gives the same successor; ' +
      'later, it counts as stolen and ends the session. The session ends 30 days after its login.',
  })
  refreshToken(
    @Arg('refreshToken', () => String, { description: 'The refresh token of the last pair.' }) refreshToken: string,
    @Ctx() { sessions, address, requestId }: Context,
  ) {
    return sessions.refresh(refreshToken, { address, requestId });
  }

  @Authorized<Policy>('tokens:revoke')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Ends an access token, or a refresh token with its whole session, on all gateways within 2 s. True also for ' +
      'a token that is unknown or expired, or that the caller may not end.',
  })
  async revokeToken(
    @Arg('token', () => String, { description: 'The access token or refresh token to end.' }) token: string,
    @Ctx() context: Context,
  ) {
    await context.sessions.revoke(context.viewer, token, context.actor);
    return true;
  }

  @Authorized<Policy>('credentials:manage')
  @Mutation(() => RotateCredentialsPayload, {
    nullable: true,
    description: 'Hands out a one-time token for a new secret. Nothing changes until `retrieveSecret` redeems it.',
  })
  async rotateCredentials(
    @Arg('input', () => RotateCredentialsInput, {
      description: 'The credentials to rotate, and the grace of the old secret.',
    })
    input: RotateCredentialsInput,
    @Ctx() context: Context,
  ) {
    const client = clientToRotate(context.viewer, input);
    if (needsOwnSecret(context.viewer, client)) await requireOwnSecret(context, input.currentSecret);
    return context.credentials.rotate(client, input.graceHours, context.actor);
  }

  @Authorized<Policy>('public')
  @Mutation(() => RetrievedSecretType, {
    nullable: true,
    description: 'Makes the secret of a one-time token and shows it, once.',
  })
  retrieveSecret(
    @Arg('token', () => String, { description: 'The one-time token: `SecretRetrieval.token`.' }) token: string,
    @Ctx() { credentials, address, requestId }: Context,
  ) {
    return credentials.retrieve(token, { address, requestId });
  }
}
