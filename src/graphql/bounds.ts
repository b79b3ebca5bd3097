import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** Limits of one operation, the same for every transport. */
export const bounds = {
  depth: 10,
  aliases: 15,
  rootFields: 5,
  directives: 10,
  tokens: 1000,
  documentChars: 64 * 1024,
  nameChars: 128,
  literalChars: 8 * 1024,
  /**
   * Sum over all field names of their occurrences squared: the merge rule of GraphQL compares each pair of equal names.
   */
  equalFieldPairs: 10_000,
  complexity: 10_000,
  /** An operation of at least this complexity counts as a list. Lists are rejected first under load. */
  listComplexity: 50,
  listItems: 100,
  bodyBytes: 256 * 1024,
  errorBytes: 16 * 1024,
  frameBytes: 64 * 1024,
  socketOperations: 10,
  pendingSocketsPerAddress: 64,
  socketsPerAddress: 1024,
  socketsPerPrincipal: 512,
  bufferedBytes: 1024 * 1024,
} as const;

/** One per operation: an attacker would repeat them in one request to guess credentials. */
const credentialFields = new Set(['issueToken', 'refreshToken', 'retrieveSecret']);

/**
 * Every bound that a parsed document exceeds. Introspection is exempt (if it is enabled at all), because the queries of
 * tools are larger than those of users.
 */
export function boundIssues(document: DocumentNode): string[] {
  const fragments = fragmentsOf(document);
  const depths = new Map<string, number>();
  return [
    ...documentIssues(document),
    ...document.definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? operationIssues(definition, fragments, depths) : [],
    ),
  ];
}

const issueOver = (max: number, found: number, text: string): string[] =>
  found > max ? [`${text}; the maximum is ${max}`] : [];

function documentIssues(document: DocumentNode): string[] {
  const { aliases, directives, equalFieldPairs, listItems, nameChars, literalChars } =
    countOutsideIntrospection(document);
  const pairs = `${equalFieldPairs} pairs of fields with the same name`;
  return [
    ...issueOver(bounds.aliases, aliases, `the operation has ${aliases} aliases`),
    ...issueOver(bounds.directives, directives, `the operation has ${directives} directives`),
    ...issueOver(bounds.equalFieldPairs, equalFieldPairs, `the operation has ${pairs}`),
    ...issueOver(bounds.listItems, listItems, `a list literal has ${listItems} items`),
    ...issueOver(bounds.nameChars, nameChars, `a name has ${nameChars} characters`),
    ...issueOver(bounds.literalChars, literalChars, `a string literal has ${literalChars} characters`).map(
      (issue) => `${issue}: send it as a variable`,
    ),
  ];
}

function operationIssues(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  depths: Map<string, number>,
): string[] {
  const roots = rootFields(selectionSet, fragments, new Map());
  const credentials = roots.filter(({ name }) => credentialFields.has(name.value)).length;
  const depth = depthOf(selectionSet, fragments, depths);
  return [
    ...issueOver(bounds.rootFields, roots.length, `the operation has ${roots.length} root fields`),
    ...issueOver(1, credentials, `the operation has ${credentials} credential fields`),
    // graphql-js throws instead of reporting: in validation over the variable, when subscribing over a skipped root.
    ...(operation === 'subscription' && isConditional(selectionSet, fragments, new Set())
      ? ['the root field of a subscription must not have @skip or @include']
      : []),
    ...issueOver(bounds.depth, depth, `the operation has depth ${depth}`),
  ];
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export const fragmentsOf = (document: DocumentNode): Fragments =>
  new Map(
    document.definitions
      .filter((d): d is FragmentDefinitionNode => d.kind === Kind.FRAGMENT_DEFINITION)
      .map((d) => [d.name.value, d]),
  );

/** Whether a root field has @skip or @include. */
function isConditional({ selections }: SelectionSetNode, fragments: Fragments, seen: Set<string>): boolean {
  return selections.some((root) => {
    if (root.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include')) return true;
    if (root.kind === Kind.FIELD) return false;
    if (root.kind === Kind.INLINE_FRAGMENT) return isConditional(root.selectionSet, fragments, seen);
    const fragment = fragments.get(root.name.value);
    if (!fragment || seen.has(root.name.value)) return false;
    seen.add(root.name.value);
    return isConditional(fragment.selectionSet, fragments, seen);
  });
}

const isIntrospection = ({ name }: FieldNode): boolean => name.value === '__schema' || name.value === '__type';

/** The last three are those of the longest list literal, name and string literal. */
interface DocumentCounts {
  aliases: number;
  directives: number;
  equalFieldPairs: number;
  listItems: number;
  nameChars: number;
  literalChars: number;
}

function countOutsideIntrospection(document: DocumentNode): DocumentCounts {
  const counts: DocumentCounts = {
    aliases: 0,
    directives: 0,
    equalFieldPairs: 0,
    listItems: 0,
    nameChars: 0,
    literalChars: 0,
  };
  const occurrences = new Map<string, number>();
  visit(document, {
    Name({ value }) {
      counts.nameChars = Math.max(counts.nameChars, value.length);
    },
    StringValue({ value }) {
      counts.literalChars = Math.max(counts.literalChars, value.length);
    },
    Field(field) {
      const key = (field.alias ?? field.name).value;
      const before = occurrences.get(key) ?? 0;
      occurrences.set(key, before + 1);
      counts.equalFieldPairs += 2 * before + 1;
      if (isIntrospection(field)) return false;
      if (field.alias) counts.aliases++;
      return undefined;
    },
    Directive() {
      counts.directives++;
    },
    ListValue({ values }) {
      counts.listItems = Math.max(counts.listItems, values.length);
    },
  });
  return counts;
}

/** The root fields with fragments expanded, each fragment once. It stops at one field more than the bound. */
function rootFields(
  selections: SelectionSetNode,
  fragments: Fragments,
  expanded: Map<string, FieldNode[]>,
): FieldNode[] {
  const fields: FieldNode[] = [];
  for (const selection of selections.selections) {
    if (fields.length > bounds.rootFields) break;
    if (selection.kind === Kind.FIELD) fields.push(selection);
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      fields.push(...rootFields(selection.selectionSet, fragments, expanded));
    else {
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !expanded.has(name)) {
        expanded.set(name, []); // ends a cycle; validation rejects it
        expanded.set(name, rootFields(fragment.selectionSet, fragments, expanded));
      }
      fields.push(...(expanded.get(name) ?? []));
    }
  }
  return fields.slice(0, bounds.rootFields + 1);
}

/** Measures each fragment once: expanding every spread of a few fragments could take a billion steps. */
function depthOf(selections: SelectionSetNode, fragments: Fragments, depths: Map<string, number>): number {
  let deepest = 0;
  for (const selection of selections.selections) {
    if (selection.kind === Kind.FIELD) {
      const below =
        selection.selectionSet && !isIntrospection(selection) ? depthOf(selection.selectionSet, fragments, depths) : 0;
      deepest = Math.max(deepest, 1 + below);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      deepest = Math.max(deepest, depthOf(selection.selectionSet, fragments, depths));
    } else {
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !depths.has(name)) {
        depths.set(name, 0); // ends a cycle; validation rejects it
        depths.set(name, depthOf(fragment.selectionSet, fragments, depths));
      }
      deepest = Math.max(deepest, depths.get(name) ?? 0);
    }
  }
  return deepest;
}
