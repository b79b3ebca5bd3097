import { entityIssues, isEntityId } from '../../../src/limits/entities/entity-id.js';
import { type Consumption, type LimitRequest, limitSet } from '../../../src/limits/limit.js';
import {
  consumeIssues,
  costIssues,
  isLimitName,
  isResource,
  limitsIssues,
  resourceIssues,
} from '../../../src/limits/limit-input.js';
import { vectorsOf } from '../../support/vectors.js';
import { rpm, tpm } from './limits.js';

const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

describe('validation of names', () => {
  type Named = { readonly value: string };
  type Verdict = { readonly valid: boolean };
  it.each(vectorsOf<Named, Verdict>('validate.limitName'))(
    'accepts or rejects a limit name as the vectors do: %s',
    (_, { value }, { valid }) => {
      expect(isLimitName(value)).toBe(valid);
      expect(paths(consumeIssues([{ limit: value, amount: 1 }], 'c'))).toEqual(valid ? [] : ['c.0.limit']);
      expect(paths(limitsIssues([{ ...rpm, name: value }], 'l'))).toEqual(valid ? [] : ['l.0.name']);
    },
  );
  it.each(vectorsOf<Named, Verdict>('validate.resource'))(
    'accepts or rejects a resource as the vectors do: %s',
    (_, { value }, { valid }) => {
      expect(isResource(value)).toBe(valid);
      expect(paths(resourceIssues(value, 'r'))).toEqual(valid ? [] : ['r']);
    },
  );
  it.each(vectorsOf<Named, Verdict>('validate.identifier'))(
    'accepts or rejects an entity id as the vectors do: %s',
    (_, { value }, { valid }) => {
      expect(isEntityId(value)).toBe(valid);
      expect(paths(entityIssues(value, 'e'))).toEqual(valid ? [] : ['e']);
    },
  );

  it.each([
    [isLimitName, 'a'.repeat(65), false],
    [isLimitName, 'wcu', false],
    [isLimitName, 'wcu2', true],
    [isLimitName, 'rpm\n', false],
    [isLimitName, 'a.b_c-d', true],
    [isResource, 'a'.repeat(64), true],
    [isResource, 'a'.repeat(65), false],
    [isResource, 'openai/gpt-4:x.y_z', true],
    [isResource, 'api\n', false],
    [isResource, '', false],
    [isResource, 'a@b', false],
    [isEntityId, 'a'.repeat(256), true],
    [isEntityId, 'a'.repeat(257), false],
    [isEntityId, 'me@x.org:1-2_3', true],
    [isEntityId, '$SYSTEM', false],
    [isEntityId, 'a#b', false],
    [isEntityId, '', false],
    [isEntityId, 'é', false],
  ])('%p(%j) is %p', (isValid, value, valid) => {
    expect(isValid(value)).toBe(valid);
  });
});

describe('limitsIssues', () => {
  it.each<[string, Partial<LimitRequest>, string[]]>([
    ['a valid limit', {}, []],
    ['no burst and no refill', { burst: null, refillAmount: undefined }, []],
    ['the maximum values', { capacity: 1e15, burst: 1e15, refillAmount: 1e15, refillPeriodSecs: 1e9 }, []],
    ['a capacity of 0', { capacity: 0 }, ['l.0.capacity']],
    ['a fractional capacity', { capacity: 1.5 }, ['l.0.capacity']],
    ['a capacity above the maximum', { capacity: 1e15 + 1, burst: null }, ['l.0.capacity']],
    ['a capacity that is not a number', { capacity: Number.NaN }, ['l.0.capacity']],
    ['a burst below the capacity', { burst: 99 }, ['l.0.burst']],
    ['a burst of 0', { burst: 0 }, ['l.0.burst', 'l.0.burst']],
    ['a refill of 0', { refillAmount: 0 }, ['l.0.refillAmount']],
    ['a negative refill', { refillAmount: -1 }, ['l.0.refillAmount']],
    ['a period of 0', { refillPeriodSecs: 0 }, ['l.0.refillPeriodSecs']],
    ['a period of half a second', { refillPeriodSecs: 0.5 }, ['l.0.refillPeriodSecs']],
    ['a period above the maximum', { refillPeriodSecs: 1e9 + 1 }, ['l.0.refillPeriodSecs']],
    ['a window', { window: 'DAY', burst: null, refillAmount: null, refillPeriodSecs: 1 }, []],
    ['a window with a burst equal to its capacity', { window: 'WEEK', refillAmount: null }, []],
    ['a window with a burst and a refill', { window: 'MONTH', burst: 101 }, ['l.0.burst', 'l.0.refillAmount']],
    ['a concurrency of 100', { kind: 'CONCURRENCY', refillAmount: null }, []],
    ['a concurrency of 101', { kind: 'CONCURRENCY', capacity: 101, burst: null, refillAmount: null }, ['l.0.capacity']],
    [
      'concurrency with a refill and a window',
      { kind: 'CONCURRENCY', window: 'DAY', burst: 101 },
      ['l.0.burst', 'l.0.refillAmount', 'l.0.window'],
    ],
    [
      'several invalid fields',
      { name: 'wcu', capacity: -1, burst: 0.5, refillAmount: 0, refillPeriodSecs: 0 },
      ['name', 'capacity', 'burst', 'refillAmount', 'refillPeriodSecs'].map((field) => `l.0.${field}`),
    ],
  ])('returns the issues of %s', (_, change, expected) => {
    expect(paths(limitsIssues([{ ...rpm, ...change }], 'l'))).toEqual(expected);
  });

  it('accepts one to ten limits with different names', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...rpm, name: `l${i}` }));
    expect([0, 1, 10, 11].map((count) => limitsIssues(many(count), 'l').length)).toEqual([1, 0, 0, 1]);
    expect(limitsIssues([], 'l', 0)).toEqual([]);
    expect(paths(limitsIssues([rpm, tpm, rpm, rpm], 'l'))).toEqual(['l.2.name', 'l.3.name']);
  });
});

describe('consumeIssues and costIssues', () => {
  it.each<[number, number, boolean]>([
    [0, 0, true],
    [1, 0, true],
    [-1, 0, false],
    [0.5, 0, false],
    [1e15, 0, true],
    [1e15 + 1, 0, false],
    [Number.MAX_SAFE_INTEGER + 1, 0, false],
    [Number.POSITIVE_INFINITY, 0, false],
    [Number.NaN, 0, false],
    [-5, -10, true],
    [-11, -10, false],
  ])('an amount of %d with a minimum of %d is valid: %p', (amount, min, isValid) => {
    expect(paths(consumeIssues([{ limit: 'rpm', amount }], 'c', min))).toEqual(isValid ? [] : ['c.0.amount']);
  });

  it('returns an issue for a limit that appears twice', () => {
    const twice = ['rpm', 'tpm', 'rpm'].map((limit) => ({ limit, amount: 1 }));
    expect(paths(consumeIssues(twice, 'c'))).toEqual(['c.2.limit']);
  });

  it.each<[string, Consumption[], string[]]>([
    ['all of the burst', [{ limit: 'tpm', amount: 2000 }], []],
    ['more than the burst', [{ limit: 'tpm', amount: 2001 }], ['c.0.amount']],
    [
      'a limit that the bucket does not have',
      [
        { limit: 'rpm', amount: 1 },
        { limit: 'rph', amount: 0 },
      ],
      ['c.1.limit'],
    ],
    ['an amount of 0', [{ limit: 'rpm', amount: 0 }], []],
  ])('returns the issues of %s', (_, consume, expected) => {
    expect(paths(costIssues(consume, limitSet([rpm, tpm]), 'entity "u"', 'c'))).toEqual(expected);
  });
});
