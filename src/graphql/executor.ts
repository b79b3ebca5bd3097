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
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

export type Executor = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
type Compiled = (context: unknown, variables: Record<string, unknown>) => ExecutionResult | Promise<ExecutionResult>;

/** A document is compiled when it has come so often: compiling costs more than a few executions. */
const sightings = 3;

interface Known {
  seen: number;
  readonly operation: OperationDefinitionNode | undefined;
  run?: Compiled | undefined;
}

/**
 * Executes as graphql-js does, and documents that come again and again by code made for them, which takes a fraction of
 * the time for long lists. Only where both are known to answer alike; the rest is graphql-js's own.
 */
export function createExecutor(schema: GraphQLSchema, onCompiled: () => void = () => undefined): Executor {
  // Forgotten with the document, of which only so many are remembered.
  const byDocument = new WeakMap<DocumentNode, Map<string, Known>>();

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

  return (args) => {
    const { document, operationName, contextValue } = args;
    const known = knownOf(document, operationName);
    if (++known.seen === sightings && known.operation && isAlike(schema, document, known.operation)) {
      known.run = compiled(schema, document, known.operation.name?.value);
      onCompiled();
    }
    const variables = args.variableValues ?? {};
    return known.run && known.operation && fits(schema, known.operation, variables) ? known.run(contextValue, variables) : execute(args);
  };
}

function compiled(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined): Compiled | undefined {
  const query = compileQuery(schema, document, operationName, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(query)) return undefined;
  return (context, variables) => query.query(undefined, context, variables) as ReturnType<Compiled>;
}

/** Variables left out, and those that do not fit, are graphql-js's to judge. */
function fits(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode, variables: Readonly<Record<string, unknown>>): boolean {
  if (variableDefinitions.length === 0) return true;
  if (!variableDefinitions.every(({ variable }) => Object.hasOwn(variables, variable.name.value))) return false;
  return getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 }).errors === undefined;
}

/** Whether compiled code answers this operation as graphql-js would: known differences are left out by what they need. */
function isAlike(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation !== 'query') return false;
  for (const { type } of operation.variableDefinitions ?? []) if (isInputObjectType(getNamedType(typeFromAST(schema, type as never) as never))) return false;
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
      Field({ name, selectionSet }) {
        if (name.value === '__schema' || name.value === '__type') return differs();
        // Types are resolved asynchronously here, which compiled code does not wait for.
        const type = selectionSet && getNamedType(types.getType());
        return type && isAbstractType(type) ? differs() : undefined;
      },
      FragmentDefinition: ({ typeCondition }: FragmentDefinitionNode) => (isObjectType(schema.getType(typeCondition.name.value)) ? undefined : differs()),
      ObjectValue: { enter: () => void literals++, leave: () => void literals-- },
      ListValue: { enter: () => void literals++, leave: () => void literals-- },
      Variable: () => (literals > 0 ? differs() : undefined),
    }),
  );
  return isSame && document.definitions.every(({ kind }) => kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION);
}
