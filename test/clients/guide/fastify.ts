import type { Tollgate } from '@tollgate/client';
import { limitFastify } from '@tollgate/client/http';
import Fastify, { type FastifyRequest } from 'fastify';

export function newFastify(tollgate: Tollgate) {
  const app = Fastify({ forceCloseConnections: true });
  const limited = limitFastify(tollgate, {
    entityId: ({ headers }: FastifyRequest) => headers['x-user']?.toString(),
    resource: 'reports',
    consume: { rpm: 1 },
  });
  app.get('/reports', { preHandler: limited }, async () => ({ ok: true }));
  return app;
}
