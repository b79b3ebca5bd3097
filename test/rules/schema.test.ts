import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  findBreakingChanges,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  printSchema,
  validateSchema,
} from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { createSchema } from '../../src/graphql/schema.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

let schema: GraphQLSchema;
beforeAll(async () => {
  schema = await createSchema();
});

it('is a valid GraphQL schema', () => {
  expect(validateSchema(schema)).toEqual([]);
});

it('has an up-to-date schema.graphql', () => {
  expect(`${printSchema(schema)}\n`).toBe(read('schema.graphql'));
});

it('keeps every part of the public contract', () => {
  const broken = findBreakingChanges(buildSchema(read('test/support/contract.graphql')), schema).map(
    ({ description }) => description,
  );
  expect(broken).toEqual([]);
});

it('declares a policy for every field of Query, Mutation and Subscription', () => {
  const storage = getMetadataStorage();
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const names = types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  // The storage also has the resolvers of other tests that ran in this process.
  const roots = [...storage.queries, ...storage.mutations, ...storage.subscriptions].filter(({ schemaName }) =>
    names.includes(schemaName),
  );
  expect(roots.map(({ schemaName }) => schemaName).sort()).toEqual(names.sort());
  expect(roots.filter(({ roles }) => !roles || roles.length === 0).map(({ methodName }) => methodName)).toEqual([]);
});

it('exposes no hash and no internal counter in any type', () => {
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`) : [],
  );
  expect(
    fields.filter((field) => !field.startsWith('__') && /hash|rotation$|generation|pepper|password/i.test(field)),
  ).toEqual([]);
});

interface Described {
  readonly coordinate: string;
  readonly description: string | null | undefined;
}

/** The type and each of its visible parts. */
function partsOf(type: GraphQLNamedType): Described[] {
  const own: Described = { coordinate: type.name, description: type.description };
  if (isEnumType(type))
    return [
      own,
      ...type.getValues().map(({ name, description }) => ({ coordinate: `${type.name}.${name}`, description })),
    ];
  if (!('getFields' in type)) return [own];
  return [
    own,
    ...Object.values(type.getFields()).flatMap((field) => describedParts(`${type.name}.${field.name}`, field)),
  ];
}

const describedParts = (coordinate: string, field: GraphQLField<unknown, unknown> | GraphQLInputField): Described[] => [
  { coordinate, description: field.description },
  ...('args' in field
    ? field.args.map(({ name, description }) => ({ coordinate: `${coordinate}(${name}:)`, description }))
    : []),
];

const visibleTypes = () =>
  Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));

it('describes every type, field, argument and enum value', () => {
  const bare = visibleTypes()
    .flatMap(partsOf)
    .filter(({ description }) => !description?.trim())
    .map(({ coordinate }) => coordinate);
  expect(bare).toEqual([]);
});

it('names the specification of each scalar that has one', () => {
  const scalars = visibleTypes().filter(isScalarType);
  const specified = Object.fromEntries(scalars.map(({ name, specifiedByURL }) => [name, specifiedByURL ?? null]));
  expect(Object.keys(specified)).toEqual(
    expect.arrayContaining(['DateTime', 'LocalDate', 'SafeInt', 'TimeZone', 'UUID']),
  );
  expect(Object.keys(specified).filter((name) => !specified[name])).toEqual([]);
});
