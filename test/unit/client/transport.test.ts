import { inspect } from 'node:util';
import {
  BadInput,
  IdempotencyConflict,
  LeaseExpired,
  RateLimited,
  Tollgate,
  TollgateError,
  type TollgateOptions,
  Unauthenticated,
  Unavailable,
  VersionConflict,
} from '@tollgate/client';
import { backoffMs } from '../../../client/src/clock.js';
import { virtualTime } from '../../support/virtual-time.js';

type Reply = Response | Error;

const ok = (data: object = { me: {} }): Response => Response.json({ data });
const failed = (code: string, more: object = {}, status = 200): Response =>
  Response.json(
    { errors: [{ message: `this is ${code}`, extensions: { code, requestId: 'r1', ...more } }] },
    { status },
  );
const lost = (code?: string): Error => Object.assign(new TypeError('fetch failed'), { cause: { code } });

/** A client whose requests get these replies, the last one again and again. */
function clientWith(
  replies: readonly (Reply | ((headers: Headers) => Reply))[],
  options: Partial<TollgateOptions> = {},
) {
  const time = virtualTime();
  const sent: { readonly body: string; readonly headers: Headers }[] = [];
  const send: typeof fetch = async (_, init) => {
    const headers = new Headers(init?.headers);
    const reply = replies[Math.min(sent.length, replies.length - 1)];
    sent.push({ body: String(init?.body), headers });
    const response = typeof reply === 'function' ? reply(headers) : reply;
    if (response instanceof Error || !response) throw response;
    return response.clone();
  };
  const tollgate = new Tollgate({
    url: 'http://tollgate.test/graphql',
    clock: time.clock,
    fetch: time.fetch(send),
    ...options,
  });
  return { tollgate, sent, time };
}

const query = '{ me { kind } }';
const mutation = 'mutation { deleteApp(appId: "a") }';
const errorOf = (work: Promise<unknown>): Promise<TollgateError> =>
  work.then(
    () => Promise.reject(new Error('succeeded')),
    (error: TollgateError) => error,
  );

describe('a request', () => {
  it.each([
    ['RATE_LIMITED', RateLimited, true],
    ['IDEMPOTENCY_CONFLICT', IdempotencyConflict, false],
    ['VERSION_CONFLICT', VersionConflict, false],
    ['LEASE_EXPIRED', LeaseExpired, false],
    ['SERVICE_UNAVAILABLE', Unavailable, true],
    ['BAD_USER_INPUT', BadInput, false],
    ['UNAUTHENTICATED', Unauthenticated, false],
    ['NOT_FOUND', TollgateError, false],
  ])('that fails with %s throws its class, with the id of the request', async (code, type, retryable) => {
    const { tollgate, time } = clientWith([failed(code, { issues: [{ path: 'a', message: 'b' }], currentVersion: 7 })]);
    const error = await errorOf(time.run(tollgate.query(query)));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code, requestId: 'r1', retryable, message: `this is ${code}`, name: type.name });
    if (error instanceof BadInput) expect(error.issues).toEqual([{ path: 'a', message: 'b' }]);
    if (error instanceof VersionConflict) expect(error.currentVersion).toBe(7);
  });

  it('is repeated with full jitter, each bound twice the last, until the retries are used up', async () => {
    const { tollgate, sent, time } = clientWith([failed('SERVICE_UNAVAILABLE')], { retries: 4 });
    expect(await errorOf(time.run(tollgate.query(query)))).toBeInstanceOf(Unavailable);
    expect(sent).toHaveLength(5);
    expect(time.slept).toHaveLength(4);
    time.slept.forEach((ms, i) => {
      expect(ms).toBeLessThanOrEqual(100 * 2 ** i);
    });
    expect([0, 3, 40].map((attempt) => backoffMs(attempt, 1))).toEqual([100, 800, 5000]);
  });

  it('waits at least as long as the gateway says, and leaves long waits to the caller', async () => {
    const { tollgate, time } = clientWith([failed('RATE_LIMITED', { retryAfterSecs: 7 }, 429), ok()]);
    await time.run(tollgate.query(query));
    expect(time.slept).toEqual([expect.any(Number)]);
    expect(time.slept[0]).toBeGreaterThanOrEqual(7000);
    expect(time.slept[0]).toBeLessThanOrEqual(7100);
    const long = clientWith([failed('RATE_LIMITED', { retryAfterSecs: 3600 }, 429)]);
    expect(await errorOf(long.time.run(long.tollgate.query(query)))).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(long.sent).toHaveLength(1);
  });

  it.each<[string, Reply, number]>([
    ['a lost response', lost('ECONNRESET'), 1],
    ['no reason', lost(), 1],
    ['an unknown outcome', failed('SERVICE_UNAVAILABLE', { retryable: true }), 1],
    ['an error page of a proxy', new Response('<html>', { status: 502 }), 1],
    ['a refused connection', lost('ECONNREFUSED'), 5],
    ['an overloaded gateway', failed('SERVICE_UNAVAILABLE', { retryable: true, retryAfterSecs: 1 }), 5],
    ['too many requests', failed('RATE_LIMITED', { retryAfterSecs: 1 }, 429), 5],
  ])('that is not idempotent is repeated only if it was surely not executed: %s', async (_, reply, attempts) => {
    const { tollgate, sent, time } = clientWith([reply]);
    await errorOf(time.run(tollgate.query(mutation)));
    expect(sent).toHaveLength(attempts);
    const repeatable = clientWith([reply]);
    await errorOf(repeatable.time.run(repeatable.tollgate.query(mutation, {}, { isIdempotent: true })));
    expect(repeatable.sent).toHaveLength(5);
  });

  it('ends at once on abort, with the reason, also while it waits for the next attempt', async () => {
    const { tollgate, sent, time } = clientWith([failed('RATE_LIMITED', { retryAfterSecs: 20 }, 429)]);
    const abort = new AbortController();
    const work = errorOf(tollgate.query(query, {}, { signal: abort.signal }));
    await time.pass(10_000);
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await work).toBe(reason);
    expect(sent).toHaveLength(1);
  });

  it('that gets no response in time is unavailable', async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const tollgate = new Tollgate({ url: 'http://tollgate.test/', fetch: silent, timeoutMs: 20, retries: 0 });
    expect(await errorOf(tollgate.query(query))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'no response in time',
    });
  });

  it('tells the hooks of each attempt and wait, and ignores what they throw', async () => {
    const events: unknown[] = [];
    const hooks = {
      request: (event: object) => {
        events.push(event);
        throw new Error('a broken hook');
      },
      retry: (event: object) => events.push(event),
    };
    const { tollgate, time } = clientWith([failed('SERVICE_UNAVAILABLE'), ok()], { hooks });
    await time.run(tollgate.query('query Kind { me { kind } }'));
    const error = expect.any(Unavailable);
    expect(events).toEqual([
      { operation: 'Kind', attempt: 1, ms: 0, error },
      { operation: 'Kind', attempt: 1, delayMs: expect.any(Number), error },
      { operation: 'Kind', attempt: 2, ms: 0 },
    ]);
  });
});

describe('a login', () => {
  const credentials = { clientId: 'app-1', clientSecret: 'tgs_very-secret' };
  /** A gateway that gives out token-1, token-2, … and accepts those that `isValid` does. */
  function withLogins(isValid: (token: string) => boolean, options: Partial<TollgateOptions> = {}) {
    let logins = 0;
    const client = clientWith([(headers) => reply(headers)], { credentials, ...options });
    function reply(headers: Headers): Response {
      const token = headers.get('authorization')?.replace('Bearer ', '');
      if (token === undefined) return ok({ issueToken: { accessToken: `token-${++logins}`, expiresInSecs: 100 } });
      return isValid(token) ? ok() : failed('UNAUTHENTICATED', {}, 401);
    }
    return { ...client, logins: () => logins };
  }

  it('is made once for requests at the same time, and again at 80 % of its life without a wait', async () => {
    const { tollgate, time, logins, sent } = withLogins(() => true);
    await time.run(Promise.all([1, 2, 3].map(() => tollgate.query(query))));
    expect(logins()).toBe(1);
    await time.pass(79_000);
    await time.run(tollgate.query(query));
    expect(logins()).toBe(1);
    await time.pass(2_000);
    await time.run(tollgate.query(query));
    expect(sent.at(-2)?.headers.get('authorization') ?? sent.at(-1)?.headers.get('authorization')).toBe(
      'Bearer token-1',
    );
    await time.pass(1);
    await time.run(tollgate.query(query));
    expect(sent.at(-1)?.headers.get('authorization')).toBe('Bearer token-2');
    expect(logins()).toBe(2);
  });

  it('is repeated once after a 401, and then the error is thrown', async () => {
    const revoked = withLogins((token) => token !== 'token-1');
    await revoked.time.run(Promise.all([1, 2, 3].map(() => revoked.tollgate.query(query))));
    expect(revoked.logins()).toBe(2);
    const refused = withLogins(() => false);
    expect(await errorOf(refused.time.run(refused.tollgate.query(query)))).toBeInstanceOf(Unauthenticated);
    expect(refused.logins()).toBe(2);
  });

  it('may be that of the caller, who learns which token was refused', async () => {
    const asked: (string | undefined)[] = [];
    const token = (rejected?: string) => {
      asked.push(rejected);
      return rejected === undefined ? 'old' : 'new';
    };
    const { tollgate, time } = withLogins((each) => each === 'new', { credentials: { token } });
    await time.run(tollgate.query(query));
    expect(asked).toEqual([undefined, 'old']);
  });

  it.each([
    ['apiKey', 'x-api-key'],
    ['adminKey', 'x-admin-key'],
  ])('is not needed with %s', async (kind, header) => {
    const { tollgate, time, sent } = clientWith([ok()], { credentials: { [kind]: 'k' } as never });
    await time.run(tollgate.query(query));
    expect(sent[0]?.headers.get(header)).toBe('k');
  });

  it.each<[string, TollgateOptions['credentials']]>([
    ['clientSecret', { clientId: 'a', clientSecret: 'tgs_very-secret\n' }],
    ['token', { token: () => 'tgs_very-secret\n' }],
    ['apiKey', { apiKey: 'tgs_very-secret\n' }],
    ['adminKey', { adminKey: 'tgs_very-secret\n' }],
  ])('leaves no secret in errors, hooks or inspections: %s', async (_, secret) => {
    const seen: unknown[] = [];
    const hooks = { request: (event: object) => seen.push(event), retry: (event: object) => seen.push(event) };
    // The real fetch refuses such a header with an error that quotes it.
    const tollgate = new Tollgate({ url: 'http://127.0.0.1:9/', credentials: secret as never, hooks, retries: 0 });
    const error = await errorOf(tollgate.query(query));
    const all = inspect([tollgate, tollgate.spend, error, seen], { depth: 20, showHidden: true });
    expect(all).toContain('SERVICE_UNAVAILABLE');
    expect(all + JSON.stringify([tollgate, error, seen])).not.toContain('very-secret');
  });

  it('takes no credentials in the url', () => {
    expect(() => new Tollgate({ url: 'http://me:tgs_very-secret@tollgate.test/' })).toThrow(/^url: contains/);
  });
});
