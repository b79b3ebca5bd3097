import { BadInput, RateLimited, Unavailable } from '@tollgate/client';
import { TestTollgate, type TestTollgateOptions } from '@tollgate/client/testing';
import { virtualTime } from '../../support/virtual-time.js';

const resource = 'gpt-4';
const tpm = [{ name: 'tpm', capacity: 60, burst: 10 }];

function start(options: TestTollgateOptions = {}) {
  const time = virtualTime();
  const sent: string[] = [];
  const hooks = { request: ({ operation }: { readonly operation: string }) => sent.push(operation), ...options.hooks };
  const server = new TestTollgate({ clock: time.clock, limits: { [resource]: tpm }, ...options, hooks });
  return { time, server, sent, limits: server.tollgate.limits };
}

const take = (amount: number, more: object = {}) => ({ entityId: 'ana', resource, consume: { tpm: amount }, ...more });
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

describe('acquire', () => {
  it('throws a refusal with the time to wait', async () => {
    const { limits, time } = start();
    await time.run(limits.acquire(take(8)));
    const error = await time.run(thrownBy(limits.acquire(take(5))));
    expect(error).toBeInstanceOf(RateLimited);
    expect(error).toMatchObject({ retryAfterMs: 3000, violations: [{ limit: { name: 'tpm' }, available: 2 }] });
  });

  it('waits for tokens in order of arrival, also behind a larger request', async () => {
    const { limits, time } = start();
    await time.run(limits.acquire(take(10)));
    const order: number[] = [];
    const waiting = [9, 1, 5, 1].map(async (amount, i) => {
      await limits.acquire(take(amount, { waitMs: 60_000 }));
      order.push(i);
    });
    await time.run(Promise.all(waiting));
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('asks for the next in line at the same time while the bucket has tokens for them, and only then', async () => {
    const { limits, sent, time } = start();
    const amounts = [1, 2, 3, 9, 1];
    const order: number[] = [];
    const waiting = amounts.map(async (amount) => {
      await limits.acquire(take(amount, { waitMs: 60_000 }));
      order.push(amount);
    });
    await time.pass(0);
    // 1, 2 and 3 are granted. 9 is refused and holds up the last one, which would fit.
    expect([order, sent.length]).toEqual([[1, 2, 3], 4]);
    await time.run(Promise.all(waiting));
    expect(order).toEqual(amounts);
  });

  it('fails at once if the tokens come after `waitMs`, and if they can never come', async () => {
    const { limits, time } = start();
    await time.run(limits.acquire(take(10)));
    expect(await time.run(thrownBy(limits.acquire(take(9, { waitMs: 5_000 }))))).toBeInstanceOf(RateLimited);
    expect(await time.run(thrownBy(limits.acquire(take(11, { waitMs: 5_000 }))))).toBeInstanceOf(BadInput);
    expect(time.slept).toEqual([]);
  });

  it('fails when `waitMs` has passed in line', async () => {
    const { limits, sent, time } = start();
    await time.run(limits.acquire(take(10)));
    const first = limits.acquire(take(10, { waitMs: 60_000 }));
    const second = thrownBy(limits.acquire(take(1, { waitMs: 5_000 })));
    expect(await time.run(second)).toMatchObject({ code: 'RATE_LIMITED' });
    await time.run(first);
    expect(sent).toEqual(['Acquire', 'Acquire', 'Acquire']);
  });

  it('ends at once on abort, and those behind move up', async () => {
    const { limits, time } = start();
    await time.run(limits.acquire(take(10)));
    const abort = new AbortController();
    const ended: string[] = [];
    const head = thrownBy(limits.acquire(take(10, { waitMs: 60_000, signal: abort.signal }))).then(() =>
      ended.push('head'),
    );
    const inLine = thrownBy(limits.acquire(take(10, { waitMs: 60_000, signal: abort.signal }))).then(() =>
      ended.push('in line'),
    );
    const last = limits.acquire(take(3, { waitMs: 60_000 })).then(() => ended.push('last'));
    await time.pass(100);
    const beforeMs = time.clock.nowMs();
    abort.abort();
    await Promise.all([head, inLine]);
    expect([ended.toSorted(), time.clock.nowMs() - beforeMs]).toEqual([['head', 'in line'], 0]);
    await time.run(last);
    expect(time.clock.nowMs() - beforeMs).toBeLessThan(4_000);
  });

  it('gives back a lease that is granted after the abort', async () => {
    const { limits, server, time } = start();
    const abort = new AbortController();
    const work = thrownBy(limits.acquire(take(10, { signal: abort.signal })));
    abort.abort();
    await time.run(work);
    await time.pass(0);
    expect(server.available('ana', resource)).toEqual({ tpm: 10 });
  });

  it('is repeated only if it was surely not sent, or exact', async () => {
    const drops = { Acquire: () => Promise.reject(new TypeError('fetch failed')) as never };
    const plain = start({ operations: drops });
    expect(await plain.time.run(thrownBy(plain.limits.acquire(take(1))))).toBeInstanceOf(Unavailable);
    expect(plain.sent).toHaveLength(1);
    const exact = start({ operations: drops });
    expect(await exact.time.run(thrownBy(exact.limits.acquire(take(1, { exact: true }))))).toBeInstanceOf(Unavailable);
    expect(exact.sent).toHaveLength(5);
    const unsent = start();
    unsent.server.goDown(2);
    await unsent.time.run(unsent.limits.acquire(take(1)));
    expect(unsent.sent).toHaveLength(3);
  });

  it('is let through without tokens while Tollgate is unavailable, if the caller says so', async () => {
    const { limits, server, time } = start({ onUnavailable: 'allow' });
    server.goDown();
    const lease = await time.run(limits.acquire(take(5)));
    expect(lease).toMatchObject({ degraded: true, leaseId: '' });
    await time.run(lease.release());
  });
});

describe('withLease', () => {
  it('adjusts to the actual amounts, and keeps what was taken without them', async () => {
    const { limits, server, time } = start();
    const result = await time.run(
      limits.withLease(take(8), async (lease) => {
        lease.actual({ tpm: 3 });
        return 'done';
      }),
    );
    expect([result, server.available('ana', resource)]).toEqual(['done', { tpm: 7 }]);
    await time.run(limits.withLease(take(2), async () => undefined));
    expect(server.available('ana', resource)).toEqual({ tpm: 5 });
    await time.run(limits.withLease(take(1), async (lease) => lease.actual({ tpm: 9 })));
    expect(server.available('ana', resource)).toEqual({ tpm: -4 });
  });

  it('gives everything back if the work throws', async () => {
    const { limits, server, time } = start();
    const failure = new Error('no');
    expect(await time.run(thrownBy(limits.withLease(take(8), () => Promise.reject(failure))))).toBe(failure);
    expect(server.available('ana', resource)).toEqual({ tpm: 10 });
  });

  it('returns the result even if the lease cannot be adjusted, and reports it', async () => {
    const failed: string[] = [];
    const { limits, server, time } = start({ hooks: { failed: ({ operation }) => failed.push(operation) } });
    const work = limits.withLease(take(8), async (lease) => {
      lease.actual({ tpm: 1 });
      server.goDown();
      return 'done';
    });
    expect([await time.run(work), failed]).toEqual(['done', ['AdjustLease']]);
  });

  it('renews and frees the slots of concurrency limits, and charges the tokens taken with them', async () => {
    const slow = { name: 'tpm', capacity: 10, refillAmount: 1, refillPeriodSecs: 10_000_000 };
    const both = [slow, { name: 'parallel', capacity: 1, kind: 'CONCURRENCY' as const }];
    const { limits, sent, server, time } = start({ limits: { [resource]: both } });
    const request = { ...take(4), consume: { tpm: 4, parallel: 1 }, ttlSecs: 60 };
    await time.run(
      limits.withLease(request, async () => {
        expect(server.available('ana', resource)).toEqual({ tpm: 6, parallel: 0 });
        await time.clock.sleep(100_000);
      }),
    );
    expect(sent.filter((operation) => operation === 'RenewLease')).toHaveLength(3);
    expect(server.available('ana', resource)).toEqual({ tpm: 6, parallel: 1 });
  });
});
