import type { Amounts, Usage } from '../types.js';

/** The usage of one model call. Every token is in exactly one of its figures. */
export interface TokenUsage extends Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Quantities by the name of their price in the catalog. */
  readonly components: Amounts;
}

/** What a provider reports. */
export type Reported = Readonly<Record<string, unknown>>;

/** A count of tokens: whole and not negative. Anything else is 0. */
export const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 && Number.isSafeInteger(value) ? value : 0;

/** An object, or an empty one in its place. */
export const object = (value: unknown): Reported =>
  typeof value === 'object' && value !== null ? (value as Reported) : {};

/** Leaves out components of which nothing was used. */
export const usageOf = (inputTokens: number, outputTokens: number, components: Amounts = {}): TokenUsage => ({
  inputTokens,
  outputTokens,
  components: Object.fromEntries(Object.entries(components).filter(([, quantity]) => quantity > 0)),
});

/**
 * The rest of a total without its parts, then the parts. A part never takes more than is left, because a provider may
 * count a token in two parts.
 */
export function split(total: number, ...parts: readonly number[]): readonly number[] {
  let rest = total;
  const taken = parts.map((part) => {
    const quantity = Math.min(part, rest);
    rest -= quantity;
    return quantity;
  });
  return [rest, ...taken];
}
