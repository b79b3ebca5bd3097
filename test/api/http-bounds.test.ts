import { getIntrospectionQuery } from 'graphql';
import { type Caller, type Client, newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { expectPublicErrors } from '../support/http.js';
import { patience } from '../support/patience.js';
import { callerFields, tokensOf } from '../support/tokens.js';

let app: TestApp;
let production: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  production = await app.another({ production: true });
  org = await newOrg(app);
  await newApp(app, org);
});
afterAll(() => Promise.all([app.stop(), production.stop()]));

const many = (n: number, text: (i: number) => string): string => Array.from({ length: n }, (_, i) => text(i)).join(' ');

/** `org` and `app` in turn, with `depth` levels of fields. */
function nested(depth: number): string {
  let query = 'name';
  for (let level = depth - 1; level >= 1; level--)
    query = `${level % 2 === 1 ? 'org' : 'app(appId: "chat")'} { ${query} }`;
  return `{ ${query} }`;
}

/** The same query two levels deeper, in fragments. */
const inFragments = (query: string): string => {
  const inside = query.replace(/^\{ org \{ /, '').replace(/ \} \}$/, '');
  return `{ ...Q } fragment Q on Query { org { ...O } } fragment O on Org { app(appId: "chat") { org { ${inside} } } }`;
};

/** Each fragment spreads the next one twice; the last holds `inner`. */
const bomb = (on: string, levels: number, inner: string): string => {
  const level = (i: number) => `fragment f${i} on ${on} { ...f${i + 1} ...f${i + 1} }`;
  return `${many(levels, level)} fragment f${levels} on ${on} { ${inner} }`;
};

/** A document with this many tokens. Most are in list literals, because fields of the same name are bounded too. */
const longText = (tokens: number): string => {
  const consume = many(99, () => '{limit:"a" amount:1}');
  const availability = `availability(entityId:"e" resource:"r" consume:[${consume}]) @skip(if: true) { __typename }`;
  const start = `{ org { app(appId: "chat") { name } } ${availability} `;
  return `${start} me { ${callerFields(tokens - tokensOf(`${start} me { } }`))} } }`;
};

/** 1 + 1 + 100 × 99 for the orgs, 1 + `fields` for the caller: 10,000 with 97 fields. */
const costly = (fields: number, first: string): string => {
  const nodes = `${'name '.repeat(50)} ${'orgId '.repeat(49)}`;
  const caller = `${'kind '.repeat(49)} ${'clientId '.repeat(fields - 49)}`;
  return `{ orgs(first: ${first}) { nodes { ${nodes} } } me { ${caller} } }`;
};

/** `a` aliases in one fragment and `b` in another. */
const aliasesInFragments = (a: number, b: number): string =>
  [
    '{ org { ...A ...B } }',
    `fragment A on Org { ${many(a, (i) => `a${i}: name`)} }`,
    `fragment B on Org { ${many(b, (i) => `b${i}: name`)} }`,
  ].join(' ');

/** 4 root fields, and those of `more`. */
const rootsInFragments = (more: string): string =>
  [
    `{ r0: __typename ...A ... on Query { ${more} } }`,
    'fragment A on Query { r1: __typename ...B }',
    'fragment B on Query { r2: __typename r3: __typename }',
  ].join(' ');

/** 50 orgs with 50 apps each, with these fields. */
const appsOfOrgs = (fields: string): string =>
  [
    '{ orgs { nodes { ...O } } }',
    'fragment O on Org { apps { nodes { ...A } } }',
    `fragment A on App { ${fields} }`,
  ].join(' ');

interface Bound {
  readonly what: string;
  readonly passes: readonly [query: string, variables?: Record<string, unknown>];
  readonly refused: readonly [query: string, variables?: Record<string, unknown>];
  readonly admin?: true;
  readonly code?: string;
}

const boundCases: readonly Bound[] = [
  { what: 'a depth of 10', passes: [nested(10)], refused: [nested(11)] },
  {
    what: 'a depth of 10 through fragments',
    passes: [inFragments(nested(8))],
    refused: [inFragments(nested(9))],
  },
  {
    what: '15 aliases',
    passes: [`{ org { ${many(15, (i) => `a${i}: name`)} } }`],
    refused: [`{ org { ${many(16, (i) => `a${i}: name`)} } }`],
  },
  {
    what: '15 aliases over several fragments',
    passes: [aliasesInFragments(8, 7)],
    refused: [aliasesInFragments(8, 8)],
  },
  {
    what: '5 root fields',
    passes: [`{ ${many(5, (i) => `r${i}: __typename`)} }`],
    refused: [`{ ${many(6, (i) => `r${i}: __typename`)} }`],
  },
  {
    what: '5 root fields through fragments',
    passes: [rootsInFragments('r4: __typename')],
    refused: [rootsInFragments('r4: __typename r5: __typename')],
  },
  {
    what: '10 directives',
    passes: [`{ org { ${many(10, () => 'name @include(if: true)')} } }`],
    refused: [`{ org { ${many(11, () => 'name @include(if: true)')} } }`],
  },
  { what: '1,000 tokens', passes: [longText(1000)], refused: [longText(1001)], code: 'GRAPHQL_PARSE_FAILED' },
  {
    what: 'a complexity of 10,000, `first` in the document',
    passes: [costly(97, '100')],
    refused: [costly(98, '100')],
    admin: true,
    code: 'BAD_USER_INPUT',
  },
  {
    what: 'a complexity of 10,000, `first` as a variable',
    passes: [`query ($n: Int) ${costly(97, '$n')}`, { n: 100 }],
    refused: [`query ($n: Int) ${costly(98, '$n')}`, { n: 100 }],
    admin: true,
    code: 'BAD_USER_INPUT',
  },
  {
    what: 'a complexity of 10,000, `first` as the default of a variable',
    passes: [`query ($n: Int = 100) ${costly(97, '$n')}`],
    refused: [`query ($n: Int = 100) ${costly(98, '$n')}`],
    admin: true,
    code: 'BAD_USER_INPUT',
  },
  {
    what: 'a complexity of 10,000, `first` by its default, in fragments',
    passes: [appsOfOrgs('id name appId')],
    refused: [appsOfOrgs('id name appId createdAt')],
    admin: true,
    code: 'BAD_USER_INPUT',
  },
];

describe.each([
  ['development', () => app],
  ['production', () => production],
])('a document in %s', (_mode, of) => {
  const callerFor = (admin: true | undefined): Caller => (admin ? of().admin : of().as(org.accessToken));

  it.each(boundCases.map((bound) => [bound.what, bound] as const))(
    'may have %s, and no more',
    async (_what, { passes, refused, admin, code = 'GRAPHQL_VALIDATION_FAILED' }) => {
      const passed = await callerFor(admin).send(...passes);
      expect([passed.status, passed.errors]).toEqual([200, undefined]);
      const answer = await callerFor(admin).send(...refused);
      expect(answer.data ?? null).toBeNull();
      expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual([code]);
      expectPublicErrors(answer);
    },
  );

  const labels = (n: number): string[] => Array.from({ length: n }, (_, i) => `label-${i}`);
  const quotas = (n: number) => labels(n).map((label) => ({ label, dailyUsdMicros: 1 }));

  it('may have a list of 100 items in its text, and no more', async () => {
    const update = (n: number) =>
      callerFor(undefined).send(
        `mutation { updateOrg(input: { modelOrdering: ${JSON.stringify(labels(n))} }) { name } }`,
      );
    // The rules for orgs refuse it, which know none of these labels. So the bounds have accepted it.
    expect((await update(100)).errors?.[0]?.extensions.issues?.[0]?.path).toMatch(/^input\.modelOrdering/);
    expect((await update(101)).errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it.each([
    [
      'at the top',
      'mutation ($list: [String!]) { updateOrg(input: { modelOrdering: $list }) { name } }',
      (n: number) => ({ list: labels(n) }),
    ],
    [
      'inside an input',
      'mutation ($input: UpdateOrgInput!) { updateOrg(input: $input) { name } }',
      (n: number) => ({ input: { quotas: quotas(n) } }),
    ],
  ])('may have a list of 100 items in a variable %s, and no more', async (_where, query, variables) => {
    expect((await callerFor(undefined).send(query, variables(100))).errors?.[0]?.extensions.issues?.[0]?.path).toMatch(
      /^input\./,
    );
    const { errors } = await callerFor(undefined).send(query, variables(101));
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.extensions.issues).toEqual([
      { path: expect.any(String), message: expect.stringContaining('101') },
    ]);
  });

  it('may try one credential, and no more', async () => {
    const tries = (n: number) => many(n, (i) => `t${i}: refreshToken(refreshToken: "x") { accessToken }`);
    expect((await of().anonymous.send(`mutation { ${tries(1)} }`)).errors?.[0]?.extensions.code).toBe(
      'UNAUTHENTICATED',
    );
    expect((await of().anonymous.send(`mutation { ${tries(2)} }`)).errors?.[0]?.extensions.code).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
  });

  // Expanding every spread would take minutes.
  it.each([
    ['under a field', `{ org { ...f0 } } ${bomb('Org', 30, 'name')}`],
    ['at the root', `{ ...f0 } ${bomb('Query', 30, '__typename')}`],
    ['that ends in a cycle', `{ ...f0 } ${bomb('Query', 28, '...f0')}`],
    ['that ends in a missing fragment', `{ ...f0 } ${bomb('Query', 28, '...gone')}`],
  ])('is refused quickly if it is a bomb of fragments %s', async (_what, query) => {
    const beganMs = performance.now();
    const { errors } = await callerFor(undefined).send(query);
    expect(performance.now() - beganMs).toBeLessThan(patience * 3000);
    expect(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']).toContain(errors?.[0]?.extensions.code);
  });

  it.each([
    ['of one', '{ ...A } fragment A on Query { ...A }'],
    [
      'of two, below a field',
      '{ org { ...A } } fragment A on Org { name ...B } fragment B on Org { app(appId: "a") { org { ...A } } }',
    ],
  ])('is refused for a cycle of fragments %s', async (_what, query) => {
    expect((await callerFor(undefined).send(query)).errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

const orgFields = 'name: "", timezone: "UTC", modelOrdering: [], quotas: []';

describe('the schema', () => {
  it('can be introspected in development', async () => {
    const { __schema } = await app.anonymous.ask<{ __schema: { types: unknown[] } }, never>(
      getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true }),
    );
    expect(__schema.types.length).toBeGreaterThan(10);
    expect((await app.anonymous.send('{ org { nam } }')).errors?.[0]?.message).toContain('Did you mean "name"');
  });

  it.each([
    ['the whole of it', getIntrospectionQuery()],
    ['a type', '{ __type(name: "Org") { name } }'],
    ['under an alias', '{ x: __schema { queryType { name } } }'],
    ['in a fragment', '{ ...A } fragment A on Query { __schema { queryType { name } } }'],
  ])('cannot be introspected in production: %s', async (_what, query) => {
    const answer = await production.admin.send(query);
    expect(answer.data ?? null).toBeNull();
    expect(new Set(answer.errors?.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['GRAPHQL_VALIDATION_FAILED']),
    );
    expect((await production.anonymous.send('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });

  it.each([
    ['a field', '{ org { nam } }', undefined],
    ['a root field', '{ orgz { name } }', undefined],
    ['an argument', '{ org(orgI: "x") { name } }', undefined],
    ['a type', 'query ($i: RegisterOrgInpu) { __typename }', undefined],
    ['an enum value', 'mutation { registerOrg(input: { quotaScope: APPP }) { org { name } } }', undefined],
    [
      'an enum value in a variable',
      `mutation ($s: QuotaScope!) { registerOrg(input: { quotaScope: $s, ${orgFields} }) { org { name } } }`,
      { s: 'APPP' },
    ],
    [
      'an input field in a variable',
      'mutation ($i: UpdateOrgInput!) { updateOrg(input: $i) { name } }',
      { i: { nam: 'x' } },
    ],
  ])('suggests nothing in production for a misspelt %s', async (_what, query, variables) => {
    const answer = await production.admin.send(query, variables);
    expect(answer.errors?.length).toBeGreaterThan(0);
    expect(JSON.stringify(answer.errors)).not.toMatch(/did you mean/i);
    expect(JSON.stringify((await app.admin.send(query, variables)).errors)).toMatch(/did you mean/i);
  });
});
