import { type ExecutionResult, execute, type GraphQLSchema, getOperationAST, Kind, parse, print } from 'graphql';
import { type ContextFactory, contextFactory } from '../../src/graphql/context.js';
import { Executor } from '../../src/graphql/executor.js';
import { createSchema } from '../../src/graphql/schema.js';
import { adminViewer, anonymous, type Viewer } from '../../src/identity/viewer.js';

import { Caller, newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';

const platformAdmin = adminViewer('admin');

const hardwareId = 'AA:BB:CC:DD:EE:FF';
let app: TestApp;
let schema: GraphQLSchema;
let newContext: ContextFactory;
/** Values for the variables of the operations in `test/support/operations.graphql`, by name. */
let variableValues: Record<string, unknown>;

beforeAll(async () => {
  // Ages stand still: on a starved machine the change counter would grow too old between two executions.
  app = await startTestApp({ clock: new ManualClock({ monotonicRate: 0 }) });
  schema = await createSchema();
  newContext = contextFactory(app.gateway.services);
  const org = await newOrg(app);
  await newApp(app, org);
  const { orgId } = org;
  for (const appId of ['second', 'third'])
    await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
  await app.admin.ask(op.SubmitCostDocument, {
    input: {
      orgId,
      appId: 'chat',
      requestId: crypto.randomUUID(),
      modelLabel: 'premium',
      inputTokens: 5,
      outputTokens: 5,
    },
  });
  await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'team' } });
  const limits = [{ name: 'rpm', capacity: 10, refillPeriodSecs: 60 }];
  await app.admin.ask(op.SetLimitsDocument, {
    input: { orgId, level: 'ENTITY', entityId: 'team', resource: 'api', limits },
  });
  await app.admin.ask(op.AcquireDocument, {
    input: { orgId, entityId: 'team', resource: 'api', consume: [{ limit: 'rpm', amount: 1 }] },
  });
  const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, { input: { orgId } });
  const device = {
    hardwareId,
    bootId: crypto.randomUUID(),
    firmwareVersion: '1.0.0',
    capabilities: { sensors: ['bme280'] },
  };
  await new Caller(app.url, { 'x-api-key': createApiKey.secret }).ask(op.RegisterDeviceDocument, { input: device });
  const day = new Date().toISOString().slice(0, 10);
  variableValues = {
    orgId,
    appId: 'chat',
    entityId: 'team',
    resource: 'api',
    hardwareId,
    first: 2,
    day,
    from: day,
    to: day,
    id: 'nothing',
    limit: 'rpm',
    level: 'ENTITY',
  };
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
});

const viewers: Record<string, () => Viewer> = {
  admin: () => platformAdmin,
  anonymous: () => anonymous,
};

const jsonOf = ({ data, errors }: ExecutionResult): unknown =>
  JSON.parse(JSON.stringify({ data, errors: errors?.map((error) => error.toJSON()) }));

/** Runs an operation by graphql-js and by the executor, often enough for the executor to compile it if it ever does. */
async function both(query: string, variables: Record<string, unknown>, viewer: Viewer, operationName?: string) {
  const document = parse(query);
  const operation = getOperationAST(document, operationName);
  if (!operation) throw new Error('the document has no such operation');
  const args = () => ({
    schema,
    document,
    variableValues: variables,
    operationName: operationName ?? null,
    contextValue: newContext({ viewer, requestId: 'test', address: 'test' }),
  });
  let isCompiled = false;
  const executor = new Executor(schema, () => {
    isCompiled = true;
  });
  const results: unknown[] = [];
  for (let i = 0; i < 5; i++) results.push(jsonOf(await executor.execute(operation, args(), true)));
  return { plain: jsonOf(await execute(args())), results, isCompiled };
}

const queries = Object.entries(op).flatMap(([name, document]) => {
  if (!name.endsWith('Document') || typeof document !== 'object') return [];
  const text = print(document as never);
  return parse(text).definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION && one.operation === 'query')
    ? [[name, text] as const]
    : [];
});

describe.each(Object.keys(viewers))('the executor, called by %s,', (who) => {
  it.each(queries)('returns the same result as graphql-js for %s', async (_name, text) => {
    const definition = parse(text).definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
    const names =
      definition?.kind === Kind.OPERATION_DEFINITION
        ? (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value)
        : [];
    const given = Object.fromEntries(
      names.flatMap((name) => (name in variableValues ? [[name, variableValues[name]]] : [])),
    );
    const viewer = (viewers[who] as () => Viewer)();
    const { plain, results } = await both(text, given, viewer);
    expect(results).toEqual(results.map(() => plain));
    // With every variable: null if there is no value for it.
    const all = Object.fromEntries(names.map((name) => [name, variableValues[name] ?? null]));
    const full = await both(text, all, viewer);
    expect(full.results).toEqual(full.results.map(() => full.plain));
  });
});

const orgQuery = (selections: string): string => `query ($orgId: UUID) { org(orgId: $orgId) { ${selections} } }`;

const cases: [what: string, query: string, variables: Record<string, unknown>, isCompiled: boolean][] = [
  ['a list', orgQuery('apps(first: 3) { nodes { appId name quotas { label dailyUsdMicros } } }'), {}, true],
  [
    'aliases of one field',
    'query ($orgId: UUID) { a: org(orgId: $orgId) { x: name y: name } b: org(orgId: $orgId) { name } }',
    {},
    true,
  ],
  [
    'fragments, one in the other',
    `${orgQuery('...A')} fragment A on Org { name ...B } fragment B on Org { timezone }`,
    {},
    true,
  ],
  ['an inline fragment without a type', 'query ($orgId: UUID) { org(orgId: $orgId) { ... { name } } }', {}, true],
  [
    'fields that merge',
    'query ($orgId: UUID) { org(orgId: $orgId) { apps { nodes { appId } } apps { nodes { name } } } }',
    {},
    true,
  ],
  [
    'an object that does not exist',
    'query ($orgId: UUID) { org(orgId: $orgId) { app(appId: "none") { name } } }',
    {},
    true,
  ],
  [
    'an invalid literal',
    'query ($orgId: UUID) { org(orgId: $orgId) { spend(day: "1999-99-99") { requests } } }',
    {},
    false,
  ],
  [
    'an error in a list argument',
    'query ($orgId: UUID) { org(orgId: $orgId) { apps(first: 1000) { nodes { appId } } } }',
    {},
    true,
  ],
  [
    'two errors',
    `query ($orgId: UUID) {
      a: org(orgId: $orgId) { apps(first: 0) { nodes { appId } } }
      b: orgs(first: 0) { nodes { orgId } }
    }`,
    {},
    true,
  ],
  [
    'a default that is used',
    'query ($orgId: UUID, $first: Int = 2) { org(orgId: $orgId) { apps(first: $first) { nodes { appId } } } }',
    {},
    true,
  ],
  [
    'a variable that is null',
    'query ($orgId: UUID, $first: Int) { org(orgId: $orgId) { apps(first: $first) { nodes { appId } } } }',
    { first: null },
    true,
  ],
  [
    'an invalid variable',
    'query ($orgId: UUID, $first: Int) { org(orgId: $orgId) { apps(first: $first) { nodes { appId } } } }',
    { first: 'x' },
    true,
  ],
  [
    'a variable that is missing',
    'query ($orgId: UUID, $appId: String!) { org(orgId: $orgId) { app(appId: $appId) { name } } }',
    {},
    true,
  ],
  [
    'typename',
    'query ($orgId: UUID) { __typename org(orgId: $orgId) { __typename apps { __typename nodes { __typename } } } }',
    {},
    true,
  ],
  [
    'an enumeration',
    'query ($orgId: UUID, $c: Consistency!) { org(orgId: $orgId) { spend(consistency: $c) { mode scope } } }',
    { c: 'EXACT' },
    true,
  ],
  ['an alias that is no property name', 'query ($orgId: UUID) { org(orgId: $orgId) { __proto__: name } }', {}, false],
  [
    'a directive',
    'query ($orgId: UUID, $no: Boolean!) { org(orgId: $orgId) { name timezone @include(if: $no) } }',
    { no: false },
    false,
  ],
  ['an interface', 'query { node(id: "x") { id } }', {}, false],
  ['introspection', '{ __schema { queryType { name } } }', {}, false],
  [
    'a variable inside a literal',
    `query ($orgId: UUID, $limit: String!) {
      availability(orgId: $orgId, entityId: "team", resource: "api", consume: [{ limit: $limit, amount: 1 }]) {
        retryAfterSecs
      }
    }`,
    { limit: 'rpm' },
    false,
  ],
];

it.each(cases)(
  'returns the same result as graphql-js for %s, and compiles it only if that is known',
  async (_what, query, variables, isCompiled) => {
    const found = await both(query, { orgId: variableValues.orgId, ...variables }, platformAdmin);
    expect(found.results).toEqual(found.results.map(() => found.plain));
    expect(found.isCompiled).toBe(isCompiled);
  },
);

it('does not compile an operation whose expanded fragments have too many fields', async () => {
  const spreads = (i: number) => [0, 1, 2, 3, 4].map((n) => `a${n}: app(appId: "chat") { org { ...F${i} } }`).join(' ');
  const level = (i: number) => `fragment F${i} on Org { ${i === 0 ? 'name timezone' : spreads(i - 1)} }`;
  const query = (depth: number) =>
    [orgQuery(`...F${depth}`), ...Array.from({ length: depth + 1 }, (_, i) => level(i))].join(' ');
  for (const [depth, isCompiled] of [
    [1, true],
    [2, true],
    [3, false],
  ] as const) {
    const found = await both(query(depth), { orgId: variableValues.orgId }, platformAdmin);
    expect(found.results).toEqual(found.results.map(() => found.plain));
    expect({ depth, isCompiled: found.isCompiled }).toEqual({ depth, isCompiled });
  }
});

it('distinguishes the operations of one document', async () => {
  const query = 'query A { me { kind } } query B { b: me { kind } }';
  for (const name of ['A', 'B']) {
    const { plain, results } = await both(query, {}, platformAdmin, name);
    expect(results).toEqual(results.map(() => plain));
    expect(JSON.stringify(plain)).toContain(name === 'A' ? '"me"' : '"b"');
  }
});

it('does not mix up the results of concurrent requests', async () => {
  const document = parse('{ me { kind } }');
  const operation = getOperationAST(document);
  const executor = new Executor(schema);
  const run = async (viewer: Viewer) => {
    const contextValue = newContext({ viewer, requestId: 'test', address: 'test' });
    return jsonOf(await executor.execute(operation!, { schema, document, contextValue }, true));
  };
  for (let i = 0; i < 5; i++) {
    const [admin, nobody] = await Promise.all([run(platformAdmin), run(anonymous)]);
    expect(admin).toEqual({ data: { me: { kind: 'PLATFORM_ADMIN' } } });
    expect(nobody).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  }
});
