import fc from 'fast-check';
import { daySpend, type Figures, labelSpend } from '../../../src/spend/day-spend.js';
import { noUsage, type SpendMode } from '../../../src/spend/money.js';
import { appSubject, orgSubject, type Subject } from '../../../src/spend/subject.js';
import { appOf, figureNames, orgWith, settings, spent, today, usage } from './fixtures.js';

describe('labelSpend', () => {
  const subject = orgSubject(orgWith('ORG'));

  it.each<[number, SpendMode, number]>([
    [0, 'NORMAL', 0],
    [94, 'NORMAL', 94],
    [95, 'TIGHT', 95],
    [100, 'EXCEEDED', 100],
    [250, 'EXCEEDED', 250],
  ])('with a cost of %d and a quota of 100 is %s at %d %%', (cost, mode, pct) => {
    expect(labelSpend(today(subject), 'premium', spent(cost))).toEqual({
      ...spent(cost),
      label: 'premium',
      bedrockModelId: 'm-premium',
      quotaUsdMicros: 100,
      quotaPct: pct,
      thresholdPct: 95,
      mode,
    });
  });

  it('is zero and has no `asOf` before the first aggregation', () => {
    const none = labelSpend(today(subject), 'standard', undefined);
    expect(none).toEqual({
      ...noUsage,
      label: 'standard',
      bedrockModelId: 'm-standard',
      quotaUsdMicros: 1_000,
      quotaPct: 0,
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect('asOf' in none).toBe(false);
  });

  it('has the time of its figures', () => {
    const asOf = new Date(5);
    expect(labelSpend(today(subject), 'premium', { ...spent(1), asOf }).asOf).toBe(asOf);
  });

  it('has no quota and no percentage if none is set, and no model if the catalog has none', () => {
    expect(labelSpend(today(subject), 'economy', spent(7))).toEqual({
      ...spent(7),
      label: 'economy',
      bedrockModelId: 'm-economy',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect(labelSpend(today(subject), 'retired', spent(7))).toEqual({
      ...spent(7),
      label: 'retired',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
  });

  it('computes the mode from the quota in force, not from a stored mode', () => {
    expect(labelSpend(today(subject), 'premium', { ...spent(1), mode: 'EXCEEDED' }).mode).toBe('NORMAL');
  });

  it('computes the mode of a day that is over from the rules it ended with', () => {
    const past = { ...today(subject), isOver: true };
    const rules = { quotaUsdMicros: 1000, thresholdPct: 50 };
    expect(labelSpend(past, 'premium', { ...spent(600), rules })).toMatchObject({
      quotaUsdMicros: 1000,
      quotaPct: 60,
      thresholdPct: 50,
      mode: 'TIGHT',
    });
    expect(labelSpend(today(subject), 'premium', { ...spent(600), rules })).toMatchObject({
      quotaUsdMicros: 100,
      mode: 'EXCEEDED',
    });
    const unlimited = labelSpend(past, 'premium', { ...spent(600), rules: { thresholdPct: 50 } });
    expect([unlimited.quotaUsdMicros, unlimited.mode]).toEqual([undefined, 'NORMAL']);
  });

  it('has no quota for a past day without spend, and the quota of today for a past day that is not summed yet', () => {
    const past = { ...today(subject), isOver: true };
    expect(labelSpend(past, 'premium')).toEqual({
      ...noUsage,
      label: 'premium',
      bedrockModelId: 'm-premium',
      thresholdPct: 95,
      mode: 'NORMAL',
    });
    expect(labelSpend(past, 'premium', spent(95))).toMatchObject({ quotaUsdMicros: 100, mode: 'TIGHT' });
  });

  it('has no quota and the worst mode of the apps on a roll-up', () => {
    const rollup = orgSubject(orgWith('APP'));
    expect(labelSpend(today(rollup), 'premium', { ...spent(1), mode: 'TIGHT' })).toEqual({
      ...spent(1),
      label: 'premium',
      bedrockModelId: 'm-premium',
      thresholdPct: 95,
      mode: 'TIGHT',
    });
    expect(labelSpend(today(rollup), 'premium', spent(1_000)).mode).toBe('NORMAL');
  });
});

describe('daySpend', () => {
  const subjects: readonly [string, Subject, 'ORG' | 'APP'][] = [
    ['an org', orgSubject(orgWith('ORG')), 'ORG'],
    ['a roll-up', orgSubject(orgWith('APP')), 'ORG'],
    ['an app', appSubject(appOf(orgWith('APP'))), 'APP'],
    ['an app that shares the quota of its org', appSubject(appOf(orgWith('ORG'))), 'ORG'],
  ];
  const anyLabel = fc.constantFrom('premium', 'standard', 'economy', 'retired', 'old');
  const figures = fc
    .array(fc.tuple(anyLabel, fc.option(usage, { nil: undefined })))
    .map((entries): ReadonlyMap<string, Figures | undefined> => new Map(entries));

  it.each(subjects)(
    'of %s lists the labels of the chain in its order, then other labels with spend, and sums all of them',
    (_, subject, scope) => {
      fc.assert(
        fc.property(figures, (given) => {
          const day = daySpend(today(subject), given);
          const others = [...given].filter(
            ([label, used]) => !settings.modelOrdering.includes(label) && used !== undefined && used.requests > 0,
          );
          expect(day.labels.map(({ label }) => label)).toEqual([
            'premium',
            'standard',
            ...others.map(([label]) => label),
          ]);
          expect([day.day, day.scope, day.subject]).toEqual(['2026-05-05', scope, subject]);
          for (const name of figureNames) {
            let total = 0;
            for (const label of day.labels) total += label[name];
            expect(day[name]).toBe(total);
          }
          for (const { label, costUsdMicros, requests } of day.labels) {
            expect([costUsdMicros, requests]).toEqual([
              given.get(label)?.costUsdMicros ?? 0,
              given.get(label)?.requests ?? 0,
            ]);
          }
        }),
      );
    },
  );

  it('has the worst mode of its labels', () => {
    const modeWith = (premium: number, standard: number) =>
      daySpend(
        today(orgSubject(orgWith('ORG'))),
        new Map([
          ['premium', spent(premium)],
          ['standard', spent(standard)],
        ]),
      ).mode;
    expect([modeWith(1, 1), modeWith(1, 950), modeWith(95, 1), modeWith(100, 950)]).toEqual([
      'NORMAL',
      'TIGHT',
      'TIGHT',
      'EXCEEDED',
    ]);
  });

  it('has no quota on any label of a roll-up, however high the spend', () => {
    const { labels, mode } = daySpend(today(orgSubject(orgWith('APP'))), new Map([['premium', spent(1_000_000)]]));
    expect(labels.map((label) => ['quotaUsdMicros' in label, 'quotaPct' in label])).toEqual([
      [false, false],
      [false, false],
    ]);
    expect(mode).toBe('NORMAL');
  });
});
