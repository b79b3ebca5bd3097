import { randomUUID } from 'node:crypto';
import { type GraphQLObjectType, type GraphQLSchema, print } from 'graphql';
import { createSchema } from '../../src/graphql/schema.js';
import { type Answer, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  acquireInput,
  costInput,
  deviceInput,
  hardwareId,
  newWorld,
  outcomeOf,
  type Role,
  readingInput,
  roles,
  type World,
} from '../support/world.js';

/** The result for a caller: served, or the code of the error. */
type Outcome = 'ok' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'BAD_USER_INPUT';

interface Row {
  /** Sends the operation about the org of the world. */
  readonly send: (world: World, role: Role) => Promise<Answer<unknown>>;
  readonly outcomes: Readonly<Record<Role, Outcome>>;
}

const everyone = { anonymous: 'ok', admin: 'ok', org: 'ok', app: 'ok', device: 'ok' } as const;
const signedIn = { ...everyone, anonymous: 'UNAUTHENTICATED' } as const;
const clients = { ...signedIn, device: 'FORBIDDEN' } as const;
const tenantAdmins = { ...clients, app: 'FORBIDDEN' } as const;
const adminOnly = { ...tenantAdmins, org: 'FORBIDDEN' } as const;
/** For device keys and clients of their org. */
const fleet = { ...signedIn, admin: 'FORBIDDEN', app: 'FORBIDDEN' } as const;

const orgField =
  (selection: string): Row['send'] =>
  ({ callers, org: { orgId } }, role) =>
    callers[role].send(`query ($orgId: UUID) { org(orgId: $orgId) { ${selection} } }`, { orgId });
const publicOrgField = (selection: string): Row => ({ send: orgField(selection), outcomes: signedIn });
const appField = (selection: string): Row => ({
  send: ({ callers, client: { orgId, appId } }, role) =>
    callers[role].send(
      `query ($orgId: UUID, $appId: String!) { org(orgId: $orgId) { app(appId: $appId) { ${selection} } } }`,
      { orgId, appId },
    ),
  outcomes: clients,
});
const freshLease = async ({ app, org: { orgId } }: World): Promise<string> => {
  const { acquire } = await app.admin.ask(op.AcquireDocument, { input: { ...acquireInput(), orgId } });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  return acquire.leaseId;
};
const admitInput = () => ({ requestId: randomUUID(), estimate: { costUsdMicros: 1 } });
const freshAdmission = async ({ app, client: { orgId, appId } }: World): Promise<string> => {
  const { admit } = await app.admin.ask(op.AdmitDocument, { input: { ...admitInput(), orgId, appId } });
  if (admit.__typename !== 'Admitted') throw new Error(`not admitted: ${JSON.stringify(admit)}`);
  return admit.admissionId;
};
const freshOrg = async (app: TestApp): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.orgId;
const freshApp = async ({ app, org: { orgId } }: World): Promise<string> =>
  (await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId: `a-${randomUUID()}`, name: 'A' } })).registerApp
    .app.appId;
const freshRetrieval = async ({ app }: World): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval.token;

/** The permission matrix: every field that a caller can reach, with the result per role. */
const matrix: Readonly<Record<string, Row>> = {
  'Query.me': { send: ({ callers }, role) => callers[role].send(op.MeDocument), outcomes: signedIn },
  'Query.models': { send: ({ callers }, role) => callers[role].send(op.ModelsDocument), outcomes: signedIn },
  'Query.platformAuditEvents': {
    send: ({ callers }, role) => callers[role].send(op.PlatformAuditDocument, {}),
    outcomes: adminOnly,
  },
  'Mutation.upsertModel': {
    send: ({ callers }, role) =>
      callers[role].send(op.UpsertModelDocument, { input: { label: 'permitted', modelId: 'm' } }),
    outcomes: adminOnly,
  },
  'Mutation.retireModel': {
    send: async ({ app, callers }, role) => {
      await app.admin.ask(op.UpsertModelDocument, { input: { label: 'to-retire', modelId: 'm' } });
      return callers[role].send(op.RetireModelDocument, { label: 'to-retire' });
    },
    outcomes: adminOnly,
  },
  'Mutation.setOrgPrice': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.SetOrgPriceDocument, { input: { orgId, label: 'premium', prices: null } }),
    outcomes: adminOnly,
  },
  'Org.prices': { send: orgField('prices { label }'), outcomes: clients },
  'Query.node': {
    send: ({ callers }, role) => callers[role].send(op.NodeDocument, { id: 'whatever' }),
    outcomes: signedIn,
  },
  'Query.org': { send: orgField('orgId'), outcomes: signedIn },
  'Query.orgs': { send: ({ callers }, role) => callers[role].send(op.OrgsDocument, {}), outcomes: adminOnly },

  'Mutation.issueToken': {
    send: ({ callers, org: { clientId, clientSecret } }, role) =>
      callers[role].send(op.IssueTokenDocument, { input: { clientId, clientSecret } }),
    outcomes: everyone,
  },
  'Mutation.refreshToken': {
    send: async ({ app, callers, org: { clientId, clientSecret } }, role) => {
      const { issueToken } = await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } });
      return callers[role].send(op.RefreshTokenDocument, issueToken);
    },
    outcomes: everyone,
  },
  'Mutation.retrieveSecret': {
    send: async (world, role) =>
      world.callers[role].send(op.RetrieveSecretDocument, { token: await freshRetrieval(world) }),
    outcomes: everyone,
  },
  'Mutation.revokeToken': {
    send: ({ callers }, role) => callers[role].send(op.RevokeTokenDocument, { token: 'unknown' }),
    outcomes: clients,
  },
  'Mutation.rotateCredentials': {
    send: ({ callers, org, client }, role) => {
      const currentSecret = role === 'app' ? client.clientSecret : org.clientSecret;
      return callers[role].send(op.RotateCredentialsDocument, { input: { orgId: org.orgId, currentSecret } });
    },
    outcomes: clients,
  },
  'Mutation.createClient': {
    send: ({ callers, org: { orgId, clientSecret } }, role) =>
      callers[role].send(op.CreateClientDocument, {
        input: { orgId, name: 'Reports', role: 'READ', currentSecret: clientSecret },
      }),
    outcomes: tenantAdmins,
  },
  'Mutation.deleteClient': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { createClient } = await app.admin.ask(op.CreateClientDocument, {
        input: { orgId, appId: 'chat', name: 'Reports' },
      });
      const { clientId } = createClient.client;
      const answer = await callers[role].send(op.DeleteClientDocument, { orgId, clientId });
      if (answer.errors) await app.admin.ask(op.DeleteClientDocument, { orgId, clientId });
      return answer;
    },
    outcomes: tenantAdmins,
  },
  'Mutation.suspendOrg': {
    send: async ({ app, callers }, role) => callers[role].send(op.SuspendOrgDocument, { orgId: await freshOrg(app) }),
    outcomes: adminOnly,
  },
  'Mutation.resumeOrg': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.ResumeOrgDocument, { orgId }),
    outcomes: adminOnly,
  },
  'Mutation.suspendApp': {
    send: async (world, role) =>
      world.callers[role].send(op.SuspendAppDocument, { orgId: world.org.orgId, appId: await freshApp(world) }),
    outcomes: tenantAdmins,
  },
  'Mutation.resumeApp': {
    send: ({ callers, client: { orgId, appId } }, role) => callers[role].send(op.ResumeAppDocument, { orgId, appId }),
    outcomes: tenantAdmins,
  },
  'Mutation.deleteApp': {
    send: async (world, role) =>
      world.callers[role].send(op.DeleteAppDocument, { orgId: world.org.orgId, appId: await freshApp(world) }),
    outcomes: tenantAdmins,
  },
  'Mutation.registerOrg': {
    send: ({ callers }, role) => callers[role].send(op.RegisterOrgDocument, { input: orgInput() }),
    outcomes: adminOnly,
  },
  'Mutation.updateOrg': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.UpdateOrgDocument, { input: { orgId, name: 'Renamed' } }),
    outcomes: tenantAdmins,
  },
  'Mutation.registerApp': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.RegisterAppDocument, { input: { orgId, appId: `a-${randomUUID()}`, name: 'A' } }),
    outcomes: tenantAdmins,
  },
  'Mutation.updateApp': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.UpdateAppDocument, { input: { orgId, appId, name: 'Renamed' } }),
    outcomes: tenantAdmins,
  },

  'Mutation.submitCost': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.SubmitCostDocument, { input: { ...costInput(), orgId, appId } }),
    outcomes: clients,
  },
  'Query.overruns': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.OverrunsDocument, { orgId, from: '2026-01-01', to: '2026-01-02' }),
    outcomes: clients,
  },
  'Mutation.admit': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.AdmitDocument, { input: { ...admitInput(), orgId, appId } }),
    outcomes: clients,
  },
  'Mutation.settle': {
    send: async (each, role) =>
      each.callers[role].send(op.SettleDocument, { input: { admissionId: await freshAdmission(each) } }),
    outcomes: clients,
  },
  'Mutation.cancelAdmission': {
    send: async (each, role) =>
      each.callers[role].send(op.CancelAdmissionDocument, { admissionId: await freshAdmission(each), sent: false }),
    outcomes: clients,
  },
  'Mutation.renewAdmission': {
    send: async (each, role) =>
      each.callers[role].send(op.RenewAdmissionDocument, { admissionId: await freshAdmission(each), ttlSecs: 60 }),
    outcomes: clients,
  },
  'Mutation.submitCosts': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.SubmitCostsDocument, { inputs: [{ ...costInput(), orgId, appId }] }),
    outcomes: clients,
  },
  'Mutation.correctCost': {
    send: async ({ app, callers, client: { orgId, appId } }, role) => {
      const { submitCost } = await app.admin.ask(op.SubmitCostDocument, { input: { ...costInput(), orgId, appId } });
      const { requestId } = submitCost;
      return callers[role].send(op.CorrectCostDocument, {
        input: { orgId, appId, requestId, correctionId: randomUUID(), deltaUsdMicros: 1, reason: 'test' },
      });
    },
    outcomes: tenantAdmins,
  },
  'Mutation.overrideModel': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.OverrideModelDocument, { input: { orgId, appId, label: null } }),
    outcomes: tenantAdmins,
  },
  'Mutation.setBudget': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.SetBudgetDocument, {
        input: { orgId, name: 'permitted', period: 'MONTH', usdMicros: 1_000_000 },
      }),
    outcomes: tenantAdmins,
  },
  'Mutation.deleteBudget': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.DeleteBudgetDocument, { orgId, name: 'none' }),
    outcomes: tenantAdmins,
  },
  'Query.availability': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      await app.admin.ask(op.SetLimitsDocument, {
        input: { orgId, level: 'RESOURCE', resource: 'permitted', limits: acquireInput().limits },
      });
      return callers[role].send(op.AvailabilityDocument, { orgId, entityId: 'user-1', resource: 'permitted' });
    },
    outcomes: clients,
  },
  'Mutation.acquire': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.AcquireDocument, { input: { ...acquireInput(), orgId } }),
    outcomes: clients,
  },
  'Mutation.acquireAll': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { entityId, consume, limits } = acquireInput();
      await app.admin.ask(op.SetLimitsDocument, {
        input: { orgId, level: 'RESOURCE', resource: 'permitted', limits: limits ?? [] },
      });
      return callers[role].send(op.AcquireAllDocument, {
        input: { orgId, requests: [{ entityId, resource: 'permitted', consume }] },
      });
    },
    outcomes: clients,
  },
  'Mutation.renewLease': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const limits = [{ name: 'jobs', capacity: 100, kind: 'CONCURRENCY' as const }];
      await app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'RESOURCE', resource: 'jobs', limits } });
      const input = { orgId, entityId: randomUUID(), resource: 'jobs', consume: [{ limit: 'jobs', amount: 1 }] };
      const { acquire } = await app.admin.ask(op.AcquireDocument, { input });
      return callers[role].send(op.RenewLeaseDocument, {
        leaseId: acquire.__typename === 'Lease' ? acquire.leaseId : '',
      });
    },
    outcomes: clients,
  },
  'Mutation.topUp': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.TopUpDocument, {
        input: {
          orgId,
          entityId: randomUUID(),
          resource: 'permitted',
          limit: 'rpm',
          amount: 1,
          operationId: randomUUID(),
        },
      }),
    outcomes: tenantAdmins,
  },
  'Mutation.adjustLease': {
    send: async (world, role) => {
      const input = {
        leaseId: await freshLease(world),
        adjust: [{ limit: 'rpm', amount: 1 }],
        idempotencyKey: randomUUID(),
      };
      return world.callers[role].send(op.AdjustLeaseDocument, { input });
    },
    outcomes: clients,
  },
  'Mutation.releaseLease': {
    send: async (world, role) =>
      world.callers[role].send(op.ReleaseLeaseDocument, { leaseId: await freshLease(world) }),
    outcomes: clients,
  },
  'Mutation.createEntity': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.CreateEntityDocument, { input: { orgId, entityId: randomUUID() } }),
    outcomes: tenantAdmins,
  },
  'Mutation.updateEntity': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { createEntity } = await app.admin.ask(op.CreateEntityDocument, {
        input: { orgId, entityId: randomUUID() },
      });
      return callers[role].send(op.UpdateEntityDocument, {
        input: { orgId, entityId: createEntity.entityId, name: 'Renamed' },
      });
    },
    outcomes: tenantAdmins,
  },
  'Mutation.deleteEntity': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteEntityDocument, { orgId, entityId: 'user-1' }),
    outcomes: tenantAdmins,
  },
  'Mutation.setLimits': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.SetLimitsDocument, {
        input: { orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: acquireInput().limits },
      }),
    outcomes: tenantAdmins,
  },
  'Mutation.deleteLimits': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteLimitsDocument, { input: { orgId, level: 'SYSTEM' } }),
    outcomes: tenantAdmins,
  },
  'Query.managedItems': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send('query ($orgId: UUID) { managedItems(orgId: $orgId) { nodes { item } } }', { orgId }),
    outcomes: tenantAdmins,
  },
  'Mutation.setManagedItems': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send('mutation ($input: SetManagedItemsInput!) { setManagedItems(input: $input) { item } }', {
        input: { orgId, manager: 'file', items: [{ item: 'app:x', intent: '{}' }] },
      }),
    outcomes: tenantAdmins,
  },
  'Mutation.purgeLimiter': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.PurgeLimiterDocument, { orgId }),
    outcomes: tenantAdmins,
  },
  'Subscription.quotaAlerts': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].subscribeOnce('subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }', { orgId }),
    outcomes: clients,
  },

  'Mutation.createApiKey': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.CreateApiKeyDocument, { input: { orgId } }),
    outcomes: tenantAdmins,
  },
  'Mutation.revokeApiKey': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, { input: { orgId } });
      return callers[role].send(op.RevokeApiKeyDocument, { orgId, keyId: createApiKey.apiKey.keyId });
    },
    outcomes: tenantAdmins,
  },
  'Mutation.registerDevice': {
    send: ({ callers }, role) => callers[role].send(op.RegisterDeviceDocument, { input: deviceInput }),
    outcomes: fleet,
  },
  'Mutation.ingest': {
    send: ({ callers }, role) => callers[role].send(op.IngestDocument, { input: { readings: [readingInput()] } }),
    outcomes: fleet,
  },
  'Mutation.renameDevice': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.RenameDeviceDocument, { orgId, hardwareId, friendlyName: 'Bed 1' }),
    outcomes: tenantAdmins,
  },
  'Mutation.assignDevice': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.AssignDeviceDocument, { orgId, hardwareId }),
    outcomes: tenantAdmins,
  },
  'Mutation.deleteDevice': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteDeviceDocument, { orgId, hardwareId: 'AA:BB:CC:DD:EE:00' }),
    outcomes: tenantAdmins,
  },
  'Subscription.readings': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].subscribeOnce(print(op.ReadingsDocument), { orgId, hardwareId }),
    outcomes: tenantAdmins,
  },

  'Org.spend': { send: orgField('spend { costUsdMicros }'), outcomes: tenantAdmins },
  'Org.spendHistory': {
    send: orgField('spendHistory(from: "2026-01-01", to: "2026-01-02") { costUsdMicros }'),
    outcomes: tenantAdmins,
  },
  'Org.spendSeries': {
    send: orgField('spendSeries(from: "2026-01-01", to: "2026-01-02", step: DAY) { costUsdMicros }'),
    outcomes: tenantAdmins,
  },
  'Org.spendBreakdown': {
    send: orgField('spendBreakdown(from: "2026-01-01", to: "2026-01-02", by: LABEL) { total { costUsdMicros } }'),
    outcomes: tenantAdmins,
  },
  'Org.cost': {
    send: orgField(`cost(requestId: "${randomUUID()}", appId: "chat") { day }`),
    outcomes: tenantAdmins,
  },
  'Org.costs': {
    send: orgField('costs(from: "2026-01-01", to: "2026-01-02") { nodes { day } }'),
    outcomes: tenantAdmins,
  },
  'Org.budgets': { send: orgField('budgets { name spentUsdMicros }'), outcomes: tenantAdmins },
  'Org.budget': { send: orgField('budget(name: "none") { name }'), outcomes: tenantAdmins },
  'Org.alerts': { send: orgField('alerts { nodes { id } }'), outcomes: tenantAdmins },
  'App.spend': appField('spend { costUsdMicros }'),
  'App.spendHistory': appField('spendHistory(from: "2026-01-01", to: "2026-01-02") { costUsdMicros }'),
  'App.spendSeries': appField('spendSeries(from: "2026-01-01", to: "2026-01-02", step: HOUR) { costUsdMicros }'),
  'App.cost': appField(`cost(requestId: "${randomUUID()}") { day }`),
  'App.costs': appField('costs(from: "2026-01-01", to: "2026-01-02") { nodes { day } }'),
  'App.modelSelection': appField('modelSelection { label }'),
  'App.alerts': appField('alerts { nodes { id } }'),

  'Org.id': publicOrgField('id'),
  'Org.orgId': publicOrgField('orgId'),
  'Org.name': publicOrgField('name'),
  'Org.timezone': publicOrgField('timezone'),
  'Org.timezoneEffectiveAt': publicOrgField('timezoneEffectiveAt'),
  'Org.quotaScope': publicOrgField('quotaScope'),
  'Org.modelOrdering': publicOrgField('modelOrdering'),
  'Org.quotas': { send: orgField('quotas { label }'), outcomes: clients },
  'Org.stickyFallbackEnabled': publicOrgField('stickyFallbackEnabled'),
  'Org.shardCount': publicOrgField('shardCount'),
  'Org.appsMayBringLimits': publicOrgField('appsMayBringLimits'),
  'Org.attributeApps': publicOrgField('attributeApps'),
  'Org.ledger': publicOrgField('ledger'),
  'Org.dimensions': publicOrgField('dimensions'),
  'Org.maxReservationPct': publicOrgField('maxReservationPct'),
  'Org.tightModeThresholdPct': publicOrgField('tightModeThresholdPct'),
  'Org.refreshIntervalNormalSecs': publicOrgField('refreshIntervalNormalSecs'),
  'Org.refreshIntervalTightSecs': publicOrgField('refreshIntervalTightSecs'),
  'Org.credentials': { send: orgField('credentials { clientId }'), outcomes: clients },
  'Org.clients': { send: orgField('clients { clientId }'), outcomes: tenantAdmins },
  'Org.suspendedAt': publicOrgField('suspendedAt'),
  'Org.createdAt': publicOrgField('createdAt'),
  'Org.updatedAt': publicOrgField('updatedAt'),
  'Org.version': publicOrgField('version'),
  'Org.app': { send: orgField('app(appId: "chat") { appId }'), outcomes: clients },
  'Org.apps': { send: orgField('apps { nodes { appId } }'), outcomes: tenantAdmins },
  'Org.entity': { send: orgField('entity(entityId: "user-1") { entityId }'), outcomes: tenantAdmins },
  'Org.entities': { send: orgField('entities { nodes { entityId } }'), outcomes: tenantAdmins },
  'Org.searchEntities': {
    send: orgField('searchEntities(prefix: "user") { nodes { entityId } }'),
    outcomes: tenantAdmins,
  },
  'Org.entitiesWithLimits': {
    send: orgField('entitiesWithLimits(resource: "api") { nodes { entityId } }'),
    outcomes: tenantAdmins,
  },
  'Org.limitConfig': { send: orgField('limitConfig(level: SYSTEM) { version }'), outcomes: tenantAdmins },
  'Org.limitConfigs': { send: orgField('limitConfigs { version }'), outcomes: tenantAdmins },
  'Org.resourceCapacity': {
    send: orgField('resourceCapacity(resource: "api", limit: "rpm") { totalCapacity }'),
    outcomes: tenantAdmins,
  },
  'Org.resourceUsage': {
    send: orgField(
      'resourceUsage(resource: "api", window: DAILY, from: "2026-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { ' +
        'entities }',
    ),
    outcomes: tenantAdmins,
  },
  'Org.topEntities': {
    send: orgField('topEntities(resource: "api", window: DAILY, limit: "rpm") { truncated }'),
    outcomes: tenantAdmins,
  },
  'Org.auditEvents': { send: orgField('auditEvents { nodes { action } }'), outcomes: tenantAdmins },

  'Org.apiKeys': { send: orgField('apiKeys { nodes { keyId } }'), outcomes: tenantAdmins },
  'Org.device': { send: orgField(`device(hardwareId: "${hardwareId}") { hardwareId }`), outcomes: tenantAdmins },
  'Org.deviceCount': { send: orgField('deviceCount'), outcomes: tenantAdmins },
  'Org.devices': { send: orgField('devices { nodes { hardwareId } }'), outcomes: tenantAdmins },

  'App.id': appField('id'),
  'App.appId': appField('appId'),
  'App.name': appField('name'),
  'App.org': appField('org { orgId }'),
  'App.modelOrdering': appField('modelOrdering'),
  'App.quotas': appField('quotas { label }'),
  'App.tightModeThresholdPct': appField('tightModeThresholdPct'),
  'App.refreshIntervalNormalSecs': appField('refreshIntervalNormalSecs'),
  'App.refreshIntervalTightSecs': appField('refreshIntervalTightSecs'),
  'App.inheritedFields': appField('inheritedFields'),
  'App.credentials': appField('credentials { clientId }'),
  'App.clients': { ...appField('clients { clientId }'), outcomes: tenantAdmins },
  'App.suspendedAt': appField('suspendedAt'),
  'App.createdAt': appField('createdAt'),
  'App.updatedAt': appField('updatedAt'),
  'App.version': appField('version'),
};

let schema: GraphQLSchema;
let world: World;

beforeAll(async () => {
  schema = await createSchema();
  world = await newWorld(await startTestApp());
});
afterAll(() => world.app.stop());

it('has a row for every field of Query, Mutation, Subscription, Org and App', () => {
  const types = [
    schema.getQueryType(),
    schema.getMutationType(),
    schema.getSubscriptionType(),
    schema.getType('Org'),
    schema.getType('App'),
  ] as (GraphQLObjectType | undefined)[];
  const fields = types.flatMap((type) =>
    type ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`) : [],
  );
  expect(Object.keys(matrix).sort()).toEqual(fields.sort());
});

describe('a client with the role READ', () => {
  const allowedMutations = [
    'Mutation.issueToken',
    'Mutation.refreshToken',
    'Mutation.retrieveSecret',
    'Mutation.revokeToken',
  ];

  it.each(Object.entries(matrix))('may use %s unless it changes something', async (field, row) => {
    const isChange = field.startsWith('Mutation.') && !allowedMutations.includes(field);
    const worldOfReader = { ...world, callers: { ...world.callers, org: world.reader } };
    expect(outcomeOf(await row.send(worldOfReader, 'org'))).toBe(isChange ? 'FORBIDDEN' : row.outcomes.org);
  });
});

describe.each(Object.entries(matrix))('%s', (_field, row) => {
  it.each(roles)('allows or refuses role %s as the matrix says', async (role) => {
    expect(outcomeOf(await row.send(world, role))).toBe(row.outcomes[role]);
  });
});
