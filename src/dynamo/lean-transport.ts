import crypto, { createHash, createHmac } from 'node:crypto';
import { type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { Pool } from 'undici';
import type { Clock } from '../lib/clock.js';
import {
  adminClient,
  type CallName,
  connectMs,
  exactNumber,
  requestMs,
  type StoreEndpoint,
  type Transport,
} from './transport.js';

/**
 * The same calls as through the SDK at a fraction of its CPU: plain HTTP, a signing key kept for the day, and the SDK's
 * own marshalling. Credentials, region and endpoint still come from the SDK's own chain.
 */
export function leanTransport(endpoint: StoreEndpoint, clock: Clock): Transport {
  // For what it knows; nothing is sent through it but what its chain asks for credentials.
  const sdk = adminClient(endpoint);
  const signer = new Signer(clock);
  let haveExpired = false;
  let connected: Promise<Connection> | undefined;
  const connection = (): Promise<Connection> => {
    connected ??= connect(sdk, endpoint).catch((error: unknown) => {
      // The next call asks the chain again.
      connected = undefined;
      throw error;
    });
    return connected;
  };

  return {
    async send(call, input) {
      const { pool, host, path, region } = await connection();
      const { operation, encode, decode } = calls[call];
      const body = encoded(() => JSON.stringify(encode(input as Fields)));
      const credentials = await sdk.config.credentials(haveExpired ? { forceRefresh: true } : {});
      const headers = signer.sign({
        host,
        path,
        region,
        target: `DynamoDB_20120810.${operation}`,
        body,
        ...credentials,
      });
      const { status, text } = await answerTo(pool, path, headers, body);
      if (status !== 200) {
        const fault = faultOf(status, text);
        haveExpired = fault.name === 'ExpiredTokenException';
        throw fault;
      }
      haveExpired = false;
      return decode(JSON.parse(text) as Fields);
    },
    decode: fromStore,
    close() {
      void connected?.then(
        ({ pool }) => pool.close(),
        () => undefined,
      );
      sdk.destroy();
    },
  };
}

interface Destination {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

interface Connection {
  readonly pool: Pool;
  readonly host: string;
  readonly path: string;
  readonly region: string;
}

/** To where the SDK would send a call: its own rules know of `AWS_ENDPOINT_URL`, FIPS, dual stacks and the endpoints of accounts. */
async function connect(sdk: DynamoDBClient, { dial }: StoreEndpoint): Promise<Connection> {
  const { protocol, hostname, port, path } = await new Promise<Destination>((resolve, reject) => {
    const instead = async ({ request }: { readonly request: unknown }) => {
      resolve(request as Destination);
      return { response: {}, output: { $metadata: {} } };
    };
    sdk.middlewareStack.add(() => instead, { step: 'build', priority: 'low', name: 'instead', override: true });
    sdk.send(new ListTablesCommand({})).catch(reject);
  });
  const origin = new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}`);
  const pool = new Pool(origin.origin, {
    connections: 128,
    connect: dial
      ? (_, opened) => {
          dial().then(
            (socket) => opened(null, socket),
            (error: Error) => opened(error, null),
          );
        }
      : { timeout: connectMs },
    headersTimeout: requestMs,
    bodyTimeout: requestMs,
    keepAliveTimeout: 30_000,
  });
  return { pool, host: origin.host, path, region: await sdk.config.region() };
}

/** By a handler of our own: undici's requests make a stream for each answer, which costs more than the call. */
function answerTo(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const chunks: Buffer[] = [];
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, statusCode) {
          status = statusCode;
        },
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () =>
          resolve({
            status,
            text: (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8'),
          }),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

/** What cannot be encoded was never sent, and is ours to mend. */
function encoded(encode: () => string): string {
  try {
    return encode();
  } catch (error) {
    throw Object.assign(error as Error, { $fault: 'client' });
  }
}

type Fields = Record<string, unknown>;

/** As the SDK marshals, which only what is not plain is left to: most of what we send and get is text and numbers. */
function toStore(item: unknown): Fields {
  const stored: Fields = {};
  for (const [name, value] of Object.entries(item as Fields)) {
    if (value === undefined) continue;
    if (typeof value === 'string') stored[name] = { S: value };
    else if (typeof value === 'bigint' || Number.isSafeInteger(value)) stored[name] = { N: String(value) };
    else stored[name] = marshall({ value }, { removeUndefinedValues: true }).value;
  }
  return stored;
}

function fromStore(stored: unknown): never {
  const item: Fields = {};
  for (const [name, value] of Object.entries(stored as Record<string, { S?: string; N?: string }>)) {
    if (value.S !== undefined) item[name] = value.S;
    else if (value.N !== undefined) item[name] = exactNumber(value.N);
    else item[name] = unmarshall({ value } as never, { wrapNumbers: exactNumber as never }).value;
  }
  return item as never;
}

/** The fields of a call that hold items, keys or values. */
function encodeFields(input: Fields): Fields {
  const encoded = { ...input };
  for (const name of ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])
    if (input[name] !== undefined) encoded[name] = toStore(input[name]);
  return encoded;
}

function decodeFields(output: Fields): Fields {
  const decoded = { ...output };
  for (const name of ['Item', 'Attributes', 'LastEvaluatedKey'])
    if (output[name] !== undefined) decoded[name] = fromStore(output[name]);
  if (output.Items !== undefined) decoded.Items = (output.Items as unknown[]).map(fromStore);
  return decoded;
}

const mapped = (tables: unknown, change: (value: never) => unknown): Fields =>
  Object.fromEntries(Object.entries((tables ?? {}) as Fields).map(([table, value]) => [table, change(value as never)]));

interface Call {
  readonly operation: string;
  encode(input: Fields): Fields;
  decode(output: Fields): Fields;
}

const plain = (operation: string): Call => ({ operation, encode: encodeFields, decode: decodeFields });

const calls: Readonly<Record<CallName, Call>> = {
  get: plain('GetItem'),
  put: plain('PutItem'),
  update: plain('UpdateItem'),
  delete: plain('DeleteItem'),
  query: plain('Query'),
  scan: plain('Scan'),
  transact: {
    operation: 'TransactWriteItems',
    encode: (input) => ({
      ...input,
      TransactItems: (input.TransactItems as Fields[]).map((item) => mapped(item, encodeFields)),
    }),
    decode: (output) => output,
  },
  batchGet: {
    operation: 'BatchGetItem',
    encode: (input) => ({
      ...input,
      RequestItems: mapped(input.RequestItems, (request: Fields) => ({
        ...request,
        Keys: (request.Keys as unknown[]).map(toStore),
      })),
    }),
    decode: (output) => ({
      ...output,
      Responses: mapped(output.Responses, (items: unknown[]) => items.map(fromStore)),
      UnprocessedKeys: mapped(output.UnprocessedKeys, (request: Fields) => ({
        ...request,
        Keys: (request.Keys as unknown[]).map(fromStore),
      })),
    }),
  },
  batchWrite: {
    operation: 'BatchWriteItem',
    encode: (input) => ({
      ...input,
      RequestItems: mapped(input.RequestItems, (writes: Fields[]) =>
        writes.map((write) => mapped(write, encodeFields)),
      ),
    }),
    decode: (output) => ({
      ...output,
      UnprocessedItems: mapped(output.UnprocessedItems, (writes: Fields[]) =>
        writes.map((write) => mapped(write, (fields: Fields) => mapped(fields, fromStore))),
      ),
    }),
  },
};

/** An error of the same shape as the SDK's, so that one classification serves both. */
function faultOf(status: number, text: string): Error {
  let body: Fields = {};
  try {
    body = JSON.parse(text) as Fields;
  } catch {
    // Not from DynamoDB at all: a proxy's page, say. The status is all there is.
  }
  const name =
    String(body.__type ?? `Status${status}`)
      .split('#')
      .pop() ?? '';
  const error = new Error(String(body.message ?? body.Message ?? `the store answered ${status}`));
  error.name = name;
  return Object.assign(error, {
    $fault: status >= 500 ? 'server' : 'client',
    Item: body.Item,
    CancellationReasons: body.CancellationReasons,
  });
}

interface Unsigned {
  readonly host: string;
  readonly path: string;
  readonly region: string;
  readonly target: string;
  readonly body: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

// In one go where Node can (20.12 and later): a hash object costs more than the hashing.
const hash: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text)
    : (text) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** AWS Signature Version 4. The derived key changes once a day, so it is derived once a day. */
class Signer {
  private known: { readonly name: string; readonly key: Buffer } | undefined;
  private second = Number.NaN;
  private stamp = '';

  constructor(private readonly clock: Clock) {}

  sign({
    host,
    path,
    region,
    target,
    body,
    accessKeyId,
    secretAccessKey,
    sessionToken,
  }: Unsigned): Record<string, string> {
    // The store compares with its own clock, so this is the machine's time and not a test's.
    const second = Math.floor(this.clock.nowMs() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.stamp = new Date(second * 1000).toISOString().replace(/[-:]|\.\d{3}/g, '');
    }
    const { stamp } = this;
    const date = stamp.slice(0, 8);
    const scope = `${date}/${region}/dynamodb/aws4_request`;
    const token = sessionToken ? { 'x-amz-security-token': sessionToken } : {};
    const headers: Record<string, string> = {
      'content-type': 'application/x-amz-json-1.0',
      host,
      'x-amz-date': stamp,
      ...token,
      'x-amz-target': target,
    };
    const names = Object.keys(headers).join(';');
    const canonical = `POST\n${path}\n\n${Object.entries(headers)
      .map(([name, value]) => `${name}:${value}\n`)
      .join('')}\n${names}\n${hash(body)}`;
    const signature = mac(
      this.keyFor(date, region, secretAccessKey),
      `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash(canonical)}`,
    ).toString('hex');
    return {
      ...headers,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  private keyFor(date: string, region: string, secret: string): Buffer {
    const name = `${date} ${region} ${secret}`;
    if (this.known?.name !== name)
      this.known = {
        name,
        key: ['dynamodb', 'aws4_request'].reduce<Buffer>(
          (key, part) => mac(key, part),
          mac(mac(`AWS4${secret}`, date), region),
        ),
      };
    return this.known.key;
  }
}
