import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { bounds } from '../graphql/bounds.js';
import type { GraphQLParams } from '../graphql/operations.js';
import { actorName, type Viewer } from '../identity/viewer.js';
import { addressBucket, parseAddress } from '../lib/address.js';
import { badInput, GatewayError } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { redactText } from '../lib/log.js';
import { plainJson } from './accept.js';

/** A request that is refused before it reaches GraphQL, with its HTTP status. */
export class HttpRefusal extends GatewayError {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('BAD_USER_INPUT', message, { issues: [{ path: 'request', message }] });
  }
}

/** Apollo clients first send only a hash. On this code they fall back to the whole query. */
export class PersistedQueryRefusal extends GatewayError {
  constructor() {
    super('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
  }
}

/** The request id of the caller, if it is valid in a log and a header and contains no secret; otherwise a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given) && redactText(given) === given
    ? given
    : newUuid();
}

/** The address of the caller; behind a trusted proxy, the address that the proxy reports. */
export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined;
  // The trusted proxy added the last entry. The entries before it are claims of the caller.
  const reported =
    typeof forwarded === 'string' ? parseAddress(forwarded.slice(forwarded.lastIndexOf(',') + 1).trim()) : undefined;
  return reported ?? parseAddress(request.socket.remoteAddress ?? '') ?? 'unknown';
}

/** The key of limits per caller: its client, or its address if it is anonymous. */
export const principalOf = (viewer: Viewer, address: string): string =>
  viewer.kind === 'ANONYMOUS' ? `address ${addressBucket(address)}` : actorName(viewer);

/** Whether the caller closed the connection. A refusal also ends the reading of the body, but throws a GatewayError. */
export const hungUp = (request: IncomingMessage, error: unknown): boolean =>
  request.destroyed && !request.complete && !(error instanceof GatewayError);

/** Reads the body up to its maximum size. */
export async function readBody(request: IncomingMessage, maxBytes: number = bounds.bodyBytes): Promise<string> {
  const body = await bytesOf(request, maxBytes);
  // Replacing invalid bytes could turn two different ids into the same one.
  if (!isUtf8(body)) throw new HttpRefusal(400, 'the body is not valid UTF-8');
  return body.toString('utf8');
}

/** Shared, because an error with a stack per closed connection would cost more than the request. */
const callerHungUp = new Error('the caller hung up');

function bytesOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = () => {
      request.off('data', append).resume();
      reject(new HttpRefusal(413, `the body is larger than ${maxBytes} bytes`, { connection: 'close' }));
    };
    const append = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) refuse();
      else chunks.push(chunk);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse();
    request.on('data', append);
    request.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once('close', () => reject(callerHungUp));
    return undefined;
  });
}

/** The operation of a POST or GET request. */
export async function paramsOf(request: IncomingMessage): Promise<GraphQLParams> {
  return request.method === 'POST' ? bodyParams(await jsonBody(request)) : searchParams(request);
}

/** The body as JSON. The content type must say so, because a page of another site cannot set it without a preflight. */
export async function jsonBody(request: IncomingMessage, maxBytes?: number): Promise<unknown> {
  const [type, ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (type !== plainJson || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    throw new HttpRefusal(415, `send a JSON body with content-type: ${plainJson}`);
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new HttpRefusal(415, 'send the body without a content-encoding');
  const body = await readBody(request, maxBytes);
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new HttpRefusal(400, 'the body is not valid JSON');
  }
}

/** The operation of a JSON body. */
export function bodyParams(body: unknown): GraphQLParams {
  if (Array.isArray(body)) throw new HttpRefusal(400, 'the body must be one operation: batches are not supported');
  if (!isRecord(body))
    throw new HttpRefusal(
      400,
      'the body must be a JSON object with `query`, and optionally `variables` and `operationName`',
    );
  return checkedParams(body);
}

function searchParams(request: IncomingMessage): GraphQLParams {
  if (request.method !== 'GET') throw new HttpRefusal(405, 'use POST, or GET for queries', { allow: 'GET, POST' });
  const search = new URL(request.url ?? '/', 'http://local').searchParams;
  const parsed = (name: string): unknown => {
    const text = search.get(name);
    if (!text) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new HttpRefusal(400, `the ${name} parameter is not valid JSON`);
    }
  };
  return checkedParams({
    query: search.get('query') ?? undefined,
    operationName: search.get('operationName') || undefined,
    variables: parsed('variables'),
    extensions: parsed('extensions'),
  });
}

function checkedParams({ query, operationName, variables, extensions }: Record<string, unknown>): GraphQLParams {
  if (query === undefined && isRecord(extensions) && extensions.persistedQuery !== undefined)
    throw new PersistedQueryRefusal();
  const issues = [
    ...(typeof query === 'string' && query !== '' ? [] : [{ path: 'query', message: 'must be a GraphQL document' }]),
    ...(operationName === undefined || operationName === null || typeof operationName === 'string'
      ? []
      : [{ path: 'operationName', message: 'must be a string' }]),
    ...(variables === undefined || variables === null || isRecord(variables)
      ? []
      : [{ path: 'variables', message: 'must be an object' }]),
    ...(extensions === undefined || extensions === null || isRecord(extensions)
      ? []
      : [{ path: 'extensions', message: 'must be an object' }]),
  ];
  if (issues.length > 0) throw badInput(...issues);
  return {
    query: query as string,
    ...(operationName ? { operationName: operationName as string } : {}),
    ...(variables ? { variables: variables as Record<string, unknown> } : {}),
  };
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
