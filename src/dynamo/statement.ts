import type { Put, Update } from './client.js';
import type { Condition, Item, Value } from './expression.js';

/** A put that fails if the item exists. */
export type Insert = Pick<Put, 'table'> & { readonly insert: Item };
/** A conditional update of an item that exists: a PartiQL update creates no item. */
export type EachUpdate = Update & { readonly condition: Condition; readonly returnNew?: 'all' | 'changed' };
export type EachWrite = Insert | EachUpdate;

export interface Statement {
  readonly Statement: string;
  readonly Parameters: readonly Value[];
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

/** The limit of DynamoDB for one statement. */
const maxStatementLength = 8192;
/**
 * PartiQL has no placeholders for names. The embedded engine takes a dot for a path and other characters are untested,
 * so only plain names are rendered.
 */
const plainName = /^[A-Za-z]\w*$/;
/**
 * The embedded engine adds only to a name without quotes, and other engines refuse a reserved word there. No reserved
 * word has one letter, or one letter before an underscore.
 */
const bareName = /^[a-z](?:[a-z]|_\w*)?$/;
const reservedPairs = new Set(['as', 'at', 'by', 'do', 'go', 'if', 'in', 'is', 'no', 'of', 'on', 'or', 'to']);
const isBareName = (name: string): boolean => bareName.test(name) && !reservedPairs.has(name);

/**
 * The write as a PartiQL statement. Undefined if it cannot be one, in all engines with the same meaning: then it must
 * be sent by a call of its own.
 */
export function statementOf(write: EachWrite, tableName: string): Statement | undefined {
  const statement = 'insert' in write ? insertOf(write, tableName) : updateOf(write, tableName);
  return statement && statement.Statement.length <= maxStatementLength ? statement : undefined;
}

function insertOf({ insert }: Insert, tableName: string): Statement | undefined {
  const attributes = Object.entries(insert).filter(([, value]) => value !== undefined);
  if (!attributes.every(([name]) => plainName.test(name))) return undefined;
  const fields = attributes.map(([name]) => `'${name}': ?`).join(', ');
  return {
    Statement: `INSERT INTO "${tableName}" VALUE {${fields}}`,
    Parameters: attributes.map(([, value]) => value as Value),
  };
}

function updateOf(write: EachUpdate, tableName: string): Statement | undefined {
  const { update, set = {}, setIfAbsent, add = {}, remove = [], condition, returnNew } = write;
  // Several REMOVE clauses have a different syntax in each engine.
  if (setIfAbsent || remove.length > 1 || !Object.keys(add).every(isBareName)) return undefined;
  const text = new StatementText();
  const sets = Object.entries(set).flatMap(([name, value]) =>
    value === undefined ? [] : [`${text.name(name)} = ${text.value(value)}`],
  );
  const adds = Object.entries(add).map(([name, amount]) => `${text.name(name)} = ${name} + ${text.value(amount)}`);
  const removes = remove.map((name) => ` REMOVE ${text.name(name)}`).join('');
  const assignments = [...sets, ...adds];
  const changes = `${assignments.length > 0 ? ` SET ${assignments.join(', ')}` : ''}${removes}`;
  const keys = Object.entries(update).map(([name, value]) => `${text.name(name)} = ${text.value(value)}`);
  const where = [...keys, `(${text.condition(condition)})`].join(' AND ');
  const returning = returnNew ? ` RETURNING ${returnNew === 'all' ? 'ALL' : 'MODIFIED'} NEW *` : '';
  if (!text.isPortable) return undefined;
  return {
    Statement: `UPDATE "${tableName}"${changes} WHERE ${where}${returning}`,
    Parameters: text.parameters,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Builds the text of a statement and its parameters, in the order of the question marks. */
class StatementText {
  readonly parameters: Value[] = [];
  /** False if a name or an operator does not have the same meaning in all engines. */
  isPortable = true;

  name(name: string): string {
    if (!plainName.test(name)) this.isPortable = false;
    return `"${name}"`;
  }

  value(value: Value): string {
    this.parameters.push(value);
    return '?';
  }

  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'absent':
        return `${this.name(condition.attribute)} IS MISSING`;
      case 'present':
        return `${this.name(condition.attribute)} IS NOT MISSING`;
      case 'compare':
        // `<>` with an absent attribute is true on Amazon DynamoDB and false in the embedded engine.
        if (condition.comparator === '<>') this.isPortable = false;
        return `${this.name(condition.attribute)} ${condition.comparator} ${this.value(condition.value)}`;
      case 'between': {
        const { attribute, from, to } = condition;
        return `${this.name(attribute)} BETWEEN ${this.value(from)} AND ${this.value(to)}`;
      }
      case 'beginsWith':
        this.isPortable = false;
        return '';
      case 'and':
      case 'or': {
        const parts = condition.conditions.map((part) => `(${this.condition(part)})`);
        return parts.join(` ${condition.kind.toUpperCase()} `);
      }
    }
  }
}
