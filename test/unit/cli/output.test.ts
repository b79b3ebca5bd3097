import fc from 'fast-check';
import { parse } from 'yaml';
import { limitText, parseLimit } from '../../../src/cli/api/limit-spec.js';
import { formatted, formattedEvent, outputFormats, usdText } from '../../../src/cli/api/output.js';
import { convert, getPath, setPath } from '../../../src/cli/api/values.js';
import { completeLimit } from '../../../src/limits/limit.js';

const command = {
  columns: ['name', { path: 'costUsdMicros', title: 'cost', show: 'usd' }, { path: 'parent.id', title: 'parent' }],
  id: 'name',
} as const;
const rows = [
  { name: 'chat', costUsdMicros: 1_250_000, parent: { id: 'a' } },
  { name: 'batch-jobs', costUsdMicros: 7, parent: null },
];
const list = { rows, isSingle: false };

describe('the output', () => {
  it('is a table with aligned columns, and a dash for what is missing', () => {
    expect(formatted(list, 'table', command)).toBe(
      ['name        cost       parent', 'chat        $1.25      a', 'batch-jobs  $0.000007  -', ''].join('\n'),
    );
  });

  it('is JSON, JSON lines, YAML, CSV or names, with the amounts of the API', () => {
    expect(JSON.parse(formatted(list, 'json', command))).toEqual(rows);
    expect(JSON.parse(formatted({ rows: rows.slice(0, 1), isSingle: true }, 'json', command))).toEqual(rows[0]);
    expect(
      formatted(list, 'jsonl', command)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
    expect(parse(formatted(list, 'yaml', command))).toEqual(rows);
    expect(formatted(list, 'csv', command)).toBe('name,costUsdMicros,parent.id\r\nchat,1250000,a\r\nbatch-jobs,7,\r\n');
    expect(formatted(list, 'name', command)).toBe('chat\nbatch-jobs\n');
  });

  it('is empty for no rows in a table, and an empty list in JSON', () => {
    expect(formatted({ rows: [], isSingle: false }, 'table', command)).toBe('');
    expect(formatted({ rows: [], isSingle: false }, 'json', command)).toBe('[]\n');
  });

  it('shows no control characters of a name to a terminal', () => {
    const evil = [{ name: 'a\u001b]0;owned\u0007\nb\u009b31m' }];
    for (const format of ['table', 'name'] as const)
      expect(formatted({ rows: evil, isSingle: false }, format, { columns: ['name'] })).toMatch(
        /^[^\p{Cc}]*\n?[^\p{Cc}]*\n$/u,
      );
    expect(formattedEvent(evil[0] ?? {}, 'table', { columns: ['name'] })).not.toContain('\u001b');
  });

  it('has no formula for a spreadsheet in CSV, and quotes what needs it', () => {
    const cells = ['=1+1', '@x', '-5', 'a,"b"', '+x'].map((name) => ({ name }));
    expect(formatted({ rows: cells, isSingle: false }, 'csv', { columns: ['name'] })).toBe(
      `name\r\n'=1+1\r\n'@x\r\n-5\r\n"a,""b"""\r\n'+x\r\n`,
    );
  });

  it('never fails, whatever the rows contain', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
        fc.constantFrom(...outputFormats),
        (any, format) => {
          expect(typeof formatted({ rows: any as never, isSingle: false }, format, command)).toBe('string');
        },
      ),
      { seed: 84, numRuns: 200 },
    );
  });

  it.each([
    [0, '$0.00'],
    [1, '$0.000001'],
    [12_500_000, '$12.50'],
    [-1_250_000, '-$1.25'],
    [1_234_500, '$1.2345'],
    [10 ** 15, '$1000000000.00'],
  ])('shows %s micro-dollars as %s', (micros, text) => expect(usdText(micros)).toBe(text));
});

describe('the arguments', () => {
  it.each([
    ['usd', '12.50', 12_500_000],
    ['usd', '0.000001', 1],
    ['usd', '-3', -3_000_000],
    ['usd', '999999999.999999', 999_999_999_999_999],
    ['int', '-7', -7],
    ['yesno', 'no', false],
    ['list', 'a,b', ['a', 'b']],
    ['ints', '50,80', [50, 80]],
    ['upper', 'entity-default', 'ENTITY_DEFAULT'],
    ['clearable', '', null],
    ['quota', 'premium=1.5', { label: 'premium', dailyUsdMicros: 1_500_000 }],
    ['quota', 'premium=1.5:hard', { label: 'premium', dailyUsdMicros: 1_500_000, enforcement: 'HARD' }],
    ['consume', 'rpm=2', { limit: 'rpm', amount: 2 }],
    ['named', 'user=a=b', { name: 'user=a', value: 'b' }],
    ['price', 'inputTokens>200000=6', { name: 'inputTokens', usdMicrosPer1M: 6_000_000, above: 200_000 }],
    ['component', 'cacheRead=5', { name: 'cacheRead', quantity: 5 }],
  ] as const)('converts %s %s', (conversion, text, value) => {
    expect(convert('--x', conversion, text)).toEqual(value);
  });

  it.each([
    ['usd', '1.0000001'],
    ['usd', '1e3'],
    ['int', '1.5'],
    ['int', '99999999999999999999'],
    ['yesno', 'maybe'],
    ['quota', 'premium'],
    ['consume', '=1'],
    ['limit', 'rpm'],
  ] as const)('refuses %s %s and names the option', (conversion, text) => {
    expect(() => convert('--amount', conversion, text)).toThrow(/^--amount: must/);
  });

  it('sets and gets paths', () => {
    const target = {};
    setPath(target, 'input.raise.until', 'x');
    setPath(target, 'input.name', 'y');
    expect(target).toEqual({ input: { raise: { until: 'x' }, name: 'y' } });
    expect(getPath(target, 'input.raise.until')).toBe('x');
    expect(getPath({ a: null }, 'a.b')).toBeUndefined();
  });
});

describe('a limit on the command line', () => {
  it.each([
    ['rpm=100', { name: 'rpm', capacity: 100, refillPeriodSecs: 60 }],
    ['tpm=40000:burst=60000/60s', { name: 'tpm', capacity: 40_000, burst: 60_000, refillPeriodSecs: 60 }],
    ['x=5:refill=1/2m', { name: 'x', capacity: 5, refillAmount: 1, refillPeriodSecs: 120 }],
    ['calls=1000/day', { name: 'calls', capacity: 1000, refillPeriodSecs: 60, window: 'DAY' }],
    [
      'jobs=5:concurrent:shadow',
      { name: 'jobs', capacity: 5, refillPeriodSecs: 60, kind: 'CONCURRENCY', enforce: false },
    ],
  ])('%s', (text, limit) => expect(parseLimit(text)).toEqual(limit));

  it.each(['rpm', 'rpm=', 'rpm=x', 'rpm=5/fortnight', 'rpm=5:loud', 'rpm=5:burst', '=5', 'a=5/60s/60s'])(
    'refuses %s and shows the form',
    (text) => expect(() => parseLimit(text)).toThrow('name=capacity'),
  );

  it('is read back from its text, with its defaults', () => {
    const rate = fc.record({
      name: fc.constantFrom('rpm', 'tpm'),
      capacity: fc.nat(10 ** 9),
      burst: fc.option(fc.nat(10 ** 9)),
      refillAmount: fc.option(fc.nat(10 ** 9)),
      refillPeriodSecs: fc.integer({ min: 1, max: 10 ** 6 }),
      kind: fc.constantFrom('RATE', 'CONCURRENCY'),
      window: fc.option(fc.constantFrom('DAY', 'WEEK', 'MONTH')),
      enforce: fc.boolean(),
    });
    fc.assert(
      fc.property(rate, (limit) => {
        const complete = completeLimit(limit as never);
        expect(completeLimit(parseLimit(limitText(complete)))).toEqual(complete);
      }),
      { seed: 84, numRuns: 300 },
    );
  });
});
