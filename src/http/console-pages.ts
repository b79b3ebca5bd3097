import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConsoleFile, ConsoleFiles, ContentEncoding } from './console-files.js';
import { consolePath } from './paths.js';
import { isEncodingAccepted } from './response.js';
import { type Route, requireGet } from './route.js';

/** The headers of every response under the path of the console. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const indexName = 'index.html';
const notBuilt = 'The console is not built. Run `npm run build`, then restart the gateway.\n';

/** GET /console and everything below it. */
export function consolePages(files: ConsoleFiles): Route {
  return (request, response) => {
    requireGet(request);
    const index = files.get(indexName);
    if (!index) return sendText(request, response, 503, notBuilt);
    const name = (request.url ?? '').split('?')[0]?.slice(consolePath.length + 1) || indexName;
    const file = files.get(name) ?? (isPage(name, request) ? index : undefined);
    if (!file) return sendText(request, response, 404, 'The console has no such file.\n');
    return sendFile(request, response, file);
  };
}

/**
 * True for a path that the page itself routes. Ids may contain a dot, so that their pages look like files: they are
 * told apart by what the browser asks for.
 */
function isPage(name: string, { headers }: IncomingMessage): boolean {
  if (name.startsWith('assets/')) return false;
  const isFileName = (name.split('/').at(-1) ?? '').includes('.');
  return !isFileName || headers['sec-fetch-dest'] === 'document';
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: ConsoleFile): void {
  const { contentType, isImmutable, variants } = file;
  const accepted = (['br', 'gzip'] as const).find(
    (name) => variants.has(name) && isEncodingAccepted(request.headers['accept-encoding'], name),
  );
  const encoding: ContentEncoding = accepted ?? 'identity';
  const variant = variants.get(encoding);
  if (!variant) throw new Error('a file of the console has no content');
  const { body, etag } = variant;
  const headers = {
    ...pageHeaders,
    etag,
    vary: 'Accept-Encoding',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'content-type': contentType,
    'content-length': body.length,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? '' : body);
}

/** Whether an `If-None-Match` header names the ETag, weak or not (RFC 9110). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === etag || each === '*');

function sendText(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    ...pageHeaders,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? '' : text);
}
