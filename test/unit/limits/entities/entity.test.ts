import {
  changedEntity,
  type Entity,
  type EntityChanges,
  entityDetails,
  isSameEntity,
  maxAuditedLength,
  newEntityIssues,
} from '../../../../src/limits/entities/entity.js';

const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

describe('newEntityIssues', () => {
  const valid = { entityId: 'u', name: 'U', parentId: 'p', cascade: true, metadata: [{ name: 'a', value: '' }] };
  it.each<[string, Partial<Parameters<typeof newEntityIssues>[0]>, string[]]>([
    ['a valid entity', {}, []],
    ['an entity with only an id', { name: null, parentId: null, metadata: [] }, []],
    ['an entity that is its own parent', { parentId: 'u' }, ['parentId']],
    ['an invalid id', { entityId: 'u\n' }, ['entityId']],
    ['an invalid parent', { parentId: '#' }, ['parentId']],
    ['an empty name', { name: '' }, ['name']],
    ['an unpaired surrogate', { name: '\ud800' }, ['name']],
    ['pairs with the same name', { metadata: [valid.metadata[0], valid.metadata[0]] as never }, ['metadata.1.name']],
    ['a long value', { metadata: [{ name: 'a', value: 'x'.repeat(1025) }] }, ['metadata.0.value']],
    ['33 pairs', { metadata: Array.from({ length: 33 }, (_, i) => ({ name: `n${i}`, value: '' })) }, ['metadata']],
  ])('returns the issues of %s', (_, change, expected) => {
    expect(paths(newEntityIssues({ ...valid, ...change }, ''))).toEqual(expected);
  });
});

describe('a change of an entity', () => {
  const before: Entity = {
    nodeType: 'Entity',
    orgId: 'o',
    entityId: 'e',
    name: 'Ann',
    parentId: 'p',
    cascade: true,
    metadata: [{ name: 'plan', value: 'gold' }],
    createdAt: new Date(0),
    version: 4,
  };

  it.each<[string, EntityChanges, object]>([
    ['nothing', {}, {}],
    ['null for fields that cannot be cleared', { cascade: null, metadata: null }, {}],
    ['a name', { name: 'Bob' }, { name: 'Bob' }],
    ['no name and no parent', { name: null, parentId: null }, { name: undefined, parentId: undefined }],
    ['cascade and metadata', { cascade: false, metadata: [] }, { cascade: false, metadata: [] }],
  ])('of %s keeps the other fields and increases the version', (_, changes, expected) => {
    const after = changedEntity(before, changes);
    expect(after).toEqual({ ...before, ...expected, version: 5 });
    expect(isSameEntity(before, after)).toBe(Object.keys(expected).length === 0);
  });

  it('includes the order of its metadata', () => {
    const two = { ...before, metadata: [...before.metadata, { name: 'a', value: 'b' }] };
    expect(isSameEntity(two, changedEntity(two, { metadata: [...two.metadata].reverse() }))).toBe(false);
  });

  it('is audited with old and new values cut to a maximum length', () => {
    const long = 'x'.repeat(maxAuditedLength + 1);
    const after = changedEntity(before, { metadata: [{ name: 'plan', value: long }] });
    const cut = `${'x'.repeat(maxAuditedLength)}…`;
    expect(entityDetails(before, after)).toEqual([{ name: 'metadata.plan', previousValue: 'gold', value: cut }]);
    expect(entityDetails(after, before)).toEqual([{ name: 'metadata.plan', previousValue: cut, value: 'gold' }]);
    // A difference after the maximum length is still a change.
    expect(
      entityDetails(after, changedEntity(after, { metadata: [{ name: 'plan', value: `${long}y` }] })),
    ).toHaveLength(1);
  });
});
