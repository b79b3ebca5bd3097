import fc from 'fast-check';
import {
  type LimitConfig,
  limitLevels,
  type PlaceRequest,
  placeIssues,
  placeOf,
  placesFor,
  policyOf,
  winner,
} from '../../../../src/limits/levels/resolution.js';
import type { Limit } from '../../../../src/limits/limit.js';
import { rpm } from '../limits.js';

const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

describe('the places where limits are set', () => {
  it.each<[PlaceRequest, string[]]>([
    [{ level: 'SYSTEM' }, []],
    [{ level: 'SYSTEM', resource: null, entityId: null }, []],
    [{ level: 'SYSTEM', resource: 'api' }, ['i.resource']],
    [{ level: 'SYSTEM', entityId: 'u', resource: 'api' }, ['i.resource', 'i.entityId']],
    [{ level: 'RESOURCE', resource: 'api' }, []],
    [{ level: 'RESOURCE' }, ['i.resource']],
    [{ level: 'RESOURCE', resource: '_default_' }, ['i.resource']],
    [{ level: 'RESOURCE', resource: 'api', entityId: 'u' }, ['i.entityId']],
    [{ level: 'ENTITY_DEFAULT', entityId: 'u' }, []],
    [{ level: 'ENTITY_DEFAULT', entityId: 'u', resource: 'api' }, ['i.resource']],
    [{ level: 'ENTITY_DEFAULT' }, ['i.entityId']],
    [{ level: 'ENTITY', entityId: 'u', resource: 'api' }, []],
    [{ level: 'ENTITY', entityId: '-u', resource: '1' }, ['i.resource', 'i.entityId']],
    [{ level: 'ENTITY' }, ['i.resource', 'i.entityId']],
  ])('have the fields that the level needs: %j', (request, expected) => {
    expect(paths(placeIssues(request, 'i.'))).toEqual(expected);
  });

  it('are four for an entity and a resource, strongest first', () => {
    const places = placesFor('u', 'api');
    expect(places.map(({ level }) => level)).toEqual([...limitLevels].reverse());
    expect(places.map((place) => placeOf({ entityId: 'u', resource: 'api', level: place.level }))).toEqual(places);
  });

  const config = (i: number, limits: readonly Limit[]): LimitConfig => ({
    place: placesFor('u', 'api')[i] as LimitConfig['place'],
    limits,
    version: 1,
  });

  it('apply by the strongest place that has limits', () => {
    fc.assert(
      fc.property(fc.tuple(...[0, 1, 2, 3].map(() => fc.constantFrom('absent', 'empty', 'set'))), (kinds) => {
        const configs = kinds.map((kind, i) =>
          kind === 'absent' ? undefined : config(i, kind === 'set' ? [{ ...rpm, capacity: i + 1 }] : []),
        );
        expect(winner(configs)).toBe(configs[kinds.indexOf('set')]);
      }),
    );
  });

  it('decide the outage policy at level SYSTEM only, with BLOCK as the default', () => {
    const system = { ...config(3, []), onUnavailable: 'ALLOW' as const };
    expect(policyOf([undefined, undefined, undefined, undefined])).toBe('BLOCK');
    expect(policyOf([undefined, undefined, undefined, config(3, [rpm])])).toBe('BLOCK');
    expect(policyOf([{ ...config(0, [rpm]), onUnavailable: 'ALLOW' }, undefined, undefined, undefined])).toBe('BLOCK');
    expect(policyOf([config(0, [rpm]), undefined, undefined, system])).toBe('ALLOW');
  });
});
