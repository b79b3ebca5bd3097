import { ApolloServer, type ApolloServerPlugin, HeaderMap, type HTTPGraphQLHead } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { badInput, GatewayError } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import type { Units } from '../lib/units.js';
import { bounds, isKnownList, staticCost } from './bounds.js';
import type { Context, Refusal } from './context.js';
import { asGraphQLError, documentRules, rememberedDocuments } from './documents.js';
import { limitHeaders, type Mask, type PublicError, refusalHeaders, statusOf } from './errors.js';
import { createExecutor } from './executor.js';
import type { Turnstile } from './turnstile.js';

export interface GraphQLParams {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Record<string, unknown>;
}

/** What is known of a request once it has been answered, for its line in the log. */
export interface Served {
  /** The root fields asked for: a bounded set, unlike the names callers give. */
  operation: string;
  isQuery: boolean;
  readonly units: Units;
  codes: string[];
  /** What a rule of validation threw; Apollo would make a fault of ours of it. */
  thrown?: GraphQLError;
  /** What Apollo refused it for. */
  errors?: readonly GraphQLError[];
  /** What came of it after Apollo had found it sound. */
  outcome?: Outcome;
  /** By a limit of the limiter, which is an answer and not an error. */
  refusal?: Refusal;
}

export interface HttpContext extends Context {
  readonly served: Served;
}

/** What an operation came to, fit for its caller. */
export interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly result: { readonly data?: unknown; readonly errors?: readonly PublicError[] };
}

export interface Operations {
  /** Throws where a list has to make room, if this is known to be one: before it waits for its turn in vain. */
  refuseList(params: GraphQLParams, served: Served): void;
  run(method: string, params: GraphQLParams, context: HttpContext): Promise<Outcome>;
  stop(): Promise<void>;
}

export interface OperationParts {
  readonly schema: GraphQLSchema;
  readonly production: boolean;
  readonly mask: Mask;
  readonly log: Log;
  readonly turnstile: Turnstile;
}

/** Runs operations: Apollo parses, validates and judges what comes for the first time; what it has found sound is executed at once. */
export async function startOperations({ schema, production, mask, log, turnstile }: OperationParts): Promise<Operations> {
  const sound = new LRUCache<string, DocumentNode>(rememberedDocuments);
  const execute = createExecutor(schema);

  async function perform(document: DocumentNode, operation: OperationDefinitionNode, params: GraphQLParams, context: HttpContext): Promise<Outcome> {
    const { operationName = null, variables = {} } = params;
    context.served.operation = rootNames(operation);
    context.served.isQuery = operation.operation === 'query';
    try {
      if (operation.operation === 'subscription')
        throw badInput({ path: 'query', message: 'subscriptions go over WebSocket or SSE (`Accept: text/event-stream`) at this path' });
      const cost = staticCost(schema, document, operation, variables);
      context.work.charge(cost);
      const run = () => execute({ schema, document, contextValue: context, operationName, variableValues: variables });
      if (cost < bounds.listComplexity) return outcomeOf(await run(), context);
      turnstile.refuseList();
      // Metered whatever the log level: a list that times out must stop reading.
      return outcomeOf(await context.store.metered(context.served.units, run), context);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return outcomeOf({ errors: [asGraphQLError(error)] }, context);
    }
  }

  function outcomeOf({ data, errors }: ExecutionResult, { requestId, served }: HttpContext): Outcome {
    const headers = served.refusal ? refusalHeaders(served.refusal) : {};
    if (!errors) return { status: 200, headers, result: { data } };
    const shown = errors.map((error) => mask(error, requestId));
    served.codes = [...new Set(shown.map(({ extensions }) => extensions.code))];
    for (const { extensions } of shown) Object.assign(headers, limitHeaders(extensions));
    // Without data it was refused before it ran.
    return data === undefined
      ? { status: statusOf(served.codes[0] as string), headers, result: { errors: shown } }
      : { status: 200, headers, result: { errors: shown, data } };
  }

  const judge: ApolloServerPlugin<HttpContext> = {
    async unexpectedErrorProcessingRequest({ requestContext: { contextValue }, error }) {
      if (error instanceof GraphQLError)
        contextValue.served.thrown = new GraphQLError(error.message, { nodes: error.nodes ?? null, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
    },
    async requestDidStart() {
      return {
        async responseForOperation({ document, operation, request, contextValue }) {
          if (!operation) return null; // no operation of that name: Apollo says so
          sound.set(request.query as string, document);
          contextValue.served.outcome = await perform(document, operation, request as GraphQLParams, contextValue);
          return { http: { headers: new HeaderMap() } as HTTPGraphQLHead, body: { kind: 'single', singleResult: {} } };
        },
        async willSendResponse({ contextValue, errors }) {
          if (errors) contextValue.served.errors = errors;
        },
      };
    },
  };
  const apollo = new ApolloServer<HttpContext>({
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
    // What is sound does not come here again.
    documentStore: null,
    logger: { debug() {}, info() {}, warn: (message) => log.warn(message), error: (message) => log.error(message) },
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginLandingPageDisabled(), judge],
  });
  await apollo.start();

  async function judged(method: string, params: GraphQLParams, context: HttpContext): Promise<Outcome> {
    const http = { method, headers: new HeaderMap(), search: '', body: undefined };
    const response = await apollo.executeOperation({ ...params, http }, { contextValue: context });
    const { outcome } = context.served;
    if (outcome) return outcome;
    const told = outcomeOf({ errors: context.served.errors ?? [] }, context);
    return { ...told, status: response.http.status ?? told.status, headers: { ...Object.fromEntries(response.http.headers), ...told.headers } };
  }

  return {
    refuseList({ query, operationName }, served) {
      if (!turnstile.isHalfFull) return;
      const document = sound.get(query);
      const operation = document && getOperationAST(document, operationName);
      if (!operation || !isKnownList(operation)) return;
      served.operation = rootNames(operation);
      turnstile.refuseList();
    },
    async run(method, params, context) {
      const document = sound.get(params.query);
      const operation = document && getOperationAST(document, params.operationName);
      // By GET only queries: Apollo says so of others.
      const isPlain = operation && (method === 'POST' || operation.operation === 'query');
      return document && isPlain ? perform(document, operation, params, context) : judged(method, params, context);
    },
    stop: () => apollo.stop(),
  };
}

/** A bounded set of labels: the one field asked for, or that there were several. */
function rootNames({ selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections;
  return first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several';
}
