import { jest } from '@jest/globals';
import { newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const aliases = (field: string) => Array.from({ length: 15 }, (_, i) => `a${i}: ${field}`).join(' ');

it('reads the limit configs of an org once per operation', async () => {
  const { caller } = await newOrg(app);
  for (let i = 0; i < 40; i++)
    await caller.ask(op.SetLimitsDocument, {
      input: { level: 'RESOURCE', resource: `r${i}`, limits: [{ name: 'rpm', capacity: 10 }] },
    });
  const list = jest.spyOn(app.gateway.services.limitConfigs, 'listDefaults');
  const { org } = await caller.ask<{ org: Record<string, unknown[]> }, never>(
    `{ org { ${aliases('limitConfigs { resource }')} } }`,
  );
  expect(Object.values(org).map(({ length }) => length)).toEqual(Array(15).fill(40));
  expect(list).toHaveBeenCalledTimes(1);
});

it('charges every bucket of a page of entities, and refuses too complex operations before it reads', async () => {
  const { caller } = await newOrg(app);
  await caller.ask(op.SetLimitsDocument, { input: { level: 'SYSTEM', limits: [{ name: 'rpm', capacity: 10 }] } });
  for (let entity = 0; entity < 30; entity++) {
    await caller.ask(op.CreateEntityDocument, { input: { entityId: `e${entity}` } });
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        caller.ask(op.AcquireDocument, {
          input: { entityId: `e${entity}`, resource: `r${i}`, consume: [{ limit: 'rpm', amount: 1 }] },
        }),
      ),
    );
  }
  const page = (buckets: string) => `{ org { entities(first: 30) { nodes { ${buckets} } } } }`;
  expect((await caller.send(page('buckets { resource }'))).errors).toBeUndefined();
  const { errors } = await caller.send(page(aliases('buckets { resource }')));
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ path: 'query', message: expect.stringContaining('complexity') }],
  });
});
