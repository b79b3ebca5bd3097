import { randomUUID } from 'node:crypto';
import {
  BadInput,
  type CostReceipt,
  IdempotencyConflict,
  memoryOutbox,
  type Outbox,
  type OutboxEntry,
  QuotaExceeded,
  RateLimited,
  Unavailable,
} from '@tollgate/client';
import { TestTollgate, type TestTollgateOptions } from '@tollgate/client/testing';
import { virtualTime } from '../../support/virtual-time.js';

function start(options: TestTollgateOptions = {}) {
  const time = virtualTime();
  const server = new TestTollgate({ clock: time.clock, ...options });
  return { time, server, tollgate: server.tollgate };
}

/** A durable outbox whose entries outlive the client, as a disk does. */
function disk(): Outbox & { readonly entries: Map<string, OutboxEntry>; readonly dead: OutboxEntry[] } {
  const entries = new Map<string, OutboxEntry>();
  const dead: OutboxEntry[] = [];
  return {
    entries,
    dead,
    isDurable: true,
    open: async () => [...entries.values()],
    put: async (entry) => void entries.set(entry.id, structuredClone(entry)),
    remove: async (id) => void entries.delete(id),
    bury: async (entry) => {
      entries.delete(entry.id);
      dead.push(entry);
    },
    close: async () => undefined,
  };
}

const estimate = { inputTokens: 100, maxOutputTokens: 50 };
const usage = { inputTokens: 90, outputTokens: 10 };

describe('meter', () => {
  it('gives the model that has room, records the usage, and returns the value', async () => {
    const models = [
      { label: 'premium', quotaUsdMicros: 100 },
      { label: 'standard', modelId: 'model-2' },
    ];
    const { server, time, tollgate } = start({ models });
    const requestId = randomUUID();
    const request = { requestId, estimate, dimensions: { team: 'red' } };
    const value = await time.run(
      tollgate.spend.meter(request, async ({ label, modelId }) => ({ value: { label, modelId }, usage })),
    );
    expect(value).toEqual({ label: 'standard', modelId: 'model-2' });
    expect(server.costs).toEqual([
      {
        requestId,
        label: 'standard',
        ...usage,
        components: {},
        costUsdMicros: 100,
        status: 'OK',
        estimated: false,
        dimensions: { team: 'red' },
      },
    ]);
    expect(server.openCalls).toBe(0);
  });

  it('throws before the call is made if no quota has room', async () => {
    const { server, time, tollgate } = start({ models: [{ label: 'premium', quotaUsdMicros: 100 }] });
    const call = async () => Promise.reject(new Error('was called'));
    const error = await time.run(tollgate.spend.meter({ estimate }, call).catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(QuotaExceeded);
    expect(error).toMatchObject({
      resetsAt: new Date('2027-01-02T00:00:00.000Z'),
      binding: { kind: 'QUOTA', name: 'premium', missing: 50, wouldPass: 100 },
      message: 'the quota "premium" lacks 50 micro-dollars; 100 would pass',
    });
    expect(server.costs).toEqual([]);
  });

  it('takes rate limits with the admission and adjusts them with the settlement', async () => {
    const limits = { 'gpt-4': [{ name: 'tpm', capacity: 200 }] };
    const { server, time, tollgate } = start({ limits });
    const taken = { entityId: 'ana', resource: 'gpt-4', consume: { tpm: 150 } };
    const adjust = [{ ...taken, consume: { tpm: 100 } }];
    const call = async () => {
      expect(server.available('ana', 'gpt-4')).toEqual({ tpm: 50 });
      return { value: 1, usage, adjust };
    };
    await time.run(tollgate.spend.meter({ estimate, limits: [taken] }, call));
    expect(server.available('ana', 'gpt-4')).toEqual({ tpm: 100 });
    const refused = tollgate.spend.meter({ estimate, limits: [taken] }, call).catch((error: unknown) => error);
    const error = await time.run(refused);
    expect(error).toBeInstanceOf(RateLimited);
    expect(error).toMatchObject({ retryAfterMs: 15_000, binding: { kind: 'LIMIT', name: 'tpm' } });
  });

  it.each<[string, (report: (usage: object) => void) => void, object]>([
    ['the estimated input if nothing is known', () => undefined, { inputTokens: 100, outputTokens: 0 }],
    [
      'what was reported',
      (report) => report({ inputTokens: 90, outputTokens: 7 }),
      { inputTokens: 90, outputTokens: 7 },
    ],
    ['nothing if it was not sent', (report) => report({}), { inputTokens: 0, outputTokens: 0 }],
  ])('settles a call that fails as estimated: %s', async (_, tell, expected) => {
    const { server, time, tollgate } = start();
    const failure = new Error('the stream was aborted');
    const call = tollgate.spend.meter({ estimate }, async ({ report }) => {
      tell(report);
      throw failure;
    });
    await expect(time.run(call)).rejects.toBe(failure);
    expect(server.costs).toEqual([expect.objectContaining({ ...expected, status: 'ERROR', estimated: true })]);
  });

  it('settles after the signal of the caller was aborted', async () => {
    const { server, time, tollgate } = start();
    const abort = new AbortController();
    const call = tollgate.spend.meter({ estimate, signal: abort.signal }, async ({ signal, report }) => {
      report({ inputTokens: 100, outputTokens: 3 });
      abort.abort(new Error('the user left'));
      signal?.throwIfAborted();
      return { value: 1, usage };
    });
    await expect(time.run(call)).rejects.toThrow('the user left');
    expect(server.costs).toEqual([expect.objectContaining({ outputTokens: 3, estimated: true })]);
  });

  it('makes no call, and gives the admission back, if the signal is aborted before', async () => {
    const { server, time, tollgate } = start({ models: [{ label: 'test', quotaUsdMicros: 1000 }] });
    const abort = new AbortController();
    let calls = 0;
    const call = async () => ({ value: calls++, usage });
    const metered = tollgate.spend.meter({ estimate, signal: abort.signal }, call).catch((error: unknown) => error);
    abort.abort(new Error('the user left'));
    expect(await time.run(metered)).toMatchObject({ message: 'the user left' });
    await time.pass(1000);
    expect([calls, server.openCalls, server.costs.map(({ costUsdMicros }) => costUsdMicros)]).toEqual([0, 0, [0]]);
  });

  it('renews the admission while the call runs', async () => {
    const renewed: string[] = [];
    const operations = {
      RenewAdmission: ({ admissionId }: { readonly admissionId?: unknown }) => {
        renewed.push(String(admissionId));
        return { renewAdmission: {} };
      },
    };
    const { time, tollgate } = start({ operations });
    const call = async () => {
      await time.clock.sleep(130_000);
      return { value: 1, usage };
    };
    await time.run(tollgate.spend.meter({ estimate, ttlSecs: 100 }, call));
    await time.pass(500_000);
    expect(renewed).toHaveLength(2);
  });

  it('gives the admission back if the call cannot be stored', async () => {
    const full = { ...memoryOutbox(), put: () => Promise.reject(new Error('the disk is full')) };
    const { server, time, tollgate } = start({ outbox: full, models: [{ label: 'test', quotaUsdMicros: 1000 }] });
    await expect(time.run(tollgate.spend.admit({ estimate }))).rejects.toThrow('the disk is full');
    await time.pass(0);
    expect([server.openCalls, server.costs.map(({ costUsdMicros }) => costUsdMicros)]).toEqual([0, [0]]);
  });

  it('refuses a request id whose cost is not acknowledged yet', async () => {
    const { time, tollgate } = start();
    const requestId = randomUUID();
    const first = await time.run(tollgate.spend.admit({ requestId, estimate }));
    const second = time.run(tollgate.spend.admit({ requestId, estimate }));
    await expect(second).rejects.toBeInstanceOf(BadInput);
    await time.run(first.settle(usage));
    await first.settle({ inputTokens: 5 });
  });
});

describe('while Tollgate is unavailable', () => {
  const call = async ({ modelId }: { readonly modelId: string }) => ({ value: modelId, usage });

  it('a metered call throws, or goes on with the last model or the one that the caller names', async () => {
    const strict = start();
    strict.server.goDown();
    await expect(strict.time.run(strict.tollgate.spend.meter({ estimate }, call))).rejects.toBeInstanceOf(Unavailable);

    const lenient = start({ onUnavailable: 'allow', models: [{ label: 'a', modelId: 'model-a' }] });
    lenient.server.goDown();
    await expect(lenient.time.run(lenient.tollgate.spend.meter({ estimate }, call))).rejects.toBeInstanceOf(
      Unavailable,
    );
    lenient.server.goDown(0);
    await lenient.time.run(lenient.tollgate.spend.meter({ estimate }, call));
    lenient.server.goDown();
    expect(await lenient.time.run(lenient.tollgate.spend.meter({ estimate }, call))).toBe('model-a');
    lenient.server.goDown(0);
    await lenient.time.run(lenient.tollgate.flush());
    expect(lenient.server.costs.map(({ label }) => label)).toEqual(['a', 'a']);

    const named = start({ onUnavailable: () => ({ label: 'test', modelId: 'model-b' }) });
    named.server.goDown(5);
    expect(await named.time.run(named.tollgate.spend.meter({ estimate }, call))).toBe('model-b');
    await named.time.run(named.tollgate.flush());
    expect(named.server.costs).toHaveLength(1);
  });

  it('costs wait in the outbox, and are sent when it is back', async () => {
    const { server, time, tollgate } = start();
    const open = await time.run(tollgate.spend.admit({ estimate }));
    server.goDown();
    await time.run(open.settle(usage));
    await time.pass(600_000);
    expect(server.costs).toEqual([]);
    server.goDown(0);
    await time.run(tollgate.flush());
    expect(server.costs).toHaveLength(1);
  });

  it('no call is made once the outbox is full', async () => {
    const { server, time, tollgate } = start({ outbox: memoryOutbox({ max: 2 }), onUnavailable: 'allow' });
    await time.run(tollgate.spend.meter({ estimate }, call));
    server.goDown();
    const results = await time.run(
      Promise.all([1, 2, 3].map(() => tollgate.spend.meter({ estimate }, call).catch((error) => error.code))),
    );
    expect(results).toEqual(['test', 'test', 'OUTBOX_FULL']);
    server.goDown(0);
    await time.run(tollgate.flush());
  });
});

describe('the outbox', () => {
  it('has the call before it is made, and its usage before it is settled', async () => {
    const outbox = disk();
    const { time, tollgate } = start({ outbox });
    const states: unknown[] = [];
    const see = () => states.push([...outbox.entries.values()].map(({ isRunning, mutation }) => [isRunning, mutation]));
    const call = async () => {
      see();
      return { value: 1, usage };
    };
    await tollgate.spend.meter({ estimate }, call);
    see();
    const input = (tokens: object) => ({ kind: 'settle', input: expect.objectContaining(tokens) });
    expect(states).toEqual([
      [[true, input({ inputTokens: 100, outputTokens: 50, estimated: true })]],
      [[undefined, input(usage)]],
    ]);
    await time.run(tollgate.flush());
    expect(outbox.entries.size).toBe(0);
  });

  it('is sent again after a restart: once, exactly if the usage is known, else as estimated', async () => {
    const outbox = disk();
    const before = start({ outbox });
    const [known, unknown] = await before.time.run(
      Promise.all([1, 2].map(() => before.tollgate.spend.admit({ estimate }))),
    );
    before.server.goDown();
    await before.time.run(known?.settle(usage) ?? Promise.resolve());
    expect(unknown?.admissionId).toBeDefined();
    // The settlement of the first one is applied, and its response is lost, before the process is killed.
    const operations = {
      Settle: ({ input }: Readonly<Record<string, unknown>>) => {
        settled.push(input as object);
        return { settle: { requestId: 'r' } };
      },
    };
    const settled: object[] = [];
    const after = start({ outbox, operations });
    await after.time.run(after.tollgate.open());
    await after.time.run(after.tollgate.flush());
    expect(settled).toEqual([
      expect.objectContaining({ admissionId: known?.admissionId, ...usage }),
      expect.objectContaining({
        admissionId: unknown?.admissionId,
        inputTokens: 100,
        outputTokens: 50,
        estimated: true,
      }),
    ]);
    expect(outbox.entries.size).toBe(0);
  });

  it('keeps an entry for 24 hours, then it is a dead letter; one that is refused for good is one at once', async () => {
    const outbox = disk();
    const dead: string[] = [];
    const { server, time, tollgate } = start({
      retries: 0,
      outbox,
      hooks: { dead: ({ error }) => dead.push(error.code) },
    });
    const [late, refused] = await time.run(Promise.all([1, 2].map(() => tollgate.spend.admit({ estimate }))));
    server.goDown();
    await late?.settle(usage);
    await time.pass(23 * 3_600_000);
    expect(outbox.entries.size).toBe(2);
    await time.pass(3_700_000);
    expect([outbox.dead.map(({ id }) => id), dead]).toEqual([[late?.requestId], ['OUTBOX_EXPIRED']]);
    server.goDown(0);
    const old = { kind: 'submit', input: { modelLabel: 'test' } } as const;
    outbox.entries.set('old', { id: 'old', startedAtMs: time.clock.nowMs() - 24 * 3_600_000, mutation: old });
    outbox.entries.set('gone', {
      id: 'gone',
      startedAtMs: time.clock.nowMs(),
      mutation: { kind: 'cancel', admissionId: 'no such admission' },
    });
    const next = start({ outbox, hooks: { dead: ({ error }) => dead.push(error.code) } });
    await next.time.pass(time.clock.nowMs() - next.time.clock.nowMs());
    outbox.entries.delete(refused?.requestId ?? '');
    await next.time.run(next.tollgate.open());
    await next.time.run(next.tollgate.flush());
    expect([outbox.dead.length, dead.slice(1).toSorted()]).toEqual([3, ['NOT_FOUND', 'OUTBOX_EXPIRED']]);
    expect(next.server.costs).toEqual([]);
  });

  it('is closed without a wait for a Tollgate that is down, and keeps its entries', async () => {
    const outbox = disk();
    const { server, time, tollgate } = start({ outbox });
    const open = await time.run(tollgate.spend.admit({ estimate }));
    server.goDown();
    await open.settle(usage);
    await time.run(tollgate.close({ waitMs: 1000 }));
    expect(outbox.entries.size).toBe(1);
  });
});

describe('submit', () => {
  it('gathers costs into requests of 100, with an outcome each', async () => {
    const batches: number[] = [];
    const { server, time, tollgate } = start({ hooks: { request: ({ operation }) => batches.push(operation.length) } });
    const twice = randomUUID();
    const results = await time.run(
      Promise.all(
        Array.from({ length: 250 }, (_, i) =>
          tollgate.spend
            .submit({ modelLabel: i === 7 ? 'unknown' : 'test', ...(i === 9 && { requestId: twice }), inputTokens: i })
            .catch((error: unknown) => error),
        ),
      ),
    );
    expect(batches).toHaveLength(3);
    expect(results[7]).toBeInstanceOf(BadInput);
    expect((results[8] as CostReceipt).costUsdMicros).toBe(8);
    expect(server.costs).toHaveLength(249);
    const again = time.run(tollgate.spend.submit({ modelLabel: 'test', requestId: twice, inputTokens: 1 }));
    await expect(again).rejects.toBeInstanceOf(IdempotencyConflict);
  });

  it('fails while Tollgate is unavailable, and the cost is still counted later, once', async () => {
    const { server, time, tollgate } = start();
    server.goDown(5);
    await expect(time.run(tollgate.spend.submit({ modelLabel: 'test', inputTokens: 3 }))).rejects.toThrow(Unavailable);
    await time.run(tollgate.flush());
    expect(server.costs).toHaveLength(1);
  });
});

it('selects the model to use now', async () => {
  const { time, tollgate } = start({ models: [{ label: 'a', modelId: 'model-a' }] });
  expect(await time.run(tollgate.spend.select())).toMatchObject({ allowed: true, bedrockModelId: 'model-a' });
  expect(await time.run(tollgate.spend.select({ appId: 'chat' }))).toMatchObject({ label: 'a' });
});
