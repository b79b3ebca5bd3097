import { randomUUID } from 'node:crypto';
import { type GraphQLObjectType, type GraphQLSchema, print } from 'graphql';
import { buildBackground } from '../../src/app.js';
import { createSchema } from '../../src/graphql/schema.js';
import { silentLog } from '../../src/lib/log.js';
import {
  type Answer,
  Caller,
  type Client,
  logInWith,
  newApp,
  newOrg,
  orgInput,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import * as op from '../support/operations.js';

type Role = 'anonymous' | 'admin' | 'org' | 'app' | 'device';
const roles: readonly Role[] = ['anonymous', 'admin', 'org', 'app', 'device'];

/** What a caller meets: served, or the code it is refused with. */
type Outcome = 'ok' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND' | 'BAD_USER_INPUT';

interface World {
  readonly app: TestApp;
  readonly org: Client & { readonly orgId: string };
  readonly client: Client & { readonly orgId: string; readonly appId: string };
  readonly callers: Readonly<Record<Role, Caller>>;
  /** A client of the org with the role READ. */
  readonly reader: Caller;
}

interface Row {
  /** Sends the operation about the world's own org. */
  readonly send: (world: World, role: Role) => Promise<Answer<unknown>>;
  readonly may: Readonly<Record<Role, Outcome>>;
}

const everyone = { anonymous: 'ok', admin: 'ok', org: 'ok', app: 'ok', device: 'ok' } as const;
const signedIn = { ...everyone, anonymous: 'UNAUTHENTICATED' } as const;
const clients = { ...signedIn, device: 'FORBIDDEN' } as const;
const tenantAdmins = { ...clients, app: 'FORBIDDEN' } as const;
const adminOnly = { ...tenantAdmins, org: 'FORBIDDEN' } as const;
/** A fleet's own, and whoever owns it. */
const fleet = { ...signedIn, admin: 'FORBIDDEN', app: 'FORBIDDEN' } as const;

const orgField =
  (selection: string): Row['send'] =>
  ({ callers, org: { orgId } }, role) =>
    callers[role].send(`query ($orgId: UUID) { org(orgId: $orgId) { ${selection} } }`, { orgId });
const plainOrgField = (selection: string): Row => ({ send: orgField(selection), may: signedIn });
const appField = (selection: string): Row => ({
  send: ({ callers, client: { orgId, appId } }, role) =>
    callers[role].send(
      `query ($orgId: UUID, $appId: String!) { org(orgId: $orgId) { app(appId: $appId) { ${selection} } } }`,
      { orgId, appId },
    ),
  may: clients,
});
const aCost = () => ({ requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1 });
/** Limits come along, so that it needs none that are set. */
const anAcquire = () => ({
  entityId: `user-${randomUUID()}`,
  resource: 'api',
  consume: [{ limit: 'rpm', amount: 1 }],
  limits: [{ name: 'rpm', capacity: 10, refillPeriodSecs: 60 }],
});
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const aDevice = { hardwareId, bootId: randomUUID(), firmwareVersion: '1.0.0', capabilities: { sensors: ['bme280'] } };
const aReading = () => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: Date.now(),
  bootId: aDevice.bootId,
  firmwareVersion: '1.0.0',
  sensors: { humidityPct: 40 },
  sensorStatus: {},
});
const freshLease = async ({ app, org: { orgId } }: World): Promise<string> => {
  const { acquire } = await app.admin.ask(op.AcquireDocument, { input: { ...anAcquire(), orgId } });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  return acquire.leaseId;
};
const freshOrg = async (app: TestApp): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.orgId;
const freshApp = async ({ app, org: { orgId } }: World): Promise<string> =>
  (await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId: `a-${randomUUID()}`, name: 'A' } })).registerApp
    .app.appId;
const freshRetrieval = async ({ app }: World): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval.token;

/** Every field a caller can reach, and who may. A field of the schema without a row fails the test below. */
const table: Readonly<Record<string, Row>> = {
  'Query.me': { send: ({ callers }, role) => callers[role].send(op.MeDocument), may: signedIn },
  'Query.models': { send: ({ callers }, role) => callers[role].send(op.ModelsDocument), may: signedIn },
  'Query.node': { send: ({ callers }, role) => callers[role].send(op.NodeDocument, { id: 'whatever' }), may: signedIn },
  'Query.org': { send: orgField('orgId'), may: signedIn },
  'Query.orgs': { send: ({ callers }, role) => callers[role].send(op.OrgsDocument, {}), may: adminOnly },

  'Mutation.issueToken': {
    send: ({ callers, org: { clientId, clientSecret } }, role) =>
      callers[role].send(op.IssueTokenDocument, { input: { clientId, clientSecret } }),
    may: everyone,
  },
  'Mutation.refreshToken': {
    send: async ({ app, callers, org: { clientId, clientSecret } }, role) => {
      const { issueToken } = await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } });
      return callers[role].send(op.RefreshTokenDocument, issueToken);
    },
    may: everyone,
  },
  'Mutation.retrieveSecret': {
    send: async (world, role) =>
      world.callers[role].send(op.RetrieveSecretDocument, { token: await freshRetrieval(world) }),
    may: everyone,
  },
  'Mutation.revokeToken': {
    send: ({ callers }, role) => callers[role].send(op.RevokeTokenDocument, { token: 'unknown' }),
    may: clients,
  },
  'Mutation.rotateCredentials': {
    send: ({ callers, org, client }, role) => {
      const currentSecret = role === 'app' ? client.clientSecret : org.clientSecret;
      return callers[role].send(op.RotateCredentialsDocument, { input: { orgId: org.orgId, currentSecret } });
    },
    may: clients,
  },
  'Mutation.createClient': {
    send: ({ callers, org: { orgId, clientSecret } }, role) =>
      callers[role].send(op.CreateClientDocument, {
        input: { orgId, name: 'Reports', role: 'READ', currentSecret: clientSecret },
      }),
    may: tenantAdmins,
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
    may: tenantAdmins,
  },
  'Mutation.suspendOrg': {
    send: async ({ app, callers }, role) => callers[role].send(op.SuspendOrgDocument, { orgId: await freshOrg(app) }),
    may: adminOnly,
  },
  'Mutation.resumeOrg': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.ResumeOrgDocument, { orgId }),
    may: adminOnly,
  },
  'Mutation.suspendApp': {
    send: async (world, role) =>
      world.callers[role].send(op.SuspendAppDocument, { orgId: world.org.orgId, appId: await freshApp(world) }),
    may: tenantAdmins,
  },
  'Mutation.resumeApp': {
    send: ({ callers, client: { orgId, appId } }, role) => callers[role].send(op.ResumeAppDocument, { orgId, appId }),
    may: tenantAdmins,
  },
  'Mutation.deleteApp': {
    send: async (world, role) =>
      world.callers[role].send(op.DeleteAppDocument, { orgId: world.org.orgId, appId: await freshApp(world) }),
    may: tenantAdmins,
  },
  'Mutation.registerOrg': {
    send: ({ callers }, role) => callers[role].send(op.RegisterOrgDocument, { input: orgInput() }),
    may: adminOnly,
  },
  'Mutation.updateOrg': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.UpdateOrgDocument, { input: { orgId, name: 'Renamed' } }),
    may: tenantAdmins,
  },
  'Mutation.registerApp': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.RegisterAppDocument, { input: { orgId, appId: `a-${randomUUID()}`, name: 'A' } }),
    may: tenantAdmins,
  },
  'Mutation.updateApp': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.UpdateAppDocument, { input: { orgId, appId, name: 'Renamed' } }),
    may: tenantAdmins,
  },

  'Mutation.submitCost': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.SubmitCostDocument, { input: { ...aCost(), orgId, appId } }),
    may: clients,
  },
  'Mutation.submitCosts': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.SubmitCostsDocument, { inputs: [{ ...aCost(), orgId, appId }] }),
    may: clients,
  },
  'Mutation.overrideModel': {
    send: ({ callers, client: { orgId, appId } }, role) =>
      callers[role].send(op.OverrideModelDocument, { input: { orgId, appId, label: null } }),
    may: tenantAdmins,
  },
  'Query.availability': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      await app.admin.ask(op.SetLimitsDocument, {
        input: { orgId, level: 'RESOURCE', resource: 'permitted', limits: anAcquire().limits },
      });
      return callers[role].send(op.AvailabilityDocument, { orgId, entityId: 'user-1', resource: 'permitted' });
    },
    may: clients,
  },
  'Mutation.acquire': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.AcquireDocument, { input: { ...anAcquire(), orgId } }),
    may: clients,
  },
  'Mutation.acquireAll': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { entityId, consume, limits } = anAcquire();
      await app.admin.ask(op.SetLimitsDocument, {
        input: { orgId, level: 'RESOURCE', resource: 'permitted', limits: limits ?? [] },
      });
      return callers[role].send(op.AcquireAllDocument, {
        input: { orgId, requests: [{ entityId, resource: 'permitted', consume }] },
      });
    },
    may: clients,
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
    may: clients,
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
    may: tenantAdmins,
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
    may: clients,
  },
  'Mutation.releaseLease': {
    send: async (world, role) =>
      world.callers[role].send(op.ReleaseLeaseDocument, { leaseId: await freshLease(world) }),
    may: clients,
  },
  'Mutation.createEntity': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.CreateEntityDocument, { input: { orgId, entityId: randomUUID() } }),
    may: tenantAdmins,
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
    may: tenantAdmins,
  },
  'Mutation.deleteEntity': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteEntityDocument, { orgId, entityId: 'user-1' }),
    may: tenantAdmins,
  },
  'Mutation.setLimits': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.SetLimitsDocument, {
        input: { orgId, level: 'ENTITY_DEFAULT', entityId: 'user-1', limits: anAcquire().limits },
      }),
    may: tenantAdmins,
  },
  'Mutation.deleteLimits': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteLimitsDocument, { input: { orgId, level: 'SYSTEM' } }),
    may: tenantAdmins,
  },
  'Mutation.purgeLimiter': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.PurgeLimiterDocument, { orgId }),
    may: tenantAdmins,
  },
  'Subscription.quotaAlerts': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].subscribeOnce('subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }', { orgId }),
    may: clients,
  },

  'Mutation.createApiKey': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.CreateApiKeyDocument, { input: { orgId } }),
    may: tenantAdmins,
  },
  'Mutation.revokeApiKey': {
    send: async ({ app, callers, org: { orgId } }, role) => {
      const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, { input: { orgId } });
      return callers[role].send(op.RevokeApiKeyDocument, { orgId, keyId: createApiKey.apiKey.keyId });
    },
    may: tenantAdmins,
  },
  'Mutation.registerDevice': {
    send: ({ callers }, role) => callers[role].send(op.RegisterDeviceDocument, { input: aDevice }),
    may: fleet,
  },
  'Mutation.ingest': {
    send: ({ callers }, role) => callers[role].send(op.IngestDocument, { input: { readings: [aReading()] } }),
    may: fleet,
  },
  'Mutation.renameDevice': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.RenameDeviceDocument, { orgId, hardwareId, friendlyName: 'Bed 1' }),
    may: tenantAdmins,
  },
  'Mutation.assignDevice': {
    send: ({ callers, org: { orgId } }, role) => callers[role].send(op.AssignDeviceDocument, { orgId, hardwareId }),
    may: tenantAdmins,
  },
  'Mutation.deleteDevice': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].send(op.DeleteDeviceDocument, { orgId, hardwareId: 'AA:BB:CC:DD:EE:00' }),
    may: tenantAdmins,
  },
  'Subscription.readings': {
    send: ({ callers, org: { orgId } }, role) =>
      callers[role].subscribeOnce(print(op.ReadingsDocument), { orgId, hardwareId }),
    may: tenantAdmins,
  },

  'Org.spend': { send: orgField('spend { costUsdMicros }'), may: tenantAdmins },
  'Org.spendHistory': {
    send: orgField('spendHistory(from: "2026-01-01", to: "2026-01-02") { costUsdMicros }'),
    may: tenantAdmins,
  },
  'Org.alerts': { send: orgField('alerts { nodes { id } }'), may: tenantAdmins },
  'App.spend': appField('spend { costUsdMicros }'),
  'App.spendHistory': appField('spendHistory(from: "2026-01-01", to: "2026-01-02") { costUsdMicros }'),
  'App.modelSelection': appField('modelSelection { label }'),
  'App.alerts': appField('alerts { nodes { id } }'),

  'Org.id': plainOrgField('id'),
  'Org.orgId': plainOrgField('orgId'),
  'Org.name': plainOrgField('name'),
  'Org.timezone': plainOrgField('timezone'),
  'Org.timezoneEffectiveAt': plainOrgField('timezoneEffectiveAt'),
  'Org.quotaScope': plainOrgField('quotaScope'),
  'Org.modelOrdering': plainOrgField('modelOrdering'),
  'Org.quotas': { send: orgField('quotas { label }'), may: clients },
  'Org.stickyFallbackEnabled': plainOrgField('stickyFallbackEnabled'),
  'Org.shardCount': plainOrgField('shardCount'),
  'Org.appsMayBringLimits': plainOrgField('appsMayBringLimits'),
  'Org.tightModeThresholdPct': plainOrgField('tightModeThresholdPct'),
  'Org.refreshIntervalNormalSecs': plainOrgField('refreshIntervalNormalSecs'),
  'Org.refreshIntervalTightSecs': plainOrgField('refreshIntervalTightSecs'),
  'Org.credentials': { send: orgField('credentials { clientId }'), may: clients },
  'Org.clients': { send: orgField('clients { clientId }'), may: tenantAdmins },
  'Org.suspendedAt': plainOrgField('suspendedAt'),
  'Org.createdAt': plainOrgField('createdAt'),
  'Org.updatedAt': plainOrgField('updatedAt'),
  'Org.app': { send: orgField('app(appId: "chat") { appId }'), may: clients },
  'Org.apps': { send: orgField('apps { nodes { appId } }'), may: tenantAdmins },
  'Org.entity': { send: orgField('entity(entityId: "user-1") { entityId }'), may: tenantAdmins },
  'Org.entities': { send: orgField('entities { nodes { entityId } }'), may: tenantAdmins },
  'Org.searchEntities': { send: orgField('searchEntities(prefix: "user") { nodes { entityId } }'), may: tenantAdmins },
  'Org.entitiesWithLimits': {
    send: orgField('entitiesWithLimits(resource: "api") { nodes { entityId } }'),
    may: tenantAdmins,
  },
  'Org.limitConfig': { send: orgField('limitConfig(level: SYSTEM) { version }'), may: tenantAdmins },
  'Org.limitConfigs': { send: orgField('limitConfigs { version }'), may: tenantAdmins },
  'Org.resourceCapacity': {
    send: orgField('resourceCapacity(resource: "api", limit: "rpm") { totalCapacity }'),
    may: tenantAdmins,
  },
  'Org.resourceUsage': {
    send: orgField(
      'resourceUsage(resource: "api", window: DAILY, from: "2026-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { entities }',
    ),
    may: tenantAdmins,
  },
  'Org.topEntities': {
    send: orgField('topEntities(resource: "api", window: DAILY, limit: "rpm") { truncated }'),
    may: tenantAdmins,
  },
  'Org.auditEvents': { send: orgField('auditEvents { nodes { action } }'), may: tenantAdmins },

  'Org.apiKeys': { send: orgField('apiKeys { nodes { keyId } }'), may: tenantAdmins },
  'Org.device': { send: orgField(`device(hardwareId: "${hardwareId}") { hardwareId }`), may: tenantAdmins },
  'Org.deviceCount': { send: orgField('deviceCount'), may: tenantAdmins },
  'Org.devices': { send: orgField('devices { nodes { hardwareId } }'), may: tenantAdmins },

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
  'App.clients': { ...appField('clients { clientId }'), may: tenantAdmins },
  'App.suspendedAt': appField('suspendedAt'),
  'App.createdAt': appField('createdAt'),
  'App.updatedAt': appField('updatedAt'),
};

let schema: GraphQLSchema;
let world: World;
let other: World;

beforeAll(async () => {
  schema = await createSchema();
  const app = await startTestApp();
  world = await newWorld(app);
  other = await newWorld(app);
});
afterAll(() => world.app.stop());

async function newWorld(app: TestApp): Promise<World> {
  const org = await newOrg(app, { appsMayBringLimits: true });
  const client = await newApp(app, org, 'chat');
  await newApp(app, org, 'sibling');
  const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: {} });
  const device = new Caller(app.url, { 'x-api-key': createApiKey.secret });
  await device.ask(op.RegisterDeviceDocument, { input: aDevice });
  const { createClient } = await app.admin.ask(op.CreateClientDocument, {
    input: { orgId: org.orgId, name: 'Reader', role: 'READ' },
  });
  const reader = (await logInWith(app, createClient.secretRetrieval.token)).caller;
  return {
    app,
    org,
    client,
    reader,
    callers: { anonymous: app.anonymous, admin: app.admin, org: org.caller, app: client.caller, device },
  };
}

const rotateClientOf = (caller: Caller, appId: string) =>
  caller.send(op.RotateCredentialsDocument, { input: { clientId: `org-${world.org.orgId}-app-${appId}` } });

const idOf = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

const outcomeOf = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';

/** An answer without what differs from call to call. */
const bytes = ({ status, data, errors }: Answer<unknown>): string =>
  JSON.stringify({
    status,
    data,
    errors: errors?.map(({ extensions: { requestId: _, ...extensions }, ...error }) => ({ ...error, extensions })),
  });

it('has a row for every field of the roots, of Org and of App', () => {
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
  expect(Object.keys(table).sort()).toEqual(fields.sort());
});

describe('a client with the role READ', () => {
  const openToReaders = [
    'Mutation.issueToken',
    'Mutation.refreshToken',
    'Mutation.retrieveSecret',
    'Mutation.revokeToken',
  ];

  it.each(Object.entries(table))('is served %s if it changes nothing', async (field, row) => {
    const isChange = field.startsWith('Mutation.') && !openToReaders.includes(field);
    const of = { ...world, callers: { ...world.callers, org: world.reader } };
    expect(outcomeOf(await row.send(of, 'org'))).toBe(isChange ? 'FORBIDDEN' : row.may.org);
  });
});

describe.each(Object.entries(table))('%s', (_field, row) => {
  it.each(roles)('answers %s as the permission table says', async (role) => {
    expect(outcomeOf(await row.send(world, role))).toBe(row.may[role]);
  });
});

describe('a device key', () => {
  const from = '2026-01-01T00:00:00Z';
  const to = '2026-01-02T00:00:00Z';

  it.each([
    'latestReading { batchId }',
    'readings { nodes { batchId } }',
    `series(metric: HUMIDITY_PCT, from: "${from}", to: "${to}", stepSecs: 3600) { count }`,
  ])('reads nothing back through the device that it registers: %s', async (selection) => {
    const document = `mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { ${selection} } } }`;
    expect(outcomeOf(await world.callers.org.send(document, { input: aDevice }))).toBe('ok');
    expect(outcomeOf(await world.callers.device.send(document, { input: aDevice }))).toBe('FORBIDDEN');
  });

  it('sees of its own org the plain settings alone, by me too', async () => {
    const { device } = world.callers;
    expect(await device.ask(op.MeDocument)).toEqual({
      me: {
        kind: 'DEVICE_KEY',
        clientId: null,
        expiresAt: null,
        org: { orgId: world.org.orgId, name: expect.any(String) },
        app: null,
      },
    });
    expect(await device.codeOf('{ me { org { devices { nodes { id } } } } }')).toBe('FORBIDDEN');
    expect((await device.ask(op.OrgDocument, { orgId: other.org.orgId })).org).toBeNull();
  });

  it('finds by id its org and nothing inside it', async () => {
    const { org: caller, device } = world.callers;
    const { orgId } = world.org;
    const reading = aReading();
    await device.ask(op.IngestDocument, { input: { readings: [reading] } });
    const worker = buildBackground(world.app.config, { clock: world.app.clock, log: silentLog });
    await caller.ask(op.SubmitCostDocument, { input: { ...aCost(), appId: 'chat', costUsdMicros: 50_000_000 } });
    await worker.spend.sumAll();
    worker.close();
    const first = async (selection: string) => {
      const { org } = await caller.ask<{ org: Record<string, { nodes: { id: string }[] }> }, object>(
        `{ org { found: ${selection} { nodes { id } } } }`,
      );
      return org.found?.nodes[0]?.id ?? 'none';
    };
    const ids = {
      App: idOf('App', orgId, 'chat'),
      Device: idOf('Device', orgId, hardwareId),
      Reading: idOf('Reading', orgId, hardwareId, String(reading.timestampMs), reading.batchId),
      ApiKey: await first('apiKeys'),
      AuditEvent: await first('auditEvents'),
      QuotaAlert: await first('alerts'),
    };
    const seenBy = async (by: Caller) =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(ids).map(async ([type, id]) => [
            type,
            (await by.ask(op.NodeDocument, { id })).node?.__typename ?? null,
          ]),
        ),
      );
    expect(await seenBy(caller)).toEqual(Object.fromEntries(Object.keys(ids).map((type) => [type, type])));
    expect(await seenBy(device)).toEqual(Object.fromEntries(Object.keys(ids).map((type) => [type, null])));
    expect((await device.ask(op.NodeDocument, { id: idOf('Org', orgId) })).node).toMatchObject({ orgId });
  });
});

describe('tenants apart', () => {
  /** Operations that name a tenant or something of its, as the attacker would send them. */
  const attempts: Readonly<Record<string, (caller: Caller, orgId: string, appId: string) => Promise<Answer<unknown>>>> =
    {
      'Query.org': (caller, orgId) => caller.send(op.OrgDocument, { orgId }),
      'Org.app': (caller, orgId, appId) => caller.send(op.AppDocument, { orgId, appId }),
      'node of an org': (caller, orgId) => caller.send(op.NodeDocument, { id: idOf('Org', orgId) }),
      'node of an app': (caller, orgId, appId) => caller.send(op.NodeDocument, { id: idOf('App', orgId, appId) }),
      updateOrg: (caller, orgId) => caller.send(op.UpdateOrgDocument, { input: { orgId, name: 'Mine now' } }),
      registerApp: (caller, orgId) =>
        caller.send(op.RegisterAppDocument, { input: { orgId, appId: 'intruder', name: 'X' } }),
      updateApp: (caller, orgId, appId) =>
        caller.send(op.UpdateAppDocument, { input: { orgId, appId, name: 'Mine now' } }),
      submitCost: (caller, orgId, appId) =>
        caller.send(op.SubmitCostDocument, {
          input: {
            requestId: '00000000-0000-4000-8000-000000000001',
            modelLabel: 'premium',
            inputTokens: 1,
            outputTokens: 1,
            orgId,
            appId,
          },
        }),
      overrideModel: (caller, orgId, appId) =>
        caller.send(op.OverrideModelDocument, { input: { orgId, appId, label: 'economy' } }),
      quotaAlerts: (caller, orgId) =>
        caller.subscribeOnce('subscription ($orgId: UUID) { quotaAlerts(orgId: $orgId) { id } }', { orgId }),
      acquire: (caller, orgId) =>
        caller.send(op.AcquireDocument, { input: { ...anAcquire(), entityId: 'user-1', orgId } }),
      availability: (caller, orgId) =>
        caller.send(op.AvailabilityDocument, { orgId, entityId: 'user-1', resource: 'api' }),
      createEntity: (caller, orgId) => caller.send(op.CreateEntityDocument, { input: { orgId, entityId: 'user-1' } }),
      updateEntity: (caller, orgId) =>
        caller.send(op.UpdateEntityDocument, { input: { orgId, entityId: 'user-1', name: 'Mine now' } }),
      deleteEntity: (caller, orgId) => caller.send(op.DeleteEntityDocument, { orgId, entityId: 'user-1' }),
      setLimits: (caller, orgId) =>
        caller.send(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits: anAcquire().limits } }),
      deleteLimits: (caller, orgId) => caller.send(op.DeleteLimitsDocument, { input: { orgId, level: 'SYSTEM' } }),
      purgeLimiter: (caller, orgId) => caller.send(op.PurgeLimiterDocument, { orgId }),
      'Org.entity': (caller, orgId) => caller.send(op.EntityOfDocument, { orgId, entityId: 'user-1' }),
      'Org.searchEntities': (caller, orgId) => caller.send(op.SearchEntitiesDocument, { orgId, prefix: 'user' }),
      'node of an entity': (caller, orgId) => caller.send(op.NodeDocument, { id: idOf('Entity', orgId, 'user-1') }),
      'node of a bucket': (caller, orgId) =>
        caller.send(op.NodeDocument, { id: idOf('Bucket', orgId, 'user-1', 'api') }),
      createApiKey: (caller, orgId) => caller.send(op.CreateApiKeyDocument, { input: { orgId } }),
      revokeApiKey: (caller, orgId) =>
        caller.send(op.RevokeApiKeyDocument, { orgId, keyId: '00000000-0000-4000-8000-000000000001' }),
      renameDevice: (caller, orgId) =>
        caller.send(op.RenameDeviceDocument, { orgId, hardwareId, friendlyName: 'Mine now' }),
      assignDevice: (caller, orgId) => caller.send(op.AssignDeviceDocument, { orgId, hardwareId }),
      deleteDevice: (caller, orgId) => caller.send(op.DeleteDeviceDocument, { orgId, hardwareId }),
      readings: (caller, orgId) => caller.subscribeOnce(print(op.ReadingsDocument), { orgId, hardwareId }),
      'Org.device': (caller, orgId) => caller.send(op.DeviceOfDocument, { orgId, hardwareId }),
      'Org.devices': (caller, orgId) => caller.send(op.DevicesDocument, { orgId }),
      'Org.apiKeys': (caller, orgId) => caller.send(op.ApiKeysDocument, { orgId }),
      'node of a device': (caller, orgId) => caller.send(op.NodeDocument, { id: idOf('Device', orgId, hardwareId) }),
      suspendApp: (caller, orgId, appId) => caller.send(op.SuspendAppDocument, { orgId, appId }),
      resumeApp: (caller, orgId, appId) => caller.send(op.ResumeAppDocument, { orgId, appId }),
      deleteApp: (caller, orgId, appId) => caller.send(op.DeleteAppDocument, { orgId, appId }),
      createClient: (caller, orgId, appId) =>
        caller.send(op.CreateClientDocument, { input: { orgId, appId, name: 'Mine now' } }),
      deleteClient: (caller, orgId) =>
        caller.send(op.DeleteClientDocument, { orgId, clientId: `org-${orgId}~0123456789ab` }),
      'Org.clients': (caller, orgId) => caller.send(op.ClientsDocument, { orgId }),
      rotateCredentials: (caller, orgId) => caller.send(op.RotateCredentialsDocument, { input: { orgId } }),
      'rotateCredentials of an app': (caller, orgId, appId) =>
        caller.send(op.RotateCredentialsDocument, { input: { orgId, appId } }),
    };

  it.each(Object.entries(attempts))(
    'answers %s for a foreign org byte for byte as for a random one',
    async (_name, attempt) => {
      for (const caller of [world.org.caller, world.client.caller, world.callers.device]) {
        const foreign = await attempt(caller, other.org.orgId, 'chat');
        const random = await attempt(caller, randomUUID(), 'chat');
        expect(bytes(foreign)).toBe(bytes(random));
        expect(JSON.stringify(foreign)).not.toContain('Acme');
      }
      const { org } = await other.org.caller.ask(op.OrgDocument);
      expect(org?.name).not.toBe('Mine now');
    },
  );

  it.each([
    ['org.app', (caller: Caller, appId: string) => caller.send(op.AppDocument, { appId })],
    [
      'node',
      (caller: Caller, appId: string) => caller.send(op.NodeDocument, { id: idOf('App', world.org.orgId, appId) }),
    ],
    [
      'rotateCredentials',
      (caller: Caller, appId: string) => caller.send(op.RotateCredentialsDocument, { input: { appId } }),
    ],
    ['rotateCredentials of its client', rotateClientOf],
  ])('answers an app client about a sibling by %s as about no app at all', async (_name, attempt) => {
    const sibling = await attempt(world.client.caller, 'sibling');
    expect(bytes(sibling)).toBe(bytes(await attempt(world.client.caller, 'nobody')));
    expect(bytes(sibling)).not.toBe(bytes(await attempt(world.client.caller, 'chat')));
  });

  it('opens no cursor of another tenant, of another list, or with a byte changed', async () => {
    const page = async (caller: Caller, after?: string) => caller.send(op.AppsDocument, { first: 1, after });
    const own = (await page(world.org.caller)).data?.org?.apps.pageInfo.endCursor ?? '';
    expect((await page(world.org.caller, own)).errors).toBeUndefined();
    expect(outcomeOf(await page(other.org.caller, own))).toBe('BAD_USER_INPUT');
    expect(outcomeOf(await world.org.caller.send(op.AuditDocument, { after: own }))).toBe('BAD_USER_INPUT');
    for (const edited of [`${own}A`, own.slice(0, -1), `A${own.slice(1)}`, '', 'x'.repeat(5000)]) {
      expect(outcomeOf(await page(world.org.caller, edited))).toBe('BAD_USER_INPUT');
    }
  });

  it.each([
    '',
    '!',
    'Zm9v',
    idOf('Org'),
    idOf('Org', '#'),
    idOf('Org', 'x', 'y'),
    idOf('__proto__', 'x'),
    idOf('App', randomUUID(), 'a#b'),
    idOf('AuditEvent', randomUUID(), 'x', 'y'),
    idOf('Entity', randomUUID(), 'a'),
    idOf('Entity', randomUUID(), 'a#b'),
    idOf('Entity', randomUUID()),
    idOf('Bucket', randomUUID(), 'a', 'api'),
    idOf('Bucket', randomUUID(), 'a', 'b#c'),
    idOf('Bucket', randomUUID(), 'a'),
    idOf('Device', randomUUID(), hardwareId),
    idOf('Device', randomUUID(), hardwareId.toLowerCase()),
    idOf('Device', randomUUID()),
    idOf('Reading', randomUUID(), hardwareId, '1760000000000', 'a'),
    idOf('Reading', randomUUID(), hardwareId, '-1', 'a'),
    idOf('Reading', randomUUID(), hardwareId, '1760000000000', 'a#b'),
    idOf('Reading', randomUUID(), hardwareId, '1760000000000'),
    idOf('ApiKey', randomUUID(), randomUUID()),
    idOf('ApiKey', randomUUID(), 'a'),
  ])('answers null for the made-up id %j, to whoever asks', async (id) => {
    for (const caller of [world.app.admin, world.org.caller, world.client.caller, world.callers.device]) {
      expect((await caller.ask(op.NodeDocument, { id })).node).toBeNull();
    }
  });

  it('finds by id what it shows, for those who may see it', async () => {
    const { org } = await world.org.caller.ask(op.AuditDocument, { first: 1 });
    const eventId = org?.auditEvents.nodes[0]?.id ?? '';
    const appId = (await world.org.caller.ask(op.AppDocument, { appId: 'chat' })).org?.app?.id ?? '';
    expect((await world.org.caller.ask(op.NodeDocument, { id: eventId })).node?.__typename).toBe('AuditEvent');
    expect((await world.client.caller.ask(op.NodeDocument, { id: eventId })).node).toBeNull();
    expect((await other.org.caller.ask(op.NodeDocument, { id: eventId })).node).toBeNull();
    expect((await world.client.caller.ask(op.NodeDocument, { id: appId })).node).toMatchObject({
      __typename: 'App',
      appId: 'chat',
      id: appId,
    });
  });
});
