import { canonical, type ItemDocument, isApplied, isDeletable, isPartial, orderOf } from './item.js';

/** A thing as the gateway has it now. Without a document it does not exist, or is retired or cleared. */
export interface LiveItem {
  readonly document?: ItemDocument;
  /** 0 if it does not exist. */
  readonly version: number;
}

/** What is stored about a managed thing. */
export interface ItemRecord {
  readonly manager: string;
  /** As last applied, with the version that resulted. Absent if it was never applied. */
  readonly document?: ItemDocument;
  readonly version?: number;
  /** A change that was begun, and whose end was not recorded. Null: a deletion. */
  readonly intent?: ItemDocument | null;
}

/**
 * `record`: nothing to change, but the record is not up to date. `forget`: only the record is left. `orphan`: managed,
 * not in the file any more, and kept without `--prune`.
 */
export type PlanAction = 'none' | 'record' | 'create' | 'update' | 'delete' | 'forget' | 'orphan' | 'conflict';

export interface PlanStep {
  readonly item: string;
  readonly action: PlanAction;
  readonly desired?: ItemDocument;
  readonly live: LiveItem;
  /** The record with a finished intent taken as applied. */
  readonly record?: ItemRecord;
  /** Why it is a conflict, or would be one if it were not forced. */
  readonly reason?: string;
}

export interface PlanInput {
  readonly manager: string;
  readonly prune: boolean;
  /** Take what the gateway has as the base, also if somebody else changed it. */
  readonly force?: boolean;
  readonly desired: ReadonlyMap<string, ItemDocument>;
  readonly records: ReadonlyMap<string, ItemRecord>;
  readonly live: ReadonlyMap<string, LiveItem>;
}

const absent: LiveItem = { version: 0 };

/** The three-way diff: what the file says, what was applied last, and what the gateway has. In the order of changes. */
export function plan({ manager, prune, force = false, desired, records, live }: PlanInput): PlanStep[] {
  const items = [...new Set([...desired.keys(), ...records.keys()])].sort(
    (a, b) => orderOf(a) - orderOf(b) || (a < b ? -1 : 1),
  );
  const steps = items.flatMap((item) => {
    const record = records.get(item);
    const document = desired.get(item);
    // A thing that only another file manages is none of this file's business.
    if (!document && record?.manager !== manager) return [];
    const now = live.get(item) ?? absent;
    const known = record && resolved(item, record, now);
    const step = { item, live: now, ...(document ? { desired: document } : {}), ...(known ? { record: known } : {}) };
    const verdict = document ? wanted(step, document, manager) : unwanted(step, prune);
    return [{ ...step, ...(force ? forced(step, verdict) : verdict) }];
  });
  const isDeletion = ({ action }: PlanStep) => action === 'delete';
  return [...steps.filter((step) => !isDeletion(step)), ...steps.filter(isDeletion).reverse()];
}

type StepVerdict = Pick<PlanStep, 'action' | 'reason'>;
type Undecided = Omit<PlanStep, 'action' | 'reason'>;

/** A conflict becomes a change of the version that this plan has seen. A change that comes later still stops it. */
function forced({ desired, live }: Undecided, verdict: StepVerdict): StepVerdict {
  if (verdict.action !== 'conflict') return verdict;
  if (!desired) return { ...verdict, action: 'delete' };
  return { ...verdict, action: live.document ? 'update' : 'create' };
}

/**
 * A change was begun, and its end is unknown. If the gateway has what was intended, the change was made. Otherwise the
 * record is as before: either nothing was changed, or the version shows that somebody else changed it.
 */
function resolved(item: string, record: ItemRecord, live: LiveItem): ItemRecord {
  const { manager, intent } = record;
  if (intent === null) return live.document ? record : { manager, intent };
  if (!intent || !isApplied(item, intent, live.document)) return record;
  return { manager, document: intent, version: live.version, intent };
}

function wanted({ item, live, record }: Undecided, document: ItemDocument, manager: string): StepVerdict {
  const isOwn = record?.manager === manager;
  if (isApplied(item, document, live.document))
    return { action: isOwn && !isUpToDate(record, document, live) ? 'record' : 'none' };
  if (record && !isOwn) return { action: 'conflict', reason: `it is managed by "${record.manager}"` };
  const applied = record?.document;
  if (applied && record.version !== live.version && !isAsApplied(item, applied, live))
    return { action: 'conflict', reason: changedBySomebody(live, record) };
  return { action: live.document ? 'update' : 'create' };
}

/**
 * The version of an org or a model also grows by changes of fields that the file leaves out. They are no conflict if
 * the managed fields are as they were applied.
 */
const isAsApplied = (item: string, applied: ItemDocument, live: LiveItem): boolean =>
  isPartial(item) && isApplied(item, applied, live.document);

const isUpToDate = (
  { document: applied, version, intent }: ItemRecord,
  document: ItemDocument,
  live: LiveItem,
): boolean => intent === undefined && version === live.version && canonical(applied) === canonical(document);

function unwanted({ item, live, record }: Undecided, prune: boolean): StepVerdict {
  const isApplicable = record?.document !== undefined && isDeletable(item);
  if (!live.document || !isApplicable) return { action: 'forget' };
  if (!prune) return { action: 'orphan' };
  if (record.version !== live.version) return { action: 'conflict', reason: changedBySomebody(live, record) };
  return { action: 'delete' };
}

const changedBySomebody = (live: LiveItem, { version }: ItemRecord): string =>
  live.document
    ? `somebody changed it: version ${version} was applied, and it has version ${live.version}`
    : `somebody deleted it: version ${version} was applied`;

/** The steps that change something on the gateway. */
export const changesIn = (steps: readonly PlanStep[]): PlanStep[] =>
  steps.filter(({ action }) => action === 'create' || action === 'update' || action === 'delete');

export const conflictsIn = (steps: readonly PlanStep[]): PlanStep[] =>
  steps.filter(({ action }) => action === 'conflict');
