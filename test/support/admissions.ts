import { randomUUID } from 'node:crypto';
import { type Caller, newApp, newOrg, type TestApp } from './app.js';
import * as op from './operations.js';

const dayMs = 86_400_000;

export type Admission = NonNullable<op.AdmitMutation['admit']>;
export type Admitted = Extract<Admission, { __typename: 'Admitted' }>;
export type Denied = Extract<Admission, { __typename: 'Denied' }>;

export interface HardApp {
  readonly orgId: string;
  readonly appId: string;
}

export interface HardSettings {
  readonly org?: Partial<op.RegisterOrgInput>;
  /** The HARD budget `all` of the org. */
  readonly budget?: Pick<op.SetBudgetInput, 'period' | 'usdMicros'> | undefined;
}

export const hard = (quotas: Readonly<Record<string, number>>): op.ModelQuotaInput[] =>
  Object.entries(quotas).map(([label, dailyUsdMicros]) => ({ label, dailyUsdMicros, enforcement: 'HARD' }));

/** An app with HARD quotas. It was registered yesterday, because a HARD budget is in force from the next day on. */
export async function newHardApp(
  app: TestApp,
  quotas: Readonly<Record<string, number>>,
  { org = {}, budget }: HardSettings = {},
): Promise<HardApp> {
  app.clock.advance(-dayMs);
  const settings = { timezone: 'UTC', modelOrdering: Object.keys(quotas), quotas: hard(quotas), ...org };
  const { orgId } = await newOrg(app, settings);
  const { appId } = await newApp(app, { orgId });
  if (budget)
    await app.admin.ask(op.SetBudgetDocument, { input: { orgId, name: 'all', enforcement: 'HARD', ...budget } });
  app.clock.advance(dayMs);
  return { orgId, appId };
}

export const estimateOf = (
  place: HardApp,
  costUsdMicros: number,
  overrides: Partial<op.AdmitInput> = {},
): op.AdmitInput => ({ ...place, requestId: randomUUID(), estimate: { costUsdMicros }, ...overrides });

export const admit = async (caller: Caller, input: op.AdmitInput): Promise<Admission> =>
  (await caller.ask(op.AdmitDocument, { input })).admit;

/** The admission of a call that must be admitted. */
export async function admittedBy(caller: Caller, input: op.AdmitInput): Promise<Admitted> {
  const result = await admit(caller, input);
  if (result.__typename !== 'Admitted') throw new Error(`denied: ${JSON.stringify(result.binding)}`);
  return result;
}

/** The binding of a call that must be denied. */
export async function bindingOf(caller: Caller, input: op.AdmitInput): Promise<Denied['binding']> {
  const result = await admit(caller, input);
  if (result.__typename !== 'Denied') throw new Error(`admitted: ${JSON.stringify(result)}`);
  return result.binding;
}

export const settle = async (caller: Caller, input: op.SettleInput) =>
  (await caller.ask(op.SettleDocument, { input })).settle;

export const cancel = async (caller: Caller, admissionId: string) =>
  (await caller.ask(op.CancelAdmissionDocument, { admissionId, sent: false })).cancelAdmission;
