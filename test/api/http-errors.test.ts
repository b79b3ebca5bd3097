import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { sleep } from '../../src/lib/timers.js';
import {
  adminKey,
  type Client,
  logInWith,
  newOrg,
  orgInput,
  type PublicError,
  startTestApp,
  type TestApp,
} from '../support/app.js';
import { collectingLog, expectPublicErrors, post, send, typename, uuid } from '../support/http.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  org = await newOrg(app);
});
afterAll(() => app.stop());

describe('an error', () => {
  it.each([
    ['a syntax error', 'GRAPHQL_PARSE_FAILED', '{ org {', {}],
    ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', '{ nothing }', {}],
    ['an empty document', 'GRAPHQL_PARSE_FAILED', '# nothing', {}],
    ['no credential', 'UNAUTHENTICATED', '{ me { kind } }', {}],
    ['a wrong admin key', 'UNAUTHENTICATED', '{ __typename }', { 'x-admin-key': 'wrong' }],
    ['an invalid token', 'UNAUTHENTICATED', '{ __typename }', { authorization: 'Bearer x.y.z' }],
    ['another scheme', 'UNAUTHENTICATED', '{ __typename }', { authorization: 'Basic eDp5' }],
    ['two credentials', 'BAD_USER_INPUT', '{ __typename }', { authorization: 'Bearer x.y.z', 'x-admin-key': adminKey }],
    ['an admin who names no org', 'BAD_USER_INPUT', '{ org { name } }', { 'x-admin-key': adminKey }],
    ['a foreign cursor', 'BAD_USER_INPUT', '{ orgs(after: "x") { nodes { name } } }', { 'x-admin-key': adminKey }],
    ['several operations and no name', 'BAD_USER_INPUT', 'query A { __typename } query B { __typename }', {}],
    [
      'an org that does not exist',
      'NOT_FOUND',
      `mutation { updateOrg(input: { orgId: "${randomUUID()}", name: "x" }) { name } }`,
      { 'x-admin-key': adminKey },
    ],
  ])('has a public code and a request id for %s: %s', async (_what, code, query, headers) => {
    const answer = await app.anonymous.send(query, undefined, headers as Record<string, string>);
    expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual([code]);
    expectPublicErrors(answer);
  });

  it('is FORBIDDEN for a field that this kind of principal may not use', async () => {
    expect(await org.caller.codeOf('{ orgs { nodes { name } } }')).toBe('FORBIDDEN');
  });

  it.each([
    ['of the wrong type', { ...orgInput(), timezone: 7 }, 'input.timezone'],
    [
      'deep inside',
      { ...orgInput(), quotas: [{ label: 'premium', dailyUsdMicros: 'many' }] },
      'input.quotas[0].dailyUsdMicros',
    ],
    ['that is missing', { ...orgInput(), name: undefined }, 'input'],
    ['that the enum does not have', { ...orgInput(), quotaScope: 'NONE' }, 'input.quotaScope'],
  ])('names a variable %s', async (_what, input, path) => {
    const answer = await app.admin.send<unknown, unknown>(
      'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { name } } }',
      { input },
    );
    expectPublicErrors(answer);
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ path: expect.any(String), message: expect.any(String) }],
    });
    expect(answer.errors?.[0]?.extensions.issues?.[0]?.path.replaceAll(/\[(\d+)\]/g, '.$1')).toBe(
      path.replaceAll(/\[(\d+)\]/g, '.$1'),
    );
  });

  it('names every invalid variable', async () => {
    const { errors } = await app.admin.send(
      'query ($a: Int!, $b: Boolean!) { orgs(first: $a) { nodes { name @include(if: $b) } } }',
      {
        a: 'x',
        b: 'y',
      } as never,
    );
    expect(errors?.flatMap(({ extensions }) => extensions.issues?.map(({ path }) => path))).toEqual(['a', 'b']);
  });

  it('never repeats a secret that was sent in the wrong place', async () => {
    const { errors } = await app.admin.send('query ($n: Int) { orgs(first: $n) { nodes { name } } }', {
      n: org.clientSecret,
    } as never);
    expect(errors?.length).toBe(1);
    expect(JSON.stringify(errors)).not.toContain(org.clientSecret);
  });
});

describe('a gateway whose tables are missing', () => {
  it('masks the error, logs it under the request id, and is not ready', async () => {
    const { log, records } = collectingLog();
    const broken = await startTestApp({ log });
    try {
      const { caller } = await newOrg(broken);
      expect((await send(`${broken.origin}/readyz`)).status).toBe(200);
      await broken.tableAdmin.client.send(new DeleteTableCommand({ TableName: `${broken.tableAdmin.prefix}config` }));
      await until('/readyz says no', async () => (await send(`${broken.origin}/readyz`)).status === 503);
      expect((await send(`${broken.origin}/healthz`)).status).toBe(200);

      const response = await fetch(
        broken.url,
        post(JSON.stringify({ query: '{ org { apps { nodes { name } } } }' }), {
          'content-type': 'application/json',
          'x-request-id': 'lost-table',
          ...caller.headers,
        }),
      );
      const text = await response.text();
      const [error] = (JSON.parse(text) as { errors: PublicError[] }).errors;
      expect(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE']).toContain(error?.extensions.code);
      expect(error?.extensions.requestId).toBe('lost-table');
      expect(text).not.toContain(broken.tableAdmin.prefix);
      expect(text).not.toMatch(/ResourceNotFound|non-existent|node_modules|\.[jt]s:\d|stack/i);
      expect(records('unexpected error').find(({ requestId }) => requestId === 'lost-table')).toMatchObject({
        err: { message: expect.any(String) },
      });
      expect(records('request').find(({ requestId }) => requestId === 'lost-table')).toMatchObject({
        outcome: error?.extensions.code,
      });
    } finally {
      await broken.stop();
    }
  });
});

describe('the id of a request', () => {
  it.each(['abc', 'a1.b2:c3-d4_e5', 'x'.repeat(128)])('is that of the caller if it is valid (%#)', async (id) => {
    const { headers, errors } = await app.anonymous.send('{ me { kind } }', undefined, { 'x-request-id': id });
    expect([headers.get('x-request-id'), errors?.[0]?.extensions.requestId]).toEqual([id, id]);
  });

  it.each([
    ['has spaces', 'a b'],
    ['has 200 characters', 'x'.repeat(200)],
    ['is empty', ''],
    ['has quotes', '"x"'],
    ['is not ASCII', 'n\u00e4he'],
    ['could be markup', '<script>'],
  ])('is a new one if that of the caller %s', async (_what, id) => {
    const { headers, errors } = await app.anonymous.send('{ me { kind } }', undefined, { 'x-request-id': id });
    expect(headers.get('x-request-id')).toMatch(uuid);
    expect(errors?.[0]?.extensions.requestId).toBe(headers.get('x-request-id'));
  });

  it('is the same in the header and the body of a refused login', async () => {
    const response = await fetch(`${app.origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(((await response.json()) as { request_id: string }).request_id).toBe(response.headers.get('x-request-id'));
  });

  it('comes with responses that must not be cached', async () => {
    for (const reply of [
      await send(app.url, post(typename)),
      await send(`${app.url}?query={__typename}`),
      await send(app.url, post('[]')),
      await send(app.url, { method: 'PUT' }),
      await send(app.url, post('{"query":"{ me { kind } }"}')),
    ]) {
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('x-request-id')).toMatch(uuid);
    }
  });
});

describe('the log', () => {
  it('has one line per request, and no secret in any line', async () => {
    const { log, lines, records } = collectingLog();
    const logged = await startTestApp({ log });
    try {
      const { registerOrg } = await logged.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
      const client = await logInWith(logged, registerOrg.secretRetrieval.token);
      const { refreshToken: next } = await logged.anonymous.ask(op.RefreshTokenDocument, {
        refreshToken: client.refreshToken,
      });
      const secrets = [
        registerOrg.secretRetrieval.token,
        client.clientSecret,
        client.accessToken,
        client.refreshToken,
        next.accessToken,
        next.refreshToken,
      ];
      lines.length = 0;

      await logged.as(client.accessToken).send(op.MeDocument, undefined, { 'x-request-id': 'one-line' });
      let sent = 1;
      for (const secret of secrets) {
        const text = JSON.stringify(secret);
        const tries = [
          logged.anonymous.send('{ me { kind } }', undefined, { authorization: `Bearer ${secret}` }),
          logged.anonymous.send('{ me { kind } }', undefined, { 'x-admin-key': secret }),
          logged.anonymous.send('{ __typename }', undefined, { 'x-request-id': secret }),
          logged.anonymous.send('{ me { kind } }', undefined, { cookie: `t=${secret}`, 'user-agent': secret }),
          logged.anonymous.send(`mutation { retrieveSecret(token: ${text}) { clientId } }`),
          logged.anonymous.send(
            `mutation { issueToken(input: { clientId: ${text}, clientSecret: ${text} }) { tokenType } }`,
          ),
          logged.admin.send('query ($n: Int) { orgs(first: $n) { nodes { name } } }', { n: secret } as never),
          logged.admin.send(`{ orgs(first: ${text}) { nodes { name } } }`),
          logged.anonymous.send(op.IssueTokenDocument, {
            input: { clientId: client.clientId, clientSecret: `${secret}x` },
          }),
        ];
        sent += tries.length;
        await Promise.all(tries);
      }
      await logged.admin.send(op.RevokeTokenDocument, { token: next.accessToken });
      await until('every request has its line', () => records('request').length >= sent + 1);
      expect(records('request')).toHaveLength(sent + 1);
      for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).toEqual([]);

      const ofOne = records('request').filter(({ requestId }) => requestId === 'one-line');
      expect(ofOne).toEqual([
        expect.objectContaining({
          level: 'info',
          requestId: 'one-line',
          operation: 'me',
          principal: client.clientId,
          ms: expect.any(Number),
          read: expect.any(Number),
          write: 0,
          outcome: 'ok',
        }),
      ]);
      for (const record of records('request')) {
        expect(record).toMatchObject({
          requestId: expect.any(String),
          operation: expect.any(String),
          principal: expect.any(String),
          ms: expect.any(Number),
          outcome: expect.any(String),
        });
      }
    } finally {
      await logged.stop();
    }
  });

  it('has no error for a caller that closes its connection in the middle of a request', async () => {
    const { log, lines, records } = collectingLog();
    const logged = await startTestApp({ log });
    try {
      const { hostname, port } = new URL(logged.url);
      const socket = connect(Number(port), hostname);
      await new Promise<void>((resolve) => socket.once('connect', resolve));
      socket.write(
        'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"query"',
      );
      await sleep(100);
      socket.destroy();
      await logged.anonymous.send('{ __typename }');
      await until('the request is logged', () => records('request').length > 0);
      await sleep(100);
      expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    } finally {
      await logged.stop();
    }
  });
});
