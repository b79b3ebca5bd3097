import type { Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import type { Price, PriceSource } from './price.js';

/** What calls have used: exact whole numbers, all of them only ever growing within a day. */
export interface Usage {
  readonly costUsdMicros: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
}

export const noUsage: Usage = { costUsdMicros: 0, inputTokens: 0, outputTokens: 0, requests: 0 };

/** Exact up to 2^53, and standing still there. */
const added = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

export const plus = (a: Usage, b: Usage): Usage => ({
  costUsdMicros: added(a.costUsdMicros, b.costUsdMicros),
  inputTokens: added(a.inputTokens, b.inputTokens),
  outputTokens: added(a.outputTokens, b.outputTokens),
  requests: added(a.requests, b.requests),
});

export const sum = (usages: readonly Usage[]): Usage => usages.reduce(plus, noUsage);

export const mostACall = 1_000_000_000_000;

export interface Submitted {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsdMicros?: number | null | undefined;
}

export function amountIssues({ inputTokens, outputTokens, costUsdMicros }: Submitted): Issue[] {
  const amounts = {
    inputTokens,
    outputTokens,
    ...(costUsdMicros === undefined || costUsdMicros === null ? {} : { costUsdMicros }),
  };
  return Object.entries(amounts)
    .filter(([, amount]) => !isWholeWithin(amount, 0, mostACall))
    .map(([name]) => ({ path: `input.${name}`, message: `must be a whole number from 0 to ${mostACall}` }));
}

/** What a call cost: as submitted, else from its tokens, rounded down on each side. Products pass 2^53, so they are BigInt. */
export function costOf(
  { inputTokens, outputTokens, costUsdMicros }: Submitted,
  price: Price,
): { readonly costUsdMicros: number; readonly priceSource: PriceSource } {
  if (costUsdMicros !== undefined && costUsdMicros !== null) return { costUsdMicros, priceSource: 'SUBMITTED' };
  const side = (tokens: number, perMillion: number) => (BigInt(tokens) * BigInt(perMillion)) / 1_000_000n;
  const cost = side(inputTokens, price.inputUsdMicrosPer1M) + side(outputTokens, price.outputUsdMicrosPer1M);
  return { costUsdMicros: Number(cost), priceSource: price.source };
}

export const spendModes = ['NORMAL', 'TIGHT', 'EXCEEDED'] as const;
export type SpendMode = (typeof spendModes)[number];

/** How near a label is to its quota. A quota of 0 is used up from the start; no quota at all counts as that too. */
export function modeOf(costUsdMicros: number, quotaUsdMicros: number, thresholdPct: number): SpendMode {
  if (costUsdMicros >= quotaUsdMicros) return 'EXCEEDED';
  // Multiplied out, so that no rounding decides.
  return BigInt(costUsdMicros) * 100n >= BigInt(quotaUsdMicros) * BigInt(thresholdPct) ? 'TIGHT' : 'NORMAL';
}

export const worstMode = (modes: readonly SpendMode[]): SpendMode =>
  spendModes[Math.max(0, ...modes.map((mode) => spendModes.indexOf(mode)))] as SpendMode;

/** In per cent of the quota, to four places, rounded down: 100 or more exactly where it is used up. */
export const quotaPct = (costUsdMicros: number, quotaUsdMicros: number): number =>
  quotaUsdMicros === 0 ? 100 : Number((BigInt(costUsdMicros) * 1_000_000n) / BigInt(quotaUsdMicros)) / 10_000;
