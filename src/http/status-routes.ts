import type { Services } from '../app.js';
import type { Clock } from '../lib/clock.js';
import { within } from '../lib/timers.js';
import { type Route, requireGet } from './route.js';

const readyWithinMs = 2000;

interface StatusPage {
  readonly status?: number;
  readonly body: string;
  readonly type?: string;
  readonly cacheControl?: string;
}

/** Liveness, readiness, metrics and the public signing keys. None of them needs a credential. */
export function statusRoutes(services: Services, isDraining: () => boolean): Readonly<Record<string, Route>> {
  const { config, metrics, tokenKeys, clock } = services;
  // Anybody may request these, so concurrent requests share one read of DynamoDB and one page of metrics per second.
  const storeFault = shared(() => findStoreFault(services));
  const metricsPage = oncePerSecond(clock, () => metrics.page());
  return {
    '/healthz': page(() => ({ body: '{"status":"alive"}' })),
    '/readyz': page(async () => {
      const reason = isDraining() ? 'draining' : await storeFault();
      if (reason === undefined) return { body: JSON.stringify({ status: 'ready' }) };
      if (!isDraining() && config.readyWhenDegraded) return { body: JSON.stringify({ status: 'degraded', reason }) };
      return { status: 503, body: JSON.stringify({ status: 'not ready', reason }) };
    }),
    '/metrics': page(async () => ({ body: await metricsPage(), type: metrics.registry.contentType })),
    '/.well-known/jwks.json': page(() => ({
      body: JSON.stringify(tokenKeys.published),
      cacheControl: 'public, max-age=300',
    })),
  };
}

/** A route that serves a page. */
function page(render: () => StatusPage | Promise<StatusPage>): Route {
  return async (request, response) => {
    requireGet(request);
    const { status = 200, body, type = 'application/json; charset=utf-8', cacheControl = 'no-store' } = await render();
    response.writeHead(status, { 'content-type': type, 'cache-control': cacheControl });
    response.end(request.method === 'HEAD' ? '' : body);
  };
}

/** The reason why requests cannot be served; undefined if they can. Reads a table, so that missing tables are found. */
function findStoreFault({ store }: Services): Promise<string | undefined> {
  const reading = store.get('config', { PK: 'ORG#ready', SK: '#ORG' }).then(
    () => undefined,
    () => 'DynamoDB does not respond, or its tables are missing',
  );
  return within(readyWithinMs, reading, () => 'DynamoDB does not respond in time');
}

/** Runs `task` for all callers that arrive while it runs. */
function shared<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Runs `task` at most once per second. */
function oncePerSecond<T>(clock: Pick<Clock, 'monotonicMs'>, task: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly result: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (!last || nowMs - last.atMs >= 1000) last = { atMs: nowMs, result: task() };
    return last.result;
  };
}
