import type { IncomingMessage, ServerResponse } from 'node:http';
import { limitsPrefix } from '../http/limits-endpoints.js';
import { requestIdOf } from '../http/request.js';
import type { ResponseBatcher } from '../http/response-batcher.js';
import type { Log } from '../lib/log.js';
import type { Metrics } from '../lib/metrics.js';
import { repeat } from '../lib/timers.js';
import { refusalText } from './concurrency-limiter.js';

const tellMs = 1000;

/** Turns requests away for as little work as can be: under a flood there are many times more of them than are served. */
export class OverloadResponder {
  private turnedAway = 0;
  private readonly telling;

  constructor(
    metrics: Metrics,
    log: Log,
    private readonly batcher: ResponseBatcher,
  ) {
    // One line a second for all of them, and not one for each.
    this.telling = repeat(
      tellMs,
      async () => {
        if (this.turnedAway === 0) return;
        metrics.requests.inc({ operation: 'none', outcome: 'SERVICE_UNAVAILABLE' }, this.turnedAway);
        log.warn({ turnedAway: this.turnedAway }, 'more is asked than can be served');
        this.turnedAway = 0;
      },
      () => undefined,
    );
  }

  turnAway({ headers, url = '' }: IncomingMessage, response: ServerResponse, isLeaving: boolean): void {
    this.turnedAway++;
    const requestId = requestIdOf(headers);
    const details = `"retryable":true,"retryAfterSecs":1,"code":"SERVICE_UNAVAILABLE","requestId":"${requestId}"`;
    const body = url.startsWith(limitsPrefix)
      ? `{"error":{"message":"${refusalText}",${details}}}`
      : `{"errors":[{"message":"${refusalText}","extensions":{${details}}}]}`;
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
      ...(isLeaving ? ['connection', 'close'] : []),
    ]);
    this.batcher.send(response, body);
  }

  close(): Promise<void> {
    return this.telling.stop();
  }
}
