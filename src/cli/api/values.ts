import { readFileSync } from 'node:fs';
import { UsageError } from '../help.js';
import { parseLimit } from './limit-spec.js';

/** How the text of an argument becomes the value of a variable. */
const conversions = {
  text: (text: string): unknown => text,
  int: (text: string): unknown => whole(text),
  usd: (text: string): unknown => micros(text),
  yesno: (text: string): unknown => yesNo(text),
  /** `a,b,c` */
  list: (text: string): unknown => text.split(',').filter((part) => part !== ''),
  ints: (text: string): unknown => text.split(',').map(whole),
  /** An empty text removes the value. */
  clearable: (text: string): unknown => (text === '' ? null : text),
  upper: (text: string): unknown => text.toUpperCase().replaceAll('-', '_'),
  /** `premium=12.50` in dollars per day, `premium=12.50:hard` with its enforcement. */
  quota: (text: string): unknown => {
    const [, given = text, enforcement] = /^(.*):(hard|advisory)$/.exec(text) ?? [];
    const [label, amount] = pair(given, 'label=dollars or label=dollars:hard, for example premium=12.50');
    const dailyUsdMicros = micros(amount);
    return { label, dailyUsdMicros, ...(enforcement ? { enforcement: enforcement.toUpperCase() } : {}) };
  },
  /** `rpm=1` */
  consume: (text: string): unknown => {
    const [limit, amount] = pair(text, 'limit=amount, for example rpm=1');
    return { limit, amount: whole(amount) };
  },
  /** `user=ana` */
  named: (text: string): unknown => {
    const [name, value] = pair(text, 'name=value, for example user=ana');
    return { name, value };
  },
  component: (text: string): unknown => {
    const [name, quantity] = pair(text, 'name=quantity, for example cachedInputTokens=200');
    return { name, quantity: whole(quantity) };
  },
  /** `inputTokens=3.00` in dollars per million, `inputTokens>200000=6.00` above a number. */
  price: (text: string): unknown => {
    const [left, amount] = pair(text, 'component=dollars per million, for example inputTokens=3.00');
    const [name = '', above] = left.split('>');
    return { name, usdMicrosPer1M: micros(amount), ...(above === undefined ? {} : { above: whole(above) }) };
  },
  limit: (text: string): unknown => parseLimit(text),
  /** A file of JSON, `-` for the standard input. */
  json: (text: string): unknown => parseJson(readFileSync(text === '-' ? 0 : text, 'utf8')),
} as const;

export type ArgumentKind = keyof typeof conversions;
/** Options of these kinds may be repeated, and their variable is a list. */
const repeated: readonly ArgumentKind[] = ['quota', 'consume', 'named', 'component', 'price', 'limit'];

export const isRepeated = (conversion: ArgumentKind | undefined): boolean =>
  conversion !== undefined && repeated.includes(conversion);

/** The value of a variable. An error names the argument. */
export function convert(
  flags: string,
  conversion: ArgumentKind | undefined,
  given: string | readonly string[],
): unknown {
  try {
    const one = conversions[conversion ?? 'text'];
    return typeof given === 'string' ? one(given) : given.map((text) => one(text));
  } catch (error) {
    throw new UsageError(`${flags}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Sets a variable by its path and creates the objects on the way. */
export function setPath(target: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let place = target;
  for (const name of names) {
    place[name] ??= {};
    place = place[name] as Record<string, unknown>;
  }
  place[last] = value;
}

/** The value at a path of a response. Undefined if a part of it is missing or null. */
export function getPath(source: unknown, path: string): unknown {
  let value = source;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function pair(text: string, form: string): [string, string] {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw new Error(`must have the form ${form}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function whole(text: string): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value)) throw new Error('must be a whole number');
  return value;
}

/** Dollars to micro-dollars, exactly: no floating point. */
function micros(text: string): number {
  const [, sign = '', dollars = '', fraction = ''] = /^(-?)\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (dollars === '') throw new Error('must be an amount in dollars, for example 12.50, with at most 6 decimals');
  const value = BigInt(dollars) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return Number(sign === '-' ? -value : value);
}

function yesNo(text: string): boolean {
  if (text === 'yes' || text === 'true') return true;
  if (text === 'no' || text === 'false') return false;
  throw new Error('must be yes or no');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error('must be a file of JSON', { cause: error });
  }
}
