import fc from 'fast-check';
import type { ZoneHistory } from '../../../src/orgs/calendar.js';
import {
  atOnce,
  type EnforcementHistory,
  enforcementOn,
  hardSince,
  nextChange,
  noticeMs,
  timingAt,
  withEnforcement,
} from '../../../src/orgs/enforcement.js';
import { becomesHard, isHardOn, resolvedQuotas, suddenIssues } from '../../../src/orgs/quotas.js';

const utc: ZoneHistory = [{ zone: 'UTC', fromMs: 0 }];
const at = (iso: string) => timingAt(utc, Date.parse(iso));
const hard = (from: string) => ({ enforcement: 'HARD' as const, from });
const advisory = (from: string) => ({ enforcement: 'ADVISORY' as const, from });

describe('a change of enforcement', () => {
  it('takes effect on the next local day, or on the day after it without enough notice', () => {
    expect(at('2030-03-04T12:00:00Z').firstDay).toBe('2030-03-05');
    expect(at('2030-03-04T23:54:49Z').firstDay).toBe('2030-03-05');
    expect(at('2030-03-04T23:54:50Z').firstDay).toBe('2030-03-06');
    const tokyo: ZoneHistory = [{ zone: 'Asia/Tokyo', fromMs: 0 }];
    expect(timingAt(tokyo, Date.parse('2030-03-04T15:00:00Z'))).toEqual({
      today: '2030-03-05',
      firstDay: '2030-03-06',
    });
  });

  it('replaces one that waits, unless that is too near', () => {
    const waiting = withEnforcement([], 'HARD', at('2030-03-04T12:00:00Z'));
    expect(waiting).toEqual([hard('2030-03-05')]);
    expect(nextChange(waiting, '2030-03-04')).toEqual(hard('2030-03-05'));
    expect(nextChange(waiting, '2030-03-05')).toBeUndefined();
    expect(withEnforcement(waiting, 'ADVISORY', at('2030-03-04T12:01:00Z'))).toEqual([]);
    expect(withEnforcement(waiting, 'ADVISORY', at('2030-03-04T23:59:00Z'))).toEqual([
      hard('2030-03-05'),
      advisory('2030-03-06'),
    ]);
  });

  it('never changes a day that has begun, or that begins before all gateways know', () => {
    const change = fc.record({ afterMs: fc.integer({ min: 0, max: 3 * 86_400_000 }), isHard: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        let history: EnforcementHistory = [];
        let nowMs = Date.parse('2030-03-04T12:00:00Z');
        for (const { afterMs, isHard } of changes) {
          nowMs += afterMs;
          const next = withEnforcement(history, isHard ? 'HARD' : 'ADVISORY', timingAt(utc, nowMs));
          for (let days = -30; days <= 0; days++) {
            const day = new Date(nowMs + noticeMs + days * 86_400_000).toISOString().slice(0, 10);
            expect(enforcementOn(next, day)).toBe(enforcementOn(history, day));
            expect(hardSince(next, day)).toBe(hardSince(history, day));
          }
          expect(next.length).toBeLessThanOrEqual(45);
          history = next;
        }
      }),
    );
  });

  it('is in force at once for an org without costs', () => {
    const history = withEnforcement([], 'HARD', atOnce);
    expect(enforcementOn(history, '2030-03-04')).toBe('HARD');
    expect(hardSince(history, '2030-03-04')).toBe('1970-01-01');
  });
});

describe('quotas', () => {
  const quota = (enforcement?: 'HARD' | 'ADVISORY' | null) => [{ label: 'a', dailyUsdMicros: 1, enforcement }];
  const timing = at('2030-03-04T12:00:00Z');

  it('keep their enforcement unless another is sent', () => {
    const before = resolvedQuotas(quota('HARD'), [], atOnce);
    expect(resolvedQuotas(quota(), before, timing)).toEqual(before);
    expect(resolvedQuotas(quota(null), before, timing)).toEqual(before);
    expect(resolvedQuotas(quota(), [], timing)).toEqual([{ label: 'a', dailyUsdMicros: 1 }]);
    const after = resolvedQuotas(quota('ADVISORY'), before, timing);
    expect([isHardOn(after, 'a', '2030-03-04'), isHardOn(after, 'a', '2030-03-05')]).toEqual([true, false]);
    expect([becomesHard([], before), becomesHard(before, before), becomesHard(before, after)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('of an org cannot reach an app that is enforced otherwise today', () => {
    const hardNow = resolvedQuotas(quota('HARD'), [], atOnce);
    const hardTomorrow = resolvedQuotas(quota('HARD'), [], timing);
    expect(suddenIssues(quota(), hardNow, '2030-03-04')).toHaveLength(1);
    expect(suddenIssues(quota(), hardTomorrow, '2030-03-04')).toEqual([]);
    expect(suddenIssues(hardNow, hardNow, '2030-03-04')).toEqual([]);
  });
});
