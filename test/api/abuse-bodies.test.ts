import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sleep } from '../../src/lib/timers.js';
import {
  bodyOf,
  codesIn,
  dataIn,
  openSocket,
  post,
  type Reply,
  repeated,
  testAbuse,
  typename,
  world,
} from '../support/abuse.js';
import { adminKey } from '../support/app.js';
import { asAdmin, bearer, endless } from '../support/live-transports.js';
import { head, Wire } from '../support/wire.js';

testAbuse();

describe('a body', () => {
  it('gets 413 and loses its connection if it has no end', async () => {
    const wire = await Wire.open();
    wire.write(head('transfer-encoding: chunked'));
    for (let i = 0; !wire.closed && i < 2000; i++) {
      wire.write(`4000\r\n${' '.repeat(0x4000)}\r\n`);
      await sleep(1);
    }
    expect(wire.closed).toBe(true);
    expect(wire.received).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ['gzip', gzipSync(typename)],
    ['gzip, of much more than the maximum size', gzipSync(Buffer.alloc(10_000_000, ' '))],
    ['br', Buffer.from(typename)],
    ['deflate', Buffer.from('00ff00ff', 'hex')],
  ])('gets 415 if it is compressed: %s', async (encoding, bytes) => {
    const reply = await post(new Uint8Array(bytes), { 'content-encoding': encoding.split(',')[0] as string });
    expect([reply.status, codesIn(reply)]).toEqual([415, ['BAD_USER_INPUT']]);
  });

  it('is accepted with content-encoding identity', async () => {
    expect((await post(typename, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  it.each([
    ['a stray byte in a string', Buffer.from('{"query":"{ __typename } # \xff"}', 'latin1')],
    [
      'a Latin-1 character in a variable',
      Buffer.from('{"query":"{ __typename }","variables":{"name":"caf\xe9"}}', 'latin1'),
    ],
    ['an overlong sequence', Buffer.from('{"query":"{ __typename } # \xc0\xaf"}', 'latin1')],
    ['an encoded surrogate', Buffer.from('{"query":"{ __typename } # \xed\xa0\x80"}', 'latin1')],
    ['a truncated sequence', Buffer.from('{"query":"{ __typename }"}\xe2\x82', 'latin1')],
    ['UTF-16', Buffer.from(typename, 'utf16le')],
  ])('is refused, not repaired, if it is not UTF-8: %s', async (_what, bytes) => {
    const reply = await post(new Uint8Array(bytes));
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
  });

  it('is refused as invalid JSON if it begins with a byte order mark', async () => {
    const reply = await post(`\ufeff${typename}`);
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
  });

  it('keeps its UTF-8 text unchanged', async () => {
    const appId = 'gr\u00fc\u00dfe-\u{1f6a6}';
    const reply = await post(
      bodyOf('query ($appId: String!) { org { app(appId: $appId) { name } } }', { appId }),
      bearer(world.org),
    );
    expect([reply.status, dataIn(reply)]).toEqual([200, { org: { app: null } }]);
  });

  /** A body with JSON text for the variable `a`. */
  const withVariable = (query: string, json: string): string =>
    `{"query":${JSON.stringify(query)},"variables":{"a":${json}}}`;
  const deep = (open: string, close: string): string =>
    open.repeat(100_000 / open.length) + close.repeat(100_000 / open.length);
  it.each([
    ['lists that are never closed', '['.repeat(100_000), 400],
    ['lists', deep('[', ']'), 400],
    ['objects', `${deep('{"a":', '}').replace('{"a":}', '{"a":1}')}`, 400],
    ['lists in a variable that is not declared', `{"query":"{ __typename }","variables":{"a":${deep('[', ']')}}}`, 200],
    ['lists in the extensions', `{"query":"{ __typename }","extensions":{"a":${deep('[', ']')}}}`, 200],
    [
      'lists for a string',
      withVariable('query ($a: String!) { org { app(appId: $a) { name } } }', deep('[', ']')),
      400,
    ],
    [
      'lists for a list of strings',
      withVariable('mutation ($a: [String!]) { updateOrg(input: { modelOrdering: $a }) { name } }', deep('[', ']')),
      400,
    ],
    [
      'lists for an input',
      withVariable('mutation ($a: UpdateOrgInput!) { updateOrg(input: $a) { name } }', `{"quotas":${deep('[', ']')}}`),
      400,
    ],
  ])('is parsed at a depth of 100,000: %s', async (_what, body, status) => {
    const reply = await post(body, { ...bearer(world.org), accept: 'application/graphql-response+json' });
    expect(reply.status).toBe(status);
    if (status === 400) expect(new Set(codesIn(reply))).toEqual(new Set(['BAD_USER_INPUT']));
  });

  it('is read by the last of two equal keys', async () => {
    const reply = await post('{"query":"{ nothing }","variables":[],"query":"{ __typename }","variables":{}}');
    expect([reply.status, dataIn(reply)]).toEqual([200, { __typename: 'Query' }]);
  });

  it.each([
    '1e999',
    '-1e999',
    '1e-999',
    '9007199254740993',
    '4294967297',
    '-2147483649',
    '0.5',
    '"1"',
    'true',
    '[]',
    '{}',
  ])('is refused with %s for an integer', async (number) => {
    const reply = await post(
      `{"query":"query ($n: Int) { orgs(first: $n) { nodes { name } } }","variables":{"n":${number}}}`,
      asAdmin,
    );
    expect([dataIn(reply) ?? null, codesIn(reply)]).toEqual([null, ['BAD_USER_INPUT']]);
  });

  it.each(['"\\ud800"', '"\\u0000"', '"a\\u0000b"', '"\\udc00\\ud800"', '""', `"${'x'.repeat(100_000)}"`])(
    'finds nothing with an odd text for an id (%#)',
    async (value) => {
      const reply = await post(
        withVariable('query ($a: String!) { org { app(appId: $a) { name } } }', value),
        bearer(world.org),
      );
      expect([reply.status, dataIn(reply)]).toEqual([200, { org: { app: null } }]);
    },
  );
});

describe('keys that every JavaScript object inherits', () => {
  const who = 'query ($orgId: UUID!) { org(orgId: $orgId) { name } }';

  it.each(['__proto__', 'constructor', 'prototype'])('set no variable by way of %s', async (key) => {
    const reply = await post(
      `{"query":${JSON.stringify(who)},"variables":{"${key}":{"orgId":"${world.org.orgId}"}}}`,
      asAdmin,
    );
    expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
    expect(reply.text).not.toContain('Acme');
  });

  it.each(['__proto__', 'constructor', 'toString'])('set no field of an input by way of %s', async (key) => {
    const query = 'mutation ($i: UpdateOrgInput!) { updateOrg(input: $i) { name } }';
    const variables = `{"i":{"${key}":{"name":"Planted"}}}`;
    const reply = await post(`{"query":"${query}","variables":${variables}}`, bearer(world.org));
    expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
    expect(({} as Record<string, unknown>).name).toBeUndefined();
    expect((await world.org.caller.ask<{ org: { name: string } }, never>('{ org { name } }')).org.name).toBe('Acme');
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('are refused as a label of a quota: %s', async (label) => {
    const reply = await post(
      bodyOf('mutation ($i: UpdateOrgInput!) { updateOrg(input: $i) { name } }', {
        i: { quotas: [{ label, dailyUsdMicros: 999 }] },
      }),
      bearer(world.org),
    );
    expect(['BAD_USER_INPUT', 'INVALID_MODEL_LABEL']).toContain(codesIn(reply)[0]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'name no operation, app or field: %s',
    async (name) => {
      const named = await post(
        JSON.stringify({ query: 'query A { __typename } query B { __typename }', operationName: name }),
      );
      expect(codesIn(named)).toEqual(['BAD_USER_INPUT']);
      const found = await post(bodyOf(`{ org { app(appId: "${name}") { name } } ${name} }`), bearer(world.org));
      expect(codesIn(found)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
      expect(dataIn(await post(bodyOf(`{ org { app(appId: "${name}") { name } } }`), bearer(world.org)))).toEqual({
        org: { app: null },
      });
    },
  );

  // 1 + 1 + 100 × 99 + 1 + 98: above 10,000, unless the page counts as the default of 50.
  const nodes = `${'name '.repeat(50)} ${'orgId '.repeat(49)}`;
  const models = `${'label '.repeat(49)} ${'tier '.repeat(49)}`;
  const costly = (variable: string): string =>
    `query ($${variable}: Int = 100) { orgs(first: $${variable}) { nodes { ${nodes} } } models { ${models} } }`;
  it.each(['n', 'constructor', 'toString', 'valueOf', '__proto__'])(
    'hide no cost as the name of a variable: %s',
    async (variable) => {
      const reply = await post(bodyOf(costly(variable), {}), asAdmin);
      expect(codesIn(reply)).toEqual(['BAD_USER_INPUT']);
      expect(reply.text).toContain('complexity');
    },
  );
});

describe('credentials', () => {
  const me = bodyOf('{ me { kind } }');
  const withoutId = ({ status, text }: Reply): string => `${status} ${text.replace(/"requestId":"[^"]+"/, '')}`;
  const someKey = () => `tgk_${randomBytes(16).toString('hex')}_${randomBytes(32).toString('hex')}`;

  async function sendLines(...lines: readonly string[]): Promise<Reply> {
    const wire = await Wire.open();
    wire.write(head(...lines, `content-length: ${me.length}`) + me);
    return (await wire.responses(1))[0] as Reply;
  }

  it.each([
    ['token and admin key', () => ({ ...bearer(world.org), ...asAdmin })],
    ['token and device key', () => ({ ...bearer(world.org), 'x-api-key': someKey() })],
    ['admin key and device key', () => ({ ...asAdmin, 'x-api-key': someKey() })],
    ['all three', () => ({ ...bearer(world.org), ...asAdmin, 'x-api-key': someKey() })],
    ['a good one and an empty one', () => ({ ...asAdmin, authorization: '' })],
  ])('of several kinds are refused: %s', async (_what, headers) => {
    const reply = await post(me, headers());
    expect([reply.status, codesIn(reply)]).toEqual([400, ['BAD_USER_INPUT']]);
    expect(reply.text).not.toContain(adminKey);
  });

  it.each([
    ['the admin key twice', [`x-admin-key: ${adminKey}`, `x-admin-key: ${adminKey}`]],
    ['a wrong admin key beside the right one', [`x-admin-key: ${adminKey}`, 'X-Admin-Key: wrong']],
    ['two device keys', [`x-api-key: ${someKey()}`, `x-api-key: ${someKey()}`]],
  ])('of one kind that are sent twice are refused: %s', async (_what, lines) => {
    const reply = await sendLines(...lines);
    expect([400, 401]).toContain(reply.status);
    expect(['BAD_USER_INPUT', 'UNAUTHENTICATED']).toContain(codesIn(reply)[0]);
  });

  it.each([
    ['the good one first', () => [`authorization: Bearer ${world.org.accessToken}`, 'authorization: Bearer x.y.z']],
    ['the good one last', () => ['authorization: Bearer x.y.z', `authorization: Bearer ${world.org.accessToken}`]],
    [
      'the same one twice',
      () => [`authorization: Bearer ${world.org.accessToken}`, `Authorization: Bearer ${world.org.accessToken}`],
    ],
  ])('in two authorization headers are refused: %s', async (_what, lines) => {
    const reply = await sendLines(...lines());
    expect([400, 401]).toContain(reply.status);
    expect(['BAD_USER_INPUT', 'UNAUTHENTICATED']).toContain(codesIn(reply)[0]);
  });

  it.each([
    ['a token of 12 KB', { authorization: `Bearer ${'x'.repeat(12_000)}` }],
    ['a token of 4,000 dots', { authorization: `Bearer ${'.'.repeat(4000)}` }],
    ['12,000 blanks before the token', { authorization: `Bearer${' '.repeat(12_000)}x y` }],
    ['an admin key of 12 KB', { 'x-admin-key': adminKey.repeat(300) }],
    ['a device key of 12 KB', { 'x-api-key': `tgk_${'0'.repeat(12_000)}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['the scheme alone', { authorization: 'Bearer' }],
    ['nothing', { authorization: '' }],
    ['two tokens in one', { authorization: 'Bearer x.y.z, Bearer x.y.z' }],
    ['a tab instead of a space', { authorization: 'Bearer\tx.y.z' }],
    ['the admin key and more', { 'x-admin-key': `${adminKey}x` }],
    ['the admin key, truncated', { 'x-admin-key': adminKey.slice(0, -1) }],
    ['the admin key in upper case', { 'x-admin-key': adminKey.toUpperCase() }],
    ['the admin key in quotes', { 'x-admin-key': `"${adminKey}"` }],
    ['the admin key as a token', { authorization: `Bearer ${adminKey}` }],
    ['an admin key that every object inherits', { 'x-admin-key': 'constructor' }],
    ['letters beyond ASCII', { 'x-admin-key': '\u00e4\u00f6\u00fc' }],
    ['a device key of another alphabet', { 'x-api-key': `tgk_${'g'.repeat(32)}_${'g'.repeat(64)}` }],
    ['a pattern as a device key', { 'x-api-key': 'tgk_.*_.*' }],
  ])('that are invalid get 401, and are not repeated: %s', async (_what, headers) => {
    const reply = await post(me, headers as Record<string, string>);
    expect([reply.status, codesIn(reply), reply.headers['www-authenticate']]).toEqual([
      401,
      ['UNAUTHENTICATED'],
      'Bearer',
    ]);
    for (const value of Object.values(headers))
      if (value.length > 12) expect(reply.text).not.toContain(value.slice(0, 40));
  });

  it('of a device get the same response for unknown, wrong and malformed keys on every transport', async () => {
    const { createApiKey } = await world.org.caller.ask<{ createApiKey: { secret: string } }, never>(
      'mutation { createApiKey(input: {}) { secret } }',
    );
    const valid = createApiKey.secret;
    const keys = [someKey(), valid.slice(0, 37) + randomBytes(32).toString('hex'), 'tgk_', 'x'.repeat(8000)];
    const replies = await Promise.all(keys.map(async (key) => withoutId(await post(me, { 'x-api-key': key }))));
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toMatch(/^401 .*"UNAUTHENTICATED"/);
    const streams = await Promise.all(
      keys.map(async (key) =>
        withoutId(await post(bodyOf(endless), { 'x-api-key': key, accept: 'text/event-stream' })),
      ),
    );
    expect(new Set(streams)).toEqual(new Set(replies));
    const closes = await Promise.all(
      keys.map(async (key) => {
        const live = await openSocket();
        live.send({ type: 'connection_init', payload: { 'x-api-key': key } });
        await live.closeCode();
        return live.closed;
      }),
    );
    expect(closes).toEqual(repeated(4, () => ({ code: 4403, reason: expect.stringContaining('UNAUTHENTICATED') })));
    expect(new Set(closes.map((closed) => closed?.reason)).size).toBe(1);
    expect(dataIn(await post(me, { 'x-api-key': valid }))).toEqual({ me: { kind: 'DEVICE_KEY' } });
  });

  it('get the same response for garbage and for a forged token', async () => {
    const [header, claims, signature = ''] = world.org.accessToken.split('.');
    const forged = [
      'x',
      'x.y.z',
      `${header}.${claims}.`,
      `${header}.${claims}.${signature.split('').reverse().join('')}`,
      `${header}.${Buffer.from('{}').toString('base64url')}.${signature}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
      `${world.org.accessToken}.${signature}`,
    ];
    const replies = await Promise.all(
      forged.map(async (token) => withoutId(await post(me, { authorization: `Bearer ${token}` }))),
    );
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toMatch(/^401 .*"UNAUTHENTICATED"/);
  });

  it.each([
    ['60 KB', { 'x-admin-key': 'x'.repeat(60_000) }],
    ['a list', { 'x-admin-key': [adminKey] }],
    ['an object', { authorization: { toString: 'x' } }],
    ['true', { 'x-api-key': true }],
    ['lines', { 'x-admin-key': `${adminKey}\r\nx-request-id: y` }],
    [
      'one name in 20 spellings',
      Object.fromEntries(
        repeated(20, (i) => [
          'x-admin-key'.replace(/[a-z]/g, (c, at: number) => (at % 20 === i ? c.toUpperCase() : c)),
          i,
        ]),
      ),
    ],
  ])('close a socket with 4403 if they are no text: %s', async (_what, payload) => {
    const live = await openSocket();
    live.send({ type: 'connection_init', payload });
    expect(await live.closeCode()).toBe(4403);
    expect(live.closed?.reason).toMatch(/^(UNAUTHENTICATED|BAD_USER_INPUT): /);
    expect(live.closed?.reason).not.toContain(adminKey);
  });

  it('and request ids cannot add a header to the response', async () => {
    for (const line of [
      'x-request-id: a%0d%0ax-planted: 1',
      'x-request-id: a\tb',
      'x-request-id: a\u00e4b',
      `x-request-id: ${'a'.repeat(10_000)}`,
    ]) {
      const { headers } = await sendLines(line);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-planted']).toBeUndefined();
    }
  });
});
