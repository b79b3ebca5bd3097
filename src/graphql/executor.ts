import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { fieldCount, isCompilable } from './compilable.js';

/** One less than the number of reported errors: graphql-js adds one that says that there are more. */
const maxCoercionErrors = 4;

/** The options of every execution, for every transport. */
export const executionOptions = (schema: GraphQLSchema, production: boolean) => ({
  schema,
  hideSuggestions: production,
  options: { maxCoercionErrors },
});

type CompiledQuery = (
  context: unknown,
  variables: Record<string, unknown>,
) => ExecutionResult | Promise<ExecutionResult>;

interface CompiledOperation {
  readonly run: CompiledQuery;
  readonly fields: number;
}

/** An operation is compiled at this execution, because compiling costs more than a few executions. */
const compileAtExecution = 3;
/** Fields of one compiled operation, and of all compiled operations in the cache. */
const maxFieldsPerOperation = 250;
const maxCompiledFields = 25_000;

/**
 * Executes operations as graphql-js does. Operations that are repeated are compiled, which makes long lists several
 * times faster. Only operations for which both are known to return the same result are compiled.
 */
export class Executor {
  // By operation node: the counts live as long as the document is cached.
  private readonly executions = new WeakMap<OperationDefinitionNode, number>();
  private readonly compiled = new LRUCache<OperationDefinitionNode, CompiledOperation>({
    maxSize: maxCompiledFields,
    sizeCalculation: ({ fields }) => fields,
  });

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly onCompiled: () => void = () => undefined,
  ) {}

  /** `mayCompile`: whether this execution counts towards compiling the operation. */
  execute(
    operation: OperationDefinitionNode,
    args: ExecutionArgs,
    mayCompile: boolean,
  ): ExecutionResult | Promise<ExecutionResult> {
    const executions = this.executions.get(operation) ?? 0;
    if (mayCompile && executions < compileAtExecution) {
      this.executions.set(operation, executions + 1);
      if (executions + 1 === compileAtExecution) this.compile(args.document, operation);
    }
    const run = this.compiled.get(operation)?.run;
    const variables = args.variableValues ?? {};
    return run && areVariablesValid(this.schema, operation, variables)
      ? run(args.contextValue, variables)
      : execute(args);
  }

  private compile(document: DocumentNode, operation: OperationDefinitionNode): void {
    const fields = fieldCount(document, operation);
    if (fields > maxFieldsPerOperation || !isCompilable(this.schema, document, operation)) return;
    const run = compiledQuery(this.schema, document, operation.name?.value);
    if (!run) return;
    this.compiled.set(operation, { run, fields });
    this.onCompiled();
  }
}

function compiledQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): CompiledQuery | undefined {
  const query = compileQuery(schema, document, operationName, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(query)) return undefined;
  return (context, variables) => query.query(undefined, context, variables) as ReturnType<CompiledQuery>;
}

/** Whether compiled code may run with these variables. Absent and invalid variables are left to graphql-js. */
function areVariablesValid(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): boolean {
  if (variableDefinitions.length === 0) return true;
  if (!variableDefinitions.every(({ variable }) => Object.hasOwn(variables, variable.name.value))) return false;
  return getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 }).errors === undefined;
}
