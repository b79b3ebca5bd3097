import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { type Answer, type Caller, startTestApp } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  acquireInput,
  costInput,
  deviceInput,
  hardwareId,
  idOf,
  newWorld,
  outcomeOf,
  readingInput,
  type World,
} from '../support/world.js';

let world: World;
/** Another tenant. */
let other: World;

beforeAll(async () => {
  const app = await startTestApp();
  world = await newWorld(app);
  other = await newWorld(app);
});
afterAll(() => world.app.stop());

/** A response without the request id, which differs from call to call. */
const bytes = ({ status, data, errors }: Answer<unknown>): string =>
  JSON.stringify({
    status,
    data,
    errors: errors?.map(({ extensions: { requestId: _, ...extensions }, ...error }) => ({ ...error, extensions })),
  });

const rotateClientOf = (caller: Caller, appId: string) =>
  caller.send(op.RotateCredentialsDocument, { input: { clientId: `org-${world.org.orgId}-app-${appId}` } });

describe('a device key', () => {
  const from = '2026-01-01T00:00:00Z';
  const to = '2026-01-02T00:00:00Z';

  it.each([
    'latestReading { batchId }',
    'readings { nodes { batchId } }',
    `series(metric: HUMIDITY_PCT, from: "${from}", to: "${to}", stepSecs: 3600) { count }`,
  ])('cannot read back through the device that it registers: %s', async (selection) => {
    const call = `registerDevice(input: $input) { device { ${selection} } }`;
    const document = `mutation ($input: RegisterDeviceInput!) { ${call} }`;
    expect(outcomeOf(await world.callers.org.send(document, { input: deviceInput }))).toBe('ok');
    expect(outcomeOf(await world.callers.device.send(document, { input: deviceInput }))).toBe('FORBIDDEN');
  });

  it('reads only the settings of its own org, through me too', async () => {
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

  it('finds its org by id, and nothing inside it', async () => {
    const { org: caller, device } = world.callers;
    const { orgId } = world.org;
    const reading = readingInput();
    await device.ask(op.IngestDocument, { input: { readings: [reading] } });
    const worker = buildBackground(world.app.config, { clock: world.app.clock, log: silentLog });
    await caller.ask(op.SubmitCostDocument, { input: { ...costInput(), appId: 'chat', costUsdMicros: 50_000_000 } });
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

describe('tenant isolation', () => {
  /** Operations about an org or its objects, as an attacker would send them. */
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
        caller.send(op.AcquireDocument, { input: { ...acquireInput(), entityId: 'user-1', orgId } }),
      availability: (caller, orgId) =>
        caller.send(op.AvailabilityDocument, { orgId, entityId: 'user-1', resource: 'api' }),
      createEntity: (caller, orgId) => caller.send(op.CreateEntityDocument, { input: { orgId, entityId: 'user-1' } }),
      updateEntity: (caller, orgId) =>
        caller.send(op.UpdateEntityDocument, { input: { orgId, entityId: 'user-1', name: 'Mine now' } }),
      deleteEntity: (caller, orgId) => caller.send(op.DeleteEntityDocument, { orgId, entityId: 'user-1' }),
      setLimits: (caller, orgId) =>
        caller.send(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits: acquireInput().limits } }),
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
    'returns the same response of %s for another org as for an org that does not exist',
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
  ])('returns the same response of %s for a sibling app as for an app that does not exist', async (_name, attempt) => {
    const sibling = await attempt(world.client.caller, 'sibling');
    expect(bytes(sibling)).toBe(bytes(await attempt(world.client.caller, 'nobody')));
    expect(bytes(sibling)).not.toBe(bytes(await attempt(world.client.caller, 'chat')));
  });

  it('refuses a cursor of another tenant, of another list, or with a changed byte', async () => {
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
  ])('returns null for the forged id %j to every caller', async (id) => {
    for (const caller of [world.app.admin, world.org.caller, world.client.caller, world.callers.device]) {
      expect((await caller.ask(op.NodeDocument, { id })).node).toBeNull();
    }
  });

  it('finds an object by its id only for callers that may see it', async () => {
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
