import type { Tollgate } from '@tollgate/client';
import { limitExpress } from '@tollgate/client/http';
import express, { type Request } from 'express';

export function newExpress(tollgate: Tollgate) {
  const app = express();
  const limited = limitExpress(tollgate, {
    entityId: (request: Request) => request.get('x-user'),
    resource: 'reports',
    consume: { rpm: 1 },
  });
  app.get('/reports', limited, (_request, response) => {
    response.json({ ok: true });
  });
  return app;
}
