import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HttpRefusal } from './request.js';
import { isEncodingAccepted } from './response.js';

interface Explorer {
  readonly page: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** GraphiQL, all of it from local files. Loaded when first asked for: it is nine megabytes that production never needs. */
export function createExplorer(
  endpoint: string,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let loaded: Promise<Explorer> | undefined;
  return async ({ method, headers }, response) => {
    if (method !== 'GET' && method !== 'HEAD') throw new HttpRefusal(405, 'use GET', { allow: 'GET, HEAD' });
    loaded ??= load(endpoint);
    const { page, gzipped, etag } = await loaded;
    const cached = { etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding' };
    if (headers['if-none-match'] === etag) {
      response.writeHead(304, cached).end();
      return;
    }
    const isGzip = isEncodingAccepted(headers['accept-encoding'], 'gzip');
    const body = isGzip ? gzipped : page;
    response.writeHead(200, {
      ...cached,
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(method === 'HEAD' ? '' : body);
  };
}

async function load(endpoint: string): Promise<Explorer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = Buffer.from(
    renderGraphiQL({
      title: 'Tollgate',
      endpoint,
      // Over WebSocket the explorer would not send its headers, and with them the credential.
      subscriptionsProtocol: 'SSE',
      defaultQuery:
        '# A credential goes under "Headers":\n#   { "X-Admin-Key": "…" } or { "Authorization": "Bearer …" }\n{ me { kind clientId org { name } } }\n',
    } as Parameters<typeof renderGraphiQL>[0]),
  );
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`;
  return { page, gzipped: await promisify(gzip)(page), etag };
}
