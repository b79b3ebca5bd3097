import fc from 'fast-check';
import type { Item, Value } from '../../../src/dynamo/expression.js';
import { CorruptItem, type Fields, fields } from '../../../src/dynamo/fields.js';

const key = { PK: 'ORG#1', SK: 'DAY#20260102' };
const read = (item: Item): Fields => fields('daily_total', { ...key, ...item });
const attribute = 'x';
const bytes = new Uint8Array([1, 2, 3]);
const kinds = ['red', 'blue'] as const;

interface Method {
  readonly name: string;
  readonly read: (from: Fields) => unknown;
  readonly readOptional?: (from: Fields) => unknown;
  /** The words for the type in the error. */
  readonly expected: string;
  /** Stored values and what the method returns for them. */
  readonly valid: readonly (readonly [stored: Value, returned: unknown])[];
  readonly invalid: readonly Value[];
}

const methods: readonly Method[] = [
  {
    name: 'string',
    read: (from) => from.string(attribute),
    readOptional: (from) => from.optionalString(attribute),
    expected: 'a string',
    valid: [
      ['a', 'a'],
      ['', ''],
    ],
    invalid: [1, 1n, true, null, ['a'], { a: 1 }, bytes],
  },
  {
    name: 'number',
    read: (from) => from.number(attribute),
    readOptional: (from) => from.optionalNumber(attribute),
    expected: 'a number',
    valid: [
      [0, 0],
      [-1.5, -1.5],
    ],
    invalid: ['1', 2n ** 64n, true, null, [1], { a: 1 }],
  },
  {
    name: 'bigint',
    read: (from) => from.bigint(attribute),
    readOptional: (from) => from.optionalBigint(attribute),
    expected: 'an integer',
    valid: [
      [0, 0n],
      [-7, -7n],
      [2 ** 53 - 1, 2n ** 53n - 1n],
      [2n ** 64n, 2n ** 64n],
    ],
    invalid: [1.5, 2 ** 53, '1', false, null],
  },
  {
    name: 'boolean',
    read: (from) => from.boolean(attribute),
    readOptional: (from) => from.optionalBoolean(attribute),
    expected: 'a boolean',
    valid: [
      [true, true],
      [false, false],
    ],
    invalid: [0, 1, 'true', null],
  },
  {
    name: 'date',
    read: (from) => from.date(attribute),
    readOptional: (from) => from.optionalDate(attribute),
    expected: 'a time',
    valid: [
      [0, new Date(0)],
      [1_700_000_000_000, new Date(1_700_000_000_000)],
      ['2026-01-02T03:04:05.678Z', new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678))],
    ],
    invalid: ['', 'yesterday', 1e20, 2n ** 64n, true, null, {}],
  },
  {
    name: 'oneOf',
    read: (from) => from.oneOf(attribute, kinds),
    readOptional: (from) => from.optionalOneOf(attribute, kinds),
    expected: 'one of red, blue',
    valid: [
      ['red', 'red'],
      ['blue', 'blue'],
    ],
    invalid: ['', 'Red', 'green', 0, null],
  },
  {
    name: 'strings',
    read: (from) => from.strings(attribute),
    readOptional: (from) => from.optionalStrings(attribute),
    expected: 'a list of strings',
    valid: [
      [[], []],
      [
        ['a', ''],
        ['a', ''],
      ],
    ],
    invalid: ['a', ['a', 1], [null], { 0: 'a' }, null],
  },
  {
    name: 'list',
    read: (from) => from.list(attribute),
    expected: 'a list',
    valid: [
      [[], []],
      [
        [1, 'a', { b: null }],
        [1, 'a', { b: null }],
      ],
    ],
    invalid: ['a', { 0: 'a' }, bytes, null],
  },
  {
    name: 'maps',
    read: (from) => from.maps(attribute),
    expected: 'a list',
    valid: [
      [[], []],
      [
        [{}, { a: 1 }],
        [{}, { a: 1 }],
      ],
    ],
    invalid: ['a', {}, bytes, null],
  },
  {
    name: 'map',
    read: (from) => from.map(attribute),
    readOptional: (from) => from.optionalMap(attribute),
    expected: 'a map',
    valid: [
      [{}, {}],
      [{ a: { b: 1 } }, { a: { b: 1 } }],
    ],
    invalid: ['a', 1, [], bytes, null],
  },
];

const errorOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe.each(methods)('fields.$name', ({ read: get, readOptional, expected, valid, invalid }) => {
  const place = 'corrupt item in table daily_total, key PK="ORG#1", SK="DAY#20260102"';
  const message = `${place}: attribute x is not ${expected}`;

  it('returns the stored value with its type', () => {
    for (const [stored, returned] of valid) {
      expect(get(read({ [attribute]: stored }))).toEqual(returned);
      if (readOptional) expect(readOptional(read({ [attribute]: stored }))).toEqual(returned);
    }
  });

  it('throws CorruptItem with table, key and attribute if the attribute has another type', () => {
    for (const stored of invalid) {
      for (const method of readOptional ? [get, readOptional] : [get]) {
        const error = errorOf(() => method(read({ [attribute]: stored })));
        expect(error).toBeInstanceOf(CorruptItem);
        expect(error).toMatchObject({ name: 'CorruptItem', message });
      }
    }
  });

  it('throws CorruptItem if the attribute is missing, unless it is optional', () => {
    expect(errorOf(() => get(read({})))).toMatchObject({ name: 'CorruptItem', message });
    if (readOptional) expect(readOptional(read({}))).toBeUndefined();
  });
});

describe('fields.maps', () => {
  it('throws CorruptItem if an entry is not a map', () => {
    for (const list of [['a'], [{}, null], [[]], [bytes]])
      expect(() => read({ x: list }).maps('x')).toThrow('attribute x is not a list of maps');
  });
});

describe('fields.numbers', () => {
  it('returns a map of numbers', () => {
    expect(read({ x: { a: 1, b: -0.5 } }).numbers('x')).toEqual({ a: 1, b: -0.5 });
    expect(read({ x: {} }).numbers('x')).toEqual({});
  });

  it('throws CorruptItem if a value is not a number', () => {
    for (const map of [{ a: '1' }, { a: 1, b: null }, { a: 2n ** 64n }])
      expect(() => read({ x: map }).numbers('x')).toThrow('attribute x is not a map of numbers');
  });

  it('throws CorruptItem if the attribute is missing or not a map', () => {
    expect(() => read({}).numbers('x')).toThrow('attribute x is not a map');
    expect(() => read({ x: [1] }).numbers('x')).toThrow('attribute x is not a map');
  });
});

describe('fields', () => {
  it('knows whether an attribute exists, whatever its type', () => {
    expect(['x', 'y', 'z'].map((name) => read({ x: 0, y: null }).has(name))).toEqual([true, true, false]);
  });

  it('lets a reader report a value of the right type that makes no sense', () => {
    expect(() => read({ x: -1 }).corrupt('x', 'positive')).toThrow(
      'corrupt item in table daily_total, key PK="ORG#1", SK="DAY#20260102": attribute x is not positive',
    );
  });

  it('names the key attributes of the table, with null for a missing one', () => {
    expect(() => fields('processed_batches', { batch_id: 'b' }).string('x')).toThrow('key batch_id="b": attribute x');
    expect(() => fields('device_readings', { hardware_id: 'h' }).string('x')).toThrow(
      'key hardware_id="h", ts_batch=null: attribute x',
    );
  });

  it('returns or rejects any value without another error', () => {
    const value = fc.oneof(fc.string(), fc.double(), fc.bigInt(), fc.boolean(), fc.constant(null), fc.array(fc.nat()));
    fc.assert(
      fc.property(fc.constantFrom(...methods), value, ({ read: get }, stored) => {
        const outcome = errorOf(() => get(read({ [attribute]: stored as Value })));
        return !(outcome instanceof Error) || outcome instanceof CorruptItem;
      }),
    );
  });
});
