import { jest } from '@jest/globals';
import { OrgStore } from '../../src/orgs/org.store.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const input = { entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 1 }] };
const limits = [{ name: 'rpm', capacity: 1000, refillPeriodSecs: 60 }];

describe('limits that come with an acquire', () => {
  it('are for org clients and the admin; for apps only if their org allows it', async () => {
    const org = await newOrg(app);
    const chat = await newApp(app, org);
    const { orgId, caller } = org;
    expect((await caller.ask(op.OrgDocument)).org?.appsMayBringLimits).toBe(false);
    await caller.ask(op.SetLimitsDocument, { input: { level: 'SYSTEM', limits } });
    for (const sent of [limits, []]) {
      const { errors } = await chat.caller.send(op.AcquireDocument, { input: { ...input, limits: sent } });
      expect(errors?.[0]).toMatchObject({
        extensions: { code: 'FORBIDDEN' },
        message: expect.stringMatching(/client of its org or the platform admin.*updateOrg/),
      });
    }
    for (const sent of [undefined, null]) await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits: sent } });
    await caller.ask(op.AcquireDocument, { input: { ...input, limits } });
    await app.admin.ask(op.AcquireDocument, { input: { ...input, limits, orgId } });

    expect((await caller.ask(op.UpdateOrgDocument, { input: { appsMayBringLimits: true } })).updateOrg.appsMayBringLimits).toBe(true);
    await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits } });
    await caller.ask(op.UpdateOrgDocument, { input: { name: 'Renamed' } });
    const reads = jest.spyOn(OrgStore.prototype, 'loadOrgs');
    await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits } });
    reads.mockClear();
    await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits } });
    expect(reads).not.toHaveBeenCalled();
    reads.mockRestore();
    await caller.ask(op.UpdateOrgDocument, { input: { appsMayBringLimits: false } });
    expect(await chat.caller.codeOf(op.AcquireDocument, { input: { ...input, limits } })).toBe('FORBIDDEN');

    const events = (await caller.ask(op.AuditDocument, {})).org?.auditEvents.nodes ?? [];
    const changes = events.flatMap(({ details }) => details).filter(({ name }) => name === 'appsMayBringLimits');
    expect(changes.map(({ previousValue, value }) => [previousValue, value])).toEqual([
      ['true', 'false'],
      ['false', 'true'],
    ]);
  });

  it('are allowed from the start where an org is registered so', async () => {
    const org = await newOrg(app, { appsMayBringLimits: true });
    const chat = await newApp(app, org);
    await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits } });
  });
});
