import { jest } from '@jest/globals';
import { OrgStore } from '../../src/orgs/org.store.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { Limiter, slowLimit, times } from '../support/limiter.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const input = { entityId: 'user-1', resource: 'api', consume: [{ limit: 'rpm', amount: 1 }] };
const limits = [{ name: 'rpm', capacity: 1000, refillPeriodSecs: 60 }];

describe('limits sent with an acquire', () => {
  it('are allowed for org clients and the admin, and for apps only if their org allows it', async () => {
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
    for (const sent of [undefined, null])
      await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits: sent } });
    await caller.ask(op.AcquireDocument, { input: { ...input, limits } });
    await app.admin.ask(op.AcquireDocument, { input: { ...input, limits, orgId } });

    expect(
      (await caller.ask(op.UpdateOrgDocument, { input: { appsMayBringLimits: true } })).updateOrg.appsMayBringLimits,
    ).toBe(true);
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

  it('are allowed from the start if the org was registered with appsMayBringLimits', async () => {
    const org = await newOrg(app, { appsMayBringLimits: true });
    const chat = await newApp(app, org);
    await chat.caller.ask(op.AcquireDocument, { input: { ...input, limits } });
  });
});

describe('the bucket of limits that callers send', () => {
  let limiter: Limiter;
  beforeAll(async () => {
    limiter = await Limiter.start();
  });
  afterAll(() => limiter.stop());

  const usageItems = async (entityId: string) =>
    (await limiter.app.gateway.services.store.scan('limiter')).items.filter(
      ({ PK, SK }) => PK === `${limiter.namespace}/ENTITY#${entityId}` && (SK as string).startsWith('#USAGE#'),
    );

  it('shares nothing with the bucket of the stored limits: neither tokens nor debts', async () => {
    const entityId = await limiter.entity(slowLimit('rpm', 10));
    const { leaseId } = await limiter.take(entityId, { rpm: 10 });
    await limiter.adjust(leaseId, { rpm: 20 });
    const callerLimits = [slowLimit('rpm', 1000)];
    for (const via of [limiter.app, limiter.other])
      await limiter.take(entityId, { rpm: 400 }, { limits: callerLimits, via });
    await limiter.refused(entityId, { rpm: 201 }, { limits: callerLimits });
    await limiter.refused(entityId, { rpm: 0 });
    const other = await limiter.take(entityId, { rpm: 200 }, { limits: callerLimits });
    await limiter.release(other.leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ rpm: [-20, 30] });
    await limiter.release(leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ rpm: [10, 0] });
    // A gateway may repeat a refusal for a second before it sees what another gateway gave back.
    await limiter.take(entityId, { rpm: 200 }, { limits: callerLimits, via: limiter.other });
  });

  it("keeps the state of a limit that is missing in some callers' limits", async () => {
    const entityId = `e-sets`;
    const sets = { a: [slowLimit('a', 10), slowLimit('both', 100)], b: [slowLimit('b', 20), slowLimit('both', 100)] };
    for (let i = 0; i < 5; i++) {
      await limiter.take(entityId, { a: 2, both: 1 }, { limits: sets.a });
      await limiter.take(entityId, { b: 4, both: 1 }, { limits: sets.b, via: limiter.other });
    }
    await limiter.refused(entityId, { a: 1 }, { limits: sets.a, via: limiter.other });
    const { statuses } = await limiter.refused(entityId, { b: 1 }, { limits: sets.b });
    expect(statuses.map(({ limit, available }) => [limit.name, available])).toEqual([
      ['b', 0],
      ['both', 90],
    ]);
    // The same limit with another capacity keeps what is available, up to its new burst.
    await limiter.refused(entityId, { a: 1 }, { limits: [slowLimit('a', 1000)] });
    expect(await limiter.usage(entityId)).toMatchObject({
      a: { consumed: 10 },
      b: { consumed: 20 },
      both: { consumed: 10 },
    });
  });

  it('keeps the state of 16 absent limits and rejects a set that would add another until one is full', async () => {
    const entityId = 'e-retired';
    const set = (i: number, refillPeriodSecs = 3600) => [{ name: `l${i}`, capacity: 10, refillPeriodSecs }];
    for (let i = 0; i <= 16; i++) await limiter.take(entityId, { [`l${i}`]: 5 }, { limits: set(i) });
    const { errors } = await limiter.app.admin.send(
      op.AcquireDocument,
      limiter.input(entityId, { l17: 1 }, { limits: set(17) }),
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', issues: [{ path: 'input.limits' }] });
    // Limits with a stored state continue.
    await limiter.refused(entityId, { l3: 6 }, { limits: set(3) });
    await limiter.take(entityId, { l3: 5 }, { limits: set(3) });
    limiter.clock.advance(1_800_000);
    await limiter.take(entityId, { l17: 1 }, { limits: set(17) });
    await limiter.take(entityId, { l4: 10 }, { limits: set(4), via: limiter.other });
  });

  it('bounds its items: usage of more than 32 limits in an hour is counted as other', async () => {
    const entityId = 'e-names';
    limiter.clock.advance(3_600_000 - (limiter.clock.nowMs() % 3_600_000));
    const name = (i: number) => `n${String(i).padStart(3, '0')}`;
    // Each limit is full again when the next one is used, so no state has to be kept.
    for (let round = 0; round < 2; round++)
      for (let i = 0; i < 45; i++) {
        await limiter.take(
          entityId,
          { [name(i)]: 1 },
          {
            limits: [{ name: name(i), capacity: 10, refillPeriodSecs: 1 }],
            via: i % 2 === 0 ? limiter.app : limiter.other,
          },
        );
        limiter.clock.advance(2000);
      }
    const [item] = await limiter.items(entityId);
    expect(item?.un).toHaveLength(32);
    limiter.clock.advance(3_600_000);
    await limiter.take(entityId, { last: 1 }, { limits: [{ name: 'last', capacity: 10, refillPeriodSecs: 1 }] });
    const usage = (await usageItems(entityId)).filter(({ events }) => events !== undefined);
    expect(usage).toHaveLength(1);
    const counted = Object.keys(usage[0] as object).filter((key) => key.startsWith('u_'));
    expect(counted).toHaveLength(33);
    const { org } = await limiter.app.admin.ask(op.RefusalsOfDocument, {
      orgId: limiter.orgId,
      entityId,
      resource: 'api',
      window: 'HOURLY',
      from: new Date(limiter.clock.nowMs() - 3 * 3_600_000).toISOString(),
      to: new Date(limiter.clock.nowMs() + 3_600_000).toISOString(),
    });
    const counters = org?.entity?.usage.nodes[0]?.counters ?? [];
    expect(counters.reduce((sum, { consumed }) => sum + consumed, 0)).toBe(90);
    expect(counters.find(({ limit }) => limit === 'other')?.consumed).toBe(2 * (45 - 32));
  });

  it('is included in the usage of the entity', async () => {
    const entityId = await limiter.entity(slowLimit('rpm', 10));
    await limiter.take(entityId, { rpm: 3 });
    await limiter.take(entityId, { rpm: 4, own: 5 }, { limits: [slowLimit('rpm', 10), slowLimit('own', 10)] });
    expect(await limiter.usage(entityId)).toMatchObject({ rpm: { consumed: 7 }, own: { consumed: 5 } });
    limiter.clock.advance(3_600_000);
    for (const limits of [undefined, [slowLimit('rpm', 10), slowLimit('own', 10)]])
      await limiter.take(entityId, { rpm: 1 }, { limits });
    expect(await limiter.usage(entityId)).toMatchObject({ rpm: { consumed: 2 } });
    expect(await limiter.balances(entityId)).toEqual({ rpm: [6, 4] });
  });

  it('is used for a parent only if no limits are stored for the parent', async () => {
    const parent = await limiter.entity(slowLimit('rpm', 10));
    const child = await limiter.childOf(parent, slowLimit('rpm', 10));
    const callerLimits = [slowLimit('rpm', 100)];
    await limiter.take(child, { rpm: 8 }, { limits: callerLimits });
    expect((await limiter.refused(child, { rpm: 8 }, { limits: callerLimits })).violations).toMatchObject([
      { entityId: parent },
    ]);
    expect(await limiter.balances(child)).toEqual({});
    expect(await limiter.balances(parent)).toEqual({ rpm: [2, 8] });
  });

  it('is deleted with its entity', async () => {
    const entityId = await limiter.entity(slowLimit('rpm', 10));
    await limiter.app.admin.ask(op.CreateEntityDocument, { input: { orgId: limiter.orgId, entityId } });
    const callerLimits = [slowLimit('own', 10)];
    const { leaseId } = await limiter.take(entityId, { own: 10 }, { limits: callerLimits });
    await limiter.app.admin.ask(op.DeleteEntityDocument, { orgId: limiter.orgId, entityId });
    expect(await limiter.items(entityId)).toEqual([]);
    await limiter.take(entityId, { own: 4 }, { limits: callerLimits });
    await limiter.release(leaseId);
    await limiter.refused(entityId, { own: 7 }, { limits: callerLimits });
    await Promise.all(times(6, () => limiter.take(entityId, { own: 1 }, { limits: callerLimits, via: limiter.other })));
    await limiter.refused(entityId, { own: 1 }, { limits: callerLimits });
  });
});
