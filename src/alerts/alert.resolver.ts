import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Resolver, Root, Subscription } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy, requirePolicy } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import { AppType } from '../orgs/app.types.js';
import { OrgType } from '../orgs/org.types.js';
import { scopeOf } from '../orgs/scope.js';
import { type App, appIdIssues, type Org } from '../orgs/settings.js';
import type { AlertFilter, AlertKind, QuotaAlert } from './alert.js';
import { QuotaAlertConnection, QuotaAlertKindType, QuotaAlertType } from './alert.types.js';

const wrongCursor =
  'must be the `cursor` field of a QuotaAlert of this org; edge cursors of `alerts` (`edges.cursor`, `endCursor`) only page that list';

const cursorContext = (orgId: string): string => `${orgId} quotaAlerts`;

@Resolver(() => QuotaAlertType)
export class AlertResolver {
  @FieldResolver(() => ID, { description: 'Global id of this alert, for `node`.' })
  id(@Root() { orgId, number }: QuotaAlert) {
    return nodeId('QuotaAlert', orgId, String(number));
  }

  @FieldResolver(() => String, { description: 'Pass it to `quotaAlerts(after:)` to get the alerts after this one.' })
  cursor(@Root() { orgId, number }: QuotaAlert, @Ctx() { cursors }: Context) {
    return cursors.seal(cursorContext(orgId), String(number));
  }

  @Authorized<Policy>('alerts:follow')
  @Subscription(() => QuotaAlertType, {
    subscribe: ({ args, context }) => follow(args as FollowArgs, context as Context),
    description:
      'Alerts as they are raised. With `after`: first all that were missed since, in order, then live ones, without gap or repeat. If alerts after that cursor have expired, an alert of kind GAP comes first.',
  })
  quotaAlerts(
    @Root() alert: QuotaAlert,
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: 'The org to follow. Required for the platform admin; absent: the caller’s own.',
    })
    _orgId: string | null | undefined,
    @Arg('appId', () => String, {
      nullable: true,
      description: 'Only alerts of the quotas that this app counts against. For an app client: absent means itself.',
    })
    _appId: string | null | undefined,
    @Arg('kinds', () => [QuotaAlertKindType], {
      nullable: true,
      description: 'Only these kinds (and GAP). Absent: all.',
    })
    _kinds: AlertKind[] | null | undefined,
    @Arg('after', () => String, {
      nullable: true,
      description:
        'The `cursor` field of the last alert received. The edge cursors of `alerts` are for paging and are refused here.',
    })
    _after: string | null | undefined,
  ) {
    return alert;
  }
}

interface FollowArgs {
  readonly orgId?: string | null;
  readonly appId?: string | null;
  readonly kinds?: readonly AlertKind[] | null;
  readonly after?: string | null;
}

async function follow(
  { orgId: named, appId, kinds, after: given }: FollowArgs,
  context: Context,
): Promise<AsyncIterable<QuotaAlert>> {
  const { viewer, loaders, cursors, alertFeed, lastEventId } = context;
  requirePolicy(viewer, 'alerts:follow');
  const orgId = orgIdFor(viewer, named);
  // A browser that reconnects sends the id of the last event it has seen, which is newer than the argument.
  const after = lastEventId ?? given;
  context.identifyEvents(({ number }: QuotaAlert) => cursors.seal(cursorContext(orgId), String(number)));
  if (!(await loaders.org(orgId))) throw notFound('org');
  const about = viewer.kind === 'APP_CLIENT' ? (appId ?? viewer.appId) : appId;
  const app = about && appIdIssues(about).length === 0 ? await loaders.app({ orgId, appId: about }) : undefined;
  if (about && !app) throw notFound('app');
  const from = typeof after === 'string' ? cursors.open(cursorContext(orgId), after) : undefined;
  if (typeof after === 'string' && from === undefined) throw badInput({ path: 'after', message: wrongCursor });
  const filter: AlertFilter = { orgId, ...(app ? { scope: scopeOf(app) } : {}), ...(kinds ? { kinds } : {}) };
  return alertFeed.subscribe(filter, from === undefined ? undefined : Number(from));
}

/** Alerts of an org or of one scope, newest first. */
function listing(
  { alertStore, cursors }: Context,
  page: PageArgs,
  orgId: string,
  field: string,
  scope?: { readonly appId?: string },
) {
  return paginate(
    page,
    { cursors, tenant: orgId, field },
    ({ number }: QuotaAlert) => String(number),
    (limit, after) =>
      alertStore.list(orgId, limit, {
        ...(scope ? { scope } : {}),
        ...(after === undefined ? {} : { before: Number(after) }),
      }),
  );
}

@Resolver(() => OrgType)
export class OrgAlertResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => QuotaAlertConnection, { description: 'Alerts of the org and all its apps, newest first.' })
  alerts(@Root() { orgId }: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() context: Context) {
    return listing(context, page, orgId, 'Org.alerts');
  }
}

@Resolver(() => AppType)
export class AppAlertResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => QuotaAlertConnection, {
    description:
      'Alerts on the quotas that this app counts against, newest first. Under quotaScope ORG: those of the org.',
  })
  alerts(@Root() app: App, @Args(() => PageArgs) page: PageArgs, @Ctx() context: Context) {
    return listing(context, page, app.orgId, `App.alerts ${app.appId}`, scopeOf(app));
  }
}
