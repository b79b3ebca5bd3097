import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  getIntrospectionQuery,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { boundIssues, bounds } from '../../src/graphql/bounds.js';
import { complexity, staticCost } from '../../src/graphql/complexity.js';
import { type Listing, paginate } from '../../src/graphql/connection.js';
import { nodeId, parseNodeId } from '../../src/graphql/node.js';
import { WorkBudget } from '../../src/graphql/work-budget.js';
import { GatewayError } from '../../src/lib/errors.js';
import { RootKeys, Sealer } from '../../src/lib/seal.js';
import { PrincipalLimiter } from '../../src/load/principal-limiter.js';
import { patience } from '../support/patience.js';
import { HandClock } from './hand-clock.js';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Query {
    me: Person
    org: Org
    node(id: ID!): Node
    search: [Found!]!
    list(ids: [Int!]): Int
    people(first: Int = 50): PeopleConnection
    unbounded(first: Int): PeopleConnection
    spend(consistency: Consistency = AGGREGATED): Int
  }
  type Mutation { issueToken: Int refreshToken: Int retrieveSecret: Int other: Int }
  enum Consistency { AGGREGATED EXACT }
  union Found = Person | Org
  type Org implements Node { id: ID! name: String people(first: Int = 50): PeopleConnection self: Org }
  type PeopleConnection { nodes: [Person!]! edges: [PersonEdge!]! pageInfo: PageInfo! total: Int }
  type PersonEdge { cursor: String! node: Person! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Person implements Node { id: ID! name: String friend: Person friends(first: Int = 50): PeopleConnection }
`);

const operationOf = (document: DocumentNode) =>
  document.definitions.find((d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION)!;
const costOf = (query: string, variables: Record<string, unknown> = {}) => {
  const document = parse(query);
  return complexity(schema, document, operationOf(document), variables);
};
const refusals = (query: string) => boundIssues(parse(query));
const issueOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error instanceof GatewayError ? error.extensions : error;
  }
  return undefined;
};
const timed = (act: () => unknown): number => {
  const startMs = performance.now();
  act();
  return performance.now() - startMs;
};

describe('complexity', () => {
  it.each<[string, string, number, Record<string, unknown>?]>([
    ['one field', '{ me { name } }', 2],
    ['two fields under two names', '{ a: me { name } b: me { name } }', 4],
    ['a type name', '{ __typename }', 1],
    ['a literal first', '{ people(first: 10) { nodes { name } } }', 1 + 1 + 10],
    ['a first of 1', '{ people(first: 1) { nodes { name } } }', 3],
    ["the argument's default", '{ people { nodes { name } } }', 52],
    ['no default and none given', '{ unbounded { nodes { name } } }', 3],
    ['a first of 0', '{ people(first: 0) { nodes { name } } }', 3],
    ['a negative first', '{ people(first: -5) { nodes { name } } }', 3],
    ['null for first', '{ people(first: null) { nodes { name } } }', 52],
    ['a variable', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 22, { n: 20 }],
    ['a variable of null', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 52, { n: null }],
    ['a variable that is not given', 'query ($n: Int) { people(first: $n) { nodes { name } } }', 52],
    ["a variable's default", 'query ($n: Int = 7) { people(first: $n) { nodes { name } } }', 9],
    ['a variable over its default', 'query ($n: Int = 7) { people(first: $n) { nodes { name } } }', 5, { n: 3 }],
    [
      'pages within pages',
      '{ people(first: 10) { nodes { friends(first: 5) { nodes { name } } } } }',
      1 + 1 + 10 * (1 + 1 + 5),
    ],
    [
      'the plumbing of a page once',
      '{ people(first: 1000) { total edges { cursor node { name id } } pageInfo { hasNextPage endCursor } } }',
      1 + 1 + 1 + 1 + 1 + 2000 + 3,
    ],
    [
      'plumbing in fragments',
      '{ people(first: 9) { ...P } } fragment P on PeopleConnection { edges { ...E } } fragment E on PersonEdge { cursor node { name } }',
      1 + 1 + 1 + 1 + 9,
    ],
    ['an aggregated read of spend', '{ spend a: spend(consistency: AGGREGATED) }', 2],
    ['an exact one', '{ spend(consistency: EXACT) }', 50],
    ['an exact one by a variable', 'query ($c: Consistency) { spend(consistency: $c) }', 50, { c: 'EXACT' }],
    [
      'an aggregated one by a variable',
      'query ($c: Consistency = EXACT) { spend(consistency: $c) }',
      1,
      { c: 'AGGREGATED' },
    ],
    ["an exact one by a variable's default", 'query ($c: Consistency = EXACT) { spend(consistency: $c) }', 50],
    ['an inline fragment', '{ ... { me { name } } ... on Query { me { name } } }', 4],
    ['a fragment', '{ me { ...F } } fragment F on Person { name id }', 3],
    ['a fragment spread twice', '{ me { ...F } a: me { ...F } } fragment F on Person { name id }', 6],
    [
      'a page within a fragment',
      '{ ...F } fragment F on Query { people(first: 3) { ...G } } fragment G on PeopleConnection { nodes { name } }',
      5,
    ],
    ['an interface', '{ node(id: 1) { id ... on Org { people(first: 4) { nodes { name } } } } }', 1 + 1 + 1 + 1 + 4],
    ['a union', '{ search { __typename ... on Person { name } ... on Org { name } } }', 4],
    ['a mutation', 'mutation { other }', 1],
  ])('of %s', (_, query, cost, variables = {}) => {
    expect(costOf(query, variables)).toBe(cost);
  });

  it('is the same whether fields stand in fragments or in their place', () => {
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

  it('of a fragment bomb is known at once, and too much', () => {
    const levels = 60;
    const fragments = Array.from(
      { length: levels },
      (_, i) => `fragment F${i} on Person { friend { ...F${i + 1} } b: friend { ...F${i + 1} } }`,
    ).join(' ');
    const query = `{ me { ...F0 } } ${fragments} fragment F${levels} on Person { name }`;
    expect(timed(() => expect(costOf(query)).toBeGreaterThan(2 ** levels))).toBeLessThan(patience * 500);
  });

  it('of fragments that go round ends', () => {
    expect(
      timed(() =>
        costOf('{ me { ...A } } fragment A on Person { name ...B ...B } fragment B on Person { name ...A ...A }'),
      ),
    ).toBeLessThan(patience * 500);
  });
});

describe('staticCost and WorkBudget', () => {
  const refused = (query: string, variables: Record<string, unknown> = {}) => {
    const document = parse(query);
    return issueOf(() => new WorkBudget().charge(staticCost(schema, document, operationOf(document), variables)));
  };

  it('lets a complexity of 10,000 pass and refuses one more', () => {
    expect(refused('query ($n: Int) { people(first: $n) { nodes { name } } }', { n: 9998 })).toBeUndefined();
    expect(refused('query ($n: Int) { people(first: $n) { nodes { name } } }', { n: 9999 })).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: 'query', message: expect.stringContaining('complexity 10001 exceeds the maximum of 10000') }],
    });
  });

  it('refuses a list of more than 100 in the variables, however deep', () => {
    const list = (length: number) => Array.from({ length }, (_, i) => i);
    expect(refused('{ me { name } }', { ids: list(100) })).toBeUndefined();
    for (const variables of [{ ids: list(101) }, { input: { deep: [{ ids: list(101) }] } }]) {
      expect(refused('{ me { name } }', variables)).toMatchObject({
        code: 'BAD_USER_INPUT',
        issues: [{ path: 'variables' }],
      });
    }
  });
});

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
  ])('lets the most of %s pass and refuses one more', (what, most, overloaded) => {
    expect(refusals(most)).toEqual([]);
    expect(refusals(overloaded)).toEqual([expect.stringContaining(what)]);
  });

  it('counts depth, aliases and root fields through fragments', () => {
    const deep = times(bounds.depth, (i) => `fragment F${i} on Person { friend { ...F${i + 1} } }`);
    expect(refusals(`{ me { ...F0 } } ${deep} fragment F${bounds.depth} on Person { name }`)).toEqual([
      expect.stringContaining('depth 12'),
    ]);
    expect(
      refusals(
        '{ ...A ... { b: __typename c: __typename } } fragment A on Query { d: __typename e: __typename f: __typename g: __typename }',
      ),
    ).toEqual([expect.stringContaining('root fields')]);
    expect(refusals('mutation { issueToken ...A } fragment A on Mutation { ... { a: issueToken } }')).toEqual([
      expect.stringContaining('credential fields'),
    ]);
    expect(refusals(`{ me { ...A } } fragment A on Person { ${times(16, (i) => `a${i}: name`)} }`)).toEqual([
      expect.stringContaining('aliases'),
    ]);
  });

  it('judges every operation of a document', () => {
    expect(refusals(`query A { me { name } } query B ${nested(11)}`)).toEqual([expect.stringContaining('depth 11')]);
  });

  it('lets the introspection of tools pass, and what stands beside it not', () => {
    expect(refusals(getIntrospectionQuery())).toEqual([]);
    expect(refusals(`{ __schema { types { name } } me ${'{ friend '.repeat(10)}{ name }${' }'.repeat(10)} }`)).toEqual([
      expect.stringContaining('depth 12'),
    ]);
  });

  it('measures a fragment bomb at once', () => {
    const levels = 60;
    const bomb = `{ me { ...F0 } } ${times(levels, (i) => `fragment F${i} on Person { ...F${i + 1} ...F${i + 1} }`)} fragment F${levels} on Person { name }`;
    expect(timed(() => expect(refusals(bomb)).toEqual([]))).toBeLessThan(patience * 500);
  });

  it.each([
    ['end in a field', '__typename'],
    ['go round', '...F0'],
    ['end in a fragment that is not there', '...Missing'],
  ])('measures at once a bomb of root fragments that %s', (_, end) => {
    // Opened at every spread these are a thousand million steps; with the 1,000 tokens allowed they would never end.
    const levels = 30;
    const bomb = `{ ...F0 } ${times(levels, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F${levels} on Query { ${end} }`;
    expect(timed(() => refusals(bomb))).toBeLessThan(patience * 500);
  });
});

describe('paginate', () => {
  const listing: Listing = {
    cursors: new Sealer(new RootKeys(['root'], 'cursors')),
    tenant: 'org-1',
    field: 'Org.apps',
  };
  const source = (rows: readonly string[]) => async (limit: number, after: string | undefined) =>
    rows.slice(after === undefined ? 0 : rows.indexOf(after) + 1).slice(0, limit);
  const page = (
    rows: readonly string[],
    first: number | null | undefined,
    after?: string | null,
    list: Listing = listing,
  ) =>
    paginate(
      { ...(first === undefined ? {} : { first }), ...(after === undefined ? {} : { after }) },
      list,
      (row: string) => row,
      source(rows),
    );
  const rowsOf = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 60 });

  it('gives pages that add up to the whole, none too long, none empty but that of an empty list', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 1, max: 100 }), async (rows, first) => {
        const seen: string[] = [];
        let after: string | null = null;
        for (let pages = 0; ; pages++) {
          const { nodes, edges, pageInfo } = await page(rows, first, after);
          seen.push(...nodes);
          expect(nodes.length).toBeLessThanOrEqual(first);
          expect(nodes.length > 0 || rows.length === 0).toBe(true);
          expect(edges.map(({ node }) => node)).toEqual(nodes);
          expect(pageInfo.hasPreviousPage).toBe(pages > 0);
          expect(pageInfo.startCursor).toBe(edges[0]?.cursor ?? null);
          expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
          if (!pageInfo.hasNextPage) break;
          expect(nodes).toHaveLength(first);
          after = pageInfo.endCursor;
        }
        expect(seen).toEqual(rows);
      }),
    );
  });

  it('goes on after the edge of any cursor, not only after the last', async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.nat(), async (rows, pick) => {
        fc.pre(rows.length > 0);
        const { edges } = await page(rows, 100);
        const at = pick % edges.length;
        expect((await page(rows, 100, edges[at]?.cursor)).nodes).toEqual(rows.slice(at + 1));
      }),
    );
  });

  it('asks for one row more than wanted, and for 50 where nothing is said', async () => {
    const asked: number[] = [];
    const fetch = async (limit: number) => {
      asked.push(limit);
      return [];
    };
    for (const first of [1, 100, undefined, null])
      await paginate(first === undefined ? {} : { first }, listing, String, fetch);
    expect(asked).toEqual([2, 101, 51, 51]);
  });

  it.each([0, -1, 101, 1.5, Number.NaN])('refuses a first of %p', async (first) => {
    await expect(page(['a'], first)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      extensions: { issues: [{ path: 'first' }] },
    });
  });

  it("refuses another tenant's cursor, another field's, another deployment's, an edited one and junk", async () => {
    const own = (await page(['a', 'b'], 1)).pageInfo.endCursor as string;
    expect((await page(['a', 'b'], 1, own)).nodes).toEqual(['b']);
    const foreign = await Promise.all(
      [
        { ...listing, tenant: 'org-2' },
        { ...listing, field: 'Org.audit' },
        { ...listing, cursors: new Sealer(new RootKeys(['root'], 'other')) },
      ].map(async (list) => (await page(['a', 'b'], 1, undefined, list)).pageInfo.endCursor as string),
    );
    for (const after of [...foreign, `${own}A`, own.slice(1), `${own}=`, 'junk', ' ']) {
      await expect(page(['a', 'b'], 1, after)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        extensions: { issues: [{ path: 'after' }] },
      });
    }
  });
});

describe('node ids', () => {
  it('give back what they were made of', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
        (type, parts) => {
          expect(parseNodeId(nodeId(type, ...parts))).toEqual([type, ...parts]);
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['junk', 'junk!'],
    ['no JSON', Buffer.from('["Org"').toString('base64url')],
    ['a type alone', Buffer.from('["Org"]').toString('base64url')],
    ['an object', Buffer.from('{"0":"Org"}').toString('base64url')],
    ['null', Buffer.from('null').toString('base64url')],
    ['a number among the parts', Buffer.from('["Org",1]').toString('base64url')],
    ['a list among the parts', Buffer.from('["Org",["a"]]').toString('base64url')],
    ['another spelling of the same', Buffer.from('["Org", "a"]').toString('base64url')],
    ['padding', `${nodeId('Org', 'a')}=`],
    ['a blank', `${nodeId('Org', 'a')} `],
  ])('are none of ours with %s', (_, id) => {
    expect(parseNodeId(id)).toBeUndefined();
  });

  it('are read in their one spelling only, and junk throws nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parts = parseNodeId(text);
        return parts === undefined || nodeId(...(parts as [string, ...string[]])) === text;
      }),
    );
  });
});

describe('PrincipalLimiter', () => {
  const codeOf = (act: () => unknown) => (issueOf(act) as { code?: string } | undefined)?.code;

  it('admits so many at once and one more when one is done, each principal for itself', () => {
    const principals = new PrincipalLimiter(new HandClock(), 0, 2);
    const [first] = [principals.admit('a'), principals.admit('a')];
    expect(issueOf(() => principals.admit('a'))).toEqual({
      code: 'RATE_LIMITED',
      retryAfterSecs: 1,
      policy: { name: 'concurrency', quota: 2, windowSecs: 1 },
    });
    expect(codeOf(() => principals.admit('b'))).toBeUndefined();
    first?.();
    expect(codeOf(() => principals.admit('a'))).toBeUndefined();
    expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
  });

  it('never has more running than allowed, and all of it back when all are done', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 60 }),
        (atOnce, steps) => {
          const principals = new PrincipalLimiter(new HandClock(), 0, atOnce);
          const running: (() => void)[] = [];
          for (const [begins, pick] of steps) {
            if (!begins) running.splice(pick % Math.max(1, running.length), 1)[0]?.();
            else if (codeOf(() => running.push(principals.admit('a'))) === 'RATE_LIMITED')
              expect(running).toHaveLength(atOnce);
            expect(running.length).toBeLessThanOrEqual(atOnce);
          }
          for (const done of running) done();
          for (let i = 0; i < atOnce; i++) principals.admit('a');
          expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
        },
      ),
    );
  });

  it('admits so many a second, and a second later as many again', () => {
    const clock = new HandClock();
    const principals = new PrincipalLimiter(clock, 10, 0);
    const admitted = () =>
      Array.from({ length: 30 }, () => codeOf(() => principals.admit('a')())).filter((code) => code === undefined)
        .length;
    expect(admitted()).toBe(10);
    expect(issueOf(() => principals.admit('a'))).toMatchObject({
      policy: { name: 'requests', quota: 10, windowSecs: 1 },
    });
    clock.advance(500);
    expect(admitted()).toBe(5);
    clock.advance(1000);
    expect(admitted()).toBe(10);
    expect(codeOf(() => principals.admit('b'))).toBeUndefined();
  });

  it('holds no place for what the rate refused, and takes nothing of the rate for what found no place', () => {
    const clock = new HandClock();
    const principals = new PrincipalLimiter(clock, 2, 2);
    const both = [principals.admit('a'), principals.admit('a')];
    clock.advance(1000);
    for (let i = 0; i < 10; i++) expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
    for (const done of both) done();
    const again = [principals.admit('a'), principals.admit('a')];
    for (const done of again) done();
    for (let i = 0; i < 10; i++) expect(codeOf(() => principals.admit('a'))).toBe('RATE_LIMITED');
    clock.advance(1000);
    expect(codeOf(() => [principals.admit('a'), principals.admit('a')])).toBeUndefined();
  });

  it('bounds nothing where both are 0', () => {
    const principals = new PrincipalLimiter(new HandClock(), 0, 0);
    for (let i = 0; i < 1000; i++) expect(codeOf(() => principals.admit('a'))).toBeUndefined();
  });
});
