import { createServer, type Server } from 'node:http';
import type { Metrics } from '../lib/metrics.js';

/** /healthz and /metrics for a process that serves nothing else. */
export function serveStatus(port: number, host: string, metrics: Metrics): Server {
  const server = createServer((request, response) => {
    const answer = async (): Promise<[status: number, body: string, type: string]> => {
      if (request.url === '/healthz') return [200, '{"status":"alive"}', 'application/json'];
      if (request.url === '/metrics') return [200, await metrics.registry.metrics(), metrics.registry.contentType];
      return [404, '{"status":"nothing is served here but /healthz and /metrics"}', 'application/json'];
    };
    answer().then(
      ([status, body, type]) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  return server;
}
