import { randomUUID } from 'node:crypto';
import { localDate } from '../../src/orgs/calendar.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { frozenNoon } from '../support/clock.js';
import { type Lease, Limiter, slowLimit, times } from '../support/limiter.js';
import * as op from '../support/operations.js';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const year = new Date().getUTCFullYear() + 1;

let limiter: Limiter;
beforeAll(async () => {
  limiter = await Limiter.start();
});
afterAll(() => limiter.stop());

const nowMs = () => limiter.clock.nowMs();
const perWindow = (
  capacity: number,
  window: op.CalendarWindow = 'DAY',
  more: Partial<op.LimitInput> = {},
): op.LimitInput => ({
  name: 'calls',
  capacity,
  window,
  ...more,
});
const calls = (amount: number) => ({ calls: amount });
/** The next midnight, UTC. */
const midnightMs = () => (Math.floor(nowMs() / dayMs) + 1) * dayMs;
beforeEach(() => limiter.clock.freeze(midnightMs() + dayMs / 2));

/** The first millisecond of a local day, found with `localDate`. */
function startOf(zone: string, date: string): number {
  let [before, after] = [Date.parse(`${date}T00:00:00Z`) - 2 * dayMs, Date.parse(`${date}T00:00:00Z`) + 2 * dayMs];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localDate(zone, middle) < date) before = middle;
    else after = middle;
  }
  return after;
}

describe('a calendar limit', () => {
  it.each<[op.CalendarWindow, string, string, string]>([
    ['DAY', 'UTC', `${year}-03-10`, `${year}-03-11`],
    ['DAY', 'Asia/Kathmandu', `${year}-03-10`, `${year}-03-11`],
    ['DAY', 'Pacific/Kiritimati', `${year}-12-31`, `${year + 1}-01-01`],
    ['DAY', 'America/Los_Angeles', '2027-03-14', '2027-03-15'],
    ['DAY', 'America/Los_Angeles', '2027-11-07', '2027-11-08'],
    ['WEEK', 'Europe/Berlin', '2027-03-28', '2027-03-29'],
    ['WEEK', 'America/New_York', '2027-06-16', '2027-06-21'],
    ['WEEK', 'Pacific/Pago_Pago', '2027-12-31', '2028-01-03'],
    ['MONTH', 'Australia/Lord_Howe', '2028-02-10', '2028-03-01'],
    ['MONTH', 'America/St_Johns', '2027-12-31', '2028-01-01'],
    ['MONTH', 'UTC', '2027-04-01', '2027-05-01'],
  ])(
    'of a %s in %s resets at the first millisecond of the next one, and a refusal returns that wait',
    async (window, timezone, day, nextStart) => {
      const org = await limiter.forOrg({ timezone });
      const [startMs, endMs] = [startOf(timezone, day), startOf(timezone, nextStart)];
      org.clock.freeze(startMs);
      const entityId = await org.entity(perWindow(10, window));
      expect((await org.take(entityId, calls(7))).statuses).toMatchObject([
        { available: 3, requested: 7, exceeded: false, retryAfterSecs: 0 },
      ]);
      org.clock.freeze(startMs + Math.floor((endMs - startMs) / 3));
      const { retryAfterSecs, violations, message } = await org.refused(entityId, calls(4));
      expect(retryAfterSecs).toBe((endMs - nowMs()) / 1000);
      expect(violations).toMatchObject([
        {
          available: 3,
          requested: 4,
          exceeded: true,
          retryAfterSecs,
          limit: { name: 'calls', capacity: 10, burst: 10 },
        },
      ]);
      expect(message).toContain('"calls"');
      expect(await org.availability(entityId, calls(4))).toMatchObject({
        retryAfterSecs,
        statuses: [{ available: 3 }],
      });
      await org.take(entityId, calls(3));
      org.clock.freeze(endMs - 1);
      expect((await org.refused(entityId, calls(1), { via: org.other })).retryAfterSecs).toBe(0.001);
      org.clock.freeze(endMs);
      expect(await org.availability(entityId, calls(10))).toMatchObject({
        retryAfterSecs: 0,
        statuses: [{ available: 10 }],
      });
      expect((await org.take(entityId, calls(10))).statuses).toMatchObject([{ available: 0 }]);
      await org.refused(entityId, calls(1), { via: org.other });
      expect(await org.balances(entityId)).toEqual({ calls: [0, 20] });
    },
  );

  it('accepts neither burst nor refill', async () => {
    expect(await limiter.limitIssues(perWindow(10, 'DAY', { burst: 20 }))).toEqual([
      ['BAD_USER_INPUT', 'input.limits.0.burst'],
    ]);
    expect(await limiter.limitIssues(perWindow(10, 'DAY', { refillAmount: 5 }))).toEqual([
      ['BAD_USER_INPUT', 'input.limits.0.refillAmount'],
    ]);
    const entityId = await limiter.entity(perWindow(10));
    expect(await limiter.app.admin.codeOf(op.AcquireDocument, limiter.input(entityId, calls(11)))).toBe(
      'BAD_USER_INPUT',
    );
  });

  it('grants exactly its capacity per window, for concurrent acquires through two gateways', async () => {
    const entityId = await limiter.entity(perWindow(13));
    for (let day = 0; day < 3; day++) {
      const all = await Promise.all(
        times(40, (i) => limiter.acquire(entityId, calls(1), { via: i % 2 === 0 ? limiter.app : limiter.other })),
      );
      expect(all.filter(({ __typename }) => __typename === 'Lease')).toHaveLength(13);
      limiter.clock.freeze(midnightMs());
    }
  });

  it('takes tokens back only within the window in which they were taken', async () => {
    const entityId = await limiter.entity(perWindow(10));
    const [first, second] = [await limiter.take(entityId, calls(4)), await limiter.take(entityId, calls(3))];
    await limiter.release(first.leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ calls: [7, 3] });
    limiter.clock.freeze(midnightMs());
    const third = await limiter.take(entityId, calls(2), { via: limiter.other });
    await limiter.adjust(second.leaseId, calls(-1));
    await limiter.release(second.leaseId);
    // The tokens of yesterday stay taken.
    expect(await limiter.balances(entityId)).toEqual({ calls: [8, 5] });
    await limiter.release(third.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ calls: [10, 3] });
  });

  it('takes nothing back in a new window that was not used yet', async () => {
    const entityId = await limiter.entity(perWindow(10));
    const { leaseId } = await limiter.take(entityId, calls(4));
    limiter.clock.freeze(midnightMs());
    await limiter.release(leaseId);
    expect((await limiter.take(entityId, calls(10))).statuses).toMatchObject([{ available: 0 }]);
    await limiter.refused(entityId, calls(1));
  });

  it.each(['adjust', 'charge'] as const)(
    'counts an %s after the reset in the new window, and gives only that back',
    async (change) => {
      const entityId = await limiter.entity(perWindow(10));
      const { leaseId } = await limiter.take(entityId, calls(4));
      limiter.clock.freeze(midnightMs());
      expect((await limiter[change](leaseId, calls(3))).statuses).toMatchObject([{ requested: 3, available: 7 }]);
      await limiter.release(leaseId);
      expect(await limiter.balances(entityId)).toEqual({ calls: change === 'adjust' ? [10, 4] : [7, 7] });
    },
  );

  it('in debt refuses even 0 until its window ends, and then the debt is gone', async () => {
    const entityId = await limiter.entity(perWindow(10));
    const { leaseId } = await limiter.take(entityId, calls(4));
    expect((await limiter.adjust(leaseId, calls(20))).statuses).toMatchObject([
      { available: -14, exceeded: true, retryAfterSecs: (midnightMs() - nowMs()) / 1000 },
    ]);
    expect((await limiter.refused(entityId, calls(0))).retryAfterSecs).toBe((midnightMs() - nowMs()) / 1000);
    limiter.clock.freeze(midnightMs());
    await limiter.take(entityId, calls(10));
    expect(await limiter.balances(entityId)).toEqual({ calls: [0, 34] });
  });

  it('keeps the used tokens when its capacity is changed', async () => {
    const entityId = await limiter.entity(perWindow(10));
    const { leaseId } = await limiter.take(entityId, calls(6));
    await limiter.setLimits(entityId, perWindow(20));
    expect((await limiter.balances(entityId)).calls).toEqual([14, 6]);
    await limiter.setLimits(entityId, perWindow(5));
    expect((await limiter.refused(entityId, calls(1))).violations).toMatchObject([{ available: -1 }]);
    await limiter.adjust(leaseId, calls(-3), limiter.other);
    expect((await limiter.balances(entityId)).calls).toEqual([2, 3]);
    limiter.clock.freeze(midnightMs());
    await limiter.take(entityId, calls(5));
    await limiter.refused(entityId, calls(1));
  });

  it('continues if it is removed and set again in the same window', async () => {
    const entityId = await limiter.entity(perWindow(10), slowLimit('tokens', 100));
    const { leaseId } = await limiter.take(entityId, calls(8));
    await limiter.setLimits(entityId, slowLimit('tokens', 100));
    await limiter.take(entityId, { tokens: 1 });
    await limiter.adjust(leaseId, calls(-1));
    await limiter.setLimits(entityId, perWindow(10), slowLimit('tokens', 100));
    expect((await limiter.balances(entityId)).calls).toEqual([3, 7]);
    // A window of another length is another limit.
    await limiter.setLimits(entityId, perWindow(10, 'MONTH'));
    await limiter.take(entityId, calls(10));
    await limiter.release(leaseId);
    await limiter.refused(entityId, calls(1));
    await limiter.setLimits(entityId, perWindow(10));
    limiter.clock.freeze(midnightMs());
    await limiter.take(entityId, calls(10));
  });

  it.each([2, 8])(
    'resets on all of %i shards at the same time and never grants more than its capacity',
    async (shards) => {
      const entityId = await limiter.entity(perWindow(80));
      await limiter.take(entityId, calls(6));
      await limiter.shard(entityId, shards);
      let last: Lease | undefined;
      for (let day = 0; day < 2; day++) {
        limiter.clock.advance(hourMs);
        const all = await Promise.all(
          times(30, (i) => limiter.acquire(entityId, calls(3), { via: i % 2 === 0 ? limiter.app : limiter.other })),
        );
        const taken = 3 * all.filter(({ __typename }) => __typename === 'Lease').length + (day === 0 ? 6 : 0);
        expect(taken).toBe(78);
        last = await limiter.take(entityId, calls(2));
        const { retryAfterSecs } = await limiter.refused(entityId, calls(1));
        expect(retryAfterSecs).toBe((midnightMs() - nowMs()) / 1000);
        expect(await limiter.balances(entityId)).toEqual({ calls: [0, 80 * (day + 1)] });
        limiter.clock.freeze(midnightMs());
      }
      await limiter.release(last?.leaseId as string, limiter.other);
      // A take that is larger than a shard, in a window that some shards have not begun.
      await limiter.take(entityId, calls(1));
      const whole = await limiter.take(entityId, calls(79));
      await limiter.refused(entityId, calls(1), { via: limiter.other });
      await limiter.release(whole.leaseId, limiter.other);
      expect((await limiter.balances(entityId)).calls).toEqual([79, 161]);
      await limiter.app.gateway.services.buckets.halve(limiter.id(entityId));
      expect((await limiter.balances(entityId)).calls).toEqual([79, 161]);
      await limiter.take(entityId, calls(79));
      await limiter.refused(entityId, calls(1));
    },
  );

  it('of a parent is taken with that of its child, and a retry with the same request id takes nothing', async () => {
    const { child, parent } = await limiter.family(perWindow(10));
    const requestId = randomUUID();
    const { leaseId } = await limiter.take(child, calls(6), { requestId });
    expect(await limiter.take(child, calls(6), { requestId, via: limiter.other })).toMatchObject({
      replayed: true,
      renewBy: null,
    });
    const sibling = await limiter.childOf(parent, perWindow(10));
    expect((await limiter.refused(sibling, calls(5))).violations).toMatchObject([{ entityId: parent, available: 4 }]);
    expect(await limiter.balances(sibling)).toEqual({ calls: [10, 0] });
    limiter.clock.freeze(midnightMs());
    expect(await limiter.take(child, calls(6), { requestId, via: limiter.other })).toMatchObject({ replayed: true });
    await limiter.take(sibling, calls(10));
    await limiter.release(leaseId);
    expect([await limiter.balances(child), await limiter.balances(parent)]).toEqual([
      { calls: [10, 6] },
      { calls: [0, 16] },
    ]);
  });

  it('resets by a changed time zone of the org from the next window on', async () => {
    const org = await limiter.forOrg({ timezone: 'UTC' });
    const entityId = await org.entity(perWindow(10));
    await org.take(entityId, calls(10));
    await org.take(await org.entity(perWindow(10)), calls(1), { via: org.other });
    const resetMs = midnightMs();
    await org.app.admin.ask(op.UpdateOrgDocument, { input: { orgId: org.orgId, timezone: 'Asia/Tokyo' } });
    await org.pollChanges();
    for (const via of [org.app, org.other]) {
      // In Tokyo the next day has begun, but this window keeps its end.
      org.clock.freeze(resetMs - 8 * hourMs);
      expect((await org.refused(entityId, calls(1), { via })).retryAfterSecs).toBe(8 * 3600);
    }
    org.clock.freeze(resetMs);
    await org.take(entityId, calls(10), { via: org.other });
    expect((await org.refused(entityId, calls(1))).retryAfterSecs).toBe(15 * 3600);
    org.clock.freeze(resetMs + 15 * hourMs);
    await org.take(entityId, calls(10));
    expect((await org.refused(entityId, calls(1), { via: org.other })).retryAfterSecs).toBe(24 * 3600);
  });

  it('of a month keeps its end if the time zone changes meanwhile', async () => {
    const org = await limiter.forOrg({ timezone: 'UTC' });
    limiter.clock.freeze(Date.UTC(2029, 4, 10, 12));
    const entityId = await org.entity(perWindow(10, 'MONTH'));
    await org.take(entityId, calls(6));
    await org.app.admin.ask(op.UpdateOrgDocument, { input: { orgId: org.orgId, timezone: 'Pacific/Kiritimati' } });
    org.clock.freeze(Date.UTC(2029, 4, 20));
    await org.pollChanges();
    for (const via of [org.app, org.other]) await org.take(entityId, calls(2), { via });
    // In Kiritimati it has been June for 13 hours.
    org.clock.freeze(Date.UTC(2029, 4, 31, 23));
    expect((await org.refused(entityId, calls(1))).retryAfterSecs).toBe(3600);
    org.clock.advance(hourMs);
    await org.take(entityId, calls(10));
    expect((await org.refused(entityId, calls(1), { via: org.other })).retryAfterSecs).toBe(30 * 86_400 - 14 * 3600);
  });

  it('never returns to a past window through a gateway whose clock is behind', async () => {
    const clock = frozenNoon();
    const { app } = limiter;
    const lagging: TestApp = await startTestApp({ clock, config: app.config });
    try {
      const entityId = await limiter.entity(perWindow(10));
      clock.freeze(nowMs());
      const old = await limiter.take(entityId, calls(3), { via: lagging });
      clock.freeze(midnightMs() - 1500);
      limiter.clock.freeze(midnightMs() + 500);
      await limiter.take(entityId, calls(6));
      await limiter.take(entityId, calls(3), { via: lagging });
      await limiter.refused(entityId, calls(2), { via: lagging });
      await limiter.refused(entityId, calls(2));
      await limiter.release(old.leaseId, lagging);
      expect(await limiter.balances(entityId)).toEqual({ calls: [1, 12] });
      await limiter.take(entityId, calls(1), { via: lagging });
      const { retryAfterSecs } = await limiter.refused(entityId, calls(1), { via: lagging });
      expect(retryAfterSecs).toBe((midnightMs() - clock.nowMs()) / 1000);
    } finally {
      await lagging.stop();
      lagging.tableAdmin.client.destroy();
    }
  });

  it('that a caller sends resets by the calendar of the org', async () => {
    const org = await limiter.forOrg({ timezone: 'Asia/Kolkata' });
    const limits = [perWindow(5)];
    await org.take('e', calls(5), { limits });
    const { retryAfterSecs } = await org.refused('e', calls(1), { limits });
    const endMs = nowMs() + retryAfterSecs * 1000;
    expect(endMs).toBe(startOf('Asia/Kolkata', localDate('Asia/Kolkata', nowMs() + dayMs)));
    org.clock.freeze(endMs);
    await org.take('e', calls(5), { limits, via: org.other });
  });

  it('is taken together with the other limits of its bucket or not at all', async () => {
    const entityId = await limiter.entity(perWindow(10), perWindow(12, 'MONTH', { name: 'monthly' }), {
      name: 'rpm',
      capacity: 8,
      refillPeriodSecs: 60,
    });
    await limiter.take(entityId, { calls: 8, monthly: 8, rpm: 8 });
    limiter.clock.freeze(midnightMs());
    const { violations } = await limiter.refused(entityId, { calls: 5, monthly: 5, rpm: 5 });
    expect(violations).toMatchObject([{ limit: { name: 'monthly' }, available: 4 }]);
    await limiter.take(entityId, { calls: 4, monthly: 4, rpm: 4 });
    expect(await limiter.balances(entityId)).toEqual({ calls: [6, 12], monthly: [0, 12], rpm: [4, 12] });
  });
});
