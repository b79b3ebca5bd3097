import fc from 'fast-check';
import { epochSeconds, systemClock } from '../../src/lib/clock.js';
import {
  badInput,
  errorCodes,
  GatewayError,
  notFound,
  rateLimited,
  refuseAny,
  unavailable,
} from '../../src/lib/errors.js';
import { EventLoopScheduler } from '../../src/lib/event-loop-scheduler.js';
import { hashSlot, newUuid, randomFraction, randomToken, sha256, ulid } from '../../src/lib/id.js';
import { isWholeWithin } from '../../src/lib/int.js';
import { createLog, redact, redactText, silentLog } from '../../src/lib/log.js';
import { PendingWrites } from '../../src/lib/pending-writes.js';
import { deriveKey, equalInConstantTime, RootKeys, Sealer, TokenMint } from '../../src/lib/seal.js';
import { Semaphore } from '../../src/lib/semaphore.js';
import { isOneLine } from '../../src/lib/text.js';
import { Throttle } from '../../src/lib/throttle.js';
import { endOfTurn, repeat, sleep, within } from '../../src/lib/timers.js';
import { HandClock } from './hand-clock.js';

const anyText = fc.string({ unit: 'grapheme' });
const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('Sealer', () => {
  const sealer = new Sealer(new RootKeys(['a root secret of the deployment'], 'cursors'));

  it('opens what it sealed for the same context, whatever the text', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        (context, payload) => sealer.open(context, sealer.seal(context, payload)) === payload,
      ),
    );
  });

  it('gives text that may stand in a URL', () => {
    fc.assert(fc.property(anyText, (payload) => /^[A-Za-z0-9_-]+$/.test(sealer.seal('c', payload))));
  });

  it('does not open a text edited in any one byte', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.integer({ min: 1, max: 255 }), (payload, where, flip) => {
        const bytes = Buffer.from(sealer.seal('c', payload), 'base64url');
        const at = where % bytes.length;
        bytes[at] = (bytes[at] as number) ^ flip;
        return sealer.open('c', bytes.toString('base64url')) === undefined;
      }),
    );
  });

  it('does not open a text cut short or made longer', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }), (payload, where, more) => {
        const bytes = Buffer.from(sealer.seal('c', payload), 'base64url');
        const cut = bytes.subarray(0, where % bytes.length).toString('base64url');
        return (
          sealer.open('c', cut) === undefined &&
          sealer.open('c', Buffer.concat([bytes, more]).toString('base64url')) === undefined
        );
      }),
    );
  });

  it('does not open for another context, nor where text moves from the context to the payload', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (context, other, payload) => {
        fc.pre(context !== other);
        return sealer.open(other, sealer.seal(context, payload)) === undefined;
      }),
    );
    fc.assert(
      fc.property(anyText, fc.string({ minLength: 1 }), anyText, (context, moved, payload) => {
        const bytes = Buffer.from(sealer.seal(context, moved + payload), 'base64url');
        const forged = Buffer.concat([bytes.subarray(0, 20), Buffer.from(payload)]).toString('base64url');
        return sealer.open(context + moved, forged) === undefined;
      }),
    );
  });

  it('does not open what another key sealed', () => {
    const other = new Sealer(new RootKeys(['another root secret altogether!'], 'cursors'));
    fc.assert(fc.property(anyText, (payload) => sealer.open('c', other.seal('c', payload)) === undefined));
  });

  it('opens what was sealed under any of its roots, and seals under the first', () => {
    const [older, newer] = ['an older root secret of the tests', 'a newer root secret of the tests'];
    const sealers = [[older], [older, newer], [newer, older], [newer]].map(
      (roots) => new Sealer(new RootKeys(roots, 'cursors')),
    );
    const opened = sealers.map((from) => sealers.map((by) => by.open('c', from.seal('c', 'x')) === 'x'));
    expect(opened).toEqual([
      [true, true, true, false],
      [true, true, true, false],
      [false, true, true, true],
      [false, true, true, true],
    ]);
  });

  it('opens only the canonical text: stray characters, padding, the other alphabet and spare bits are refused', () => {
    const stray = fc.constantFrom('=', ' ', '\n', '!', '.', '~', '%', '\u0000', 'é');
    fc.assert(
      fc.property(anyText, fc.nat(), stray, (payload, where, extra) => {
        const sealed = sealer.seal('c', payload);
        const at = where % (sealed.length + 1);
        return sealer.open('c', sealed.slice(0, at) + extra + sealed.slice(at)) === undefined;
      }),
    );
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 22 bytes end in a character with four spare bits, 23 in one with two.
    for (const payload of ['ab', 'abc']) {
      const sealed = sealer.seal('c', payload);
      const last = alphabet.indexOf(sealed.at(-1) as string);
      expect(sealer.open('c', sealed.slice(0, -1) + alphabet[last + 1])).toBeUndefined();
    }
    fc.assert(
      fc.property(anyText, (payload) => {
        const sealed = sealer.seal('c', payload);
        const other = sealed.replaceAll('-', '+').replaceAll('_', '/');
        return other === sealed || sealer.open('c', other) === undefined;
      }),
    );
  });

  it('answers junk with undefined and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (junk) => sealer.open('c', junk) === undefined));
    expect(sealer.open('c', '')).toBeUndefined();
  });
});

describe('TokenMint', () => {
  const mint = new TokenMint('tgt_', new RootKeys(['a root secret of the deployment'], 'tokens'));

  it('makes tokens of 43 characters that it knows, each another', () => {
    const tokens = Array.from({ length: 200 }, () => mint.make());
    expect(new Set(tokens).size).toBe(200);
    for (const token of tokens)
      expect([/^tgt_[A-Za-z0-9_-]{43}$/.test(token), mint.isGenuine(token)]).toEqual([true, true]);
  });

  it('makes the same token of the same bytes', () => {
    const bytes = Buffer.alloc(24, 7);
    expect(mint.make(bytes)).toBe(mint.make(bytes));
  });

  it('knows none that was edited, made up, made for another purpose or under another root', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    fc.assert(
      fc.property(fc.nat({ max: 42 }), fc.constantFrom(...alphabet), (at, character) => {
        const token = mint.make();
        fc.pre(token[4 + at] !== character);
        return !mint.isGenuine(token.slice(0, 4 + at) + character + token.slice(5 + at));
      }),
    );
    fc.assert(fc.property(anyText, (text) => !mint.isGenuine(text) && !mint.isGenuine(`tgt_${text}`)));
    for (const other of [
      new RootKeys(['a root secret of the deployment'], 'others'),
      new RootKeys(['another root secret altogether!'], 'tokens'),
    ])
      expect(mint.isGenuine(new TokenMint('tgt_', other).make())).toBe(false);
    expect(mint.isGenuine(`${mint.make()}\n`)).toBe(false);
  });
});

describe('PendingWrites', () => {
  it('runs a bounded number at once, drops what comes on top, and waits for all of them', async () => {
    let [running, done, dropped] = [0, 0, 0];
    const pending = new PendingWrites(3, silentLog, () => dropped++);
    const write = async () => {
      running++;
      await sleep(5);
      running--;
      done++;
    };
    expect(Array.from({ length: 5 }, () => pending.start(write))).toEqual([true, true, true, false, false]);
    await pending.flush();
    expect({ running, done, dropped }).toEqual({ running: 0, done: 3, dropped: 2 });
    expect(pending.start(write)).toBe(true);
    await pending.flush();
  });

  it('logs a write that fails, and goes on', async () => {
    const warnings: unknown[] = [];
    const pending = new PendingWrites(
      1,
      { ...silentLog, warn: (line: unknown) => void warnings.push(line) },
      () => undefined,
    );
    pending.start(() => Promise.reject(new Error('lost')));
    await pending.flush();
    expect(warnings).toEqual([{ err: new Error('lost') }]);
  });
});

describe('deriveKey', () => {
  it('gives another key for another purpose and for another root, and the same for the same', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (root, purpose, other) => {
        fc.pre(purpose !== other && root !== '');
        const key = deriveKey(root, purpose);
        return (
          key.length === 32 &&
          key.equals(deriveKey(root, purpose)) &&
          !key.equals(deriveKey(root, other)) &&
          !key.equals(deriveKey(`${root}x`, purpose))
        );
      }),
    );
  });
});

describe('equalInConstantTime', () => {
  it('is equality, also for texts of different length', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        (a, b) =>
          equalInConstantTime(a, a) && equalInConstantTime(a, b) === (a === b) && !equalInConstantTime(a, `${a}x`),
      ),
    );
  });
});

describe('Throttle', () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.integer({ min: 0, max: 2000 }), takes: fc.integer({ min: 1, max: 20 }) }),
    { maxLength: 40 },
  );

  it('never admits more than the burst and what has come back since', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        steps,
        (burst, perSecond, plan) => {
          const clock = new HandClock();
          const startMs = clock.nowMs();
          const throttle = new Throttle(clock, burst, perSecond);
          let admitted = 0;
          for (const { waitMs, takes } of plan) {
            clock.advance(waitMs);
            for (let i = 0; i < takes; i++) if (throttle.take('k') === 0) admitted++;
            if (admitted > burst + ((clock.nowMs() - startMs) * perSecond) / 1000 + 1e-6) return false;
          }
          return true;
        },
      ),
    );
  });

  it('admits the whole burst at once, and again after a pause, but saves up no more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100 }), (burst, perSecond) => {
        const clock = new HandClock();
        const throttle = new Throttle(clock, burst, perSecond);
        const takeAll = () => Array.from({ length: burst + 1 }, () => throttle.take('k') === 0);
        const wholeBurst = [...Array<boolean>(burst).fill(true), false];
        expect(takeAll()).toEqual(wholeBurst);
        clock.advance(3_600_000);
        expect(takeAll()).toEqual(wholeBurst);
      }),
    );
  });

  it('admits when the wait it told of is over, and not half a wait before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 5000 }),
        (burst, perSecond, spentMs) => {
          const clock = new HandClock();
          const throttle = new Throttle(clock, burst, perSecond);
          const drain = (): number => {
            for (;;) {
              const waitMs = throttle.take('k');
              if (waitMs > 0) return waitMs;
            }
          };
          drain();
          clock.advance(spentMs);
          const waitMs = drain();
          expect(waitMs).toBeLessThanOrEqual(1000 / perSecond + 1e-6);
          clock.advance(waitMs / 2);
          expect(throttle.take('k')).toBeGreaterThan(0);
          // A microsecond for the rounding of binary fractions.
          clock.advance(waitMs / 2 + 0.001);
          expect(throttle.take('k')).toBe(0);
        },
      ),
    );
  });

  it('counts each key for itself and forgets the least used beyond its bound', () => {
    const throttle = new Throttle(new HandClock(), 1, 1, 2);
    expect(throttle.take('a')).toBe(0);
    expect(throttle.take('b')).toBe(0);
    expect(throttle.take('a')).toBeGreaterThan(0);
    expect(throttle.take('c')).toBe(0);
    expect(throttle.take('a')).toBeGreaterThan(0);
    expect(throttle.take('b')).toBe(0);
  });
});

describe('Semaphore', () => {
  const refusal = () => new Error('full');

  it('runs never more than its slots at once, in order of arrival, and all that were let in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 20 }),
        async (slots, tasks) => {
          const semaphore = new Semaphore(slots, tasks.length, refusal);
          const started: number[] = [];
          const running: (() => void)[] = [];
          let most = 0;
          const all = tasks.map(([fails], i) =>
            semaphore.run(async () => {
              started.push(i);
              await new Promise<void>((resolve) => {
                running.push(resolve);
                most = Math.max(most, running.length);
              });
              if (fails) throw new Error(`task ${i}`);
              return i;
            }),
          );
          const outcomes = Promise.allSettled(all);
          for (const [, pick] of tasks) {
            running.splice(pick % running.length, 1)[0]?.();
            await new Promise(setImmediate);
          }
          expect((await outcomes).map(({ status }) => status)).toEqual(
            tasks.map(([fails]) => (fails ? 'rejected' : 'fulfilled')),
          );
          expect(started).toEqual(tasks.map((_, i) => i));
          expect(most).toBe(Math.min(slots, tasks.length));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('refuses at once what comes beyond its queue, and takes it again when one has left', async () => {
    const semaphore = new Semaphore(1, 1, refusal);
    let finish = () => {};
    const first = semaphore.run(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const second = semaphore.run(async () => 'second');
    await expect(semaphore.run(async () => 'third')).rejects.toThrow('full');
    finish();
    await first;
    expect(await second).toBe('second');
    expect(await semaphore.run(async () => 'fourth')).toBe('fourth');
  });

  it('hands the slot on when a task throws before its first await', async () => {
    const semaphore = new Semaphore(1, 0, refusal);
    const throwing = () => {
      throw new Error('at once');
    };
    await expect(semaphore.run(throwing)).rejects.toThrow('at once');
    expect(await semaphore.run(async () => 1)).toBe(1);
  });
});

describe('ids', () => {
  const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 });

  it('makes ULIDs of 26 characters that sort by their millisecond', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        const [first, second] = [ulid(a), ulid(b)];
        expect(first).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        return a === b ? first.slice(0, 10) === second.slice(0, 10) : a < b === first < second;
      }),
    );
  });

  it('makes ULIDs that tell their millisecond', () => {
    fc.assert(
      fc.property(
        instant,
        (ms) =>
          [...ulid(ms).slice(0, 10)].reduce((sum, c) => sum * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(c), 0) ===
          ms,
      ),
    );
  });

  it('makes no ULID, UUID or token twice', () => {
    const many = Array.from({ length: 10_000 });
    expect(new Set(many.map(() => ulid(1_700_000_000_000))).size).toBe(many.length);
    expect(new Set(many.map(newUuid)).size).toBe(many.length);
    expect(new Set(many.map(() => randomToken(16))).size).toBe(many.length);
  });

  it('makes URL-safe tokens: 32 bytes are 43 characters', () => {
    for (let i = 0; i < 100; i++) expect(randomToken(32)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('hashes to 43 characters fit for a key', () => {
    fc.assert(
      fc.property(anyText, (text) => /^[A-Za-z0-9_-]{43}$/.test(sha256(text)) && sha256(text) !== sha256(`${text}x`)),
    );
  });

  it('puts a text into one bucket of so many, always the same, and fills all of them', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 64 }), (text, count) =>
        isWholeWithin(hashSlot(text, count), 0, count - 1),
      ),
    );
    expect(new Set(Array.from({ length: 500 }, (_, i) => hashSlot(`org ${i}`, 16))).size).toBe(16);
    // Stored items lie by it: another answer would lose them.
    expect([hashSlot('', 16), hashSlot('00000000-0000-4000-8000-000000000000', 16), hashSlot('acme', 1000)]).toEqual([
      2, 0, 357,
    ]);
  });

  it('gives fractions from 0 up to 1', () => {
    for (let i = 0; i < 1000; i++) expect(isWholeWithin(Math.floor(randomFraction() * 10), 0, 9)).toBe(true);
  });
});

describe('isOneLine', () => {
  it.each(['', 'a', 'Ünïcode', '株式会社', 'חברה', '👩‍👩‍👧', 'a\u00a0b'])('accepts %j', (text) => {
    expect(isOneLine(text)).toBe(true);
  });

  it.each([
    '\u0000',
    'a\nb',
    '\u007f',
    '\u0085',
    '\u061c',
    '\u200e',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\ud800',
  ])('refuses %j', (text) => {
    expect(isOneLine(`a${text}b`)).toBe(false);
  });
});

describe('isWholeWithin', () => {
  it.each([
    [0, true],
    [10, true],
    [-0, true],
    [-1, false],
    [11, false],
    [0.5, false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
  ])('says of %p, from 0 to 10: %p', (value, fits) => {
    expect(isWholeWithin(value, 0, 10)).toBe(fits);
  });

  it('takes no whole number past those that are exact', () => {
    expect(isWholeWithin(2 ** 53, 0, Number.MAX_VALUE)).toBe(false);
    expect(isWholeWithin(2 ** 53 - 1, 0, Number.MAX_VALUE)).toBe(true);
  });
});

describe('clock', () => {
  it('rounds seconds down, so that nothing begins before its time', () => {
    expect([0, 999, 1000, 1999].map(epochSeconds)).toEqual([0, 0, 1, 1]);
  });

  it('tells the wall clock and one that never steps back', () => {
    expect(Math.abs(systemClock.nowMs() - Date.now())).toBeLessThan(1000);
    const before = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before);
  });
});

const body = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
const secret = fc.oneof(
  body.map((text) => ({ text: `tgs_${text}`, body: text })),
  body.map((text) => ({ text: `tgr_${text}`, body: text })),
  body.map((text) => ({ text: `tgt_${text}`, body: text })),
  fc.stringMatching(/^[0-9a-f]{32}_[0-9a-f]{64}$/).map((text) => ({ text: `tgk_${text}`, body: text.slice(33) })),
  fc
    .tuple(body, body, body)
    .map(([header, payload, signature]) => ({ text: `eyJ${header}.eyJ${payload}.${signature}`, body: signature })),
);
const separator = fc.constantFrom('', ' ', '"', "'", '=', ': ', '/', '?token=', '(', '\n', 'Bearer ', '{"a":"', ',');

describe('redact', () => {
  const logged = (value: unknown): string => JSON.stringify(redact(value)) ?? '';

  it('leaves no secret in a text, known by its prefix alone', () => {
    fc.assert(
      fc.property(
        fc.lorem(),
        separator,
        secret,
        separator,
        fc.lorem(),
        (before, open, { text, body }, close, after) => {
          const shown = redactText(`${before}${open.length > 0 ? open : ' '}${text}${close}${after}`);
          return !shown.includes(body) && shown.startsWith(before);
        },
      ),
    );
  });

  it('leaves no secret in a text whatever stands right before it', () => {
    const glued = fc.constantFrom('x', '9', '_', '%20', '%3D', '%22', String.raw`\n`, String.raw`\u0022`, 'key_');
    fc.assert(fc.property(glued, secret, (before, { text, body }) => !redactText(`${before}${text}`).includes(body)));
  });

  it('leaves no secret at any depth, in lists, objects, errors, stacks and causes', () => {
    const wraps = fc.constantFrom<(inner: unknown) => unknown>(
      (inner) => [1, inner],
      (inner) => ({ note: inner, n: 1n }),
      (inner) => new Error(String(inner instanceof Error ? inner.message : inner), { cause: inner }),
      (inner) => new GatewayError('NOT_FOUND', 'x', { note: inner }, { cause: inner }),
    );
    fc.assert(
      fc.property(secret, fc.array(wraps, { maxLength: 10 }), ({ text, body }, wrapping) => {
        const value = wrapping.reduce<unknown>((inner, wrap) => wrap(inner), `Bearer ${text}`);
        return !logged(value).includes(body);
      }),
    );
  });

  it('leaves no secret that is itself the name of a field', () => {
    fc.assert(fc.property(secret, ({ text, body }) => !logged({ byClient: { [text]: 1 } }).includes(body)));
  });

  it.each([
    'clientSecret',
    'client_secret',
    'SECRET',
    'accessToken',
    'refresh_token',
    'password',
    'authorization',
    'Authorization',
    'x-api-key',
    'apiKey',
    'X-Admin-Key',
    'adminKey',
    'API_KEY',
    'TOLLGATE_ADMIN_KEY',
    'API_KEY_PEPPER',
    'client_secret_hash',
    'cookie',
    'Set-Cookie',
  ])('hides whatever stands in a field called %s', (name) => {
    for (const value of ['plain text', 42, ['a'], { nested: 'plain text' }]) {
      expect(redact({ deep: [{ [name]: value }] })).toEqual({ deep: [{ [name]: '[redacted]' }] });
    }
  });

  it('leaves everything else as it is', () => {
    const line = {
      operation: 'submitCost',
      ms: 1.5,
      ok: true,
      none: null,
      list: ['tgs_', 'a.b.c', 'eyes'],
      org: 'org-1',
      nested: { label: 'premium' },
    };
    expect(redact(line)).toEqual(line);
    expect(redact({ units: 12n })).toEqual({ units: '12' });
  });

  it('ends on what holds itself', () => {
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    expect(logged(loop)).toContain('[deep]');
    const error = new Error('round');
    error.cause = error;
    expect(logged(error)).toContain('[deep]');
  });

  it('does not change what it is given', () => {
    const line = { token: 'tgs_0123456789', list: [{ secret: 1 }] };
    redact(line);
    expect(line).toEqual({ token: 'tgs_0123456789', list: [{ secret: 1 }] });
  });
});

describe('createLog', () => {
  const text = `tgs_${'k'.repeat(43)}`;
  const lines = (act: (log: ReturnType<typeof createLog>) => void): string => {
    let written = '';
    const write = (line: string) => {
      written += line;
    };
    act(createLog('info', { write }));
    return written;
  };

  it('writes one JSON object a line, with level and time, and nothing below its level', () => {
    const written = lines((log) => {
      log.debug('hidden');
      log.info({ operation: 'me' }, 'served');
    });
    expect(JSON.parse(written)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      operation: 'me',
      msg: 'served',
    });
  });

  it.each<[string, (log: ReturnType<typeof createLog>) => void]>([
    ['a message', (log) => log.info(`got ${text}`)],
    ['a field', (log) => log.info({ clientSecret: 'whatever', note: text }, 'x')],
    ['a placeholder', (log) => log.info('got %s', text)],
    ['an object in a placeholder', (log) => log.info('got %o', { note: text })],
    ['an error beside a message', (log) => log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed')],
    ['an error without a message', (log) => log.error({ err: new Error(text) })],
    ['an error alone', (log) => log.error(new Error(text))],
  ])('lets no secret out by way of %s', (_, act) => {
    const written = lines(act);
    expect(written).toContain('[redacted]');
    expect(written).not.toContain(text);
  });
});

describe('errors', () => {
  it('names every issue, in the message and in the extensions', () => {
    const issue = fc.record({ path: fc.string(), message: fc.string() });
    fc.assert(
      fc.property(fc.array(issue, { minLength: 1, maxLength: 10 }), (issues) => {
        for (const error of [badInput(...issues), thrownBy(() => refuseAny(issues)) as GatewayError]) {
          expect(error).toBeInstanceOf(GatewayError);
          expect(error.extensions).toEqual({ code: 'BAD_USER_INPUT', issues });
          for (const { path, message } of issues) expect(error.message).toContain(`${path}: ${message}`);
        }
      }),
    );
  });

  it('refuses nothing where there is no issue', () => {
    expect(() => refuseAny([])).not.toThrow();
  });

  it('keeps its code whatever the details say, and its cause', () => {
    const cause = new Error('below');
    for (const code of errorCodes) {
      const error = new GatewayError(code, 'm', { code: 'OTHER', extra: 1 }, { cause });
      expect(error.extensions).toEqual({ code, extra: 1 });
      expect(error.cause).toBe(cause);
    }
    expect(unavailable('later', cause)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      extensions: { retryable: true },
      cause,
    });
    expect(notFound('org')).toMatchObject({ code: 'NOT_FOUND', message: 'org not found' });
  });

  it.each([
    [0.1, 1],
    [1000, 1],
    [1000.1, 2],
    [59_999, 60],
  ])('tells a wait of %p ms as %p whole seconds, never too few', (ms, secs) => {
    const policy = { name: 'requests', quota: 10, windowSecs: 1 };
    expect(rateLimited('slow down', ms, policy).extensions).toEqual({
      code: 'RATE_LIMITED',
      retryAfterSecs: secs,
      policy,
    });
  });
});

describe('within', () => {
  const never = new Promise<string>(() => {});

  it("gives the promise's own outcome when that comes first", async () => {
    expect(await within(10_000, Promise.resolve('own'), () => 'late')).toBe('own');
    await expect(within(10_000, Promise.reject(new Error('own fault')), () => 'late')).rejects.toThrow('own fault');
  });

  it('asks what to do once the time is over, and passes on what that throws', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
    const give = async (): Promise<string> => {
      throw new Error('too late');
    };
    await expect(within(1, never, give)).rejects.toThrow('too late');
  });

  it('does not mistake a value for lateness, nor let a rejection after the end go astray', async () => {
    expect(await within(10_000, Promise.resolve('late'), () => 'timed out')).toBe('late');
    let reject: (error: Error) => void = () => {};
    const slow = new Promise<string>((_, no) => {
      reject = no;
    });
    expect(await within(1, slow, () => 'late')).toBe('late');
    reject(new Error('nobody listens'));
    await new Promise(setImmediate);
  });
});

describe('repeat', () => {
  it('runs again and again, never twice at once, and tells of every error', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    let atOnce = 0;
    let most = 0;
    await new Promise<void>((resolve) => {
      const loop = repeat(
        1,
        async () => {
          most = Math.max(most, ++atOnce);
          await new Promise((done) => setTimeout(done, 3));
          atOnce--;
          if (++runs === 5) void loop.stop().then(resolve);
          throw new Error(`run ${runs}`);
        },
        (error) => errors.push(error),
      );
    });
    expect(most).toBe(1);
    expect(errors.map(String)).toEqual([1, 2, 3, 4, 5].map((n) => `Error: run ${n}`));
  });

  it('waits in stop for the run under way, and begins none after it', async () => {
    let runs = 0;
    let finished = 0;
    let begun = () => {};
    const firstBegins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const loop = repeat(
      1,
      async () => {
        runs++;
        begun();
        await new Promise((done) => setTimeout(done, 5));
        finished++;
      },
      () => {},
    );
    await firstBegins;
    await loop.stop();
    expect(finished).toBe(1);
    await new Promise((done) => setTimeout(done, 10));
    expect(runs).toBe(1);
  });

  it('never runs when it is stopped before its first time', async () => {
    let runs = 0;
    await repeat(
      1,
      async () => {
        runs++;
      },
      () => {},
    ).stop();
    await new Promise((done) => setTimeout(done, 5));
    expect(runs).toBe(0);
  });
});

describe('EventLoopScheduler', () => {
  let nowMs = 0;
  const newScheduler = () => new EventLoopScheduler({ monotonicMs: () => nowMs });

  it('lets go on at once while the turn of the event loop is young', () => {
    const scheduler = newScheduler();
    expect([scheduler.turn('fresh'), scheduler.turn('begun'), scheduler.turn('fresh')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('gives everyone else a turn of the event loop every few milliseconds, and keeps the order', async () => {
    const scheduler = newScheduler();
    const order: number[] = [];
    scheduler.turn('fresh');
    nowMs += 100; // the slice is over
    const all = Array.from({ length: 40 }, (_, i) =>
      scheduler.turn('fresh')?.then(() => {
        order.push(i);
        nowMs += 1;
      }),
    );
    const done: number[] = [];
    while (order.length < 40) {
      await endOfTurn();
      done.push(order.length);
    }
    await Promise.all(all);
    expect(order).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(done.length).toBeGreaterThanOrEqual(5);
    expect(done[1]).toBeGreaterThan(0);
  });

  it('lets what has begun go on first, and something new start in every slice', async () => {
    const scheduler = newScheduler();
    const order: string[] = [];
    scheduler.turn('fresh');
    nowMs += 100;
    const all = (['fresh', 'begun', 'fresh', 'begun'] as const).map((which, i) =>
      scheduler.turn(which)?.then(() => order.push(`${which} ${i}`)),
    );
    await Promise.all(all);
    expect(order).toEqual(['fresh 0', 'begun 1', 'begun 3', 'fresh 2']);
    await endOfTurn();
    expect(scheduler.turn('fresh')).toBeUndefined();
  });
});
