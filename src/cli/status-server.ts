import { createServer, type Server } from 'node:http';
import type { Metrics } from '../lib/metrics.js';

/** Serves /healthz and /metrics for a process that serves nothing else. */
export function serveStatus(port: number, host: string, metrics: Metrics): Server {
  const server = createServer((request, response) => {
    respond(request.url, metrics).then(
      ([status, body, type]) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  return server;
}

async function respond(path: string | undefined, { registry }: Metrics): Promise<[number, string, string]> {
  if (path === '/healthz') return [200, '{"status":"alive"}', 'application/json'];
  if (path === '/metrics') return [200, await registry.metrics(), registry.contentType];
  return [404, '{"status":"not found; this server has /healthz and /metrics"}', 'application/json'];
}
