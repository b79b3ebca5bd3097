import type { Tollgate } from '@tollgate/client';
import { limitHono } from '@tollgate/client/http';
import { type Context, Hono } from 'hono';

export function newHono(tollgate: Tollgate) {
  const app = new Hono();
  const limited = limitHono(tollgate, {
    entityId: (context: Context) => context.req.header('x-user'),
    resource: 'reports',
    consume: { rpm: 1 },
  });
  app.get('/reports', limited, (context) => context.json({ ok: true }));
  return app;
}
