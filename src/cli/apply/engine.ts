import { TollgateError } from '@tollgate/client';
import type { ConfigFile } from './file.js';
import { isApplied } from './item.js';
import { changesIn, conflictsIn, type ItemRecord, type PlanInput, type PlanStep, plan } from './plan.js';
import { type ApplyTarget, recordsPerCall } from './target.js';

/** The plan of one tenant. */
export interface TenantPlan {
  readonly target: ApplyTarget;
  readonly steps: readonly PlanStep[];
}

/** Reads what was applied and what the gateway has, and compares both with the file. Changes nothing. */
export async function planFile(
  { manager, tenants }: ConfigFile,
  targetOf: (tenant: ConfigFile['tenants'][number]) => ApplyTarget,
  options: Pick<PlanInput, 'prune' | 'force'>,
): Promise<TenantPlan[]> {
  const plans: TenantPlan[] = [];
  for (const tenant of tenants) {
    const target = targetOf(tenant);
    const records = await target.readRecords();
    const live = await target.readLive([...tenant.items.keys(), ...records.keys()]);
    plans.push({ target, steps: plan({ manager, ...options, desired: tenant.items, records, live }) });
  }
  return plans;
}

export const changeCount = (plans: readonly TenantPlan[]): number =>
  plans.reduce((count, { steps }) => count + changesIn(steps).length, 0);

export const conflictCount = (plans: readonly TenantPlan[]): number =>
  plans.reduce((count, { steps }) => count + conflictsIn(steps).length, 0);

export interface ApplyOptions {
  readonly manager: string;
  /** Called after each change. */
  readonly onChange?: (step: PlanStep) => void;
}

/**
 * Makes the changes of a plan without conflicts. Safe to kill at any point and to run again: before a change its intent
 * is recorded, and a thing that has what was intended counts as changed. Each change is made only on the version that
 * the plan has seen.
 */
export async function applyPlan({ target, steps }: TenantPlan, { manager, onChange }: ApplyOptions): Promise<void> {
  for (const chunk of chunksOf(changesIn(steps))) {
    await target.saveRecords(manager, new Map(chunk.map(intentOf)));
    const results = new Map<string, Omit<ItemRecord, 'manager'> | undefined>();
    try {
      for (const step of chunk) {
        results.set(step.item, await changed(target, step));
        onChange?.(step);
      }
    } catch (error) {
      // What was done until then is recorded too. Nothing depends on it, because the intents are.
      await target.saveRecords(manager, results).catch(() => {});
      throw error;
    }
    await target.saveRecords(manager, results);
  }
  const stale = steps.filter(({ action }) => action === 'forget' || action === 'record');
  for (const chunk of chunksOf(stale)) await target.saveRecords(manager, new Map(chunk.flatMap(refreshed)));
}

/** A request has at most 256 KB. A step has up to two documents in it. */
const maxChunkChars = 150_000;

/** Steps whose records fit into one call. */
function chunksOf(steps: readonly PlanStep[]): PlanStep[][] {
  const chunks: PlanStep[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    const size = JSON.stringify([step.desired, step.record?.document]).length;
    if (chars + size > maxChunkChars || chunks.at(-1)?.length === recordsPerCall) {
      chunks.push([]);
      chars = 0;
    }
    chunks.at(-1)?.push(step);
    chars += size;
  }
  return chunks;
}

type RecordUpdate = [string, Omit<ItemRecord, 'manager'> | undefined];

/** The record before a change: as it was, and what is about to be applied. */
function intentOf({ item, desired, record }: PlanStep): RecordUpdate {
  const { document, version } = record ?? {};
  const base = document && version !== undefined ? { document, version } : {};
  return [item, { ...base, intent: desired ?? null }];
}

/** Records that are not up to date although nothing has to be changed. */
function refreshed({ item, action, desired, live }: PlanStep): RecordUpdate[] {
  if (action === 'forget') return [[item, undefined]];
  return action === 'record' && desired ? [[item, { document: desired, version: live.version }]] : [];
}

/** Makes one change. Returns the record that results. */
async function changed(target: ApplyTarget, step: PlanStep): Promise<Omit<ItemRecord, 'manager'> | undefined> {
  const { item, desired, live } = step;
  try {
    if (!desired) {
      await target.remove(item, live.version);
      return undefined;
    }
    return { document: desired, version: await target.set(item, desired, live) };
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error;
    if (isUncertain(error)) return recognised(target, step, error);
    throw new TollgateError(error.code, `${item}: ${error.message}`, { cause: error });
  }
}

/** The response of a change may be lost. Then a retry by the client finds the new version. */
const isUncertain = ({ code }: TollgateError): boolean =>
  ['VERSION_CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'].includes(code);

/** Reads the thing again: if it is as intended, the change was made. Otherwise the error stands. */
async function recognised(
  target: ApplyTarget,
  { item, desired }: PlanStep,
  error: TollgateError,
): Promise<Omit<ItemRecord, 'manager'> | undefined> {
  const now = (await target.readLive([item])).get(item);
  if (!desired && !now?.document) return undefined;
  if (desired && now && isApplied(item, desired, now.document)) return { document: desired, version: now.version };
  if (error.code !== 'VERSION_CONFLICT') throw error;
  throw new TollgateError(
    error.code,
    `${item}: somebody changed it during this apply; what came before it is applied; run \`tollgate plan\` again`,
  );
}
