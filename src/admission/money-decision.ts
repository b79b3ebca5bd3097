import { type HeldImage, maxReservation } from '../spend/held/held.js';
import { tightestRefusal } from '../spend/held/reserve-plan.js';
import type { DeniedBinding } from './admission.js';

/** A bound of money, by the name of its item. */
export interface MoneyBound {
  readonly name: string;
  readonly kind: 'QUOTA' | 'BUDGET';
  /** The name of the budget, or the label of the quota. */
  readonly title: string;
  readonly limitUsdMicros: number;
  readonly endsAtMs: number;
}

/** Why a label cannot be called. */
export interface LabelRefusal {
  readonly binding: DeniedBinding;
  /** When the bound allows the amount again. Absent if it never allows that much. */
  readonly retryAtMs?: number;
}

/** True if a reservation is larger than the share of a bound that one may take. */
export const isTooLarge = (amount: number, bounds: readonly MoneyBound[], pct: number): boolean =>
  bounds.some(({ limitUsdMicros }) => amount > maxReservation(limitUsdMicros, pct));

/** The refusal of a label by the tightest of its bounds. `images`: what their items hold. */
export function refusalOf(
  { label, amount, pct }: { readonly label: string; readonly amount: number; readonly pct: number },
  bounds: readonly MoneyBound[],
  images: ReadonlyMap<string, HeldImage>,
): LabelRefusal | undefined {
  const maxOf = ({ limitUsdMicros }: { readonly limitUsdMicros: number }) => maxReservation(limitUsdMicros, pct);
  const tightest = tightestRefusal(amount, bounds, images, maxOf);
  const bound = bounds.find(({ name }) => name === tightest?.name);
  if (!tightest || !bound) return undefined;
  const { missing, wouldPass } = tightest;
  const isPossible = bounds.every((each) => amount <= maxOf(each));
  return {
    binding: { kind: bound.kind, name: bound.title, label, missing, wouldPass },
    ...(isPossible ? { retryAtMs: bound.endsAtMs } : {}),
  };
}

/** The refusal that names the largest amount that some label would allow; of equals, the first label. */
export function mildest(refusals: readonly LabelRefusal[]): LabelRefusal | undefined {
  const [first, ...others] = refusals;
  return first && others.reduce((best, each) => (each.binding.wouldPass > best.binding.wouldPass ? each : best), first);
}
