import {
  conflict,
  type ReadingOutcome,
  rejected,
  retry,
  settledBatchIds,
  type Verdict,
  verdictAfter,
} from '../../../src/devices/verdict.js';

describe('verdictAfter', () => {
  const bad = rejected({ code: 'INVALID_VALUE', message: 'x' });
  it.each([
    ['STORED', { kind: 'STORED' } as const, { kind: 'DUPLICATE' }, conflict],
    ['DUPLICATE', { kind: 'DUPLICATE' } as const, { kind: 'DUPLICATE' }, conflict],
    ['RETRY', retry, retry, retry],
    ['REJECTED', bad, 'undecided', 'undecided'],
    ['CONFLICT', conflict, 'undecided', 'undecided'],
  ])('decides on a repeated batch id after a first reading that was %s', (_, first, same, other) => {
    expect([verdictAfter(first, true), verdictAfter(first, false)]).toEqual([same, other]);
  });
});

describe('settledBatchIds', () => {
  const stored: Verdict = { kind: 'STORED' };
  const duplicate: Verdict = { kind: 'DUPLICATE' };
  const invalid = rejected({ code: 'INVALID_VALUE', message: 'x' });
  const outcome = (hardwareId: string, batchId: string, verdict: Verdict): ReadingOutcome => ({
    hardwareId,
    batchId,
    verdict,
  });

  it('lists ids that are stored by this call or before, each once and in order', () => {
    const outcomes = [outcome('A', '2', stored), outcome('A', '1', duplicate), outcome('A', '2', duplicate)];
    expect(settledBatchIds(outcomes)).toEqual(['2', '1']);
  });

  it('lists no id that is rejected, in conflict or to be retried', () => {
    const outcomes = [invalid, conflict, retry].map((verdict, i) => outcome('A', String(i), verdict));
    expect(settledBatchIds(outcomes)).toEqual([]);
  });

  it('lists an id that is stored although another content under it was refused', () => {
    expect(settledBatchIds([outcome('A', '1', stored), outcome('A', '1', conflict)])).toEqual(['1']);
  });

  it('lists an id of several devices only if it is stored for each of them', () => {
    expect(settledBatchIds([outcome('A', '1', stored), outcome('B', '1', retry)])).toEqual([]);
    expect(settledBatchIds([outcome('A', '1', stored), outcome('B', '1', duplicate)])).toEqual(['1']);
  });
});
