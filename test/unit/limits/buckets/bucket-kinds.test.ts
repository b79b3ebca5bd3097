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

/** Plans a move on the cached state and writes it on the stored one. Undefined if the condition does not hold. */
function write(stored: LimitState, change: UnitMove, nowMs: number, cached = stored): LimitState | undefined {
  const step = stepFor(cached, change, nowMs);
  const after = writtenLimit(stored, step, nowMs);
  if (after && stored === cached) expect(afterStep(cached, step)).toEqual(after);
  return after;
}

describe('a calendar limit', () => {
  const spec = calendarSpec(10_000n);
  const fresh = fullLimit(spec, startMs);
  const endMs = fresh.windowEndMs as number;
  const used = (fullAt: bigint, windowEndMs = endMs): LimitState => ({ ...fresh, fullAt, windowEndMs });

  it('starts with its whole capacity, until the end of the window', () => {
    expect([fresh.fullAt, endMs]).toEqual([0n, Math.ceil(startMs / dayMs) * dayMs]);
    expect(availableMilli(fresh, startMs, 1)).toBe(10_000n);
  });

  it.each<[string, LimitState, number, bigint, bigint]>([
    ['the unused amount', used(4000n), endMs - 1, 6000n, 4000n],
    ['nothing once all is used', used(10_000n), endMs - 1, 0n, 10_000n],
    ['a debt after a charge beyond its capacity', used(12_000n), endMs - 1, -2000n, 12_000n],
    ['its whole capacity once the window has ended, whatever was used', used(12_000n), endMs, 10_000n, 0n],
    ['its whole capacity long after', used(1n), endMs + 40 * dayMs, 10_000n, 0n],
    [
      'the unused amount of the stored window if a clock is behind',
      used(4000n, endMs + dayMs),
      endMs - 1,
      6000n,
      4000n,
    ],
  ])('has %s', (_, limit, nowMs, available, fullAt) => {
    expect(availableMilli(limit, nowMs, 1)).toBe(available);
    expect(asOf(limit, nowMs).fullAt).toBe(fullAt);
    expect((asOf(limit, nowMs).windowEndMs ?? 0) > nowMs).toBe(true);
  });

  it('is divided by n over n shards', () => {
    expect([1, 2, 4].map((shards) => availableMilli(used(4000n), startMs, shards))).toEqual([6000n, 3000n, 1500n]);
    expect([3000n, 3001n].map((milli) => fits(used(4000n), milli, startMs, 2))).toEqual([true, false]);
  });

  it.each<[string, LimitState, bigint, number, number]>([
    ['of 0 for an available amount', used(4000n), 6000n, startMs, 0],
    ['until the end of the window for more', used(4000n), 6001n, startMs, endMs - startMs],
    ['of one millisecond just before the end', used(10_000n), 1n, endMs - 1, 1],
    ['of 0 after the end', used(10_000n), 10_000n, endMs, 0],
    ['until the end even for 0, if it is in debt', used(10_001n), 0n, startMs, endMs - startMs],
  ])('has a retry time %s', (_, limit, milli, nowMs, waitMs) => {
    expect(retryAfterMs(limit, milli, nowMs, 1)).toBe(waitMs);
    expect(fits(limit, milli, nowMs + waitMs, 1)).toBe(true);
    if (waitMs > 0) expect(fits(limit, milli, nowMs + waitMs - 1, 1)).toBe(false);
  });

  it.each<[string, LimitState, UnitMove, number, LimitState | undefined]>([
    ['grants the available amount', used(4000n), take(6000n), startMs, used(10_000n)],
    ['refuses more', used(4000n), take(6001n), startMs, undefined],
    ['grants 0 without a change', used(4000n), take(0n), startMs, used(4000n)],
    ['refuses even 0 in debt', used(10_001n), take(0n), startMs, undefined],
    ['can be charged into debt', used(4000n), move({ charge: 9000n }), startMs, used(13_000n)],
    ['accepts what was used back', used(4000n), move({ giveBack: 3000n }), startMs, used(1000n)],
    ['begins a window with a take', used(9000n), take(3000n), endMs, used(3000n, endMs + dayMs)],
    ['begins a window after a debt', used(99_000n), take(10_000n), endMs, used(10_000n, endMs + dayMs)],
    ['begins no window with a take of 0', used(9000n), take(0n), endMs, used(9000n)],
    ['begins a window with a charge', used(9000n), move({ charge: 12_000n }), endMs, used(12_000n, endMs + dayMs)],
    ['accepts nothing back in a new window', used(9000n), move({ giveBack: 3000n }), endMs, used(9000n)],
    ['refuses more than its capacity in a new window', used(0n), take(10_001n), endMs, undefined],
    [
      'refuses more than its capacity in a new window even if more was given back than used',
      used(-5n),
      take(10_001n),
      endMs,
      undefined,
    ],
    [
      'takes in the stored window if a clock is behind',
      used(4000n, endMs + dayMs),
      take(1000n),
      startMs,
      used(5000n, endMs + dayMs),
    ],
    ['can be topped up by what was used', used(4000n), move({ giveBack: 3000n }), startMs, used(1000n)],
    ['is full if more was given back than was used', used(-5000n), take(10_000n), startMs, used(10_000n)],
    [
      'refuses more than its capacity if more was given back than was used',
      used(-5000n),
      take(10_001n),
      startMs,
      undefined,
    ],
  ])('%s', (_, limit, change, nowMs, after) => {
    expect(write(limit, change, nowMs)).toEqual(after);
  });

  it('refuses a writer that has cached another window or less use', () => {
    const [next, before] = [used(1000n, endMs + dayMs), used(1000n)];
    expect(write(next, take(1000n), startMs, before)).toBeUndefined();
    expect(write(next, take(1000n), endMs, before)).toBeUndefined();
    expect(write(used(9500n), take(1000n), startMs, before)).toBeUndefined();
    expect(write(used(9000n), take(1000n), startMs, before)).toEqual(used(10_000n));
    // A return of more than the cached use does not erase what others have taken since.
    expect(write(used(9000n), move({ giveBack: 5000n }), startMs, before)).toEqual(used(4000n));
    // Full in the cache, and used by others since.
    expect(write(used(1n), take(1000n), startMs, used(-5000n))).toBeUndefined();
  });

  it('never grants more than its capacity in a window, whatever is cached and however clocks differ', () => {
    const calls = fc.array(
      fc.record({
        byMs: fc.integer({ min: -dayMs / 2, max: dayMs }),
        units: fc.bigInt({ min: 0n, max: 12_000n }),
        cacheAge: fc.nat(5),
        kind: fc.constantFrom('take', 'take', 'give'),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(calls, (schedule) => {
        let nowMs = startMs;
        let there = fresh;
        const states = [fresh];
        const granted = new Map<number, bigint>();
        for (const { byMs, units, cacheAge, kind } of schedule) {
          nowMs += byMs;
          const out = granted.get(asOf(there, nowMs).windowEndMs as number) ?? 0n;
          const giveBack = smaller(units, out);
          const after = write(
            there,
            kind === 'take' ? take(units) : move({ giveBack }),
            nowMs,
            states[Math.max(0, states.length - 1 - cacheAge)],
          );
          if (!after) continue;
          expect((after.windowEndMs ?? 0) >= (there.windowEndMs ?? 0)).toBe(true);
          const window = after.windowEndMs as number;
          const isSame = window === there.windowEndMs;
          const change = kind === 'take' ? units : isSame && asOf(there, nowMs).windowEndMs === window ? -giveBack : 0n;
          // A take of 0 does not begin a window.
          if (kind === 'take' && units === 0n && nowMs >= window) continue;
          granted.set(window, (granted.get(window) ?? 0n) + change);
          expect(after.fullAt).toBe(granted.get(window));
          expect(after.fullAt <= 10_000n && after.fullAt >= 0n).toBe(true);
          there = after;
          states.push(after);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps its use and its window to the end under another capacity or zone', () => {
    const lower = restampLimit(used(4000n), calendarSpec(3000n, 'DAY', 'day', 'Asia/Kolkata'), startMs);
    expect(lower).toEqual({ ...used(4000n), ...calendarSpec(3000n, 'DAY', 'day', 'Asia/Kolkata') });
    expect(availableMilli(lower, startMs, 1)).toBe(-1000n);
    expect([availableMilli(lower, endMs, 1), asOf(lower, endMs).windowEndMs]).toEqual([
      3000n,
      endMs + 18.5 * 3_600_000,
    ]);
  });

  it('is full when its window ends, and fills within the max length of a window', () => {
    expect([used(0n), used(1n)].map(fullAtMs)).toEqual([0, endMs]);
    expect(fillMs(spec)).toBe(maxWindowMs({ window: 'DAY', zone: 'UTC' }));
  });
});

describe('a concurrency limit', () => {
  const spec = slotSpec(3n);
  const untilMs = startMs + 60_000;
  const droppedMs = untilMs + 2000;
  const held = (slots: Slots): LimitState => ({
    ...fullLimit(spec, startMs),
    slots,
    fullAt: BigInt(Object.keys(slots).length) * 1000n,
  });
  const three = held({ a: untilMs, b: untilMs + 10, c: untilMs + 20 });

  it.each<[string, LimitState, number, bigint, string[]]>([
    ['no slot held', held({}), startMs, 3000n, []],
    ['one slot held', held({ a: untilMs }), startMs, 2000n, []],
    ['all slots held', three, startMs, 0n, []],
    ['all slots held and overdue for less than 2 s', three, droppedMs - 1, 0n, []],
    ['two slots held and the third dropped', three, droppedMs, 1000n, ['a']],
    ['all slots dropped', three, droppedMs + 20, 3000n, ['a', 'b', 'c']],
  ])('(%s) has the rest available', (_, limit, nowMs, available, dropped) => {
    expect(room(limit, nowMs)).toBe(available);
    expect(availableMilli(limit, nowMs, 1)).toBe(available);
    expect(droppedSlots(limit, nowMs)).toEqual(dropped);
    expect(Object.keys(asOf(limit, nowMs).slots ?? {})).toEqual(
      Object.keys(limit.slots ?? {}).filter((lease) => !dropped.includes(lease)),
    );
  });

  it.each<[string, LimitState, bigint, number]>([
    ['of 0 for a free slot', held({ a: untilMs }), 1000n, 0],
    ['until 2 s after the first lease ends', three, 1000n, droppedMs - startMs],
    [
      'until enough leases have ended, if there are fewer slots now',
      { ...three, burstMilli: 1000n },
      1000n,
      droppedMs + 20 - startMs,
    ],
    ['even for 0, if more slots are held than there are', { ...three, burstMilli: 2000n }, 0n, droppedMs - startMs],
  ])('has a retry time %s', (_, limit, milli, waitMs) => {
    expect(retryAfterMs(limit, milli, startMs, 1)).toBe(waitMs);
    expect(fits(limit, milli, startMs + waitMs, 1)).toBe(true);
    if (waitMs > 0) expect(fits(limit, milli, startMs + waitMs - 1, 1)).toBe(false);
  });

  it.each<[string, LimitState, UnitMove, number, Partial<LimitState> | undefined]>([
    ['grants a free slot', held({ a: untilMs }), take(1000n), startMs, { fullAt: 2000n }],
    ['refuses if no slot is free', three, take(1000n), startMs, undefined],
    ['refuses just before a slot is dropped', three, take(1000n), droppedMs - 1, undefined],
    [
      'grants the place of a dropped slot',
      three,
      take(1000n),
      droppedMs,
      { fullAt: 3000n, slots: { b: untilMs + 10, c: untilMs + 20 } },
    ],
    ['grants the places of all dropped slots', three, take(2000n), droppedMs + 20, { fullAt: 2000n, slots: {} }],
    ['grants a take of no slot', three, take(0n), startMs, {}],
    [
      'refuses even a take of no slot while more are held than there are',
      { ...three, burstMilli: 2000n },
      take(0n),
      startMs,
      undefined,
    ],
    [
      'grants a take of no slot once enough are dropped',
      { ...three, burstMilli: 2000n },
      take(0n),
      droppedMs,
      { fullAt: 2000n, slots: { b: untilMs + 10, c: untilMs + 20 } },
    ],
    ['accepts a slot back', three, move({ giveBack: 1000n }), startMs, { fullAt: 2000n }],
    ['accepts a slot back while others are dropped', three, move({ giveBack: 1000n }), droppedMs, { fullAt: 2000n }],
  ])('%s', (_, limit, change, nowMs, after) => {
    expect(write(limit, change, nowMs)).toEqual(after && { ...limit, ...after });
  });

  it('refuses a writer that has cached fewer held slots, or a renewed slot as dropped', () => {
    expect(write(three, take(1000n), startMs, held({ a: untilMs, b: untilMs }))).toBeUndefined();
    const renewed = held({ ...three.slots, a: droppedMs + 60_000 });
    expect(write(renewed, take(1000n), droppedMs, three)).toBeUndefined();
  });

  it('keeps the held slots under another capacity', () => {
    const fewer = restampLimit(three, slotSpec(1n), startMs);
    expect(fewer).toEqual({ ...three, ...slotSpec(1n) });
    expect(availableMilli(fewer, startMs, 1)).toBe(-2000n);
  });

  it('is full when the last slot is dropped, and fills within a day', () => {
    expect([held({}), three].map(fullAtMs)).toEqual([0, droppedMs + 20]);
    expect(fillMs(spec)).toBe(dayMs);
  });
});

describe('the identity of a limit', () => {
  it('consists of its kind and name only', () => {
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
