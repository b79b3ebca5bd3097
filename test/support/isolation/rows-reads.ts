import * as op from '../operations.js';
import {
  alertsFollowed,
  available,
  byNode,
  forgeable,
  inOrg,
  listed,
  named,
  nodesSeen,
  nodeTypes,
  ofAdmins,
  ofClients,
  type Row,
  readingsFollowed,
  row,
  same,
  seenByOwner,
} from './row.js';
import { appIds, costIds, cursorsOf, entityIds, forgedTargets, hardwareIds, nodeTargets, orgIds } from './targets.js';
import { app, foreign, newCanary, own, recentDays } from './worlds.js';

/** Reads and subscriptions. */
export const readRows: Readonly<Record<string, Row>> = {
  'Query.org(orgId)': row('query ($it: UUID) { it: org(orgId: $it) { orgId name } }', orgIds, (it) => ({ it }), {
    admin: 'ok - ok null bad',
    ...same('ok - null null bad', 'org', 'app', 'device'),
  }),
  'Query.orgs(after)': {
    ...row(
      'query ($it: String) { it: orgs(first: 1, after: $it) { nodes { name } } }',
      {
        ...cursorsOf('Org.apps'),
        own: async () => (await app.admin.ask(op.OrgsDocument, { first: 1 })).orgs.pageInfo.endCursor ?? 'none',
        sibling: () => own.cursors['Org.apps'] ?? 'none',
      },
      (it) => ({ it }),
      { admin: 'ok bad bad bad bad' },
    ),
    platform: true,
  },
  'Query.models(after)': row(
    'query ($it: String) { it: models(first: 1, after: $it) { label } }',
    {
      own: () => 'premium',
      foreign: () => `label-${newCanary()}`,
      random: () => `label-${newCanary()}`,
      malformed: () => '#',
    },
    (it) => ({ it }),
    same('ok - bad bad bad', 'admin', 'org', 'app', 'device'),
  ),
  'Query.platformAuditEvents(entityId)': row(
    'query ($it: String) { it: platformAuditEvents(entityId: $it, first: 1) { nodes { action } } }',
    { ...entityIds, own: () => '$MODEL:premium' },
    (it) => ({ it }),
    { admin: 'empty empty empty empty bad' },
  ),
  'Query.platformAuditEvents(after)': row(
    'query ($it: String) { it: platformAuditEvents(after: $it, first: 1) { nodes { action } } }',
    cursorsOf('Org.auditEvents'),
    (it) => ({ it }),
    { admin: 'bad' },
  ),
  'Query.managedItems(orgId)': row(
    'query ($it: UUID) { it: managedItems(orgId: $it) { nodes { item } } }',
    orgIds,
    (it) => ({ it }),
    { admin: 'empty - empty none bad', org: 'empty - none none bad' },
  ),
  'Query.managedItems(after)': row(
    'query ($orgId: UUID, $it: String) { it: managedItems(orgId: $orgId, after: $it) { nodes { item } } }',
    cursorsOf('Org.auditEvents'),
    named,
    { admin: 'bad', org: 'bad' },
  ),
  'Query.availability(orgId)': row(
    available,
    orgIds,
    (orgId, { tenant }) => ({ orgId, entityId: tenant.entityIds[0], resource: tenant.resource }),
    {
      ...ofClients,
      admin: 'ok - ok none bad',
    },
  ),
  'Query.availability(entityId)': row(
    available,
    entityIds,
    (entityId, { orgId }) => ({ orgId, entityId, resource: own.resource }),
    {
      ...same('ok ok ok ok bad', 'admin', 'org', 'app'),
    },
  ),
  'Org.app(appId)': row(inOrg('it: app(appId: $it) { name }', 'String!'), appIds, named, {
    ...same('ok ok null null null', 'admin', 'org'),
    app: 'ok null null null null',
  }),
  'Org.entity(entityId)': row(
    inOrg('it: entity(entityId: $it) { name }', 'String!'),
    entityIds,
    named,
    same('ok ok null null null', 'admin', 'org'),
  ),
  'Org.device(hardwareId)': row(
    inOrg('it: device(hardwareId: $it) { friendlyName }', 'String!'),
    hardwareIds,
    named,
    same('ok ok null null bad', 'admin', 'org'),
  ),
  'Org.limitConfig(entityId)': row(
    'query ($orgId: UUID, $it: String, $r: String!) { org(orgId: $orgId) { it: limitConfig(level: ENTITY, ' +
      'entityId: $it, resource: $r) { version } } }',
    { ...entityIds, foreign: () => foreign.entityIds[1], random: () => `child-${newCanary()}` },
    (it, { orgId }) => ({ it, orgId, r: own.resource }),
    same('null ok null null bad', 'admin', 'org'),
  ),
  'Org.auditEvents(entityId)': row(
    inOrg('it: auditEvents(entityId: $it, first: 1) { nodes { action } }', 'String'),
    entityIds,
    named,
    same('ok ok empty empty bad', 'admin', 'org'),
  ),
  ...listed('Org.auditEvents', 'it: auditEvents(after: $it, first: 1) { nodes { action } }'),
  ...listed('Org.alerts', 'it: alerts(after: $it, first: 1) { pageInfo { hasNextPage } }'),
  ...listed('Org.devices', 'it: devices(after: $it, first: 1) { nodes { friendlyName } }'),
  ...listed('Org.apiKeys', 'it: apiKeys(after: $it, first: 1) { pageInfo { hasNextPage } }'),
  ...listed('Org.entities', 'it: entities(after: $it, first: 1) { pageInfo { hasNextPage } }'),
  ...listed(
    'Org.searchEntities',
    'it: searchEntities(prefix: "parent", after: $it, first: 1) { pageInfo { hasNextPage } }',
  ),
  ...listed('Org.apps', 'it: apps(after: $it, first: 1) { nodes { name } }'),
  'Org.entitiesWithLimits(after)': row(
    'query ($orgId: UUID, $it: String, $r: String!) { org(orgId: $orgId) { it: entitiesWithLimits(resource: $r, ' +
      'after: $it) { pageInfo { hasNextPage } } } }',
    cursorsOf('Org.entitiesWithLimits'),
    (it, { orgId }) => ({ it, orgId, r: own.resource }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  ...listed('Org.costs', `it: costs(after: $it, first: 1, ${recentDays}) { nodes { label } }`),
  'Org.costs(appId)': row(
    inOrg(`it: costs(appId: $it, first: 1, ${recentDays}) { nodes { label } }`, 'String'),
    appIds,
    named,
    same('ok empty empty empty empty', 'admin', 'org'),
  ),
  'Org.cost(requestId)': row(
    'query ($orgId: UUID, $it: UUID!, $app: String!) { org(orgId: $orgId) { it: cost(requestId: $it, appId: $app) { ' +
      'label corrections { reason } } } }',
    costIds,
    (it, { orgId }) => ({ it, orgId, app: own.client.appId }),
    same('ok - null null bad', 'admin', 'org'),
  ),
  'Org.cost(appId)': row(
    'query ($orgId: UUID, $it: String!, $id: UUID!) { org(orgId: $orgId) { it: cost(requestId: $id, appId: $it) { ' +
      'label } } }',
    appIds,
    (it, { orgId }) => ({ it, orgId, id: own.costIds[0] }),
    same('ok null null null null', 'admin', 'org'),
  ),
  'App.cost(requestId)': row(
    'query ($orgId: UUID, $it: UUID!, $app: String!) { org(orgId: $orgId) { app(appId: $app) { it: cost(requestId: ' +
      '$it) { label corrections { reason } } } } }',
    costIds,
    (it, { orgId }) => ({ it, orgId, app: own.client.appId }),
    same('ok - null null bad', 'admin', 'org', 'app'),
  ),
  'App.costs(after)': row(
    'query ($orgId: UUID, $it: String, $app: String!) { org(orgId: $orgId) { app(appId: $app) { it: costs(after: ' +
      `$it, first: 1, ${recentDays}) { nodes { label } } } } }`,
    cursorsOf('App.costs'),
    (it, { orgId }) => ({ it, orgId, app: own.client.appId }),
    same('ok bad bad bad bad', 'admin', 'org', 'app'),
  ),
  'App.alerts(after)': row(
    'query ($orgId: UUID, $it: String, $app: String!) { org(orgId: $orgId) { app(appId: $app) { it: alerts(after: ' +
      '$it) { pageInfo { hasNextPage } } } } }',
    cursorsOf('App.alerts'),
    (it, { orgId }) => ({ it, orgId, app: own.client.appId }),
    same('ok bad bad bad bad', 'admin', 'org', 'app'),
  ),
  'Device.readings(after)': row(
    'query ($orgId: UUID, $it: String, $hw: String!) { org(orgId: $orgId) { device(hardwareId: $hw) { it: ' +
      'readings(after: $it) { nodes { friendlyName } } } } }',
    cursorsOf('Device.readings'),
    (it, { orgId }) => ({ it, orgId, hw: own.hardwareIds[0] }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  'Entity.children(after)': row(
    'query ($orgId: UUID, $it: String, $e: String!) { org(orgId: $orgId) { entity(entityId: $e) { it: ' +
      'children(after: $it) { pageInfo { hasNextPage } } } } }',
    cursorsOf('Entity.children'),
    (it, { orgId }) => ({ it, orgId, e: own.entityIds[0] }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  'Entity.usage(after)': row(
    'query ($orgId: UUID, $it: String, $e: String!) { org(orgId: $orgId) { entity(entityId: $e) { it: ' +
      'usage(window: HOURLY, after: $it) { pageInfo { hasNextPage } } } } }',
    cursorsOf('Entity.usage'),
    (it, { orgId }) => ({ it, orgId, e: own.entityIds[0] }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  ...Object.fromEntries(
    nodeTypes.map((type) => [
      `Query.node(id) of ${type}`,
      byNode(nodeTargets(type), { ...seenByOwner, ...nodesSeen[type] }),
    ]),
  ),
  ...Object.fromEntries(
    forgeable.map((type) => [
      `Query.node(id) of ${type}, forged`,
      byNode(forgedTargets(type), same('null', 'admin', 'org', 'app', 'device')),
    ]),
  ),
  'Subscription.quotaAlerts(orgId)': row(alertsFollowed, orgIds, (orgId) => ({ orgId }), {
    ...ofClients,
    admin: 'ok - ok none bad',
  }),
  'Subscription.quotaAlerts(appId)': row(alertsFollowed, appIds, (appId, { orgId }) => ({ appId, orgId }), {
    ...same('ok ok none none none', 'admin', 'org'),
    app: 'ok none none none none',
  }),
  'Subscription.quotaAlerts(after)': row(
    alertsFollowed,
    cursorsOf('Subscription.quotaAlerts'),
    (after, { orgId }) => ({ after, orgId }),
    same('ok bad bad bad bad', 'admin', 'org', 'app'),
  ),
  'Subscription.readings(orgId)': row(
    readingsFollowed,
    orgIds,
    (orgId, { tenant }) => ({ orgId, hardwareId: tenant.hardwareIds[0] }),
    {
      ...ofAdmins,
      admin: 'ok - ok none bad',
    },
  ),
  'Subscription.readings(hardwareId)': row(
    readingsFollowed,
    hardwareIds,
    (hardwareId, { orgId }) => ({ hardwareId, orgId }),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Subscription.readings(after)': row(
    readingsFollowed,
    cursorsOf('Subscription.readings'),
    (after, { orgId }) => ({ after, orgId }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
};
