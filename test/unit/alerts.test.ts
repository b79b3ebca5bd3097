import fc from 'fast-check';
import { AlertFeed } from '../../src/alerts/alert.feed.js';
import {
  type AlertFilter,
  type AlertKind,
  alertKinds,
  matches,
  partitionCount,
  partitionOf,
  type QuotaAlert,
} from '../../src/alerts/alert.js';
import type { AlertStore } from '../../src/alerts/alert.store.js';
import { systemClock } from '../../src/lib/clock.js';
import { type Log, silentLog } from '../../src/lib/log.js';

const orgA = 'org-a';
const neighbour = Array.from({ length: 1000 }, (_, i) => `org ${i}`).find(
  (orgId) => partitionOf(orgId) === partitionOf(orgA),
) as string;
const elsewhere = Array.from({ length: 1000 }, (_, i) => `org ${i}`).find(
  (orgId) => partitionOf(orgId) !== partitionOf(orgA),
) as string;

interface Raised {
  readonly orgId?: string;
  readonly appId?: string;
  readonly kind?: AlertKind;
}

const alertOf = (number: number, { orgId = orgA, appId, kind = 'TIGHT_MODE' }: Raised = {}): QuotaAlert => ({
  nodeType: 'QuotaAlert',
  orgId,
  ...(appId === undefined ? {} : { appId }),
  kind,
  label: 'premium',
  day: '2026-05-05',
  costUsdMicros: 95,
  quotaUsdMicros: 100,
  quotaPct: 95,
  thresholdPct: 95,
  raisedAt: new Date(0),
  number,
});

describe('partitionOf', () => {
  it('is one of sixteen, all of them in use and each where it has always been', () => {
    fc.assert(
      fc.property(fc.string(), (orgId) => {
        const lane = partitionOf(orgId);
        return Number.isInteger(lane) && lane >= 0 && lane < 16;
      }),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => partitionOf(`org ${i}`))).size).toBe(partitionCount);
    expect(['org-a', 'org-b', '00000000-0000-4000-8000-000000000000'].map(partitionOf)).toEqual([10, 1, 0]);
  });
});

describe('matches', () => {
  it.each<[string, AlertFilter, Raised, boolean]>([
    ["the org's own", { orgId: orgA }, {}, true],
    ["one of the org's apps", { orgId: orgA }, { appId: 'web' }, true],
    ["another org's in the same lane", { orgId: orgA }, { orgId: neighbour }, false],
    ['the app asked for', { orgId: orgA, scope: { appId: 'web' } }, { appId: 'web' }, true],
    ['another app', { orgId: orgA, scope: { appId: 'web' } }, { appId: 'batch' }, false],
    ["the org's, where an app is asked for", { orgId: orgA, scope: { appId: 'web' } }, {}, false],
    [
      "another org's app of the same name",
      { orgId: orgA, scope: { appId: 'web' } },
      { orgId: neighbour, appId: 'web' },
      false,
    ],
    ["the org's, where the org's scope is asked for", { orgId: orgA, scope: {} }, {}, true],
    ["an app's, where the org's scope is asked for", { orgId: orgA, scope: {} }, { appId: 'web' }, false],
    ['a kind asked for', { orgId: orgA, kinds: ['TIGHT_MODE', 'QUOTA_EXCEEDED'] }, { kind: 'QUOTA_EXCEEDED' }, true],
    ['a kind not asked for', { orgId: orgA, kinds: ['TIGHT_MODE'] }, { kind: 'QUOTA_EXCEEDED' }, false],
    ['any kind, where none is asked for', { orgId: orgA, kinds: [] }, {}, false],
  ])('%s: %j takes %j: %p', (_, filter, raised, taken) => {
    expect(matches(filter, alertOf(1, raised))).toBe(taken);
  });

  it("never takes another org's, whatever is asked for", () => {
    const app = fc.option(fc.constantFrom('web', 'batch'), { nil: undefined });
    const kinds = fc.option(fc.subarray([...alertKinds]), { nil: undefined });
    fc.assert(
      fc.property(
        app,
        kinds,
        fc.boolean(),
        app,
        fc.constantFrom(...alertKinds),
        (asked, wanted, scoped, appId, kind) => {
          const scope = asked === undefined ? {} : { appId: asked };
          const filter: AlertFilter = {
            orgId: orgA,
            ...(scoped ? { scope } : {}),
            ...(wanted ? { kinds: wanted } : {}),
          };
          return !matches(filter, alertOf(1, { orgId: neighbour, kind, ...(appId === undefined ? {} : { appId }) }));
        },
      ),
    );
  });
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The log in memory: numbers are contiguous in a lane, a read sees what was there when it began and takes its time. */
class MemoryLog {
  readonly reads = new Map<number, number>();
  private readonly lanes = new Map<number, QuotaAlert[]>();

  constructor(
    private readonly readMs: number = 0,
    private readonly failing: (lane: number) => boolean = () => false,
  ) {}

  raise(...raised: readonly Raised[]): void {
    for (const alert of raised) {
      const lane = this.entries(partitionOf(alert.orgId ?? orgA));
      lane.push(alertOf(lane.length + 1, alert));
    }
  }

  async head(lane: number): Promise<number> {
    const { length } = this.entries(lane);
    await sleep(this.readMs);
    return length;
  }

  async listPartition(lane: number, beyond: number, limit: number): Promise<QuotaAlert[]> {
    this.reads.set(lane, (this.reads.get(lane) ?? 0) + 1);
    const page = this.entries(lane).slice(beyond, beyond + limit);
    await sleep(this.readMs);
    if (this.failing(lane)) throw new Error(`lane ${lane} cannot be read`);
    return page;
  }

  private entries(lane: number): QuotaAlert[] {
    const entries = this.lanes.get(lane) ?? [];
    this.lanes.set(lane, entries);
    return entries;
  }
}

type Stream = AsyncIterableIterator<QuotaAlert>;
const times = (count: number, raised: Raised = {}): Raised[] => Array.from({ length: count }, () => raised);
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Reads until the alert of that number, or the end. */
async function numbersUntil(stream: Stream, last: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    numbers.push(next.value.number);
    if (next.value.number >= last) break;
  }
  return numbers;
}

async function withFeed(log: MemoryLog, use: (feed: AlertFeed) => Promise<void>, to: Log = silentLog): Promise<void> {
  const feed = new AlertFeed(log as unknown as AlertStore, systemClock, to);
  feed.start();
  try {
    await use(feed);
  } finally {
    await feed.stop();
  }
}

// Each waits for polls of the feed, a second apart; together, so that they wait at the same time.
describe('AlertFeed', () => {
  it.concurrent('gives what is raised after one subscribed, in order, and nothing from before', () => {
    const log = new MemoryLog();
    log.raise(...times(3));
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA });
      log.raise(...times(250));
      const numbers = await numbersUntil(stream, 253);
      log.raise({});
      expect([...numbers, ...(await numbersUntil(stream, 254))]).toEqual(upTo(4, 254));
    });
  });

  it.concurrent('gives each of several subscribers of a lane what it asked for, and all of that', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const filters: AlertFilter[] = [
        { orgId: orgA },
        { orgId: orgA },
        { orgId: orgA, kinds: ['QUOTA_EXCEEDED', 'FALLBACK_ACTIVATED'] },
        { orgId: orgA, scope: { appId: 'web' } },
        { orgId: orgA, scope: {} },
        { orgId: neighbour },
        { orgId: neighbour, scope: { appId: 'web' }, kinds: ['TIGHT_MODE'] },
      ];
      const streams = await Promise.all(filters.map((filter) => feed.subscribe(filter)));
      log.raise(
        { appId: 'web' }, // 1
        { kind: 'QUOTA_EXCEEDED' }, // 2
        { orgId: neighbour, appId: 'web' }, // 3
        { appId: 'batch', kind: 'FALLBACK_ACTIVATED' }, // 4
        { orgId: neighbour, appId: 'web', kind: 'QUOTA_EXCEEDED' }, // 5
        { orgId: elsewhere, appId: 'web' }, // in a lane of its own
        { appId: 'web', kind: 'QUOTA_EXCEEDED' }, // 6
        {}, // 7
        { orgId: neighbour, appId: 'web' }, // 8
      );
      const lasts = [7, 7, 6, 6, 7, 8, 8];
      expect(await Promise.all(streams.map((stream, i) => numbersUntil(stream, lasts[i] as number)))).toEqual([
        [1, 2, 4, 6, 7],
        [1, 2, 4, 6, 7],
        [2, 4, 6],
        [1, 6],
        [2, 7],
        [3, 5, 8],
        [3, 8],
      ]);
    });
  });

  it.concurrent('gives what was missed and goes on live, without gap or repeat, though alerts are raised all the while', () => {
    const log = new MemoryLog(40);
    log.raise(...times(330));
    return withFeed(log, async (feed) => {
      const last = 330 + 120;
      const raising = (async () => {
        for (let i = 0; i < 120; i++) {
          log.raise({});
          await sleep(15);
        }
      })();
      const afters = [0, 1, 99, 100, 101, 229, 230, 231, 329, 330];
      const followed = await Promise.all(
        afters.map(async (after, i) => {
          await sleep(i * 120); // some before the first poll, some across it, some after
          const stream = await feed.subscribe({ orgId: orgA }, after);
          return { stream, numbers: await numbersUntil(stream, last) };
        }),
      );
      await raising;
      // Only an empty read ends a replay; then comes what the polls kept meanwhile, all of it seen before.
      const reading = followed.map(({ stream }) => numbersUntil(stream, last + 1));
      await sleep(100);
      log.raise({});
      const live = await Promise.all(reading);
      expect(followed.map(({ numbers }, i) => [...numbers, ...(live[i] as number[])])).toEqual(
        afters.map((after) => upTo(after + 1, last + 1)),
      );
    });
  });

  it.concurrent('reads all there is in one poll, however many pages', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const [stream, marker] = await Promise.all([
        feed.subscribe({ orgId: orgA }),
        feed.subscribe({ orgId: elsewhere }),
      ]);
      log.raise(...times(250), { orgId: elsewhere });
      let count = 0;
      void (async () => {
        for await (const _ of stream) count++;
      })();
      await numbersUntil(marker, 1);
      log.raise({ orgId: elsewhere });
      await numbersUntil(marker, 2); // of the second poll, so the first is over
      expect(count).toBe(250);
    });
  });

  it.concurrent("replays only what was asked for, also where whole pages of the log are others'", () => {
    const log = new MemoryLog();
    log.raise({}, ...times(240, { orgId: neighbour }), { kind: 'QUOTA_EXCEEDED' }, {});
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA, kinds: ['TIGHT_MODE'] }, 0);
      expect(await numbersUntil(stream, 243)).toEqual([1, 243]);
      log.raise({ orgId: neighbour }, { kind: 'QUOTA_EXCEEDED' }, {});
      expect(await numbersUntil(stream, 246)).toEqual([246]);
    });
  });

  it.concurrent('forgets a stream that has ended, leaves its neighbours alone, and reads no lane without subscribers', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const [ended, kept] = await Promise.all([feed.subscribe({ orgId: orgA }), feed.subscribe({ orgId: orgA })]);
      const other = await feed.subscribe({ orgId: elsewhere });
      await ended.return?.();
      log.raise({});
      expect(await numbersUntil(kept, 1)).toEqual([1]);
      expect(await ended.next()).toEqual({ value: undefined, done: true });
      await kept.return?.();
      const reads = log.reads.get(partitionOf(orgA));
      log.raise({ orgId: elsewhere });
      await numbersUntil(other, 1);
      log.raise({ orgId: elsewhere });
      await numbersUntil(other, 2); // two polls on
      expect(log.reads.get(partitionOf(orgA))).toBe(reads);

      const back = await feed.subscribe({ orgId: orgA });
      log.raise({});
      expect(await numbersUntil(back, 2)).toEqual([2]);
    });
  });

  it.concurrent('ends one that does not read when more than 256 wait for it, not sooner, and nobody else', () => {
    const log = new MemoryLog();
    return withFeed(log, async (feed) => {
      const patient = await feed.subscribe({ orgId: elsewhere });
      const asleep = await feed.subscribe({ orgId: orgA });
      const picky = await feed.subscribe({ orgId: orgA, kinds: ['QUOTA_EXCEEDED'] });
      const reader = await feed.subscribe({ orgId: orgA });
      log.raise(...times(256, { orgId: elsewhere }), ...times(256), { kind: 'QUOTA_EXCEEDED' });
      expect(await numbersUntil(reader, 257)).toEqual(upTo(1, 257));
      expect(await asleep.next()).toEqual({ value: undefined, done: true });
      // It did not read either, but only one of them was its own.
      expect(await numbersUntil(picky, 257)).toEqual([257]);
      expect(await numbersUntil(patient, 256)).toEqual(upTo(1, 256));
      // It comes back with its last cursor, and has missed nothing.
      expect(await numbersUntil(await feed.subscribe({ orgId: orgA }, 0), 257)).toEqual(upTo(1, 257));
    });
  });

  it.concurrent('goes on after a lane could not be read, and holds up no other for it', () => {
    let failing = true;
    const log = new MemoryLog(0, (lane) => failing && lane === partitionOf(orgA));
    const warnings: string[] = [];
    const warn = (fields: { readonly err: Error }) => {
      warnings.push(fields.err.message);
      failing = false;
    };
    return withFeed(
      log,
      async (feed) => {
        const [troubled, sound] = await Promise.all([
          feed.subscribe({ orgId: orgA }),
          feed.subscribe({ orgId: elsewhere }),
        ]);
        log.raise({}, { orgId: elsewhere });
        expect(await numbersUntil(sound, 1)).toEqual([1]);
        expect(await numbersUntil(troubled, 1)).toEqual([1]);
        expect(warnings).toEqual([`lane ${partitionOf(orgA)} cannot be read`]);
      },
      { ...silentLog, warn: warn as Log['warn'] },
    );
  });

  it.concurrent('wakes a reader that waits when its stream is ended', () =>
    withFeed(new MemoryLog(), async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA });
      const waiting = stream.next();
      await sleep(5);
      expect(await stream.return?.()).toEqual({ value: undefined, done: true });
      expect(await waiting).toEqual({ value: undefined, done: true });
      expect(await stream.return?.()).toEqual({ value: undefined, done: true });
    }));

  it.concurrent('ends a stream in the middle of its replay', () => {
    const log = new MemoryLog(20);
    log.raise(...times(5));
    return withFeed(log, async (feed) => {
      const stream = await feed.subscribe({ orgId: orgA }, 0);
      const waiting = stream.next();
      await stream.return?.();
      expect(await waiting).toEqual({ value: undefined, done: true });
    });
  });

  it.concurrent('ends all streams when it stops, of every lane, and can be stopped before it started', async () => {
    const feed = new AlertFeed(new MemoryLog() as unknown as AlertStore, systemClock, silentLog);
    await feed.stop();
    feed.start();
    const streams = await Promise.all([orgA, orgA, neighbour, elsewhere].map((orgId) => feed.subscribe({ orgId })));
    const waiting = streams.map((stream) => stream.next());
    await feed.stop();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true, true, true]);
  });
});
