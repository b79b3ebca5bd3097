import fc from 'fast-check';
import { type AlertFilter, alertKinds, matches, partitionCount, partitionOf } from '../../../src/alerts/alert.js';
import { alertOf, neighbour, orgA, type Raised } from './fixtures.js';

describe('partitionOf', () => {
  it('is one of sixteen partitions, which are all used, and never changes for an org', () => {
    fc.assert(
      fc.property(fc.string(), (orgId) => {
        const partition = partitionOf(orgId);
        return Number.isInteger(partition) && partition >= 0 && partition < 16;
      }),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => partitionOf(`org ${i}`))).size).toBe(partitionCount);
    expect(['org-a', 'org-b', '00000000-0000-4000-8000-000000000000'].map(partitionOf)).toEqual([10, 1, 0]);
  });
});

describe('matches', () => {
  it.each<[string, AlertFilter, Raised, boolean]>([
    ['an alert of the org', { orgId: orgA }, {}, true],
    ['an alert of an app of the org', { orgId: orgA }, { appId: 'web' }, true],
    ['an alert of another org in the same partition', { orgId: orgA }, { orgId: neighbour }, false],
    ['an alert of the requested app', { orgId: orgA, scope: { appId: 'web' } }, { appId: 'web' }, true],
    ['an alert of another app', { orgId: orgA, scope: { appId: 'web' } }, { appId: 'batch' }, false],
    ['an alert of the org if an app is requested', { orgId: orgA, scope: { appId: 'web' } }, {}, false],
    [
      'an alert of an app of another org with the same id',
      { orgId: orgA, scope: { appId: 'web' } },
      { orgId: neighbour, appId: 'web' },
      false,
    ],
    ['an alert of the org if the scope of the org is requested', { orgId: orgA, scope: {} }, {}, true],
    ['an alert of an app if the scope of the org is requested', { orgId: orgA, scope: {} }, { appId: 'web' }, false],
    [
      'an alert of a requested kind',
      { orgId: orgA, kinds: ['TIGHT_MODE', 'QUOTA_EXCEEDED'] },
      { kind: 'QUOTA_EXCEEDED' },
      true,
    ],
    ['an alert of another kind', { orgId: orgA, kinds: ['TIGHT_MODE'] }, { kind: 'QUOTA_EXCEEDED' }, false],
    ['an alert if no kind is requested', { orgId: orgA, kinds: [] }, {}, false],
  ])('decides about %s: %j and %j: %p', (_, filter, raised, isMatch) => {
    expect(matches(filter, alertOf(1, raised))).toBe(isMatch);
  });

  it('never matches an alert of another org, whatever is requested', () => {
    const app = fc.option(fc.constantFrom('web', 'batch'), { nil: undefined });
    const kinds = fc.option(fc.subarray([...alertKinds]), { nil: undefined });
    fc.assert(
      fc.property(
        app,
        kinds,
        fc.boolean(),
        app,
        fc.constantFrom(...alertKinds),
        (requestedAppId, requestedKinds, isScoped, appId, kind) => {
          const scope = requestedAppId === undefined ? {} : { appId: requestedAppId };
          const filter: AlertFilter = {
            orgId: orgA,
            ...(isScoped ? { scope } : {}),
            ...(requestedKinds ? { kinds: requestedKinds } : {}),
          };
          return !matches(filter, alertOf(1, { orgId: neighbour, kind, ...(appId === undefined ? {} : { appId }) }));
        },
      ),
    );
  });
});
