import fc from 'fast-check';
import {
  dueSlots,
  emptyHeld,
  type HeldImage,
  maxReservation,
  noSlot,
  reservedIn,
  slotFor,
  slotMs,
  sweepableFromMs,
  sweptImage,
} from '../../../src/spend/held/held.js';
import { planReserves, type ReservePlan, tightestRefusal } from '../../../src/spend/held/reserve-plan.js';
import { planSettles, type SettledItem, type SettleRequest } from '../../../src/spend/held/settle-plan.js';

const image = (held: number, swept = noSlot, slots: [number, number][] = []): HeldImage => ({
  held,
  swept,
  slots: new Map(slots),
});
const limit = (name: string, limitUsdMicros: number) => ({ name, limitUsdMicros });

describe('a slot', () => {
  it('is swept one slot after its end', () => {
    expect(sweepableFromMs(10)).toBe(12 * slotMs);
    const held = image(30, noSlot, [
      [9, 10],
      [10, 20],
    ]);
    expect(dueSlots(held, 12 * slotMs - 1)).toEqual([9]);
    expect(dueSlots(held, 12 * slotMs)).toEqual([9, 10]);
    expect(sweptImage(held, [9, 10])).toEqual(image(0, 10));
    expect(sweptImage(held, [])).toEqual(held);
  });

  it('is never one that was swept, also on a clock that is late', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1000, max: 900_000 }),
        fc.integer({ min: -1, max: 5000 }),
        (now, ttl, swept) => {
          const slot = slotFor(now, ttl, swept);
          expect(slot).toBeGreaterThan(swept);
          // It is not swept before it expires, by a clock that has swept no more than this.
          expect(sweepableFromMs(slot)).toBeGreaterThan(now + ttl + slotMs - 1);
        },
      ),
    );
  });
});

it('caps a reservation at its share exactly', () => {
  expect(maxReservation(999, 50)).toBe(499);
  expect(maxReservation(Number.MAX_SAFE_INTEGER, 99)).toBe(Number((BigInt(Number.MAX_SAFE_INTEGER) * 99n) / 100n));
});

describe('planReserves', () => {
  const request = (amountUsdMicros: number, limits = [limit('q', 100)], slot = 7) => ({
    amountUsdMicros,
    limits,
    slot,
  });

  it('admits in order of arrival those that fit, and leaves those that fit only alone for later', () => {
    const plan = planReserves(
      [60, 50, 101, 40].map((amount) => request(amount)),
      new Map(),
    );
    expect([plan.admitted, plan.denied]).toEqual([[0, 3], [2]]);
    expect(plan.items.get('q')).toEqual({ addHeld: 100, slots: new Map([[7, 100]]), maxHeld: 0, minSlot: 7 });
  });

  it('reserves on all items or on none', () => {
    const both = [limit('q', 100), limit('b', 30)];
    const plan = planReserves([request(20, both), request(20, both)], new Map([['q', image(10)]]));
    expect([plan.admitted, plan.denied]).toEqual([[0], []]);
    expect(plan.items.get('b')).toMatchObject({ addHeld: 20, maxHeld: 10 });
  });

  it('takes the smallest slot and the bound of the call itself', () => {
    const plan = planReserves([request(10, [limit('q', 50)], 9), request(10, [limit('q', 20)], 8)], new Map());
    expect(plan.items.get('q')).toMatchObject({ maxHeld: 0, minSlot: 8, addHeld: 20 });
  });

  it('never exceeds a bound, and denies only what cannot fit alone', () => {
    const amounts = fc.array(
      fc.record({ amount: fc.integer({ min: 1, max: 50 }), max: fc.integer({ min: 1, max: 120 }) }),
    );
    fc.assert(
      fc.property(amounts, fc.nat(100), (calls, held) => {
        const requests = calls.map(({ amount, max }) => request(amount, [limit('q', max)]));
        const plan: ReservePlan = planReserves(requests, new Map([['q', image(held)]]));
        let sum = held;
        for (const i of plan.admitted) {
          sum += calls[i]?.amount ?? 0;
          expect(sum).toBeLessThanOrEqual(calls[i]?.max ?? 0);
        }
        const item = plan.items.get('q');
        expect(item?.addHeld ?? 0).toBe(sum - held);
        if (item) expect(item.maxHeld).toBeGreaterThanOrEqual(held);
        for (const i of plan.denied) expect(held + (calls[i]?.amount ?? 0)).toBeGreaterThan(calls[i]?.max ?? 0);
        if (plan.admitted.length === 0) expect(plan.denied).toHaveLength(calls.length);
      }),
    );
  });
});

describe('tightestRefusal', () => {
  it('names an amount that fits, and no larger one does', () => {
    const bound = fc.record({ max: fc.nat(1000), held: fc.nat(1200), pct: fc.constant(0) });
    fc.assert(
      fc.property(fc.array(bound, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 100 }), (bounds, pct) => {
        const limits = bounds.map(({ max }, i) => limit(`b${i}`, max));
        const images = new Map(bounds.map(({ held }, i) => [`b${i}`, image(held)]));
        const maxOf = ({ limitUsdMicros }: { limitUsdMicros: number }) => maxReservation(limitUsdMicros, pct);
        const passes = (amount: number) =>
          planReserves([{ amountUsdMicros: amount, limits, slot: 1 }], images).admitted.length === 1 &&
          limits.every((each) => amount <= maxOf(each));
        const refusal = tightestRefusal(2000, limits, images, maxOf);
        expect(refusal?.missing).toBe(2000 - (refusal?.wouldPass ?? 0));
        if (refusal && refusal.wouldPass > 0) expect(passes(refusal.wouldPass)).toBe(true);
        expect(passes((refusal?.wouldPass ?? 0) + 1)).toBe(false);
      }),
    );
  });
});

describe('planSettles', () => {
  const charges = [limit('q', 100)];
  const release = { amountUsdMicros: 40, slot: 7, names: ['q'] };

  it('replaces a reservation by the cost if it is on time, and adds the cost in full if it was swept', () => {
    const settle: SettleRequest = { amountUsdMicros: 30, charges, release };
    const onTime = planSettles([settle], new Map());
    expect(onTime.items.get('q')).toEqual({ addHeld: -10, slots: new Map([[7, -40]]), sweptBelow: 7 });
    expect(onTime.overruns).toEqual([undefined]);
    const late = planSettles([settle], new Map([['q', image(0, 7)]]));
    expect(late.items.get('q')).toEqual({ addHeld: 30, slots: new Map(), sweptFrom: 7 });
    expect(late.overruns).toEqual([{ kind: 'LATE_SETTLE', overUsdMicros: 30 }]);
  });

  it('lists what is above the reservation', () => {
    const { overruns } = planSettles([{ amountUsdMicros: 55, charges, release }], new Map());
    expect(overruns).toEqual([{ kind: 'ABOVE_RESERVATION', overUsdMicros: 15 }]);
  });

  it('lists of a cost without a reservation what exceeds the bound, and asks for an item that is not known', () => {
    const plain = (amountUsdMicros: number): SettleRequest => ({ amountUsdMicros, charges });
    expect(planSettles([plain(60), plain(40)], new Map())).toMatchObject({ overruns: [undefined, undefined] });
    expect([...planSettles([plain(60), plain(41)], new Map()).unknown]).toEqual(['q']);
    const plan = planSettles([plain(60), plain(41)], new Map([['q', image(10)]]));
    expect(plan.overruns).toEqual([undefined, { kind: 'UNRESERVED', overUsdMicros: 11 }]);
    expect(plan.items.get('q')?.maxHeld).toBe(10);
  });

  it('leaves the items of an old reservation alone', () => {
    const old = { ...release, names: ['q', 'b'], isOld: true };
    const plan = planSettles([{ amountUsdMicros: 30, charges: [limit('today', 100)], release: old }], new Map());
    expect([...plan.items.keys()]).toEqual(['today']);
    expect(plan.overruns[0]?.kind).toBe('LATE_SETTLE');
  });

  it('returns a cancelled reservation without an overrun', () => {
    const plan = planSettles([{ amountUsdMicros: 0, charges: [], release }], new Map([['q', image(0, 9)]]));
    expect([plan.items.get('q')?.addHeld, plan.overruns[0]]).toEqual([0, undefined]);
  });
});

describe('what is held', () => {
  /** One item of a store with conditions: applies a plan only if they hold, as DynamoDB does. */
  class ItemModel {
    image = emptyHeld;
    settled = 0;

    apply(addHeld: number, slots: ReadonlyMap<number, number>): void {
      const next = new Map(this.image.slots);
      for (const [slot, amount] of slots) next.set(slot, (next.get(slot) ?? 0) + amount);
      this.image = { ...this.image, held: this.image.held + addHeld, slots: next };
    }

    allows({ sweptBelow, sweptFrom, maxHeld }: SettledItem): boolean {
      const { swept, held } = this.image;
      return (
        (sweptBelow === undefined || swept < sweptBelow) &&
        (sweptFrom === undefined || swept >= sweptFrom) &&
        (maxHeld === undefined || held <= maxHeld)
      );
    }
  }

  it('is settled and reserved at every moment, and exceeds the bound only by overruns', () => {
    const step = fc.record({
      kind: fc.constantFrom('reserve', 'settle', 'plain', 'sweep'),
      amount: fc.integer({ min: 1, max: 60 }),
      pick: fc.nat(20),
      skewMs: fc.integer({ min: -slotMs, max: slotMs }),
      waitMs: fc.integer({ min: 0, max: 2 * slotMs }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new ItemModel();
        const open: { amountUsdMicros: number; slot: number }[] = [];
        let [nowMs, over] = [slotMs * 100, 0];
        const charges = [limit('q', 100)];
        for (const { kind, amount, pick, skewMs, waitMs } of steps) {
          nowMs += waitMs;
          if (kind === 'reserve') {
            const slot = slotFor(nowMs + skewMs, 60_000, model.image.swept);
            const request = { amountUsdMicros: amount, limits: charges, slot };
            const item = planReserves([request], new Map([['q', model.image]])).items.get('q');
            if (!item || model.image.held > item.maxHeld || model.image.swept >= item.minSlot) continue;
            model.apply(item.addHeld, item.slots);
            open.push({ amountUsdMicros: amount, slot });
          } else if (kind === 'sweep') {
            const due = dueSlots(model.image, nowMs + skewMs);
            if (due.length > 0) model.image = sweptImage(model.image, due);
          } else {
            const release = kind === 'settle' ? open.splice(pick % Math.max(1, open.length), 1)[0] : undefined;
            if (kind === 'settle' && !release) continue;
            const request = { amountUsdMicros: amount, charges, release: release && { ...release, names: ['q'] } };
            let plan = planSettles([request], new Map());
            let item = plan.items.get('q') as SettledItem;
            if (plan.unknown.size > 0 || !model.allows(item)) {
              plan = planSettles([request], new Map([['q', model.image]]));
              item = plan.items.get('q') as SettledItem;
            }
            expect(model.allows(item)).toBe(true);
            model.apply(item.addHeld, item.slots);
            model.settled += amount;
            over += plan.overruns[0]?.overUsdMicros ?? 0;
          }
          expect(model.image.held).toBe(model.settled + reservedIn(model.image));
          expect(Math.min(0, ...model.image.slots.values())).toBe(0);
          expect(model.image.held).toBeLessThanOrEqual(100 + over);
        }
      }),
      { numRuns: 500 },
    );
  });
});
