import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../app.js';
import { actorName, type Viewer } from '../identity/viewer.js';
import { badInput, GatewayError, unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import { redactText } from '../lib/log.js';
import { within } from '../lib/timers.js';
import type { Units } from '../lib/units.js';
import type { Admission } from './admission.js';
import { bounds } from './bounds.js';
import { createContext } from './context.js';
import { authenticateRequest } from './credentials.js';
import { limitHeaders, type Mask, type PublicError, statusOf } from './errors.js';
import type { GraphQLParams, HttpContext, Operations, Served } from './operations.js';
import type { Outbox } from './outbox.js';
import { type Turnstile, tooMuch } from './turnstile.js';

const graphqlJson = 'application/graphql-response+json';
export const plainJson = 'application/json';

/** A request refused before GraphQL had a say, with the status that says it best. */
export class HttpRefusal extends GatewayError {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('BAD_USER_INPUT', message, { issues: [{ path: 'request', message }] });
  }
}

/** Taken over from the caller where it is fit for a log and a header, and no secret in the wrong place; else made. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given) && redactText(given) === given ? given : newUuid();
}

/** The caller's address; behind a proxy that is to be trusted, the one it vouches for. */
export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined;
  // The last entry is the one our own proxy added; those before it are the caller's word.
  const vouched = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return vouched || (request.socket.remoteAddress ?? 'unknown');
}

/** A caller's bucket: its client where it has one, else where it comes from. */
export const principalOf = (viewer: Viewer, address: string): string => (viewer.kind === 'ANONYMOUS' ? `address ${address}` : actorName(viewer));

/** Whether it was the caller that went away; what we refuse ourselves also ends the reading of its body. */
export const hungUp = (request: IncomingMessage, error: unknown): boolean => request.destroyed && !request.complete && !(error instanceof GatewayError);

/** Reads the body, but no more of it than allowed. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const body = await bytesOf(request);
  // Mended in silence, two different texts could become the same id.
  if (!isUtf8(body)) throw new HttpRefusal(400, 'the body is not valid UTF-8');
  return body.toString('utf8');
}

function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = () => {
      request.off('data', take).resume();
      reject(new HttpRefusal(413, `the body is larger than ${bounds.bodyBytes} bytes`, { connection: 'close' }));
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > bounds.bodyBytes) refuse();
      else chunks.push(chunk);
    };
    if (Number(request.headers['content-length'] ?? 0) > bounds.bodyBytes) return refuse();
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    request.once('close', () => reject(new Error('the caller hung up')));
    return undefined;
  });
}

export interface GraphQLHttp {
  readonly services: Services;
  readonly operations: Operations;
  readonly admission: Admission;
  readonly turnstile: Turnstile;
  readonly mask: Mask;
  readonly outbox: Outbox;
}

/** POST /graphql, and GET for queries, by the GraphQL-over-HTTP specification. */
export async function handleGraphQL(
  { services, operations, admission, turnstile, mask, outbox }: GraphQLHttp,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { config, store, metrics, log, clock } = services;
  const startedMs = clock.monotonicMs();
  const requestId = requestIdOf(request.headers);
  const address = addressOf(request, config.trustProxy);
  const units: Units = { read: 0, write: 0, calls: 0 };
  const served: Served = { operation: 'none', isQuery: false, units, codes: [] };
  let viewer: Viewer = { kind: 'ANONYMOUS' };
  let answer: Answer;
  let contentType = plainJson;
  try {
    contentType = negotiate(request.headers.accept);
    const params = await paramsOf(request);
    operations.refuseList(params, served);
    const serve = async () => {
      const leave = await turnstile.enter();
      let release: (() => void) | undefined;
      try {
        // Nobody waits for it any more: what it would change, its caller would not hear of.
        if (response.destroyed || clock.monotonicMs() - startedMs > bounds.operationMs) throw tooMuch();
        viewer = await authenticateRequest(services, request, address);
        release = admission.admit(principalOf(viewer, address));
        const context = createContext(services, { viewer, requestId, address, limited: (refusal) => (served.refusal = refusal) });
        const contextValue: HttpContext = Object.assign(context, { served });
        const { status, headers, result } = await operations.run(request.method ?? 'POST', params, contextValue);
        // Clients that know only application/json take any other status for a broken gateway.
        const isLegacy = contentType === plainJson && !('data' in result) && status === 400;
        return { status: isLegacy ? 200 : status, headers: { ...headers, 'content-type': `${contentType}; charset=utf-8` }, body: JSON.stringify(result) };
      } finally {
        release?.();
        leave();
      }
    };
    // Following a request through all its waits costs a fifth of its CPU: only where a line of the log will tell its units.
    const work = log.isLevelEnabled('info') ? store.metered(units, serve) : serve();
    answer = await within(bounds.operationMs, work, () => {
      units.isOver = served.isQuery;
      throw unavailable(`the operation took longer than ${bounds.operationMs} ms`);
    });
  } catch (caught) {
    const error = served.thrown ?? caught;
    // A caller that hung up in mid-request is no fault of anybody here.
    if (hungUp(request, error)) return;
    const told = mask(error, requestId);
    served.codes = [told.extensions.code];
    answer = refusal(error, contentType, told);
  }
  respond(response, answer, requestId, outbox);
  const ms = Math.round((clock.monotonicMs() - startedMs) * 10) / 10;
  const outcome = served.codes[0] ?? 'ok';
  metrics.requests.inc({ operation: served.operation, outcome });
  metrics.requestSeconds.observe({ operation: served.operation }, ms / 1000);
  log.info(
    { requestId, operation: served.operation, principal: principalOf(viewer, address), ms, read: units.read, write: units.write, calls: units.calls, outcome },
    'request',
  );
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer to what was refused before it was executed. */
export function refusal(error: unknown, contentType: string, told: PublicError): Answer {
  const status = error instanceof HttpRefusal ? error.status : statusOf(told.extensions.code);
  return {
    status,
    headers: {
      'content-type': `${contentType}; charset=utf-8`,
      ...(error instanceof HttpRefusal ? error.headers : {}),
      ...limitHeaders(told.extensions),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
    body: JSON.stringify({ errors: [told] }),
  };
}

/** At once, or by the outbox with others. */
export function respond(response: ServerResponse, { status, headers, body }: Answer, requestId: string, outbox?: Outbox): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store', 'x-request-id': requestId });
  if (outbox) outbox.send(response, body);
  else response.end(body);
}

/** The newer media type where it is asked for by name; an answer in a type that was not asked for helps nobody. */
function negotiate(accept: string | undefined): string {
  if (accept === undefined || accept.trim() === '') return plainJson;
  const ranges = accept.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase());
  const first = ranges.find((range) => range === graphqlJson || range === plainJson || range === '*/*' || range === 'application/*');
  if (!first) throw new HttpRefusal(406, `answers are ${graphqlJson} or ${plainJson}; the accept header takes neither`);
  return first === graphqlJson ? graphqlJson : plainJson;
}

/** The operation of a request, by POST or GET. */
export async function paramsOf(request: IncomingMessage): Promise<GraphQLParams> {
  return request.method === 'POST' ? bodyParams(await jsonBody(request)) : searchParams(request);
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const [type, ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (type !== plainJson || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')) {
    throw new HttpRefusal(415, `send a JSON body with content-type: ${plainJson}`);
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new HttpRefusal(415, `send the body as it is: ${encoding} is not read`);
  const body = await readBody(request);
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new HttpRefusal(400, 'the body is not valid JSON');
  }
}

function bodyParams(body: unknown): GraphQLParams {
  if (Array.isArray(body)) throw new HttpRefusal(400, 'the body must be one operation: batches are not served');
  if (!isRecord(body)) throw new HttpRefusal(400, 'the body must be a JSON object with `query`, and perhaps `variables` and `operationName`');
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
  const issues = [
    ...(typeof query === 'string' && query !== '' ? [] : [{ path: 'query', message: 'must be a GraphQL document' }]),
    ...(operationName === undefined || operationName === null || typeof operationName === 'string'
      ? []
      : [{ path: 'operationName', message: 'must be a string' }]),
    ...(variables === undefined || variables === null || isRecord(variables) ? [] : [{ path: 'variables', message: 'must be an object' }]),
    ...(extensions === undefined || extensions === null || isRecord(extensions) ? [] : [{ path: 'extensions', message: 'must be an object' }]),
  ];
  if (issues.length > 0) throw badInput(...issues);
  return {
    query: query as string,
    ...(operationName ? { operationName: operationName as string } : {}),
    ...(variables ? { variables: variables as Record<string, unknown> } : {}),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
