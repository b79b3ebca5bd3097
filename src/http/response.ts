import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type PublicError, statusOf } from '../graphql/errors.js';
import { qualitiesIn } from './accept.js';
import { limitHeaders } from './limit-headers.js';
import { HttpRefusal } from './request.js';
import type { ResponseBatcher } from './response-batcher.js';

/** A response that is ready to be sent. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `ok`, or the code of its first error: for the log line and the metrics. */
  readonly outcome: string;
}

/** The response to a request that was refused before it was executed. */
export function refusal(error: unknown, contentType: string, shown: PublicError): HttpResponse {
  const { code } = shown.extensions;
  const status = error instanceof HttpRefusal ? error.status : statusOf(code);
  return {
    status,
    headers: {
      'content-type': `${contentType}; charset=utf-8`,
      ...(error instanceof HttpRefusal ? error.headers : {}),
      ...limitHeaders(shown.extensions),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
    body: JSON.stringify({ errors: [shown] }),
    outcome: code,
  };
}

/** Sends immediately. */
export function respond(response: ServerResponse, reply: HttpResponse, requestId: string): void {
  if (writeHead(response, reply, reply.body, requestId)) response.end(reply.body);
}

/** Sends through the batcher, compressed if the body is large enough and the caller accepts it. */
export async function respondCompressed(
  response: ServerResponse,
  reply: HttpResponse,
  requestId: string,
  batcher: ResponseBatcher,
): Promise<void> {
  const encoding =
    reply.body.length > minCompressedChars
      ? (['br', 'gzip'] as const).find((name) => isEncodingAccepted(response.req.headers['accept-encoding'], name))
      : undefined;
  if (encoding === undefined) {
    if (writeHead(response, reply, reply.body, requestId)) batcher.send(response, reply.body);
    return;
  }
  const body = await compressors[encoding](reply.body);
  const headers = { ...reply.headers, 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' };
  if (writeHead(response, { ...reply, headers }, body, requestId)) batcher.send(response, body);
}

/** False if the caller is gone, or has got a response already. */
function writeHead(
  response: ServerResponse,
  { status, headers }: HttpResponse,
  body: string | Buffer,
  requestId: string,
): boolean {
  if (response.destroyed || response.headersSent) return false;
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  return true;
}

const minCompressedChars = 1024;
const gzipped = promisify<string, object, Buffer>(gzip);
const brotlied = promisify<string, object, Buffer>(brotliCompress);
// Fast settings: a response is compressed once and read once.
const compressors = {
  br: (body: string) =>
    brotlied(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body: string) => gzipped(body, { level: 4 }),
} as const;

/** Whether an `Accept-Encoding` header accepts an encoding (RFC 9110). */
export function isEncodingAccepted(accept: string | string[] | undefined, encoding: keyof typeof compressors): boolean {
  const qualities = qualitiesIn(String(accept ?? ''));
  return (qualities.get(encoding) ?? qualities.get('*') ?? 0) > 0;
}
