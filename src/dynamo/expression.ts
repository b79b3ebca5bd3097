/** A value of an item attribute. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly Value[]
  | { readonly [name: string]: Value | undefined };
export type Item = Readonly<Record<string, Value | undefined>>;

type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'absent' | 'present'; readonly attribute: string }
  | { readonly kind: 'compare'; readonly attribute: string; readonly comparator: Comparator; readonly value: Value }
  | { readonly kind: 'between'; readonly attribute: string; readonly from: Value; readonly to: Value }
  | { readonly kind: 'beginsWith'; readonly attribute: string; readonly prefix: string }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] };

const compare =
  (comparator: Comparator) =>
  (attribute: string, value: Value): Condition => ({ kind: 'compare', attribute, comparator, value });

export const equals = compare('=');
export const differs = compare('<>');
export const lessThan = compare('<');
export const atMost = compare('<=');
export const greaterThan = compare('>');
export const atLeast = compare('>=');
export const absent = (attribute: string): Condition => ({ kind: 'absent', attribute });
export const present = (attribute: string): Condition => ({ kind: 'present', attribute });
export const between = (attribute: string, from: Value, to: Value): Condition => ({
  kind: 'between',
  attribute,
  from,
  to,
});
export const beginsWith = (attribute: string, prefix: string): Condition => ({ kind: 'beginsWith', attribute, prefix });
export const and = (...conditions: readonly Condition[]): Condition => ({ kind: 'and', conditions });
export const or = (...conditions: readonly Condition[]): Condition => ({ kind: 'or', conditions });

export interface Changes {
  readonly set?: Item;
  /** Set only if the attribute is absent. */
  readonly setIfAbsent?: Item;
  /** Added to a number. Not idempotent, so it needs a condition or a guarded transaction. */
  readonly add?: Readonly<Record<string, number | bigint>>;
  readonly remove?: readonly string[];
}

/** Builds DynamoDB expressions. Every name gets a placeholder, because many common words are reserved. */
export class Expression {
  private readonly names = new Map<string, string>();
  private readonly values: Record<string, Value> = {};
  private valueCount = 0;

  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'absent':
        return `attribute_not_exists(${this.name(condition.attribute)})`;
      case 'present':
        return `attribute_exists(${this.name(condition.attribute)})`;
      case 'compare':
        return `${this.name(condition.attribute)} ${condition.comparator} ${this.value(condition.value)}`;
      case 'between':
        return [
          this.name(condition.attribute),
          'BETWEEN',
          this.value(condition.from),
          'AND',
          this.value(condition.to),
        ].join(' ');
      case 'beginsWith':
        return `begins_with(${this.name(condition.attribute)}, ${this.value(condition.prefix)})`;
      case 'and':
      case 'or':
        return this.joined(condition.conditions, ` ${condition.kind.toUpperCase()} `);
    }
  }

  /** A single condition gets no parentheses, because DynamoDB refuses redundant ones. */
  private joined(conditions: readonly Condition[], operator: string): string {
    const [first] = conditions;
    if (first && conditions.length === 1) return this.condition(first);
    return conditions.map((part) => `(${this.condition(part)})`).join(operator);
  }

  changes({ set = {}, setIfAbsent = {}, add = {}, remove = [] }: Changes): string {
    const sets = [
      ...defined(set).map(([name, value]) => `${this.name(name)} = ${this.value(value)}`),
      ...defined(setIfAbsent).map(
        ([name, value]) => `${this.name(name)} = if_not_exists(${this.name(name)}, ${this.value(value)})`,
      ),
    ];
    const adds = Object.entries(add).map(([name, amount]) => `${this.name(name)} ${this.value(amount)}`);
    const removes = remove.map((name) => this.name(name));
    return [
      sets.length > 0 && `SET ${sets.join(', ')}`,
      adds.length > 0 && `ADD ${adds.join(', ')}`,
      removes.length > 0 && `REMOVE ${removes.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' ');
  }

  projection(paths: readonly (string | readonly string[])[]): string {
    return paths
      .map((path) =>
        [path]
          .flat()
          .map((name) => this.name(name as string))
          .join('.'),
      )
      .join(', ');
  }

  /** The placeholder maps. Empty maps are left out, because DynamoDB refuses them. */
  placeholders(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, Value>;
  } {
    return {
      ...(this.names.size > 0
        ? {
            ExpressionAttributeNames: Object.fromEntries(
              [...this.names].map(([name, placeholder]) => [placeholder, name]),
            ),
          }
        : {}),
      ...(this.valueCount > 0 ? { ExpressionAttributeValues: this.values } : {}),
    };
  }

  private name(attribute: string): string {
    let placeholder = this.names.get(attribute);
    if (!placeholder) {
      placeholder = `#n${this.names.size}`;
      this.names.set(attribute, placeholder);
    }
    return placeholder;
  }

  private value(value: Value): string {
    const placeholder = `:v${this.valueCount++}`;
    this.values[placeholder] = value;
    return placeholder;
  }
}

const defined = (item: Item): [string, Value][] =>
  Object.entries(item).filter((entry): entry is [string, Value] => entry[1] !== undefined);
