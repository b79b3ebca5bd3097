import { randomBytes, randomUUID } from 'node:crypto';
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { type Background, buildBackground } from '../../src/app.js';
import { createSchema } from '../../src/graphql/schema.js';
import { silentLog } from '../../src/lib/log.js';
import {
  adminKey,
  Caller,
  type Client,
  newApp,
  newOrg,
  orgInput,
  type PublicError,
  type Succeeded,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import * as op from '../support/operations.js';

type Role = 'anonymous' | 'admin' | 'org' | 'app' | 'device';
const roles: readonly Role[] = ['anonymous', 'admin', 'org', 'app', 'device'];
const targets = ['own', 'sibling', 'foreign', 'random', 'malformed'] as const;
type Target = (typeof targets)[number];

/** What a tenant has. The bird is its canary: it sits in every free text the tenant can fill, and must not sing elsewhere. */
interface World {
  readonly bird: string;
  readonly org: Client & { readonly orgId: string };
  readonly client: Client & { readonly appId: string };
  readonly sibling: Client & { readonly appId: string };
  readonly entityIds: readonly [parent: string, child: string];
  readonly resource: string;
  readonly limits: op.LimitInput[];
  readonly hardwareIds: readonly [string, string];
  readonly readings: readonly op.ReadingInput[];
  readonly keyId: string;
  readonly deviceKey: string;
  readonly costIds: readonly string[];
  readonly acquireIds: readonly string[];
  readonly leaseId: string;
  readonly adjustKey: string;
  readonly topUpIds: readonly string[];
  /** By the field that they go on from. */
  readonly cursors: Readonly<Record<string, string>>;
  /** By type. */
  readonly nodeIds: Readonly<Record<string, string>>;
}

let app: TestApp;
let worker: Background;
let schema: GraphQLSchema;
/** The callers' own tenant, the one they are kept apart from, and one that is only there to be logged in to. */
let own: World;
let foreign: World;
let third: Client & { readonly orgId: string };
/** What the foreign tenant has, as the admin saw it last. */
let untouched: string;

const nodeIdOf = (...parts: string[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
const partsOf = (nodeId: string): string[] => JSON.parse(Buffer.from(nodeId, 'base64url').toString()) as string[];
/** As long as the other, and nobody's. */
const noise = (like: string): string =>
  randomBytes(like.length)
    .toString('base64url')
    .slice(0, like.length - 1)
    .concat('A');
const newBird = (): string => `bird${randomBytes(8).toString('hex')}`;
const newHardwareId = (): string =>
  randomBytes(6)
    .toString('hex')
    .toUpperCase()
    .replace(/(..)(?!$)/g, '$1:');
const aCost = (requestId: string) => ({
  requestId,
  modelLabel: 'economy',
  inputTokens: 1,
  outputTokens: 1,
  costUsdMicros: 7,
});

async function newWorld(): Promise<World> {
  const bird = newBird();
  const org = await newOrg(app, { name: `Org ${bird}` });
  const { orgId } = org;
  const client = await newApp(app, org, `chat-${bird}`, { name: `App ${bird}` });
  const sibling = await newApp(app, org, `side-${bird}`, { name: `App ${bird}` });
  const ask = org.caller.ask.bind(org.caller);

  const resource = `res-${bird}`;
  const limit = `limit-${bird}`;
  const limits = [{ name: limit, capacity: 1_000_000, refillPeriodSecs: 60 }];
  const entityIds = [`parent-${bird}`, `child-${bird}`] as const;
  const [parentId, entityId] = entityIds;
  const metadata = [{ name: `name-${bird}`, value: `value ${bird}` }];
  await ask(op.CreateEntityDocument, { input: { entityId: parentId, name: `Parent ${bird}`, metadata } });
  await ask(op.CreateEntityDocument, { input: { entityId, parentId, name: `Child ${bird}`, metadata } });
  await ask(op.SetLimitsDocument, { input: { level: 'RESOURCE', resource, limits } });
  await ask(op.SetLimitsDocument, { input: { level: 'ENTITY', resource, entityId, limits } });
  const acquireIds = roles.map(() => randomUUID());
  const leases = await Promise.all(
    acquireIds.map((requestId) =>
      ask(op.AcquireDocument, { input: { entityId: parentId, resource, consume: [{ limit, amount: 1 }], requestId } }),
    ),
  );
  const { acquire } = leases[0] as Succeeded<op.AcquireMutation>;
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  const adjustKey = randomUUID();
  await ask(op.AdjustLeaseDocument, {
    input: { leaseId: acquire.leaseId, adjust: [{ limit, amount: 1 }], idempotencyKey: adjustKey },
  });
  const topUpIds = roles.map(() => randomUUID());
  for (const operationId of topUpIds)
    await ask(op.TopUpDocument, { input: { entityId: parentId, resource, limit, amount: 1, operationId } });

  const { apiKey, secret } = (await ask(op.CreateApiKeyDocument, { input: { description: `Key ${bird}` } }))
    .createApiKey;
  const device = new Caller(app.url, { 'x-api-key': secret });
  const hardwareIds = [newHardwareId(), newHardwareId()] as const;
  const capabilities = { sensors: [bird], features: [{ name: bird, enabled: true }] };
  for (const hardwareId of hardwareIds) {
    const input = {
      hardwareId,
      bootId: randomUUID(),
      firmwareVersion: `1.0 ${bird}`,
      friendlyName: `Bed ${bird}`,
      capabilities,
    };
    await device.ask(op.RegisterDeviceDocument, { input });
  }
  const readings = ['a', 'b'].map(
    (name, i): op.ReadingInput => ({
      hardwareId: hardwareIds[0],
      batchId: `${name}-${bird}`,
      timestampMs: app.clock.nowMs() - 60_000 * (i + 1),
      bootId: randomUUID(),
      firmwareVersion: `1.0 ${bird}`,
      friendlyName: `Bed ${bird}`,
      sensors: { humidityPct: 40 },
      sensorStatus: {},
    }),
  );
  await device.ask(op.IngestDocument, { input: { readings } });

  const costIds = [...roles, ...roles].map(() => randomUUID());
  await ask(op.SubmitCostsDocument, { inputs: costIds.map((id) => ({ ...aCost(id), appId: client.appId })) });
  const { appId } = client;
  await ask(op.SubmitCostDocument, {
    input: { ...aCost(randomUUID()), modelLabel: 'premium', appId, costUsdMicros: 50_000_000 },
  });
  await worker.spend.sumAll();
  const world = {
    bird,
    org,
    client,
    sibling,
    entityIds,
    resource,
    limits,
    hardwareIds,
    readings,
    keyId: apiKey.keyId,
    deviceKey: secret,
  };
  return {
    ...world,
    costIds,
    acquireIds,
    leaseId: acquire.leaseId,
    adjustKey,
    topUpIds,
    ...(await handlesOf(world, orgId)),
  };
}

type Shown = Pick<World, 'org' | 'client' | 'entityIds' | 'hardwareIds' | 'resource'>;

/** The cursor of every list and the id of every type, as its owner is shown them. */
async function handlesOf(
  { org, client, entityIds, hardwareIds, resource }: Shown,
  orgId: string,
): Promise<Pick<World, 'cursors' | 'nodeIds'>> {
  const page = '{ pageInfo { endCursor } nodes { id } }';
  const [parentId] = entityIds;
  const lists: Readonly<Record<string, string>> = {
    'Org.alerts': `it: alerts(first: 1) { pageInfo { endCursor } nodes { id cursor } }`,
    'Org.auditEvents': `it: auditEvents(first: 1) ${page}`,
    'Org.devices': `it: devices(first: 1) ${page}`,
    'Org.apiKeys': `it: apiKeys(first: 1) ${page}`,
    'Org.entities': `it: entities(first: 1) ${page}`,
    'Org.searchEntities': `it: searchEntities(first: 1, prefix: "parent") ${page}`,
    'Org.entitiesWithLimits': `it: entitiesWithLimits(first: 1, resource: "${resource}") ${page}`,
    'Org.apps': `it: apps(first: 1) ${page}`,
    'App.alerts': `app(appId: "${client.appId}") { it: alerts(first: 1) ${page} }`,
    'Device.readings': `device(hardwareId: "${hardwareIds[0]}") { it: readings(first: 1) ${page} }`,
    'Entity.children': `entity(entityId: "${parentId}") { it: children(first: 1) ${page} }`,
    'Entity.usage': `entity(entityId: "${parentId}") { it: usage(first: 1, window: HOURLY) { pageInfo { endCursor } } }`,
  };
  interface Page {
    readonly pageInfo: { readonly endCursor: string };
    readonly nodes?: readonly { readonly id: string; readonly cursor?: string }[];
  }
  const pages = new Map<string, Page>();
  for (const [field, selection] of Object.entries(lists)) {
    const data = await org.caller.ask<unknown, object>(`{ org { ${selection} } }`);
    const found = itIn(data) as Page | undefined;
    if (!found?.pageInfo.endCursor) throw new Error(`nothing in ${field}`);
    pages.set(field, found);
  }
  const id = (field: string): string => pages.get(field)?.nodes?.[0]?.id ?? `no id in ${field}`;
  return {
    cursors: {
      ...Object.fromEntries([...pages].map(([field, { pageInfo }]) => [field, pageInfo.endCursor])),
      'Subscription.quotaAlerts': pages.get('Org.alerts')?.nodes?.[0]?.cursor ?? 'none',
    },
    nodeIds: {
      Org: nodeIdOf('Org', orgId),
      App: id('Org.apps'),
      Entity: id('Org.entities'),
      Bucket: nodeIdOf('Bucket', orgId, parentId, resource),
      Device: id('Org.devices'),
      Reading: id('Device.readings'),
      ApiKey: id('Org.apiKeys'),
      AuditEvent: id('Org.auditEvents'),
      QuotaAlert: id('Org.alerts'),
    },
  };
}

/** The value under the alias `it`, wherever it is. */
function itIn(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return undefined;
  if ('it' in data) return data.it;
  return Object.values(data)
    .map(itIn)
    .find((found) => found !== undefined);
}

// ---- what is asked for

interface Cell {
  readonly role: Role;
  readonly target: Target;
}

/** How an argument names its target; one that is absent does not exist. */
type Targets = Readonly<Partial<Record<Target, (cell: Cell) => string | Promise<string>>>>;

/** Every role another one of the foreign tenant's, where the first to use it would change what the next one meets. */
const nth = (role: Role): number => roles.indexOf(role);
const uuid = { random: () => randomUUID(), malformed: () => 'no-uuid' };

const orgIds: Targets = { own: () => own.org.orgId, foreign: () => foreign.org.orgId, ...uuid };
const appIds: Targets = {
  own: () => own.client.appId,
  sibling: () => own.sibling.appId,
  foreign: () => foreign.client.appId,
  random: () => `chat-${newBird()}`,
  malformed: () => 'No App!',
};
const entityIds: Targets = {
  own: () => own.entityIds[0],
  sibling: () => own.entityIds[1],
  foreign: () => foreign.entityIds[0],
  random: () => `parent-${newBird()}`,
  malformed: () => '#none',
};
const hardwareIds: Targets = {
  own: () => own.hardwareIds[0],
  sibling: () => own.hardwareIds[1],
  foreign: () => foreign.hardwareIds[0],
  random: newHardwareId,
  malformed: () => 'aa:bb',
};
/** The sibling of a cursor is one of the same tenant's, of another list. */
const cursorsOf = (field: string): Targets => ({
  own: () => own.cursors[field] ?? 'none',
  sibling: () => own.cursors[field === 'Org.apps' ? 'Org.auditEvents' : 'Org.apps'] ?? 'none',
  foreign: () => foreign.cursors[field] ?? 'none',
  random: () => noise(foreign.cursors[field] ?? 'none'),
  malformed: () => 'x',
});
const leaseIds: Targets = {
  own: freshLease,
  foreign: () => foreign.leaseId,
  random: () => noise(foreign.leaseId),
  malformed: () => 'x',
};

async function freshLease(): Promise<string> {
  const [limit] = own.limits;
  const input = {
    entityId: own.entityIds[0],
    resource: own.resource,
    consume: [{ limit: limit?.name ?? '', amount: 2 }],
  };
  const { acquire } = await own.org.caller.ask(op.AcquireDocument, { input });
  return acquire.__typename === 'Lease' ? acquire.leaseId : acquire.message;
}
const freshKey = async (): Promise<string> =>
  (await own.org.caller.ask(op.CreateApiKeyDocument, { input: {} })).createApiKey.apiKey.keyId;
async function freshEntity(): Promise<string> {
  const entityId = `fresh-${randomUUID()}`;
  await own.org.caller.ask(op.CreateEntityDocument, { input: { entityId } });
  await own.org.caller.ask(op.SetLimitsDocument, {
    input: { level: 'ENTITY', entityId, resource: own.resource, limits: own.limits },
  });
  return entityId;
}
async function freshApp(): Promise<string> {
  const { registerApp } = await own.org.caller.ask(op.RegisterAppDocument, {
    input: { appId: `fresh-${randomUUID()}`, name: 'Fresh' },
  });
  return registerApp.app.appId;
}
const freshOrg = async (): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.orgId;
async function freshClient(): Promise<string> {
  const { createClient } = await app.admin.ask(op.CreateClientDocument, {
    input: { orgId: own.org.orgId, appId: await freshApp(), name: 'Fresh' },
  });
  return createClient.client.clientId;
}
/** The secret of the caller itself. */
const secretOf = (role: Role): string => (role === 'app' ? own.client : own.org).clientSecret;
async function freshDevice(): Promise<string> {
  const hardwareId = newHardwareId();
  await own.org.caller.ask(op.RegisterDeviceDocument, { input: { hardwareId, ...registration() } });
  return hardwareId;
}
const freshTokens = async ({ clientId, clientSecret }: Client) =>
  (await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken;

/** The id as it stands, and one with the foreign parts under the caller's own tenant. */
const nodeTargets = (type: string): Targets => ({
  own: () => own.nodeIds[type] ?? 'none',
  foreign: () => foreign.nodeIds[type] ?? 'none',
  random: () => withOrg(foreign.nodeIds[type] ?? 'none', randomUUID()),
  malformed: () => `${own.nodeIds[type]}A`,
});
const forgedTargets = (type: string): Targets => ({
  foreign: () => withOrg(foreign.nodeIds[type] ?? 'none', own.org.orgId),
  random: () =>
    nodeIdOf(
      type,
      own.org.orgId,
      ...partsOf(foreign.nodeIds[type] ?? 'none')
        .slice(2)
        .map(madeUp),
    ),
});
const withOrg = (nodeId: string, orgId: string): string => {
  const [type = '', , ...parts] = partsOf(nodeId);
  return nodeIdOf(type, orgId, ...parts);
};
/** Of the same form, and nothing's. */
const madeUp = (part: string): string =>
  part
    .replace(foreign.bird, newBird())
    .replace(/^[0-9A-F:]{17}$/, newHardwareId)
    .replace(/^[0-9a-f-]{36}$/, () => randomUUID())
    .replace(/^\d{12,13}$/, '1760000000000')
    .replace(/^\d{1,6}$/, (digits) => '9'.repeat(digits.length))
    .replace(/^[0-9A-Z]{26}$/, (eventId) => `${eventId.slice(0, 20)}000000`);

// ---- what is answered

/**
 * One word for each target, in the order own, sibling, foreign, random, malformed; a single word stands for all of them.
 * `ok` served, `again` served as a repeat, `null`, `no` false, `empty` an empty list, `none` NOT_FOUND, `taken`
 * ALREADY_EXISTS, `bad` BAD_USER_INPUT, `deny` FORBIDDEN, `who` UNAUTHENTICATED, `-` not asked.
 */
type Words = string;

interface Row {
  readonly document: string;
  readonly targets: Targets;
  readonly variables: (it: string, ask: Asked) => object | Promise<object>;
  readonly may: Readonly<Record<Role, Words>>;
  /** Undoes what the caller's own tenant was given, for the next role. */
  readonly undo?: (it: string) => Promise<unknown>;
  /** All tenants' names are in it. */
  readonly platform?: true;
  /** The argument is the credential itself: it does the same in anybody's hands. */
  readonly bearer?: true;
}

interface Asked extends Cell {
  /** What else the operation names is of this tenant. */
  readonly of: World;
  /** To be named by the admin only. */
  readonly orgId: string | undefined;
}

const row = (document: string, of: Targets, variables: Row['variables'], may: Partial<Row['may']>): Row => ({
  document,
  targets: of,
  variables,
  may: { anonymous: 'who', admin: 'deny', org: 'deny', app: 'deny', device: 'deny', ...may },
});
const same = (words: Words, ...of: Role[]): Partial<Row['may']> => Object.fromEntries(of.map((role) => [role, words]));

// The admin may do to any org what it may do to one; the foreign one must stay as it is, so it is not asked for.
const ofAdmins = { admin: 'ok - - none bad', org: 'ok - none none bad' };
const ofClients = { ...ofAdmins, app: 'ok - none none bad' };

const inOrg = (field: string, type: string): string =>
  `query ($orgId: UUID, $it: ${type}) { org(orgId: $orgId) { ${field} } }`;
const named: Row['variables'] = (it, { orgId }) => ({ it, orgId });
const listed = (field: string, selection: string, app = 'deny'): Readonly<Record<string, Row>> => ({
  [`${field}(after)`]: row(inOrg(selection, 'String'), cursorsOf(field), named, {
    ...same('ok bad bad bad bad', 'admin', 'org'),
    app,
  }),
});
const input =
  (rest: (asked: Asked, it: string) => object | Promise<object>): Row['variables'] =>
  async (it, asked) => ({ input: { ...(asked.orgId ? { orgId: asked.orgId } : {}), ...(await rest(asked, it)) } });
const mutation = (field: string, type: string, selection: string): string =>
  `mutation ($input: ${type}!) { it: ${field}(input: $input) ${selection} }`;

const consumed = ({ limits: [limit] }: World) => [{ limit: limit?.name ?? '', amount: 1 }];
const acquired = mutation('acquire', 'AcquireInput', '{ ... on Lease { entityId resource replayed } }');
const allAcquired = mutation('acquireAll', 'AcquireAllInput', '{ ... on Leases { leases { entityId resource } } }');
const toppedUp = mutation('topUp', 'TopUpInput', '{ replayed }');
const topUpOf = (of: World, operationId: string) => ({
  entityId: of.entityIds[0],
  resource: of.resource,
  limit: of.limits[0]?.name ?? '',
  amount: 1,
  operationId,
});
const adjusted = mutation('adjustLease', 'AdjustLeaseInput', '{ replayed }');
const rotated = mutation('rotateCredentials', 'RotateCredentialsInput', '{ secretRetrieval { __typename } }');
const clientCreated = mutation('createClient', 'CreateClientInput', '{ client { name } }');
const clientDeleted =
  'mutation ($orgId: UUID, $clientId: String!) { it: deleteClient(orgId: $orgId, clientId: $clientId) }';
const submitted = mutation('submitCost', 'SubmitCostInput', '{ replayed day label }');
const submittedMany =
  'mutation ($inputs: [SubmitCostInput!]!) { it: submitCosts(inputs: $inputs) { receipt { replayed } error { code message } } }';
const many =
  (rest: (asked: Asked, it: string) => object): Row['variables'] =>
  (it, asked) => ({ inputs: [{ ...(asked.orgId ? { orgId: asked.orgId } : {}), ...rest(asked, it) }] });
const overridden = mutation('overrideModel', 'OverrideModelInput', '{ reason }');
const limitsSet = mutation('setLimits', 'SetLimitsInput', '{ level entityId }');
const limitsDeleted = mutation('deleteLimits', 'DeleteLimitsInput', '');
const appUpdated = mutation('updateApp', 'UpdateAppInput', '{ name }');
const appRegistered = mutation('registerApp', 'RegisterAppInput', '{ app { name } }');
const entityCreated = mutation('createEntity', 'CreateEntityInput', '{ name cascade }');
const entityUpdated = mutation('updateEntity', 'UpdateEntityInput', '{ name cascade }');
const ingested = mutation('ingest', 'IngestInput', '{ settledBatchIds verdicts { kind error { code message } } }');
const alertsFollowed =
  'subscription ($orgId: UUID, $appId: String, $after: String) { quotaAlerts(orgId: $orgId, appId: $appId, after: $after) { id } }';
const readingsFollowed =
  'subscription ($orgId: UUID, $hardwareId: String!) { readings(orgId: $orgId, hardwareId: $hardwareId) { id } }';
const available =
  'query ($orgId: UUID, $entityId: String!, $resource: String!) { it: availability(orgId: $orgId, entityId: $entityId, resource: $resource) { statuses { entityId exceeded } } }';
const assigned =
  'mutation ($orgId: UUID, $hardwareId: String!, $keyId: UUID) { it: assignDevice(orgId: $orgId, hardwareId: $hardwareId, keyId: $keyId) { friendlyName } }';
const deleted =
  'mutation ($orgId: UUID, $hardwareId: String!) { it: deleteDevice(orgId: $orgId, hardwareId: $hardwareId) }';
const renamed =
  'mutation ($orgId: UUID, $hardwareId: String!, $name: String) { it: renameDevice(orgId: $orgId, hardwareId: $hardwareId, friendlyName: $name) { friendlyName } }';
const revoked = 'mutation ($orgId: UUID, $keyId: UUID!) { it: revokeApiKey(orgId: $orgId, keyId: $keyId) { active } }';
const aReading = (change: Partial<op.ReadingInput>): object => ({
  readings: [{ ...own.readings[0], timestampMs: app.clock.nowMs() - 5000, batchId: randomUUID(), ...change }],
});
const registration = () => ({ bootId: randomUUID(), firmwareVersion: '2.0', capabilities: { sensors: ['bme280'] } });

const byNode = (of: Targets, may: Partial<Row['may']>): Row =>
  row(
    'query ($it: ID!) { it: node(id: $it) { __typename ... on Org { name } ... on App { name } ... on Device { firmwareVersion } } }',
    of,
    (it) => ({ it }),
    may,
  );
const seenByOwner = { admin: 'ok - ok null null', org: 'ok - null null null', ...same('null', 'app', 'device') };
const nodeTypes = ['Org', 'App', 'Entity', 'Bucket', 'Device', 'Reading', 'ApiKey', 'AuditEvent', 'QuotaAlert'];
const seenByApps = { app: 'ok - null null null' };
const nodesSeen: Readonly<Record<string, Partial<Row['may']>>> = {
  Org: { ...seenByApps, device: 'ok - null null null' },
  App: seenByApps,
  QuotaAlert: seenByApps,
};
/** An alert's number counts within its tenant, so that a foreign one under the own tenant is a number of its own. */
const forgeable = nodeTypes.filter((type) => type !== 'Org' && type !== 'QuotaAlert');

const everyone = (words: Words): Row['may'] => ({
  anonymous: words,
  admin: words,
  org: words,
  app: words,
  device: words,
});

/** Every way to name something of a tenant: reads first, then what leaves traces in the callers' own tenant. */
const table: Readonly<Record<string, Row>> = {
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
  'Query.availability(orgId)': row(
    available,
    orgIds,
    (orgId, { of }) => ({ orgId, entityId: of.entityIds[0], resource: of.resource }),
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
    'query ($orgId: UUID, $it: String, $r: String!) { org(orgId: $orgId) { it: limitConfig(level: ENTITY, entityId: $it, resource: $r) { version } } }',
    { ...entityIds, foreign: () => foreign.entityIds[1], random: () => `child-${newBird()}` },
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
    'query ($orgId: UUID, $it: String, $r: String!) { org(orgId: $orgId) { it: entitiesWithLimits(resource: $r, after: $it) { pageInfo { hasNextPage } } } }',
    cursorsOf('Org.entitiesWithLimits'),
    (it, { orgId }) => ({ it, orgId, r: own.resource }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  'App.alerts(after)': row(
    'query ($orgId: UUID, $it: String, $app: String!) { org(orgId: $orgId) { app(appId: $app) { it: alerts(after: $it) { pageInfo { hasNextPage } } } } }',
    cursorsOf('App.alerts'),
    (it, { orgId }) => ({ it, orgId, app: own.client.appId }),
    same('ok bad bad bad bad', 'admin', 'org', 'app'),
  ),
  'Device.readings(after)': row(
    'query ($orgId: UUID, $it: String, $hw: String!) { org(orgId: $orgId) { device(hardwareId: $hw) { it: readings(after: $it) { nodes { friendlyName } } } } }',
    cursorsOf('Device.readings'),
    (it, { orgId }) => ({ it, orgId, hw: own.hardwareIds[0] }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  'Entity.children(after)': row(
    'query ($orgId: UUID, $it: String, $e: String!) { org(orgId: $orgId) { entity(entityId: $e) { it: children(after: $it) { pageInfo { hasNextPage } } } } }',
    cursorsOf('Entity.children'),
    (it, { orgId }) => ({ it, orgId, e: own.entityIds[0] }),
    same('ok bad bad bad bad', 'admin', 'org'),
  ),
  'Entity.usage(after)': row(
    'query ($orgId: UUID, $it: String, $e: String!) { org(orgId: $orgId) { entity(entityId: $e) { it: usage(window: HOURLY, after: $it) { pageInfo { hasNextPage } } } } }',
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
    (orgId, { of }) => ({ orgId, hardwareId: of.hardwareIds[0] }),
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

  'Mutation.issueToken(clientId)': row(
    mutation('issueToken', 'IssueTokenInput', '{ tokenType }'),
    {
      own: () => own.sibling.clientId,
      sibling: () => own.client.clientId,
      foreign: () => third.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    (clientId) => ({ input: { clientId, clientSecret: own.sibling.clientSecret } }),
    everyone('ok who who who who'),
  ),
  'Mutation.refreshToken(refreshToken)': {
    ...row(
      'mutation ($it: String!) { it: refreshToken(refreshToken: $it) { tokenType } }',
      {
        own: async () => (await freshTokens(own.sibling)).refreshToken,
        foreign: async () => (await freshTokens(third)).refreshToken,
        random: () => `tgr_${randomBytes(32).toString('base64url')}`,
        malformed: () => 'x',
      },
      (it) => ({ it }),
      everyone('ok - ok who who'),
    ),
    bearer: true,
  },
  'Mutation.retrieveSecret(token)': {
    ...row(
      'mutation ($it: String!) { it: retrieveSecret(token: $it) { __typename } }',
      {
        own: async () => {
          const { registerApp } = await own.org.caller.ask(op.RegisterAppDocument, {
            input: { appId: `new-${randomUUID()}`, name: 'New' },
          });
          return registerApp.secretRetrieval.token;
        },
        foreign: async () =>
          (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval.token,
        random: () => `tgt_${randomBytes(32).toString('base64url')}`,
        malformed: () => 'x',
      },
      (it) => ({ it }),
      everyone('ok - ok none none'),
    ),
    bearer: true,
  },
  'Mutation.revokeToken(token)': row(
    'mutation ($it: String!) { it: revokeToken(token: $it) }',
    {
      own: async () => (await freshTokens(own.client)).accessToken,
      sibling: async () => (await freshTokens(own.sibling)).accessToken,
      foreign: () => third.accessToken,
      random: () => noise(third.accessToken),
      malformed: () => 'x',
    },
    (it) => ({ it }),
    { admin: 'ok ok - ok ok', ...same('ok', 'org', 'app') },
  ),
  'Mutation.updateOrg(orgId)': row(
    mutation('updateOrg', 'UpdateOrgInput', '{ name }'),
    orgIds,
    input(({ of }) => ({ name: `Renamed ${of.bird}` })),
    ofAdmins,
  ),
  'Mutation.updateApp(orgId)': row(
    appUpdated,
    orgIds,
    input(({ of }) => ({ appId: of.client.appId, name: 'Renamed' })),
    ofAdmins,
  ),
  'Mutation.updateApp(appId)': row(
    appUpdated,
    appIds,
    input((_, appId) => ({ appId, name: 'Renamed' })),
    same('ok ok none none none', 'admin', 'org'),
  ),
  'Mutation.rotateCredentials(orgId)': row(
    rotated,
    orgIds,
    input(({ role }) => ({ currentSecret: secretOf(role) })),
    ofClients,
  ),
  'Mutation.rotateCredentials(appId)': row(
    rotated,
    appIds,
    input(({ role }, appId) => ({ appId, currentSecret: secretOf(role) })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.rotateCredentials(clientId)': row(
    rotated,
    {
      own: () => own.client.clientId,
      sibling: () => own.sibling.clientId,
      foreign: () => foreign.client.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    input(({ role }, clientId) => ({ clientId, currentSecret: secretOf(role) })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.createClient(orgId)': row(
    clientCreated,
    orgIds,
    input(({ role }) => ({ name: 'Reports', currentSecret: secretOf(role) })),
    ofAdmins,
  ),
  'Mutation.createClient(appId)': row(
    clientCreated,
    appIds,
    input((_, appId) => ({ appId, name: 'Reports' })),
    same('ok ok none none none', 'admin', 'org'),
  ),
  'Mutation.deleteClient(orgId)': row(
    clientDeleted,
    orgIds,
    async (orgId, { of }) => ({ orgId, clientId: of === own ? await freshClient() : `org-${orgId}~0123456789ab` }),
    ofAdmins,
  ),
  'Mutation.deleteClient(clientId)': row(
    clientDeleted,
    {
      own: freshClient,
      foreign: () => foreign.client.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    (clientId, { orgId }) => ({ clientId, orgId }),
    same('ok - none none none', 'admin', 'org'),
  ),
  ...Object.fromEntries(
    ['suspendOrg', 'resumeOrg'].map((field) => [
      `Mutation.${field}(orgId)`,
      row(
        `mutation ($orgId: UUID!) { it: ${field}(orgId: $orgId) { name } }`,
        { own: freshOrg, foreign: () => foreign.org.orgId, ...uuid },
        (orgId) => ({ orgId }),
        { admin: 'ok - - none bad' },
      ),
    ]),
  ),
  ...Object.fromEntries(
    [
      ['suspendApp', '{ name }'],
      ['resumeApp', '{ name }'],
      ['deleteApp', ''],
    ].flatMap(([field, selection]) => {
      const document = `mutation ($orgId: UUID, $appId: String!) { it: ${field}(orgId: $orgId, appId: $appId) ${selection} }`;
      const ofOrg: Row['variables'] = async (orgId, { of }) => ({
        orgId,
        appId: of === own ? await freshApp() : of.client.appId,
      });
      const ofApp = { ...appIds, own: freshApp, sibling: freshApp };
      return [
        [`Mutation.${field}(orgId)`, row(document, orgIds, ofOrg, ofAdmins)],
        [
          `Mutation.${field}(appId)`,
          row(document, ofApp, (appId, { orgId }) => ({ appId, orgId }), same('ok ok none none none', 'admin', 'org')),
        ],
      ];
    }),
  ),
  'Mutation.submitCost(orgId)': row(
    submitted,
    orgIds,
    input(({ of }) => ({ ...aCost(randomUUID()), appId: of.client.appId })),
    { ...ofClients, ...same('ok - none none bad', 'app') },
  ),
  'Mutation.submitCost(appId)': row(
    submitted,
    appIds,
    input((_, appId) => ({ ...aCost(randomUUID()), appId })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.submitCost(requestId)': row(
    submitted,
    { own: () => own.costIds[0] ?? '', foreign: ({ role }) => foreign.costIds[nth(role)] ?? '', ...uuid },
    input((_, requestId) => ({ ...aCost(requestId), appId: own.client.appId })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.submitCosts(orgId)': row(
    submittedMany,
    orgIds,
    many(({ of }) => ({ ...aCost(randomUUID()), appId: of.client.appId })),
    { ...ofClients },
  ),
  'Mutation.submitCosts(appId)': row(
    submittedMany,
    appIds,
    many((_, appId) => ({ ...aCost(randomUUID()), appId })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.submitCosts(requestId)': row(
    submittedMany,
    {
      own: () => own.costIds[0] ?? '',
      foreign: ({ role }) => foreign.costIds[nth(role) + roles.length] ?? '',
      ...uuid,
    },
    many((_, requestId) => ({ ...aCost(requestId), appId: own.client.appId })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.overrideModel(orgId)': row(
    overridden,
    orgIds,
    input(({ of }) => ({ appId: of.client.appId, label: null })),
    ofAdmins,
  ),
  'Mutation.overrideModel(appId)': row(
    overridden,
    appIds,
    input((_, appId) => ({ appId, label: null })),
    same('ok ok none none none', 'admin', 'org'),
  ),

  'Mutation.createApiKey(orgId)': row(
    mutation('createApiKey', 'CreateApiKeyInput', '{ apiKey { active } }'),
    orgIds,
    input(() => ({})),
    ofAdmins,
  ),
  'Mutation.createApiKey(hardwareId)': row(
    mutation('createApiKey', 'CreateApiKeyInput', '{ apiKey { active } }'),
    hardwareIds,
    // A MAC address is only a name until a device of the org registers under it.
    (hardwareId, { orgId }) => ({ input: { orgId, hardwareId } }),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.revokeApiKey(orgId)': row(
    revoked,
    orgIds,
    async (orgId, { of }) => ({ orgId, keyId: of === own ? await freshKey() : of.keyId }),
    ofAdmins,
  ),
  'Mutation.revokeApiKey(keyId)': row(
    revoked,
    { own: freshKey, foreign: () => foreign.keyId, ...uuid },
    (keyId, { orgId }) => ({ keyId, orgId }),
    {
      ...same('ok - none none bad', 'admin', 'org'),
    },
  ),
  'Mutation.renameDevice(orgId)': row(
    renamed,
    orgIds,
    (orgId, { of }) => ({ orgId, hardwareId: of.hardwareIds[0], name: 'Renamed' }),
    ofAdmins,
  ),
  'Mutation.renameDevice(hardwareId)': row(
    renamed,
    hardwareIds,
    (hardwareId, { orgId }) => ({ orgId, hardwareId, name: 'Renamed' }),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.assignDevice(orgId)': row(
    assigned,
    orgIds,
    async (orgId, { of }) => ({ orgId, hardwareId: of === own ? await freshDevice() : of.hardwareIds[0] }),
    ofAdmins,
  ),
  'Mutation.assignDevice(hardwareId)': row(
    assigned,
    { ...hardwareIds, own: freshDevice, sibling: freshDevice },
    (hardwareId, { orgId }) => ({ orgId, hardwareId }),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.assignDevice(keyId)': row(
    assigned,
    { own: freshKey, foreign: () => foreign.keyId, ...uuid },
    async (keyId, { orgId }) => ({ keyId, orgId, hardwareId: await freshDevice() }),
    same('ok - none none bad', 'admin', 'org'),
  ),
  'Mutation.deleteDevice(orgId)': row(
    deleted,
    orgIds,
    async (orgId, { of }) => ({ orgId, hardwareId: of === own ? await freshDevice() : of.hardwareIds[0] }),
    {
      admin: 'ok - - no bad',
      org: 'ok - none none bad',
    },
  ),
  'Mutation.deleteDevice(hardwareId)': row(
    deleted,
    { ...hardwareIds, own: freshDevice, sibling: freshDevice },
    (hardwareId, { orgId }) => ({ orgId, hardwareId }),
    same('ok ok no no bad', 'admin', 'org'),
  ),
  'Mutation.ingest(hardwareId)': row(
    ingested,
    hardwareIds,
    (hardwareId) => ({ input: aReading({ hardwareId, batchId: `asked-${randomUUID()}` }) }),
    same('ok ok DEVICE_NOT_FOUND DEVICE_NOT_FOUND DEVICE_NOT_FOUND', 'org', 'device'),
  ),
  'Mutation.ingest(batchId)': row(
    ingested,
    {
      own: () => own.readings[0]?.batchId ?? '',
      foreign: ({ role }) => foreign.readings[role === 'org' ? 0 : 1]?.batchId ?? '',
      random: () => `a-${newBird()}`,
      malformed: () => 'no batch',
    },
    (batchId, { target }) => ({ input: aReading(target === 'own' ? { ...own.readings[0] } : { batchId }) }),
    same('again - ok ok INVALID_BATCH_ID', 'org', 'device'),
  ),
  'Mutation.registerDevice(hardwareId)': row(
    mutation('registerDevice', 'RegisterDeviceInput', '{ created device { hardwareId firmwareVersion friendlyName } }'),
    { ...hardwareIds, foreign: ({ role }) => foreign.hardwareIds[role === 'org' ? 0 : 1] },
    (hardwareId) => ({ input: { ...registration(), hardwareId } }),
    same('ok ok ok ok bad', 'org', 'device'),
  ),

  'Mutation.adjustLease(leaseId)': row(
    adjusted,
    leaseIds,
    (leaseId, { of }) => ({ input: { leaseId, adjust: consumed(of), idempotencyKey: randomUUID() } }),
    {
      admin: 'ok - - none none',
      ...same('ok - none none none', 'org', 'app'),
    },
  ),
  'Mutation.adjustLease(idempotencyKey)': row(
    adjusted,
    { own: () => own.adjustKey, foreign: () => foreign.adjustKey, ...uuid },
    async (idempotencyKey, { target }) => ({
      input: { leaseId: target === 'own' ? own.leaseId : await freshLease(), adjust: consumed(own), idempotencyKey },
    }),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.releaseLease(leaseId)': row(
    'mutation ($it: String!) { it: releaseLease(leaseId: $it) { replayed } }',
    leaseIds,
    (it) => ({ it }),
    {
      admin: 'ok - - none none',
      ...same('ok - none none none', 'org', 'app'),
    },
  ),
  'Mutation.acquire(orgId)': row(
    acquired,
    orgIds,
    input(({ of }) => ({ entityId: of.entityIds[0], resource: of.resource, consume: consumed(of) })),
    ofClients,
  ),
  'Mutation.acquire(requestId)': row(
    acquired,
    { own: () => own.acquireIds[0] ?? '', foreign: ({ role }) => foreign.acquireIds[nth(role)] ?? '', ...uuid },
    input((_, requestId) => ({
      entityId: own.entityIds[0],
      resource: own.resource,
      consume: consumed(own),
      requestId,
    })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.acquire(entityId)': row(
    acquired,
    entityIds,
    input((_, entityId) => ({ entityId, resource: own.resource, consume: consumed(own) })),
    same('ok ok ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.acquireAll(orgId)': row(
    allAcquired,
    orgIds,
    input(({ of }) => ({ requests: [{ entityId: of.entityIds[0], resource: of.resource, consume: consumed(of) }] })),
    ofClients,
  ),
  'Mutation.acquireAll(entityId)': row(
    allAcquired,
    entityIds,
    input((_, entityId) => ({ requests: [{ entityId, resource: own.resource, consume: consumed(own) }] })),
    same('ok ok ok ok bad', 'admin', 'org', 'app'),
  ),
  // The lease holds no slot: whoever may see it is told so.
  'Mutation.renewLease(leaseId)': row(
    'mutation ($it: String!) { it: renewLease(leaseId: $it) { renewBy } }',
    leaseIds,
    (it) => ({ it }),
    {
      admin: 'bad - - none none',
      ...same('bad - none none none', 'org', 'app'),
    },
  ),
  'Mutation.topUp(orgId)': row(
    toppedUp,
    orgIds,
    input(({ of }) => topUpOf(of, randomUUID())),
    ofAdmins,
  ),
  'Mutation.topUp(entityId)': row(
    toppedUp,
    entityIds,
    input((_, entityId) => ({ ...topUpOf(own, randomUUID()), entityId })),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.topUp(operationId)': row(
    toppedUp,
    { own: () => own.topUpIds[0] ?? '', foreign: ({ role }) => foreign.topUpIds[nth(role)] ?? '', ...uuid },
    input((_, operationId) => topUpOf(own, operationId)),
    same('again - ok ok bad', 'admin', 'org'),
  ),
  'Mutation.setLimits(orgId)': row(
    limitsSet,
    orgIds,
    input(({ of }) => ({ level: 'SYSTEM', limits: of.limits })),
    ofAdmins,
  ),
  'Mutation.deleteLimits(orgId)': row(
    limitsDeleted,
    orgIds,
    input(async ({ of }) => ({
      level: 'ENTITY',
      resource: of.resource,
      entityId: of === own ? await freshEntity() : of.entityIds[1],
    })),
    ofAdmins,
  ),
  'Mutation.deleteLimits(entityId)': row(
    limitsDeleted,
    {
      ...entityIds,
      own: freshEntity,
      sibling: freshEntity,
      foreign: () => foreign.entityIds[1],
      random: () => `child-${newBird()}`,
    },
    input((_, entityId) => ({ level: 'ENTITY', resource: own.resource, entityId })),
    same('ok ok no no bad', 'admin', 'org'),
  ),
  'Mutation.setLimits(entityId)': row(
    limitsSet,
    entityIds,
    input((_, entityId) => ({ level: 'ENTITY_DEFAULT', entityId, limits: own.limits })),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.createEntity(orgId)': row(
    entityCreated,
    orgIds,
    input(() => ({ entityId: `new-${randomUUID()}` })),
    ofAdmins,
  ),
  'Mutation.createEntity(parentId)': row(
    entityCreated,
    entityIds,
    input((_, parentId) => ({ entityId: `new-${randomUUID()}`, parentId })),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.createEntity(entityId)': {
    ...row(
      entityCreated,
      { ...entityIds, foreign: () => foreign.entityIds[1], random: () => `child-${newBird()}` },
      input((_, entityId) => ({ entityId })),
      same('taken taken ok ok bad', 'admin', 'org'),
    ),
    undo: (entityId) => app.admin.send(op.DeleteEntityDocument, { orgId: own.org.orgId, entityId }),
  },
  'Mutation.updateEntity(orgId)': row(
    entityUpdated,
    orgIds,
    input(({ of }) => ({ entityId: of.entityIds[1], cascade: false })),
    ofAdmins,
  ),
  'Mutation.updateEntity(entityId)': row(
    entityUpdated,
    entityIds,
    input((_, entityId) => ({ entityId, cascade: false })),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.updateEntity(parentId)': row(
    entityUpdated,
    entityIds,
    input((_, parentId) => ({ entityId: own.entityIds[1], parentId })),
    same('ok bad none none bad', 'admin', 'org'),
  ),
  'Mutation.deleteEntity(orgId)': row(
    'mutation ($orgId: UUID, $entityId: String!) { it: deleteEntity(orgId: $orgId, entityId: $entityId) }',
    orgIds,
    async (orgId, { of }) => ({ orgId, entityId: of === own ? await freshEntity() : of.entityIds[1] }),
    ofAdmins,
  ),
  'Mutation.deleteEntity(entityId)': row(
    'mutation ($orgId: UUID, $it: String!) { it: deleteEntity(orgId: $orgId, entityId: $it) }',
    {
      ...entityIds,
      own: freshEntity,
      sibling: freshEntity,
      foreign: () => foreign.entityIds[1],
      random: () => `child-${newBird()}`,
    },
    named,
    same('ok ok no no bad', 'admin', 'org'),
  ),
  'Mutation.registerApp(orgId)': row(
    appRegistered,
    orgIds,
    input(() => ({ appId: `a-${randomUUID()}`, name: 'New' })),
    ofAdmins,
  ),
  'Mutation.registerApp(appId)': row(
    appRegistered,
    { ...appIds, foreign: ({ role }) => (role === 'org' ? foreign.client : foreign.sibling).appId },
    input((_, appId) => ({ appId, name: 'New' })),
    same('taken taken ok ok bad', 'admin', 'org'),
  ),
  'Mutation.registerOrg(orgId)': row(
    mutation('registerOrg', 'RegisterOrgInput', '{ org { name } }'),
    orgIds,
    (orgId) => ({ input: orgInput({ orgId }) }),
    {
      admin: 'taken - taken ok bad',
    },
  ),
  'Mutation.purgeLimiter(orgId)': row(
    'mutation ($it: UUID) { it: purgeLimiter(orgId: $it) }',
    orgIds,
    (it) => ({ it }),
    ofAdmins,
  ),
};

// ---- the asking

interface Answered {
  readonly word: string;
  /** Status, headers and body, with a mark for what was asked for. */
  readonly bytes: string;
}

const words: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'who',
  FORBIDDEN: 'deny',
  NOT_FOUND: 'none',
  BAD_USER_INPUT: 'bad',
  ALREADY_EXISTS: 'taken',
  STORED: 'ok',
  DUPLICATE: 'again',
};
const wordOf = (code: string): string => words[code] ?? code;

interface Item {
  readonly kind?: string;
  readonly error?: { readonly code: string } | null;
  readonly receipt?: { readonly replayed: boolean } | null;
}

function wordFor(data: unknown, errors: readonly PublicError[] | undefined, isOpen: boolean): string {
  if (errors) return wordOf(errors[0]?.extensions.code ?? 'an error without a code');
  if (isOpen) return 'ok';
  const it = itIn(data);
  if (it === undefined || it === null) return 'null';
  if (typeof it === 'boolean') return it ? 'ok' : 'no';
  const { nodes, replayed, verdicts } = it as { nodes?: unknown[]; replayed?: boolean; verdicts?: Item[] };
  if (nodes?.length === 0) return 'empty';
  const [item] = (Array.isArray(it) ? it : (verdicts ?? [])) as Item[];
  if (item?.error) return wordOf(item.error.code);
  if (item?.kind) return wordOf(item.kind);
  return replayed || item?.receipt?.replayed ? 'again' : 'ok';
}

const requestId = 'the-same-for-all';
const credentials = (role: Role): Record<string, string> => {
  if (role === 'admin') return { 'x-admin-key': adminKey };
  if (role === 'device') return { 'x-api-key': own.deviceKey };
  if (role === 'anonymous') return {};
  return { authorization: `Bearer ${(role === 'org' ? own.org : own.client).accessToken}` };
};

/** Sends one operation, whichever way it goes. What a tenant must not hear, nobody of another hears: checked here, for all. */
async function send(
  name: string,
  { document, platform }: Row,
  { role, target }: Cell,
  it: string,
  variables: object,
): Promise<Answered> {
  const isSubscription = document.startsWith('subscription');
  const { status, headers, body, word } = await (isSubscription ? follow : post)(role, document, variables);
  const kept = [...headers].filter(([header]) => header !== 'date').sort();
  const bytes = `${status} ${JSON.stringify(kept)} ${body}`
    .replaceAll(it, '(it)')
    .replaceAll(/;([rt])=\d+/g, ';$1=(n)');
  const isTheirs = role === 'admin' && (platform || (target === 'foreign' && word === 'ok'));
  if (!isTheirs && sings(bytes))
    throw new Error(`${name} tells ${role}, asking for ${target}, of the other tenant: ${bytes}`);
  return { word, bytes };
}

/** Whether anything of the foreign tenant is in a text, be it inside an opaque id. */
function sings(text: string): boolean {
  const decoded = (text.match(/[A-Za-z0-9_-]{16,}/g) ?? []).map((part) =>
    Buffer.from(part, 'base64url').toString('latin1'),
  );
  return [text, ...decoded].some((each) => each.includes(foreign.bird) || each.includes(foreign.org.orgId));
}

interface Raw {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly word: string;
}

async function post(role: Role, query: string, variables: object): Promise<Raw> {
  const headers = { 'content-type': 'application/json', 'x-request-id': requestId, ...credentials(role) };
  const response = await fetch(app.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const body = await response.text();
  const { data, errors } = JSON.parse(body) as { data?: unknown; errors?: PublicError[] };
  return { status: response.status, headers: response.headers, body, word: wordFor(data, errors, false) };
}

async function follow(role: Role, query: string, variables: object): Promise<Raw> {
  const caller = new Caller(app.url, { 'x-request-id': requestId, ...credentials(role) });
  const { status, headers, data, errors } = await caller.subscribeOnce(query, variables);
  return { status, headers, body: JSON.stringify({ data, errors }), word: wordFor(data, errors, true) };
}

const isTyped = (of: Targets): boolean => of.malformed === uuid.malformed;

/** The words of a row for a role, spelled out: what is no UUID is refused before anybody asks who is calling. */
function expected({ targets: of, may }: Row, role: Role): string[] {
  const given = may[role].split(' ');
  return targets.map((target, i) => {
    if (!of[target]) return '-';
    if (given.length === targets.length) return given[i] ?? '';
    return target === 'malformed' && isTyped(of) ? 'bad' : (given[0] ?? '');
  });
}

async function ask(name: string, asked: Row, cell: Cell): Promise<Answered> {
  const it = (await asked.targets[cell.target]?.(cell)) ?? 'none';
  const isOrg = asked.targets === orgIds;
  const of = isOrg && cell.target !== 'own' ? foreign : own;
  const orgId = isOrg ? it : cell.role === 'admin' ? own.org.orgId : undefined;
  const answered = await send(name, asked, cell, it, await asked.variables(it, { ...cell, of, orgId }));
  if (asked.undo && answered.word === 'ok') await asked.undo(it);
  return answered;
}

/** What the admin sees of a tenant, apart from what time alone moves. */
async function overview({ org: { orgId }, entityIds: [parentId, childId], resource }: World): Promise<string> {
  const settings = 'name updatedAt credentials { secretCreatedAt graceExpiresAt }';
  const entity = 'entityId name metadata { name value } buckets { resource limits { totalConsumed limit { name } } }';
  const data = await app.admin.ask(
    `query ($orgId: UUID, $parentId: String!, $childId: String!, $resource: String!) { org(orgId: $orgId) {
      ${settings} timezone modelOrdering
      apps(first: 5) { nodes { appId ${settings} spend(consistency: EXACT) { costUsdMicros requests } modelSelection { label reason } } }
      parent: entity(entityId: $parentId) { ${entity} children(first: 5) { nodes { entityId } } }
      child: entity(entityId: $childId) { ${entity} }
      entities(first: 10) { nodes { entityId } }
      limitConfigs { level resource version limits { name capacity } }
      limitConfig(level: ENTITY, entityId: $childId, resource: $resource) { version }
      apiKeys(first: 5) { nodes { keyId description active } }
      devices(first: 5) { nodes {
        hardwareId confirmationId friendlyName firmwareVersion lastBootId capabilities { sensors features { name } } readings(first: 5) { nodes { batchId friendlyName } }
      } }
      alerts(first: 10) { nodes { id kind } }
      auditEvents(first: 50) { nodes { id action details { value } } }
    } }`,
    { orgId, parentId, childId, resource },
  );
  return JSON.stringify(data, null, 1);
}

beforeAll(async () => {
  schema = await createSchema();
  app = await startTestApp();
  // One for both: it holds what it sums, and another would have to wait for that.
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  own = await newWorld();
  foreign = await newWorld();
  third = await newOrg(app);
  // The first selection of a day moves on from a label that is used up; those after it change nothing.
  await overview(foreign);
  untouched = await overview(foreign);
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

/** Arguments that name nothing of a tenant. */
const harmless = new Set(['bootId']);
const namesSomething = (argument: string): boolean =>
  /(id|key|token|after|before|cursor)$/i.test(argument) && !harmless.has(argument);

function leaves(argument: string, type: GraphQLInputType): string[] {
  const of = getNamedType(type);
  return isInputObjectType(of)
    ? Object.values(of.getFields()).flatMap((field) => leaves(field.name, field.type))
    : [argument];
}

it('has a row for every argument of the schema that names something of a tenant', () => {
  const named = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
    .flatMap(({ type, field }) =>
      field.args.flatMap((arg) =>
        leaves(arg.name, arg.type).map((leaf) => ({ leaf, name: `${type.name}.${field.name}(${leaf})` })),
      ),
    )
    .filter(({ leaf }) => namesSomething(leaf));
  const rows = Object.keys(table).map((name) => name.replace(/ of .*/, ''));
  expect([...new Set(rows)].sort()).toEqual([...new Set(named.map(({ name }) => name))].sort());
});

it('has a row for every type that can be asked for by its id', () => {
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  expect([...nodeTypes].sort()).toEqual(types.sort());
});

it('has the canary of a tenant in every text of its own, and hears it', () => {
  const singing = new Set([...untouched.matchAll(/"(\w+)": "[^"]*bird[0-9a-f]{16}/g)].map(([, field]) => field));
  expect([...singing].sort()).toEqual(
    [
      'appId',
      'batchId',
      'description',
      'entityId',
      'firmwareVersion',
      'friendlyName',
      'name',
      'resource',
      'value',
    ].sort(),
  );
  expect(untouched).toMatch(/"sensors": \[\s*"bird/);
  expect(sings(untouched)).toBe(true);
  expect(sings(`{"id":"${foreign.nodeIds.Entity}"}`)).toBe(true);
  expect(sings(JSON.stringify(own))).toBe(false);
});

it('makes exceptions from telling foreign as random for the admin and for bearers only', () => {
  const telling = Object.entries(table).flatMap(([name, asked]) =>
    roles
      .filter((role) => {
        const [, , toForeign, toRandom] = expected(asked, role);
        return toForeign !== '-' && toForeign !== toRandom;
      })
      .map((role) => ({ name, role, isBearer: asked.bearer === true })),
  );
  expect(telling.filter(({ role, isBearer }) => role !== 'admin' && !isBearer)).toEqual([]);
});

it.each(Object.entries(table))('%s', async (name, asked) => {
  const spelled = Object.fromEntries(roles.map((role) => [role, expected(asked, role)]));
  const cells = roles
    .flatMap((role) => targets.map((target, i) => ({ role, target, word: spelled[role]?.[i] })))
    .filter(({ word }) => word !== '-');
  const answers = new Map<string, Answered>();
  const take = async (cell: Cell) => answers.set(`${cell.role} ${cell.target}`, await ask(name, asked, cell));
  if (asked.undo) for (const cell of cells) await take(cell);
  else await Promise.all(cells.map(take));

  const answered = (role: Role, target: Target) => answers.get(`${role} ${target}`);
  const said = Object.fromEntries(
    roles.map((role) => [role, targets.map((target) => answered(role, target)?.word ?? '-')]),
  );
  expect(said).toEqual(spelled);
  for (const role of roles) {
    const random = answered(role, 'random');
    const others = targets
      .filter((target) => target === 'foreign' || (target === 'sibling' && random?.word !== 'ok'))
      .map((target) => answered(role, target));
    for (const other of others) if (other && other.word === random?.word) expect(other.bytes).toBe(random.bytes);
  }
  // Each row answers for what it did, not for those before it.
  const before = untouched;
  untouched = await overview(foreign);
  expect(untouched).toBe(before);
});

it('leaves a token of another tenant, and of a sibling, as good as it was', async () => {
  for (const token of [third.accessToken, own.sibling.accessToken]) {
    await own.client.caller.ask(op.RevokeTokenDocument, { token });
    expect((await app.as(token).send(op.MeDocument)).errors).toBeUndefined();
  }
  await own.org.caller.ask(op.RevokeTokenDocument, { token: third.accessToken });
  expect((await app.as(third.accessToken).send(op.MeDocument)).errors).toBeUndefined();
  await own.org.caller.ask(op.RevokeTokenDocument, { token: own.sibling.accessToken });
  expect(await app.as(own.sibling.accessToken).codeOf(op.MeDocument)).toBe('UNAUTHENTICATED');
});
