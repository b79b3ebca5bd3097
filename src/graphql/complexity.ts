import {
  type ConstValueNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { bounds, fragmentsOf } from './bounds.js';

export type Variables = Readonly<Record<string, unknown>>;

export interface Complexity {
  readonly cost: number;
  /** Whether the cost is the same with any variables. */
  readonly isFixed: boolean;
}

/**
 * The static complexity of a valid operation: 1 per field. Fields below the nodes of a connection count times `first`;
 * the fields of the page around them (`pageInfo`, `cursor`) count once.
 */
export const complexity = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): Complexity => new ComplexityCounter(schema, document, operation, variables).count();

/** Fields that may read thousands of items for one response. */
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
  ['Org.spendSeries', 50],
  ['App.spendSeries', 50],
  ['Org.spendBreakdown', 100],
  ['Org.costs', 10],
  ['App.costs', 10],
  ['Budget.forecast', 50],
  ['Org.clients', 20],
  ['App.clients', 20],
]);

class ComplexityCounter {
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  private readonly defaults: ReadonlyMap<string, ConstValueNode | undefined>;
  private readonly fragmentCosts = new Map<string, number>();
  private isFixed = true;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
    private readonly variables: Variables,
  ) {
    this.fragments = fragmentsOf(document);
    this.defaults = new Map(
      operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
    );
  }

  count(): Complexity {
    const root = this.schema.getRootType(this.operation.operation);
    const cost = root ? this.selectionCost(this.operation.selectionSet, root, 1) : 0;
    return { cost, isFixed: this.isFixed };
  }

  /** `pageSize`: the number of nodes of the connection around these selections. */
  private selectionCost({ selections }: SelectionSetNode, parent: GraphQLObjectType, pageSize: number): number {
    let cost = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) cost += this.fieldCost(selection, parent, pageSize);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition && this.schema.getType(selection.typeCondition.name.value);
        cost += this.selectionCost(selection.selectionSet, (condition ?? parent) as GraphQLObjectType, pageSize);
      } else cost += this.fragmentCost(selection.name.value, pageSize);
    }
    return cost;
  }

  private fieldCost(field: FieldNode, parent: GraphQLObjectType, pageSize: number): number {
    const { selectionSet } = field;
    const cost = this.ownCost(field, parent);
    const type = getNamedType(parent.getFields?.()[field.name.value]?.type);
    if (!selectionSet || !isCompositeType(type)) return cost;
    const child = type as GraphQLObjectType;
    if (isPageType(parent))
      return (
        cost +
        (isNodeField(field)
          ? pageSize * this.selectionCost(selectionSet, child, 1)
          : this.selectionCost(selectionSet, child, pageSize))
      );
    const first = this.firstOf(field, parent);
    return (
      cost +
      (isPageType(child)
        ? this.selectionCost(selectionSet, child, first)
        : first * this.selectionCost(selectionSet, child, 1))
    );
  }

  /**
   * Measures each fragment once per page size: expanding every spread of a few fragments could take a billion steps.
   */
  private fragmentCost(name: string, pageSize: number): number {
    const fragment = this.fragments.get(name);
    const key = `${pageSize} ${name}`;
    if (fragment && !this.fragmentCosts.has(key)) {
      this.fragmentCosts.set(key, 0); // ends a cycle; validation rejects it
      const type = this.schema.getType(fragment.typeCondition.name.value) as GraphQLObjectType;
      this.fragmentCosts.set(key, this.selectionCost(fragment.selectionSet, type, pageSize));
    }
    return this.fragmentCosts.get(key) ?? 0;
  }

  /**
   * An exact read of spend counts as a list whatever it finds: it charges its shards as it reads, and must stop when it
   * times out.
   */
  private ownCost(field: FieldNode, parent: GraphQLObjectType): number {
    return this.argument(field, 'consistency') === 'EXACT'
      ? bounds.listComplexity
      : (heavyFields.get(`${parent.name}.${field.name.value}`) ?? 1);
  }

  private firstOf(field: FieldNode, parent: GraphQLObjectType): number {
    const first = parent.getFields?.()[field.name.value]?.args.find(({ name }) => name === 'first');
    if (!first) return 1;
    const value = this.argument(field, 'first');
    return Math.max(1, typeof value === 'number' ? value : Number(first.defaultValue ?? 1));
  }

  /** The value of an argument before execution; undefined if it is absent. */
  private argument(field: FieldNode, name: string): unknown {
    const given = field.arguments?.find((argument) => argument.name.value === name)?.value;
    if (given?.kind !== Kind.VARIABLE) return literalValue(given);
    this.isFixed = false;
    const variable = given.name.value;
    const value = Object.hasOwn(this.variables, variable) ? this.variables[variable] : undefined;
    return value === undefined ? literalValue(this.defaults.get(variable)) : value;
  }
}

const literalValue = (literal: { readonly kind: Kind; readonly value?: unknown } | undefined): unknown =>
  literal?.kind === Kind.INT ? Number(literal.value) : literal?.kind === Kind.ENUM ? literal.value : undefined;

/** The types of a page around its nodes. */
const isPageType = ({ name }: GraphQLObjectType): boolean => name.endsWith('Connection') || name.endsWith('Edge');
const isNodeField = ({ name }: FieldNode): boolean => name.value === 'nodes' || name.value === 'node';

/** The length of the longest list in a JSON value. */
export function maxListLength(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > 20) return 0;
  let max = Array.isArray(value) ? value.length : 0;
  for (const entry of Object.values(value)) max = Math.max(max, maxListLength(entry, depth + 1));
  return max;
}
