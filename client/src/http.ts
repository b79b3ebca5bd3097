/** Limits the routes of Express, Fastify and Hono. `http/headers.ts` has the headers. */
import { RateLimited, Unavailable } from './errors.js';
import { rateLimitHeaders } from './http/headers.js';
import type { AcquireRequest, Amounts, HeldLease } from './types.js';

export { rateLimitHeaders } from './http/headers.js';

/** The part of a `Tollgate` that takes tokens. */
export interface TakesTokens {
  readonly limits: { withLease<T>(request: AcquireRequest, work: (lease: HeldLease) => Promise<T>): Promise<T> };
}

/** The limit of a route. */
export interface RouteLimit<Request> {
  /** The entity to take tokens for, for example the user. A request without one is not limited. */
  readonly entityId: (request: Request) => string | undefined | Promise<string | undefined>;
  readonly resource: string | ((request: Request) => string);
  readonly consume: Amounts | ((request: Request) => Amounts);
  /** How long a request may wait for tokens. Default: 0, which refuses it at once. */
  readonly waitMs?: number;
  /** Called before the handler. `lease.actual` tells what the request really used. */
  readonly onLease?: (request: Request, lease: HeldLease) => void;
}

/** The response to a request that is refused: 429, or 503 if Tollgate is unavailable and `onUnavailable` is `throw`. */
export interface Refusal {
  readonly status: 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Takes tokens for a request and calls `handle`, or returns the refusal. The lease lasts until `handle` resolves: then
 * slots of concurrency limits are freed. The adapters below use it, and so can an adapter of your own.
 */
export async function guardRoute<Request>(
  tollgate: TakesTokens,
  limit: RouteLimit<Request>,
  request: Request,
  { handle, signal }: { readonly handle: (headers: Headers) => Promise<unknown>; readonly signal?: AbortSignal },
): Promise<Refusal | undefined> {
  const entityId = await limit.entityId(request);
  let isGranted = entityId === undefined;
  try {
    if (entityId === undefined) await handle({});
    else
      await tollgate.limits.withLease({ ...taken(limit, request, signal), entityId }, (lease) => {
        isGranted = true;
        limit.onLease?.(request, lease);
        return handle(rateLimitHeaders({ entityId, statuses: lease.statuses }));
      });
    return undefined;
  } catch (error) {
    if (isGranted) throw error;
    // A request that has gone away while it waited gets a response that nobody reads.
    return refusalOf(signal?.aborted ? new Unavailable('ABORTED', 'the request was closed') : error, entityId ?? '');
  }
}

function taken<Request>({ resource, consume, waitMs }: RouteLimit<Request>, request: Request, signal?: AbortSignal) {
  return {
    resource: typeof resource === 'string' ? resource : resource(request),
    consume: typeof consume === 'function' ? consume(request) : consume,
    ...(waitMs !== undefined && { waitMs }),
    ...(signal && { signal }),
  };
}

function refusalOf(error: unknown, entityId: string): Refusal {
  if (!(error instanceof RateLimited) && !(error instanceof Unavailable)) throw error;
  // Without statuses, Tollgate has refused its own caller, and not the user of the route.
  const isLimited = error instanceof RateLimited && error.statuses.length > 0;
  const retryAfterSecs = (error.retryAfterMs ?? 1000) / 1000;
  const status = isLimited ? 429 : 503;
  const title = isLimited ? 'Too many requests' : 'The rate limiter is unavailable';
  const headers = rateLimitHeaders({ entityId, statuses: isLimited ? error.statuses : [], retryAfterSecs });
  return {
    status,
    // RFC 9457.
    headers: { ...headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify({ title, status, retryAfterSecs }),
  };
}

/** The part of a response of Node that the adapters use. */
interface NodeResponse {
  once(event: 'close', listener: () => void): unknown;
}

/** Whether a response has ended or its connection has broken. A request that waits for tokens then stops. */
function closing(response: NodeResponse): { readonly signal: AbortSignal; readonly closed: Promise<void> } {
  const controller = new AbortController();
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      controller.abort();
      resolve();
    });
  });
  return { signal: controller.signal, closed };
}

interface ExpressResponse extends NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/** Middleware of Express 4 and 5. */
export function limitExpress<Request extends object>(tollgate: TakesTokens, limit: RouteLimit<Request>) {
  return (request: Request, response: ExpressResponse, next: (error?: unknown) => void): void => {
    const { signal, closed } = closing(response);
    const set = (headers: Headers) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    };
    const handle = (headers: Headers) => {
      set(headers);
      next();
      return closed;
    };
    guardRoute(tollgate, limit, request, { handle, signal }).then((refusal) => {
      if (!refusal) return;
      set(refusal.headers);
      response.statusCode = refusal.status;
      response.end(refusal.body);
    }, next);
  };
}

interface FastifyReply {
  readonly raw: NodeResponse;
  headers(values: Record<string, string>): unknown;
  code(status: number): { send(body: string): unknown };
}

/** A `preHandler` hook of Fastify 5. */
export function limitFastify<Request extends object>(tollgate: TakesTokens, limit: RouteLimit<Request>) {
  return (request: Request, reply: FastifyReply): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { signal, closed } = closing(reply.raw);
      const handle = (headers: Headers) => {
        reply.headers({ ...headers });
        resolve(undefined);
        return closed;
      };
      guardRoute(tollgate, limit, request, { handle, signal }).then((refusal) => {
        if (!refusal) return;
        reply.headers({ ...refusal.headers });
        resolve(reply.code(refusal.status).send(refusal.body));
      }, reject);
    });
}

interface HonoContext {
  readonly req: { readonly raw: { readonly signal: AbortSignal } };
  header(name: string, value: string): void;
  body(body: string, status: 429 | 503, headers: Record<string, string>): Response;
}

/** Middleware of Hono 4. The lease lasts until the handler has returned. */
export function limitHono<Context extends HonoContext>(tollgate: TakesTokens, limit: RouteLimit<Context>) {
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const handle = async (headers: Headers) => {
      await next();
      // After the handler, because it may return a response of its own.
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
    };
    const { signal } = context.req.raw;
    const refusal = await guardRoute(tollgate, limit, context, { handle, signal });
    return refusal && context.body(refusal.body, refusal.status, { ...refusal.headers });
  };
}
