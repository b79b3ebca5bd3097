import { jest } from '@jest/globals';
import { NamespaceStore } from '../../src/limits/entities/namespace.store.js';
import { Caller, newOrg, orgInput, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  other = await app.another();
});
afterAll(() => Promise.all([app.stop(), other.stop()]));

const isAccepted = async (accessToken: string) => (await app.as(accessToken).send(op.MeDocument)).errors === undefined;

/** Checks for the 2 s that a change may take to reach every gateway, and some more for a busy machine. */
async function soon(check: () => Promise<boolean>): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < 4000; waitedMs += 100) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

describe('the caches of a gateway', () => {
  it('drop a token that another gateway revoked, even after many revocations of a dead token here', async () => {
    const [dead, alive] = [await newOrg(app), await newOrg(app)];
    for (let i = 0; i < 6; i++) await app.admin.ask(op.RevokeTokenDocument, { token: dead.accessToken });
    expect(await isAccepted(alive.accessToken)).toBe(true);
    await new Caller(other.url, app.admin.headers).ask(op.RevokeTokenDocument, { token: alive.accessToken });
    expect(await soon(async () => !(await isAccepted(alive.accessToken)))).toBe(true);
  });

  it('drop settings that another gateway changed', async () => {
    const { orgId, caller } = await newOrg(app);
    expect((await caller.ask(op.OrgDocument)).org?.name).toBe('Acme');
    await new Caller(other.url, app.admin.headers).ask(op.UpdateOrgDocument, { input: { orgId, name: 'Acme Ltd' } });
    expect(await soon(async () => (await caller.ask(op.OrgDocument)).org?.name === 'Acme Ltd')).toBe(true);
  });

  it('drop the namespace of a limiter that another gateway purged, and no other', async () => {
    const [mine, neighbour] = [await newOrg(app), await newOrg(app)];
    const there = new Caller(other.url, app.admin.headers);
    const { namespaces } = app.gateway.services;
    const before = [await namespaces.of(mine.orgId), await namespaces.of(neighbour.orgId)];
    const reads = jest.spyOn(NamespaceStore.prototype, 'load');
    try {
      await there.ask(op.RevokeTokenDocument, { token: mine.accessToken });
      expect(await soon(async () => !(await isAccepted(mine.accessToken)))).toBe(true);
      expect([await namespaces.of(mine.orgId), await namespaces.of(neighbour.orgId)]).toEqual(before);
      expect(reads).not.toHaveBeenCalled();

      expect((await there.ask(op.PurgeLimiterDocument, { orgId: mine.orgId })).purgeLimiter).toBe(true);
      expect(await soon(async () => (await namespaces.of(mine.orgId)) !== before[0])).toBe(true);
      reads.mockClear();
      expect(await namespaces.of(neighbour.orgId)).toBe(before[1]);
      expect(reads).not.toHaveBeenCalled();

      // After two purges between two polls it is not known which orgs were purged.
      const purges = [mine, neighbour].map(({ orgId }) => there.ask(op.PurgeLimiterDocument, { orgId }));
      expect((await Promise.all(purges)).map(({ purgeLimiter }) => purgeLimiter)).toEqual([true, true]);
      expect(await soon(async () => (await namespaces.of(neighbour.orgId)) !== before[1])).toBe(true);
    } finally {
      reads.mockRestore();
    }
  });

  it('keep everything after an update that changes nothing, which is not audited either', async () => {
    const { caller } = await newOrg(app);
    const { changeFeed } = app.gateway.services;
    const before = changeFeed.current();
    const { updateOrg } = await caller.ask(op.UpdateOrgDocument, {
      input: { name: 'Acme', quotas: orgInput().quotas },
    });
    expect(updateOrg.name).toBe('Acme');
    await caller.ask(op.UpdateOrgDocument, { input: {} });
    expect(changeFeed.current()).toBe(before);
    const { org } = await caller.ask(op.AuditDocument, {});
    expect(org?.auditEvents.nodes.map(({ action }) => action)).not.toContain('org_updated');
  });
});
