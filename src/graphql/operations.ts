import { ApolloServer, type GraphQLRequestListener, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { Services } from '../app.js';
import { type LimitDecision, limitHeaders, limitStatusHeaders } from '../http/limit-headers.js';
import { badInput, GatewayError } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import type { Units } from '../lib/units.js';
import type { ConcurrencyLimiter } from '../load/concurrency-limiter.js';
import { bounds } from './bounds.js';
import type { Context } from './context.js';
import { asGraphQLError, type DocumentCache } from './documents.js';
import { boundedErrors, type Mask, type PublicErrors, statusOf } from './errors.js';
import { Executor, executionOptions } from './executor.js';
import type { PreparedOperation } from './prepared-operation.js';

export interface GraphQLParams {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Record<string, unknown>;
}

/** One operation to execute. Apollo passes it on as its context value. */
export interface OperationCall {
  readonly prepared: PreparedOperation;
  readonly params: GraphQLParams;
  readonly context: Context;
  /** Counts the reads of the operation, and stops them if it times out. */
  readonly units: Units;
}

/** The response to an operation, before it is written to a transport. */
export interface OperationResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly result: { readonly data?: unknown } & Partial<PublicErrors>;
  /** The codes of its errors, each once. */
  readonly codes: readonly string[];
}

export interface OperationDeps {
  readonly schema: GraphQLSchema;
  readonly production: boolean;
  readonly documents: DocumentCache;
  readonly store: Pick<Services['store'], 'metered'>;
  readonly mask: Mask;
  readonly log: Log;
  readonly concurrency: ConcurrencyLimiter;
}

/**
 * Executes prepared operations. Apollo runs the request, and the executor returns its result by `responseForOperation`.
 */
export class Operations {
  private readonly executor: Executor;
  private readonly options: ReturnType<typeof executionOptions>;
  private readonly apollo: ApolloServer<OperationCall>;

  private constructor(private readonly deps: OperationDeps) {
    this.executor = new Executor(deps.schema);
    this.options = executionOptions(deps.schema, deps.production);
    this.apollo = newApollo(deps, (call) => this.respond(call));
  }

  static async start(deps: OperationDeps): Promise<Operations> {
    const operations = new Operations(deps);
    await operations.apollo.start();
    return operations;
  }

  async run(call: OperationCall): Promise<OperationResponse> {
    const { http, body } = await this.apollo.executeOperation(call.params, { contextValue: call });
    if (body.kind !== 'single') throw new Error('Apollo returned more than one part');
    const result = body.singleResult as OperationResponse['result'];
    return { status: http.status ?? 200, headers: Object.fromEntries(http.headers), result, codes: codesOf(result) };
  }

  /** The response to a document that cannot be executed. */
  refuse(errors: readonly unknown[], requestId: string): OperationResponse {
    const response = this.responseOf({ errors: errors as ExecutionResult['errors'] & object }, requestId);
    return { ...response, codes: codesOf(response.result) };
  }

  stop(): Promise<void> {
    return this.apollo.stop();
  }

  private async respond(call: OperationCall): Promise<UncodedResponse> {
    const { requestId, limitDecisions } = call.context;
    try {
      const result = await this.execute(call);
      return this.responseOf(result, requestId, limitDecisions.decision);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.responseOf({ errors: [asGraphQLError(error)] }, requestId, limitDecisions.decision);
    }
  }

  private async execute({ prepared, params, context, units }: OperationCall): Promise<ExecutionResult> {
    const { document, operation } = prepared;
    const { operationName = null, variables = {} } = params;
    if (operation.operation === 'subscription')
      throw badInput({
        path: 'query',
        message: 'is a subscription: send it over WebSocket, or with `Accept: text/event-stream`',
      });
    const cost = prepared.cost(variables);
    context.work.charge(cost);
    // Compiling takes tens of milliseconds, so an anonymous caller must not be able to cause it.
    const mayCompile = context.viewer.kind !== 'ANONYMOUS';
    const args = { ...this.options, document, contextValue: context, operationName, variableValues: variables };
    const run = () => this.executor.execute(operation, args, mayCompile);
    if (cost < bounds.listComplexity) return run();
    this.deps.concurrency.refuseList();
    // Metered at every log level, because a list that times out must stop reading.
    return this.deps.store.metered(units, run);
  }

  private responseOf({ data, errors }: ExecutionResult, requestId: string, decision?: LimitDecision): UncodedResponse {
    const headers = decision ? limitStatusHeaders(decision) : {};
    if (!errors) return { status: 200, headers, result: { data } };
    const shown = boundedErrors(errors, (error) => this.deps.mask(error, requestId));
    for (const { extensions } of shown.errors) Object.assign(headers, limitHeaders(extensions));
    // Without data the operation was refused before it was executed.
    return data === undefined
      ? { status: statusOf(shown.errors[0]?.extensions.code as string), headers, result: shown }
      : { status: 200, headers, result: { ...shown, data } };
  }
}

type UncodedResponse = Omit<OperationResponse, 'codes'>;

const noCodes: readonly string[] = [];
const codesOf = ({ errors }: OperationResponse['result']): readonly string[] =>
  errors ? [...new Set(errors.map(({ extensions }) => extensions.code))] : noCodes;

function newApollo(
  { schema, documents, log }: OperationDeps,
  respond: (call: OperationCall) => Promise<UncodedResponse>,
): ApolloServer<OperationCall> {
  const listener: GraphQLRequestListener<OperationCall> = {
    async responseForOperation({ contextValue }) {
      const { status, headers, result } = await respond(contextValue);
      return {
        http: { status, headers: new HeaderMap(Object.entries(headers)) },
        // The errors are already masked. `formatError` cannot do that: Apollo calls it only for errors of its own
        // execution, and without the request id.
        body: { kind: 'single', singleResult: result as FormattedExecutionResult },
      };
    },
  };
  return new ApolloServer<OperationCall>({
    schema,
    includeStacktraceInErrorResponses: false,
    // A cookie counts only for requests of the console's own pages, which is checked before Apollo, as are content
    // types. So a page of another site has no authority to abuse.
    csrfPrevention: false,
    persistedQueries: false,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    // Every document is parsed, bounded and validated before Apollo sees its query.
    documentStore: documents.asApolloStore(),
    logger: { debug() {}, info() {}, warn: (message) => log.warn(message), error: (message) => log.error(message) },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      { requestDidStart: async () => listener },
    ],
  });
}

const uncheckedFields = new Set(['acquire', 'adjustLease', 'releaseLease']);

/**
 * Whether an operation may run with a token whose revocation could not be checked: all its root fields are of these,
 * and they decide by themselves what such a token may do.
 */
export const allowsUncheckedToken = ({ operation, selectionSet: { selections } }: OperationDefinitionNode): boolean =>
  operation === 'mutation' &&
  selections.every((selection) => selection.kind === Kind.FIELD && uncheckedFields.has(selection.name.value));
