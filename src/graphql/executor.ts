import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
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
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';

/** One less than are reported: graphql-js adds that there are more. */
const maxCoercionErrors = 4;

/** What every execution is given, whatever the transport. */
export const executionOptions = (schema: GraphQLSchema, production: boolean) => ({
  schema,
  hideSuggestions: production,
  options: { maxCoercionErrors },
});

/** `mayCompile`: whether this call counts towards compiling the document. */
export type Executor = (args: ExecutionArgs, mayCompile?: boolean) => ExecutionResult | Promise<ExecutionResult>;
type Compiled = (context: unknown, variables: Record<string, unknown>) => ExecutionResult | Promise<ExecutionResult>;

/** A document is compiled when it has come so often: compiling costs more than a few executions. */
const sightings = 3;
/** Fields with every fragment opened, of one document and of all that are kept compiled: what compiling takes in time and memory. */
const mostFields = 250;
const mostFieldsKept = 25_000;

interface Known {
  seen: number;
  readonly operation: OperationDefinitionNode | undefined;
}

interface Kept {
  readonly run: Compiled;
  readonly fields: number;
}

/**
 * Executes as graphql-js does, and documents that come again and again by code made for them, which takes a fraction of
 * the time for long lists. Only where both are known to answer alike; the rest is graphql-js's own.
 */
export function createExecutor(schema: GraphQLSchema, onCompiled: () => void = () => undefined): Executor {
  // Forgotten with the document, of which only so many are remembered.
  const byDocument = new WeakMap<DocumentNode, Map<string, Known>>();
  const kept = new LRUCache<OperationDefinitionNode, Kept>({
    maxSize: mostFieldsKept,
    sizeCalculation: ({ fields }) => fields,
  });

  function knownOf(document: DocumentNode, name: string | null | undefined): Known {
    let operations = byDocument.get(document);
    if (!operations) {
      operations = new Map();
      byDocument.set(document, operations);
    }
    let known = operations.get(name ?? '');
    if (!known) {
      known = { seen: 0, operation: getOperationAST(document, name) ?? undefined };
      operations.set(name ?? '', known);
    }
    return known;
  }

  function keep(document: DocumentNode, operation: OperationDefinitionNode): void {
    const fields = fieldsOf(document, operation);
    if (fields > mostFields || !isAlike(schema, document, operation)) return;
    const run = compiled(schema, document, operation.name?.value);
    if (!run) return;
    kept.set(operation, { run, fields });
    onCompiled();
  }

  return (args, mayCompile = true) => {
    const { document, operationName, contextValue } = args;
    const known = knownOf(document, operationName);
    const { operation } = known;
    if (!operation) return execute(args);
    if (mayCompile && ++known.seen === sightings) keep(document, operation);
    const run = known.seen >= sightings ? kept.get(operation)?.run : undefined;
    const variables = args.variableValues ?? {};
    return run && fits(schema, operation, variables) ? run(contextValue, variables) : execute(args);
  };
}

function compiled(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): Compiled | undefined {
  const query = compileQuery(schema, document, operationName, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(query)) return undefined;
  return (context, variables) => query.query(undefined, context, variables) as ReturnType<Compiled>;
}

/** Each fragment is counted once and then known: a few that name each other would make millions. */
function fieldsOf(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map(
    document.definitions
      .filter((d): d is FragmentDefinitionNode => d.kind === Kind.FRAGMENT_DEFINITION)
      .map((d) => [d.name.value, d]),
  );
  const known = new Map<string, number>();
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1 + (selection.selectionSet ? count(selection.selectionSet) : 0);
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + count(selection.selectionSet);
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment && !known.has(name)) known.set(name, count(fragment.selectionSet));
      return sum + (known.get(name) ?? 0);
    }, 0);
  return count(operation.selectionSet);
}

/** Variables left out, and those that do not fit, are graphql-js's to judge. */
function fits(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): boolean {
  if (variableDefinitions.length === 0) return true;
  if (!variableDefinitions.every(({ variable }) => Object.hasOwn(variables, variable.name.value))) return false;
  return getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 }).errors === undefined;
}

/** Whether compiled code answers this operation as graphql-js would: known differences are left out by what they need. */
function isAlike(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation !== 'query') return false;
  for (const { type } of operation.variableDefinitions ?? [])
    if (isInputObjectType(getNamedType(typeFromAST(schema, type as never) as never))) return false;
  let isSame = true;
  const types = new TypeInfo(schema);
  const differs = () => {
    isSame = false;
    return undefined;
  };
  let literals = 0;
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive: differs,
      Field({ name, alias, selectionSet }) {
        if (name.value === '__schema' || name.value === '__type' || alias?.value === '__proto__') return differs();
        // Types are resolved asynchronously here, which compiled code does not wait for.
        const type = selectionSet && getNamedType(types.getType());
        return type && isAbstractType(type) ? differs() : undefined;
      },
      FragmentDefinition: ({ typeCondition }: FragmentDefinitionNode) =>
        isObjectType(schema.getType(typeCondition.name.value)) ? undefined : differs(),
      ObjectValue: { enter: () => void literals++, leave: () => void literals-- },
      ListValue: { enter: () => void literals++, leave: () => void literals-- },
      Variable: () => (literals > 0 ? differs() : undefined),
    }),
  );
  return (
    isSame &&
    document.definitions.every(({ kind }) => kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION)
  );
}
