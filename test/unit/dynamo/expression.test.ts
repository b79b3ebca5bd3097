import fc from 'fast-check';
import {
  absent,
  and,
  atLeast,
  atMost,
  beginsWith,
  between,
  type Changes,
  type Condition,
  Expression,
  equals,
  greaterThan,
  lessThan,
  or,
  present,
} from '../../../src/dynamo/expression.js';

describe('Expression', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'status',
      'name',
      'ttl',
      'size',
      'AND',
      'OR',
      'SET',
      'b_tokens-per.minute_fa',
      'a.b',
      'a-b',
      '#n0',
      ':v0',
      '__proto__',
      '',
    ),
    fc.string({ unit: 'grapheme' }),
  );
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.bigInt());
  const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
    condition: fc.oneof(
      { depthSize: 'small' },
      name.map(absent),
      name.map(present),
      fc.tuple(name, value).map((args) => equals(...args)),
      fc.tuple(name, value).map((args) => lessThan(...args)),
      fc.tuple(name, value, value).map((args) => between(...args)),
      fc.tuple(name, fc.string()).map((args) => beginsWith(...args)),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((parts) => and(...parts)),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((parts) => or(...parts)),
    ),
  }));
  const keywords =
    'AND OR BETWEEN SET ADD REMOVE attribute_exists attribute_not_exists begins_with if_not_exists = <> < <= > >=';
  const words = new Set(keywords.split(' '));

  /**
   * Expects that every word is a keyword of the expression language or a placeholder, and that the maps define exactly
   * these placeholders.
   */
  function expectOnlyPlaceholders(expression: Expression, ...texts: string[]): void {
    const tokens = texts.flatMap((text) => text.split(/[\s(),]+/)).filter((token) => token !== '' && !words.has(token));
    const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = expression.placeholders();
    expect([...new Set(tokens)].sort()).toEqual([...Object.keys(names ?? {}), ...Object.keys(values ?? {})].sort());
    expect(tokens.every((token) => /^(#n|:v)\d+$/.test(token))).toBe(true);
    for (const map of [names, values]) if (map) expect(Object.keys(map)).not.toHaveLength(0);
    const all = Object.values(names ?? {});
    expect(new Set(all).size).toBe(all.length);
  }

  const attributesOf = (given: Condition): string[] =>
    'conditions' in given ? given.conditions.flatMap(attributesOf) : [given.attribute];
  const changes: fc.Arbitrary<Changes> = fc.record({
    set: fc.dictionary(name, value, { maxKeys: 5 }),
    setIfAbsent: fc.dictionary(name, value, { maxKeys: 5 }),
    add: fc.dictionary(name, fc.oneof(fc.integer(), fc.bigInt()), { maxKeys: 5 }),
    remove: fc.array(name, { maxLength: 5 }),
  });

  it('writes every attribute name as a placeholder, including reserved words, dots and dashes', () => {
    fc.assert(
      fc.property(condition, (given) => {
        const expression = new Expression();
        expectOnlyPlaceholders(expression, expression.condition(given));
        expect(Object.values(expression.placeholders().ExpressionAttributeNames ?? {}).sort()).toEqual(
          [...new Set(attributesOf(given))].sort(),
        );
      }),
    );
  });

  it('shares placeholders between the changes and the condition of one call', () => {
    fc.assert(
      fc.property(changes, condition, (change, guard) => {
        const expression = new Expression();
        const texts = [expression.changes(change), expression.condition(guard)];
        expectOnlyPlaceholders(expression, ...texts);
      }),
    );
  });

  it('writes each section of an update at most once, and no empty section', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const text = new Expression().changes(change);
        const count = (section: string) => text.split(' ').filter((word) => word === section).length;
        const size = (section: object | undefined) => Object.keys(section ?? {}).length;
        expect(count('SET')).toBe(size(change.set) + size(change.setIfAbsent) > 0 ? 1 : 0);
        expect(count('ADD')).toBe(size(change.add) > 0 ? 1 : 0);
        expect(count('REMOVE')).toBe(size(change.remove) > 0 ? 1 : 0);
      }),
    );
  });

  it('writes all kinds of changes in one expression', () => {
    const expression = new Expression();
    const text = expression.changes({
      set: { name: 'a', skipped: undefined },
      setIfAbsent: { first: 1 },
      add: { total: 5n, n: 1 },
      remove: ['old', 'older'],
    });
    expect(text).toBe('SET #n0 = :v0, #n1 = if_not_exists(#n1, :v1) ADD #n2 :v2, #n3 :v3 REMOVE #n4, #n5');
    expect(expression.placeholders()).toEqual({
      ExpressionAttributeNames: {
        '#n0': 'name',
        '#n1': 'first',
        '#n2': 'total',
        '#n3': 'n',
        '#n4': 'old',
        '#n5': 'older',
      },
      ExpressionAttributeValues: { ':v0': 'a', ':v1': 1, ':v2': 5n, ':v3': 1 },
    });
  });

  it('puts each part of a nested AND or OR into parentheses', () => {
    const expression = new Expression();
    expect(
      expression.condition(
        or(and(absent('a'), equals('b', 1)), and(or(present('a'), lessThan('c', 2)), greaterThan('d', 3))),
      ),
    ).toBe(
      '((attribute_not_exists(#n0)) AND (#n1 = :v0)) OR (((attribute_exists(#n0)) OR (#n2 < :v1)) AND (#n3 > :v2))',
    );
  });

  it.each<[Condition, string]>([
    [equals('a', 1), '#n0 = :v0'],
    [lessThan('a', 1), '#n0 < :v0'],
    [atMost('a', 1), '#n0 <= :v0'],
    [greaterThan('a', 1), '#n0 > :v0'],
    [atLeast('a', 1), '#n0 >= :v0'],
    [between('a', 1, 2), '#n0 BETWEEN :v0 AND :v1'],
    [beginsWith('a', 'x'), 'begins_with(#n0, :v0)'],
    [absent('a'), 'attribute_not_exists(#n0)'],
    [present('a'), 'attribute_exists(#n0)'],
    [or(and(equals('a', 1))), '#n0 = :v0'],
  ])('writes %j as %s', (given, text) => {
    expect(new Expression().condition(given)).toBe(text);
  });

  it('returns no empty map, because DynamoDB rejects empty maps', () => {
    expect(new Expression().placeholders()).toEqual({});
    const onlyNames = new Expression();
    onlyNames.condition(absent('a'));
    expect(onlyNames.placeholders()).toEqual({ ExpressionAttributeNames: { '#n0': 'a' } });
  });

  it('uses one placeholder per name and one per value, even if the values are equal', () => {
    const expression = new Expression();
    expect(expression.condition(and(equals('a', 1), equals('a', 1)))).toBe('(#n0 = :v0) AND (#n0 = :v1)');
  });
});
