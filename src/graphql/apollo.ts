import { ApolloServer, type ApolloServerPlugin, HeaderMap, type HTTPGraphQLHead } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { type DocumentNode, type FormattedExecutionResult, GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { badInput } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { bounds, refuseCostly } from './bounds.js';
import type { Context, Refusal } from './context.js';
import { documentRules, rememberedDocuments } from './documents.js';
import { limitHeaders, type Mask, refusalHeaders, statusOf } from './errors.js';
import { createExecutor, type Executor } from './executor.js';
import type { Turnstile } from './turnstile.js';

/** What is known of a request once it has been answered, for its line in the log. */
export interface Served {
  /** The root fields asked for: a bounded set, unlike the names callers give. */
  operation: string;
  codes: string[];
  /** What a rule of validation threw; Apollo would make a fault of ours of it. */
  thrown?: GraphQLError;
  /** What went wrong while it was executed. */
  errors?: readonly GraphQLError[];
  /** By a limit of the limiter, which is an answer and not an error. */
  refusal?: Refusal;
}

export interface HttpContext extends Context {
  readonly served: Served;
}

export async function startApollo(schema: GraphQLSchema, production: boolean, mask: Mask, log: Log, turnstile: Turnstile): Promise<ApolloServer<HttpContext>> {
  const documents = new LRUCache<string, DocumentNode>(rememberedDocuments);
  const server = new ApolloServer<HttpContext>({
    schema,
    introspection: !production,
    hideSchemaDetailsFromClientErrors: production,
    includeStacktraceInErrorResponses: false,
    // We take no cookies, so a foreign page has nothing to ride on; content types are checked before Apollo.
    csrfPrevention: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: bounds.tokens },
    validationRules: documentRules(production),
    documentStore: {
      get: async (key) => documents.get(key),
      set: async (key, document) => void documents.set(key, document),
      delete: async (key) => documents.delete(key),
    },
    logger: { debug() {}, info() {}, warn: (message) => log.warn(message), error: (message) => log.error(message) },
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginLandingPageDisabled(), edgePlugin(schema, mask, turnstile, createExecutor(schema))],
  });
  await server.start();
  return server;
}

/** Bounds that need the variables before execution, errors and headers after it. */
function edgePlugin(schema: GraphQLSchema, mask: Mask, turnstile: Turnstile, execute: Executor): ApolloServerPlugin<HttpContext> {
  return {
    async unexpectedErrorProcessingRequest({ requestContext: { contextValue }, error }) {
      if (error instanceof GraphQLError)
        contextValue.served.thrown = new GraphQLError(error.message, { nodes: error.nodes ?? null, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request, contextValue }) {
          if (!operation) return; // no operation of that name: Apollo says so
          contextValue.served.operation = rootNames(operation);
          if (operation.operation === 'subscription')
            throw badInput({ path: 'query', message: 'subscriptions go over WebSocket or SSE (`Accept: text/event-stream`) at this path' });
          const cost = refuseCostly(schema, document, operation, request.variables ?? {});
          if (cost >= bounds.listComplexity) turnstile.refuseList();
        },
        /** Executes in Apollo's place: what it does around its own execution costs more than most of our operations. */
        async responseForOperation({ document, operation, request, contextValue }) {
          if (!operation) return null;
          const { operationName = null, variables = {} } = request;
          const result = await execute({ schema, document, contextValue, operationName, variableValues: variables });
          if (result.errors) contextValue.served.errors = result.errors;
          // Variables that do not fit were never executed.
          const http = { status: result.errors && result.data === undefined ? 400 : undefined, headers: new HeaderMap() };
          return { http: http as HTTPGraphQLHead, body: { kind: 'single', singleResult: result as FormattedExecutionResult } };
        },
        async willSendResponse({ response, contextValue, errors = contextValue.served.errors ?? [] }) {
          const { requestId, served } = contextValue;
          const { http, body } = response;
          if (served.refusal) for (const [name, value] of Object.entries(refusalHeaders(served.refusal))) http.headers.set(name, value);
          if (body.kind !== 'single' || !body.singleResult.errors) return;
          const shown = errors.map((error) => mask(error, requestId));
          body.singleResult.errors = shown;
          served.codes = [...new Set(shown.map(({ extensions }) => extensions.code))];
          // Refused by our own bounds before it ran, which Apollo takes for a fault of ours.
          if (http.status === 500) http.status = statusOf(served.codes[0] ?? 'INTERNAL_SERVER_ERROR');
          for (const { extensions } of shown) for (const [name, value] of Object.entries(limitHeaders(extensions))) http.headers.set(name, value);
        },
      };
    },
  };
}

/** A bounded set of labels: the one field asked for, or that there were several. */
function rootNames({ selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections;
  return first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several';
}
