import { randomUUID } from 'node:crypto';
import {
  acquire,
  app,
  bucketOf,
  consumption,
  countLeases,
  dayMs,
  granted,
  inputOf,
  left,
  newPlace,
  other,
  refused,
  release,
  rpm,
  startGateways,
  stopGateways,
} from '../support/acquire.js';
import * as op from '../support/operations.js';

beforeAll(startGateways);
afterAll(stopGateways);

describe('acquire with a request id', () => {
  it('returns the first lease on a retry and takes nothing more', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const first = await granted(place, { rpm: 4 }, { requestId });
    expect(first).toMatchObject({ replayed: false, statuses: [{ requested: 4, available: 6 }] });
    app.clock.advance(10);
    for (const on of [app, other]) {
      const again = await granted(place, { rpm: 4 }, { requestId }, on);
      expect(again).toMatchObject({
        leaseId: first.leaseId,
        replayed: true,
        expiresAt: first.expiresAt,
        statuses: [{ requested: 4, available: 6 }],
      });
    }
    expect(await bucketOf(place)).toMatchObject({ limits: [{ available: 6, totalConsumed: 4 }] });
  });

  it('treats the same amounts in another order, and the id in another case, as the same request', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 1, tpm: 2 }, { requestId });
    expect(await granted(place, { tpm: 2, rpm: 1 }, { requestId: requestId.toUpperCase() })).toMatchObject({
      leaseId,
      replayed: true,
    });
  });

  it('takes once if it is sent many times concurrently through two gateways', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const leases = await Promise.all(
      Array.from({ length: 20 }, (_, i) => granted(place, { rpm: 3 }, { requestId }, i % 2 ? app : other)),
    );
    expect(new Set(leases.map(({ leaseId }) => leaseId)).size).toBe(1);
    expect(leases.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await left(place)).toBe(7);
  });

  it('fails with a conflict and takes nothing if the input differs', async () => {
    const place = await newPlace([rpm(10), rpm(10, { name: 'tpm' })]);
    const requestId = randomUUID();
    await granted(place, { rpm: 4 }, { requestId });
    const others = [
      inputOf(place, { rpm: 5 }, { requestId }),
      inputOf(place, { rpm: 4, tpm: 1 }, { requestId }),
      inputOf(place, { tpm: 4 }, { requestId }),
      inputOf({ ...place, entityId: 'user-2' }, { rpm: 4 }, { requestId }),
      inputOf({ ...place, resource: 'web' }, { rpm: 4 }, { requestId }),
      inputOf(place, { rpm: 4 }, { requestId, limits: [rpm(11)] }),
    ];
    for (const input of others) {
      const { errors } = await app.admin.send(op.AcquireDocument, { input });
      expect(errors?.[0]).toMatchObject({
        message: `requestId ${requestId} was already used with a different acquire input`,
        extensions: { code: 'IDEMPOTENCY_CONFLICT' },
      });
    }
    expect(await left(place)).toBe(6);
    expect(await bucketOf({ ...place, entityId: 'user-2' })).toBeNull();
    expect(await bucketOf({ ...place, resource: 'web' })).toBeNull();
  });

  it('is independent of the same request id in another org', async () => {
    const requestId = randomUUID();
    const first = await granted(await newPlace(), { rpm: 4 }, { requestId });
    const second = await granted(await newPlace(), { rpm: 1 }, { requestId });
    expect(second.replayed).toBe(false);
    expect(second.leaseId).not.toBe(first.leaseId);
  });

  it('returns the lease on a retry even if the bucket is empty or in debt by then', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    const { leaseId: rest } = await granted(place, { rpm: 6 });
    await refused(place, { rpm: 4 });
    for (const on of [app, other])
      expect(await granted(place, { rpm: 4 }, { requestId }, on)).toMatchObject({ leaseId, replayed: true });
    await app.admin.ask(op.AdjustLeaseDocument, {
      input: { leaseId: rest, adjust: consumption({ rpm: 3 }), idempotencyKey: randomUUID() },
    });
    for (const on of [app, other])
      expect(await granted(place, { rpm: 4 }, { requestId }, on)).toMatchObject({ leaseId, replayed: true });
  });

  it('can be granted later if it was refused', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 10 });
    expect(await refused(place, { rpm: 1 }, { requestId })).toMatchObject({
      retryAfterSecs: 6,
      statuses: [{ requested: 1, available: 0 }],
    });
    await release(leaseId);
    expect((await granted(place, { rpm: 1 }, { requestId })).replayed).toBe(false);
    expect((await granted(place, { rpm: 1 }, { requestId })).replayed).toBe(true);
  });

  it('fails with LEASE_EXPIRED on a retry after its lease was released', async () => {
    const place = await newPlace();
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    await release(leaseId);
    for (const on of [app, other])
      expect(await on.admin.codeOf(op.AcquireDocument, { input: inputOf(place, { rpm: 4 }, { requestId }) })).toBe(
        'LEASE_EXPIRED',
      );
    expect(await left(place)).toBe(10);
  });

  it('is a new request after 24 hours and not a millisecond earlier', async () => {
    const place = await newPlace([rpm(10, { refillAmount: 1, refillPeriodSecs: 1_000_000 })]);
    const requestId = randomUUID();
    const { leaseId } = await granted(place, { rpm: 4 }, { requestId });
    app.clock.advance(dayMs - 1);
    expect(await granted(place, { rpm: 4 }, { requestId })).toMatchObject({ leaseId, replayed: true });
    app.clock.advance(1);
    const next = await granted(place, { rpm: 4 }, { requestId });
    expect(next.replayed).toBe(false);
    expect(next.leaseId).not.toBe(leaseId);
    expect(await left(place)).toBe(2);
  });

  it('takes exactly what fits for forty concurrent requests', async () => {
    const place = await newPlace([rpm(25)]);
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        acquire(place, { rpm: 1 }, { requestId: randomUUID() }, i % 2 ? app : other),
      ),
    );
    expect(countLeases(results)).toBe(25);
    expect(await left(place)).toBe(0);
  });
});
