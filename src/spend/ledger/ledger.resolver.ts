import { Arg, Args, Authorized, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { paginate } from '../../graphql/connection.js';
import type { Context } from '../../graphql/context.js';
import { Uuid } from '../../graphql/scalars.js';
import { orgIdFor, type Policy } from '../../identity/viewer.js';
import { notFound } from '../../lib/errors.js';
import { AppType } from '../../orgs/app.types.js';
import { OrgType } from '../../orgs/org.types.js';
import { type App, appIdIssues, type Org } from '../../orgs/settings.js';
import type { CorrectionReceipt } from './correction.service.js';
import { CostCorrectionType, CostEntryType, type CostEntryView, costEntry } from './cost-entry.types.js';
import type { CostQuery } from './ledger.service.js';
import {
  CorrectCostInput,
  CorrectCostPayload,
  CostEntryConnection,
  CostRangeArgs,
  correctCostText,
  OrgCostsArgs,
} from './ledger.types.js';
import { positionOf } from './ledger-key.js';
import type { RecordedCost } from './recorded-cost.item.js';

const costText =
  'One recorded call by its `requestId`. Null if there is none, or if it has expired (`retention.requestDays`).';
const costsText =
  'The recorded calls of a range of days, newest first. Only for an org with `ledger: true`, and only the calls that ' +
  'were recorded while it was on; a call of the last second may be missing. ' +
  'A page with a filter reads at most 1,000 calls: it may have fewer nodes than `first`, or none, and still have a ' +
  'next page. Adds 4 units of complexity per day of the range; 8 or 16 for an org with 32 or 64 shards.';
const requestIdText = 'The `requestId` of the cost.';

/** The argument `field` of a list names it in its cursors. */
async function listCosts(context: Context, org: Org, args: CostQuery & CostRangeArgs, field: string) {
  const { ledger, loaders, cursors } = context;
  ledger.checkQuery(org, args, loaders);
  const page = await paginate(
    args,
    { cursors, tenant: org.orgId, field },
    ({ record }: RecordedCost) => positionOf(record),
    (limit, after) => ledger.list(org, args, limit, after),
  );
  return {
    ...page,
    nodes: page.nodes.map((cost) => costEntry(cost, org)),
    edges: page.edges.map(({ cursor, node }) => ({ cursor, node: costEntry(node, org) })),
  };
}

async function loadCost({ ledger }: Context, org: Org, appId: string, requestId: string) {
  const isAppId = appIdIssues(appId).length === 0;
  const cost = isAppId ? await ledger.load({ orgId: org.orgId, appId, requestId }) : undefined;
  return cost && costEntry(cost, org);
}

@Resolver(() => OrgType)
export class OrgLedgerResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => CostEntryType, { nullable: true, description: costText })
  cost(
    @Root() org: Org,
    @Arg('requestId', () => Uuid, { description: requestIdText }) requestId: string,
    @Arg('appId', () => String, { description: 'The app that submitted it.' }) appId: string,
    @Ctx() context: Context,
  ) {
    return loadCost(context, org, appId, requestId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => CostEntryConnection, { description: costsText })
  costs(@Root() org: Org, @Args(() => OrgCostsArgs) args: OrgCostsArgs, @Ctx() context: Context) {
    return listCosts(context, org, args, 'Org.costs');
  }
}

@Resolver(() => AppType)
export class AppLedgerResolver {
  @Authorized<Policy>('app:read')
  @FieldResolver(() => CostEntryType, { nullable: true, description: costText })
  cost(
    @Root() { org, appId }: App,
    @Arg('requestId', () => Uuid, { description: requestIdText }) requestId: string,
    @Ctx() context: Context,
  ) {
    return loadCost(context, org, appId, requestId);
  }

  @Authorized<Policy>('app:read')
  @FieldResolver(() => CostEntryConnection, { description: `${costsText} The list of an app is filtered.` })
  costs(@Root() { org, appId }: App, @Args(() => CostRangeArgs) args: CostRangeArgs, @Ctx() context: Context) {
    return listCosts(context, org, { ...args, appId }, `App.costs ${appId}`);
  }
}

@Resolver(() => CostEntryType)
export class CostEntryResolver {
  @FieldResolver(() => [CostCorrectionType], { description: 'The corrections of the cost, oldest first.' })
  corrections(@Root() { ref, correctionIds }: CostEntryView, @Ctx() { loaders }: Context) {
    return loaders.corrections(ref, correctionIds);
  }
}

/** A correction, and the cost that it belongs to. */
interface CorrectedCost extends CorrectionReceipt {
  readonly org: Org;
  readonly appId: string;
  readonly requestId: string;
}

@Resolver(() => CorrectCostPayload)
export class CorrectionResolver {
  @Authorized<Policy>('org:manage')
  @Mutation(() => CorrectCostPayload, { nullable: true, description: correctCostText })
  async correctCost(
    @Arg('input', () => CorrectCostInput, { description: 'The cost and its correction.' }) input: CorrectCostInput,
    @Ctx() { viewer, loaders, corrections, actor }: Context,
  ): Promise<CorrectedCost> {
    const org = await loaders.org(orgIdFor(viewer, input.orgId, 'input.orgId'));
    if (!org) throw notFound('org');
    const { appId, requestId } = input;
    return { ...(await corrections.correct(org, input, actor)), org, appId, requestId };
  }

  @FieldResolver(() => CostEntryType, { nullable: true, description: 'The cost as it is now.' })
  cost(@Root() { org, appId, requestId }: CorrectedCost, @Ctx() context: Context) {
    return loadCost(context, org, appId, requestId);
  }
}
