import type { Item, Value } from './expression.js';
import { definitionOf, type TableName } from './tables.js';

/**
 * A stored item does not have the attributes that its reader needs. Another version of Tollgate, or somebody else,
 * wrote it.
 */
export class CorruptItem extends Error {
  constructor(table: TableName, item: Item, attribute: string, expected: string) {
    const { partitionKey, sortKey } = definitionOf(table);
    const names = sortKey ? [partitionKey, sortKey] : [partitionKey];
    const key = names.map((name) => `${name}=${JSON.stringify(item[name] ?? null)}`).join(', ');
    super(`corrupt item in table ${table}, key ${key}: attribute ${attribute} is not ${expected}`);
    this.name = 'CorruptItem';
  }
}

/**
 * Reads the attributes of one item with their types. A method without `optional` throws `CorruptItem` if the attribute
 * is missing; every method throws it if the attribute has another type.
 */
export const fields = (table: TableName, item: Item): Fields => new Fields(table, item);

export class Fields {
  constructor(
    private readonly table: TableName,
    private readonly item: Item,
  ) {}

  has(name: string): boolean {
    return this.item[name] !== undefined;
  }

  string(name: string): string {
    return this.optionalString(name) ?? this.corrupt(name, 'a string');
  }

  optionalString(name: string): string | undefined {
    const value = this.item[name];
    return value === undefined || typeof value === 'string' ? value : this.corrupt(name, 'a string');
  }

  number(name: string): number {
    return this.optionalNumber(name) ?? this.corrupt(name, 'a number');
  }

  optionalNumber(name: string): number | undefined {
    const value = this.item[name];
    return value === undefined || typeof value === 'number' ? value : this.corrupt(name, 'a number');
  }

  /** An integer of any size. DynamoDB numbers past 2^53 are decoded as bigint, smaller ones as number. */
  bigint(name: string): bigint {
    return this.optionalBigint(name) ?? this.corrupt(name, 'an integer');
  }

  optionalBigint(name: string): bigint | undefined {
    const value = this.item[name];
    if (value === undefined || typeof value === 'bigint') return value;
    return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : this.corrupt(name, 'an integer');
  }

  boolean(name: string): boolean {
    return this.optionalBoolean(name) ?? this.corrupt(name, 'a boolean');
  }

  optionalBoolean(name: string): boolean | undefined {
    const value = this.item[name];
    return value === undefined || typeof value === 'boolean' ? value : this.corrupt(name, 'a boolean');
  }

  /** A point in time stored as epoch milliseconds, or as ISO 8601 text. */
  date(name: string): Date {
    return this.optionalDate(name) ?? this.corrupt(name, 'a time');
  }

  optionalDate(name: string): Date | undefined {
    const value = this.item[name];
    if (value === undefined) return undefined;
    const date = typeof value === 'number' || typeof value === 'string' ? new Date(value) : undefined;
    return date && !Number.isNaN(date.getTime()) ? date : this.corrupt(name, 'a time');
  }

  /** One of the values; undefined if the attribute is missing. */
  optionalOneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.item[name];
    if (value === undefined) return undefined;
    return values.find((each) => each === value) ?? this.corrupt(name, `one of ${values.join(', ')}`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    return this.optionalOneOf(name, values) ?? this.corrupt(name, `one of ${values.join(', ')}`);
  }

  strings(name: string): readonly string[] {
    return this.optionalStrings(name) ?? this.corrupt(name, 'a list of strings');
  }

  optionalStrings(name: string): readonly string[] | undefined {
    const value = this.item[name];
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
    return isList ? (value as readonly string[]) : this.corrupt(name, 'a list of strings');
  }

  list(name: string): readonly Value[] {
    const value = this.item[name];
    return Array.isArray(value) ? (value as readonly Value[]) : this.corrupt(name, 'a list');
  }

  /** A list of maps, each as an item of its own. */
  maps(name: string): readonly Item[] {
    const list = this.list(name);
    return list.every(isMap) ? (list as unknown as readonly Item[]) : this.corrupt(name, 'a list of maps');
  }

  /** A map attribute as an item of its own, so that its entries can be read with their types. */
  map(name: string): Item {
    return this.optionalMap(name) ?? this.corrupt(name, 'a map');
  }

  optionalMap(name: string): Item | undefined {
    const value = this.item[name];
    return value === undefined || isMap(value) ? (value as Item | undefined) : this.corrupt(name, 'a map');
  }

  /** A string attribute that is the JSON text of a map, as an item of its own. */
  json(name: string): Item {
    const value = parsed(this.string(name));
    return isMap(value) ? (value as Item) : this.corrupt(name, 'the JSON text of a map');
  }

  /** A string attribute with a format of its own. `parse` returns undefined for a text that does not have it. */
  text<T>(name: string, parse: (text: string) => T | undefined, expected: string): T {
    return parse(this.string(name)) ?? this.corrupt(name, expected);
  }

  /** A map whose values are all numbers. */
  numbers(name: string): Readonly<Record<string, number>> {
    const map = this.map(name);
    const areNumbers = Object.values(map).every((value) => typeof value === 'number');
    return areNumbers ? (map as Readonly<Record<string, number>>) : this.corrupt(name, 'a map of numbers');
  }

  /** For a value of the right type that makes no sense. */
  corrupt(name: string, expected: string): never {
    throw new CorruptItem(this.table, this.item, name, expected);
  }
}

const isMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
