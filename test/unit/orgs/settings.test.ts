import fc from 'fast-check';
import { nameIssues } from '../../../src/lib/text.js';
import { inChainOrder } from '../../../src/orgs/quotas.js';
import {
  type AppRecord,
  appIdIssues,
  inForce,
  inheritable,
  intervalIssues,
  type Org,
  type Settings,
  scopeIssues,
  settingsIssues,
  shardCountIssues,
  unmeteredIssues,
  unmeteredLabels,
} from '../../../src/orgs/settings.js';
import { catalog } from '../spend/fixtures.js';

const quota = (label: string, dailyUsdMicros = 1_000_000) => ({ label, dailyUsdMicros });
const settings: Settings = {
  modelOrdering: ['premium', 'standard'],
  quotas: [quota('premium'), quota('standard')],
  tightModeThresholdPct: 95,
  refreshIntervalNormalSecs: 300,
  refreshIntervalTightSecs: 30,
};
const registered = {
  orgId: '00000000-0000-4000-8000-000000000000',
  credentials: {
    clientId: 'org-00000000-0000-4000-8000-000000000000',
    role: 'FULL' as const,
    rotation: 1,
    generation: 0,
  },
  createdAt: new Date(0),
  updatedAt: new Date(0),
  version: 1,
};
const org: Org = {
  ...registered,
  ...settings,
  nodeType: 'Org',
  name: 'Acme',
  timezone: 'UTC',
  zones: [{ zone: 'UTC', fromMs: 0 }],
  quotaScope: 'APP',
  stickyFallbackEnabled: true,
  shardCount: 8,
  maxReservationPct: 100,
  appsMayBringLimits: false,
  attributeApps: false,
  ledger: false,
  dimensions: [],
  budgetsVersion: 0,
};
const appWith = (own: Partial<Settings>): AppRecord => ({ ...registered, appId: 'web', name: 'Web', version: 7, own });

describe('settingsIssues', () => {
  const pathsOf = (given: Partial<Settings>) => settingsIssues(given, catalog).map(({ path }) => path);

  it.each<[string, Partial<Settings>, string[]]>([
    ['no settings', {}, []],
    ['valid settings', settings, []],
    ['an empty ordering', { modelOrdering: [] }, ['input.modelOrdering']],
    ['an unknown label', { modelOrdering: ['premium', 'gold'] }, ['input.modelOrdering.1']],
    ['a label that is listed twice', { modelOrdering: ['premium', 'standard', 'premium'] }, ['input.modelOrdering.2']],
    ['an unknown label twice', { modelOrdering: ['gold', 'gold'] }, ['input.modelOrdering.0', 'input.modelOrdering.1']],
    [
      'a label of every object',
      { modelOrdering: ['constructor', '__proto__'] },
      ['input.modelOrdering.0', 'input.modelOrdering.1'],
    ],
    ['no quotas', { quotas: [] }, []],
    ['a quota of 0', { quotas: [quota('premium', 0)] }, []],
    ['the max quota', { quotas: [quota('premium', 1e15)] }, []],
    ['a quota above the max', { quotas: [quota('premium', 1e15 + 1)] }, ['input.quotas.0.dailyUsdMicros']],
    ['a negative quota', { quotas: [quota('premium', -1)] }, ['input.quotas.0.dailyUsdMicros']],
    ['half a micro-dollar', { quotas: [quota('premium', 0.5)] }, ['input.quotas.0.dailyUsdMicros']],
    ['a quota that is not a number', { quotas: [quota('premium', Number.NaN)] }, ['input.quotas.0.dailyUsdMicros']],
    [
      'a quota for an unknown label',
      { quotas: [quota('gold', -1)] },
      ['input.quotas.0.label', 'input.quotas.0.dailyUsdMicros'],
    ],
    ['two quotas for one label', { quotas: [quota('premium'), quota('premium')] }, ['input.quotas.1.label']],
    ['the lowest threshold', { tightModeThresholdPct: 1 }, []],
    ['the highest threshold', { tightModeThresholdPct: 100 }, []],
    ['a threshold of 0', { tightModeThresholdPct: 0 }, ['input.tightModeThresholdPct']],
    ['a threshold of 101', { tightModeThresholdPct: 101 }, ['input.tightModeThresholdPct']],
    ['a threshold of 95.5', { tightModeThresholdPct: 95.5 }, ['input.tightModeThresholdPct']],
    ['intervals of a second and of a day', { refreshIntervalNormalSecs: 86_400, refreshIntervalTightSecs: 1 }, []],
    ['an interval of 0', { refreshIntervalNormalSecs: 0 }, ['input.refreshIntervalNormalSecs']],
    ['an interval longer than a day', { refreshIntervalTightSecs: 86_401 }, ['input.refreshIntervalTightSecs']],
  ])('returns the paths of all issues of %s', (_, given, paths) => {
    expect(pathsOf(given)).toEqual(paths);
  });

  it('returns all issues at once, each with the allowed values', () => {
    const issues = settingsIssues(
      {
        modelOrdering: ['gold'],
        quotas: [quota('silver', -1)],
        tightModeThresholdPct: 0,
        refreshIntervalNormalSecs: 0,
        refreshIntervalTightSecs: 0,
      },
      catalog,
    );
    expect(issues.map(({ path }) => path)).toEqual([
      'input.modelOrdering.0',
      'input.quotas.0.label',
      'input.quotas.0.dailyUsdMicros',
      'input.tightModeThresholdPct',
      'input.refreshIntervalNormalSecs',
      'input.refreshIntervalTightSecs',
    ]);
    expect(issues[0]?.message).toContain('premium, standard, economy');
    expect(issues[3]?.message).toBe('must be from 1 to 100');
  });
});

describe('intervalIssues', () => {
  it.each([
    [300, 60, []],
    [60, 60, []],
    [59, 60, ['input.refreshIntervalTightSecs']],
  ])(
    'returns for %d seconds and %d in tight mode: %j',
    (refreshIntervalNormalSecs, refreshIntervalTightSecs, paths) => {
      expect(intervalIssues({ refreshIntervalNormalSecs, refreshIntervalTightSecs }).map(({ path }) => path)).toEqual(
        paths,
      );
    },
  );
});

describe('unmeteredLabels', () => {
  it.each<[string[], string[], string[]]>([
    [['premium'], ['premium'], []],
    [['premium', 'standard'], ['standard'], ['premium']],
    [['premium', 'standard'], [], ['premium', 'standard']],
    [[], ['premium'], []],
    [['premium'], ['premium', 'economy'], []],
  ])('returns for the chain %j with quotas for %j: %j', (modelOrdering, labels, missing) => {
    const given = { modelOrdering, quotas: labels.map((label) => quota(label)) };
    expect(unmeteredLabels(given)).toEqual(missing);
    const issues = unmeteredIssues(given);
    expect(issues.map(({ path }) => path)).toEqual(missing.map(() => 'input.quotas'));
    missing.forEach((label, i) => {
      expect(issues[i]?.message).toContain(label);
    });
  });

  it('counts a quota of 0 as a quota', () => {
    expect(unmeteredLabels({ modelOrdering: ['premium'], quotas: [quota('premium', 0)] })).toEqual([]);
  });
});

describe('inChainOrder', () => {
  it('sorts quotas by the chain, and those outside it by label', () => {
    const ordered = ['standard', 'premium', 'economy', 'other'].map((label) => quota(label));
    fc.assert(
      fc.property(fc.shuffledSubarray(ordered, { minLength: 4 }), (shuffled) => {
        expect(inChainOrder(shuffled, ['standard', 'premium'])).toEqual(ordered);
      }),
    );
  });

  it('does not change its argument', () => {
    const given = [quota('premium'), quota('economy')];
    inChainOrder(given, ['economy']);
    expect(given.map(({ label }) => label)).toEqual(['premium', 'economy']);
  });
});

describe('scopeIssues', () => {
  it.each<['ORG' | 'APP', Partial<Settings>, string[]]>([
    ['APP', settings, []],
    ['ORG', {}, []],
    ['ORG', { refreshIntervalNormalSecs: 60, refreshIntervalTightSecs: 5 }, []],
    ['ORG', { tightModeThresholdPct: 90 }, ['input.tightModeThresholdPct']],
    ['ORG', { modelOrdering: ['premium'] }, ['input.modelOrdering']],
    ['ORG', { quotas: [] }, ['input.quotas']],
    ['ORG', settings, ['input.modelOrdering', 'input.quotas', 'input.tightModeThresholdPct']],
  ])('returns under quotaScope %s for %j: %j', (scope, own, paths) => {
    expect(scopeIssues(scope, own).map(({ path }) => path)).toEqual(paths);
  });
});

describe('names, app ids and shard counts', () => {
  it.each(['A', 'Sample Corp', ' padded ', 'Ünïcödé 株式会社', '😀'.repeat(128), 'x'.repeat(128)])(
    'accept the name %s',
    (name) => {
      expect(nameIssues(name)).toEqual([]);
    },
  );

  it.each([
    ['no characters', ''],
    ['only spaces', '   '],
    ['only a no-break space', '\u00a0'],
    ['a newline', 'a\nb'],
    ['a newline at the end', 'a\n'],
    ['a null character', 'a\u0000'],
    ['a delete character', 'a\u007f'],
    ['129 characters', 'x'.repeat(129)],
  ])('refuse a name with %s', (_, name) => {
    expect(nameIssues(name)).toEqual([{ path: 'input.name', message: expect.stringContaining('1 to 128') }]);
  });

  it.each(['a', '0', 'web-app', 'a.b_c-d', 'a-app-b', 'a'.repeat(64)])('accept the app id %s', (appId) => {
    expect(appIdIssues(appId)).toEqual([]);
  });

  it.each(['', 'A', '-a', '.a', 'a b', 'a#b', 'a/b', 'a\n', 'é', 'a'.repeat(65)])('refuse the app id %j', (appId) => {
    expect(appIdIssues(appId).map(({ path }) => path)).toEqual(['input.appId']);
  });

  it('accept the shard counts 8, 16, 32 and 64', () => {
    const accepted = Array.from({ length: 130 }, (_, i) => i - 1).filter(
      (count) => shardCountIssues(count).length === 0,
    );
    expect(accepted).toEqual([8, 16, 32, 64]);
    expect(shardCountIssues(8.5).map(({ path }) => path)).toEqual(['input.shardCount']);
  });
});

describe('inForce', () => {
  const own = fc.record<Settings>(
    {
      modelOrdering: fc.constant(['economy']),
      quotas: fc.constant([quota('economy', 5)]),
      tightModeThresholdPct: fc.integer({ min: 1, max: 100 }),
      refreshIntervalNormalSecs: fc.integer({ min: 1, max: 86_400 }),
      refreshIntervalTightSecs: fc.integer({ min: 1, max: 86_400 }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Partial<Settings>>;

  it('has the setting of the app if there is one, else that of the org, and names the inherited ones', () => {
    fc.assert(
      fc.property(own, (set) => {
        const app = inForce(org, appWith(set));
        for (const field of inheritable) {
          expect(app[field]).toEqual(field in set ? set[field] : org[field]);
          expect(app.inheritedFields.includes(field)).toBe(!(field in set));
        }
      }),
    );
  });

  it('names all five settings if the app has none of its own, and none if it has all', () => {
    expect(inForce(org, appWith({})).inheritedFields).toEqual([
      'modelOrdering',
      'quotas',
      'tightModeThresholdPct',
      'refreshIntervalNormalSecs',
      'refreshIntervalTightSecs',
    ]);
    expect(inForce(org, appWith(settings)).inheritedFields).toEqual([]);
  });

  it('treats an empty list of quotas as a setting of the app', () => {
    const app = inForce(org, appWith({ quotas: [] }));
    expect(app.quotas).toEqual([]);
    expect(app.inheritedFields).not.toContain('quotas');
  });

  it('keeps the name, version and credentials of the app, and its org', () => {
    expect(inForce(org, appWith({}))).toMatchObject({ nodeType: 'App', name: 'Web', appId: 'web', version: 7, org });
  });
});
