import { createHash } from 'node:crypto';
import { DocumentCache } from '../../../src/graphql/documents.js';
import { PreparedOperation } from '../../../src/graphql/prepared-operation.js';
import { testSchema } from '../../support/test-schema.js';

const list = '{ people(first: 60) { nodes { name } } }';
const two = 'query A { me { name } } query B { org { name } }';
const codesOf = (prepared: ReturnType<DocumentCache['prepare']>): unknown =>
  prepared instanceof PreparedOperation
    ? prepared.label
    : prepared.map(({ extensions, originalError }) => (originalError as { code?: string })?.code ?? extensions.code);

describe('DocumentCache', () => {
  it('knows the cost of an operation before its first execution', () => {
    const documents = new DocumentCache(testSchema, false);
    expect(documents.peek(list, undefined)).toBeUndefined();
    const prepared = documents.prepare(list, undefined);
    expect(documents.peek(list, undefined)).toBe(prepared);
    expect(documents.peek(list, undefined)?.isAlwaysList).toBe(true);
  });

  it('returns the same operation for every request', () => {
    const documents = new DocumentCache(testSchema, false);
    const [first, second] = [documents.prepare(two, 'A'), documents.prepare(two, 'B')];
    expect([codesOf(first), codesOf(second)]).toEqual(['me', 'org']);
    expect([documents.prepare(two, 'A'), documents.prepare(two, 'B')]).toEqual([first, second]);
    expect(documents.prepare(two, 'A')).toBe(first);
  });

  it.each([
    ['no name among several operations', two, undefined],
    ['an unknown name', two, 'C'],
    ['an empty name', '{ me { name } }', ''],
    ['an inherited name', two, 'constructor'],
  ])('refuses %s, whatever was prepared before', (_what, query, operationName) => {
    const documents = new DocumentCache(testSchema, false);
    expect(codesOf(documents.prepare(query, operationName))).toEqual(['BAD_USER_INPUT']);
    for (const name of [undefined, null, 'A', 'B']) documents.prepare(query, name);
    expect(codesOf(documents.prepare(query, operationName))).toEqual(['BAD_USER_INPUT']);
  });

  it('does not cache a document that it refuses', () => {
    const documents = new DocumentCache(testSchema, false);
    for (const query of ['{', '{ nothing }', `{ ${'a: __typename '.repeat(16)} }`]) {
      expect(documents.prepare(query, undefined)).not.toBeInstanceOf(PreparedOperation);
      expect(documents.peek(query, undefined)).toBeUndefined();
    }
  });

  it('gives Apollo the document of a prepared query by its hash, until it is evicted', async () => {
    const documents = new DocumentCache(testSchema, false);
    const prepared = documents.prepare(list, undefined) as PreparedOperation;
    const hash = createHash('sha256').update(list).digest('hex');
    expect(await documents.asApolloStore().get(`prefix:${hash}`)).toBe(prepared.document);
    for (let i = 0; i < 1000; i++) documents.prepare(`{ me { name } } # ${i}`, undefined);
    expect(await documents.asApolloStore().get(`prefix:${hash}`)).toBeUndefined();
  });
});
