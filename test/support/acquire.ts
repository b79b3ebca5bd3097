import { orgInput, startTestApp, type TestApp } from './app.js';
import { ManualClock } from './clock.js';
import * as op from './operations.js';

export const dayMs = 86_400_000;

/** Two gateways on one database. `startGateways` sets them. */
export let app: TestApp;
export let other: TestApp;

export async function startGateways(): Promise<void> {
  app = await startTestApp({
    config: { principalRps: 0, principalConcurrency: 0 },
    clock: new ManualClock({ frozenAtMs: Date.parse('2030-03-04T15:20:00.123Z') }),
  });
  other = await app.another();
}
export const stopGateways = () => Promise.all([app.stop(), other.stop()]);

export interface Place {
  readonly orgId: string;
  readonly entityId: string;
  readonly resource: string;
}
type Acquired = NonNullable<op.AcquireMutation['acquire']>;
type Lease = Extract<Acquired, { __typename: 'Lease' }>;
type RateLimited = Extract<Acquired, { __typename: 'RateLimited' }>;

export const rpm = (capacity = 10, overrides: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name: 'rpm',
  capacity,
  refillPeriodSecs: 60,
  ...overrides,
});

/** An entity of a new org with these limits at level SYSTEM. */
export async function newPlace(limits: op.LimitInput[] = [rpm()]): Promise<Place> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  if (limits.length > 0) await setLimits(orgId, limits);
  return { orgId, entityId: 'user-1', resource: 'api' };
}

export const setLimits = async (orgId: string, limits: op.LimitInput[], on = app) =>
  (await on.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } })).setLimits;

export const consumption = (consume: Readonly<Record<string, number>>): op.ConsumeInput[] =>
  Object.entries(consume).map(([limit, amount]) => ({ limit, amount }));

export const inputOf = (
  place: Place,
  consume: Readonly<Record<string, number>>,
  more: Partial<op.AcquireInput> = {},
): op.AcquireInput => ({
  ...place,
  consume: consumption(consume),
  ...more,
});

export async function acquire(
  place: Place,
  consume: Readonly<Record<string, number>>,
  more: Partial<op.AcquireInput> = {},
  on = app,
): Promise<Acquired> {
  return (await on.admin.ask(op.AcquireDocument, { input: inputOf(place, consume, more) })).acquire;
}

export async function granted(...args: Parameters<typeof acquire>): Promise<Lease> {
  const result = await acquire(...args);
  if (result.__typename !== 'Lease') throw new Error(result.message);
  return result;
}

export async function refused(...args: Parameters<typeof acquire>): Promise<RateLimited> {
  const result = await acquire(...args);
  if (result.__typename !== 'RateLimited') throw new Error('granted instead of refused');
  return result;
}

export async function issuesOf(
  input: op.AcquireInput,
  on = app,
): Promise<readonly { path: string; message: string }[]> {
  const { errors } = await on.admin.send(op.AcquireDocument, { input });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues ?? [];
}

export const bucketOf = async ({ orgId, entityId, resource }: Place, on = app) =>
  (await on.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity?.bucket ?? null;
export const availabilityOf = async (place: Place, consume?: Readonly<Record<string, number>>, on = app) =>
  (await on.admin.ask(op.AvailabilityDocument, { ...place, ...(consume ? { consume: consumption(consume) } : {}) }))
    .availability;
export const left = async (place: Place, limit = 'rpm', on = app): Promise<number | undefined> =>
  (await bucketOf(place, on))?.limits.find((entry) => entry.limit.name === limit)?.available;
export const release = async (leaseId: string, on = app) =>
  (await on.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;
export const countLeases = (results: readonly Acquired[]): number =>
  results.filter(({ __typename }) => __typename === 'Lease').length;

/** The smallest number of database calls in five tries, because the poll of the change counter may fall into one. */
export async function minCalls(act: () => Promise<unknown>, on = app): Promise<number> {
  const { consumed } = on.gateway.services.store;
  let min = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = consumed.calls;
    await act();
    min = Math.min(min, consumed.calls - before);
  }
  return min;
}
