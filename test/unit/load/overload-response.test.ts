import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMask } from '../../../src/graphql/errors.js';
import type { ExchangeDeps } from '../../../src/http/exchange.js';
import { silentLog } from '../../../src/lib/log.js';
import { Metrics } from '../../../src/lib/metrics.js';
import { overloaded } from '../../../src/load/concurrency-limiter.js';
import { OverloadResponder } from '../../../src/load/overload-response.js';

const mask = createMask(silentLog);

/** The head and the body of a rejection. */
async function reject(url: string, isClosing = false): Promise<{ status: number; head: string[]; body: string }> {
  const sent = { status: 0, head: [] as string[], body: '' };
  const response = {
    writeHead(status: number, head: string[]) {
      Object.assign(sent, { status, head });
    },
  } as unknown as ServerResponse;
  const batcher = {
    send(_response: ServerResponse, body: string) {
      sent.body = body;
    },
  };
  const services = { metrics: new Metrics(), log: silentLog };
  const responder = new OverloadResponder({ services, mask, batcher } as unknown as ExchangeDeps);
  responder.reject({ headers: { 'x-request-id': 'r-1' }, url } as unknown as IncomingMessage, response, isClosing);
  await responder.close();
  return sent;
}

describe('OverloadResponder', () => {
  it('sends GraphQL callers the same error as the mask would', async () => {
    const { status, head, body } = await reject('/graphql');
    expect(status).toBe(503);
    expect(body).toBe(JSON.stringify({ errors: [mask(overloaded(), 'r-1')] }));
    expect(head.slice(head.indexOf('content-length'), head.indexOf('content-length') + 2)).toEqual([
      'content-length',
      String(Buffer.byteLength(body)),
    ]);
    expect(head).toEqual(expect.arrayContaining(['retry-after', '1', 'x-request-id', 'r-1']));
    expect(head).not.toContain('connection');
  });

  it('sends callers of /v1 the same error as its endpoints would', async () => {
    const { message, extensions } = mask(overloaded(), 'r-1');
    expect(JSON.parse((await reject('/v1/acquire')).body)).toEqual({ error: { message, ...extensions } });
  });

  it('asks to close the connection while the gateway closes', async () => {
    expect((await reject('/graphql', true)).head.slice(-2)).toEqual(['connection', 'close']);
  });
});
