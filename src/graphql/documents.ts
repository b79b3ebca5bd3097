import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { badInput, type GatewayError } from '../lib/errors.js';
import { boundIssues, bounds } from './bounds.js';

export interface Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

interface Cached {
  readonly document: DocumentNode;
  readonly size: number;
  /** What Apollo knows the document by. */
  readonly hash: string;
}

/** Past this many lines a document is parsed without positions: graphql-js scans all lines for each position it reports. */
const maxLinesWithPositions = 1000;
const maxValidationErrors = 5;

/** Parses, bounds and validates documents once, for every transport. Only valid ones are cached. */
export class DocumentCache {
  private readonly byHash = new Map<string, DocumentNode>();
  private readonly valid = new LRUCache<string, Cached>({
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

  /** The operation to execute, or every reason why there is none. */
  prepare(query: string, operationName: string | null | undefined): Prepared | readonly GraphQLError[] {
    const document = this.documentOf(query);
    if (!('kind' in document)) return document;
    const operation = getOperationAST(document, operationName);
    if (operation) return { document, operation };
    const message = operationName
      ? 'must name an operation of the document'
      : 'is required: the document has several operations';
    return [asGraphQLError(badInput({ path: 'operationName', message }))];
  }

  /** The cached document of this query, without the work of preparing one. */
  peek(query: string): DocumentNode | undefined {
    return this.valid.get(query)?.document;
  }

  /** The cached documents as Apollo asks for them: by the hash of their query, behind a prefix of its own. */
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

  private documentOf(query: string): DocumentNode | readonly GraphQLError[] {
    const cached = this.valid.get(query);
    if (cached) return cached.document;
    if (query.length > bounds.documentChars)
      return [
        refused(
          `the document has ${query.length} characters; the maximum is ${bounds.documentChars}: send data as variables`,
        ),
      ];
    let document: DocumentNode;
    try {
      document = parse(query, { maxTokens: bounds.tokens, noLocation: lineCount(query) > maxLinesWithPositions });
    } catch (error) {
      return [coded(error as GraphQLError, 'GRAPHQL_PARSE_FAILED')];
    }
    // Bounds come first: some of GraphQL's own rules take time quadratic in what these bound.
    const tooMuch = boundIssues(document);
    if (tooMuch.length > 0) return tooMuch.map(refused);
    const errors = this.validate(document);
    if (errors.length > 0) return errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
    const hash = createHash('sha256').update(query).digest('hex');
    this.valid.set(query, { document, size: 1 + query.length, hash });
    this.byHash.set(hash, document);
    return document;
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

/** As graphql-js would wrap it, for what is refused before graphql-js is asked. */
export const asGraphQLError = (error: GatewayError): GraphQLError =>
  new GraphQLError(error.message, { originalError: error });

const refused = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });

const coded = ({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError =>
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
