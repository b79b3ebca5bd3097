import { type Figures, labelSpend } from '../../../src/spend/day-spend.js';
import { spendModes } from '../../../src/spend/money.js';
import { alertFor, fallbackAlert } from '../../../src/spend/quota-alert.js';
import { appSubject, orgSubject, type Subject } from '../../../src/spend/subject.js';
import { appOf, orgWith, spent, today } from './fixtures.js';

describe('alertFor', () => {
  const day = '2026-05-05';
  const app = appSubject(appOf(orgWith('APP')));
  const org = orgSubject(orgWith('ORG'));
  const alertOf = (subject: Subject, label: string, figures: Figures | undefined) =>
    alertFor(subject, labelSpend(today(subject), label, figures), day);

  it.each<[number, string | undefined]>([
    [0, undefined],
    [94, undefined],
    [95, 'TIGHT_MODE'],
    [99, 'TIGHT_MODE'],
    [100, 'QUOTA_EXCEEDED'],
    [5_000, 'QUOTA_EXCEEDED'],
  ])('at %d %% of the quota is %s', (cost, kind) => {
    expect(alertOf(app, 'premium', spent(cost))?.kind).toBe(kind);
  });

  it('contains the scope, the label and the figures', () => {
    expect(alertOf(app, 'premium', spent(97))).toEqual({
      orgId: 'org-a',
      appId: 'web',
      kind: 'TIGHT_MODE',
      label: 'premium',
      day,
      costUsdMicros: 97,
      quotaUsdMicros: 100,
      quotaPct: 97,
      thresholdPct: 95,
    });
    const shared = alertOf(org, 'standard', spent(1_500));
    expect(shared).toEqual({
      orgId: 'org-a',
      kind: 'QUOTA_EXCEEDED',
      label: 'standard',
      day,
      costUsdMicros: 1_500,
      quotaUsdMicros: 1_000,
      quotaPct: 150,
      thresholdPct: 95,
    });
    expect(shared && 'appId' in shared).toBe(false);
  });

  it('is undefined for a roll-up, whatever the modes of its apps', () => {
    const rollup = orgSubject(orgWith('APP'));
    for (const mode of spendModes) expect(alertOf(rollup, 'premium', { ...spent(1_000), mode })).toBeUndefined();
    // Even if the figures have a quota.
    expect(alertFor(rollup, labelSpend(today(org), 'premium', spent(100)), day)).toBeUndefined();
  });

  it('is undefined without spend, also with a quota of 0, and QUOTA_EXCEEDED from the first request', () => {
    const zeroQuota = orgSubject(orgWith('ORG', 1, { quotas: [{ label: 'premium', dailyUsdMicros: 0 }] }));
    expect(labelSpend(today(zeroQuota), 'premium', undefined).mode).toBe('EXCEEDED');
    expect(alertOf(zeroQuota, 'premium', undefined)).toBeUndefined();
    expect(alertOf(zeroQuota, 'premium', spent(0, 0))).toBeUndefined();
    expect(alertOf(zeroQuota, 'premium', spent(0, 1))).toMatchObject({
      kind: 'QUOTA_EXCEEDED',
      quotaUsdMicros: 0,
      quotaPct: 100,
    });
  });

  it('is undefined for a label without a quota', () => {
    expect(alertOf(org, 'economy', { ...spent(1_000_000), mode: 'EXCEEDED' })).toBeUndefined();
  });

  it('names the used-up label and the active label of a fallback', () => {
    expect(fallbackAlert(app, labelSpend(today(app), 'premium', spent(100)), 'standard', day)).toEqual({
      orgId: 'org-a',
      appId: 'web',
      kind: 'FALLBACK_ACTIVATED',
      label: 'premium',
      activeLabel: 'standard',
      day,
      costUsdMicros: 100,
      quotaUsdMicros: 100,
      quotaPct: 100,
      thresholdPct: 95,
    });
  });

  it('reports a fallback from a label without a quota as from a quota of 0', () => {
    expect(fallbackAlert(org, labelSpend(today(org), 'economy', undefined), 'standard', day)).toMatchObject({
      quotaUsdMicros: 0,
      quotaPct: 100,
    });
  });
});
