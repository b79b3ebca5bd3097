import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { fragmentsOf } from './bounds.js';

/** The number of fields with every fragment expanded: what compiling costs in time and memory. */
export function fieldCount(document: DocumentNode, { selectionSet }: OperationDefinitionNode): number {
  const fragments = fragmentsOf(document);
  // Each fragment is counted once: fragments that spread each other could expand to millions of fields.
  const counts = new Map<string, number>();
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1 + (selection.selectionSet ? count(selection.selectionSet) : 0);
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + count(selection.selectionSet);
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !counts.has(name)) counts.set(name, count(fragment.selectionSet));
      return sum + (counts.get(name) ?? 0);
    }, 0);
  return count(selectionSet);
}

/**
 * Whether compiled code returns the same result as graphql-js. Operations that need a known difference are excluded.
 */
export function isCompilable(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
): boolean {
  const hasInputObject = variableDefinitions.some(({ type }) =>
    isInputObjectType(getNamedType(typeFromAST(schema, type as never) as never)),
  );
  return (
    operation === 'query' &&
    !hasInputObject &&
    document.definitions.every(({ kind }) => kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION) &&
    !usesKnownDifference(schema, document)
  );
}

function usesKnownDifference(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isDifferent = false;
  const differs = () => {
    isDifferent = true;
    return undefined;
  };
  let literalDepth = 0;
  const literal = { enter: () => void literalDepth++, leave: () => void literalDepth-- };
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive: differs,
      Field({ name, alias, selectionSet }) {
        if (name.value === '__schema' || name.value === '__type' || alias?.value === '__proto__') return differs();
        // The types of interfaces and unions are resolved asynchronously, and compiled code does not wait for that.
        const type = selectionSet && getNamedType(types.getType());
        return type && isAbstractType(type) ? differs() : undefined;
      },
      FragmentDefinition: ({ typeCondition }: FragmentDefinitionNode) =>
        isObjectType(schema.getType(typeCondition.name.value)) ? undefined : differs(),
      ObjectValue: literal,
      ListValue: literal,
      Variable: () => (literalDepth > 0 ? differs() : undefined),
    }),
  );
  return isDifferent;
}
