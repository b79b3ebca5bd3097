import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Resolver, Root, Subscription } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import { AppType } from '../orgs/app.types.js';
import { OrgType } from '../orgs/org.types.js';
import { scopeOf } from '../orgs/scope.js';
import { type App, appIdIssues, type Org } from '../orgs/settings.js';
import type { AlertFilter, AlertKind, QuotaAlert } from './alert.js';
import { QuotaAlertConnection, QuotaAlertKindType, QuotaAlertType } from './alert.types.js';

const wrongCursor =
  'must be the `cursor` field of a QuotaAlert of this org; ' +
  'edge cursors of `alerts` (`edges.cursor`, `endCursor`) only page that list';

const cursorContext = (orgId: string): string => `${orgId} quotaAlerts`;

@Resolver(() => QuotaAlertType)
export class AlertResolver {
  @FieldResolver(() => ID, { description: 'Global ID of this alert, for `node`.' })
  id(@Root() { orgId, number }: QuotaAlert) {
    return nodeId('QuotaAlert', orgId, String(number));
  }

  @FieldResolver(() => String, { description: 'Pass it to `quotaAlerts(after:)` to get the alerts after this one.' })
  cursor(@Root() { orgId, number }: QuotaAlert, @Ctx() { cursors }: Context) {
    return cursors.seal(cursorContext(orgId), String(number));
  }

  // type-graphql checks the policy before the subscription starts and again for each event.
  @Authorized<Policy>('alerts:follow')
  @Subscription(() => QuotaAlertType, {
    subscribe: ({ args, context }) => follow(args as AlertArgs, context as Context),
    description:
      'Alerts as they are raised. With `after`: first all alerts since that cursor, in order, then live ones, ' +
      'without gap or repeat. If alerts after that cursor have expired, an alert of kind GAP comes first.',
  })
  quotaAlerts(
    @Root() alert: QuotaAlert,
    @Arg('orgId', () => Uuid, {
      nullable: true,
      description: 'The org to follow. Required for the platform admin. Default: the org of the caller.',
    })
    _orgId: string | null | undefined,
    @Arg('appId', () => String, {
      nullable: true,
      description: 'Only alerts of the quotas that this app counts against. Default for an app client: its own app.',
    })
    _appId: string | null | undefined,
    @Arg('kinds', () => [QuotaAlertKindType], {
      nullable: true,
      description: 'Only alerts of these kinds, and GAP. Omit for all kinds.',
    })
    _kinds: AlertKind[] | null | undefined,
    @Arg('after', () => String, {
      nullable: true,
      description:
        'The `cursor` field of the last alert received. ' +
        'The edge cursors of `alerts` are only for paging and are rejected here.',
    })
    _after: string | null | undefined,
  ) {
    return alert;
  }
}

interface AlertArgs {
  readonly orgId?: string | null;
  readonly appId?: string | null;
  readonly kinds?: readonly AlertKind[] | null;
  readonly after?: string | null;
}

async function follow(
  { orgId: requestedOrgId, appId: requestedAppId, kinds, after: afterArg }: AlertArgs,
  context: Context,
): Promise<AsyncIterable<QuotaAlert>> {
  const { viewer, loaders, cursors, alertFeed, lastEventId } = context;
  const orgId = orgIdFor(viewer, requestedOrgId);
  // A browser that reconnects sends the id of the last event it received, which is newer than the argument.
  const after = lastEventId ?? afterArg;
  context.identifyEvents(({ number }: QuotaAlert) => cursors.seal(cursorContext(orgId), String(number)));
  if (!(await loaders.org(orgId))) throw notFound('org');
  const appId = viewer.kind === 'APP_CLIENT' ? (requestedAppId ?? viewer.appId) : requestedAppId;
  const app = appId && appIdIssues(appId).length === 0 ? await loaders.app({ orgId, appId }) : undefined;
  if (appId && !app) throw notFound('app');
  const from = typeof after === 'string' ? cursors.open(cursorContext(orgId), after) : undefined;
  if (typeof after === 'string' && from === undefined) throw badInput({ path: 'after', message: wrongCursor });
  const filter: AlertFilter = { orgId, ...(app ? { scope: scopeOf(app) } : {}), ...(kinds ? { kinds } : {}) };
  return alertFeed.subscribe(filter, from === undefined ? undefined : Number(from));
}

/** The list that a field shows: of a whole org, or of one scope. */
interface AlertList {
  readonly orgId: string;
  /** Names the field in its cursors, so that a cursor of one list is rejected by the others. */
  readonly field: string;
  readonly scope?: { readonly appId?: string };
}

/** A page of alerts, newest first. */
function listAlerts({ alertStore, cursors }: Context, page: PageArgs, { orgId, field, scope }: AlertList) {
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
    return listAlerts(context, page, { orgId, field: 'Org.alerts' });
  }
}

@Resolver(() => AppType)
export class AppAlertResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => QuotaAlertConnection, {
    description:
      'Alerts on the quotas that this app counts against, newest first. Under quotaScope ORG: the alerts of the org.',
  })
  alerts(@Root() app: App, @Args(() => PageArgs) page: PageArgs, @Ctx() context: Context) {
    return listAlerts(context, page, { orgId: app.orgId, field: `App.alerts ${app.appId}`, scope: scopeOf(app) });
  }
}
