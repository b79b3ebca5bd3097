import { type Caller, orgInput, startTestApp, type TestApp } from '../support/app.js';
import { TestClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { untilWell } from './harness.js';

const callers = 16;
const stepMs = 100;
const hourMs = 3_600_000;
const resource = 'chat';
/** A refill that no test lives to see. */
const hardlyEver = { refillAmount: 1, refillPeriodSecs: 1_000_000_000 };

/** The wall clock, real until it is held; from then on it stands but for being moved. */
class HeldClock extends TestClock {
  private heldMs: number | undefined;

  override nowMs(): number {
    return this.heldMs ?? super.nowMs();
  }

  hold(): void {
    this.heldMs = super.nowMs();
  }

  letGo(): void {
    this.heldMs = undefined;
  }

  override advance(ms: number): void {
    super.advance(ms);
    if (this.heldMs !== undefined) this.heldMs += ms;
  }

  override age(ms: number): void {
    super.age(ms);
    if (this.heldMs !== undefined) this.heldMs += ms;
  }
}

const clock = new HeldClock();
let app: TestApp;
/** The same store seen from two gateways, each with a memory of its own. */
let gateways: readonly [TestApp, TestApp];
let orgId: string;

const document = `mutation ($input: AcquireInput!) { acquire(input: $input) { __typename ... on RateLimited { retryAfterSecs } } }`;
type Reply = { readonly acquire: { readonly __typename: 'Lease' | 'RateLimited'; readonly retryAfterSecs?: number } };

/** What was taken, some time between `sentMs` and `ackedMs`. */
interface Grant {
  readonly entityId: string;
  readonly amount: number;
  readonly sentMs: number;
  readonly ackedMs: number;
}

type Amounts = Readonly<Record<string, number>>;

const consumeOf = (amounts: Amounts): op.ConsumeInput[] =>
  Object.entries(amounts).map(([limit, amount]) => ({ limit, amount }));
const callerAt = (i: number): Caller => (gateways[i % 2] as TestApp).admin;

/** Whether it was granted; anything but a lease or a refusal is an error. */
async function acquire(caller: Caller, entityId: string, amounts: Amounts): Promise<boolean> {
  const { acquire: result } = await caller.ask<Reply, { input: op.AcquireInput }>(document, {
    input: { orgId, entityId, resource, consume: consumeOf(amounts) },
  });
  return result.__typename === 'Lease';
}

interface Asking {
  readonly entityId: string;
  readonly amounts: Amounts;
  /** The limit whose grants are counted. */
  readonly counted: string;
}

/** Callers on both gateways ask until they are refused, again and again while the clock moves on for so long; what they were granted. */
async function demand(ms: number, askings: (caller: number) => Asking): Promise<Grant[]> {
  clock.hold();
  const grants: Grant[] = [];
  const ask = async (i: number) => {
    const { entityId, amounts, counted } = askings(i);
    for (;;) {
      const sentMs = clock.nowMs();
      if (!(await acquire(callerAt(i), entityId, amounts))) return;
      grants.push({ entityId, amount: amounts[counted] ?? 0, sentMs, ackedMs: clock.nowMs() });
    }
  };
  for (let passedMs = 0; passedMs <= ms; passedMs += stepMs) {
    if (passedMs > 0) clock.advance(stepMs);
    await Promise.all(Array.from({ length: callers }, (_, i) => ask(i)));
  }
  return grants;
}

/** So many callers at once on both gateways, each so often; how many were granted. */
async function rush(times: number, entityId: string, amounts: Amounts): Promise<number> {
  const granted = await Promise.all(
    Array.from({ length: callers }, async (_, i) => {
      let count = 0;
      for (let time = 0; time < times; time++) if (await acquire(callerAt(i), entityId, amounts)) count++;
      return count;
    }),
  );
  return total(granted);
}

async function inTurn(times: number, caller: Caller, entityId: string, amounts: Amounts): Promise<number> {
  let granted = 0;
  for (let time = 0; time < times; time++) if (await acquire(caller, entityId, amounts)) granted++;
  return granted;
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
const amountOf = (grants: readonly Grant[]): number => total(grants.map(({ amount }) => amount));

/**
 * By how much any window's grants exceed its bound, at the worst. Only what was surely taken within a window counts there:
 * sent after it began and acknowledged before it ended.
 */
function worstExcess(
  grants: readonly Grant[],
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
): number {
  const byEnd = [...grants].sort((a, b) => a.ackedMs - b.ackedMs);
  let worst = Number.NEGATIVE_INFINITY;
  for (const beganMs of new Set(grants.map(({ sentMs }) => sentMs))) {
    let taken = 0;
    for (const { sentMs, ackedMs, amount } of byEnd) {
      if (sentMs < beganMs) continue;
      taken += amount;
      worst = Math.max(worst, taken - burst - (perSecond * (ackedMs - beganMs)) / 1000);
    }
  }
  return worst;
}

const setLimits = (via: TestApp, input: Omit<op.SetLimitsInput, 'orgId'>) =>
  via.admin.ask(op.SetLimitsDocument, { input: { orgId, ...input } });
const ownLimits = (entityId: string, limits: readonly op.LimitInput[]) =>
  setLimits(app, { level: 'ENTITY', entityId, resource, limits: [...limits] });

async function bucketOf(
  entityId: string,
): Promise<Record<string, { readonly available: number; readonly totalConsumed: number }>> {
  const { org } = await app.admin.ask(op.BucketOfDocument, { orgId, entityId, resource });
  return Object.fromEntries(
    (org?.entity?.bucket?.limits ?? []).map(
      ({ limit, available, totalConsumed }) => [limit.name, { available, totalConsumed }] as const,
    ),
  );
}

beforeAll(async () => {
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
  gateways = [app, await app.another()];
  orgId = (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ timezone: 'UTC' }) })).registerOrg.org.orgId;
});
afterEach(() => clock.letGo());
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  app.tableAdmin.client.destroy();
});

describe('16 callers on two gateways that ask without end', () => {
  it('get a burst and what has come back since in every window, and all of it', async () => {
    await ownLimits('busy', [{ name: 'requests', capacity: 100, refillPeriodSecs: 1 }]);
    const grants = await demand(2500, () => ({ entityId: 'busy', amounts: { requests: 1 }, counted: 'requests' }));
    expect(worstExcess(grants, { burst: 100, perSecond: 100 })).toBeLessThanOrEqual(0);
    expect(grants).toHaveLength(100 + 100 * 2.5);
    expect(await bucketOf('busy')).toMatchObject({ requests: { totalConsumed: grants.length } });
  });

  it('are bound by a slow limit only where they ask for it, beside a fast one', async () => {
    await ownLimits('mixed', [
      { name: 'hourly', capacity: 10, refillPeriodSecs: 3600 },
      { name: 'fast', capacity: 1000, refillPeriodSecs: 1 },
    ]);
    const both = { entityId: 'mixed', amounts: { hourly: 1, fast: 1 }, counted: 'hourly' };
    const fast = { entityId: 'mixed', amounts: { fast: 25 }, counted: 'fast' };
    const grants = await demand(2000, (i) => (i < callers / 2 ? both : fast));
    const slow = grants.filter(({ amount }) => amount === 1);
    expect(slow).toHaveLength(10);
    expect(worstExcess(grants, { burst: 1000, perSecond: 1000 })).toBeLessThanOrEqual(0);
    // What is left is less than any of them asks for.
    expect(amountOf(grants)).toBeGreaterThan(1000 + 1000 * 2 - 25);
    expect(await bucketOf('mixed')).toMatchObject({
      hourly: { totalConsumed: 10 },
      fast: { totalConsumed: amountOf(grants) },
    });
  });

  it("share a parent's limit over its children, and what is refused costs neither side", async () => {
    const children = Array.from({ length: 8 }, (_, i) => `child-${i}`);
    const poor = children.slice(6);
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'parent' } });
    await ownLimits('parent', [{ name: 'requests', capacity: 100, refillPeriodSecs: 1 }]);
    for (const entityId of children) {
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, parentId: 'parent', cascade: true } });
      await ownLimits(entityId, [{ name: 'requests', capacity: poor.includes(entityId) ? 5 : 10_000, ...hardlyEver }]);
    }
    const grants = await demand(2500, (i) => ({
      entityId: children[Math.floor(i / 2) % children.length] as string,
      amounts: { requests: 1 },
      counted: 'requests',
    }));
    expect(worstExcess(grants, { burst: 100, perSecond: 100 })).toBeLessThanOrEqual(0);
    // What a child refuses is given back to the parent, perhaps after the others have asked for the last time.
    expect(grants.length).toBeGreaterThanOrEqual(0.95 * (100 + 100 * 2.5));
    expect(await bucketOf('parent')).toMatchObject({ requests: { totalConsumed: grants.length } });
    for (const entityId of children) {
      const granted = grants.filter((grant) => grant.entityId === entityId).length;
      const capacity = poor.includes(entityId) ? 5 : 10_000;
      expect({ entityId, ...(await bucketOf(entityId)) }).toEqual({
        entityId,
        requests: { available: capacity - granted, totalConsumed: granted },
      });
    }
    for (const entityId of poor) expect(grants.filter((grant) => grant.entityId === entityId)).toHaveLength(5);
  });
});

describe('a slow limit that is polled all the while', () => {
  it('loses nothing: to the millisecond, one more fits', async () => {
    await ownLimits('slow', [
      { name: 'hourly', capacity: 10, refillPeriodSecs: 3600 },
      { name: 'fast', capacity: 1000, refillPeriodSecs: 1 },
    ]);
    clock.hold();
    expect(await rush(2, 'slow', { hourly: 1, fast: 1 })).toBe(10);
    for (let second = 1; second < 360; second++) {
      clock.advance(1000);
      const [both, fast] = await Promise.all([
        acquire(callerAt(second), 'slow', { hourly: 1, fast: 1 }),
        acquire(callerAt(Math.floor(second / 2)), 'slow', { fast: 7 }),
      ]);
      expect([second, both, fast]).toEqual([second, false, true]);
    }
    clock.advance(999);
    expect(await rush(1, 'slow', { hourly: 1 })).toBe(0);
    clock.advance(1);
    expect(await rush(2, 'slow', { hourly: 1 })).toBe(1);
    expect(await bucketOf('slow')).toMatchObject({ hourly: { available: 0, totalConsumed: 11 } });
  });
});

describe('a bucket that was idle', () => {
  it('for an hour gives its burst once', async () => {
    await ownLimits('idle', [{ name: 'requests', capacity: 100, refillPeriodSecs: 60 }]);
    clock.hold();
    const granted = [await rush(8, 'idle', { requests: 1 })];
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(hourMs);
      granted.push(await rush(8, 'idle', { requests: 1 }));
    }
    expect(granted).toEqual([100, 100, 100, 100]);
    clock.advance(599);
    expect(await rush(1, 'idle', { requests: 1 })).toBe(0);
    clock.advance(1);
    expect(await rush(2, 'idle', { requests: 1 })).toBe(1);
    expect(await bucketOf('idle')).toMatchObject({ requests: { totalConsumed: 401 } });
  });
});

describe('a limit that is lowered', () => {
  it('holds at once where it was changed, and on what only another gateway touches once it has heard of the change', async () => {
    const setAll = async (capacity: number) => {
      for (const entityId of ['near', 'shared', 'far'])
        await ownLimits(entityId, [{ name: 'requests', capacity, refillPeriodSecs: 60 }]);
    };
    const [here, there] = gateways.map(({ admin }) => admin) as [Caller, Caller];
    clock.hold();
    await setAll(100);
    expect([
      await inTurn(1, here, 'shared', { requests: 1 }),
      await inTurn(1, there, 'shared', { requests: 1 }),
    ]).toEqual([1, 1]);
    expect([await inTurn(1, here, 'near', { requests: 1 }), await inTurn(3, there, 'far', { requests: 1 })]).toEqual([
      1, 3,
    ]);
    await setAll(5);
    expect(await inTurn(10, here, 'near', { requests: 1 })).toBe(5);
    expect(await inTurn(10, here, 'shared', { requests: 1 })).toBe(5);
    expect(await inTurn(10, there, 'shared', { requests: 1 })).toBe(0);
    // A gateway serves nobody until it has heard of the changes of the last five seconds.
    clock.age(5001);
    await untilWell(5000, () => there.ask(op.BucketOfDocument, { orgId, entityId: 'far', resource }));
    expect(await inTurn(10, there, 'far', { requests: 1 })).toBe(5);
  });
});
