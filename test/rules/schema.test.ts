import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { buildSchema, findBreakingChanges, type GraphQLSchema, printSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { createSchema } from '../../src/graphql/schema.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

let schema: GraphQLSchema;
beforeAll(async () => {
  schema = await createSchema();
});

it('has a schema.graphql that is fresh', () => {
  expect(`${printSchema(schema)}\n`).toBe(read('schema.graphql'));
});

it('keeps every part of the public contract', () => {
  const broken = findBreakingChanges(buildSchema(read('test/support/contract.graphql')), schema).map(({ description }) => description);
  expect(broken).toEqual([]);
});

it('names a policy for every field of Query, Mutation and Subscription', () => {
  const storage = getMetadataStorage();
  const roots = [...storage.queries, ...storage.mutations, ...storage.subscriptions];
  expect(roots.length).toBeGreaterThan(10);
  expect(roots.filter(({ roles }) => !roles || roles.length === 0).map(({ methodName }) => methodName)).toEqual([]);
});

it('shows no hash and no counter of the inside in any type', () => {
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`) : [],
  );
  expect(fields.filter((field) => !field.startsWith('__') && /hash|rotation$|generation|pepper|password/i.test(field))).toEqual([]);
});
