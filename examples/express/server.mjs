// An Express API with limits per user: 5 reports per minute, and one at a time.
import { setTimeout as sleep } from 'node:timers/promises';
import { limitExpress } from '@tollgate/client/http';
import express from 'express';
import { newTenant } from '../tenant.mjs';

const {
  orgId,
  org,
  app: tollgate,
} = await newTenant('Express example', {
  quotas: [{ label: 'economy', dailyUsdMicros: 1_000_000 }],
  // While Tollgate is down, the API works without limits.
  onUnavailable: 'allow',
});
await org.query(`mutation {
  setLimits(input: { level: RESOURCE, resource: "reports", limits: [
    { name: "rpm", capacity: 5 }
    { name: "parallel", capacity: 1, kind: CONCURRENCY }
  ] }) { version }
}`);

const api = express();
const limited = limitExpress(tollgate, {
  entityId: (request) => request.get('x-user') ?? 'anonymous',
  resource: 'reports',
  consume: { rpm: 1, parallel: 1 },
});
api.get('/reports', limited, async (request, response) => {
  await sleep(200);
  response.json({ report: `of ${request.get('x-user') ?? 'anonymous'}` });
});

const server = api.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`API of the org ${orgId}. Ask for more than five reports:

for i in 1 2 3 4 5 6; do curl -si http://127.0.0.1:${server.address().port}/reports -H 'x-user: ana'; done`);
});

process.once('SIGTERM', () => server.close(() => tollgate.close()));
