import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { badInput, GatewayError } from '../lib/errors.js';
import { bounds, boundsRule, staticCost } from './bounds.js';
import { WorkBudget } from './work-budget.js';

/** The rules beyond GraphQL's own that every document has to pass, by whatever transport it comes. */
export const documentRules = (production: boolean): ValidationRule[] => [boundsRule, ...(production ? [NoSchemaIntrospectionCustomRule] : [])];

/** By count and by length: a document keeps its source, blanks and all. */
export const rememberedDocuments = { max: 1000, maxSize: 4_000_000, sizeCalculation: (document: DocumentNode) => 1 + (document.loc?.source.body.length ?? 0) };

export interface SubscribePayload {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Parses, bounds and validates what comes past Apollo: the subscriptions of WebSocket and SSE. Valid documents are remembered. */
export class SubscriptionDocuments {
  private readonly valid = new LRUCache<string, DocumentNode>(rememberedDocuments);
  private readonly rules: readonly ValidationRule[];

  constructor(
    private readonly schema: GraphQLSchema,
    production: boolean,
  ) {
    this.rules = [...specifiedRules, ...documentRules(production)];
  }

  /** What to execute, or every reason why not. */
  prepare({ query, operationName, variables }: SubscribePayload): ExecutionArgs | GraphQLError[] {
    try {
      const document = this.documentOf(query);
      if (Array.isArray(document)) return document;
      const operation = getOperationAST(document, operationName);
      if (!operation) return [asGraphQLError(badInput({ path: 'operationName', message: 'names no operation of the document' }))];
      if (operation.operation !== 'subscription')
        return [asGraphQLError(badInput({ path: 'query', message: 'only subscriptions run here; send queries and mutations by HTTP' }))];
      new WorkBudget().charge(staticCost(this.schema, document, operation, variables ?? {}));
      return { schema: this.schema, document, operationName: operationName ?? null, variableValues: variables ?? {} };
    } catch (error) {
      if (error instanceof GatewayError) return [asGraphQLError(error)];
      throw error;
    }
  }

  private documentOf(query: string): DocumentNode | GraphQLError[] {
    const known = this.valid.get(query);
    if (known) return known;
    let document: DocumentNode;
    try {
      document = parse(query, { maxTokens: bounds.tokens });
    } catch (error) {
      return [coded(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')];
    }
    let errors: readonly GraphQLError[];
    try {
      errors = validate(this.schema, document, this.rules);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      errors = [error];
    }
    if (errors.length > 0) return errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
    this.valid.set(query, document);
    return document;
  }
}

/** As graphql-js would wrap it, for what is refused before graphql-js is asked. */
export const asGraphQLError = (error: GatewayError): GraphQLError => new GraphQLError(error.message, { originalError: error });

const coded = ({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(message, { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, extensions: { code } });
