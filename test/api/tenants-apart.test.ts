import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { createSchema } from '../../src/graphql/schema.js';
import { ask, expected, leaks, type SentResponse } from '../support/isolation/request.js';
import { nodeTypes } from '../support/isolation/row.js';
import { admissionRows } from '../support/isolation/rows-admission.js';
import { deviceRows } from '../support/isolation/rows-devices.js';
import { identityRows, lastRows } from '../support/isolation/rows-identity.js';
import { limitRows } from '../support/isolation/rows-limits.js';
import { readRows } from '../support/isolation/rows-reads.js';
import { spendRows } from '../support/isolation/rows-spend.js';
import type { Cell } from '../support/isolation/targets.js';
import {
  app,
  foreign,
  own,
  type Role,
  recentDays,
  roles,
  startWorlds,
  stopWorlds,
  type Target,
  targets,
  third,
  type World,
} from '../support/isolation/worlds.js';
import * as op from '../support/operations.js';

/**
 * Every argument that identifies an object of a tenant. Reads come first, because the others change the callers' own
 * tenant.
 */
const table = {
  ...readRows,
  ...identityRows,
  ...spendRows,
  ...admissionRows,
  ...deviceRows,
  ...limitRows,
  ...lastRows,
};

let schema: GraphQLSchema;
/** The state of the foreign tenant after the last row. */
let untouched: string;

/** The state of a tenant as the admin reads it, without values that change with time. */
async function overview({ org: { orgId }, entityIds: [parentId, childId], resource }: World): Promise<string> {
  const settings = 'name updatedAt credentials { secretCreatedAt graceExpiresAt }';
  const entity = 'entityId name metadata { name value } buckets { resource limits { totalConsumed limit { name } } }';
  const data = await app.admin.ask(
    `query ($orgId: UUID, $parentId: String!, $childId: String!, $resource: String!) { org(orgId: $orgId) {
      ${settings} timezone modelOrdering
      apps(first: 5) { nodes {
        appId ${settings} spend(consistency: EXACT) { costUsdMicros requests } modelSelection { label reason }
      } }
      parent: entity(entityId: $parentId) { ${entity} children(first: 5) { nodes { entityId } } }
      child: entity(entityId: $childId) { ${entity} }
      entities(first: 10) { nodes { entityId } }
      limitConfigs { level resource version limits { name capacity } }
      budgets { name version usdMicros spentUsdMicros }
      limitConfig(level: ENTITY, entityId: $childId, resource: $resource) { version }
      apiKeys(first: 5) { nodes { keyId description active } }
      devices(first: 5) { nodes {
        hardwareId confirmationId friendlyName firmwareVersion lastBootId
        capabilities { sensors features { name } } readings(first: 5) { nodes { batchId friendlyName } }
      } }
      costs(first: 20, ${recentDays}) { nodes { appId correctedUsdMicros corrections { reason } } }
      alerts(first: 10) { nodes { id kind } }
      auditEvents(first: 50) { nodes { id action details { value } } }
    } }`,
    { orgId, parentId, childId, resource },
  );
  return JSON.stringify(data, null, 1);
}
beforeAll(async () => {
  schema = await createSchema();
  await startWorlds();
  // The first model selection of a day may fall back to another label. Later selections change nothing.
  await overview(foreign);
  untouched = await overview(foreign);
});
afterAll(stopWorlds);

/** Arguments that do not identify an object of a tenant. */
const unrelated = new Set(['bootId', 'modelId']);
const identifiesObject = (argument: string): boolean =>
  /(id|key|token|after|before|cursor)$/i.test(argument) && !unrelated.has(argument);

function leaves(argument: string, type: GraphQLInputType): string[] {
  const named = getNamedType(type);
  return isInputObjectType(named)
    ? Object.values(named.getFields()).flatMap((field) => leaves(field.name, field.type))
    : [argument];
}

it('has a row for every argument of the schema that identifies an object of a tenant', () => {
  const named = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
    .flatMap(({ type, field }) =>
      field.args.flatMap((arg) =>
        leaves(arg.name, arg.type).map((leaf) => ({ leaf, name: `${type.name}.${field.name}(${leaf})` })),
      ),
    )
    .filter(({ leaf }) => identifiesObject(leaf));
  const rows = Object.keys(table).map((name) => name.replace(/ of .*/, ''));
  expect([...new Set(rows)].sort()).toEqual([...new Set(named.map(({ name }) => name))].sort());
});

it('has a row for every type that node can return', () => {
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  expect([...nodeTypes].sort()).toEqual(types.sort());
});

it('puts the canary of a tenant into every free text, and detects it', () => {
  const fieldsWithCanary = new Set(
    [...untouched.matchAll(/"(\w+)": "[^"]*canary[0-9a-f]{16}/g)].map(([, field]) => field),
  );
  expect([...fieldsWithCanary].sort()).toEqual(
    [
      'appId',
      'batchId',
      'description',
      'entityId',
      'firmwareVersion',
      'friendlyName',
      'name',
      'reason',
      'resource',
      'value',
    ].sort(),
  );
  expect(untouched).toMatch(/"sensors": \[\s*"canary/);
  expect(leaks(untouched)).toBe(true);
  expect(leaks(`{"id":"${foreign.nodeIds.Entity}"}`)).toBe(true);
  expect(leaks(JSON.stringify(own))).toBe(false);
});

it('expects different responses for foreign and random objects only for the admin and for credentials', () => {
  const distinguishing = Object.entries(table).flatMap(([name, row]) =>
    roles
      .filter((role) => {
        const [, , toForeign, toRandom] = expected(row, role);
        return toForeign !== '-' && toForeign !== toRandom;
      })
      .map((role) => ({ name, role, isBearer: row.bearer === true })),
  );
  expect(distinguishing.filter(({ role, isBearer }) => role !== 'admin' && !isBearer)).toEqual([]);
});

it.each(Object.entries(table))(
  'returns the same response for a foreign object as for a random one: %s',
  async (name, row) => {
    const expectedOutcomes = Object.fromEntries(roles.map((role) => [role, expected(row, role)]));
    const cells = roles
      .flatMap((role) => targets.map((target, i) => ({ role, target, outcome: expectedOutcomes[role]?.[i] })))
      .filter(({ outcome }) => outcome !== '-');
    const responses = new Map<string, SentResponse>();
    const take = async (cell: Cell) => responses.set(`${cell.role} ${cell.target}`, await ask(name, row, cell));
    if (row.undo) for (const cell of cells) await take(cell);
    else await Promise.all(cells.map(take));

    const responseTo = (role: Role, target: Target) => responses.get(`${role} ${target}`);
    const outcomes = Object.fromEntries(
      roles.map((role) => [role, targets.map((target) => responseTo(role, target)?.outcome ?? '-')]),
    );
    expect(outcomes).toEqual(expectedOutcomes);
    for (const role of roles) {
      const random = responseTo(role, 'random');
      const others = targets
        .filter((target) => target === 'foreign' || (target === 'sibling' && random?.outcome !== 'ok'))
        .map((target) => responseTo(role, target));
      for (const other of others)
        if (other && other.outcome === random?.outcome) expect(other.bytes).toBe(random.bytes);
    }
    // Compared with the state after the row before, so that each row fails only for its own change.
    const before = untouched;
    untouched = await overview(foreign);
    expect(untouched).toBe(before);
  },
);

it('does not end a token of another tenant or of a sibling app', async () => {
  for (const token of [third.accessToken, own.sibling.accessToken]) {
    await own.client.caller.ask(op.RevokeTokenDocument, { token });
    expect((await app.as(token).send(op.MeDocument)).errors).toBeUndefined();
  }
  await own.org.caller.ask(op.RevokeTokenDocument, { token: third.accessToken });
  expect((await app.as(third.accessToken).send(op.MeDocument)).errors).toBeUndefined();
  await own.org.caller.ask(op.RevokeTokenDocument, { token: own.sibling.accessToken });
  expect(await app.as(own.sibling.accessToken).codeOf(op.MeDocument)).toBe('UNAUTHENTICATED');
});
