import { Arg, Authorized, Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import { notFound } from '../lib/errors.js';
import { AppType, OrgType } from '../orgs/org.types.js';
import { appIdIssues } from '../orgs/settings.js';
import { IssueTokenInput, RetrievedSecretType, RotateCredentialsInput, RotateCredentialsPayload, TokenPairType, ViewerType } from './identity.types.js';
import { actorName, orgIdFor, type Policy } from './viewer.js';

@Resolver(() => ViewerType)
export class IdentityResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => ViewerType, { description: 'Who is calling, and for which tenant.' })
  me(@Ctx() { viewer }: Context) {
    return 'token' in viewer ? { kind: viewer.kind, clientId: viewer.token.clientId, expiresAt: new Date(viewer.token.expiresAtMs) } : { kind: viewer.kind };
  }

  @FieldResolver(() => OrgType, { nullable: true })
  org(@Ctx() { viewer, loaders }: Context) {
    return 'orgId' in viewer ? loaders.org(viewer.orgId) : null;
  }

  @FieldResolver(() => AppType, { nullable: true })
  app(@Ctx() { viewer, loaders }: Context) {
    return viewer.kind === 'APP_CLIENT' ? loaders.app(viewer) : null;
  }

  @Authorized<Policy>('public')
  @Mutation(() => TokenPairType, { nullable: true, description: 'Logs a client in.' })
  async issueToken(@Arg('input', () => IssueTokenInput) { clientId, clientSecret }: IssueTokenInput, @Ctx() { sessions, address }: Context) {
    return sessions.issue(await sessions.logIn(clientId, clientSecret, address));
  }

  @Authorized<Policy>('public')
  @Mutation(() => TokenPairType, {
    nullable: true,
    description: 'Exchanges a refresh token for a new pair. Sent again within 30 s, it gives the same successor; later, it ends the whole session.',
  })
  refreshToken(@Arg('refreshToken', () => String) refreshToken: string, @Ctx() { sessions, address }: Context) {
    return sessions.refresh(refreshToken, address);
  }

  @Authorized<Policy>('credentials:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description: 'Ends an access token, or a refresh token with all that came of it, everywhere within 2 s. True also for one that is unknown or has expired.',
  })
  async revokeToken(@Arg('token', () => String) token: string, @Ctx() { viewer, sessions }: Context) {
    await sessions.revoke(viewer, token);
    return true;
  }

  @Authorized<Policy>('credentials:manage')
  @Mutation(() => RotateCredentialsPayload, {
    nullable: true,
    description: 'Hands out a one-time token for a new secret. Nothing changes until it is redeemed.',
  })
  rotateCredentials(@Arg('input', () => RotateCredentialsInput) { orgId, appId, graceHours }: RotateCredentialsInput, @Ctx() { viewer, credentials }: Context) {
    const named = appId ?? undefined;
    if (viewer.kind === 'APP_CLIENT' && named !== undefined && named !== viewer.appId) throw notFound('app');
    const app = viewer.kind === 'APP_CLIENT' ? viewer.appId : named;
    if (app !== undefined && appIdIssues(app).length > 0) throw notFound('app');
    return credentials.rotate({ orgId: orgIdFor(viewer, orgId, 'input.orgId'), ...(app === undefined ? {} : { appId: app }) }, graceHours, actorName(viewer));
  }

  @Authorized<Policy>('public')
  @Mutation(() => RetrievedSecretType, { nullable: true, description: 'Makes the secret and shows it, once a token.' })
  retrieveSecret(@Arg('token', () => String) token: string, @Ctx() { credentials }: Context) {
    return credentials.retrieve(token);
  }
}
