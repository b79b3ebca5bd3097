import fc from 'fast-check';
import { GatewayError } from '../../../src/lib/errors.js';
import { createLog, redact, redactText } from '../../../src/lib/log.js';

const body = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
const secret = fc.oneof(
  body.map((text) => ({ text: `tgs_${text}`, body: text })),
  body.map((text) => ({ text: `tgr_${text}`, body: text })),
  body.map((text) => ({ text: `tgt_${text}`, body: text })),
  body.map((text) => ({ text: `tgc_${text}`, body: text })),
  body.map((text) => ({ text: `tgl_${text}`, body: text })),
  fc.stringMatching(/^[0-9a-f]{32}_[0-9a-f]{64}$/).map((text) => ({ text: `tgk_${text}`, body: text.slice(33) })),
  fc
    .tuple(body, body, body)
    .map(([header, payload, signature]) => ({ text: `eyJ${header}.eyJ${payload}.${signature}`, body: signature })),
);
const separator = fc.constantFrom('', ' ', '"', "'", '=', ': ', '/', '?token=', '(', '\n', 'Bearer ', '{"a":"', ',');

describe('redact', () => {
  const logged = (value: unknown): string => JSON.stringify(redact(value)) ?? '';

  it('removes a secret from a text by its prefix', () => {
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

  it('removes a secret from a text whatever precedes it', () => {
    const glued = fc.constantFrom('x', '9', '_', '%20', '%3D', '%22', String.raw`\n`, String.raw`\u0022`, 'key_');
    fc.assert(fc.property(glued, secret, (before, { text, body }) => !redactText(`${before}${text}`).includes(body)));
  });

  it('removes a secret at any depth in lists, objects, errors, stacks and causes', () => {
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

  it('removes a secret that is the name of a field', () => {
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
  ])('hides the value of a field called %s', (name) => {
    for (const value of ['plain text', 42, ['a'], { nested: 'plain text' }]) {
      expect(redact({ deep: [{ [name]: value }] })).toEqual({ deep: [{ [name]: '[redacted]' }] });
    }
  });

  it('leaves everything else unchanged', () => {
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

  it('terminates on circular values', () => {
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    expect(logged(loop)).toContain('[deep]');
    const error = new Error('round');
    error.cause = error;
    expect(logged(error)).toContain('[deep]');
  });

  it('does not modify its argument', () => {
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

  it('writes one JSON object per line, with level and time, and nothing below its level', () => {
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
  ])('writes no secret from %s', (_, act) => {
    const written = lines(act);
    expect(written).toContain('[redacted]');
    expect(written).not.toContain(text);
  });
});
