import { getIntrospectionQuery, parse } from 'graphql';
import { boundIssues, bounds } from '../../../src/graphql/bounds.js';
import { patience } from '../../support/patience.js';

const refusals = (query: string) => boundIssues(parse(query));
const timed = (act: () => unknown): number => {
  const startMs = performance.now();
  act();
  return performance.now() - startMs;
};

describe('boundIssues', () => {
  const nested = (depth: number) => `{ me ${'{ friend '.repeat(depth - 2)}{ name }${' }'.repeat(depth - 2)} }`;
  const times = (count: number, text: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i)).join(' ');

  it.each<[string, string, string]>([
    ['depth', nested(bounds.depth), nested(bounds.depth + 1)],
    ['aliases', `{ me { ${times(15, (i) => `a${i}: name`)} } }`, `{ me { ${times(16, (i) => `a${i}: name`)} } }`],
    ['root fields', `{ ${times(5, () => '__typename')} }`, `{ ${times(6, () => '__typename')} }`],
    [
      'directives',
      `{ me { ${times(10, () => 'name @skip(if: false)')} } }`,
      `{ me { ${times(11, () => 'name @skip(if: false)')} } }`,
    ],
    ['list', `{ list(ids: [${times(100, String)}]) }`, `{ list(ids: [${times(101, String)}]) }`],
    ['credential fields', 'mutation { issueToken other }', 'mutation { issueToken refreshToken }'],
    ['a name', `{ me { ${'n'.repeat(128)} } }`, `{ me { ${'n'.repeat(129)} } }`],
    ['a string literal', `{ me(a: "${'s'.repeat(8192)}") { name } }`, `{ me(a: "${'s'.repeat(8193)}") { name } }`],
    ['fields with the same name', `{ me { ${times(99, () => 'name')} } }`, `{ me { ${times(101, () => 'name')} } }`],
  ])('accepts the maximum of %s and refuses one more', (what, accepted, refused) => {
    expect(refusals(accepted)).toEqual([]);
    expect(refusals(refused)).toEqual([expect.stringContaining(what)]);
  });

  it('counts depth, aliases and root fields through fragments', () => {
    const deep = times(bounds.depth, (i) => `fragment F${i} on Person { friend { ...F${i + 1} } }`);
    expect(refusals(`{ me { ...F0 } } ${deep} fragment F${bounds.depth} on Person { name }`)).toEqual([
      expect.stringContaining('depth 12'),
    ]);
    expect(
      refusals(
        [
          '{ ...A ... { b: __typename c: __typename } }',
          'fragment A on Query { d: __typename e: __typename f: __typename g: __typename }',
        ].join(' '),
      ),
    ).toEqual([expect.stringContaining('root fields')]);
    expect(refusals('mutation { issueToken ...A } fragment A on Mutation { ... { a: issueToken } }')).toEqual([
      expect.stringContaining('credential fields'),
    ]);
    expect(refusals(`{ me { ...A } } fragment A on Person { ${times(16, (i) => `a${i}: name`)} }`)).toEqual([
      expect.stringContaining('aliases'),
    ]);
  });

  it('checks every operation of a document', () => {
    expect(refusals(`query A { me { name } } query B ${nested(11)}`)).toEqual([expect.stringContaining('depth 11')]);
  });

  it('exempts introspection, but not the fields beside it', () => {
    expect(refusals(getIntrospectionQuery())).toEqual([]);
    expect(refusals(`{ __schema { types { name } } me ${'{ friend '.repeat(10)}{ name }${' }'.repeat(10)} }`)).toEqual([
      expect.stringContaining('depth 12'),
    ]);
  });

  it('measures a fragment bomb quickly', () => {
    const levels = 60;
    const spreads = times(levels, (i) => `fragment F${i} on Person { ...F${i + 1} ...F${i + 1} }`);
    const bomb = `{ me { ...F0 } } ${spreads} fragment F${levels} on Person { name }`;
    expect(timed(() => expect(refusals(bomb)).toEqual([]))).toBeLessThan(patience * 500);
  });

  it.each([
    ['end in a field', '__typename'],
    ['are cyclic', '...F0'],
    ['end in a missing fragment', '...Missing'],
  ])('measures quickly a bomb of root fragments that %s', (_, end) => {
    // Expanding every spread would take a billion steps here, and would never end with the 1,000 tokens allowed.
    const levels = 30;
    const spreads = times(levels, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    const bomb = `{ ...F0 } ${spreads} fragment F${levels} on Query { ${end} }`;
    expect(timed(() => refusals(bomb))).toBeLessThan(patience * 500);
  });
});
