import { Limiter, slotLimit, slowLimit, times } from '../support/limiter.js';

let limiter: Limiter;
beforeAll(async () => {
  limiter = await Limiter.start();
});
beforeEach(() => limiter.clock.advance(86_400_000));
afterAll(() => limiter.stop());

const shadow = (capacity: number) => slowLimit('trial', capacity, { enforce: false });
const trial = (amount: number) => ({ trial: amount });

describe('a shadow limit', () => {
  it('refuses nothing: it charges what fits and counts what does not fit', async () => {
    const entityId = await limiter.entity(shadow(10));
    expect((await limiter.take(entityId, trial(7))).statuses).toMatchObject([
      { requested: 7, available: 3, exceeded: false, wouldRefuse: false },
    ]);
    expect((await limiter.take(entityId, trial(4))).statuses).toMatchObject([
      { requested: 4, available: 3, wouldRefuse: true },
    ]);
    expect((await limiter.take(entityId, trial(3))).statuses).toMatchObject([{ available: 0, wouldRefuse: false }]);
    for (const via of [limiter.app, limiter.other, limiter.other])
      expect((await limiter.take(entityId, trial(1), { via })).statuses).toMatchObject([
        { available: 0, wouldRefuse: true },
      ]);
    expect(await limiter.balances(entityId)).toEqual({ trial: [0, 10] });
    expect(await limiter.usage(entityId)).toEqual({ trial: { consumed: 10, refused: 0, wouldRefuse: 4 } });
  });

  it('lets amounts above its burst pass', async () => {
    const entityId = await limiter.entity(shadow(10), slowLimit('rpm', 5));
    const { leaseId, statuses } = await limiter.take(entityId, { trial: 11, rpm: 1 });
    expect(statuses.map(({ limit, available, wouldRefuse }) => [limit.name, available, wouldRefuse])).toEqual([
      ['rpm', 4, false],
      ['trial', 10, true],
    ]);
    await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [10, 0], rpm: [5, 0] });
  });

  it('charges tokens that another gateway has given back', async () => {
    const entityId = await limiter.entity(shadow(10));
    const { leaseId } = await limiter.take(entityId, trial(10));
    await limiter.release(leaseId, limiter.other);
    expect((await limiter.take(entityId, trial(4))).statuses).toMatchObject([{ available: 6, wouldRefuse: false }]);
  });

  it('counts exactly for concurrent acquires through two gateways', async () => {
    const entityId = await limiter.entity(shadow(10), slowLimit('rpm', 100));
    const all = await Promise.all(
      times(40, (i) =>
        limiter.take(entityId, { trial: 1, rpm: 1 }, { via: i % 2 === 0 ? limiter.app : limiter.other }),
      ),
    );
    const flags = all.map(({ statuses }) => statuses.find(({ limit }) => limit.name === 'trial')?.wouldRefuse);
    expect(flags.filter((wouldRefuse) => wouldRefuse === false)).toHaveLength(10);
    expect(await limiter.balances(entityId)).toEqual({ trial: [0, 10], rpm: [60, 40] });
    expect(await limiter.usage(entityId)).toEqual({
      trial: { consumed: 10, refused: 0, wouldRefuse: 30 },
      rpm: { consumed: 40, refused: 0, wouldRefuse: 0 },
    });
  });

  it('is shown by availability and never adds to its wait', async () => {
    const entityId = await limiter.entity(shadow(10), slowLimit('rpm', 5));
    await limiter.take(entityId, { trial: 10, rpm: 3 });
    const found = await limiter.availability(entityId, { trial: 1, rpm: 1 });
    expect(found.retryAfterSecs).toBe(0);
    expect(found.statuses).toMatchObject([
      { limit: { name: 'rpm' }, exceeded: false, wouldRefuse: false },
      { limit: { name: 'trial' }, exceeded: true, wouldRefuse: true, available: 0 },
    ]);
    expect(found.statuses[1]?.retryAfterSecs).toBeGreaterThan(0);
  });

  it('is not charged by an acquire that an enforced limit refuses', async () => {
    const entityId = await limiter.entity(shadow(10), slowLimit('rpm', 5));
    const { violations, retryAfterSecs, statuses } = await (async () => {
      await limiter.take(entityId, { trial: 8, rpm: 5 });
      return limiter.refused(entityId, { trial: 5, rpm: 1 });
    })();
    expect(violations).toMatchObject([{ limit: { name: 'rpm' } }]);
    expect(retryAfterSecs).toBe(violations[0]?.retryAfterSecs);
    expect(statuses).toMatchObject([
      { limit: { name: 'rpm' }, wouldRefuse: false },
      { limit: { name: 'trial' }, exceeded: true, wouldRefuse: true },
    ]);
    expect(await limiter.balances(entityId)).toEqual({ trial: [2, 8], rpm: [0, 5] });
    expect((await limiter.usage(entityId)).rpm).toMatchObject({ refused: 1 });
  });

  it('keeps its state when enforcement is switched on and off', async () => {
    const entityId = await limiter.entity(shadow(10));
    await limiter.take(entityId, trial(8));
    await limiter.take(entityId, trial(8));
    await limiter.setLimits(entityId, slowLimit('trial', 10));
    await limiter.refused(entityId, trial(3));
    await limiter.take(entityId, trial(2), { via: limiter.other });
    await limiter.setLimits(entityId, shadow(10));
    expect((await limiter.take(entityId, trial(1))).statuses).toMatchObject([{ available: 0, wouldRefuse: true }]);
    expect(await limiter.balances(entityId)).toEqual({ trial: [0, 10] });
  });

  it('gets back from a lease only what the lease was charged', async () => {
    const entityId = await limiter.entity(shadow(10), slowLimit('rpm', 100));
    const first = await limiter.take(entityId, { trial: 8, rpm: 1 });
    const free = await limiter.take(entityId, { trial: 8, rpm: 1 });
    await limiter.release(free.leaseId, limiter.other);
    expect(await limiter.balances(entityId)).toEqual({ trial: [2, 8], rpm: [99, 1] });
    await limiter.adjust(first.leaseId, { trial: -5 });
    expect((await limiter.balances(entityId)).trial).toEqual([7, 3]);
    await limiter.release(first.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [10, 0], rpm: [100, 0] });
  });

  it('can be charged into debt by an adjustment, and counts later acquires as refused', async () => {
    const entityId = await limiter.entity(shadow(10));
    const { leaseId } = await limiter.take(entityId, trial(8));
    expect((await limiter.adjust(leaseId, trial(5))).statuses).toMatchObject([{ available: -3, exceeded: true }]);
    const later = await limiter.take(entityId, trial(1));
    expect(later.statuses).toMatchObject([{ available: -3, wouldRefuse: true }]);
    await limiter.charge(later.leaseId, trial(2));
    await limiter.release(later.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [-5, 15] });
    await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [8, 2] });
  });

  it('of a parent lets the acquires of its children pass', async () => {
    const parent = await limiter.entity(shadow(10));
    const child = await limiter.childOf(parent, slowLimit('trial', 100));
    await limiter.take(child, trial(8));
    const { statuses } = await limiter.take(child, trial(8));
    expect(statuses.map(({ entityId, wouldRefuse }) => [entityId, wouldRefuse])).toEqual([
      [child, false],
      [parent, true],
    ]);
    expect([await limiter.balances(child), await limiter.balances(parent)]).toEqual([
      { trial: [84, 16] },
      { trial: [2, 8] },
    ]);
    expect(await limiter.usage(parent)).toEqual({ trial: { consumed: 8, refused: 0, wouldRefuse: 1 } });
  });

  it('is charged over several shards as long as they have enough together', async () => {
    const entityId = await limiter.entity(shadow(80), slowLimit('rpm', 800));
    await limiter.take(entityId, { trial: 1 });
    await limiter.shard(entityId, 8);
    const all = await Promise.all(
      times(30, (i) =>
        limiter.take(entityId, { trial: 3, rpm: 1 }, { via: i % 2 === 0 ? limiter.app : limiter.other }),
      ),
    );
    const charged = all.filter(({ statuses }) => statuses.every(({ wouldRefuse }) => !wouldRefuse)).length;
    expect(charged).toBe(26);
    expect(await limiter.balances(entityId)).toEqual({ trial: [1, 79], rpm: [770, 30] });
    for (const { leaseId } of all) await limiter.release(leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [79, 1], rpm: [800, 0] });
  });

  it('on concurrency grants every acquire, and only those that fit hold a slot', async () => {
    const entityId = await limiter.entity(slotLimit('trial', 2, { enforce: false }));
    const [first, second, third] = [
      await limiter.take(entityId, trial(1)),
      await limiter.take(entityId, trial(1)),
      await limiter.take(entityId, trial(1)),
    ];
    expect([first, second, third].map(({ renewBy }) => renewBy !== null)).toEqual([true, true, false]);
    expect(third.statuses).toMatchObject([{ available: 0, wouldRefuse: true }]);
    expect(await limiter.renewCode(third.leaseId)).toBe('BAD_USER_INPUT');
    await limiter.release(third.leaseId);
    expect(await limiter.balances(entityId)).toEqual({ trial: [0, 2] });
    await limiter.renew(second.leaseId, 600);
    await limiter.setLimits(entityId, slotLimit('trial', 2));
    await limiter.refused(entityId, trial(1));
    await limiter.setLimits(entityId, slotLimit('trial', 2, { enforce: false }));
    await limiter.release(first.leaseId);
    expect((await limiter.take(entityId, trial(1))).statuses).toMatchObject([{ available: 0, wouldRefuse: false }]);
    expect(await limiter.usage(entityId)).toEqual({ trial: { consumed: 2, refused: 1, wouldRefuse: 1 } });
  });

  it('with a calendar window counts until its window ends', async () => {
    const entityId = await limiter.entity({ name: 'trial', capacity: 10, window: 'DAY', enforce: false });
    await limiter.take(entityId, trial(8));
    expect((await limiter.take(entityId, trial(3))).statuses).toMatchObject([{ available: 2, wouldRefuse: true }]);
    limiter.clock.advance(86_400_000 / 2);
    expect((await limiter.take(entityId, trial(10))).statuses).toMatchObject([{ available: 0, wouldRefuse: false }]);
    expect((await limiter.take(entityId, trial(1))).statuses).toMatchObject([{ wouldRefuse: true }]);
    expect(await limiter.balances(entityId)).toEqual({ trial: [0, 18] });
  });
});
