import type { IncomingMessage, ServerResponse } from 'node:http';
import { orgIdFor, requireChecked, requirePolicy } from '../identity/viewer.js';
import { notFound } from '../lib/errors.js';
import { ExportLimiter } from '../load/export-limiter.js';
import type { Org } from '../orgs/settings.js';
import { type ExportRequest, exportChunks, exportRequest, exportWriter } from '../spend/ledger/export.js';
import { plainJson } from './accept.js';
import { isConsoleRequest, requireConsoleRequest } from './console-request.js';
import { beginExchange, type ExchangeDeps, type HttpExchange, inTurn, record, withTimeout } from './exchange.js';
import { errorBody } from './limits-json.js';
import { HttpRefusal, hungUp, isRecord, jsonBody } from './request.js';
import { refusal, respondCompressed } from './response.js';
import { type Route, requirePost } from './route.js';
import { type StreamOutcome, sendStream } from './send-stream.js';

const operation = { label: 'httpExportSpend', isQuery: true };
/** After this time a client gets no more, and its connection is closed. */
const maxExportMs = 3_600_000;

/** An export that was admitted. */
interface OpenExport {
  readonly request: ExportRequest;
  readonly chunks: AsyncGenerator<string>;
  readonly contentType: string;
}

interface ExportEndpointDeps extends ExchangeDeps {
  readonly exports: ExportLimiter;
}

/** POST /export/spend: the spend of an org as CSV or JSON lines. */
export function exportRoutes(deps: ExchangeDeps): Readonly<Record<string, Route>> {
  const limited = { ...deps, exports: new ExportLimiter() };
  return { '/export/spend': (request, response) => handle(limited, request, response) };
}

async function handle(deps: ExportEndpointDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const exchange = beginExchange(deps.services, request, response, operation);
  const { requestId } = exchange;
  const { config } = deps.services;
  try {
    requirePost(request);
    exchange.isConsole = isConsoleRequest(config, request);
    if (exchange.isConsole) requireConsoleRequest(config, request);
    const body = await jsonBody(request);
    const open = await withTimeout(deps.services, exchange, () => admit(deps, exchange, body));
    const outcome = await metered(deps, exchange, () => stream(deps, exchange, open));
    record(deps.services, exchange, outcome === 'complete' ? 'ok' : outcome);
  } catch (error) {
    if (hungUp(request, error)) return;
    const shown = deps.mask(error, requestId);
    const reply = { ...refusal(error, plainJson, shown), body: errorBody(shown) };
    record(deps.services, exchange, reply.outcome);
    // A response that has begun must not look complete.
    if (response.headersSent) response.destroy();
    else await respondCompressed(response, reply, requestId, deps.batcher);
  }
}

/** Admits an export like every other request. Its place is held until its response is closed. */
function admit(deps: ExportEndpointDeps, exchange: HttpExchange, body: unknown): Promise<OpenExport> {
  const { services, concurrency, connections, exports } = deps;
  const { requestId, address, response } = exchange;
  return inTurn(deps, exchange, async (viewer) => {
    requirePolicy(viewer, 'org:read');
    requireChecked(viewer);
    concurrency.refuseList();
    if (!isRecord(body)) throw new HttpRefusal(400, 'the body must be a JSON object');
    const request = exportRequest(body);
    refuseOldHttp(exchange.request, request);
    const { loaders } = deps.newContext({ viewer, requestId, address });
    const org: Org | undefined = await loaders.org(orgIdFor(viewer, request.orgId));
    if (!org) throw notFound('org');
    connections.whenFlushed(response, exports.admit(org.orgId));
    const writer = exportWriter(request);
    const rows = await services.spendExport.open(org, request);
    return { request, chunks: exportChunks(rows, writer), contentType: writer.contentType };
  });
}

/** The end of a CSV file shows only in the last chunk of HTTP/1.1. In HTTP/1.0 a part of it would look complete. */
function refuseOldHttp({ httpVersion }: IncomingMessage, { format }: ExportRequest): void {
  if (format === 'csv' && httpVersion === '1.0')
    throw new HttpRefusal(505, 'a CSV export needs HTTP/1.1, because in HTTP/1.0 a part looks complete; use jsonl');
}

async function stream(
  { services: { clock, scheduler } }: ExportEndpointDeps,
  { response, requestId }: HttpExchange,
  { request: { by, from, to, format }, chunks, contentType }: OpenExport,
): Promise<StreamOutcome> {
  // Before the head, so that an error of the first reads is an HTTP error.
  const first = await chunks.next();
  response.writeHead(200, {
    'content-type': contentType,
    'content-disposition': `attachment; filename="spend-by-${by}-${from}-${to}.${format}"`,
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  const deadlineMs = clock.monotonicMs() + maxExportMs;
  const mayContinue = async () => {
    await scheduler.turn('begun');
    return clock.monotonicMs() < deadlineMs;
  };
  return sendStream(response, first, chunks, mayContinue);
}

/** As `withTimeout` does: the units are counted only if they are logged. */
const metered = <T>(
  { services: { log, store } }: ExportEndpointDeps,
  { units }: HttpExchange,
  work: () => Promise<T>,
) => (log.isLevelEnabled('info') ? store.metered(units, work) : work());
