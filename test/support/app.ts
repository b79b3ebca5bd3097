import { randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type GraphQLSchema, print } from 'graphql';
import { type Config, loadConfig } from '../../src/config.js';
import type { TableAdmin } from '../../src/dynamo/table-admin.js';
import { adminClient } from '../../src/dynamo/transport.js';
import { type Gateway, startGateway } from '../../src/gateway.js';
import { createSchema } from '../../src/graphql/schema.js';
import { newSigningKeys } from '../../src/identity/token.js';
import { type Log, silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import { ManualClock } from './clock.js';
import { createTestTables } from './create-tables.js';
import * as op from './operations.js';
import { patience } from './patience.js';

export const adminKey = 'admin-key-of-the-tests-0123456789abcdef';

export interface PublicError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: {
    readonly code: string;
    readonly requestId: string;
    readonly issues?: readonly { path: string; message: string }[];
    readonly retryable?: boolean;
    readonly retryAfterSecs?: number;
    readonly currentVersion?: number;
  };
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** Null if a mutation failed, because its root field is null then and tests send one mutation at a time. */
  readonly data: Succeeded<T> | null | undefined;
  readonly errors: readonly PublicError[] | undefined;
}

/** The data of a successful operation: no root field is null. */
export type Succeeded<T> = { readonly [K in keyof T]: NonNullable<T[K]> };

const maxStarvedRetries = 60;

export type RequestHeaders = Record<string, string>;

/** One caller of the API, with its credentials. */
export class Caller {
  constructor(
    readonly url: string,
    readonly headers: RequestHeaders = {},
  ) {}

  /** Sends an operation and returns the response, successful or not. */
  async send<T, V>(
    document: TypedDocumentNode<T, V> | string,
    variables?: V,
    headers: RequestHeaders = {},
  ): Promise<Answer<T>> {
    const query = typeof document === 'string' ? document : print(document);
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers, ...headers },
      body: JSON.stringify({ query, variables }),
    };
    const isMutation = query.trimStart().startsWith('mutation');
    const response = await fetch(this.url, init).catch((error: unknown) => {
      // On a busy machine the gateway may close an idle connection just as it is used again. Like other clients, this
      // one retries a query once.
      if (isMutation || !isReset(error)) throw error;
      return fetch(this.url, init);
    });
    const { data, errors } = (await response.json()) as { data?: Succeeded<T>; errors?: PublicError[] };
    const isFailedMutation = isMutation && errors !== undefined && data !== undefined;
    return { status: response.status, headers: response.headers, data: isFailedMutation ? null : data, errors };
  }

  /** Opens a subscription and closes it again. Returns its error, or no data if it was accepted. */
  async subscribeOnce(query: string, variables: object): Promise<Answer<unknown>> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...this.headers },
      body: JSON.stringify({ query, variables }),
    });
    const { status, headers } = response;
    if (!headers.get('content-type')?.startsWith('text/event-stream'))
      return { status, headers, data: null, ...((await response.json()) as { errors: PublicError[] }) };
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    // The first lines are either an error, or the heartbeat that opens the stream.
    for (let i = 0; i < 3 && !text.includes('event:'); i++) {
      const next = await Promise.race([reader?.read(), new Promise<undefined>((resolve) => setTimeout(resolve, 150))]);
      text += next?.value ?? '';
    }
    await reader?.cancel();
    const [, event = '{}'] = /event: next\ndata: (.*)/.exec(text) ?? [];
    const { data, errors } = JSON.parse(event) as { data?: unknown; errors?: PublicError[] };
    return { status, headers, data: data as Succeeded<unknown> | undefined, errors };
  }

  /** The data of an operation that must succeed. */
  async ask<T, V>(document: TypedDocumentNode<T, V> | string, variables?: V): Promise<Succeeded<T>> {
    for (let attempt = 0; ; attempt++) {
      const { data, errors } = await this.send(document, variables);
      if (data && !errors) return data;
      // On an overloaded machine a gateway may get no response from its store for seconds. It has not started the
      // operation then.
      const wasStarved = errors?.every(({ message }) => message.startsWith('revocations cannot be checked'));
      if (!wasStarved || attempt === maxStarvedRetries)
        throw new Error(`the operation failed: ${JSON.stringify(errors)}`);
      await sleep(500);
    }
  }

  /** The code of the error of an operation that must fail with one error. */
  async codeOf<T, V>(document: TypedDocumentNode<T, V> | string, variables?: V): Promise<string> {
    const { errors } = await this.send(document, variables);
    if (errors?.length !== 1) throw new Error(`expected one error, got ${JSON.stringify(errors)}`);
    return errors[0]?.extensions.code ?? 'none';
  }
}

const isReset = (error: unknown): boolean => (error as { cause?: { code?: string } }).cause?.code === 'ECONNRESET';

export interface TestApp {
  readonly url: string;
  /** Scheme, host and port, without a path. */
  readonly origin: string;
  readonly clock: ManualClock;
  readonly config: Config;
  readonly gateway: Gateway;
  readonly tableAdmin: TableAdmin;
  readonly admin: Caller;
  readonly anonymous: Caller;
  as(accessToken: string): Caller;
  /** Starts another gateway on the same tables, with its own caches, and with the same clock unless one is given. */
  another(overrides?: Partial<Config>, clock?: ManualClock): Promise<TestApp>;
  stop(): Promise<void>;
}

export interface TestOptions {
  readonly config?: Partial<Config>;
  readonly schema?: GraphQLSchema;
  readonly log?: Log;
  /** The endpoint of the engine, or of a proxy in front of it. */
  readonly endpoint?: string;
  /** For a test of faults that waits for no timeout of a store call: the call may then take longer. */
  readonly isPatient?: boolean;
  readonly clock?: ManualClock;
}

export function testEndpoint(): string {
  const endpoint = process.env.TOLLGATE_TEST_ENDPOINT;
  if (!endpoint) throw new Error('TOLLGATE_TEST_ENDPOINT is not set; run the tests with `npm test`');
  return endpoint;
}

/** Tests that drop responses wait for the timeout of a call, so they keep the timeout of production. */
const isTestOfFaults = (): boolean => expect.getState().testPath?.includes('/faults/') ?? false;

/** A configuration with its own tables on the engine of this test run. */
export async function testConfig(overrides: Partial<Config> = {}): Promise<Config> {
  const base = loadConfig({
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: '0',
    DYNAMODB_ENDPOINT: testEndpoint(),
    AWS_REGION: 'eu-central-1',
    TABLE_PREFIX: `t${randomUUID().slice(0, 8)}_`,
    TOLLGATE_ADMIN_KEY: adminKey,
    API_KEY_PEPPER: 'a pepper of the tests, 32 bytes and more',
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
    BCRYPT_COST: '4',
    STORE_CLIENT: process.env.TOLLGATE_TEST_STORE_CLIENT,
    LOG_LEVEL: 'silent',
  });
  return {
    ...base,
    loginPerAddressPerMinute: 10_000,
    operationTimeoutMs: base.operationTimeoutMs * patience,
    store: { ...base.store, ...(isTestOfFaults() ? {} : { requestTimeoutMs: 1000 * patience }) },
    ...overrides,
  };
}

/** Starts a gateway with the real schema on the real engine, and with a clock that the test can move. */
export async function startTestApp({
  config: overrides,
  schema,
  log = silentLog,
  endpoint,
  isPatient = false,
  clock = new ManualClock(),
}: TestOptions = {}): Promise<TestApp> {
  const config = await testConfig(overrides);
  const tableAdmin = { client: adminClient(config.store), prefix: config.store.tablePrefix, protect: false };
  await createTestTables(config.store, tableAdmin.prefix);
  const patient = isPatient ? { requestTimeoutMs: 1000 * patience } : {};
  const proxied = { ...config, store: { ...config.store, ...(endpoint ? { endpoint } : {}), ...patient } };
  return open(proxied, { tableAdmin, clock, log, schema: schema ?? (await sharedSchema()) });
}

let built: Promise<GraphQLSchema> | undefined;

/** One schema for all gateways of a test file. To build one takes longer than to start a gateway. */
const sharedSchema = (): Promise<GraphQLSchema> => {
  built ??= createSchema();
  return built;
};

interface AppDeps {
  readonly tableAdmin: TableAdmin;
  readonly clock: ManualClock;
  readonly log: Log;
  readonly schema: GraphQLSchema;
}

async function open(config: Config, deps: AppDeps): Promise<TestApp> {
  const gateway = await startGateway(config, deps);
  const { url } = gateway;
  return {
    url,
    origin: new URL(url).origin,
    clock: deps.clock,
    config,
    gateway,
    tableAdmin: deps.tableAdmin,
    admin: new Caller(url, { 'x-admin-key': adminKey }),
    anonymous: new Caller(url),
    as: (accessToken) => new Caller(url, { authorization: `Bearer ${accessToken}` }),
    another: (overrides = {}, clock = deps.clock) => open({ ...config, ...overrides }, { ...deps, clock }),
    stop: () => gateway.stop(),
  };
}

/** Returns a function that takes gateways as they start, and stops them all after the test file. */
export function stoppedAfterAll(): (starting: Promise<TestApp>) => Promise<TestApp> {
  const opened: TestApp[] = [];
  afterAll(() => Promise.all(opened.map((each) => each.stop())));
  return async (starting) => {
    const started = await starting;
    opened.push(started);
    return started;
  };
}

export const orgInput = (overrides: Partial<op.RegisterOrgInput> = {}): op.RegisterOrgInput => ({
  name: 'Acme',
  timezone: 'America/New_York',
  quotaScope: 'APP',
  modelOrdering: ['premium', 'standard', 'economy'],
  quotas: [
    { label: 'premium', dailyUsdMicros: 10_000_000 },
    { label: 'standard', dailyUsdMicros: 5_000_000 },
    { label: 'economy', dailyUsdMicros: 2_000_000 },
  ],
  ...overrides,
});

/** A complete reading. The schema requires no field, so that one invalid reading does not reject the whole batch. */
export type FullReading = {
  [K in Exclude<keyof op.ReadingInput, 'friendlyName'>]-?: NonNullable<op.ReadingInput[K]>;
} & Pick<op.ReadingInput, 'friendlyName'>;

export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly caller: Caller;
}

/** Redeems a retrieval token and logs in with the secret. */
export async function logInWith(app: TestApp, retrievalToken: string): Promise<Client> {
  const { retrieveSecret } = await app.anonymous.ask(op.RetrieveSecretDocument, { token: retrievalToken });
  const { issueToken } = await app.anonymous.ask(op.IssueTokenDocument, { input: retrieveSecret });
  return { ...retrieveSecret, ...issueToken, caller: app.as(issueToken.accessToken) };
}

/** A registered org with a logged-in client. */
export async function newOrg(
  app: TestApp,
  overrides: Partial<op.RegisterOrgInput> = {},
): Promise<Client & { readonly orgId: string }> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput(overrides) });
  return { orgId: registerOrg.org.orgId, ...(await logInWith(app, registerOrg.secretRetrieval.token)) };
}

/** A registered app of an org with a logged-in client. */
export async function newApp(
  app: TestApp,
  org: { readonly orgId: string },
  appId = 'chat',
  overrides: Partial<op.RegisterAppInput> = {},
): Promise<Client & { readonly orgId: string; readonly appId: string }> {
  const { registerApp } = await app.admin.ask(op.RegisterAppDocument, {
    input: { orgId: org.orgId, appId, name: 'Chat', ...overrides },
  });
  return { orgId: org.orgId, appId, ...(await logInWith(app, registerApp.secretRetrieval.token)) };
}
