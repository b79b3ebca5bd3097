import { badInput, GatewayError, type Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import {
  type CostComponent,
  componentIssues,
  totalCost,
  type UnitPrices,
  unitPricesFor,
} from './catalog/cost-lines.js';
import type { Price, PriceSource } from './catalog/price.js';

/** The usage of model calls, as exact whole numbers. Within a day every figure only grows. */
export interface Usage {
  readonly costUsdMicros: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
}

export const noUsage: Usage = { costUsdMicros: 0, inputTokens: 0, outputTokens: 0, requests: 0 };

/** Exact up to 2^53 - 1, where the sum saturates. */
export const added = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

export const plus = (a: Usage, b: Usage): Usage => ({
  costUsdMicros: added(a.costUsdMicros, b.costUsdMicros),
  inputTokens: added(a.inputTokens, b.inputTokens),
  outputTokens: added(a.outputTokens, b.outputTokens),
  requests: added(a.requests, b.requests),
});

export const sum = (usages: readonly Usage[]): Usage => usages.reduce(plus, noUsage);

/** The maximum of each amount of a call: micro-dollars, input tokens, output tokens. */
export const maxAmountPerCall = 1_000_000_000_000;

export interface SubmittedAmounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly components?: readonly CostComponent[] | null | undefined;
  /** Absent or null: the cost is computed from the tokens. */
  readonly costUsdMicros?: number | null | undefined;
}

export function amountIssues({ inputTokens, outputTokens, components, costUsdMicros }: SubmittedAmounts): Issue[] {
  const amounts = {
    inputTokens,
    outputTokens,
    ...(costUsdMicros === undefined || costUsdMicros === null ? {} : { costUsdMicros }),
  };
  const issues = Object.entries(amounts)
    .filter(([, amount]) => !isWholeWithin(amount, 0, maxAmountPerCall))
    .map(([name]) => ({ path: `input.${name}`, message: `must be a whole number from 0 to ${maxAmountPerCall}` }));
  return [...issues, ...componentIssues(components ?? [])];
}

export interface Cost {
  readonly costUsdMicros: number;
  readonly priceSource: PriceSource;
  /** Absent if the cost was submitted. */
  readonly unitPrices?: UnitPrices;
}

/**
 * The cost of a call: the submitted one, or else computed from its usage, rounded down for each addend. Returns the
 * error if a part of the usage has no price. `loadPrice` is called only if a price is needed.
 */
export async function costOf(amounts: SubmittedAmounts, loadPrice: () => Promise<Price>): Promise<Cost | GatewayError> {
  const { costUsdMicros } = amounts;
  if (costUsdMicros !== undefined && costUsdMicros !== null) return { costUsdMicros, priceSource: 'SUBMITTED' };
  const { entries, source } = await loadPrice();
  const unitPrices = unitPricesFor(amounts, entries);
  if (unitPrices instanceof GatewayError) return unitPrices;
  const cost = totalCost(amounts, unitPrices);
  if (cost > BigInt(maxAmountPerCall)) return costTooHigh();
  return { costUsdMicros: Number(cost), priceSource: source, unitPrices };
}

const costTooHigh = () =>
  badInput({
    path: 'input.inputTokens',
    message: `the computed cost exceeds the maximum of ${maxAmountPerCall} micro-dollars per call`,
  });

export const spendModes = ['NORMAL', 'TIGHT', 'EXCEEDED'] as const;
export type SpendMode = (typeof spendModes)[number];

/**
 * Compares a cost with its quota. A quota of 0 is used up from the start; callers pass 0 for a label without a quota.
 */
export function modeOf(costUsdMicros: number, quotaUsdMicros: number, thresholdPct: number): SpendMode {
  if (costUsdMicros >= quotaUsdMicros) return 'EXCEEDED';
  // Multiplied instead of divided, so that rounding cannot decide.
  return BigInt(costUsdMicros) * 100n >= BigInt(quotaUsdMicros) * BigInt(thresholdPct) ? 'TIGHT' : 'NORMAL';
}

export const worstMode = (modes: readonly SpendMode[]): SpendMode =>
  spendModes[Math.max(0, ...modes.map((mode) => spendModes.indexOf(mode)))] as SpendMode;

/**
 * The cost as a percentage of the quota, rounded down to four decimal places: 100 or more if and only if it is used up.
 */
export const quotaPct = (costUsdMicros: number, quotaUsdMicros: number): number =>
  quotaUsdMicros === 0 ? 100 : Number((BigInt(costUsdMicros) * 1_000_000n) / BigInt(quotaUsdMicros)) / 10_000;
