import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { badInput } from '../lib/errors.js';
import { bounds } from './bounds.js';
import { complexity, maxListLength, type Variables } from './complexity.js';

/** The facts about an operation that the log line and the timeout of its request need. */
export interface OperationInfo {
  /** A bounded set of names for logs and metrics, unlike the operation names that callers choose. */
  readonly label: string;
  readonly isQuery: boolean;
}

/** One operation of a valid document. It lives as long as the document is cached. */
export class PreparedOperation implements OperationInfo {
  readonly label: string;
  readonly isQuery: boolean;
  /** Undefined if the variables decide. */
  private readonly fixedCost: number | undefined;

  constructor(
    private readonly schema: GraphQLSchema,
    readonly document: DocumentNode,
    readonly operation: OperationDefinitionNode,
  ) {
    const { cost, isFixed } = complexity(schema, document, operation, {});
    this.fixedCost = isFixed ? cost : undefined;
    this.label = rootFieldName(operation);
    this.isQuery = operation.operation === 'query';
  }

  /** Whether the operation counts as a list with any variables. */
  get isAlwaysList(): boolean {
    return (this.fixedCost ?? 0) >= bounds.listComplexity;
  }

  /** The static complexity with these variables. Throws BAD_USER_INPUT if a list in the variables is too long. */
  cost(variables: Variables): number {
    const items = maxListLength(variables);
    if (items > bounds.listItems)
      throw badInput({ path: 'variables', message: `a list has ${items} items; the maximum is ${bounds.listItems}` });
    return this.fixedCost ?? complexity(this.schema, this.document, this.operation, variables).cost;
  }
}

/** The only root field, or `several`. */
function rootFieldName({ selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections;
  return first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several';
}
