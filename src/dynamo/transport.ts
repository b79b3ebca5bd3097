import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Item } from './expression.js';

const commands = {
  get: GetCommand,
  batchGet: BatchGetCommand,
  put: PutCommand,
  update: UpdateCommand,
  delete: DeleteCommand,
  transact: TransactWriteCommand,
  query: QueryCommand,
  scan: ScanCommand,
  batchWrite: BatchWriteCommand,
  batchStatement: BatchExecuteStatementCommand,
} as const;
export type CallName = keyof typeof commands;

/** The replaceable layer below the store client. It makes one attempt of one call and throws errors as they came. */
export interface Transport {
  send(call: CallName, input: object): Promise<Record<string, unknown>>;
  /** Unmarshals an item inside an error, because the SDK does not. */
  decode(item: unknown): Item;
  close(): void;
}

export interface StoreEndpoint {
  /** Default: Amazon DynamoDB. */
  readonly endpoint?: string;
  /** Default: from the SDK's own chain. */
  readonly region?: string;
  /** For local engines, which accept any credentials. Default: from the SDK's own chain. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Opens connections to an engine that does not listen on an address. */
  readonly dial?: () => Promise<Socket>;
  /** After this time without a response a call is repeated or fails. */
  readonly requestTimeoutMs?: number;
}

export const connectMs = 300;
export const defaultRequestTimeoutMs = 1000;
/**
 * The SDK formats every input and output for `info` and `error` if they exist. Its credential chain needs the others.
 */
const logger = { debug() {}, warn() {}, trace() {} } as unknown as NonNullable<DynamoDBClientConfig['logger']>;
const sockets = { keepAlive: true, maxSockets: 128 };

/** An HTTP agent that opens its connections with `dial` if it is given. */
function agentOf({ dial }: StoreEndpoint): HttpAgent {
  const agent = new HttpAgent(sockets);
  type Created = (error: Error | null, socket?: Socket) => void;
  const createConnection = (_options: object, created: Created): void => {
    dial?.().then((socket) => created(null, socket), created);
  };
  return dial ? Object.assign(agent, { createConnection }) : agent;
}

const settingsOf = ({ endpoint, region, credentials }: StoreEndpoint): DynamoDBClientConfig => ({
  ...(region ? { region } : {}),
  ...(endpoint ? { endpoint } : {}),
  ...(credentials ? { credentials } : {}),
  logger,
});

/** The SDK client for creating and describing tables. It has no short timeout and uses the SDK's own retries. */
export const adminClient = (store: StoreEndpoint): DynamoDBClient =>
  new DynamoDBClient({
    ...settingsOf(store),
    ...(store.dial ? { requestHandler: new NodeHttpHandler({ httpAgent: agentOf(store) }) } : {}),
  });

function requestClient(store: StoreEndpoint): DynamoDBClient {
  return new DynamoDBClient({
    ...settingsOf(store),
    // The store client decides about retries, because only it knows whether a call is idempotent.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMs,
      requestTimeout: store.requestTimeoutMs ?? defaultRequestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agentOf(store),
      httpsAgent: new HttpsAgent(sockets),
    }),
  });
}

/** Numbers past 2^53 become bigint, all others number. */
export const exactNumber = (digits: string): number | bigint => {
  const number = Number(digits);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits);
};

const tokenField = ',"ClientRequestToken":"';

/**
 * Removes the random request token that the SDK adds as the last field of each transaction. Transactions recognise
 * their own success without it, and the embedded engine gets slower with each token of the last ten minutes.
 */
function withoutToken(body: string | Uint8Array): Buffer {
  const bytes =
    typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const from = bytes.lastIndexOf(tokenField);
  if (from < 0) return bytes;
  const to = bytes.indexOf('"', from + tokenField.length) + 1;
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}

function sendNoTokens(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const request = args.request as { body: string | Uint8Array };
        if (commandName === 'TransactWriteItemsCommand') request.body = withoutToken(request.body);
        return next(args);
      },
    // This runs before the SDK computes the length and the signature of the body.
    { step: 'build', priority: 'high', name: 'sendNoTokens' },
  );
}

export function sdkTransport(endpoint: StoreEndpoint): Transport {
  const raw = requestClient(endpoint);
  sendNoTokens(raw);
  const client = DynamoDBDocumentClient.from(raw, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: exactNumber as never },
  });
  return {
    send: (call, input) => client.send(new commands[call](input as never) as never) as Promise<never>,
    decode: (item) => unmarshall(item as never, { wrapNumbers: exactNumber as never }) as Item,
    close: () => raw.destroy(),
  };
}
