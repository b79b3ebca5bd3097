import fc from 'fast-check';
import { smaller } from '../../../../src/lib/int.js';
import {
  afterStep,
  asOf,
  droppedSlots,
  fillMs,
  fullAtMs,
  fullLimit,
  identityOf,
  type LimitState,
  restampLimit,
  retryAfterMs,
  room,
  type Slots,
  stepFor,
  type UnitMove,
} from '../../../../src/limits/buckets/bucket.js';
import { maxWindowMs } from '../../../../src/limits/buckets/calendar-window.js';
import { availableMilli, calendarSpec, fits, rateSpec, slotSpec, startMs, writtenLimit } from './limit-fixtures.js';

const dayMs = 86_400_000;
const move = (part: Partial<UnitMove>): UnitMove => ({
  take: 0n,
  charge: 0n,
  giveBack: 0n,
  checksCeiling: false,
  ...part,
});
const take = (units: bigint): UnitMove => move({ take: units, checksCeiling: true });

/** Plans a move for what is remembered and writes it on what is there; undefined where the store refuses. */
function write(there: LimitState, of: UnitMove, nowMs: number, remembered = there): LimitState | undefined {
  const step = stepFor(remembered, of, nowMs);
  const after = writtenLimit(there, step, nowMs);
  if (after && there === remembered) expect(afterStep(remembered, step)).toEqual(after);
  return after;
}

describe('a calendar limit', () => {
  const spec = calendarSpec(10_000n);
  const fresh = fullLimit(spec, startMs);
  const endMs = fresh.windowEndMs as number;
  const used = (fullAt: bigint, windowEndMs = endMs): LimitState => ({ ...fresh, fullAt, windowEndMs });

  it('begins with all of it, until the end of the window', () => {
    expect([fresh.fullAt, endMs]).toEqual([0n, Math.ceil(startMs / dayMs) * dayMs]);
    expect(availableMilli(fresh, startMs, 1)).toBe(10_000n);
  });

  it.each<[string, LimitState, number, bigint, bigint]>([
    ['what is not used', used(4000n), endMs - 1, 6000n, 4000n],
    ['nothing once all is used', used(10_000n), endMs - 1, 0n, 10_000n],
    ['a debt, charged past the end', used(12_000n), endMs - 1, -2000n, 12_000n],
    ['all of it once the window has ended, whatever was used', used(12_000n), endMs, 10_000n, 0n],
    ['all of it long after', used(1n), endMs + 40 * dayMs, 10_000n, 0n],
    ['by its own window, where a clock is behind', used(4000n, endMs + dayMs), endMs - 1, 6000n, 4000n],
  ])('has %s', (_, limit, nowMs, available, fullAt) => {
    expect(availableMilli(limit, nowMs, 1)).toBe(available);
    expect(asOf(limit, nowMs).fullAt).toBe(fullAt);
    expect((asOf(limit, nowMs).windowEndMs ?? 0) > nowMs).toBe(true);
  });

  it('is shared n-fold by n shards', () => {
    expect([1, 2, 4].map((shards) => availableMilli(used(4000n), startMs, shards))).toEqual([6000n, 3000n, 1500n]);
    expect([3000n, 3001n].map((milli) => fits(used(4000n), milli, startMs, 2))).toEqual([true, false]);
  });

  it.each<[string, LimitState, bigint, number, number]>([
    ['not at all for what is there', used(4000n), 6000n, startMs, 0],
    ['until the end of the window for more', used(4000n), 6001n, startMs, endMs - startMs],
    ['one millisecond, just before it', used(10_000n), 1n, endMs - 1, 1],
    ['not at all after it', used(10_000n), 10_000n, endMs, 0],
    ['until the end for nothing too, where it is in debt', used(10_001n), 0n, startMs, endMs - startMs],
  ])('has one wait %s', (_, limit, milli, nowMs, waitMs) => {
    expect(retryAfterMs(limit, milli, nowMs, 1)).toBe(waitMs);
    expect(fits(limit, milli, nowMs + waitMs, 1)).toBe(true);
    if (waitMs > 0) expect(fits(limit, milli, nowMs + waitMs - 1, 1)).toBe(false);
  });

  it.each<[string, LimitState, UnitMove, number, LimitState | undefined]>([
    ['takes what is there', used(4000n), take(6000n), startMs, used(10_000n)],
    ['takes no more', used(4000n), take(6001n), startMs, undefined],
    ['takes nothing without a change', used(4000n), take(0n), startMs, used(4000n)],
    ['takes not even nothing in debt', used(10_001n), take(0n), startMs, undefined],
    ['is charged into debt', used(4000n), move({ charge: 9000n }), startMs, used(13_000n)],
    ['gets back what was used', used(4000n), move({ giveBack: 3000n }), startMs, used(1000n)],
    ['begins a window with what is taken', used(9000n), take(3000n), endMs, used(3000n, endMs + dayMs)],
    ['begins a window after a debt', used(99_000n), take(10_000n), endMs, used(10_000n, endMs + dayMs)],
    ['begins none for nothing', used(9000n), take(0n), endMs, used(9000n)],
    [
      'begins a window with what is charged',
      used(9000n),
      move({ charge: 12_000n }),
      endMs,
      used(12_000n, endMs + dayMs),
    ],
    ['gets nothing back in a new window', used(9000n), move({ giveBack: 3000n }), endMs, used(9000n)],
    ['gives in a new window no more than it ever holds', used(0n), take(10_001n), endMs, undefined],
    [
      'gives in a new window no more than it ever holds, with more given back than used',
      used(-5n),
      take(10_001n),
      endMs,
      undefined,
    ],
    [
      'takes in the window that is there, where a clock is behind',
      used(4000n, endMs + dayMs),
      take(1000n),
      startMs,
      used(5000n, endMs + dayMs),
    ],
    ['is topped up by what was used', used(4000n), move({ giveBack: 3000n }), startMs, used(1000n)],
    ['is just full where more is given back than was used', used(-5000n), take(10_000n), startMs, used(10_000n)],
    [
      'gives no more than it holds where more was given back than was used',
      used(-5000n),
      take(10_001n),
      startMs,
      undefined,
    ],
  ])('%s', (_, limit, of, nowMs, after) => {
    expect(write(limit, of, nowMs)).toEqual(after);
  });

  it('refuses a writer that remembers another window, and one that remembers less use', () => {
    const [next, before] = [used(1000n, endMs + dayMs), used(1000n)];
    expect(write(next, take(1000n), startMs, before)).toBeUndefined();
    expect(write(next, take(1000n), endMs, before)).toBeUndefined();
    expect(write(used(9500n), take(1000n), startMs, before)).toBeUndefined();
    expect(write(used(9000n), take(1000n), startMs, before)).toEqual(used(10_000n));
    // What is given back beyond what is remembered does not erase what others have taken since.
    expect(write(used(9000n), move({ giveBack: 5000n }), startMs, before)).toEqual(used(4000n));
    // Full by what is remembered, and used by others since.
    expect(write(used(1n), take(1000n), startMs, used(-5000n))).toBeUndefined();
  });

  it('never grants more than its capacity in a window, whatever is remembered and however clocks differ', () => {
    const calls = fc.array(
      fc.record({
        byMs: fc.integer({ min: -dayMs / 2, max: dayMs }),
        units: fc.bigInt({ min: 0n, max: 12_000n }),
        image: fc.nat(5),
        kind: fc.constantFrom('take', 'take', 'give'),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(calls, (schedule) => {
        let nowMs = startMs;
        let there = fresh;
        const seen = [fresh];
        const granted = new Map<number, bigint>();
        for (const { byMs, units, image, kind } of schedule) {
          nowMs += byMs;
          const out = granted.get(asOf(there, nowMs).windowEndMs as number) ?? 0n;
          const giveBack = smaller(units, out);
          const after = write(
            there,
            kind === 'take' ? take(units) : move({ giveBack }),
            nowMs,
            seen[Math.max(0, seen.length - 1 - image)],
          );
          if (!after) continue;
          expect((after.windowEndMs ?? 0) >= (there.windowEndMs ?? 0)).toBe(true);
          const window = after.windowEndMs as number;
          const isSame = window === there.windowEndMs;
          const change = kind === 'take' ? units : isSame && asOf(there, nowMs).windowEndMs === window ? -giveBack : 0n;
          // A take of nothing does not begin a window.
          if (kind === 'take' && units === 0n && nowMs >= window) continue;
          granted.set(window, (granted.get(window) ?? 0n) + change);
          expect(after.fullAt).toBe(granted.get(window));
          expect(after.fullAt <= 10_000n && after.fullAt >= 0n).toBe(true);
          there = after;
          seen.push(after);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps under another capacity or zone what is used, and its window to the end', () => {
    const lower = restampLimit(used(4000n), calendarSpec(3000n, 'DAY', 'day', 'Asia/Kolkata'), startMs);
    expect(lower).toEqual({ ...used(4000n), ...calendarSpec(3000n, 'DAY', 'day', 'Asia/Kolkata') });
    expect(availableMilli(lower, startMs, 1)).toBe(-1000n);
    expect([availableMilli(lower, endMs, 1), asOf(lower, endMs).windowEndMs]).toEqual([
      3000n,
      endMs + 18.5 * 3_600_000,
    ]);
  });

  it('is full when its window ends, and fills in no longer than the longest window', () => {
    expect([used(0n), used(1n)].map(fullAtMs)).toEqual([0, endMs]);
    expect(fillMs(spec)).toBe(maxWindowMs({ window: 'DAY', zone: 'UTC' }));
  });
});

describe('a concurrency limit', () => {
  const spec = slotSpec(3n);
  const untilMs = startMs + 60_000;
  const goneMs = untilMs + 2000;
  const held = (slots: Slots): LimitState => ({
    ...fullLimit(spec, startMs),
    slots,
    fullAt: BigInt(Object.keys(slots).length) * 1000n,
  });
  const three = held({ a: untilMs, b: untilMs + 10, c: untilMs + 20 });

  it.each<[string, LimitState, number, bigint, string[]]>([
    ['none of its slots held', held({}), startMs, 3000n, []],
    ['one', held({ a: untilMs }), startMs, 2000n, []],
    ['all', three, startMs, 0n, []],
    ['all, their leases not renewed in time but for less than 2 s', three, goneMs - 1, 0n, []],
    ['two, the third lost', three, goneMs, 1000n, ['a']],
    ['none, all lost', three, goneMs + 20, 3000n, ['a', 'b', 'c']],
  ])('with %s has the rest', (_, limit, nowMs, available, dropped) => {
    expect(room(limit, nowMs)).toBe(available);
    expect(availableMilli(limit, nowMs, 1)).toBe(available);
    expect(droppedSlots(limit, nowMs)).toEqual(dropped);
    expect(Object.keys(asOf(limit, nowMs).slots ?? {})).toEqual(
      Object.keys(limit.slots ?? {}).filter((lease) => !dropped.includes(lease)),
    );
  });

  it.each<[string, LimitState, bigint, number]>([
    ['not at all for a free slot', held({ a: untilMs }), 1000n, 0],
    ['2 s longer than the first lease is held', three, 1000n, goneMs - startMs],
    [
      'for as many as are too many, where there are fewer slots by now',
      { ...three, burstMilli: 1000n },
      1000n,
      goneMs + 20 - startMs,
    ],
    ['for nothing too, where more are held than there are', { ...three, burstMilli: 2000n }, 0n, goneMs - startMs],
  ])('has one wait %s', (_, limit, milli, waitMs) => {
    expect(retryAfterMs(limit, milli, startMs, 1)).toBe(waitMs);
    expect(fits(limit, milli, startMs + waitMs, 1)).toBe(true);
    if (waitMs > 0) expect(fits(limit, milli, startMs + waitMs - 1, 1)).toBe(false);
  });

  it.each<[string, LimitState, UnitMove, number, Partial<LimitState> | undefined]>([
    ['takes a free slot', held({ a: untilMs }), take(1000n), startMs, { fullAt: 2000n }],
    ['takes no slot where none is free', three, take(1000n), startMs, undefined],
    ['takes none just before one is lost', three, take(1000n), goneMs - 1, undefined],
    [
      'takes the place of a lost one',
      three,
      take(1000n),
      goneMs,
      { fullAt: 3000n, slots: { b: untilMs + 10, c: untilMs + 20 } },
    ],
    ['takes the places of all that are lost', three, take(2000n), goneMs + 20, { fullAt: 2000n, slots: {} }],
    ['lets one pass who takes no slot', three, take(0n), startMs, {}],
    [
      'lets nobody pass while more are held than there are',
      { ...three, burstMilli: 2000n },
      take(0n),
      startMs,
      undefined,
    ],
    [
      'lets one pass once they are not',
      { ...three, burstMilli: 2000n },
      take(0n),
      goneMs,
      { fullAt: 2000n, slots: { b: untilMs + 10, c: untilMs + 20 } },
    ],
    ['gets a slot back', three, move({ giveBack: 1000n }), startMs, { fullAt: 2000n }],
    ['gets a slot back though others are lost', three, move({ giveBack: 1000n }), goneMs, { fullAt: 2000n }],
  ])('%s', (_, limit, of, nowMs, after) => {
    expect(write(limit, of, nowMs)).toEqual(after && { ...limit, ...after });
  });

  it('refuses a writer that remembers fewer slots held, or one as lost that was renewed', () => {
    expect(write(three, take(1000n), startMs, held({ a: untilMs, b: untilMs }))).toBeUndefined();
    const renewed = held({ ...three.slots, a: goneMs + 60_000 });
    expect(write(renewed, take(1000n), goneMs, three)).toBeUndefined();
  });

  it('keeps under another capacity what is held', () => {
    const fewer = restampLimit(three, slotSpec(1n), startMs);
    expect(fewer).toEqual({ ...three, ...slotSpec(1n) });
    expect(availableMilli(fewer, startMs, 1)).toBe(-2000n);
  });

  it('is full when the last slot is lost, and fills in a day at most', () => {
    expect([held({}), three].map(fullAtMs)).toEqual([0, goneMs + 20]);
    expect(fillMs(spec)).toBe(dayMs);
  });
});

describe('the identity of a limit', () => {
  it('is its name and kind, whatever its parameters', () => {
    const all = [rateSpec(1n), rateSpec(2n, 3n, 4n), { ...rateSpec(1n), isShadow: true as const }].map(identityOf);
    expect(new Set(all)).toEqual(new Set(['RATE rpm']));
    const kinds = [
      rateSpec(1n, 1n, 1n, 'x'),
      slotSpec(1n, 'x'),
      ...(['DAY', 'WEEK', 'MONTH'] as const).map((window) => calendarSpec(1n, window, 'x')),
    ];
    expect(new Set(kinds.map(identityOf)).size).toBe(5);
    expect(identityOf(calendarSpec(1n, 'DAY', 'x', 'Asia/Kolkata'))).toBe(identityOf(calendarSpec(2n, 'DAY', 'x')));
  });
});
