import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { GatewayError } from '../../../src/lib/errors.js';
import type { Org } from '../../../src/orgs/settings.js';
import { usageOf } from '../../../src/spend/counters.js';
import {
  type Correctable,
  correctableIssues,
  correctionCounters,
  correctionIssues,
  maxCorrectionDays,
  maxCorrectionsPerCost,
  maxReasonChars,
  mayBeClosed,
} from '../../../src/spend/ledger/correction.js';
import {
  type ExportRow,
  exportChunks,
  exportColumns,
  exportRequest,
  exportWriter,
} from '../../../src/spend/ledger/export.js';
import { LedgerService } from '../../../src/spend/ledger/ledger.service.js';
import {
  ledgerIndex,
  ledgerPartitions,
  ledgerSortKey,
  parsePosition,
  positionOf,
} from '../../../src/spend/ledger/ledger-key.js';
import { firstOpenDay } from '../../../src/spend/open-days.js';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-11-17T12:00:00Z');
const shardDays = 35;

describe('the issues of a correction', () => {
  const request = { appId: 'chat', requestId: 'r', correctionId: 'c', deltaUsdMicros: -1, reason: 'refund' };
  const pathsOf = (change: Partial<typeof request>) =>
    correctionIssues({ ...request, ...change }).map(({ path }) => path);

  it.each([
    ['a credit', { deltaUsdMicros: -1_000_000_000_000 }, []],
    ['a debit', { deltaUsdMicros: 1_000_000_000_000 }, []],
    ['nothing', { deltaUsdMicros: 0 }, ['input.deltaUsdMicros']],
    ['too much', { deltaUsdMicros: 1_000_000_000_001 }, ['input.deltaUsdMicros']],
    ['too large a credit', { deltaUsdMicros: -1_000_000_000_001 }, ['input.deltaUsdMicros']],
    ['a fraction', { deltaUsdMicros: 0.5 }, ['input.deltaUsdMicros']],
    ['a long reason', { reason: 'é'.repeat(maxReasonChars) }, []],
    ['too long a reason', { reason: 'é'.repeat(maxReasonChars + 1) }, ['input.reason']],
    ['a blank reason', { reason: '  ' }, ['input.reason']],
    ['a reason that breaks a line', { reason: 'a\nb' }, ['input.reason']],
  ])('accepts or refuses %s', (_what, change, paths) => {
    expect(pathsOf(change)).toEqual(paths);
  });
});

describe('a cost', () => {
  const cost: Correctable = {
    costUsdMicros: 1000,
    deltaUsdMicros: -400,
    corrections: 1,
    day: '2026-11-17',
    occurredAtMs: nowMs,
  };
  const issues = (change: Partial<Correctable>, deltaUsdMicros: number) =>
    correctableIssues({ ...cost, ...change }, deltaUsdMicros, nowMs, shardDays).map(({ message }) => message);

  it('is credited up to what is left of it', () => {
    expect(issues({}, -600)).toEqual([]);
    expect(issues({}, -601)).toEqual([expect.stringContaining('is 600 micro-dollars')]);
    expect(issues({ costUsdMicros: 0, deltaUsdMicros: 0 }, -1)).toEqual([expect.stringContaining('is 0 ')]);
    expect(issues({}, 1_000_000_000_000)).toEqual([]);
  });

  it('has a bounded number of corrections', () => {
    expect(issues({ corrections: maxCorrectionsPerCost - 1 }, 1)).toEqual([]);
    expect(issues({ corrections: maxCorrectionsPerCost }, 1)).toEqual([expect.stringContaining('the maximum is 20')]);
  });

  it('is corrected for 30 days, and only while its counters are stored', () => {
    const at = (ms: number) => ({ occurredAtMs: ms, day: new Date(ms).toISOString().slice(0, 10) });
    const tooOld = [expect.stringContaining('30 days')];
    expect(issues(at(nowMs - maxCorrectionDays * dayMs), 1)).toEqual([]);
    expect(issues(at(nowMs - maxCorrectionDays * dayMs - 1), 1)).toEqual(tooOld);
    const kept = at(nowMs - 9 * dayMs);
    expect(correctableIssues({ ...cost, ...kept }, 1, nowMs, 10)).toHaveLength(1);
    expect(correctableIssues({ ...cost, ...kept }, 1, nowMs, 12)).toEqual([]);
  });

  it('that is credited by all of it counts nothing, in any order of corrections', () => {
    const deltas = fc.array(
      fc.integer({ min: -500, max: 500 }).filter((delta) => delta !== 0),
      { maxLength: 25 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), deltas, (costUsdMicros, all) => {
        let state: Correctable = { ...cost, costUsdMicros, deltaUsdMicros: 0, corrections: 0 };
        let [debit, credit] = [0, 0];
        for (const delta of all) {
          if (correctableIssues(state, delta, nowMs, shardDays).length > 0) continue;
          const added = correctionCounters(delta, 3);
          debit += added.debitUsdMicros;
          credit += added.creditUsdMicros;
          expect(added.hours.get(3)).toEqual({ costUsdMicros: delta, requests: 0 });
          state = {
            ...state,
            deltaUsdMicros: state.deltaUsdMicros + delta,
            corrections: state.corrections + added.corrections,
          };
        }
        const shown = usageOf({
          ...correctionCounters(1, undefined),
          grossUsdMicros: costUsdMicros,
          debitUsdMicros: debit,
          creditUsdMicros: credit,
        });
        expect(shown.costUsdMicros).toBe(costUsdMicros + state.deltaUsdMicros);
        expect(shown.costUsdMicros).toBeGreaterThanOrEqual(0);
        expect(state.corrections).toBeLessThanOrEqual(maxCorrectionsPerCost);
      }),
    );
  });
});

it('counts a day as closed some time before the aggregator does', () => {
  // 26 hours before 14:00 UTC the 16th begins in the last time zone, so the aggregator closes the 15th at 14:00.
  expect(firstOpenDay(nowMs + 2 * 3_600_000 - 1)).toBe('2026-11-15');
  expect(firstOpenDay(nowMs + 2 * 3_600_000)).toBe('2026-11-16');
  expect(mayBeClosed('2026-11-15', nowMs - 1)).toBe(false);
  expect(mayBeClosed('2026-11-15', nowMs)).toBe(true);
  expect(mayBeClosed('2026-11-16', nowMs)).toBe(false);
});

describe('the place of a cost in the ledger', () => {
  const place = { orgId: randomUUID(), appId: 'chat', requestId: randomUUID(), day: '2026-11-17', occurredAtMs: nowMs };

  it('sorts by time and differs for two calls of one millisecond', () => {
    const later = { ...place, occurredAtMs: nowMs + 1 };
    expect(ledgerSortKey(later) > ledgerSortKey(place)).toBe(true);
    expect(ledgerSortKey({ ...place, occurredAtMs: 1 }) < ledgerSortKey(place)).toBe(true);
    expect(ledgerSortKey({ ...place, appId: 'web' })).not.toBe(ledgerSortKey(place));
  });

  it.each([
    [8, 4],
    [16, 4],
    [32, 8],
    [64, 16],
  ])('of an org with %d shards is one of %d partitions of its day', (shardCount, count) => {
    const partitions = ledgerPartitions(shardCount);
    const keys = Array.from(
      { length: 400 },
      () => ledgerIndex({ ...place, requestId: randomUUID() }, partitions).gsi1pk,
    );
    const expected = Array.from({ length: count }, (_, part) => `LEDGER#${place.orgId}#20261117#${part}`);
    expect([...new Set(keys)].sort()).toEqual(expected.sort());
  });

  it('is the content of a cursor', () => {
    expect(parsePosition(positionOf(place))).toEqual({ day: place.day, sortKey: ledgerSortKey(place) });
  });
});

it('charges a page of costs by partitions, days and filter before it is read', () => {
  const service = new LedgerService({ ledger: undefined as never });
  const charged = (shardCount: number, query: object): number => {
    const charges: number[] = [];
    const reader = { charge: (units: number) => void charges.push(units) };
    const range = { from: '2026-11-01', to: '2026-11-10', ...query };
    service.checkQuery({ ledger: true, shardCount } as Org, range, reader);
    return charges.reduce((sum, units) => sum + units, 0);
  };
  expect(charged(8, {})).toBe(40);
  expect(charged(64, {})).toBe(160);
  expect(charged(8, { label: 'premium' })).toBe(140);
  expect(charged(8, { appId: 'chat', label: null })).toBe(140);
  expect(() => charged(8, { to: '2026-12-02' })).toThrow('more than the maximum of 31');
});

describe('an export request', () => {
  const body = { format: 'csv', by: 'label', from: '2026-01-01', to: '2026-12-31' };
  const pathsOf = (change: object): string[] => {
    try {
      exportRequest({ ...body, ...change });
      return [];
    } catch (error) {
      const { issues } = (error as GatewayError).extensions as { issues: { path: string }[] };
      return issues.map(({ path }) => path);
    }
  };

  it.each([
    [{}, []],
    [{ orgId: null }, []],
    [{ orgId: randomUUID().toUpperCase() }, []],
    [{ orgId: 'mine' }, ['orgId']],
    [{ format: 'xml', by: 'day' }, ['format', 'by']],
    [{ from: '2026-02-30', to: 5 }, ['from', 'to']],
    [{ from: undefined }, ['from']],
    [{ from: '2027-01-01' }, ['to']],
    [{ from: '2025-12-30' }, ['from']],
    [{ by: 'hour' }, ['from']],
    [{ by: 'cost', from: '2026-12-01' }, []],
    [{ limit: 5 }, ['body']],
  ])('with %j has these issues: %j', (change, paths) => {
    expect(pathsOf(change)).toEqual(paths);
  });
});

describe('an export', () => {
  async function* source(rows: readonly ExportRow[]): AsyncGenerator<ExportRow> {
    yield* rows;
  }
  const textOf = async (format: 'csv' | 'jsonl', by: 'label' | 'cost', rows: readonly ExportRow[]) => {
    let text = '';
    for await (const chunk of exportChunks(source(rows), exportWriter({ format, by }))) text += chunk;
    return text;
  };

  it('as CSV has a header, CRLF, and quotes where they are needed', async () => {
    const row = { day: '2026-01-01', label: 'a,"b"', costUsdMicros: -5, requests: 1 };
    expect(await textOf('csv', 'label', [row])).toBe(
      `${exportColumns.label.join(',')}\r\n2026-01-01,"a,""b""",-5,,,1,,,\r\n`,
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
    'as CSV does not let a spreadsheet run %j',
    async (value) => {
      const [, line = ''] = (await textOf('csv', 'cost', [{ priceSource: value }])).split(
        /(?<=priceSource,dimensions\r\n)/,
      );
      expect(line.replace(/^,+"?/, '').startsWith("'")).toBe(true);
    },
  );

  it('as JSON lines has one object per row and an end that counts them', async () => {
    const lines = (await textOf('jsonl', 'cost', [{ requestId: 'r', dimensions: { user: '=x' } }, {}])).trimEnd();
    const [first, second, end] = lines.split('\n').map((line) => JSON.parse(line) as object);
    expect(first).toMatchObject({ requestId: 'r', appId: null, dimensions: { user: '=x' } });
    expect(Object.keys(second ?? {})).toEqual(exportColumns.cost);
    expect(end).toEqual({ end: true, rows: 2 });
  });
});
