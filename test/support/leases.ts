import { randomUUID } from 'node:crypto';
import { orgInput, startTestApp, type TestApp } from './app.js';
import * as op from './operations.js';

export const dayMs = 86_400_000;

/** Two gateways on one database. `startGateways` sets them. */
export let app: TestApp;
export let other: TestApp;

export async function startGateways(): Promise<void> {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
}
export const stopGateways = () => Promise.all([app.stop(), other.stop()]);

export interface Place {
  readonly orgId: string;
  readonly entityId: string;
  readonly resource: string;
}
export type Amounts = Readonly<Record<string, number>>;

/** Refills so slowly that nothing comes back during a test. */
export const limit = (name: string, capacity: number): op.LimitInput => ({
  name,
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 10_000_000,
});

export async function newPlace(limits: op.LimitInput[] = [limit('rpm', 10), limit('tpm', 100)]): Promise<Place> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
  const { orgId } = registerOrg.org;
  await setLimits(orgId, limits);
  return { orgId, entityId: 'user-1', resource: 'api' };
}

export const setLimits = (orgId: string, limits: op.LimitInput[]) =>
  app.admin.ask(op.SetLimitsDocument, { input: { orgId, level: 'SYSTEM', limits } });
export const consumption = (amounts: Amounts): op.ConsumeInput[] =>
  Object.entries(amounts).map(([name, amount]) => ({ limit: name, amount }));

export async function lease(
  place: Place,
  consume: Amounts = { rpm: 4 },
  more: Partial<op.AcquireInput> = {},
  on = app,
): Promise<string> {
  const { acquire } = await on.admin.ask(op.AcquireDocument, {
    input: { ...place, consume: consumption(consume), ...more },
  });
  if (acquire.__typename !== 'Lease') throw new Error(acquire.message);
  return acquire.leaseId;
}

export const change = (
  leaseId: string,
  amounts: Amounts,
  idempotencyKey: string = randomUUID(),
): { input: op.AdjustLeaseInput } => ({
  input: { leaseId, adjust: consumption(amounts), idempotencyKey },
});
export const adjust = async (leaseId: string, amounts: Amounts, idempotencyKey?: string, on = app) =>
  (await on.admin.ask(op.AdjustLeaseDocument, change(leaseId, amounts, idempotencyKey))).adjustLease;
export const release = async (leaseId: string, on = app) =>
  (await on.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;
export const adjustCode = (leaseId: string, amounts: Amounts, idempotencyKey?: string, on = app) =>
  on.admin.codeOf(op.AdjustLeaseDocument, change(leaseId, amounts, idempotencyKey));

export async function adjustIssues(leaseId: string, amounts: Amounts | op.ConsumeInput[]) {
  const input = {
    leaseId,
    adjust: Array.isArray(amounts) ? amounts : consumption(amounts as Amounts),
    idempotencyKey: randomUUID(),
  };
  const { errors } = await app.admin.send(op.AdjustLeaseDocument, { input });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  return errors?.[0]?.extensions.issues;
}

/** Available and consumed tokens by limit. */
export async function balances(
  place: Place,
): Promise<Record<string, [available: number, consumed: number]> | undefined> {
  const { org } = await app.admin.ask(op.BucketOfDocument, place);
  const limits = org?.entity?.bucket?.limits;
  return (
    limits &&
    Object.fromEntries(
      limits.map(({ limit: { name }, available, totalConsumed }) => [name, [available, totalConsumed]]),
    )
  );
}
