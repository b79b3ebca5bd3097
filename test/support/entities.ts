import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { orgInput, startTestApp, type TestApp } from './app.js';
import * as op from './operations.js';

/** Two gateways and a worker on one database. `startGateways` sets them. */
export let app: TestApp;
export let other: TestApp;
export let worker: Background;

export async function startGateways(): Promise<void> {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
}

export async function stopGateways(): Promise<void> {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
}

/** Moves the clock forward. Tests that name a time must run in the order of these times. */
export function moveTo(iso: string): void {
  const byMs = Date.parse(iso) - app.clock.nowMs();
  if (byMs < 0) throw new Error(`${iso} is in the past`);
  app.clock.advance(byMs);
}

export type Amounts = Readonly<Record<string, number>>;

/** Refills so slowly that nothing comes back during a test. */
export const limit = (name: string, capacity: number, overrides: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name,
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 10_000_000,
  ...overrides,
});
export const rpm = (capacity: number) => [limit('rpm', capacity)];

export async function newOrgId(limits: op.LimitInput[] = []): Promise<string> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  if (limits.length > 0) await setLimits({ orgId, level: 'SYSTEM', limits });
  return orgId;
}

export const setLimits = async (input: op.SetLimitsInput, on = app) =>
  (await on.admin.ask(op.SetLimitsDocument, { input })).setLimits;
export const deleteLimits = async (input: op.DeleteLimitsInput) =>
  (await app.admin.ask(op.DeleteLimitsDocument, { input })).deleteLimits;
export const create = async (orgId: string, entityId: string, more: Partial<op.CreateEntityInput> = {}) =>
  (await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId, ...more } })).createEntity;
export const remove = async (orgId: string, entityId: string, on = app) =>
  (await on.admin.ask(op.DeleteEntityDocument, { orgId, entityId })).deleteEntity;
export const find = async (orgId: string, entityId: string, on = app) =>
  (await on.admin.ask(op.EntityOfDocument, { orgId, entityId })).org?.entity ?? null;
export const purge = async (orgId: string) => (await app.admin.ask(op.PurgeLimiterDocument, { orgId })).purgeLimiter;

export const inputOf = (
  orgId: string,
  entityId: string,
  consume: Amounts,
  more: Partial<op.AcquireInput> = {},
): op.AcquireInput => ({
  orgId,
  entityId,
  resource: 'api',
  consume: Object.entries(consume).map(([name, amount]) => ({ limit: name, amount })),
  ...more,
});
export const acquire = async (
  orgId: string,
  entityId: string,
  consume: Amounts,
  more: Partial<op.AcquireInput> = {},
  on = app,
) => (await on.admin.ask(op.AcquireDocument, { input: inputOf(orgId, entityId, consume, more) })).acquire;

export async function take(...args: Parameters<typeof acquire>): Promise<string> {
  const result = await acquire(...args);
  if (result.__typename !== 'Lease') throw new Error(result.message);
  return result.leaseId;
}

export async function refusal(...args: Parameters<typeof acquire>) {
  const result = await acquire(...args);
  if (result.__typename !== 'RateLimited') throw new Error('granted instead of refused');
  return result;
}

/** Available and consumed tokens per limit of a bucket. */
export async function balances(
  orgId: string,
  entityId: string,
  resource = 'api',
): Promise<Record<string, [available: number, consumed: number]> | undefined> {
  const limits = (await app.admin.ask(op.BucketOfDocument, { orgId, entityId, resource })).org?.entity?.bucket?.limits;
  return (
    limits &&
    Object.fromEntries(
      limits.map(({ limit: { name }, available, totalConsumed }) => [name, [available, totalConsumed]]),
    )
  );
}

export async function issuesOf<T, V>(
  document: Parameters<typeof app.admin.send<T, V>>[0],
  variables: V,
): Promise<[string, string][]> {
  const { errors } = await app.admin.send(document, variables);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return (errors?.[0]?.extensions.issues ?? []).map(({ path, message }) => [path, message]);
}
