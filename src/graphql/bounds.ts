import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';
import { badInput } from '../lib/errors.js';

/** What one operation may ask for, whatever transport it comes by. */
export const bounds = {
  depth: 10,
  aliases: 15,
  rootFields: 5,
  directives: 10,
  tokens: 1000,
  complexity: 10_000,
  /** From here on an operation counts as a list, which goes first when there is too much to do. */
  listComplexity: 50,
  listItems: 100,
  bodyBytes: 256 * 1024,
  frameBytes: 64 * 1024,
  operationMs: 5000,
  socketOperations: 10,
  bufferedBytes: 1024 * 1024,
} as const;

/** Guessing these is what an attacker would want to do many times in one request. */
const credentialFields = new Set(['issueToken', 'refreshToken', 'retrieveSecret']);

/** Refuses documents past the bounds. Introspection is exempt where it is on at all: tools ask for more than users do. */
export const boundsRule: ValidationRule = (context: ValidationContext): ASTVisitor => ({
  Document(document) {
    const fragments = new Map(
      document.definitions.filter((d): d is FragmentDefinitionNode => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => [d.name.value, d]),
    );
    const refuse = (what: string, found: number, most: number) => {
      if (found > most)
        context.reportError(new GraphQLError(`the operation has ${what === 'depth' ? `depth ${found}` : `${found} ${what}`}, more than the ${most} allowed`));
    };
    const counted = countOutsideIntrospection(document);
    refuse('aliases', counted.aliases, bounds.aliases);
    refuse('directives', counted.directives, bounds.directives);
    if (counted.longestList > bounds.listItems)
      context.reportError(new GraphQLError(`a list of ${counted.longestList} items, more than the ${bounds.listItems} allowed`));
    const depths = new Map<string, number>();
    for (const operation of document.definitions) {
      if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
      const roots = rootFields(operation.selectionSet, fragments, new Map());
      refuse('root fields', roots.length, bounds.rootFields);
      refuse('credential fields', roots.filter(({ name }) => credentialFields.has(name.value)).length, 1);
      // graphql-js throws where it should refuse: over the variable in its validation, over a root left out when it subscribes.
      if (operation.operation === 'subscription' && isConditional(operation.selectionSet, fragments, new Set()))
        throw new GraphQLError('the root of a subscription takes no @skip and no @include', { nodes: operation });
      refuse('depth', depthOf(operation.selectionSet, fragments, depths), bounds.depth);
    }
  },
});

/** Whether a directive decides over a root field. */
function isConditional({ selections }: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>, seen: Set<string>): boolean {
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

function countOutsideIntrospection(document: DocumentNode): { aliases: number; directives: number; longestList: number } {
  const counted = { aliases: 0, directives: 0, longestList: 0 };
  visit(document, {
    Field(field) {
      if (isIntrospection(field)) return false;
      if (field.alias) counted.aliases++;
      return undefined;
    },
    Directive() {
      counted.directives++;
    },
    ListValue({ values }) {
      counted.longestList = Math.max(counted.longestList, values.length);
    },
  });
  return counted;
}

/** The fields of the root, fragments opened: each once, and one field more than allowed is enough to know. */
function rootFields(selections: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>, known: Map<string, FieldNode[]>): FieldNode[] {
  const fields: FieldNode[] = [];
  for (const selection of selections.selections) {
    if (fields.length > bounds.rootFields) break;
    if (selection.kind === Kind.FIELD) fields.push(selection);
    else if (selection.kind === Kind.INLINE_FRAGMENT) fields.push(...rootFields(selection.selectionSet, fragments, known));
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
function depthOf(selections: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>, known: Map<string, number>): number {
  let deepest = 0;
  for (const selection of selections.selections) {
    if (selection.kind === Kind.FIELD) {
      const below = selection.selectionSet && !isIntrospection(selection) ? depthOf(selection.selectionSet, fragments, known) : 0;
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

type Variables = Readonly<Record<string, unknown>>;

/** The static complexity of a valid operation with these variables: 1 per field, times `first` below a connection. Throws if a list is too long. */
export function staticCost(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number {
  const longest = longestArray(variables);
  if (longest > bounds.listItems) throw badInput({ path: 'variables', message: `a list of ${longest} items, more than the ${bounds.listItems} allowed` });
  return fixedCosts.get(operation) ?? complexity(schema, document, operation, variables);
}

/** Fields that may read thousands of items for one answer. */
const heavyFields: ReadonlyMap<string, number> = new Map([
  ['Device.series', 500],
  ['Org.resourceCapacity', 500],
  ['Org.resourceUsage', 500],
  ['Entity.usage', 50],
  ['Org.spendHistory', 50],
  ['App.spendHistory', 50],
  ['Org.clients', 20],
  ['App.clients', 20],
]);

// Costs of operations that no variable can change, for as long as their documents are remembered.
const fixedCosts = new WeakMap<OperationDefinitionNode, number>();

/** Whether it is known to be a list, whatever its variables. */
export const isKnownList = (operation: OperationDefinitionNode): boolean => (fixedCosts.get(operation) ?? 0) >= bounds.listComplexity;

export function complexity(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number {
  const fragments = new Map(document.definitions.filter((d): d is FragmentDefinitionNode => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => [d.name.value, d]));
  const defaults = new Map(operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]));
  const known = new Map<string, number>();
  let isFixed = true;

  const pageSize = (field: FieldNode, parent: GraphQLObjectType): number => {
    const argument = parent.getFields?.()[field.name.value]?.args.find(({ name }) => name === 'first');
    if (!argument) return 1;
    const given = field.arguments?.find(({ name }) => name.value === 'first')?.value;
    if (given?.kind === Kind.VARIABLE) isFixed = false;
    const literal = given?.kind === Kind.VARIABLE ? defaults.get(given.name.value) : given;
    const value =
      given?.kind === Kind.VARIABLE && Object.hasOwn(variables, given.name.value) && variables[given.name.value] !== undefined
        ? variables[given.name.value]
        : literal?.kind === Kind.INT
          ? Number(literal.value)
          : undefined;
    return Math.max(1, typeof value === 'number' ? value : Number(argument.defaultValue ?? 1));
  };
  const costOf = (selections: SelectionSetNode, parent: GraphQLObjectType): number => {
    let cost = 0;
    for (const selection of selections.selections) {
      if (selection.kind === Kind.FIELD) {
        cost += heavyFields.get(`${parent.name}.${selection.name.value}`) ?? 1;
        const type = getNamedType(parent.getFields?.()[selection.name.value]?.type);
        if (selection.selectionSet && isCompositeType(type)) cost += pageSize(selection, parent) * costOf(selection.selectionSet, type as GraphQLObjectType);
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
      if (!fragment) continue;
      const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
      const type = (condition ?? parent) as GraphQLObjectType;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        cost += costOf(fragment.selectionSet, type);
        continue;
      }
      const name = selection.name.value;
      if (!known.has(name)) {
        known.set(name, 0);
        known.set(name, costOf(fragment.selectionSet, type));
      }
      cost += known.get(name) ?? 0;
    }
    return cost;
  };
  const root = schema.getRootType(operation.operation);
  const cost = root ? costOf(operation.selectionSet, root) : 0;
  if (isFixed) fixedCosts.set(operation, cost);
  return cost;
}

function longestArray(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > 20) return 0;
  let longest = Array.isArray(value) ? value.length : 0;
  for (const entry of Object.values(value)) longest = Math.max(longest, longestArray(entry, depth + 1));
  return longest;
}
