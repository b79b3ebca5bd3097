import { badInput, type GatewayError, type Issue } from '../../lib/errors.js';
import { isWholeWithin } from '../../lib/int.js';
import { componentName, entryFor, nameRule, type PriceEntry } from './price.js';

/** Usage of a call beside its input and output tokens, such as tokens read from a cache, or images. */
export interface CostComponent {
  readonly name: string;
  readonly quantity: number;
}

/** The usage of a call. Every token is in exactly one addend. */
export interface CallUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly components?: readonly CostComponent[] | null | undefined;
}

/** The price of each name in micro-dollars per million. */
export type UnitPrices = Readonly<Record<string, number>>;

/** One addend of a computed cost. */
export interface CostLine {
  readonly name: string;
  readonly quantity: number;
  readonly usdMicrosPer1M: number;
  readonly costUsdMicros: number;
}

export const maxComponentsPerCall = 16;
export const maxQuantity = 1_000_000_000_000;
/** Bounds the names in an error message. */
const maxListedNames = 20;

/** Why the components of a call are refused. */
export function componentIssues(components: readonly CostComponent[]): Issue[] {
  const path = 'input.components';
  if (components.length > maxComponentsPerCall)
    return [{ path, message: `must have at most ${maxComponentsPerCall} entries` }];
  const names = components.map(({ name }) => name);
  return components.flatMap(({ quantity }, i) => [
    ...nameIssuesAt(`${path}.${i}.name`, names, i),
    ...(isWholeWithin(quantity, 0, maxQuantity)
      ? []
      : [{ path: `${path}.${i}.quantity`, message: `must be a whole number from 0 to ${maxQuantity}` }]),
  ]);
}

function nameIssuesAt(path: string, names: readonly string[], index: number): Issue[] {
  const name = names[index] as string;
  if (!componentName.test(name)) return [{ path, message: nameRule }];
  if (name === 'input' || name === 'output')
    return [{ path, message: `cannot be a component: send the quantity as ${name}Tokens` }];
  return names.indexOf(name) === index ? [] : [{ path, message: `${name} is listed twice` }];
}

/** The quantities of a call by name, without those that are 0. Input and output first, then by name. */
export function quantitiesOf({ inputTokens, outputTokens, components }: CallUsage): [name: string, quantity: number][] {
  const others = (components ?? []).map(({ name, quantity }): [string, number] => [name, quantity]);
  others.sort(([a], [b]) => (a < b ? -1 : 1));
  const all: [string, number][] = [['input', inputTokens], ['output', outputTokens], ...others];
  return all.filter(([, quantity]) => quantity > 0);
}

/** The tokens that choose the tier of a call: its input, from a cache or not. */
export const tierTokens = ({ inputTokens, components }: CallUsage): number =>
  (components ?? []).reduce(
    (sum, { name, quantity }) => (name.startsWith('cache') ? sum + quantity : sum),
    inputTokens,
  );

/** The price of every name that the call uses, or the error that names those without a price. */
export function unitPricesFor(usage: CallUsage, entries: readonly PriceEntry[]): UnitPrices | GatewayError {
  const tokens = tierTokens(usage);
  const found = quantitiesOf(usage).map(([name]) => [name, entryFor(entries, name, tokens)?.usdMicrosPer1M] as const);
  const missing = found.filter(([, price]) => price === undefined).map(([name]) => name);
  if (missing.length > 0) return unpriced(usage, missing, entries);
  return Object.fromEntries(found as [string, number][]);
}

/** A component may be called `constructor`. */
const priceIn = (prices: UnitPrices, name: string): number | undefined =>
  Object.hasOwn(prices, name) ? prices[name] : undefined;

/** Rounded down. BigInt, because the products exceed 2^53. */
export const lineCost = (quantity: number, usdMicrosPer1M: number): bigint =>
  (BigInt(quantity) * BigInt(usdMicrosPer1M)) / 1_000_000n;

/** The cost of a call: the sum of its lines. */
export const totalCost = (usage: CallUsage, prices: UnitPrices): bigint =>
  quantitiesOf(usage).reduce((sum, [name, quantity]) => sum + lineCost(quantity, priceIn(prices, name) ?? 0), 0n);

/** The lines of a computed cost. None if the cost was submitted, because then there are no prices. */
export const linesOf = (usage: CallUsage, prices: UnitPrices = {}): CostLine[] =>
  quantitiesOf(usage).flatMap(([name, quantity]) => {
    const usdMicrosPer1M = priceIn(prices, name);
    if (usdMicrosPer1M === undefined) return [];
    return [{ name, quantity, usdMicrosPer1M, costUsdMicros: Number(lineCost(quantity, usdMicrosPer1M)) }];
  });

function unpriced(usage: CallUsage, missing: readonly string[], entries: readonly PriceEntry[]): GatewayError {
  const priced = [...new Set(entries.map(({ name }) => name))];
  const listed = priced.slice(0, maxListedNames).join(', ') + (priced.length > maxListedNames ? ', …' : '');
  const known = priced.length > 0 ? `the model has prices for ${listed}` : 'the model has no price yet';
  const pathOf = (name: string): string => {
    if (name === 'input' || name === 'output') return `input.${name}Tokens`;
    return `input.components.${(usage.components ?? []).findIndex((component) => component.name === name)}.name`;
  };
  return badInput(
    ...missing.map((name) => ({
      path: pathOf(name),
      message: `${name} has no price; ${known}; use one of these names, or send costUsdMicros`,
    })),
  );
}
