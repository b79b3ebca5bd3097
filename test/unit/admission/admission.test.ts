import { admitHashOf, limitBinding } from '../../../src/admission/admission-input.js';
import { estimateOf } from '../../../src/admission/estimate.js';
import { type MoneyBound, mildest, refusalOf } from '../../../src/admission/money-decision.js';
import { maxWaitingPerScope, WaitingLine } from '../../../src/admission/waiting-line.js';
import { systemClock } from '../../../src/lib/clock.js';
import { GatewayError } from '../../../src/lib/errors.js';
import type { LimitStatus } from '../../../src/limits/status.js';
import { tokenEntries } from '../../../src/spend/catalog/price.js';

describe('estimateOf', () => {
  const entries = [...tokenEntries(3_000_000, 15_000_000), { name: 'cacheRead', usdMicrosPer1M: 300_000, above: 0 }];

  it('is the larger of the figure and the price of all tokens, at least 1', () => {
    expect(estimateOf({ inputTokens: 100, maxOutputTokens: 100 }, entries)).toMatchObject({ amountUsdMicros: 1800 });
    expect(estimateOf({ inputTokens: 100, costUsdMicros: 299 }, entries)).toMatchObject({ amountUsdMicros: 300 });
    expect(estimateOf({ inputTokens: 100, costUsdMicros: 301 }, entries)).toMatchObject({ amountUsdMicros: 301 });
    expect(estimateOf({}, entries)).toEqual({ amountUsdMicros: 1 });
  });

  it('knows the price of the input, components included', () => {
    const components = [{ name: 'cacheRead', quantity: 1000 }];
    const estimate = estimateOf({ inputTokens: 100, maxOutputTokens: 5, components }, entries);
    expect(estimate).toMatchObject({ input: { tokens: 100, costUsdMicros: 600 }, amountUsdMicros: 675 });
    expect(estimateOf({ maxOutputTokens: 5 }, entries)).not.toHaveProperty('input');
  });

  it('needs a price or a figure', () => {
    const components = [{ name: 'image', quantity: 1 }];
    const refused = estimateOf({ components }, entries);
    expect(refused instanceof GatewayError && refused.message).toMatch(
      /^input\.estimate\.components\.0\.name: image has/,
    );
    expect(estimateOf({ components, costUsdMicros: 7 }, entries)).toEqual({ amountUsdMicros: 7 });
    const tokens = estimateOf({ maxOutputTokens: 1 }, []);
    expect(tokens instanceof GatewayError && tokens.message).toMatch(/^input\.estimate\.maxOutputTokens: output has/);
    expect(estimateOf({ maxOutputTokens: 1e12 }, entries)).toBeInstanceOf(GatewayError);
  });
});

describe('a refusal', () => {
  const bound = (name: string, limitUsdMicros: number): MoneyBound => ({
    name,
    kind: name === 'q' ? 'QUOTA' : 'BUDGET',
    title: `title of ${name}`,
    limitUsdMicros,
    endsAtMs: 5,
  });
  const image = (held: number) => ({ held, swept: -1, slots: new Map() });

  it('names the tightest bound', () => {
    const images = new Map([
      ['q', image(50)],
      ['b', image(980)],
    ]);
    const call = { label: 'l', amount: 60, pct: 100 };
    expect(refusalOf(call, [bound('q', 100), bound('b', 1000)], images)).toEqual({
      binding: { kind: 'BUDGET', name: 'title of b', label: 'l', missing: 40, wouldPass: 20 },
      retryAtMs: 5,
    });
    expect(refusalOf({ ...call, amount: 101 }, [bound('q', 100)], images)).not.toHaveProperty('retryAtMs');
    expect(refusalOf({ ...call, amount: 31, pct: 30 }, [bound('q', 100)], new Map())).toMatchObject({
      binding: { wouldPass: 30, missing: 1 },
    });
    expect(refusalOf(call, [], images)).toBeUndefined();
  });

  it('of several labels is the one that allows most, then the first', () => {
    const of = (label: string, wouldPass: number) => ({
      binding: { kind: 'QUOTA' as const, name: label, label, missing: 1, wouldPass },
    });
    expect(mildest([of('a', 1), of('b', 3), of('c', 3)])?.binding.name).toBe('b');
    expect(mildest([])).toBeUndefined();
  });

  it('of limits is the one with the longest wait', () => {
    const status = (name: string, available: number, retryAfterSecs: number) =>
      ({ limit: { name }, entityId: 'e', requested: 10, available, retryAfterSecs }) as LimitStatus;
    const violations = [status('a', 2, 1), status('b', -5, 3)];
    expect(limitBinding({ violations } as never)).toEqual({
      kind: 'LIMIT',
      name: 'b',
      entityId: 'e',
      missing: 10,
      wouldPass: 0,
    });
  });
});

it('tells a retry of admit from another call, whatever it waits', () => {
  const request = { requestId: 'r', estimate: { costUsdMicros: 5 }, ttlSecs: 120, waitMs: 0 };
  expect(admitHashOf('app', { ...request, waitMs: 4000 })).toBe(admitHashOf('app', request));
  const others = [{ ttlSecs: 60 }, { estimate: { inputTokens: 5 } }, { labels: ['a'] }];
  const hashes = others.map((other) => admitHashOf('app', { ...request, ...other }));
  expect(new Set([...hashes, admitHashOf('app', request), admitHashOf('bpp', request)]).size).toBe(5);
});

describe('a waiting line', () => {
  const patience = { waitMs: 60_000, isGone: () => false };

  it('lets only the first call of a scope try, in order of arrival', async () => {
    const line = new WaitingLine(systemClock);
    const order: number[] = [];
    let isOpen = false;
    const wait = (i: number) =>
      line.wait(
        'scope',
        patience,
        async () => {
          if (isOpen) order.push(i);
          return isOpen;
        },
        (isDone) => isDone,
      );
    const all = [0, 1, 2, 3].map(wait);
    expect([line.isBusy('scope'), line.isBusy('other')]).toEqual([true, false]);
    isOpen = true;
    line.wake();
    await Promise.all(all);
    expect(order).toEqual([0, 1, 2, 3]);
    expect(line.isBusy('scope')).toBe(false);
  });

  it('ends with the last result when the time is over or the caller has left', async () => {
    const line = new WaitingLine(systemClock);
    const never = () => false;
    expect(await line.wait('a', { waitMs: 20, isGone: () => false }, async () => 'denied', never)).toBe('denied');
    expect(await line.wait('a', { waitMs: 60_000, isGone: () => true }, async () => 'denied', never)).toBe('denied');
  });

  it('is bounded: further calls do not wait', async () => {
    const line = new WaitingLine(systemClock);
    let isOpen = false;
    const waiting = Array.from({ length: maxWaitingPerScope }, () =>
      line.wait('a', patience, async () => isOpen, Boolean),
    );
    expect(await line.wait('a', patience, async () => isOpen, Boolean)).toBe(false);
    isOpen = true;
    line.wake();
    expect(await Promise.all(waiting)).toEqual(Array(maxWaitingPerScope).fill(true));
  });
});
