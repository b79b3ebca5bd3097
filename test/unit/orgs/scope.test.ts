import fc from 'fast-check';
import { orgScope, scopeOf, sliceCount, sliceOf } from '../../../src/orgs/scope.js';
import { appOf, orgWith } from '../spend/fixtures.js';

describe('scope', () => {
  it('is that of the org under quotaScope ORG, whatever the app, and that of the app under APP', () => {
    expect([scopeOf(appOf(orgWith('ORG'), 'web')), scopeOf(appOf(orgWith('ORG'), 'batch'))]).toEqual([
      { orgId: 'org-a' },
      { orgId: 'org-a' },
    ]);
    expect(scopeOf(appOf(orgWith('APP'), 'web'))).toEqual({ orgId: 'org-a', appId: 'web' });
    expect('appId' in scopeOf(appOf(orgWith('ORG')))).toBe(false);
    for (const quotaScope of ['ORG', 'APP'] as const) expect(orgScope(orgWith(quotaScope))).toEqual({ orgId: 'org-a' });
  });

  it('belongs to one of sixteen slices, which are all used, and never moves to another', () => {
    fc.assert(
      fc.property(fc.string(), (orgId) => {
        const slice = sliceOf(orgId);
        return Number.isInteger(slice) && slice >= 0 && slice < 16;
      }),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => sliceOf(`org ${i}`))).size).toBe(sliceCount);
    expect(['org-a', 'org-b', '00000000-0000-4000-8000-000000000000'].map(sliceOf)).toEqual([10, 1, 0]);
  });
});
