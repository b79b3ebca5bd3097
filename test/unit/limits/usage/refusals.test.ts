import { maxTallies, RefusalCounts } from '../../../../src/limits/usage/refusals.js';
import { maxUsageNames } from '../../../../src/limits/usage/usage.js';

const bucket = (entityId: string) => ({ namespace: 'n', entityId, resource: 'api' });
const times = <T>(count: number, task: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => task(i));

describe('RefusalCounts', () => {
  it('counts by bucket, hour, limit and kind', () => {
    const counts = new RefusalCounts();
    counts.note(bucket('a'), 1, ['rpm'], 'refused');
    counts.note(bucket('a'), 1, ['rpm', 'tpm'], 'refused');
    counts.note(bucket('a'), 1, ['tpm'], 'wouldRefuse');
    counts.note(bucket('a'), 2, ['rpm'], 'refused');
    counts.note(bucket('b'), 1, ['rpm'], 'wouldRefuse');
    counts.note(bucket('c'), 1, [], 'refused');
    expect(
      counts
        .unsaved(10)
        .map(({ bucket: { entityId }, hour, refused, wouldRefuse }) => [entityId, hour, refused, wouldRefuse]),
    ).toEqual([
      ['a', 1, { rpm: 2, tpm: 1 }, { tpm: 1 }],
      ['a', 2, { rpm: 1 }, {}],
      ['b', 1, {}, { rpm: 1 }],
    ]);
    expect(new Set(counts.unsaved(10).map(({ id }) => id)).size).toBe(3);
  });

  it(`counts at most ${maxUsageNames} limits by name and the others together`, () => {
    const counts = new RefusalCounts();
    counts.note(
      bucket('a'),
      1,
      times(maxUsageNames, (i) => `limit-${i}`),
      'refused',
    );
    counts.note(bucket('a'), 1, ['one', 'more', 'limit-0'], 'wouldRefuse');
    counts.note(bucket('a'), 1, ['limit-1', 'two'], 'refused');
    const [tally] = counts.unsaved(1);
    expect(Object.keys(tally?.refused ?? {})).toHaveLength(maxUsageNames + 1);
    expect(tally?.refused).toMatchObject({ 'limit-0': 1, 'limit-1': 2, other: 1 });
    expect(tally?.wouldRefuse).toEqual({ 'limit-0': 1, other: 2 });
  });

  it(`has space for ${maxTallies} tallies; another is not counted until one is saved`, () => {
    const counts = new RefusalCounts();
    for (let i = 0; i < maxTallies; i++) expect(counts.note(bucket(`e${i}`), 1, ['rpm'], 'refused')).toBe(true);
    expect(counts.note(bucket('late'), 1, ['rpm'], 'refused')).toBe(false);
    expect(counts.note(bucket('e7'), 1, ['rpm'], 'refused')).toBe(true);
    const [first] = counts.unsaved(1);
    if (!first) throw new Error('nothing is unsaved');
    counts.markSaved(first, first.version);
    expect(counts.note(bucket('late'), 1, ['rpm'], 'refused')).toBe(true);
    expect(counts.note(bucket('later'), 1, ['rpm'], 'refused')).toBe(false);
    expect(counts.unsavedCount).toBe(maxTallies);
  });

  it('continues a tally after a save, and starts one with a new id after it was dropped', () => {
    const counts = new RefusalCounts();
    const noteOne = () => {
      counts.note(bucket('a'), 1, ['rpm'], 'refused');
      const [tally] = counts.unsaved(1);
      if (!tally) throw new Error('nothing is unsaved');
      return tally;
    };
    const first = noteOne();
    counts.markSaved(first, first.version);
    expect(counts.unsavedCount).toBe(0);
    expect(noteOne()).toMatchObject({ id: first.id, refused: { rpm: 2 } });
    // Counted during a save.
    const { version } = first;
    noteOne();
    counts.markSaved(first, version);
    expect(counts.unsavedCount).toBe(1);
    counts.dropSavedBefore(2);
    expect(noteOne().refused).toEqual({ rpm: 4 });
    counts.markSaved(first, first.version);
    counts.dropSavedBefore(1);
    expect(noteOne().id).toBe(first.id);
    counts.markSaved(first, first.version);
    counts.dropSavedBefore(2);
    const again = noteOne();
    expect(again.refused).toEqual({ rpm: 1 });
    expect(again.id).not.toBe(first.id);
  });

  it('returns unsaved tallies in order: oldest change first, failed ones last', () => {
    const counts = new RefusalCounts();
    for (const entityId of ['a', 'b', 'c']) counts.note(bucket(entityId), 1, ['rpm'], 'refused');
    const order = () => counts.unsaved(10).map(({ bucket: { entityId } }) => entityId);
    const [a] = counts.unsaved(1);
    if (!a) throw new Error('nothing is unsaved');
    counts.postpone(a);
    expect(order()).toEqual(['b', 'c', 'a']);
    counts.note(bucket('b'), 1, ['rpm'], 'refused');
    expect(order()).toEqual(['b', 'c', 'a']);
    expect(counts.unsaved(2)).toHaveLength(2);
  });
});
