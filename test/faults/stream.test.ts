import { newOrg, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';

let proxy: FaultProxy;
let app: TestApp;
beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint });
});
afterAll(async () => {
  proxy.clear();
  await app.stop();
  await proxy.stop();
});

it('an event stream whose source breaks off says so and ends, instead of beating on in silence', async () => {
  const { orgId, accessToken } = await newOrg(app);
  const after = app.gateway.services.cursors.seal(`${orgId} quotaAlerts`, '0');
  proxy.inject({ operation: 'Query', table: 'alerts', fault: 'error-before' });
  const response = await fetch(app.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ query: 'subscription ($after: String) { quotaAlerts(after: $after) { id } }', variables: { after } }),
  });
  const text = await response.text();
  expect(text).toContain('"code":"SERVICE_UNAVAILABLE"');
  expect(text.trim().endsWith('event: complete\ndata:')).toBe(true);
  proxy.clear();
  const metrics = await (await fetch(`${app.origin}/metrics`)).text();
  expect(metrics).toMatch(/tollgate_subscriptions_open\{transport="sse"\} 0/);
});
