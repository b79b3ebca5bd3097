import { isSwept, sweepWrite } from '../../../src/spend/held/held.item.js';
import { dueSlots, type HeldImage, noSlot, slotMs, sweptImage, sweptThrough } from '../../../src/spend/held/held.js';

const key = { PK: 'p', SK: 's' };
const image = (held: number, swept: number, slots: Readonly<Record<number, number>>): HeldImage => ({
  held,
  swept,
  slots: new Map(Object.entries(slots).map(([slot, amount]) => [Number(slot), amount])),
});

describe('a sweep', () => {
  it('returns what is reserved in the slots that ended a slot ago', () => {
    const before = image(100, noSlot, { 5: 10, 6: 20, 7: 30 });
    expect(dueSlots(before, 8 * slotMs)).toEqual([5, 6]);
    expect(sweptImage(before, [5, 6])).toEqual(image(70, 6, { 7: 30 }));
  });

  // A gateway whose clock is ten minutes late reserved in slot 6 while slot 7 was swept.
  it('of a slot before the newest one that was swept does not open the newer ones again', () => {
    const before = image(20, 7, { 6: 20 });
    expect(dueSlots(before, 9 * slotMs)).toEqual([6]);
    expect(sweptImage(before, [6])).toEqual(image(0, 7, {}));
    expect(sweepWrite(key, before, [6])).toMatchObject({ set: { swept: 7 }, add: { held: -20 }, remove: ['r6'] });
    expect(sweptThrough(noSlot, [6, 7])).toBe(7);
  });

  it('recognises its own success by the slots that are gone', () => {
    const before = image(20, 7, { 6: 20 });
    expect(isSwept({ ...key, held: 0, swept: 7 }, before, [6])).toBe(true);
    // Another reservation came between the read and the write.
    expect(isSwept({ ...key, held: 25, swept: 7, r6: 25 }, before, [6])).toBe(false);
    expect(isSwept({ ...key, held: 0, swept: 9 }, before, [6])).toBe(false);
  });
});
