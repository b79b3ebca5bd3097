import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isEncodingAccepted } from './response.js';
import { type Route, requireGet } from './route.js';

interface ExplorerPage {
  readonly page: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** GraphiQL from local files. Loaded at the first request, because it is nine megabytes that production never needs. */
export function createExplorer(endpoint: string): Route {
  let loaded: Promise<ExplorerPage> | undefined;
  return async (request, response) => {
    requireGet(request);
    const { method, headers } = request;
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

async function load(endpoint: string): Promise<ExplorerPage> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = Buffer.from(
    renderGraphiQL({
      title: 'Tollgate',
      endpoint,
      // Over WebSocket the explorer would not send its headers, which contain the credential.
      subscriptionsProtocol: 'SSE',
      defaultQuery: [
        '# A credential goes under "Headers":',
        '#   { "X-Admin-Key": "…" } or { "Authorization": "Bearer …" }',
        '{ me { kind clientId org { name } } }',
        '',
      ].join('\n'),
    } as Parameters<typeof renderGraphiQL>[0]),
  );
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`;
  return { page, gzipped: await promisify(gzip)(page), etag };
}
