import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
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
  /** Sum over all field names of their occurrences squared: GraphQL's merge rule compares every pair of equal names. */
  equalFieldPairs: 10_000,
  complexity: 10_000,
  /** From here on an operation counts as a list, which is rejected first under load. */
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

/** An attacker would repeat these in one request to guess credentials. */
const credentialFields = new Set(['issueToken', 'refreshToken', 'retrieveSecret']);

/** Every bound that a parsed document exceeds. Introspection is exempt where it is on at all, because tools ask for more than users do. */
export function boundIssues(document: DocumentNode): string[] {
  const issues: string[] = [];
  const refuse = (what: string, found: number, max: number) => {
    if (found > max)
      issues.push(
        `the operation has ${what === 'depth' ? `depth ${found}` : `${found} ${what}`}; the maximum is ${max}`,
      );
  };
  const counted = countOutsideIntrospection(document);
  refuse('aliases', counted.aliases, bounds.aliases);
  refuse('directives', counted.directives, bounds.directives);
  refuse('pairs of fields with the same name', counted.equalFieldPairs, bounds.equalFieldPairs);
  if (counted.longestList > bounds.listItems)
    issues.push(`a list literal has ${counted.longestList} items; the maximum is ${bounds.listItems}`);
  if (counted.longestName > bounds.nameChars)
    issues.push(`a name has ${counted.longestName} characters; the maximum is ${bounds.nameChars}`);
  if (counted.longestLiteral > bounds.literalChars)
    issues.push(
      `a string literal has ${counted.longestLiteral} characters; the maximum is ${bounds.literalChars}: send it as a variable`,
    );
  const fragments = fragmentsOf(document);
  const depths = new Map<string, number>();
  for (const operation of document.definitions) {
    if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
    const roots = rootFields(operation.selectionSet, fragments, new Map());
    refuse('root fields', roots.length, bounds.rootFields);
    refuse('credential fields', roots.filter(({ name }) => credentialFields.has(name.value)).length, 1);
    // graphql-js throws where it should report: over the variable in its validation, over a skipped root when it subscribes.
    if (operation.operation === 'subscription' && isConditional(operation.selectionSet, fragments, new Set()))
      issues.push('the root field of a subscription must not have @skip or @include');
    refuse('depth', depthOf(operation.selectionSet, fragments, depths), bounds.depth);
  }
  return issues;
}

export const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions
      .filter((d): d is FragmentDefinitionNode => d.kind === Kind.FRAGMENT_DEFINITION)
      .map((d) => [d.name.value, d]),
  );

/** Whether a directive decides over a root field. */
function isConditional(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  seen: Set<string>,
): boolean {
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

interface Counts {
  aliases: number;
  directives: number;
  equalFieldPairs: number;
  longestList: number;
  longestName: number;
  longestLiteral: number;
}

function countOutsideIntrospection(document: DocumentNode): Counts {
  const counts: Counts = {
    aliases: 0,
    directives: 0,
    equalFieldPairs: 0,
    longestList: 0,
    longestName: 0,
    longestLiteral: 0,
  };
  const occurrences = new Map<string, number>();
  visit(document, {
    Name({ value }) {
      counts.longestName = Math.max(counts.longestName, value.length);
    },
    StringValue({ value }) {
      counts.longestLiteral = Math.max(counts.longestLiteral, value.length);
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
      counts.longestList = Math.max(counts.longestList, values.length);
    },
  });
  return counts;
}

/** The fields of the root, fragments opened: each once, and one field more than allowed is enough to know. */
function rootFields(
  selections: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, FieldNode[]>,
): FieldNode[] {
  const fields: FieldNode[] = [];
  for (const selection of selections.selections) {
    if (fields.length > bounds.rootFields) break;
    if (selection.kind === Kind.FIELD) fields.push(selection);
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      fields.push(...rootFields(selection.selectionSet, fragments, known));
    else {
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !known.has(name)) {
        known.set(name, []); // a cycle ends here; another rule refuses it
        known.set(name, rootFields(fragment.selectionSet, fragments, known));
      }
      fields.push(...(known.get(name) ?? []));
    }
  }
  return fields.slice(0, bounds.rootFields + 1);
}

/** Each fragment is measured once: opened at every spread, a few of them would make a billion steps. */
function depthOf(
  selections: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, number>,
): number {
  let deepest = 0;
  for (const selection of selections.selections) {
    if (selection.kind === Kind.FIELD) {
      const below =
        selection.selectionSet && !isIntrospection(selection) ? depthOf(selection.selectionSet, fragments, known) : 0;
      deepest = Math.max(deepest, 1 + below);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      deepest = Math.max(deepest, depthOf(selection.selectionSet, fragments, known));
    } else {
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !known.has(name)) {
        known.set(name, 0); // a cycle ends here; another rule refuses it
        known.set(name, depthOf(fragment.selectionSet, fragments, known));
      }
      deepest = Math.max(deepest, known.get(name) ?? 0);
    }
  }
  return deepest;
}
