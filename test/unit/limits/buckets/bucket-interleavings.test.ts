import {
  fullLimit,
  type LimitSpec,
  type LimitState,
  retryAfterMs,
  type Step,
} from '../../../../src/limits/buckets/bucket.js';
import { move, perMinute, Reference, take, untouched } from './bucket-reference.js';
import {
  availableMilli,
  debtFreeUpTo,
  Fraction,
  fits,
  type Move,
  rateSpec,
  startMs,
  stepOf,
  whole,
  written,
} from './limit-fixtures.js';

interface Caller {
  readonly does: Move;
  /** The state that the caller has cached: nothing, a full or empty bucket, or the real one. */
  readonly cache: 'none' | 'full' | 'empty' | 'fresh';
  readonly clockMs?: number;
}

interface Config {
  readonly limit: LimitSpec;
  readonly shards?: number;
  /** The millitokens of the item at the start. Absent: there is no item. */
  readonly stock?: bigint;
  readonly callers: readonly Caller[];
  /** The number of milliseconds that pass, at any point between the steps of the callers. */
  readonly ticks?: number;
}

interface CallerState {
  readonly cached: LimitState | undefined;
  readonly planned?: { readonly step: Step; readonly nowMs: number };
  readonly verdict?: 'granted' | 'refused';
  readonly tries: number;
}

interface World {
  readonly fullAt: bigint | undefined;
  readonly passedMs: number;
  readonly callers: readonly CallerState[];
  /** The successful writes, in the order of the store. */
  readonly history: readonly { readonly does: Move; readonly nowMs: number }[];
}

const shown = (world: World): string =>
  JSON.stringify(world, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/**
 * Runs every order of the atomic steps. `check` is called for each refusal when it is made, and for each final state.
 */
function everyOrder(
  { limit, shards = 1, stock, callers, ticks = 0 }: Config,
  check: (world: World, refused?: number) => void,
): number {
  const now = (world: World, i: number) => startMs + world.passedMs + (callers[i]?.clockMs ?? 0);
  const stateOf = (fullAt: bigint): LimitState => ({ ...fullLimit(limit, startMs), fullAt });
  const stocked = (milliThere: bigint) =>
    debtFreeUpTo(limit, startMs) - milliThere * BigInt(shards) * limit.refillPeriodMs;
  const initial = stock === undefined ? undefined : stocked(stock);
  const states = {
    none: undefined,
    full: stateOf(BigInt(startMs) * limit.refillMilli - 1n),
    empty: stateOf(stocked(0n)),
    fresh: initial === undefined ? undefined : stateOf(initial),
  };
  let ends = 0;

  const withCaller = (world: World, i: number, changes: Partial<CallerState>): World => ({
    ...world,
    callers: world.callers.map((old, at) => {
      if (at !== i) return old;
      const { planned: _, ...rest } = old;
      return { ...rest, ...changes };
    }),
  });

  function step(world: World, i: number): World {
    const { does } = callers[i] as Caller;
    const { cached, planned, tries } = world.callers[i] as CallerState;
    const nowMs = now(world, i);
    if (!planned)
      return withCaller(world, i, {
        planned: { step: stepOf(cached ?? untouched(limit, nowMs), does, nowMs, shards), nowMs },
      });
    // Without an item, a caller without a cache creates it. A caller that has cached one fails.
    const after =
      world.fullAt === undefined
        ? cached
          ? undefined
          : (planned.step.set ?? BigInt(planned.nowMs) * limit.refillMilli)
        : written(world.fullAt, planned.step);
    if (after !== undefined) {
      const granted = withCaller(world, i, { verdict: 'granted' });
      return { ...granted, fullAt: after, history: [...world.history, { does, nowMs: planned.nowMs }] };
    }
    const current = world.fullAt === undefined ? undefined : stateOf(world.fullAt);
    const isShort = does.checksCeiling && current !== undefined && !fits(current, does.takeMilli, nowMs, shards);
    const next = withCaller(world, i, {
      cached: current,
      tries: tries + 1,
      ...(isShort ? { verdict: 'refused' as const } : {}),
    });
    if (isShort) check(next, i);
    return next;
  }

  // Equal states have equal continuations, so each state is explored once.
  const explored = new Set<string>();
  function explore(world: World): void {
    const name = shown(world);
    if (explored.has(name)) return;
    explored.add(name);
    let isOver = true;
    world.callers.forEach(({ verdict, tries }, i) => {
      if (verdict) return;
      isOver = false;
      // Each failure is caused by another's success, a millisecond, or a stale cache. So the number of tries is
      // bounded.
      if (tries > callers.length + ticks + 1) throw new Error(`retries without end: ${name}`);
      explore(step(world, i));
    });
    if (isOver) {
      ends++;
      check(world);
    } else if (world.passedMs < ticks) explore({ ...world, passedMs: world.passedMs + 1 });
  }

  explore({
    fullAt: initial,
    passedMs: 0,
    callers: callers.map(({ cache }) => ({ cached: states[cache], tries: 0 })),
    history: [],
  });
  return ends;
}

/** The textbook bucket with the same history, in the order of the store. Undefined if it would not have granted all. */
function replayed({ limit, shards = 1, stock }: Config, history: World['history']): Reference | undefined {
  const reference = new Reference(limit, shards, startMs - 10);
  const burst = new Fraction(limit.burstMilli, BigInt(shards));
  if (stock !== undefined && whole(stock).isBelow(burst)) {
    // The rest of the burst was taken before the start.
    reference.change(-(burst.floor() - stock), startMs);
  }
  for (const { does, nowMs } of history) {
    if (does.checksCeiling && !reference.has(does.takeMilli, nowMs)) return undefined;
    const change = does.returnMilli - does.takeMilli - does.chargeMilli;
    if (change !== 0n) reference.change(change, nowMs);
  }
  return reference;
}

describe('concurrent callers of one bucket, in every order of their steps,', () => {
  const limit = perMinute(10n); // 1 token in 6 s
  const fast = rateSpec(3000n, 1000n, 1n); // a token each millisecond
  const one = (cache: Caller['cache'], tokens = 1n, clockMs = 0): Caller => ({
    does: take(tokens * 1000n),
    cache,
    clockMs,
  });
  const caches: Caller['cache'][] = ['none', 'full', 'empty', 'fresh'];
  const triples = caches.flatMap((a, i) =>
    caches.slice(i).flatMap((b, j) => caches.slice(i + j).map((c) => [a, b, c] as const)),
  );

  /** Checks that the textbook bucket would have granted every grant and refused every refusal. */
  function checkAll(config: Config): { ends: number; outcomes: Set<string> } {
    const outcomes = new Set<string>();
    const ends = everyOrder(config, (world, refused) => {
      const reference = replayed(config, world.history);
      if (!reference) throw new Error(`granted too much: ${shown(world)}`);
      if (refused === undefined) {
        outcomes.add(world.callers.map(({ verdict }) => (verdict === 'granted' ? '+' : '-')).join(''));
        return;
      }
      const { does, clockMs = 0 } = config.callers[refused] as Caller;
      const isBehind = config.callers.some((other) => (other.clockMs ?? 0) > clockMs);
      // A caller whose clock is behind may be refused for as long as it is behind.
      if (!isBehind && reference.has(does.takeMilli, startMs + world.passedMs + clockMs))
        throw new Error(`refused wrongly: ${shown(world)}`);
    });
    return { ends, outcomes };
  }

  it.each(triples)('(caches %s, %s, %s) share the last two tokens: any two of three get one each', (...cached) => {
    const { outcomes } = checkAll({ limit, stock: 2000n, callers: cached.map((cache) => one(cache)) });
    expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
  });

  it.each(triples)(
    '(caches %s, %s, %s) get exactly the three tokens of a full bucket in one millisecond, and no fourth',
    (...cached) => {
      const burst = perMinute(3n);
      const { outcomes } = checkAll({ limit: burst, stock: 3000n, callers: cached.map((cache) => one(cache)) });
      expect([...outcomes]).toEqual(['+++']);
      const more = checkAll({
        limit: burst,
        stock: 3000n,
        callers: cached.map((cache, i) => one(cache, i === 0 ? 2n : 1n)),
      });
      expect([...more.outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    },
  );

  it('create one bucket if there is none, and share it', () => {
    for (const cached of triples) {
      if (cached.includes('fresh')) continue;
      const { outcomes } = checkAll({ limit: perMinute(2n), callers: cached.map((cache) => one(cache)) });
      expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    }
  });

  it('get what refills while they retry, and nothing more', () => {
    for (const cached of triples) {
      const { outcomes } = checkAll({
        limit: fast,
        stock: 1000n,
        ticks: 1,
        callers: cached.map((cache) => one(cache)),
      });
      expect([...outcomes].every((outcome) => outcome.includes('+'))).toBe(true);
      expect([...outcomes].some((outcome) => outcome === '++-')).toBe(true);
      expect(outcomes.has('+++')).toBe(false);
    }
  });

  it.each([
    [-1, 0, 1],
    [-2, -1, 0],
    [0, 0, 5],
    [-5, 5, 5],
  ])(
    '(clocks off by %d, %d and %d ms) never get more than the textbook bucket grants at the latest clock',
    (...clocks) => {
      for (const cached of triples.filter((_, i) => i % 5 === 0)) {
        for (const stock of [0n, 1000n, 3000n]) {
          const callers = cached.map((cache, i) => one(cache, 1n, clocks[i]));
          const config = { limit: fast, stock, callers, ticks: 1 };
          const { ends } = checkAll(config);
          expect(ends).toBeGreaterThan(0);
        }
      }
    },
  );

  it('are refused because of a late clock only for as long as the clock is behind', () => {
    everyOrder({ limit: fast, stock: 1000n, callers: [one('fresh', 1n, 4), one('fresh', 1n, 0)] }, (world, refused) => {
      if (refused === undefined) return;
      const state = { ...fullLimit(fast, startMs), fullAt: world.fullAt as bigint };
      expect(refused).toBe(1);
      expect(retryAfterMs(state, 1000n, startMs, 1)).toBeLessThanOrEqual(4);
    });
  });

  it('can always charge and give back, and the sum is exact', () => {
    const charge: Caller = { does: move({ chargeMilli: 4000n }), cache: 'fresh' };
    const giveBack: Caller = { does: move({ returnMilli: 3000n }), cache: 'fresh' };
    for (const stock of [0n, 1000n, 5000n, 10_000n]) {
      for (const cache of caches) {
        const config = {
          limit,
          stock,
          callers: [charge, { ...giveBack, cache: cache === 'none' ? 'fresh' : cache } as Caller, one(cache)],
        };
        const { outcomes } = checkAll(config);
        expect([...outcomes].every((outcome) => outcome.startsWith('++'))).toBe(true);
        everyOrder(config, (world, refused) => {
          if (refused !== undefined) return;
          const reference = replayed(config, world.history) as Reference;
          const state = { ...fullLimit(limit, startMs), fullAt: world.fullAt as bigint };
          expect(availableMilli(state, startMs, 1)).toBe(reference.balanceAt(startMs).floor());
        });
      }
    }
  });

  it('share one shard of several', () => {
    for (const cached of triples) {
      if (cached.includes('none')) continue;
      const { outcomes } = checkAll({
        limit: perMinute(8n),
        shards: 4,
        stock: 2000n,
        callers: cached.map((cache) => one(cache)),
      });
      expect([...outcomes].sort()).toEqual(['++-', '+-+', '-++']);
    }
  });
});
