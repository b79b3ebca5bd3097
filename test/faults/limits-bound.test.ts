import { type Caller, orgInput, startTestApp, type TestApp } from '../support/app.js';
import { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { untilWell } from './harness.js';

const callers = 16;
const stepMs = 100;
const hourMs = 3_600_000;
const resource = 'chat';
/** Practically no refill. */
const noRefill = { refillAmount: 1, refillPeriodSecs: 1_000_000_000 };

const clock = new ManualClock();
let app: TestApp;
/** Two gateways on the same database, each with its own cache. */
let gateways: readonly [TestApp, TestApp];
let orgId: string;

const document = `mutation ($input: AcquireInput!) {
  acquire(input: $input) { __typename ... on RateLimited { retryAfterSecs } }
}`;
type Reply = { readonly acquire: { readonly __typename: 'Lease' | 'RateLimited'; readonly retryAfterSecs?: number } };

/** A take at some time between `sentMs` and `ackedMs`. */
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

/** True if it was granted. Throws for anything but a lease or a refusal. */
async function acquire(caller: Caller, entityId: string, amounts: Amounts): Promise<boolean> {
  const { acquire: result } = await caller.ask<Reply, { input: op.AcquireInput }>(document, {
    input: { orgId, entityId, resource, consume: consumeOf(amounts) },
  });
  return result.__typename === 'Lease';
}

interface Demand {
  readonly entityId: string;
  readonly amounts: Amounts;
  /** The limit whose grants are counted. */
  readonly counted: string;
}

/** Callers on both gateways acquire until they are refused, in each step of the clock for `ms`. Returns all grants. */
async function demand(ms: number, demandOf: (caller: number) => Demand): Promise<Grant[]> {
  clock.freeze();
  const grants: Grant[] = [];
  const acquireAll = async (i: number) => {
    const { entityId, amounts, counted } = demandOf(i);
    for (;;) {
      const sentMs = clock.nowMs();
      if (!(await acquire(callerAt(i), entityId, amounts))) return;
      grants.push({ entityId, amount: amounts[counted] ?? 0, sentMs, ackedMs: clock.nowMs() });
    }
  };
  for (let passedMs = 0; passedMs <= ms; passedMs += stepMs) {
    if (passedMs > 0) clock.advance(stepMs);
    await Promise.all(Array.from({ length: callers }, (_, i) => acquireAll(i)));
  }
  return grants;
}

/** Concurrent callers on both gateways acquire `times` each. Returns the number of grants. */
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
 * The max by which the grants of any window exceed its bound, burst + rate × time. A grant counts in a window only if
 * it was sent after the start and acknowledged before the end.
 */
function maxExcess(
  grants: readonly Grant[],
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
): number {
  const byEnd = [...grants].sort((a, b) => a.ackedMs - b.ackedMs);
  let max = Number.NEGATIVE_INFINITY;
  for (const beganMs of new Set(grants.map(({ sentMs }) => sentMs))) {
    let taken = 0;
    for (const { sentMs, ackedMs, amount } of byEnd) {
      if (sentMs < beganMs) continue;
      taken += amount;
      max = Math.max(max, taken - burst - (perSecond * (ackedMs - beganMs)) / 1000);
    }
  }
  return max;
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
afterEach(() => clock.unfreeze());
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  app.tableAdmin.client.destroy();
});

describe('16 callers on two gateways that acquire without pause', () => {
  it('get at most burst + rate × time in every window, and all of it', async () => {
    await ownLimits('busy', [{ name: 'requests', capacity: 100, refillPeriodSecs: 1 }]);
    const grants = await demand(2500, () => ({ entityId: 'busy', amounts: { requests: 1 }, counted: 'requests' }));
    expect(maxExcess(grants, { burst: 100, perSecond: 100 })).toBeLessThanOrEqual(0);
    expect(grants).toHaveLength(100 + 100 * 2.5);
    expect(await bucketOf('busy')).toMatchObject({ requests: { totalConsumed: grants.length } });
  });

  it('are bound by a slow limit only if they request it, beside a fast one', async () => {
    await ownLimits('mixed', [
      { name: 'hourly', capacity: 10, refillPeriodSecs: 3600 },
      { name: 'fast', capacity: 1000, refillPeriodSecs: 1 },
    ]);
    const both = { entityId: 'mixed', amounts: { hourly: 1, fast: 1 }, counted: 'hourly' };
    const fast = { entityId: 'mixed', amounts: { fast: 25 }, counted: 'fast' };
    const grants = await demand(2000, (i) => (i < callers / 2 ? both : fast));
    const slow = grants.filter(({ amount }) => amount === 1);
    expect(slow).toHaveLength(10);
    expect(maxExcess(grants, { burst: 1000, perSecond: 1000 })).toBeLessThanOrEqual(0);
    // The rest is less than any of them requests.
    expect(amountOf(grants)).toBeGreaterThan(1000 + 1000 * 2 - 25);
    expect(await bucketOf('mixed')).toMatchObject({
      hourly: { totalConsumed: 10 },
      fast: { totalConsumed: amountOf(grants) },
    });
  });

  it("share a parent's limit over its children, and a refusal costs neither side", async () => {
    const children = Array.from({ length: 8 }, (_, i) => `child-${i}`);
    const poor = children.slice(6);
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: 'parent' } });
    await ownLimits('parent', [{ name: 'requests', capacity: 100, refillPeriodSecs: 1 }]);
    for (const entityId of children) {
      await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, parentId: 'parent', cascade: true } });
      await ownLimits(entityId, [{ name: 'requests', capacity: poor.includes(entityId) ? 5 : 10_000, ...noRefill }]);
    }
    const grants = await demand(2500, (i) => ({
      entityId: children[Math.floor(i / 2) % children.length] as string,
      amounts: { requests: 1 },
      counted: 'requests',
    }));
    expect(maxExcess(grants, { burst: 100, perSecond: 100 })).toBeLessThanOrEqual(0);
    // A refusal of a child gives tokens back to the parent, possibly after the last request of the others.
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

describe('a slow limit that is polled continuously', () => {
  it('loses nothing: one more token is granted at the exact millisecond', async () => {
    await ownLimits('slow', [
      { name: 'hourly', capacity: 10, refillPeriodSecs: 3600 },
      { name: 'fast', capacity: 1000, refillPeriodSecs: 1 },
    ]);
    clock.freeze();
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

describe('an idle bucket', () => {
  it('grants its burst once after an hour', async () => {
    await ownLimits('idle', [{ name: 'requests', capacity: 100, refillPeriodSecs: 60 }]);
    clock.freeze();
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

describe('a lowered limit', () => {
  it('holds immediately on the gateway that changed it, and on others once they have read the change', async () => {
    const setAll = async (capacity: number) => {
      for (const entityId of ['near', 'shared', 'far'])
        await ownLimits(entityId, [{ name: 'requests', capacity, refillPeriodSecs: 60 }]);
    };
    const [here, there] = gateways.map(({ admin }) => admin) as [Caller, Caller];
    clock.freeze();
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
    // A gateway serves no request unless it has read the changes of the last five seconds.
    clock.age(5001);
    await untilWell(5000, () => there.ask(op.BucketOfDocument, { orgId, entityId: 'far', resource }));
    expect(await inTurn(10, there, 'far', { requests: 1 })).toBe(5);
  });
});
