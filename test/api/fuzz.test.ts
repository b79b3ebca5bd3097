import { randomUUID } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import WebSocket from 'ws';
import { buildBackground } from '../../src/app.js';
import { createSchema } from '../../src/graphql/schema.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import {
  adminKey,
  Caller,
  type Client,
  logInWith,
  newApp,
  newOrg,
  orgInput,
  type PublicError,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { publicCodes } from '../support/http.js';
import { type FuzzRequest, type KnownValues, OperationFuzzer } from '../support/operation-fuzzer.js';
import * as op from '../support/operations.js';

const seed = Number(process.env.FUZZ_SEED ?? testSeed);
const runs = Number(process.env.FUZZ_RUNS ?? 1);
const httpRounds = 8 * runs;
const requestsPerRound = 50;
const concurrentRequests = 5;
const sockets = 12 * runs;
const perSocket = 5;
const timeoutMs = 600_000 * Math.max(1, runs);

const graphqlCodes = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];
const allowedCodes = publicCodes.filter((code) => code !== 'INTERNAL_SERVER_ERROR');
const kinds = ['query', 'mutation'] as const;
const hardwareId = 'AA:BB:CC:DD:EE:FF';
const bootId = randomUUID();
/**
 * Part of every name in the second tenant, whose keys are the same as those of the first. If the gateway confuses the
 * two, it shows up in a response.
 */
const canary = `canary${randomUUID().replaceAll('-', '').slice(0, 20)}`;

interface Tenant {
  readonly org: Client & { readonly orgId: string };
  readonly client: Client & { readonly appId: string };
  readonly device: Caller;
  readonly name: string;
}

/** A kind of caller. `seesAll`: it may see the second tenant. */
interface Role {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seesAll?: boolean;
  readonly isForged?: boolean;
}

let app: TestApp;
let schema: GraphQLSchema;
let own: Tenant;
let foreign: Tenant;
let roles: readonly Role[];
let known: KnownValues = {};
const chance = new Chance(seed);

beforeAll(async () => {
  schema = await createSchema();
  app = await startTestApp();
  [own, foreign] = await Promise.all([newTenant('acme'), newTenant(canary)]);
  await Promise.all([own, foreign].map(stock));
  const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  await worker.spend.sumAll();
  worker.close();
  const admin = { name: 'admin', headers: { 'x-admin-key': adminKey }, seesAll: true };
  const org = { name: 'org', headers: own.org.caller.headers };
  roles = [
    { name: 'anonymous', headers: {} },
    { name: 'forged', headers: { authorization: `Bearer ${own.org.accessToken.slice(0, -6)}AAAAAA` }, isForged: true },
    { name: 'device', headers: own.device.headers },
    { name: 'app', headers: own.client.caller.headers },
    // More often than the others, which are refused most operations.
    ...[admin, admin, admin, org, org, org, org],
  ];
});
afterAll(() => app.stop());

async function newTenant(name: string): Promise<Tenant> {
  const quotas = ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1000 }));
  const org = await newOrg(app, { name, timezone: 'UTC', quotas });
  const client = await newApp(app, org, 'chat', { name });
  await newApp(app, org, 'sibling', { name });
  const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: { description: name } });
  return { org, client, device: new Caller(app.url, { 'x-api-key': createApiKey.secret }), name };
}

const aReading = () => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: Date.now(),
  bootId,
  firmwareVersion: '1.0.0',
  sensors: { humidityPct: 40 },
  sensorStatus: {},
});
const limits = [{ name: 'rpm', capacity: 1000 }];

/** Creates one object of each kind for a tenant, unless it exists. */
async function stock({ org: { caller }, client, device, name }: Tenant): Promise<void> {
  await caller.ask(op.SetLimitsDocument, { input: { level: 'RESOURCE', resource: 'api', limits } });
  await caller.ask(op.SetLimitsDocument, { input: { level: 'ENTITY', entityId: 'user-1', resource: 'api', limits } });
  await caller.send(op.CreateEntityDocument, {
    input: { entityId: 'team', name, metadata: [{ name: 'note', value: name }] },
  });
  await caller.send(op.CreateEntityDocument, { input: { entityId: 'user-1', name, parentId: 'team', cascade: true } });
  await device.ask(op.RegisterDeviceDocument, {
    input: { hardwareId, bootId, firmwareVersion: '1.0.0', friendlyName: name, capabilities: { sensors: [name] } },
  });
  await device.ask(op.IngestDocument, { input: { readings: [aReading(), aReading()] } });
  await client.caller.send(op.SubmitCostDocument, {
    input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1, costUsdMicros: 5000 },
  });
}

const listing = `query ($orgId: UUID) { org(orgId: $orgId) {
  id
  apps(first: 1) { ...Apps } alerts(first: 1) { ...Alerts } auditEvents(first: 1) { ...Events }
  devices(first: 1) { ...Devices } apiKeys(first: 1) { ...Keys } entities(first: 1) { ...Entities }
  entitiesWithLimits(resource: "api", first: 1) { ...Entities }
  device(hardwareId: "${hardwareId}") { id readings(first: 1) { nodes { id } pageInfo { endCursor } } }
  entity(entityId: "user-1") { id buckets { id } usage(window: DAILY, first: 1) { pageInfo { endCursor } } }
} }
fragment Apps on AppConnection { nodes { id } pageInfo { endCursor } }
fragment Alerts on QuotaAlertConnection { nodes { id cursor } pageInfo { endCursor } }
fragment Events on AuditEventConnection { nodes { id } pageInfo { endCursor } }
fragment Devices on DeviceConnection { nodes { id } pageInfo { endCursor } }
fragment Keys on ApiKeyConnection { nodes { id } pageInfo { endCursor } }
fragment Entities on EntityConnection { nodes { id } pageInfo { endCursor } }`;

/** Collects all ids and cursors of a response, under the name of their list. */
function harvest(value: unknown, from: string, found: Record<string, unknown[]>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === 'string') {
      found[name === 'id' ? 'id' : `${from}.after`] ??= [];
      found[name === 'id' ? 'id' : `${from}.after`]?.push(entry);
    } else harvest(entry, /^(\d+|nodes|pageInfo)$/.test(name) ? from : name, found);
  }
}

async function aLease({ org: { caller } }: Tenant): Promise<string> {
  const { acquire } = await caller.ask(op.AcquireDocument, {
    input: { entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 1 }], limits },
  });
  return acquire.__typename === 'Lease' ? acquire.leaseId : 'refused';
}

/** Values of existing objects, also of the second tenant. Objects that operations may delete are created here. */
async function knownValues(): Promise<KnownValues> {
  const found: Record<string, unknown[]> = {};
  for (const { org } of [own, foreign]) harvest(await app.admin.ask(listing, { orgId: org.orgId }), '', found);
  const spare = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const spareOrg = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const session = await logInWith(app, spareOrg.registerOrg.secretRetrieval.token);
  const { createApiKey } = await own.org.caller.ask(op.CreateApiKeyDocument, { input: {} });
  const { createApiKey: foreignKey } = await foreign.org.caller.ask(op.CreateApiKeyDocument, {
    input: { description: canary },
  });
  const now = Date.now();
  return {
    ...found,
    'quotaAlerts.after': found['alerts.after'] ?? [''],
    'registerOrg.orgId': [randomUUID()],
    orgId: [
      own.org.orgId,
      own.org.orgId,
      own.org.orgId.toUpperCase(),
      foreign.org.orgId,
      foreign.org.orgId,
      randomUUID(),
    ],
    appId: ['chat', 'chat', 'chat', 'sibling', 'none'],
    // Operations must not suspend the tenant that other operations need.
    'suspendOrg.orgId': [spare.registerOrg.org.orgId, randomUUID()],
    'resumeOrg.orgId': [spare.registerOrg.org.orgId, own.org.orgId, randomUUID()],
    'suspendApp.appId': ['spare', 'none'],
    'deleteApp.appId': ['spare', 'none'],
    'deleteClient.clientId': [`org-${spare.registerOrg.org.orgId}`, 'none'],
    'registerApp.appId': [`app-${randomUUID().slice(0, 8)}`, 'chat'],
    // Operations must not change the models that other operations need.
    'upsertModel.label': ['spare-label'],
    'upsertModel.modelId': ['spare.model', 'arn:aws:bedrock:us-east-1:1:inference-profile/spare'],
    'upsertModel.name': ['input', 'output', 'cacheRead'],
    'retireModel.label': ['spare-label', 'none'],
    'setOrgPrice.name': ['input', 'output', 'cacheRead'],
    'models.after': ['premium', 'none'],
    entityId: ['user-1', 'team', 'user-2'],
    parentId: ['team', 'user-1'],
    'createEntity.entityId': [`user-${randomUUID().slice(0, 8)}`, 'user-1'],
    'deleteEntity.entityId': [`user-${randomUUID().slice(0, 8)}`, 'user-2', 'user-1'],
    resource: ['api', 'api', 'other'],
    limit: ['rpm', 'rpm', 'tpm'],
    amount: [1, 2, -1, 1001],
    'acquire.limit': ['rpm'],
    'acquire.amount': [0, 1, 2],
    'acquire.name': ['rpm'],
    'setLimits.name': ['rpm'],
    'adjustLease.limit': ['rpm'],
    capacity: [10, 1000],
    burst: [1000, 2000],
    refillAmount: [10, 1000],
    refillPeriodSecs: [1, 60],
    hardwareId: [hardwareId, hardwareId, '00:00:00:00:00:01'],
    // Operations must not delete the device that other operations need.
    'deleteDevice.hardwareId': ['00:00:00:00:00:01', '00:00:00:00:00:02'],
    'assignDevice.hardwareId': ['00:00:00:00:00:01', '00:00:00:00:00:02'],
    bootId: [bootId],
    batchId: [randomUUID(), randomUUID(), 'batch-1'],
    timestampMs: [now, now - 1000, now + 1000],
    stepSecs: [60, 3600],
    firmwareVersion: ['1.0.0'],
    leaseId: [await aLease(own), await aLease(own), await aLease(foreign)],
    first: [1, 2, 3, 100],
    from: [new Date(now - 3_600_000).toISOString(), '2026-01-01T00:00:00Z'],
    to: [new Date(now).toISOString(), new Date(now + 60_000).toISOString()],
    'spendHistory.from': ['2026-01-01', new Date(now - 86_400_000).toISOString().slice(0, 10)],
    'spendHistory.to': [new Date(now).toISOString().slice(0, 10)],
    day: [new Date(now).toISOString().slice(0, 10)],
    occurredAt: [new Date(now).toISOString()],
    label: ['premium', 'standard', 'economy'],
    modelLabel: ['premium', 'standard', 'economy'],
    modelOrdering: ['premium', 'standard', 'economy'],
    'registerOrg.modelOrdering': ['premium'],
    'registerOrg.label': ['premium'],
    shardCount: [8, 16],
    refreshIntervalNormalSecs: [300],
    refreshIntervalTightSecs: [60],
    graceHours: [0, 24],
    timezone: ['UTC', 'America/New_York'],
    tightModeThresholdPct: [80, 95],
    clientId: [own.org.clientId, foreign.org.clientId, session.clientId],
    clientSecret: [own.org.clientSecret, session.clientSecret, 'wrong'],
    refreshToken: [session.refreshToken],
    'revokeToken.token': [session.accessToken, session.refreshToken, 'unknown'],
    'retrieveSecret.token': [spare.registerOrg.secretRetrieval.token, 'unknown'],
    keyId: [createApiKey.apiKey.keyId, foreignKey.apiKey.keyId, randomUUID()],
    requestId: [randomUUID(), '0b9f6a3e-3f0c-4c7e-8b1e-0d6c5a4b3f21'],
    idempotencyKey: [randomUUID()],
    inputTokens: [1, 1000],
    outputTokens: [1, 1000],
    costUsdMicros: [1, 5000],
    dailyUsdMicros: [1000, 10_000_000],
    name: ['rpm', 'Some name'],
    sensors: ['bme280'],
  };
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly PublicError[];
}

/** Every promise that a response breaks. */
function faultsOf(role: Role, { refusedAs }: FuzzRequest, text: string, requestId?: string | null): string[] {
  let result: Result;
  try {
    result = JSON.parse(text) as Result;
  } catch {
    return ['the response is not JSON'];
  }
  const faults: string[] = [];
  const check = (isKept: boolean, fault: string) => void (isKept || faults.push(fault));
  const errors = result.errors ?? [];
  const codes = errors.map(({ extensions }) => extensions?.code);
  check(result.errors === undefined || errors.length > 0, 'errors is an empty list');
  check(errors.length > 0 || (typeof result.data === 'object' && result.data !== null), 'neither data nor errors');
  check(!text.includes('INTERNAL_SERVER_ERROR'), 'an internal error');
  check(!/\.[jt]s:\d+|node_modules/.test(text), 'internals are shown');
  for (const { message, extensions } of errors) {
    check(typeof message === 'string' && message !== '', 'an error without a message');
    check(allowedCodes.includes(extensions?.code), `an unknown code: ${extensions?.code}`);
    check(typeof extensions?.requestId === 'string' && extensions.requestId !== '', 'an error without a requestId');
    check(!requestId || extensions?.requestId === requestId, 'another requestId than the header has');
    if (extensions?.code !== 'BAD_USER_INPUT') continue;
    const issues = extensions.issues ?? [];
    check(
      issues.length > 0 &&
        issues.every(({ path, message: why }) => typeof path === 'string' && path && typeof why === 'string' && why),
      'issues that do not say what is wrong where',
    );
  }
  if (role.isForged)
    check(
      codes.length === 1 && ['UNAUTHENTICATED', 'BAD_USER_INPUT'].includes(codes[0] ?? ''),
      'a forged token is accepted',
    );
  else if (typeof refusedAs === 'string')
    check(codes.length > 0 && codes.every((code) => code === refusedAs), `not refused as ${refusedAs}`);
  else if (refusedAs === null)
    check(!codes.some((code) => graphqlCodes.includes(code)), 'a valid document is called invalid');
  check(role.seesAll || !text.includes(canary), 'another tenant is shown');
  return faults;
}

const report = (role: Role, request: FuzzRequest, answer: string, faults: readonly string[]): string =>
  [
    `FUZZ_SEED=${seed}: ${faults.join('; ')}`,
    `  ${role.name} sent ${request.about} (${request.refusedAs}): ${request.body.slice(0, 3000)}`,
    `  and got: ${answer.slice(0, 2000)}`,
  ].join('\n');

/** The number of each outcome, so that a run that reaches nothing does not pass. */
const outcomes = new Map<string, number>();
const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

/** Sends a request and returns the promises that its response breaks. */
async function tryOut(role: Role, request: FuzzRequest, byGet: boolean): Promise<string[]> {
  const response = byGet
    ? await fetch(`${app.url}?${getParams(request.body)}`, { headers: role.headers })
    : await fetch(app.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...role.headers },
        body: request.body,
      });
  const text = await response.text();
  const faults = faultsOf(role, request, text, response.headers.get('x-request-id'));
  if (response.status >= 500) faults.push(`status ${response.status}`);
  if (!text.includes('"errors":')) count('served');
  if (text.includes(canary)) count('canary');
  for (const [, code = ''] of text.matchAll(/"code":"([A-Z_]+)"/g)) count(code);
  return faults.length > 0 ? [report(role, request, `${response.status} ${text}`, faults)] : [];
}

function getParams(body: string): string {
  const { query, variables } = JSON.parse(body) as { query: string; variables: object };
  return String(new URLSearchParams({ query, variables: JSON.stringify(variables) }));
}

/** Whether a request fits into a URL unchanged. */
const fitsGet = ({ body }: FuzzRequest): boolean => body.length < 3000 && /^[\x20-\x7e]*$/.test(body);

it(
  `keeps its promises for every operation of every caller over HTTP (FUZZ_SEED=${seed})`,
  async () => {
    const fuzzer = new OperationFuzzer(schema, chance, () => known);
    const faults: string[] = [];
    for (let round = 0; round < httpRounds && faults.length < 5; round++) {
      await stock(own);
      known = await knownValues();
      for (let sent = 0; sent < requestsPerRound; sent += concurrentRequests) {
        const batch = Array.from({ length: concurrentRequests }, () => {
          const role = chance.one(roles);
          const kind = chance.hit(0.03) ? 'subscription' : chance.one(kinds);
          const request = chance.hit(0.65) ? fuzzer.valid(kind) : fuzzer.invalid(kind);
          const byGet = request.about === 'a query' && fitsGet(request) && chance.hit(0.2);
          return tryOut(role, request, byGet);
        });
        faults.push(...(await Promise.all(batch)).flat());
      }
    }
    expect(faults.join('\n\n')).toBe('');
  },
  timeoutMs,
);

describe.each([
  ['a skipped root', 'subscription { quotaAlerts @skip(if: true) { id } }', {}],
  [
    'a root skipped by a variable',
    'subscription ($not: Boolean!) { quotaAlerts @skip(if: $not) { id } }',
    { not: true },
  ],
  ['a root that depends on an undefined variable', 'subscription { quotaAlerts @include(if: $nope) { id } }', {}],
  ['a root with a directive without condition', 'subscription { quotaAlerts @include { id } }', {}],
  ['a skipped root fragment', 'subscription { ... @skip(if: true) { quotaAlerts { id } } }', {}],
])('a subscription with %s', (about, query, variables) => {
  const request = { about, body: JSON.stringify({ query, variables }) };
  const refused = /BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/;

  it('is refused over WebSocket', async () => {
    const role = roles.find(({ name }) => name === 'org') as Role;
    const before = outcomes.get('socket error') ?? 0;
    expect(await trySocket(role, [request])).toEqual([]);
    expect(outcomes.get('socket error')).toBe(before + 1);
  });

  it.each(['application/json', 'text/event-stream'])(
    'is refused over HTTP for a client that accepts %s',
    async (accept) => {
      const response = await fetch(app.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...own.org.caller.headers },
        body: request.body,
      });
      expect(response.status).toBeLessThan(500);
      expect(await response.text()).toMatch(refused);
    },
  );
});

it.each([
  ['registerOrg', (name: string) => app.admin.send(op.RegisterOrgDocument, { input: orgInput({ name }) })],
  ['updateOrg', (name: string) => own.org.caller.send(op.UpdateOrgDocument, { input: { name } })],
  ['registerApp', (name: string) => own.org.caller.send(op.RegisterAppDocument, { input: { appId: 'halved', name } })],
  ['updateApp', (name: string) => own.org.caller.send(op.UpdateAppDocument, { input: { appId: 'chat', name } })],
])('%s refuses a lone surrogate, which DynamoDB cannot store', async (_field, send) => {
  const { errors } = await send('a\udc00b');
  expect(errors?.map(({ extensions: { code, issues } }) => [code, issues?.map(({ path }) => path)])).toEqual([
    ['BAD_USER_INPUT', ['input.name']],
  ]);
});

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** Close codes for errors of the client. 4500 and 1011 would be errors of the gateway. */
const clientErrorCloses = [1009, 4400, 4401, 4403, 4408, 4409, 4429];

/** Opens a socket, subscribes to everything, lets events come, and returns the promises that were broken. */
async function trySocket(role: Role, requests: readonly FuzzRequest[]): Promise<string[]> {
  const socket = new WebSocket(app.url, 'graphql-transport-ws');
  const texts: string[] = [];
  let closed: number | undefined;
  let acknowledge = (_: unknown) => {};
  const ready = new Promise((resolve) => {
    acknowledge = resolve;
  });
  socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: role.headers })));
  socket.on('message', (data) => {
    texts.push(String(data));
    if (String(data).includes('connection_ack')) acknowledge(true);
  });
  socket.on('close', (code) => {
    closed = code;
    acknowledge(false);
  });
  socket.on('error', () => {});
  await ready;
  if (closed !== undefined)
    return role.isForged && closed === 4403 ? [] : [`FUZZ_SEED=${seed}: ${role.name} was not accepted: ${closed}`];
  requests.forEach(({ body }, id) => void socket.send(`{"id":"${id}","type":"subscribe","payload":${body}}`));
  await sleep(150);
  await own.device.ask(op.IngestDocument, { input: { readings: [aReading()] } });
  await sleep(250);
  const wasClosed = closed as number | undefined;
  socket.terminate();

  const faults: string[] = [];
  const everything = JSON.stringify(requests.map(({ about, body }) => [about, body.slice(0, 2000)]));
  if (wasClosed !== undefined && !clientErrorCloses.includes(wasClosed))
    faults.push(`FUZZ_SEED=${seed}: ${role.name} was closed with ${wasClosed} for one of ${everything}`);
  // Only an invalid frame closes the socket. An invalid operation gets an error message.
  if (wasClosed !== undefined && requests.every(({ refusedAs }) => refusedAs !== undefined))
    faults.push(`FUZZ_SEED=${seed}: ${role.name} was closed for ${everything}`);
  if (role.isForged) faults.push(`FUZZ_SEED=${seed}: a forged token is accepted`);
  for (const text of texts) {
    const { type, id, payload } = JSON.parse(text) as Message;
    const request = requests[Number(id)];
    if (!request || (type !== 'next' && type !== 'error')) continue;
    const answer = JSON.stringify(type === 'error' ? { errors: payload } : payload);
    count(`socket ${type}`);
    const wrong = faultsOf(role, request, answer);
    if (wrong.length > 0) faults.push(report(role, request, answer, wrong));
  }
  // A socket that was closed meanwhile may not have sent all responses.
  const isUnanswered = (id: number) => !texts.some((text) => text.includes(`"id":"${id}"`));
  if (wasClosed === undefined)
    requests.forEach((request, id) => {
      if (typeof request.refusedAs === 'string' && isUnanswered(id))
        faults.push(report(role, request, 'nothing', ['no refusal came']));
    });
  return faults;
}

it(
  `keeps its promises for every operation over WebSocket (FUZZ_SEED=${seed})`,
  async () => {
    const fuzzer = new OperationFuzzer(schema, chance, () => known);
    const faults: string[] = [];
    for (let opened = 0; opened < sockets && faults.length < 5; opened += 4) {
      await stock(own);
      known = await knownValues();
      const batch = Array.from({ length: 4 }, () => {
        const role = chance.one(roles.filter(({ name }) => name !== 'anonymous'));
        const requests = Array.from({ length: perSocket }, () => {
          const kind = chance.hit(0.9) ? 'subscription' : chance.one(kinds);
          return chance.hit(0.7) ? fuzzer.valid(kind) : fuzzer.invalid(kind);
        });
        return trySocket(role, requests);
      });
      faults.push(...(await Promise.all(batch)).flat());
    }
    expect(faults.join('\n\n')).toBe('');
  },
  timeoutMs,
);

it('served some of the operations, and refused some with each of the usual codes', () => {
  const reached = [...outcomes.keys()];
  expect(reached).toEqual(
    expect.arrayContaining([
      'served',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'BAD_USER_INPUT',
      ...graphqlCodes,
      'socket error',
    ]),
  );
  if (process.env.FUZZ_SHOW) console.log(Object.fromEntries(outcomes));
});

it('still serves every kind of caller afterwards', async () => {
  const kindsOf = await Promise.all(
    [app.admin, own.org.caller, own.client.caller, own.device].map((caller) =>
      caller.ask<{ me: { kind: string } }, object>('{ me { kind } }'),
    ),
  );
  expect(kindsOf.map(({ me }) => me.kind)).toEqual(['PLATFORM_ADMIN', 'ORG_CLIENT', 'APP_CLIENT', 'DEVICE_KEY']);
  expect((await fetch(`${app.origin}/healthz`)).status).toBe(200);
});
