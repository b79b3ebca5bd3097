import type { Lanes } from './lane.actor.js';
import type { Operation, Part } from './operation.js';
import type { Placed, Plan, Settlement } from './plan.js';

/** Each has its condition, and DynamoDB takes 4 KB of them. */
const maxSlotsPerWrite = 64;

/** An operation that goes, and where its parts are placed. */
export interface Chosen {
  readonly operation: Operation;
  readonly results: readonly (Placed | Settlement)[];
}

/** Who can go together: whatever only settles, and takes in order of arrival while there is enough. */
export function chooseFrom(
  lanes: Lanes,
  plans: readonly Plan[],
  candidates: readonly Operation[],
): { readonly chosen: Chosen[]; readonly short: Operation[] } {
  const chosen: Chosen[] = [];
  const short: Operation[] = [];
  let slots = 0;
  for (const operation of candidates) {
    slots += slotsIn(operation);
    if (slots > maxSlotsPerWrite && chosen.length > 0) break;
    const results = enter(lanes, plans, operation);
    if (results) chosen.push({ operation, results });
    else short.push(operation);
  }
  return { chosen, short };
}

/** Enters an operation into the plans of all its buckets, or into none. */
function enter(lanes: Lanes, plans: readonly Plan[], { parts }: Operation): (Placed | Settlement)[] | undefined {
  const undo = parts.length > 1 ? plans.map((plan) => plan.snapshot()) : [];
  const results: (Placed | Settlement)[] = [];
  for (const [i, { act }] of parts.entries()) {
    const plan = plans[lanes.ofPart[i] as number] as Plan;
    const result = act.kind === 'settle' ? plan.settle(act) : plan.place(act);
    if (!result) {
      for (const restore of undo) restore();
      return undefined;
    }
    if (act.kind === 'take') plan.take(act, result as Placed);
    results.push(result);
  }
  return results;
}

/** How many slots of concurrency limits an operation takes, frees or renews. */
const slotsIn = ({ parts }: Operation): number =>
  parts.reduce((sum, { act }) => {
    if (act.kind === 'take')
      return (
        sum + act.set.specs.filter(({ name, isConcurrency }) => isConcurrency && (act.amounts[name] ?? 0n) > 0n).length
      );
    return sum + act.moves.flatMap(({ out }) => Object.values(out)).filter(({ isSlot }) => isSlot).length;
  }, 0);

/** Whether a settlement could not be made for all of its limits. */
export const isPartial = ({ act }: Part, result: Placed | Settlement): boolean =>
  act.kind === 'settle' &&
  result.kind === 'settle' &&
  act.moves.some(({ out }, nth) => Object.keys(out).some((name) => result.applied[nth]?.[name] === undefined));
