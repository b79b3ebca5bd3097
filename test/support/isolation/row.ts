import { randomUUID } from 'node:crypto';
import type * as op from '../operations.js';
import { type Cell, cursorsOf, type Targets } from './targets.js';
import { app, own, type Role, type World } from './worlds.js';

/**
 * One outcome per target, in the order own, sibling, foreign, random, malformed. A single outcome stands for all
 * targets. `ok` served, `again` served as a replay, `null`, `no` false, `empty` an empty list, `none` NOT_FOUND,
 * `taken` ALREADY_EXISTS, `bad` BAD_USER_INPUT, `deny` FORBIDDEN, `who` UNAUTHENTICATED, `-` not sent.
 */
export type Outcomes = string;

export interface Row {
  readonly document: string;
  readonly targets: Targets;
  readonly variables: (it: string, ask: Sending) => object | Promise<object>;
  readonly outcomes: Readonly<Record<Role, Outcomes>>;
  /** Undoes the change of the caller's own tenant before the next role. */
  readonly undo?: (it: string) => Promise<unknown>;
  /** The response names all tenants. */
  readonly platform?: true;
  /** The argument is itself a credential, so it works for every caller. */
  readonly bearer?: true;
}

export interface Sending extends Cell {
  /** The tenant of the other objects that the operation names. */
  readonly tenant: World;
  /** Sent by the admin only. */
  readonly orgId: string | undefined;
}

export const row = (
  document: string,
  targets: Targets,
  variables: Row['variables'],
  outcomes: Partial<Row['outcomes']>,
): Row => ({
  document,
  targets,
  variables,
  outcomes: { anonymous: 'who', admin: 'deny', org: 'deny', app: 'deny', device: 'deny', ...outcomes },
});
export const same = (outcomes: Outcomes, ...allowed: Role[]): Partial<Row['outcomes']> =>
  Object.fromEntries(allowed.map((role) => [role, outcomes]));

// The admin may change any org. Operations about the foreign one are not sent, because it must stay unchanged.
export const ofAdmins = { admin: 'ok - - none bad', org: 'ok - none none bad' };
export const ofClients = { ...ofAdmins, app: 'ok - none none bad' };

export const inOrg = (field: string, type: string): string =>
  `query ($orgId: UUID, $it: ${type}) { org(orgId: $orgId) { ${field} } }`;
export const named: Row['variables'] = (it, { orgId }) => ({ it, orgId });
export const listed = (field: string, selection: string, app = 'deny'): Readonly<Record<string, Row>> => ({
  [`${field}(after)`]: row(inOrg(selection, 'String'), cursorsOf(field), named, {
    ...same('ok bad bad bad bad', 'admin', 'org'),
    app,
  }),
});
export const input =
  (rest: (sending: Sending, it: string) => object | Promise<object>): Row['variables'] =>
  async (it, sending) => ({
    input: { ...(sending.orgId ? { orgId: sending.orgId } : {}), ...(await rest(sending, it)) },
  });
export const mutation = (field: string, type: string, selection: string): string =>
  `mutation ($input: ${type}!) { it: ${field}(input: $input) ${selection} }`;

export const consumed = ({ limits: [limit] }: World) => [{ limit: limit?.name ?? '', amount: 1 }];
export const acquired = mutation('acquire', 'AcquireInput', '{ ... on Lease { entityId resource replayed } }');
export const allAcquired = mutation(
  'acquireAll',
  'AcquireAllInput',
  '{ ... on Leases { leases { entityId resource } } }',
);
export const toppedUp = mutation('topUp', 'TopUpInput', '{ replayed }');
export const topUpOf = (tenant: World, operationId: string) => ({
  entityId: tenant.entityIds[0],
  resource: tenant.resource,
  limit: tenant.limits[0]?.name ?? '',
  amount: 1,
  operationId,
});
export const adjusted = mutation('adjustLease', 'AdjustLeaseInput', '{ replayed }');
export const rotated = mutation('rotateCredentials', 'RotateCredentialsInput', '{ secretRetrieval { __typename } }');
export const clientCreated = mutation('createClient', 'CreateClientInput', '{ client { name } }');
export const clientDeleted =
  'mutation ($orgId: UUID, $clientId: String!) { it: deleteClient(orgId: $orgId, clientId: $clientId) }';
export const submitted = mutation('submitCost', 'SubmitCostInput', '{ replayed day label }');
export const submittedMany =
  'mutation ($inputs: [SubmitCostInput!]!) { it: submitCosts(inputs: $inputs) { receipt { replayed } error { code ' +
  'message } } }';
export const many =
  (rest: (sending: Sending, it: string) => object): Row['variables'] =>
  (it, sending) => ({ inputs: [{ ...(sending.orgId ? { orgId: sending.orgId } : {}), ...rest(sending, it) }] });
export const corrected = mutation('correctCost', 'CorrectCostInput', '{ replayed }');
export const overridden = mutation('overrideModel', 'OverrideModelInput', '{ reason }');
export const limitsSet = mutation('setLimits', 'SetLimitsInput', '{ level entityId }');
export const limitsDeleted = mutation('deleteLimits', 'DeleteLimitsInput', '');
export const appUpdated = mutation('updateApp', 'UpdateAppInput', '{ name }');
export const appRegistered = mutation('registerApp', 'RegisterAppInput', '{ app { name } }');
export const entityCreated = mutation('createEntity', 'CreateEntityInput', '{ name cascade }');
export const entityUpdated = mutation('updateEntity', 'UpdateEntityInput', '{ name cascade }');
export const ingested = mutation(
  'ingest',
  'IngestInput',
  '{ settledBatchIds verdicts { kind error { code message } } }',
);
export const alertsFollowed =
  'subscription ($orgId: UUID, $appId: String, $after: String) { quotaAlerts(orgId: $orgId, appId: $appId, after: ' +
  '$after) { id } }';
export const readingsFollowed =
  'subscription ($orgId: UUID, $hardwareId: String, $after: String) { readings(orgId: $orgId, hardwareId: ' +
  '$hardwareId, after: $after) { id } }';
export const available =
  'query ($orgId: UUID, $entityId: String!, $resource: String!) { it: availability(orgId: $orgId, entityId: ' +
  '$entityId, resource: $resource) { statuses { entityId exceeded } } }';
export const assigned =
  'mutation ($orgId: UUID, $hardwareId: String!, $keyId: UUID) { it: assignDevice(orgId: $orgId, hardwareId: ' +
  '$hardwareId, keyId: $keyId) { friendlyName } }';
export const deleted =
  'mutation ($orgId: UUID, $hardwareId: String!) { it: deleteDevice(orgId: $orgId, hardwareId: $hardwareId) }';
export const renamed =
  'mutation ($orgId: UUID, $hardwareId: String!, $name: String) { it: renameDevice(orgId: $orgId, hardwareId: ' +
  '$hardwareId, friendlyName: $name) { friendlyName } }';
export const revoked =
  'mutation ($orgId: UUID, $keyId: UUID!) { it: revokeApiKey(orgId: $orgId, keyId: $keyId) { active } }';
export const readingInput = (change: Partial<op.ReadingInput>): object => ({
  readings: [{ ...own.readings[0], timestampMs: app.clock.nowMs() - 5000, batchId: randomUUID(), ...change }],
});

export const byNode = (targets: Targets, outcomes: Partial<Row['outcomes']>): Row =>
  row(
    'query ($it: ID!) { it: node(id: $it) { __typename ... on Org { name } ... on App { name } ... on Device { ' +
      'firmwareVersion } } }',
    targets,
    (it) => ({ it }),
    outcomes,
  );
export const seenByOwner = { admin: 'ok - ok null null', org: 'ok - null null null', ...same('null', 'app', 'device') };
export const nodeTypes = ['Org', 'App', 'Entity', 'Bucket', 'Device', 'Reading', 'ApiKey', 'AuditEvent', 'QuotaAlert'];
export const seenByApps = { app: 'ok - null null null' };
export const nodesSeen: Readonly<Record<string, Partial<Row['outcomes']>>> = {
  Org: { ...seenByApps, device: 'ok - null null null' },
  App: seenByApps,
  QuotaAlert: seenByApps,
};
/** The number of an alert is unique only within its tenant, so a foreign number can name an own alert. */
export const forgeable = nodeTypes.filter((type) => type !== 'Org' && type !== 'QuotaAlert');

export const everyone = (outcomes: Outcomes): Row['outcomes'] => ({
  anonymous: outcomes,
  admin: outcomes,
  org: outcomes,
  app: outcomes,
  device: outcomes,
});
