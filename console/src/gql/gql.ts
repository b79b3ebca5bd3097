/* eslint-disable */
import * as types from './graphql';



/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "fragment OrgFrame on Org {\n  orgId\n  name\n  timezone\n  timezoneEffectiveAt\n  quotaScope\n  modelOrdering\n  dimensions\n  attributeApps\n  ledger\n  suspendedAt\n}\n\nquery Frame($orgId: UUID!) {\n  org(orgId: $orgId) {\n    ...OrgFrame\n    spend {\n      day\n      resetsAt\n    }\n  }\n}\n\nquery AppFrame {\n  me {\n    org {\n      ...OrgFrame\n    }\n    app {\n      spend {\n        day\n        resetsAt\n      }\n    }\n  }\n}\n\nquery OrgNames($after: String) {\n  orgs(first: 100, after: $after) {\n    nodes {\n      orgId\n      name\n      suspendedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nsubscription LiveAlerts($orgId: UUID!, $after: String) {\n  quotaAlerts(orgId: $orgId, after: $after) {\n    id\n    cursor\n    kind\n    appId\n    label\n    activeLabel\n    quotaPct\n    raisedAt\n  }\n}": typeof types.OrgFrameFragmentDoc,
};
const documents: Documents = {
    "fragment OrgFrame on Org {\n  orgId\n  name\n  timezone\n  timezoneEffectiveAt\n  quotaScope\n  modelOrdering\n  dimensions\n  attributeApps\n  ledger\n  suspendedAt\n}\n\nquery Frame($orgId: UUID!) {\n  org(orgId: $orgId) {\n    ...OrgFrame\n    spend {\n      day\n      resetsAt\n    }\n  }\n}\n\nquery AppFrame {\n  me {\n    org {\n      ...OrgFrame\n    }\n    app {\n      spend {\n        day\n        resetsAt\n      }\n    }\n  }\n}\n\nquery OrgNames($after: String) {\n  orgs(first: 100, after: $after) {\n    nodes {\n      orgId\n      name\n      suspendedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nsubscription LiveAlerts($orgId: UUID!, $after: String) {\n  quotaAlerts(orgId: $orgId, after: $after) {\n    id\n    cursor\n    kind\n    appId\n    label\n    activeLabel\n    quotaPct\n    raisedAt\n  }\n}": types.OrgFrameFragmentDoc,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "fragment OrgFrame on Org {\n  orgId\n  name\n  timezone\n  timezoneEffectiveAt\n  quotaScope\n  modelOrdering\n  dimensions\n  attributeApps\n  ledger\n  suspendedAt\n}\n\nquery Frame($orgId: UUID!) {\n  org(orgId: $orgId) {\n    ...OrgFrame\n    spend {\n      day\n      resetsAt\n    }\n  }\n}\n\nquery AppFrame {\n  me {\n    org {\n      ...OrgFrame\n    }\n    app {\n      spend {\n        day\n        resetsAt\n      }\n    }\n  }\n}\n\nquery OrgNames($after: String) {\n  orgs(first: 100, after: $after) {\n    nodes {\n      orgId\n      name\n      suspendedAt\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n\nsubscription LiveAlerts($orgId: UUID!, $after: String) {\n  quotaAlerts(orgId: $orgId, after: $after) {\n    id\n    cursor\n    kind\n    appId\n    label\n    activeLabel\n    quotaPct\n    raisedAt\n  }\n}"): typeof import('./graphql').OrgFrameFragmentDoc;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
