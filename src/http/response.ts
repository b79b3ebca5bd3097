import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type PublicError, statusOf } from '../graphql/errors.js';
import { qualitiesIn } from './accept.js';
import { limitHeaders } from './limit-headers.js';
import { HttpRefusal } from './request.js';
import type { ResponseBatcher } from './response-batcher.js';

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

/** Sends at once, or through the batcher together with others. */
export function respond(response: ServerResponse, answer: Answer, requestId: string, batcher?: ResponseBatcher): void {
  send(response, answer, answer.body, requestId, batcher);
}

/** The same, compressed if that is worth it and the caller can read it. */
export async function respondCompressed(
  response: ServerResponse,
  answer: Answer,
  requestId: string,
  batcher: ResponseBatcher,
): Promise<void> {
  const encoding =
    answer.body.length > minCompressedChars
      ? (['br', 'gzip'] as const).find((name) => isEncodingAccepted(response.req.headers['accept-encoding'], name))
      : undefined;
  if (encoding === undefined) return send(response, answer, answer.body, requestId, batcher);
  const body = await compressors[encoding](answer.body);
  return send(
    response,
    { ...answer, headers: { ...answer.headers, 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' } },
    body,
    requestId,
    batcher,
  );
}

function send(
  response: ServerResponse,
  { status, headers }: Answer,
  body: string | Buffer,
  requestId: string,
  batcher?: ResponseBatcher,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  if (batcher) batcher.send(response, body);
  else response.end(body);
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

/** Whether the caller can read an encoding, by RFC 9110. */
export function isEncodingAccepted(accept: string | string[] | undefined, encoding: keyof typeof compressors): boolean {
  const qualities = qualitiesIn(String(accept ?? ''));
  return (qualities.get(encoding) ?? qualities.get('*') ?? 0) > 0;
}
