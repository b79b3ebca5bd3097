import {
  absent,
  and,
  atMost,
  beginsWith,
  between,
  differs,
  equals,
  or,
  present,
} from '../../../src/dynamo/expression.js';
import { type EachWrite, statementOf } from '../../../src/dynamo/statement.js';

const table = 'limiter';
const key = { PK: 'p', SK: 's' };
const textOf = (write: EachWrite) => statementOf(write, 't_limiter')?.Statement;

describe('statementOf', () => {
  it('renders an insert with one parameter per attribute and leaves undefined ones out', () => {
    const insert = { ...key, a: 1, b: undefined, c: new Uint8Array([1]) };
    expect(statementOf({ table, insert }, 't_limiter')).toEqual({
      Statement: `INSERT INTO "t_limiter" VALUE {'PK': ?, 'SK': ?, 'a': ?, 'c': ?}`,
      Parameters: ['p', 's', 1, new Uint8Array([1])],
    });
  });

  it('renders an update with its parameters in the order of the text', () => {
    const write: EachWrite = {
      table,
      update: key,
      set: { a: 1 },
      add: { n: 2n, wc: 1, b_rpm_fa: -1 },
      remove: ['ttl'],
      condition: and(equals('v', 'x'), or(absent('e'), between('fa', 3, 4)), present('w')),
      returnNew: 'all',
    };
    expect(statementOf(write, 't_limiter')).toEqual({
      Statement:
        'UPDATE "t_limiter" SET "a" = ?, "n" = n + ?, "wc" = wc + ?, "b_rpm_fa" = b_rpm_fa + ? REMOVE "ttl" ' +
        'WHERE "PK" = ? AND "SK" = ? AND ' +
        '(("v" = ?) AND (("e" IS MISSING) OR ("fa" BETWEEN ? AND ?)) AND ("w" IS NOT MISSING)) RETURNING ALL NEW *',
      Parameters: [1, 2n, 1, -1, 'p', 's', 'x', 3, 4],
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  const condition = atMost('a', 1);
  it.each<[string, EachWrite]>([
    ['a name with a dot, which is a path in the embedded engine', { table, update: key, set: { 'a.b': 1 }, condition }],
    ['a name with a quote', { table, update: key, set: { 'a"b': 1 }, condition }],
    ['an inserted name with a quote', { table, insert: { ...key, "a'b": 1 } }],
    ['a condition on a name with a quote', { table, update: key, set: { a: 1 }, condition: absent('a"') }],
    ['an addition to a reserved word', { table, update: key, add: { count: 1 }, condition }],
    ['an addition to a short reserved word', { table, update: key, add: { to: 1 }, condition }],
    ['an addition to a name that may be a keyword', { table, update: key, add: { bit_length: 1 }, condition }],
    ['several removed attributes', { table, update: key, remove: ['a', 'b'], condition }],
    ['an attribute that is set only if it is absent', { table, update: key, setIfAbsent: { a: 1 }, condition }],
    [
      '<>, because engines differ on absent attributes',
      { table, update: key, set: { a: 1 }, condition: differs('a', 1) },
    ],
    ['a prefix', { table, update: key, set: { a: 1 }, condition: and(condition, beginsWith('a', 'x')) }],
  ])('does not render %s', (_, write) => {
    expect(textOf(write)).toBeUndefined();
  });

  it('renders up to 8,192 characters', () => {
    const insertOf = (length: number): EachWrite => ({ table, insert: { ['a'.repeat(length)]: 1 } });
    const overhead = (textOf(insertOf(1)) as string).length - 1;
    expect(textOf(insertOf(8192 - overhead))).toHaveLength(8192);
    expect(textOf(insertOf(8193 - overhead))).toBeUndefined();
  });
});
