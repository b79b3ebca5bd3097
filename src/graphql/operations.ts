import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { type LimitAnswer, limitHeaders, limitStatusHeaders } from '../http/limit-headers.js';
import { badInput, GatewayError } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import type { Units } from '../lib/units.js';
import type { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import { bounds } from './bounds.js';
import { isKnownList, staticCost } from './complexity.js';
import type { Context } from './context.js';
import { asGraphQLError, type DocumentCache, type Prepared } from './documents.js';
import { boundedErrors, type Mask, type PublicErrors, statusOf } from './errors.js';
import { createExecutor, executionOptions } from './executor.js';

export interface GraphQLParams {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Record<string, unknown>;
}

/** What is known of a request once it has been answered, for its line in the log. */
export interface Served {
  /** The root field asked for: a bounded set, unlike the names callers give. */
  operation: string;
  isQuery: boolean;
  readonly units: Units;
  codes: string[];
  /** Of the acquire that decides the headers: the last that was refused, else the last. */
  limits?: LimitAnswer;
}

/** Notes the answer of an acquire. A grant does not replace a refusal of the same operation. */
export function noteLimits(served: Served, answer: LimitAnswer): void {
  if (answer.retryAfterSecs !== undefined || served.limits?.retryAfterSecs === undefined) served.limits = answer;
}

export interface HttpContext extends Context {
  readonly served: Served;
}

/** The response to an operation, before it is written to a transport. */
export interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly result: { readonly data?: unknown } & Partial<PublicErrors>;
}

export interface Operations {
  /** Throws where a list has to make room, if this is known to be one: before it waits for its turn in vain. */
  refuseList(params: GraphQLParams, served: Served): void;
  /** Executes a query or mutation through Apollo. */
  run(prepared: Prepared, params: GraphQLParams, context: HttpContext): Promise<Outcome>;
  /** The response to a document that cannot be executed. */
  refuse(errors: readonly unknown[], requestId: string, served: Served): Outcome;
  stop(): Promise<void>;
}

export interface OperationDeps {
  readonly schema: GraphQLSchema;
  readonly production: boolean;
  readonly documents: DocumentCache;
  readonly mask: Mask;
  readonly log: Log;
  readonly concurrency: ConcurrencyLimiter;
}

/** Executes prepared operations: Apollo leads the request, the compiled executor answers it. */
export async function startOperations({
  schema,
  production,
  documents,
  mask,
  log,
  concurrency,
}: OperationDeps): Promise<Operations> {
  const execute = createExecutor(schema);
  const execution = executionOptions(schema, production);

  async function perform(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    params: GraphQLParams,
    context: HttpContext,
  ): Promise<Outcome> {
    const { operationName = null, variables = {} } = params;
    const { served, requestId } = context;
    try {
      if (operation.operation === 'subscription')
        throw badInput({
          path: 'query',
          message: 'is a subscription: send it over WebSocket, or with `Accept: text/event-stream`',
        });
      const cost = staticCost(schema, document, operation, variables);
      context.work.charge(cost);
      // Compiling takes tens of milliseconds, so nobody may cause it without a credential.
      const mayCompile = context.viewer.kind !== 'ANONYMOUS';
      const run = () =>
        execute(
          { ...execution, document, contextValue: context, operationName, variableValues: variables },
          mayCompile,
        );
      if (cost < bounds.listComplexity) return outcomeOf(await run(), requestId, served);
      concurrency.refuseList();
      // Metered whatever the log level: a list that times out must stop reading.
      return outcomeOf(await context.store.metered(served.units, run), requestId, served);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return outcomeOf({ errors: [asGraphQLError(error)] }, requestId, served);
    }
  }

  function outcomeOf({ data, errors }: ExecutionResult, requestId: string, served: Served): Outcome {
    const headers = served.limits ? limitStatusHeaders(served.limits) : {};
    if (!errors) return { status: 200, headers, result: { data } };
    const shown = boundedErrors(errors, (error) => mask(error, requestId));
    served.codes = [...new Set(shown.errors.map(({ extensions }) => extensions.code))];
    for (const { extensions } of shown.errors) Object.assign(headers, limitHeaders(extensions));
    // Without data it was refused before it ran.
    return data === undefined
      ? { status: statusOf(served.codes[0] as string), headers, result: shown }
      : { status: 200, headers, result: { ...shown, data } };
  }

  const answer: ApolloServerPlugin<HttpContext> = {
    async requestDidStart() {
      return {
        async responseForOperation({ document, operation, request, contextValue }) {
          if (!operation) throw new Error('Apollo was asked to execute a document that was not prepared');
          const { status, headers, result } = await perform(
            document,
            operation,
            request as GraphQLParams,
            contextValue,
          );
          return {
            http: { status, headers: new HeaderMap(Object.entries(headers)) },
            body: { kind: 'single', singleResult: result as FormattedExecutionResult },
          };
        },
      };
    },
  };
  const apollo = new ApolloServer<HttpContext>({
    schema,
    includeStacktraceInErrorResponses: false,
    // Tollgate takes no cookies, so a page on another site has no authority to abuse; content types are checked before Apollo.
    csrfPrevention: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    // Every document has been parsed, bounded and validated before Apollo sees its query.
    documentStore: documents.asApolloStore(),
    logger: { debug() {}, info() {}, warn: (message) => log.warn(message), error: (message) => log.error(message) },
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginLandingPageDisabled(), answer],
  });
  await apollo.start();

  return {
    refuseList({ query, operationName }, served) {
      if (!concurrency.isHalfFull) return;
      const document = documents.peek(query);
      const operation = document && getOperationAST(document, operationName);
      if (!operation || !isKnownList(operation)) return;
      served.operation = rootName(operation);
      concurrency.refuseList();
    },
    async run({ operation }, params, context) {
      context.served.operation = rootName(operation);
      context.served.isQuery = operation.operation === 'query';
      const { http, body } = await apollo.executeOperation(params, { contextValue: context });
      if (body.kind !== 'single') throw new Error('Apollo answered with more than one part');
      return {
        status: http.status ?? 200,
        headers: Object.fromEntries(http.headers),
        result: body.singleResult as Outcome['result'],
      };
    },
    refuse: (errors, requestId, served) =>
      outcomeOf({ errors: errors as ExecutionResult['errors'] & object }, requestId, served),
    stop: () => apollo.stop(),
  };
}

const uncheckedFields = new Set(['acquire', 'adjustLease', 'releaseLease']);

/** Whether an operation may be sent with a token that could not be checked: it asks for nothing but these fields, which see to it. */
export const isOpenUnchecked = ({ operation, selectionSet: { selections } }: OperationDefinitionNode): boolean =>
  operation === 'mutation' &&
  selections.every((selection) => selection.kind === Kind.FIELD && uncheckedFields.has(selection.name.value));

/** A bounded set of labels: the one root field asked for, or that there are several. */
function rootName({ selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections;
  return first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'several';
}
