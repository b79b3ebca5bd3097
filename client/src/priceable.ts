import type { ModelPrice, Usage } from './types.js';

/** Components that are input or output tokens at another price. */
const inputParts = /^(cache|inputAudio)/;
const outputParts = /^(reasoning|outputAudio)/;

/**
 * Counts tokens without a price of their own as input or output tokens, because a cost with a component that has no
 * price is refused. Components that are not tokens stay. Without a known price, no component has one.
 */
export function priceable<T extends Usage>(usage: T, price: ModelPrice | null | undefined): T {
  if (!usage.components || usage.costUsdMicros !== undefined) return usage;
  let { inputTokens = 0, outputTokens = 0 } = usage;
  const components: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(usage.components)) {
    if (price?.entries.some((entry) => entry.name === name)) components[name] = quantity;
    else if (inputParts.test(name)) inputTokens += quantity;
    else if (outputParts.test(name)) outputTokens += quantity;
    else components[name] = quantity;
  }
  return { ...usage, inputTokens, outputTokens, components };
}
