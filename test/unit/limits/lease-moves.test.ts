import fc from 'fast-check';
import type { Holding, OutAmount } from '../../../src/limits/buckets/holding.js';
import type { HoldingMove } from '../../../src/limits/buckets/operation.js';
import { holdsSlots, initialState, type LeaseHandle, sumFor } from '../../../src/limits/lease.js';
import { decodeHandle, decodeHoldings, encodeHandle, encodeHoldings } from '../../../src/limits/lease-codec.js';
import { afterMoves, movesAll, movesBy, movesRenewed } from '../../../src/limits/lease-moves.js';
import { startMs } from './buckets/limit-fixtures.js';

const dayMs = 86_400_000;

describe('the moves of a lease', () => {
  const names = ['rpm', 'tpm'];
  /** The units may differ from the millitokens by less than one, because a split is rounded. */
  const outs = (shards: number, max: bigint): fc.Arbitrary<OutAmount> =>
    fc
      .record({
        milli: fc.bigInt({ min: 0n, max }),
        period: fc.bigInt({ min: 1n, max: 60_000n }),
        off: fc.oneof(fc.constant(0n), fc.bigInt({ min: -999n, max: 999n })),
        sinceConversion: fc.nat(3),
        window: fc.constantFrom({}, { windowEndMs: startMs }, { isSlot: true as const }),
      })
      .map(({ milli, period, off, sinceConversion, window }) => {
        const perMilli = period * BigInt(shards);
        const units = milli === 0n ? 0n : milli * perMilli + (off * perMilli) / 1000n;
        return { milli, units, period, sinceConversion, ...window };
      });
  const holdings: fc.Arbitrary<Holding[]> = fc.boolean().chain((isOwn) =>
    fc.array(
      fc.constantFrom(1, 2, 4, 32).chain((shards) =>
        fc.record({
          entityId: fc.constantFrom('child', 'parent'),
          ...(isOwn ? { isOwn: fc.constant(true as const) } : {}),
          shard: fc.nat(shards - 1),
          shards: fc.constant(shards),
          incarnation: fc.constantFrom('one', 'other'),
          out: fc.record(
            { rpm: outs(shards, 50n), tpm: outs(shards, 10n ** 18n) },
            { requiredKeys: ['rpm'] },
          ) as fc.Arbitrary<Record<string, OutAmount>>,
        }),
      ),
      { maxLength: 6 },
    ),
  );
  const outMilli = (held: readonly Holding[], entityId: string, name: string): bigint =>
    held.reduce((sum, { entityId: id, out }) => (id === entityId ? sum + (out[name]?.milli ?? 0n) : sum), 0n);
  const holds = (held: readonly Holding[], entityId: string, name: string): boolean =>
    held.some(({ entityId: id, out }) => id === entityId && out[name] !== undefined);
  /** The result of the buckets if all moves were applied, in the window of the take. */
  const allDone = (held: readonly Holding[], moves: readonly HoldingMove[]) =>
    moves.map(({ out }, i) =>
      Object.fromEntries(
        Object.keys(out).map((name) => {
          const windowEndMs = held[i]?.out[name]?.windowEndMs;
          return [name, windowEndMs === undefined ? {} : { windowEndMs }];
        }),
      ),
    );
  const settled = (held: readonly Holding[], moves: readonly HoldingMove[]): Holding[] =>
    afterMoves(held, moves, allDone(held, moves));

  it('change each entity by the deltas, or name the limit that the lease does not hold enough of', () => {
    const deltas = fc.record(
      { rpm: fc.bigInt({ min: -120n, max: 60n }), tpm: fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(holdings, deltas, (held, given) => {
        const amounts = given as Record<string, bigint>;
        const moves = movesBy(held, amounts);
        const entities = [...new Set(held.map(({ entityId }) => entityId))];
        const isOver = (name: string) =>
          entities.some((id) => holds(held, id, name) && outMilli(held, id, name) + (amounts[name] ?? 0n) < 0n);
        if ('excess' in moves) {
          expect(isOver(moves.excess)).toBe(true);
          return;
        }
        expect(names.some(isOver)).toBe(false);
        const after = settled(held, moves);
        for (const entityId of entities) {
          for (const name of names) {
            const delta = holds(held, entityId, name) ? (amounts[name] ?? 0n) : 0n;
            expect(outMilli(after, entityId, name)).toBe(outMilli(held, entityId, name) + delta);
            expect(sumFor(entityId, moves)[name] ?? 0n).toBe(delta);
          }
        }
        expectSound(held, moves, after);
      }),
      { numRuns: 300 },
    );
  });

  it('give back on release all that is held, and nothing on a second release', () => {
    fc.assert(
      fc.property(holdings, (held) => {
        const moves = movesAll(held, 'lease');
        const after = settled(held, moves);
        expectSound(held, moves, after);
        expect(
          after.flatMap(({ out }) => Object.values(out)).every(({ milli, units }) => milli === 0n && units === 0n),
        ).toBe(true);
        moves.forEach(({ out, slot }, i) => {
          const before = (held[i] as Holding).out;
          for (const [name, move] of Object.entries(out))
            expect(move).toEqual({
              ...before[name],
              milli: -(before[name]?.milli ?? 0n),
              units: -(before[name]?.units ?? 0n),
            });
          expect(slot).toEqual({ lease: 'lease' });
        });
        expect(movesAll(after, 'lease').every(({ out }) => Object.keys(out).length === 0)).toBe(true);
      }),
    );
  });

  it('give back in many small steps exactly the units that were taken', () => {
    const steps = fc.array(fc.bigInt({ min: 1n, max: 20n }), { maxLength: 12 });
    fc.assert(
      fc.property(holdings, steps, (held, backs) => {
        let now: Holding[] = held;
        for (const back of backs) {
          const moves = movesBy(now, { rpm: -back });
          if ('excess' in moves) continue;
          now = settled(now, moves);
          expect(now.every(({ out }) => Object.values(out).every(({ units }) => units >= 0n))).toBe(true);
        }
        now = settled(now, movesAll(now, 'lease'));
        // Steps may leave a remainder of less than a millitoken on each shard.
        now.forEach(({ out, shards }) => {
          for (const { milli, units, period } of Object.values(out)) {
            expect(milli).toBe(0n);
            expect(units >= 0n && units < period * BigInt(shards)).toBe(true);
          }
        });
      }),
    );
  });

  /** No shard gets back more than was taken from it, and the holdings match the moves. */
  function expectSound(held: readonly Holding[], moves: readonly HoldingMove[], after: readonly Holding[]): void {
    expect(moves).toHaveLength(held.length);
    held.forEach((holding, i) => {
      const moved = Object.entries(holding.out).map(([name, amount]) => {
        const { milli, units } = moves[i]?.out[name] ?? { milli: 0n, units: 0n };
        return [name, { ...amount, milli: amount.milli + milli, units: amount.units + units }] as const;
      });
      expect(after[i]).toEqual({ ...holding, out: Object.fromEntries(moved) });
      expect(moved.every(([, { milli, units }]) => milli >= 0n && units >= 0n)).toBe(true);
      expect(Object.keys(moves[i]?.out ?? {}).every((name) => name in holding.out)).toBe(true);
    });
  }

  const held = (milli: bigint, shard = 0, more: Partial<OutAmount> = {}): Holding => ({
    entityId: 'u',
    shard,
    shards: 2,
    incarnation: 'b',
    out: { rpm: { milli, units: milli * 2n * 60n, period: 60n, sinceConversion: 0, ...more } },
  });
  const milliOf = (moves: ReturnType<typeof movesBy>) => (moves as HoldingMove[]).map(({ out }) => out.rpm?.milli);

  it('charge the first shard of an entity and give back from the last', () => {
    const two = [held(3n), held(2n, 1)];
    expect(milliOf(movesBy(two, { rpm: 4n }))).toEqual([4n, undefined]);
    expect(milliOf(movesBy(two, { rpm: -4n }))).toEqual([-2n, -2n]);
    expect(movesBy(two, { rpm: -6n })).toEqual({ excess: 'rpm', outMilli: 5n });
    expect((movesBy(two, { rpm: 4n }) as HoldingMove[])[0]?.out.rpm?.units).toBe(480n);
  });

  it('count only applied charges, and count a return even if it was not applied', () => {
    const [charge, back] = [movesBy([held(3n)], { rpm: 2n }), movesBy([held(3n)], { rpm: -2n })] as HoldingMove[][];
    const milliAfter = (moves: readonly HoldingMove[] | undefined, applied: Record<string, object>[]) =>
      afterMoves([held(3n)], moves ?? [], applied)[0]?.out.rpm?.milli;
    expect([milliAfter(charge, [{ rpm: {} }]), milliAfter(charge, [{}])]).toEqual([5n, 3n]);
    expect([milliAfter(back, [{ rpm: {} }]), milliAfter(back, [{}])]).toEqual([1n, 1n]);
  });

  it('keep only the charge of the new window after a charge in another window', () => {
    const before = [held(3n, 0, { windowEndMs: startMs })];
    const moves = movesBy(before, { rpm: 2n }) as HoldingMove[];
    expect(afterMoves(before, moves, [{ rpm: { windowEndMs: startMs + dayMs } }])[0]?.out.rpm).toMatchObject({
      milli: 2n,
      units: 240n,
      windowEndMs: startMs + dayMs,
    });
    expect(afterMoves(before, moves, [{ rpm: { windowEndMs: startMs } }])[0]?.out.rpm).toMatchObject({
      milli: 5n,
      units: 600n,
      windowEndMs: startMs,
    });
  });

  it('renew held slots and nothing else', () => {
    const slot = held(1000n, 0, { isSlot: true });
    expect(movesRenewed([held(3n), slot, held(0n, 0, { isSlot: true })], 'lease', 77)).toEqual([
      { ...slot, out: { rpm: { ...slot.out.rpm, milli: 0n, units: 0n } }, slot: { lease: 'lease', untilMs: 77 } },
    ]);
    expect([[slot], [held(1000n)], [held(0n, 0, { isSlot: true })]].map(holdsSlots)).toEqual([true, false, false]);
  });

  it('are unchanged by encoding and decoding', () => {
    const handles: fc.Arbitrary<LeaseHandle> = fc.record({
      orgId: fc.uuid(),
      namespace: fc.string(),
      name: fc.string(),
      entityId: fc.string(),
      resource: fc.string(),
      holdings,
      expiresAtMs: fc.maxSafeNat(),
      degraded: fc.boolean(),
    });
    fc.assert(
      fc.property(handles, (handle) => {
        expect(decodeHandle(encodeHandle(handle))).toEqual(handle);
        expect(decodeHoldings(JSON.parse(JSON.stringify(encodeHoldings(handle.holdings))))).toEqual(handle.holdings);
        expect(initialState(handle)).toEqual({ version: 0, holdings: handle.holdings, adjusted: {} });
      }),
    );
  });
});
