import fc from 'fast-check';
import { appSubject, orgSubject } from '../../../src/spend/subject.js';
import { appOf, orgWith, settings } from './fixtures.js';

describe('a subject', () => {
  it('is a roll-up only if it is an org under quotaScope APP', () => {
    const [shared, apart] = [orgWith('ORG'), orgWith('APP')];
    expect(
      [orgSubject(shared), appSubject(appOf(shared)), orgSubject(apart), appSubject(appOf(apart))].map(
        ({ isRollup }) => isRollup,
      ),
    ).toEqual([false, false, true, false]);
  });

  it('has the same ordering version for all apps that share the chain, and a higher one after every change', () => {
    const version = fc.integer({ min: 1, max: 1000 });
    fc.assert(
      fc.property(version, version, version, (orgVersion, one, other) => {
        const shared = orgWith('ORG', orgVersion);
        expect(appSubject(appOf(shared, 'web', one)).orderingVersion).toBe(
          appSubject(appOf(shared, 'batch', other)).orderingVersion,
        );
        expect(appSubject(appOf(shared, 'web', one)).orderingVersion).toBe(orgSubject(shared).orderingVersion);
        expect(orgSubject(orgWith('ORG', orgVersion + 1)).orderingVersion).toBeGreaterThan(
          orgSubject(shared).orderingVersion,
        );

        const versionFor = (forOrg: number, forApp: number) =>
          appSubject(appOf(orgWith('APP', forOrg), 'web', forApp)).orderingVersion;
        expect(versionFor(orgVersion + 1, one)).toBeGreaterThan(versionFor(orgVersion, one));
        expect(versionFor(orgVersion, one + 1)).toBeGreaterThan(versionFor(orgVersion, one));
      }),
    );
  });

  it('has the settings that the app overrides', () => {
    const { settings: own } = appSubject(appOf(orgWith('APP'), 'web', 1, { tightModeThresholdPct: 50 }));
    expect([own.tightModeThresholdPct, own.modelOrdering]).toEqual([50, settings.modelOrdering]);
  });
});
