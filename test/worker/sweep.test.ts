import { buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

it('deletes expired items and no others', async () => {
  const { store } = app.gateway.services;
  const { orgId, refreshToken, caller } = await newOrg(app);
  const worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  const sizes = async () =>
    Promise.all(
      (['secret_retrieval_tokens', 'refresh_tokens', 'limiter', 'config'] as const).map(
        async (table) => (await store.scan(table)).items.length,
      ),
    );

  const before = await sizes();
  expect(await worker.sweep()).toBe(0);
  expect(await sizes()).toEqual(before);

  app.clock.advance(11 * 60_000);
  expect(await worker.sweep()).toBe(1);
  const [retrievals, refreshes, limiter, config] = before as [number, number, number, number];
  expect(await sizes()).toEqual([retrievals - 1, refreshes, limiter, config]);
  const { refreshToken: pair } = await app.anonymous.ask(op.RefreshTokenDocument, { refreshToken });
  expect(pair.accessToken).toBeTruthy();
  expect((await caller.ask(op.OrgDocument)).org?.orgId).toBe(orgId);

  app.clock.advance(91 * 86_400_000);
  await worker.sweep();
  expect((await app.admin.ask(op.AuditDocument, { orgId })).org?.auditEvents.nodes).toEqual([]);
  expect((await app.admin.ask(op.OrgDocument, { orgId })).org?.orgId).toBe(orgId);
  worker.close();
});
