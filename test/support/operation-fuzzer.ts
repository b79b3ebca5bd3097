import {
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  type OperationTypeNode,
  parse,
  print,
  type SelectionSetNode,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import type { Chance } from './chance.js';

/** Valid values by the name of their argument or input field, or by `field.argument` if a name has several meanings. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

export interface FuzzOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface FuzzRequest {
  /** How it was made, for the message of a failure. */
  readonly about: string;
  /** As text, because some bodies are not JSON. */
  readonly body: string;
  /** The code that it must be refused with. Null: not a parse or validation code of GraphQL. Absent: any response. */
  readonly refusedAs?: string | null;
}

const parseFailed = 'GRAPHQL_PARSE_FAILED';
const validationFailed = 'GRAPHQL_VALIDATION_FAILED';
// Not imported from src, so that a bound that is changed by mistake is found.
const maxTokens = 1000;

/**
 * The code that graphql-js refuses a document with, if any. The only bound of the gateway that it knows is the tokens.
 */
function expectedRefusal(schema: GraphQLSchema, query: string): Pick<FuzzRequest, 'refusedAs'> {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens });
  } catch {
    return { refusedAs: parseFailed };
  }
  // The specification forbids conditional roots of subscriptions. graphql-js does not yet, or throws. So any response
  // will do, but there must be one.
  if (
    document.definitions.some(
      (d) => d.kind === Kind.OPERATION_DEFINITION && d.operation === 'subscription' && isConditional(d.selectionSet),
    )
  )
    return {};
  return { refusedAs: validate(schema, document, specifiedRules).length > 0 ? validationFailed : null };
}

/** Whether a root field has a directive. */
const isConditional = ({ selections }: SelectionSetNode): boolean =>
  selections.some(
    (root) =>
      (root.directives ?? []).length > 0 || (root.kind === Kind.INLINE_FRAGMENT && isConditional(root.selectionSet)),
  );

const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  'x'.repeat(2000),
  'é'.repeat(300),
  '\u202eright to left\u202c',
  'line\r\nbreak\ttab',
  '\u0000',
  'a\u0000b',
  '\u001b[31m',
  '\ud800',
  'a\udc00b',
  '💥',
  '\uffff',
  '__proto__',
  'constructor',
  'toString',
  'a#b',
  '#',
  'a/b',
  '/',
  '../..',
  '$SYSTEM',
  '$ORG',
  'a:b',
  'ﬀ',
  '%00',
  '"',
  '\\',
];
const oddInts = [0, 1, -1, 100, 101, 1001, 2 ** 31 - 1, -(2 ** 31)];
const oddWholes = [...oddInts, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1, 1e15];
const oddFloats = [...oddWholes, 0.5, -0.000001, 2 ** 53, 1e308, -1e308, 5e-324];
const oddInstants = [
  '1970-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '2026-02-28T23:59:59+14:00',
  '2000-02-29T12:00:00-12:00',
  '2100-01-01T00:00:00Z',
];
const oddDays = ['1970-01-01', '0001-01-01', '9999-12-31', '2024-02-29', '2100-12-31'];
const oddUuids = [
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF',
  '6f1f5f2e-7d1c-4c61-9d6e-0a7f7a3b1c2d',
];
const oddZones = ['UTC', 'Pacific/Kiritimati', 'America/St_Johns', 'Africa/Monrovia'];

const oddValues: Readonly<Record<string, readonly unknown[]>> = {
  String: oddTexts,
  ID: oddTexts,
  Int: oddInts,
  SafeInt: oddWholes,
  Float: oddFloats,
  Boolean: [true, false],
  DateTime: oddInstants,
  LocalDate: oddDays,
  UUID: oddUuids,
  TimeZone: oddZones,
};
/** Values that most types refuse. */
const misfits: readonly unknown[] = [
  '',
  'nonsense',
  '2026-13-45',
  '24:00',
  2 ** 31,
  2 ** 53,
  2 ** 64,
  1e308,
  -1,
  0.1,
  true,
  [],
  [[]],
  [null],
  {},
  JSON.parse('{"__proto__":1,"constructor":1}'),
  ...oddTexts,
];

// Each ends a credential, or tries one, which an operation may do only once.
const isCredentialField = (name: string): boolean => /token|secret/i.test(name);
/** Whether a mutation removes objects that later operations need. */
const isDestructive = (name: string): boolean => /^(delete|purge|revoke)/.test(name);

interface Draft {
  readonly definitions: string[];
  readonly fragments: string[];
  readonly variables: Record<string, unknown>;
  /** The probability of an odd value, and of one that does not fit its type. */
  readonly oddness: number;
  readonly misfit: number;
  /** The probability that an optional argument is given. */
  readonly fullness: number;
  fieldsLeft: number;
  aliasesLeft: number;
  directivesLeft: number;
}

/** Makes random operations of a schema. They depend only on `chance` and the known values. */
export class OperationFuzzer {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly chance: Chance,
    private readonly known: () => KnownValues,
  ) {}

  /** An operation within the bounds: at most 12 aliases, 6 directives, 3 root fields and 7 levels of fields. */
  operation(type: OperationTypeNode | 'query' | 'mutation' | 'subscription'): FuzzOperation {
    const { chance } = this;
    const draft: Draft = {
      definitions: [],
      fragments: [],
      variables: {},
      oddness: chance.one([0, 0, 0.05, 0.2, 0.6]),
      misfit: chance.one([0, 0, 0, 0.05, 0.2]),
      fullness: chance.one([0.1, 0.35, 0.7]),
      fieldsLeft: 5 + chance.below(30),
      aliasesLeft: chance.below(13),
      directivesLeft: chance.below(7),
    };
    const root = this.schema.getRootType(type as OperationTypeNode) as GraphQLObjectType;
    const roots = this.rootFields(root, type).map((field) =>
      this.field(field, 6, draft, new Set(), type === 'subscription' ? 0.1 : 1),
    );
    const selections = chance.hit(0.1) ? `... on ${root.name} { ${roots.join(' ')} }` : roots.join(' ');
    const head =
      draft.definitions.length > 0
        ? `${type} Fuzz(${draft.definitions.join(', ')})`
        : chance.hit(0.5)
          ? `${type} Fuzz`
          : type;
    return { query: `${head} { ${selections} } ${draft.fragments.join(' ')}`, variables: draft.variables };
  }

  private rootFields(root: GraphQLObjectType, type: string): GraphQLField<unknown, unknown>[] {
    const { chance } = this;
    const fields = Object.values(root.getFields());
    let first = chance.one(fields);
    while (isDestructive(first.name) && !chance.hit(0.2)) first = chance.one(fields);
    if (type === 'subscription' || isCredentialField(first.name) || !chance.hit(0.2)) return [first];
    return [
      first,
      ...fields.filter(
        ({ name }) =>
          name !== first.name && !isCredentialField(name) && !isDestructive(name) && chance.hit(1 / fields.length),
      ),
    ].slice(0, 3);
  }

  /**
   * One field with its arguments. `names`: the response names around it, including fragments, so that none conflict.
   */
  private field(
    field: GraphQLField<unknown, unknown>,
    depth: number,
    draft: Draft,
    names: Set<string>,
    directives = 1,
  ): string {
    const { chance } = this;
    let alias = '';
    if (draft.aliasesLeft > 0 && (names.has(field.name) || chance.hit(0.1))) {
      draft.aliasesLeft--;
      alias = `a${draft.aliasesLeft}`;
    }
    if (!alias && names.has(field.name)) return '__typename';
    names.add(alias || field.name);
    draft.fieldsLeft--;
    const args = field.args.filter(
      (arg) => isRequiredArgument(arg) || chance.hit(arg.name === 'first' ? 0.9 : draft.fullness),
    );
    const list = args.map((arg) => `${arg.name}: ${this.argument(arg, field.name, draft)}`).join(', ');
    const type = getNamedType(field.type);
    return [
      alias ? `${alias}: ${field.name}` : field.name,
      list ? `(${list})` : '',
      chance.hit(0.06 * directives) ? this.directive(draft) : '',
      isCompositeType(type) ? `{ ${this.selections(type, depth - 1, draft, new Set())} }` : '',
    ].join(' ');
  }

  private directive(draft: Draft): string {
    if (draft.directivesLeft <= 0) return '';
    draft.directivesLeft--;
    const value = this.chance.hit(0.5);
    const name = this.chance.one(['skip', 'include']);
    const condition = this.chance.hit(0.5) ? value : this.variable('Boolean!', value, draft);
    return `@${name}(if: ${condition})`;
  }

  private selections(type: GraphQLCompositeType, depth: number, draft: Draft, names: Set<string>): string {
    const { chance } = this;
    const parts: string[] = [];
    if (isAbstractType(type)) {
      for (const possible of this.schema.getPossibleTypes(type).filter(() => chance.hit(0.35)))
        parts.push(this.fragment(possible, depth, draft, names));
      if (isInterfaceType(type) && chance.hit(0.7)) parts.push(...this.fields(type, depth, draft, names));
    } else parts.push(...this.fields(type, depth, draft, names));
    if (depth > 0 && !isAbstractType(type) && chance.hit(0.1)) parts.push(this.fragment(type, depth, draft, names));
    if (parts.length === 0 || chance.hit(0.1)) parts.push('__typename');
    return parts.join(' ');
  }

  /** An inline or a named fragment. `names`: the response names around it. */
  private fragment(type: GraphQLCompositeType, depth: number, draft: Draft, names: Set<string>): string {
    const body = `{ ${'getFields' in type ? this.fields(type, depth, draft, names).join(' ') : '__typename'} }`;
    if (this.chance.hit(0.5)) return `... on ${type.name} ${this.chance.hit(0.1) ? this.directive(draft) : ''} ${body}`;
    const name = `F${draft.fragments.length}`;
    draft.fragments.push(`fragment ${name} on ${type.name} ${body}`);
    return this.chance.hit(0.1) ? `...${name} ...${name}` : `...${name}`;
  }

  private fields(
    type: Exclude<GraphQLCompositeType, { getTypes(): unknown }>,
    depth: number,
    draft: Draft,
    names: Set<string>,
  ): string[] {
    const all = Object.values(type.getFields());
    const open = depth > 0 && draft.fieldsLeft > 0 ? all : all.filter((field) => isLeafType(getNamedType(field.type)));
    if (open.length === 0) return ['__typename'];
    // Texts of tenants must not leak to others, so they are requested more often than other fields.
    const texts = open.filter(({ name }) => /^(name|friendlyName|description|value|sensors)$/.test(name));
    return Array.from({ length: 1 + this.chance.below(4) }, () =>
      this.field(this.chance.one(texts.length > 0 && this.chance.hit(0.3) ? texts : open), depth, draft, names),
    );
  }

  private argument(arg: GraphQLArgument, fieldName: string, draft: Draft): string {
    const byVariable = this.chance.hit(0.5);
    // A misfit in the text makes the document invalid, which tests less than a value that reaches a resolver.
    const value = this.value(
      arg.type,
      arg.name,
      fieldName,
      byVariable || this.chance.hit(0.1) ? draft : { ...draft, misfit: 0 },
    );
    if (!byVariable) return this.literal(value, arg.type);
    const stricter = !isNonNullType(arg.type) && this.chance.hit(0.1) ? '!' : '';
    return this.variable(`${arg.type}${stricter}`, value, draft);
  }

  private variable(type: string, value: unknown, draft: Draft): string {
    const name = `v${draft.definitions.length}`;
    draft.definitions.push(`$${name}: ${type}`);
    draft.variables[name] = value;
    return `$${name}`;
  }

  private value(
    type: GraphQLInputType,
    name: string,
    within: string,
    draft: Pick<Draft, 'oddness' | 'misfit' | 'fullness'>,
  ): unknown {
    const { chance } = this;
    if (chance.hit(draft.misfit)) return chance.one(misfits);
    if (isNonNullType(type))
      return this.value(type.ofType, name, within, draft) ?? this.value(type, name, within, draft);
    if (chance.hit(0.05)) return null;
    if (isListType(type)) {
      const length = chance.hit(draft.oddness / 4) ? chance.one([0, 20]) : chance.one([1, 1, 2, 3]);
      const items = Array.from({ length }, () => this.value(type.ofType, name, within, draft));
      // Most lists refuse duplicates before they check anything else.
      return chance.hit(draft.oddness)
        ? items
        : [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
    }
    if (isEnumType(type)) return chance.one(type.getValues()).name;
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter(
        (field: GraphQLInputField) => isRequiredInputField(field) || chance.hit(draft.fullness),
      );
      return Object.fromEntries(fields.map((field) => [field.name, this.value(field.type, field.name, within, draft)]));
    }
    const known = this.known();
    const good = known[`${within}.${name}`] ?? known[name];
    return good && !chance.hit(draft.oddness) ? chance.one(good) : chance.one(oddValues[type.name] ?? oddTexts);
  }

  /** A value as a literal of a document. */
  private literal(value: unknown, type: GraphQLInputType): string {
    const inner = isNonNullType(type) ? type.ofType : type;
    if (Array.isArray(value))
      return `[${value.map((item) => this.literal(item, isListType(inner) ? inner.ofType : inner)).join(', ')}]`;
    if (typeof value === 'object' && value !== null) {
      const fields = isInputObjectType(inner) ? inner.getFields() : {};
      return `{${Object.entries(value)
        .map(([name, entry]) => `${name}: ${this.literal(entry, fields[name]?.type ?? inner)}`)
        .join(', ')}}`;
    }
    return isEnumType(inner) && typeof value === 'string' && /^\w+$/.test(value) ? value : JSON.stringify(value);
  }

  /** A valid operation as a request. */
  valid(type: 'query' | 'mutation' | 'subscription'): FuzzRequest {
    const { query, variables } = this.operation(type);
    return { about: `a ${type}`, body: JSON.stringify({ query, variables }), ...expectedRefusal(this.schema, query) };
  }

  /** An invalid operation, or a body that is not an operation. */
  invalid(type: 'query' | 'mutation' | 'subscription'): FuzzRequest {
    const operation = this.operation(type);
    const { chance } = this;
    const [about, make] = chance.one([
      ...Object.entries(this.brokenDocuments),
      ...Object.entries(this.overBounds),
      ...Object.entries(this.brokenBodies),
    ]);
    if (Object.hasOwn(this.brokenBodies, about)) return { about, body: make(operation) };
    const query = make(operation);
    const body = JSON.stringify({ query, variables: operation.variables });
    if (Object.hasOwn(this.overBounds, about))
      return { about, body, refusedAs: about === 'too many tokens' ? parseFailed : validationFailed };
    return { about, body, ...(query === '' ? {} : expectedRefusal(this.schema, query)) };
  }

  /** Changes a random node of a kind. A document without such a node, or that does not parse, is garbled instead. */
  private edit(query: string, kind: Kind, change: (node: never) => ASTNode): string {
    let document: DocumentNode;
    try {
      document = parse(query);
    } catch {
      return this.garble(query);
    }
    let count = 0;
    visit(document, { enter: (node) => void (node.kind === kind && count++) });
    if (count === 0) return this.garble(query);
    const chosen = this.chance.below(count);
    let seen = 0;
    return print(
      visit(document, {
        enter: (node) => (node.kind === kind && seen++ === chosen ? change(node as never) : undefined),
      }) as DocumentNode,
    );
  }

  private garble(text: string): string {
    const { chance } = this;
    let garbled = text;
    for (let i = 1 + chance.below(4); i > 0; i--) {
      const at = chance.below(garbled.length + 1);
      const inserted = chance.hit(0.5)
        ? chance.one([
            '{',
            '}',
            '(',
            ')',
            '$',
            '@',
            '...',
            '"',
            '"""',
            ':',
            '!',
            '#',
            '&',
            '\u0000',
            '\ufeff',
            '💥',
            '\ud800',
            '0',
            '-',
            'x',
          ])
        : '';
      garbled = garbled.slice(0, at) + inserted + garbled.slice(at + chance.below(3));
    }
    return garbled;
  }

  private readonly brokenDocuments: Readonly<Record<string, (operation: FuzzOperation) => string>> = {
    'unknown field': ({ query }) =>
      this.edit(
        query,
        Kind.SELECTION_SET,
        (node: { selections: readonly unknown[] }) =>
          ({ ...node, selections: [...node.selections, nameField('nope')] }) as unknown as ASTNode,
      ),
    'unknown argument': ({ query }) =>
      this.edit(
        query,
        Kind.FIELD,
        (node: object) => ({ ...node, arguments: [argumentNode('nope', '1')] }) as unknown as ASTNode,
      ),
    'no arguments': ({ query }) =>
      this.edit(query, Kind.FIELD, (node: object) => ({ ...node, arguments: [] }) as unknown as ASTNode),
    'no selections': ({ query }) =>
      this.edit(query, Kind.FIELD, (node: object) => ({ ...node, selectionSet: undefined }) as unknown as ASTNode),
    'another type of variable': ({ query }) =>
      this.edit(query, Kind.VARIABLE_DEFINITION, (node: object) => {
        const name = this.chance.one(['Int', 'String', 'UUID', 'Org', 'Nope', 'AcquireInput', 'SensorMetric']);
        return {
          ...node,
          type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
        } as unknown as ASTNode;
      }),
    'undefined variable': ({ query }) =>
      this.edit(
        query,
        Kind.FIELD,
        (node: object) => ({ ...node, directives: [directiveNode('include', '$nope')] }) as unknown as ASTNode,
      ),
    'unknown directive': ({ query }) =>
      this.edit(
        query,
        Kind.FIELD,
        (node: object) => ({ ...node, directives: [directiveNode('nope', 'true')] }) as unknown as ASTNode,
      ),
    'repeated directive': ({ query }) =>
      this.edit(
        query,
        Kind.FIELD,
        (node: object) =>
          ({
            ...node,
            directives: [directiveNode('skip', 'true'), directiveNode('skip', 'false')],
          }) as unknown as ASTNode,
      ),
    'skipped field': ({ query }) =>
      this.edit(
        query,
        Kind.FIELD,
        (node: object) => ({ ...node, directives: [directiveNode('skip', 'true')] }) as unknown as ASTNode,
      ),
    'unused fragment': ({ query }) => `${query} fragment Unused on Org { id }`,
    'unknown fragment': ({ query }) => query.replace('{', '{ ...Nope '),
    'cyclic fragments': ({ query }) =>
      [
        query.replace('{', '{ ...A '),
        `fragment A on ${this.chance.one(['Query', 'Mutation', 'Subscription'])} { ...B }`,
        'fragment B on Query { ...A }',
      ].join(' '),
    'fragment on an unknown type': ({ query }) => query.replace('{', '{ ... on Nope { id } '),
    'two operations of one name': () => 'query Fuzz { __typename } query Fuzz { __typename }',
    'several operations and no name': () => 'query A { __typename } query B { __typename }',
    introspection: () =>
      this.chance.one([
        getIntrospectionQuery(),
        '{ __type(name: "Org") { name fields { name } } }',
        '{ __type(name: "\\u0000") { name } }',
      ]),
    'definitions of a schema': ({ query }) => `${query} type Nope { id: ID }`,
    garble: ({ query }) => this.garble(query),
    nothing: () => this.chance.one(['', ' ', '#', '\ufeff', '{', '{}', 'query', 'null', '{ __typename']),
  };

  /** Documents that are valid for graphql-js and exceed a bound of the gateway. */
  private readonly overBounds: Readonly<Record<string, () => string>> = {
    'too deep': () => `{ me { ${'org { app(appId: "chat") { '.repeat(6)} name ${' } }'.repeat(6)} } }`,
    'too deep in fragments': () =>
      [
        '{ me { org { ...F0 } } }',
        ...Array.from({ length: 6 }, (_, i) => {
          const inner = i < 5 ? `...F${i + 1}` : 'name';
          return `fragment F${i} on Org { app(appId: "chat") { org { ${inner} } } }`;
        }),
      ].join(' '),
    'too many aliases': () =>
      `{ me { ${Array.from({ length: 16 + this.chance.below(60) }, (_, i) => `a${i}: kind`).join(' ')} } }`,
    'too many root fields': () =>
      `{ ${Array.from({ length: 6 + this.chance.below(9) }, (_, i) => `a${i}: __typename`).join(' ')} }`,
    'too many directives': () => `{ me { ${'kind @include(if: true) '.repeat(11 + this.chance.below(20))} } }`,
    'too many tokens': () => `{ me { ${'kind '.repeat(1000 + this.chance.below(2000))} } }`,
    'too long a list': () => {
      const consume = '{limit: "rpm", amount: 1} '.repeat(101);
      return `{ availability(entityId: "user-1", resource: "api", consume: [${consume}]) { retryAfterSecs } }`;
    },
    'two guesses at once': () =>
      'mutation { a: retrieveSecret(token: "a") { clientId } b: refreshToken(refreshToken: "b") { tokenType } }',
  };

  private readonly brokenBodies: Readonly<Record<string, (operation: FuzzOperation) => string>> = {
    'an unknown operationName': (operation) =>
      JSON.stringify({
        ...operation,
        operationName: this.chance.one(['Nope', '__proto__', 'constructor', '\u0000', ' ', 'x'.repeat(5000)]),
      }),
    'an operationName of another kind': (operation) =>
      JSON.stringify({ ...operation, operationName: this.chance.one<unknown>([1, true, [], {}]) }),
    'variables of another kind': (operation) =>
      JSON.stringify({ ...operation, variables: this.chance.one<unknown>([[], [1], 'x', 7, true, '{}']) }),
    'no variables': ({ query }) => JSON.stringify({ query, ...(this.chance.hit(0.5) ? { variables: null } : {}) }),
    'misfit variables': ({ query, variables }) =>
      JSON.stringify({
        query,
        variables: Object.fromEntries(
          Object.keys(variables).map((name) => [
            name,
            this.chance.hit(0.5) ? this.chance.one(misfits) : variables[name],
          ]),
        ),
      }),
    'odd names of variables': ({ query, variables }) => {
      const odd = `"__proto__":{"a":1},"constructor":[],"":null,${JSON.stringify(variables).slice(1)}`;
      return `{"query":${JSON.stringify(query)},"variables":{${odd}`.replace(',}', '}');
    },
    'a long list in the variables': ({ query, variables }) =>
      JSON.stringify({ query, variables: { ...variables, more: Array(101).fill(0) } }),
    'deep variables': ({ query }) =>
      `{"query":${JSON.stringify(query)},"variables":{"v0":${'['.repeat(3000)}${']'.repeat(3000)}}}`,
    extensions: (operation) =>
      JSON.stringify({
        ...operation,
        extensions: this.chance.one<unknown>([
          {},
          null,
          { persistedQuery: { version: 1, sha256Hash: 'x' } },
          { persistedQuery: 7 },
          'x',
          [1],
        ]),
      }),
    'random JSON': () => JSON.stringify(this.json(4)),
    'a random query': () =>
      JSON.stringify({ query: this.json(2), variables: this.json(3), operationName: this.json(1) }),
    'a batch': (operation) => JSON.stringify([operation, operation]),
    'garbled JSON': (operation) => this.garble(JSON.stringify(operation)),
    'truncated JSON': (operation) => JSON.stringify(operation).slice(0, -1 - this.chance.below(20)),
  };

  private json(depth: number): unknown {
    const { chance } = this;
    const kind = chance.below(depth > 0 ? 6 : 4);
    if (kind === 0) return null;
    if (kind === 1) return chance.hit(0.5);
    if (kind === 2) return chance.one(oddFloats);
    if (kind === 3) return chance.one(oddTexts);
    const items = Array.from({ length: chance.below(5) }, () => this.json(depth - 1));
    return kind === 4
      ? items
      : Object.fromEntries(
          items.map((item) => [
            chance.one(['query', 'variables', 'operationName', 'extensions', '__proto__', ...oddTexts]),
            item,
          ]),
        );
  }
}

const nameField = (name: string) => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } });
const valueNode = (text: string) =>
  text.startsWith('$')
    ? { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: text.slice(1) } }
    : text === 'true' || text === 'false'
      ? { kind: Kind.BOOLEAN, value: text === 'true' }
      : { kind: Kind.INT, value: text };
const argumentNode = (name: string, text: string) => ({
  kind: Kind.ARGUMENT,
  name: { kind: Kind.NAME, value: name },
  value: valueNode(text),
});
const directiveNode = (name: string, text: string) => ({
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: name },
  arguments: [argumentNode('if', text)],
});
