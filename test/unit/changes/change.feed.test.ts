import { ChangeFeed } from '../../../src/changes/change.feed.js';
import { type ChangeItem, countersPerSlot } from '../../../src/changes/change.store.js';
import { systemClock } from '../../../src/lib/clock.js';
import { silentLog } from '../../../src/lib/log.js';
import { sleep } from '../../../src/lib/timers.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const otherOrgId = '11111111-1111-4111-8111-111111111111';

describe('ChangeFeed', () => {
  const none = { counters: [], version: 0, isOwn: false, purges: 0 };
  /** When each sum of the versions was first read. */
  let seenMs: Map<number, number>;
  /** When the changes were first read after the test has set it to infinity. */
  let readMs: number;
  let changes: ChangeItem[];
  let feed: ChangeFeed;
  beforeEach(async () => {
    changes = [none, { counters: [], version: 1, isOwn: false, purges: 3, lastPurged: otherOrgId }];
    seenMs = new Map();
    readMs = 0;
    const store = {
      load: async () => {
        const sum = changes.reduce((all, { version }) => all + version, 0);
        if (!seenMs.has(sum)) seenMs.set(sum, performance.now());
        readMs = Math.min(readMs, performance.now());
        return changes;
      },
    };
    feed = new ChangeFeed(store, systemClock, silentLog);
    await feed.start();
  });
  afterEach(() => feed.stop());
  const sinceSeen = (sum: number): number => performance.now() - (seenMs.get(sum) as number);

  it('applies a version of another process only when all items of its transaction are visible', async () => {
    const before = feed.current();
    changes = [{ counters: [], version: 1, isOwn: false, purges: 1, lastPurged: orgId }, changes[1] as ChangeItem];
    const purged: unknown[] = [];
    feed.onPurge((purgedOrg) => purged.push([purgedOrg, feed.current()]));
    while (feed.current() === before) await sleep(1);
    expect(sinceSeen(2)).toBeGreaterThan(90);
    expect(purged).toEqual([[orgId, feed.current()]]);
  });

  it('makes caches stale at once after a change of its own, and applies its version without waiting', async () => {
    const before = feed.current();
    changes = [none, { counters: [], version: 2, isOwn: true, purges: 3, lastPurged: otherOrgId }];
    const refreshed = feed.refresh();
    expect(feed.current()).not.toBe(before);
    await refreshed;
    expect(feed.current()).toBe('2/1');
  });

  it.each<[string, () => ChangeItem[]]>([
    ['before its own', () => [none, { counters: [], version: 3, isOwn: true, purges: 3 }]],
    ['after its own', () => [none, { counters: [], version: 3, isOwn: false, purges: 3 }]],
    [
      'in another item',
      () => [
        { counters: [], version: 1, isOwn: false, purges: 0 },
        { counters: [], version: 2, isOwn: true, purges: 3 },
      ],
    ],
    ['instead of its own, which changed nothing', () => [none, { counters: [], version: 3, isOwn: false, purges: 3 }]],
  ])('waits after a change of its own too if another process made a change %s', async (_, next) => {
    changes = next();
    void feed.refresh();
    while (!feed.current().startsWith('3/')) await sleep(1);
    expect(sinceSeen(3)).toBeGreaterThan(90);
  });

  it('applies place counters when all items of their transaction are visible, and never lowers them', async () => {
    const at = countersPerSlot + 2;
    const with2 = (counters: readonly number[], version = 1): ChangeItem[] => [
      none,
      { version, isOwn: false, purges: 3, counters },
    ];
    const version = feed.current();
    changes = with2([0, 0, 5]);
    while (feed.countAt(at) === 0) await sleep(1);
    expect(feed.countAt(at)).toBe(5);
    expect([feed.countAt(2), feed.countAt(at + 1)]).toEqual([0, 0]);
    expect(feed.current()).toBe(version);
    changes = with2([0, 0, 4], 2);
    while (feed.current() === version) await sleep(1);
    expect(feed.countAt(at)).toBe(5);
  });

  it('applies a changed place counter only after its other items are visible', async () => {
    changes = [none, { version: 1, isOwn: false, purges: 3, counters: [1] }];
    readMs = Number.POSITIVE_INFINITY;
    while (feed.countAt(countersPerSlot) === 0) await sleep(1);
    expect(performance.now() - readMs).toBeGreaterThan(90);
  });

  it('counts a place change of its own at once, and changes no other counter', () => {
    const before = [feed.countAt(7), feed.countAt(8), feed.current()];
    feed.noteChangeAt(7);
    expect([feed.countAt(7), feed.countAt(8), feed.current()]).toEqual([(before[0] as number) + 1, ...before.slice(1)]);
  });

  it('reports that any org may have been purged if it has missed a purge', async () => {
    const purged: unknown[] = [];
    feed.onPurge((purgedOrg) => purged.push(purgedOrg));
    changes = [{ counters: [], version: 2, isOwn: false, purges: 2, lastPurged: orgId }, changes[1] as ChangeItem];
    while (purged.length === 0) await sleep(1);
    expect(purged).toEqual([undefined]);
    expect(feed.purges).toBe(5);
  });
});
