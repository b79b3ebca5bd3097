import type { GroupBuckets } from './group.buckets.service.js';
import type { Operation, Settlement } from './operation.js';
import type { PlacedTake, Plan } from './plan.js';

/** Each slot has its own condition, and DynamoDB allows 4 KB of conditions per write. */
const maxSlotsPerWrite = 64;

export type PlannedResult = PlacedTake | Settlement;

/** An operation that is part of the next write, with the planned result of each part. */
export interface SelectedOperation {
  readonly operation: Operation;
  readonly results: readonly PlannedResult[];
}

/**
 * Selects the operations of the next write, in order of arrival: every settle, and takes while there is enough. `short`
 * are the operations that do not fit.
 */
export function selectOperations(
  buckets: GroupBuckets,
  plans: readonly Plan[],
  candidates: readonly Operation[],
): { readonly selected: SelectedOperation[]; readonly short: Operation[] } {
  const selected: SelectedOperation[] = [];
  const short: Operation[] = [];
  let slots = 0;
  for (const operation of candidates) {
    slots += slotsIn(operation);
    if (slots > maxSlotsPerWrite && selected.length > 0) break;
    const results = planOperation(buckets, plans, operation);
    if (results) selected.push({ operation, results });
    else short.push(operation);
  }
  return { selected, short };
}

/** Adds an operation to the plans of all its buckets, or to none. */
function planOperation(
  buckets: GroupBuckets,
  plans: readonly Plan[],
  { parts }: Operation,
): PlannedResult[] | undefined {
  const undo = parts.length > 1 ? plans.map((plan) => plan.snapshot()) : [];
  const results: PlannedResult[] = [];
  for (const [i, { action }] of parts.entries()) {
    const plan = plans[buckets.indexOfPart[i] as number] as Plan;
    const result = action.kind === 'settle' ? plan.settle(action) : plan.place(action);
    if (!result) {
      for (const restore of undo) restore();
      return undefined;
    }
    if (action.kind === 'take') plan.take(action, result as PlacedTake);
    results.push(result);
  }
  return results;
}

/** The number of slots that an operation takes, frees or renews. */
const slotsIn = ({ parts }: Operation): number =>
  parts.reduce((sum, { action }) => {
    if (action.kind === 'take') {
      const { set, amounts } = action;
      return sum + set.specs.filter(({ name, isConcurrency }) => isConcurrency && (amounts[name] ?? 0n) > 0n).length;
    }
    return sum + action.moves.flatMap(({ out }) => Object.values(out)).filter(({ isSlot }) => isSlot).length;
  }, 0);
