import { randomBytes, randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../../src/app.js';
import { silentLog } from '../../../src/lib/log.js';
import { Caller, type Client, newApp, newOrg, orgInput, type Succeeded, startTestApp, type TestApp } from '../app.js';
import * as op from '../operations.js';

export type Role = 'anonymous' | 'admin' | 'org' | 'app' | 'device';
export const roles: readonly Role[] = ['anonymous', 'admin', 'org', 'app', 'device'];
export const targets = ['own', 'sibling', 'foreign', 'random', 'malformed'] as const;
export type Target = (typeof targets)[number];

/**
 * A tenant with an object of every type. Its canary is in every free text, and must not appear in a response to others.
 */
export interface World {
  readonly canary: string;
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
  /** Of the first cost. */
  readonly correctionIds: readonly string[];
  readonly acquireIds: readonly string[];
  readonly leaseId: string;
  readonly adjustKey: string;
  readonly topUpIds: readonly string[];
  /** Of the request that was admitted first. */
  readonly admissionId: string;
  readonly admitIds: readonly string[];
  /** By the field that returned them. */
  readonly cursors: Readonly<Record<string, string>>;
  /** By type. */
  readonly nodeIds: Readonly<Record<string, string>>;
}

export let app: TestApp;
let worker: Background;
/**
 * The tenant of the callers, the tenant that they must not see, and one whose tokens are used. `startWorlds` sets them.
 */
export let own: World;
export let foreign: World;
export let third: Client & { readonly orgId: string };

export const nodeIdOf = (...parts: string[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
export const partsOf = (nodeId: string): string[] =>
  JSON.parse(Buffer.from(nodeId, 'base64url').toString()) as string[];
/** Random text of the same length. */
export const randomLike = (like: string): string =>
  randomBytes(like.length)
    .toString('base64url')
    .slice(0, like.length - 1)
    .concat('A');
export const newCanary = (): string => `canary${randomBytes(8).toString('hex')}`;
export const newHardwareId = (): string =>
  randomBytes(6)
    .toString('hex')
    .toUpperCase()
    .replace(/(..)(?!$)/g, '$1:');
export const costInput = (requestId: string) => ({
  requestId,
  modelLabel: 'economy',
  inputTokens: 1,
  outputTokens: 1,
  costUsdMicros: 7,
});

export const correctionInput = (canary: string) => ({ deltaUsdMicros: 1, reason: `Reason ${canary}` });
/** Days that contain today in every time zone. */
const dayAt = (ms: number): string => new Date(Date.now() + ms).toISOString().slice(0, 10);
export const recentDays = `from: "${dayAt(-2 * 86_400_000)}", to: "${dayAt(86_400_000)}"`;

async function newWorld(): Promise<World> {
  const canary = newCanary();
  const quotas = orgInput().quotas.map((quota) =>
    quota.label === 'standard' ? { ...quota, dailyUsdMicros: 5, enforcement: 'HARD' as const } : quota,
  );
  const org = await newOrg(app, { name: `Org ${canary}`, ledger: true, quotas });
  const { orgId } = org;
  const client = await newApp(app, org, `chat-${canary}`, { name: `App ${canary}` });
  const sibling = await newApp(app, org, `side-${canary}`, { name: `App ${canary}` });
  const ask = org.caller.ask.bind(org.caller);

  const resource = `res-${canary}`;
  const limit = `limit-${canary}`;
  const limits = [{ name: limit, capacity: 1_000_000, refillPeriodSecs: 60 }];
  const entityIds = [`parent-${canary}`, `child-${canary}`] as const;
  const [parentId, entityId] = entityIds;
  const metadata = [{ name: `name-${canary}`, value: `value ${canary}` }];
  await ask(op.CreateEntityDocument, { input: { entityId: parentId, name: `Parent ${canary}`, metadata } });
  await ask(op.CreateEntityDocument, { input: { entityId, parentId, name: `Child ${canary}`, metadata } });
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

  const { apiKey, secret } = (await ask(op.CreateApiKeyDocument, { input: { description: `Key ${canary}` } }))
    .createApiKey;
  const device = new Caller(app.url, { 'x-api-key': secret });
  const hardwareIds = [newHardwareId(), newHardwareId()] as const;
  const capabilities = { sensors: [canary], features: [{ name: canary, enabled: true }] };
  for (const hardwareId of hardwareIds) {
    const input = {
      hardwareId,
      bootId: randomUUID(),
      firmwareVersion: `1.0 ${canary}`,
      friendlyName: `Bed ${canary}`,
      capabilities,
    };
    await device.ask(op.RegisterDeviceDocument, { input });
  }
  const readings = ['a', 'b'].map(
    (name, i): op.ReadingInput => ({
      hardwareId: hardwareIds[0],
      batchId: `${name}-${canary}`,
      timestampMs: app.clock.nowMs() - 60_000 * (i + 1),
      bootId: randomUUID(),
      firmwareVersion: `1.0 ${canary}`,
      friendlyName: `Bed ${canary}`,
      sensors: { humidityPct: 40 },
      sensorStatus: {},
    }),
  );
  await device.ask(op.IngestDocument, { input: { readings } });

  const costIds = [...roles, ...roles].map(() => randomUUID());
  await ask(op.SubmitCostsDocument, { inputs: costIds.map((id) => ({ ...costInput(id), appId: client.appId })) });
  const { appId } = client;
  const correctionIds = roles.map(() => randomUUID());
  for (const correctionId of correctionIds)
    await ask(op.CorrectCostDocument, {
      input: { ...correctionInput(canary), appId, requestId: costIds[0] ?? '', correctionId },
    });
  await ask(op.SubmitCostDocument, {
    input: { ...costInput(randomUUID()), modelLabel: 'premium', appId, costUsdMicros: 50_000_000 },
  });
  // Above a HARD quota, so that there is an overrun.
  await ask(op.SubmitCostDocument, { input: { ...costInput(randomUUID()), modelLabel: 'standard', appId } });
  const admitIds = roles.map(() => randomUUID());
  const admissions = await Promise.all(
    admitIds.map((requestId) =>
      ask(op.AdmitDocument, { input: { appId, requestId, estimate: { costUsdMicros: 5 }, ttlSecs: 900 } }),
    ),
  );
  const [first] = admissions as [Succeeded<op.AdmitMutation>];
  const { admit } = first;
  if (admit.__typename !== 'Admitted') throw new Error(`not admitted: ${JSON.stringify(admit)}`);
  await ask(op.SetBudgetDocument, {
    input: { name: `budget-${canary}`, appId, period: 'MONTH', usdMicros: 1000, enforcement: 'ALERT' },
  });
  await worker.spend.sumAll();
  const world = {
    canary,
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
    correctionIds,
    acquireIds,
    leaseId: acquire.leaseId,
    adjustKey,
    topUpIds,
    admissionId: admit.admissionId,
    admitIds,
    ...(await handlesOf(world, orgId)),
  };
}

type Shown = Pick<World, 'org' | 'client' | 'entityIds' | 'hardwareIds' | 'resource'>;

/** The cursor of every list and the id of every type, as the owner reads them. */
async function handlesOf(
  { org, client, entityIds, hardwareIds, resource }: Shown,
  orgId: string,
): Promise<Pick<World, 'cursors' | 'nodeIds'>> {
  const page = '{ pageInfo { endCursor } nodes { id } }';
  const endCursor = '{ pageInfo { endCursor } }';
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
    'Org.costs': `it: costs(first: 1, ${recentDays}) ${endCursor}`,
    'App.costs': `app(appId: "${client.appId}") { it: costs(first: 1, ${recentDays}) ${endCursor} }`,
    'App.alerts': `app(appId: "${client.appId}") { it: alerts(first: 1) ${page} }`,
    'Device.readings': `device(hardwareId: "${hardwareIds[0]}") { it: readings(first: 1) ${page} }`,
    'Entity.children': `entity(entityId: "${parentId}") { it: children(first: 1) ${page} }`,
    'Entity.usage': `entity(entityId: "${parentId}") { it: usage(first: 1, window: HOURLY) ${endCursor} }`,
  };
  interface Page {
    readonly pageInfo: { readonly endCursor: string };
    readonly nodes?: readonly { readonly id: string; readonly cursor?: string }[];
  }
  const pages = new Map<string, Page>();
  for (const [field, selection] of Object.entries(lists)) {
    const data = await org.caller.ask<unknown, object>(`{ org { ${selection} } }`);
    const found = itIn(data) as Page | undefined;
    if (!found?.pageInfo.endCursor) throw new Error(`${field} is empty`);
    pages.set(field, found);
  }
  const data = await org.caller.ask<unknown, object>(`{ it: overruns(first: 1, ${recentDays}) ${endCursor} }`);
  pages.set('Query.overruns', itIn(data) as Page);
  const id = (field: string): string => pages.get(field)?.nodes?.[0]?.id ?? `no id in ${field}`;
  return {
    cursors: {
      ...Object.fromEntries([...pages].map(([field, { pageInfo }]) => [field, pageInfo.endCursor])),
      'Subscription.readings': app.gateway.services.cursors.seal(`${orgId} readings`, `- -1 ${app.clock.nowMs()}`),
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

/** The value of the alias `it`, at any depth. */
export function itIn(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return undefined;
  if ('it' in data) return data.it;
  return Object.values(data)
    .map(itIn)
    .find((found) => found !== undefined);
}

export async function startWorlds(): Promise<void> {
  app = await startTestApp();
  // One worker for both tenants: it holds a claim on its slices, and a second one would have to wait.
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  own = await newWorld();
  foreign = await newWorld();
  third = await newOrg(app);
}

export async function stopWorlds(): Promise<void> {
  worker.close();
  await app.stop();
}
