import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { badInput } from '../lib/errors.js';
import { bounds, fragmentsOf } from './bounds.js';

type Variables = Readonly<Record<string, unknown>>;

/** The static complexity of a valid operation with these variables. Throws if a list among the variables is too long. */
export function staticCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number {
  const longest = longestArray(variables);
  if (longest > bounds.listItems)
    throw badInput({ path: 'variables', message: `a list has ${longest} items; the maximum is ${bounds.listItems}` });
  return fixedCosts.get(operation) ?? complexity(schema, document, operation, variables);
}

/** Fields that may read thousands of items for one answer. */
const heavyFields: ReadonlyMap<string, number> = new Map([
  ['Device.series', 100],
  ['Org.resourceCapacity', 500],
  ['Org.resourceUsage', 500],
  ['Org.topEntities', 500],
  ['Org.limitConfigs', 100],
  ['Entity.buckets', 10],
  ['Entity.usage', 50],
  ['Org.spendHistory', 50],
  ['App.spendHistory', 50],
  ['Org.clients', 20],
  ['App.clients', 20],
]);

// Costs of operations that no variable can change, for as long as their documents are cached.
const fixedCosts = new WeakMap<OperationDefinitionNode, number>();

/** Whether it is known to be a list, whatever its variables. */
export const isKnownList = (operation: OperationDefinitionNode): boolean =>
  (fixedCosts.get(operation) ?? 0) >= bounds.listComplexity;

/** 1 per field; what stands below the nodes of a connection counts times `first`, its plumbing (`pageInfo`, `cursor`) once. */
export function complexity(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number {
  const fragments = fragmentsOf(document);
  const defaults = new Map(
    operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  );
  const measured = new Map<string, number>();
  let isFixed = true;

  /** An argument's value as far as it is known before execution; undefined if it is absent. */
  const argumentOf = (field: FieldNode, name: string): unknown => {
    const given = field.arguments?.find((argument) => argument.name.value === name)?.value;
    const variable = given?.kind === Kind.VARIABLE ? given.name.value : undefined;
    if (variable !== undefined) isFixed = false;
    if (variable !== undefined && Object.hasOwn(variables, variable) && variables[variable] !== undefined)
      return variables[variable];
    const literal = variable === undefined ? given : defaults.get(variable);
    return literal?.kind === Kind.INT ? Number(literal.value) : literal?.kind === Kind.ENUM ? literal.value : undefined;
  };
  const pageSize = (field: FieldNode, parent: GraphQLObjectType): number => {
    const argument = parent.getFields?.()[field.name.value]?.args.find(({ name }) => name === 'first');
    if (!argument) return 1;
    const value = argumentOf(field, 'first');
    return Math.max(1, typeof value === 'number' ? value : Number(argument.defaultValue ?? 1));
  };
  /** An exact read of spend counts as a list whatever it finds: it charges its shards as it reads, and must stop when it times out. */
  const ownCost = (field: FieldNode, parent: GraphQLObjectType): number =>
    argumentOf(field, 'consistency') === 'EXACT'
      ? bounds.listComplexity
      : (heavyFields.get(`${parent.name}.${field.name.value}`) ?? 1);
  /** `page`: how many nodes the connection around these selections has. */
  const costOf = (selections: SelectionSetNode, parent: GraphQLObjectType, page: number): number => {
    let cost = 0;
    for (const selection of selections.selections) {
      if (selection.kind === Kind.FIELD) cost += fieldCost(selection, parent, page);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition && schema.getType(selection.typeCondition.name.value);
        cost += costOf(selection.selectionSet, (condition ?? parent) as GraphQLObjectType, page);
      } else cost += fragmentCost(selection.name.value, page);
    }
    return cost;
  };
  const fieldCost = (field: FieldNode, parent: GraphQLObjectType, page: number): number => {
    const cost = ownCost(field, parent);
    const type = getNamedType(parent.getFields?.()[field.name.value]?.type);
    if (!field.selectionSet || !isCompositeType(type)) return cost;
    const below = type as GraphQLObjectType;
    if (isPlumbing(parent))
      return (
        cost + (isNode(field) ? page * costOf(field.selectionSet, below, 1) : costOf(field.selectionSet, below, page))
      );
    const first = pageSize(field, parent);
    return (
      cost +
      (isPlumbing(below) ? costOf(field.selectionSet, below, first) : first * costOf(field.selectionSet, below, 1))
    );
  };
  // Each fragment is measured once: opened at every spread, a few of them would take a billion steps.
  const fragmentCost = (name: string, page: number): number => {
    const fragment = fragments.get(name);
    const key = `${page} ${name}`;
    if (fragment && !measured.has(key)) {
      measured.set(key, 0); // a cycle ends here; validation rejects it
      measured.set(
        key,
        costOf(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value) as GraphQLObjectType, page),
      );
    }
    return measured.get(key) ?? 0;
  };
  const root = schema.getRootType(operation.operation);
  const cost = root ? costOf(operation.selectionSet, root, 1) : 0;
  if (isFixed) fixedCosts.set(operation, cost);
  return cost;
}

/** The types of a page around its nodes. */
const isPlumbing = ({ name }: GraphQLObjectType): boolean => name.endsWith('Connection') || name.endsWith('Edge');
const isNode = ({ name }: FieldNode): boolean => name.value === 'nodes' || name.value === 'node';

function longestArray(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > 20) return 0;
  let longest = Array.isArray(value) ? value.length : 0;
  for (const entry of Object.values(value)) longest = Math.max(longest, longestArray(entry, depth + 1));
  return longest;
}
