import { type DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { Pool } from 'undici';
import type { Clock } from '../lib/clock.js';
import { Signer } from './sigv4.js';
import {
  adminClient,
  type CallName,
  connectMs,
  defaultRequestTimeoutMs,
  type StoreEndpoint,
  type Transport,
} from './transport.js';
import { type JsonObject, unmarshalItem, wireCalls } from './wire-format.js';

/**
 * Sends the same calls as the SDK with a fraction of its CPU: plain HTTP, a signing key cached for the day, and a fast
 * path for marshalling. Credentials, region and endpoint still come from the SDK's own chain.
 */
export const leanTransport = (endpoint: StoreEndpoint, clock: Clock): Transport => new LeanTransport(endpoint, clock);

class LeanTransport implements Transport {
  /** Resolves credentials, region and endpoint. No call is sent through it. */
  private readonly sdk: DynamoDBClient;
  private readonly signer: Signer;
  private hasExpiredCredentials = false;
  private connected: Promise<StoreConnection> | undefined;

  constructor(
    private readonly endpoint: StoreEndpoint,
    clock: Clock,
  ) {
    this.sdk = adminClient(endpoint);
    this.signer = new Signer(clock);
  }

  async send(call: CallName, input: object): Promise<JsonObject> {
    const { pool, host, path, region } = await this.connection();
    const { operation, encode, decode } = wireCalls[call];
    const body = encoded(() => JSON.stringify(encode(input as JsonObject)));
    const credentials = await this.sdk.config.credentials(this.hasExpiredCredentials ? { forceRefresh: true } : {});
    const target = `DynamoDB_20120810.${operation}`;
    const headers = this.signer.sign({ host, path, region, target, body, ...credentials });
    const { status, text } = await post(pool, path, headers, body);
    if (status !== 200) {
      const fault = faultOf(status, text);
      this.hasExpiredCredentials = fault.name === 'ExpiredTokenException';
      throw fault;
    }
    this.hasExpiredCredentials = false;
    return decode(JSON.parse(text) as JsonObject);
  }

  decode(item: unknown): never {
    return unmarshalItem(item);
  }

  close(): void {
    void this.connected?.then(
      ({ pool }) => pool.close(),
      () => undefined,
    );
    this.sdk.destroy();
  }

  private connection(): Promise<StoreConnection> {
    this.connected ??= connect(this.sdk, this.endpoint).catch((error: unknown) => {
      // The next call tries the SDK's chain again.
      this.connected = undefined;
      throw error;
    });
    return this.connected;
  }
}

interface Destination {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

interface StoreConnection {
  readonly pool: Pool;
  readonly host: string;
  readonly path: string;
  readonly region: string;
}

async function connect(sdk: DynamoDBClient, { dial, requestTimeoutMs }: StoreEndpoint): Promise<StoreConnection> {
  const timeoutMs = requestTimeoutMs ?? defaultRequestTimeoutMs;
  const { protocol, hostname, port, path } = await destinationOf(sdk);
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
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 30_000,
  });
  return { pool, host: origin.host, path, region: await sdk.config.region() };
}

/** Where the SDK would send a call. Its rules know `AWS_ENDPOINT_URL`, FIPS, dual-stack and account endpoints. */
const destinationOf = (sdk: DynamoDBClient): Promise<Destination> =>
  new Promise<Destination>((resolve, reject) => {
    const instead = async ({ request }: { readonly request: unknown }) => {
      resolve(request as Destination);
      return { response: {}, output: { $metadata: {} } };
    };
    sdk.middlewareStack.add(() => instead, { step: 'build', priority: 'low', name: 'instead', override: true });
    sdk.send(new ListTablesCommand({})).catch(reject);
  });

/** Uses a dispatch handler, because `pool.request` makes a stream for each response, which costs more than the call. */
function post(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const chunks: Buffer[] = [];
    const text = () => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8');
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, statusCode) {
          status = statusCode;
        },
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve({ status, text: text() }),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

/** A call that cannot be encoded was not sent. It is a bug, so it must not be retried. */
function encoded(encode: () => string): string {
  try {
    return encode();
  } catch (error) {
    throw Object.assign(error as Error, { $fault: 'client' });
  }
}

/** An error of the same shape as the SDK's, so that `classify` serves both transports. */
function faultOf(status: number, text: string): Error {
  let body: JsonObject = {};
  try {
    body = JSON.parse(text) as JsonObject;
  } catch {
    // Not a response of DynamoDB: a proxy's error page, for example. Only the status is known.
  }
  const name =
    String(body.__type ?? `Status${status}`)
      .split('#')
      .pop() ?? '';
  const error = new Error(String(body.message ?? body.Message ?? `DynamoDB responded with status ${status}`));
  error.name = name;
  return Object.assign(error, {
    $fault: status >= 500 ? 'server' : 'client',
    Item: body.Item,
    CancellationReasons: body.CancellationReasons,
  });
}
