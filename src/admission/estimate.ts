import { badInput, GatewayError, type Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';
import { type CostComponent, componentIssues, totalCost, unitPricesFor } from '../spend/catalog/cost-lines.js';
import type { PriceEntry } from '../spend/catalog/price.js';
import { maxAmountPerCall } from '../spend/money.js';

/** The expected cost of a call, as a caller sends it. */
export interface EstimateRequest {
  readonly inputTokens?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
  readonly components?: readonly CostComponent[] | null | undefined;
  readonly costUsdMicros?: number | null | undefined;
}

export interface Estimate {
  /** The amount to reserve: the larger of the caller's figure and the computed one, at least 1. */
  readonly amountUsdMicros: number;
  /** The part that a call costs as soon as the model has received it. Absent without tokens or without a price. */
  readonly input?: { readonly tokens: number; readonly costUsdMicros: number };
}

export function estimateIssues({ inputTokens, maxOutputTokens, costUsdMicros, components }: EstimateRequest): Issue[] {
  const issues = Object.entries({ inputTokens, maxOutputTokens, costUsdMicros })
    .filter(([, amount]) => typeof amount === 'number' && !isWholeWithin(amount, 0, maxAmountPerCall))
    .map(([name]) => ({
      path: `input.estimate.${name}`,
      message: `must be a whole number from 0 to ${maxAmountPerCall}`,
    }));
  return [...issues, ...componentIssues(components ?? []).map(inEstimate)];
}

/** The estimate for a model with this price. The error names usage without a price, unless there is a figure. */
export function estimateOf(request: EstimateRequest, entries: readonly PriceEntry[]): Estimate | GatewayError {
  const { inputTokens, maxOutputTokens, components, costUsdMicros } = request;
  const usage = { inputTokens: inputTokens ?? 0, outputTokens: maxOutputTokens ?? 0, components };
  const figure = costUsdMicros ?? 0;
  const prices = unitPricesFor(usage, entries);
  if (prices instanceof GatewayError)
    return typeof costUsdMicros === 'number' ? { amountUsdMicros: Math.max(1, figure) } : estimateError(prices);
  const cost = totalCost(usage, prices);
  if (cost > BigInt(maxAmountPerCall)) return tooHigh();
  const hasTokens = usage.inputTokens > 0 || (components ?? []).some(({ quantity }) => quantity > 0);
  const inputCost = Number(totalCost({ ...usage, outputTokens: 0 }, prices));
  return {
    amountUsdMicros: Math.max(1, figure, Number(cost)),
    ...(hasTokens ? { input: { tokens: usage.inputTokens, costUsdMicros: inputCost } } : {}),
  };
}

const inEstimate = ({ path, message }: Issue): Issue => ({
  path: path.replace(/^input\.outputTokens/, 'input.maxOutputTokens').replace(/^input\./, 'input.estimate.'),
  message,
});

const estimateError = (error: GatewayError): GatewayError =>
  badInput(...((error.extensions.issues as readonly Issue[] | undefined) ?? []).map(inEstimate));

const tooHigh = () =>
  badInput({
    path: 'input.estimate',
    message: `the computed cost exceeds the maximum of ${maxAmountPerCall} micro-dollars per call`,
  });
