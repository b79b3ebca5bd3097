import { createHash } from 'node:crypto';
import {
  type DocumentNode,
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
import { badInput, type GatewayError } from '../lib/errors.js';
import { boundIssues, bounds } from './bounds.js';
import { PreparedOperation } from './prepared-operation.js';

/**
 * Above this number of lines a document is parsed without positions: graphql-js scans all lines per reported position.
 */
const maxLinesWithPositions = 1000;
const maxValidationErrors = 5;

/** A valid document with the operations that have been requested from it. */
class CachedDocument {
  private readonly operations = new Map<string | null, PreparedOperation>();

  constructor(
    private readonly schema: GraphQLSchema,
    readonly document: DocumentNode,
    readonly size: number,
    /** Apollo's key for the document. */
    readonly hash: string,
  ) {}

  /** Undefined if the document has no such operation, or has several and none is named. */
  operation(name: string | null | undefined): PreparedOperation | undefined {
    const key = name ?? null;
    const cached = this.operations.get(key);
    if (cached) return cached;
    const operation = getOperationAST(this.document, name);
    if (!operation) return undefined;
    const prepared = new PreparedOperation(this.schema, this.document, operation);
    this.operations.set(key, prepared);
    return prepared;
  }
}

/** Parses, bounds and validates documents once, for every transport. Only valid documents are cached. */
export class DocumentCache {
  private readonly byHash = new Map<string, DocumentNode>();
  private readonly byQuery = new LRUCache<string, CachedDocument>({
    max: 1000,
    maxSize: 4_000_000,
    sizeCalculation: ({ size }) => size,
    dispose: ({ hash }) => this.byHash.delete(hash),
  });
  private readonly rules: readonly ValidationRule[];

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly production: boolean,
  ) {
    this.rules = [...specifiedRules, ...(production ? [NoSchemaIntrospectionCustomRule] : [])];
  }

  /** The operation to execute, or every reason why it cannot be executed. */
  prepare(query: string, operationName: string | null | undefined): PreparedOperation | readonly GraphQLError[] {
    const document = this.byQuery.get(query) ?? this.load(query);
    if (!(document instanceof CachedDocument)) return document;
    const operation = document.operation(operationName);
    if (operation) return operation;
    const message = operationName
      ? 'must name an operation of the document'
      : 'is required: the document has several operations';
    return [asGraphQLError(badInput({ path: 'operationName', message }))];
  }

  /** The operation if its document is cached. Never parses or validates. */
  peek(query: string, operationName: string | null | undefined): PreparedOperation | undefined {
    return this.byQuery.get(query)?.operation(operationName);
  }

  /** The cached documents for Apollo, which looks them up by the hash of the query with a prefix of its own. */
  asApolloStore(): {
    get(key: string): Promise<DocumentNode | undefined>;
    set(): Promise<void>;
    delete(): Promise<boolean>;
  } {
    const hashChars = 64;
    return {
      get: async (key) => this.byHash.get(key.slice(-hashChars)),
      set: async () => undefined,
      delete: async () => false,
    };
  }

  private load(query: string): CachedDocument | readonly GraphQLError[] {
    const document = this.parse(query);
    if (!('kind' in document)) return document;
    // Bounds come first: some validation rules of graphql-js take quadratic time in what the bounds limit.
    const issues = boundIssues(document);
    if (issues.length > 0) return issues.map(boundError);
    const errors = this.validate(document);
    if (errors.length > 0) return errors.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
    const hash = createHash('sha256').update(query).digest('hex');
    const cached = new CachedDocument(this.schema, document, 1 + query.length, hash);
    this.byQuery.set(query, cached);
    this.byHash.set(hash, document);
    return cached;
  }

  private parse(query: string): DocumentNode | readonly GraphQLError[] {
    const chars = query.length;
    if (chars > bounds.documentChars) {
      const max = bounds.documentChars;
      return [boundError(`the document has ${chars} characters; the maximum is ${max}: send data as variables`)];
    }
    try {
      return parse(query, { maxTokens: bounds.tokens, noLocation: lineCount(query) > maxLinesWithPositions });
    } catch (error) {
      return [withCode(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')];
    }
  }

  private validate(document: DocumentNode): readonly GraphQLError[] {
    try {
      return validate(this.schema, document, this.rules, {
        maxErrors: maxValidationErrors,
        hideSuggestions: this.production,
      });
    } catch (error) {
      // graphql-js throws some errors that it should report.
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  }
}

/** Wraps an error as graphql-js would, for refusals that graphql-js does not see. */
export const asGraphQLError = (error: GatewayError): GraphQLError =>
  new GraphQLError(error.message, { originalError: error });

const boundError = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });

const withCode = ({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code },
  });

function lineCount(text: string): number {
  let lines = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 10 || char === 13) lines++;
  }
  return lines;
}
