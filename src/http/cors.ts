import type { IncomingMessage, ServerResponse } from 'node:http';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'authorization, content-type, x-api-key, x-admin-key, x-request-id, last-event-id',
  'access-control-max-age': '3600',
} as const;
const exposedHeaders = 'retry-after, ratelimit, ratelimit-policy, x-request-id';

/** Decides which web pages of other origins may call this gateway, over HTTP and WebSocket. */
export interface Origins {
  /** Whether the origin of this request may call. Callers that are not browsers send no origin and may. */
  allows(request: IncomingMessage): boolean;
  /** Sets the headers that let an allowed page read the response. */
  mark(request: IncomingMessage, response: ServerResponse): void;
  /** Responds to a preflight request. */
  preflight(request: IncomingMessage, response: ServerResponse): void;
}

/** `allowed`: exact origins, `*` for any, `loopback` for any origin on this machine. */
export function createOrigins(allowed: readonly string[]): Origins {
  const listed = new Set(allowed);
  const isListed = (origin: string): boolean =>
    listed.has('*') || listed.has(origin) || (listed.has('loopback') && isLoopback(origin));
  const mark = ({ headers }: IncomingMessage, response: ServerResponse): boolean => {
    const { origin } = headers;
    if (origin === undefined) return false;
    response.setHeader('vary', 'Origin');
    if (!isListed(origin)) return false;
    response.setHeader('access-control-allow-origin', listed.has('*') ? '*' : origin);
    response.setHeader('access-control-expose-headers', exposedHeaders);
    return true;
  };
  return {
    allows({ headers }) {
      const { origin, host } = headers;
      return origin === undefined || isListed(origin) || hostOf(origin) === host;
    },
    mark,
    preflight(request, response) {
      const isAllowed = mark(request, response);
      response.writeHead(204, isAllowed ? preflightHeaders : {});
      response.end();
    },
  };
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const isLoopback = (origin: string): boolean => URL.canParse(origin) && loopbackHosts.has(new URL(origin).hostname);
