import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExchangeDeps } from '../http/exchange.js';
import { errorBody } from '../http/limits-json.js';
import { isPlain } from '../http/paths.js';
import { requestIdOf } from '../http/request.js';
import { repeat } from '../lib/timers.js';
import { overloaded } from './concurrency-limiter.js';

const reportMs = 1000;

/**
 * Rejects requests above the limit of the ConcurrencyLimiter with as little work as possible, because under overload
 * many times more requests are rejected than served. The bodies are built once; only the request id is filled in.
 */
export class OverloadResponder {
  private rejected = 0;
  private readonly reporting;
  private readonly graphqlBody: BodyTemplate;
  private readonly plainBody: BodyTemplate;

  constructor(private readonly deps: Pick<ExchangeDeps, 'services' | 'mask' | 'batcher'>) {
    const { metrics, log } = deps.services;
    const error = deps.mask(overloaded(), placeholder);
    this.graphqlBody = templateOf(JSON.stringify({ errors: [error] }));
    this.plainBody = templateOf(errorBody(error));
    // One log line per second, not one per request.
    this.reporting = repeat(
      reportMs,
      async () => {
        if (this.rejected === 0) return;
        metrics.requests.inc({ operation: 'none', outcome: 'SERVICE_UNAVAILABLE' }, this.rejected);
        log.warn({ rejected: this.rejected }, 'overloaded: requests rejected');
        this.rejected = 0;
      },
      () => undefined,
    );
  }

  /** `isClosing`: whether to ask the client to close the connection. */
  reject({ headers, url = '' }: IncomingMessage, response: ServerResponse, isClosing: boolean): void {
    this.rejected++;
    const requestId = requestIdOf(headers);
    const { start, end } = isPlain(url) ? this.plainBody : this.graphqlBody;
    const body = start + requestId + end;
    response.writeHead(503, [
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(body.length),
      'retry-after',
      '1',
      'cache-control',
      'no-store',
      'x-request-id',
      requestId,
      ...(isClosing ? ['connection', 'close'] : []),
    ]);
    this.deps.batcher.send(response, body);
  }

  close(): Promise<void> {
    return this.reporting.stop();
  }
}

const placeholder = '<request id>';

/** A body before and after the request id. */
interface BodyTemplate {
  readonly start: string;
  readonly end: string;
}

function templateOf(body: string): BodyTemplate {
  const [start = '', end = ''] = body.split(placeholder);
  return { start, end };
}
