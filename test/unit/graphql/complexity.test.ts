import fc from 'fast-check';
import { getOperationAST, parse } from 'graphql';
import { complexity } from '../../../src/graphql/complexity.js';
import { patience } from '../../support/patience.js';
import { testSchema } from '../../support/test-schema.js';

const costOf = (query: string, variables: Record<string, unknown> = {}) => {
  const document = parse(query);
  return complexity(testSchema, document, getOperationAST(document)!, variables).cost;
};
const timed = (act: () => unknown): number => {
  const startMs = performance.now();
  act();
  return performance.now() - startMs;
};

describe('complexity', () => {
  it.each<[string, string, number, Record<string, unknown>?]>([
    ['one field', '{ me { name } }', 2],
    ['two aliases of a field', '{ a: me { name } b: me { name } }', 4],
    ['a type name', '{ __typename }', 1],
    ['a literal first', '{ people(first: 10) { nodes { name } } }', 1 + 1 + 10],
    ['a first of 1', '{ people(first: 1) { nodes { name } } }', 3],
    ["the argument's default", '{ people { nodes { name } } }', 52],
    ['no default and no argument', '{ unbounded { nodes { name } } }', 3],
    ['a first of 0', '{ people(first: 0) { nodes { name } } }', 3],
    ['a negative first', '{ people(first: -5) { nodes { name } } }', 3],
    ['null for first', '{ people(first: null) { nodes { name } } }', 52],
    ['a variable', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 22, { n: 20 }],
    ['a variable of null', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 52, { n: null }],
    ['an absent variable', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 52],
    ["a variable's default", 'query ($n: Int = 7) { people(first: $n) { nodes { name } } }', 9],
    ['a variable over its default', 'query ($n: Int = 7) { people(first: $n) { nodes { name } } }', 5, { n: 3 }],
    [
      'nested pages',
      '{ people(first: 10) { nodes { friends(first: 5) { nodes { name } } } } }',
      1 + 1 + 10 * (1 + 1 + 5),
    ],
    [
      'the fields around the nodes of a page once',
      '{ people(first: 1000) { total edges { cursor node { name id } } pageInfo { hasNextPage endCursor } } }',
      1 + 1 + 1 + 1 + 1 + 2000 + 3,
    ],
    [
      'the fields around the nodes of a page, in fragments',
      [
        '{ people(first: 9) { ...P } }',
        'fragment P on PeopleConnection { edges { ...E } }',
        'fragment E on PersonEdge { cursor node { name } }',
      ].join(' '),
      1 + 1 + 1 + 1 + 9,
    ],
    ['an aggregated read of spend', '{ spend a: spend(consistency: AGGREGATED) }', 2],
    ['an exact read of spend', '{ spend(consistency: EXACT) }', 50],
    ['an exact read of spend by a variable', 'query ($c: Consistency) { spend(consistency: $c) }', 50, { c: 'EXACT' }],
    [
      'an aggregated read of spend by a variable',
      'query ($c: Consistency = EXACT) { spend(consistency: $c) }',
      1,
      { c: 'AGGREGATED' },
    ],
    [
      "an exact read of spend by a variable's default",
      'query ($c: Consistency = EXACT) { spend(consistency: $c) }',
      50,
    ],
    ['an inline fragment', '{ ... { me { name } } ... on Query { me { name } } }', 4],
    ['a fragment', '{ me { ...F } } fragment F on Person { name id }', 3],
    ['a fragment spread twice', '{ me { ...F } a: me { ...F } } fragment F on Person { name id }', 6],
    [
      'a page in a fragment',
      '{ ...F } fragment F on Query { people(first: 3) { ...G } } fragment G on PeopleConnection { nodes { name } }',
      5,
    ],
    ['an interface', '{ node(id: 1) { id ... on Org { people(first: 4) { nodes { name } } } } }', 1 + 1 + 1 + 1 + 4],
    ['a union', '{ search { __typename ... on Person { name } ... on Org { name } } }', 4],
    ['a mutation', 'mutation { other }', 1],
  ])('counts %s', (_, query, cost, variables = {}) => {
    expect(costOf(query, variables)).toBe(cost);
  });

  it('is the same for fields in fragments and for inlined fields', () => {
    const { selection } = fc.letrec<{ selection: [inlined: string, named: string, fragments: string[]] }>((tie) => ({
      selection: fc.oneof(
        { depthSize: 'small' },
        fc.constant<[string, string, string[]]>(['name', 'name', []]),
        fc
          .tuple(fc.integer({ min: 1, max: 9 }), tie('selection'))
          .map(([first, [inlined, named, fragments]]): [string, string, string[]] => [
            `friends(first: ${first}) { nodes { ${inlined} } }`,
            `friends(first: ${first}) { nodes { ${named} } }`,
            fragments,
          ]),
        tie('selection').map(([inlined, named, fragments]): [string, string, string[]] => {
          const name = `F${fragments.length}`;
          return [inlined, `...${name}`, [...fragments, `fragment ${name} on Person { ${named} }`]];
        }),
      ),
    }));
    fc.assert(
      fc.property(selection, ([inlined, named, fragments]) => {
        expect(costOf(`{ me { ${named} } } ${fragments.join(' ')}`)).toBe(costOf(`{ me { ${inlined} } }`));
      }),
    );
  });

  it('measures a fragment bomb quickly, as far too complex', () => {
    const levels = 60;
    const fragments = Array.from(
      { length: levels },
      (_, i) => `fragment F${i} on Person { friend { ...F${i + 1} } b: friend { ...F${i + 1} } }`,
    ).join(' ');
    const query = `{ me { ...F0 } } ${fragments} fragment F${levels} on Person { name }`;
    expect(timed(() => expect(costOf(query)).toBeGreaterThan(2 ** levels))).toBeLessThan(patience * 500);
  });

  it('measures cyclic fragments without looping', () => {
    expect(
      timed(() =>
        costOf('{ me { ...A } } fragment A on Person { name ...B ...B } fragment B on Person { name ...A ...A }'),
      ),
    ).toBeLessThan(patience * 500);
  });
});
