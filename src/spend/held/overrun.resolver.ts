import { Args, Authorized, Ctx, Query, Resolver } from 'type-graphql';
import { paginate } from '../../graphql/connection.js';
import type { Context } from '../../graphql/context.js';
import { orgIdFor, type Policy } from '../../identity/viewer.js';
import { notFound } from '../../lib/errors.js';
import { appIdIssues } from '../../orgs/settings.js';
import type { OverrunRow } from './overrun.store.js';
import { OverrunArgs, OverrunConnection } from './overrun.types.js';

@Resolver()
export class OverrunResolver {
  @Authorized<Policy>('app:read')
  @Query(() => OverrunConnection, {
    description:
      'Costs under HARD quotas and budgets that no reservation covered, newest first. An app client sees those of ' +
      'its app. Adds one unit of complexity per day of the range, and 100 with a filter by app. A page reads at most ' +
      '1,000 entries: with a filter it may have fewer nodes than `first` and still have a next page.',
  })
  async overruns(@Args(() => OverrunArgs) args: OverrunArgs, @Ctx() context: Context) {
    const { viewer, loaders, cursors, overruns } = context;
    const orgId = orgIdFor(viewer, args.orgId);
    if (viewer.kind === 'APP_CLIENT' && args.appId && args.appId !== viewer.appId) throw notFound('app');
    const appId = viewer.kind === 'APP_CLIENT' ? viewer.appId : (args.appId ?? undefined);
    if (!(await loaders.org(orgId))) throw notFound('org');
    const app = appId === undefined || appIdIssues(appId).length > 0 ? undefined : await loaders.app({ orgId, appId });
    if (appId !== undefined && !app) throw notFound('app');
    const range = { orgId, from: args.from, to: args.to, ...(appId === undefined ? {} : { appId }) };
    overruns.check(range, loaders);
    return paginate(
      args,
      { cursors, tenant: orgId, field: 'Query.overruns' },
      ({ position }: OverrunRow) => position,
      (limit, after) => overruns.list(range, limit, after),
    );
  }
}
