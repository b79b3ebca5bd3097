import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { newOrg, startTestApp, type TestApp } from './app.js';
import * as op from './operations.js';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Two gateways and a worker that share a clock. Set by `startStage`, for the tests of one file. */
export let app: TestApp;
export let other: TestApp;
export let worker: Background;

export async function startStage(): Promise<void> {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  moveTo('2030-03-04T15:00:00Z');
}

export async function stopStage(): Promise<void> {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
}

/** Moves the clock forward. Tests that name a time must be in the order of their times. */
export function moveTo(iso: string): void {
  const byMs = Date.parse(iso) - app.clock.nowMs();
  if (byMs < 0) throw new Error(`${iso} has passed`);
  app.clock.advance(byMs);
}

export const ago = (ms: number): string => new Date(app.clock.nowMs() - ms).toISOString();
export const daysAgo = (days: number): string => ago(days * dayMs).slice(0, 10);

export interface Place {
  readonly orgId: string;
  readonly appId: string;
}

export const inUtc = { timezone: 'UTC' } as const;

export async function newPlace(overrides: Partial<op.RegisterOrgInput> = inUtc): Promise<Place> {
  const { orgId } = await newOrg(app, overrides);
  return addApp(orgId, 'chat');
}

export async function addApp(
  orgId: string,
  appId: string,
  overrides: Partial<op.RegisterAppInput> = {},
): Promise<Place> {
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId, ...overrides } });
  return { orgId, appId };
}

export const cost = (place: Partial<Place>, overrides: Partial<op.SubmitCostInput> = {}): op.SubmitCostInput => ({
  ...place,
  requestId: randomUUID(),
  modelLabel: 'premium',
  inputTokens: 10,
  outputTokens: 20,
  costUsdMicros: 1000,
  ...overrides,
});

export const submit = async (input: op.SubmitCostInput, on = app) =>
  (await on.admin.ask(op.SubmitCostDocument, { input })).submitCost;
export const codeOf = (input: op.SubmitCostInput) => app.admin.codeOf(op.SubmitCostDocument, { input });
export const submitAll = async (inputs: op.SubmitCostInput[]) =>
  (await app.admin.ask(op.SubmitCostsDocument, { inputs })).submitCosts;

export const spendOf = async (place: Place, consistency: op.Consistency, day?: string): Promise<op.DayFragment> =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency, day })).org?.app?.spend as op.DayFragment;
export const orgSpend = async (orgId: string, consistency: op.Consistency): Promise<op.DayFragment> =>
  (await app.admin.ask(op.OrgSpendDocument, { orgId, consistency })).org?.spend as op.DayFragment;
export const exact = (place: Place, day?: string) => spendOf(place, 'EXACT', day);
export const labelOf = ({ labels }: op.DayFragment, label: string) => labels.find((entry) => entry.label === label);
