import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { type DocumentNode, print } from 'graphql';
import type { Key } from '../../src/dynamo/client.js';
import { type TableName, tableNames } from '../../src/dynamo/tables.js';
import { createLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';
import { adminKey, orgInput, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { asPage } from '../support/console.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { deniedBy } from '../support/policy.js';

/** A response of the run. */
interface Recorded {
  readonly to: string;
  readonly text: string;
  /** The secrets that the response is supposed to contain. */
  readonly allowed: Set<string>;
}

type Headers = Record<string, string>;

const rootSecret = `root secret ${randomBytes(24).toString('base64url')}`;
const asAdmin = { 'x-admin-key': adminKey };
const hardwareId = 'AA:BB:CC:DD:EE:FF';
/** Matches any secret by its prefix or format, also one that the run was never given. */
const anySecret = /tg[acklrst]_[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}/;

let proxy: FaultProxy;
let app: TestApp;
const lines: string[] = [];
const responses: Recorded[] = [];
/** Every secret of the run by its name. */
const issued = new Map<string, string>();
const stored = new Map<TableName, string>();
const metricsPages: string[] = [];
let faultHits = 0;

/** Sends a request and records the response. */
async function request(to: string, path: string, init: RequestInit): Promise<Recorded & { readonly body: string }> {
  const response = await fetch(app.origin + path, init);
  const body = await response.text();
  const recorded = { to, text: `${JSON.stringify([...response.headers])} ${body}`, allowed: new Set<string>() };
  responses.push(recorded);
  return { ...recorded, body };
}

const post = (to: string, body: object, headers: Headers = {}) =>
  request(to, '/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const send = (document: DocumentNode | string, variables: object, headers: Headers = {}) => {
  const query = typeof document === 'string' ? document : print(document);
  return post(query.slice(0, 60), { query, variables }, headers);
};

const form = (path: string, fields: Headers, headers: Headers = {}) =>
  request(path, path, { method: 'POST', headers, body: new URLSearchParams(fields) });

/** Reads a secret from the one response that may contain it. */
async function take(name: string, sending: ReturnType<typeof send>, field: string): Promise<string> {
  const { body, allowed } = await sending;
  const [, secret] = new RegExp(`"${field}":"([^"]+)"`).exec(body) ?? [];
  if (!secret) throw new Error(`no ${field} in ${body}`);
  issued.set(name, secret);
  allowed.add(secret);
  return secret;
}

async function takePair(
  name: string,
  sending: ReturnType<typeof send>,
  fields = ['accessToken', 'refreshToken'],
): Promise<readonly [access: string, refresh: string]> {
  const [access = '', refresh = ''] = fields;
  return [await take(`${name}, access token`, sending, access), await take(`${name}, refresh token`, sending, refresh)];
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const basic = (id: string, secret: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const session = (path: string, body: object, headers: Headers = asPage) =>
  request(path, path, { method: 'POST', headers, body: JSON.stringify(body) });

/** Reads the cookie of a sign-in, which only that response may contain. */
async function takeCookie(name: string, signingIn: ReturnType<typeof session>): Promise<string> {
  const { text, allowed } = await signingIn;
  const [, cookie, token] = /\b(tollgate=(tgc_[A-Za-z0-9_-]+));/.exec(text) ?? [];
  if (!cookie || !token) throw new Error(`no cookie in ${text}`);
  issued.set(name, token);
  allowed.add(token);
  return cookie;
}

const clientIdIn = (body: string): string => /"clientId":"([^"]+)"/.exec(body)?.[1] ?? 'none';

interface Client {
  readonly clientId: string;
  readonly secret: string;
  readonly access: string;
  readonly refresh: string;
}

const input = (value: object) => ({ input: value });
const deviceInput = (change: object = {}) =>
  input({ hardwareId, bootId: randomUUID(), firmwareVersion: '1.0', capabilities: { sensors: ['bme280'] }, ...change });

async function logIn(name: string, retrievalToken: string): Promise<Client> {
  const retrieving = send(op.RetrieveSecretDocument, { token: retrievalToken });
  const secret = await take(`${name}, client secret`, retrieving, 'clientSecret');
  const clientId = clientIdIn((await retrieving).body);
  const [access, refresh] = await takePair(
    name,
    send(op.IssueTokenDocument, input({ clientId, clientSecret: secret })),
  );
  return { clientId, secret, access, refresh };
}

/** Opens sessions of the console in both ways, uses them and ends one. */
async function useConsole({ clientId, secret }: Client): Promise<void> {
  const making = session('/session/link', {}, { 'content-type': 'application/json', ...asAdmin });
  const token = await take('console link', making, 'token');
  await session('/session/preview', { token });
  const cookie = await takeCookie('session by link', session('/session', { token }));
  await takeCookie('session by secret', session('/session', { clientId, clientSecret: secret }));
  for (const path of ['/session/me', '/session', '/session/link', '/graphql', '/v1/check', '/oauth/token'])
    await session(path, { token, query: token, documentId: token }, { ...asPage, cookie });
  await request('a page', `/console/${token}`, { headers: { cookie } });
  await session('/session/end', {}, { ...asPage, cookie });
  await session('/session/me', {}, { ...asPage, cookie });
}

interface Run {
  readonly org: Client;
  readonly member: Client;
  readonly deviceKey: string;
  readonly leaseId: string;
}

/** Calls once everything that hands out a secret, and everything that accepts one. */
async function issueAll(): Promise<Run> {
  const orgId = randomUUID();
  const registering = send(op.RegisterOrgDocument, input(orgInput({ orgId })), asAdmin);
  const org = await logIn('org', await take('org, retrieval token', registering, 'token'));
  const asOrg = bearer(org.access);
  const adding = send(op.RegisterAppDocument, input({ appId: 'chat', name: 'Chat' }), asOrg);
  const first = await logIn('app', await take('app, retrieval token', adding, 'token'));

  const rotating = send(op.RotateCredentialsDocument, input({ appId: 'chat' }), asOrg);
  const rotated = await take('rotated, retrieval token', rotating, 'token');
  const member = await logIn('rotated', rotated);
  // The token is used, and the old secret is in its grace.
  await send(op.RetrieveSecretDocument, { token: rotated });
  const { clientId } = member;
  await takePair('in grace', send(op.IssueTokenDocument, input({ clientId, clientSecret: first.secret })));

  await takePair('refreshed', send(op.RefreshTokenDocument, { refreshToken: member.refresh }));
  // A retry after a lost response returns the same successor with another access token.
  await takePair('refreshed again', send(op.RefreshTokenDocument, { refreshToken: member.refresh }));
  const oauthFields = ['access_token', 'refresh_token'];
  const grant = { grant_type: 'client_credentials' };
  await take(
    'by form, access token',
    form('/oauth/token', { ...grant, client_id: clientId, client_secret: member.secret }),
    'access_token',
  );
  const byBasic = await take(
    'by Basic, access token',
    form('/oauth/token', grant, basic(clientId, member.secret)),
    'access_token',
  );
  const [, refresh] = await takePair(
    'another session',
    send(op.IssueTokenDocument, input({ clientId, clientSecret: member.secret })),
  );
  const exchanging = form(
    '/oauth/token',
    { grant_type: 'refresh_token', refresh_token: refresh },
    basic(clientId, member.secret),
  );
  await takePair('exchanged', exchanging, oauthFields);
  const creating = send(
    op.CreateClientDocument,
    input({ name: 'Reports', role: 'READ', currentSecret: org.secret }),
    asOrg,
  );
  await logIn('reader', await take('reader, retrieval token', creating, 'token'));

  const deviceKey = await take(
    'device key',
    send(op.CreateApiKeyDocument, input({ description: 'Greenhouse' }), asOrg),
    'secret',
  );
  const lostKey = await take('revoked device key', send(op.CreateApiKeyDocument, input({}), asOrg), 'secret');
  await send(op.RegisterDeviceDocument, deviceInput(), { 'x-api-key': deviceKey });
  const limits = [{ name: 'rpm', capacity: 100, refillPeriodSecs: 60 }];
  const acquiring = {
    entityId: 'user-1',
    resource: 'api',
    consume: [{ limit: 'rpm', amount: 1 }],
    limits,
    requestId: randomUUID(),
  };
  const leaseId = await take('lease', send(op.AcquireDocument, input(acquiring), asOrg), 'leaseId');
  const adjusting = send(
    op.AdjustLeaseDocument,
    input({ leaseId, adjust: [{ limit: 'rpm', amount: 1 }], idempotencyKey: randomUUID() }),
    asOrg,
  );
  (await adjusting).allowed.add(leaseId);

  await useConsole(org);
  await form('/oauth/revoke', { token: byBasic, client_id: clientId, client_secret: member.secret });
  await send(op.RevokeTokenDocument, { token: issued.get('refreshed, refresh token') }, asOrg);
  await send(op.RevokeTokenDocument, { token: issued.get('exchanged, access token') }, asAdmin);
  const keyId = lostKey.slice(4, 36).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  await send(op.RevokeApiKeyDocument, { keyId }, asOrg);
  await send('{ me { kind } }', {}, { 'x-api-key': lostKey });
  return { org, member, deviceKey, leaseId };
}

/** Repeats the calls while DynamoDB fails in every way, so that errors and log lines are made with secrets at hand. */
async function issueUnderFaults({ org, member, deviceKey, leaseId }: Run): Promise<void> {
  const asOrg = bearer(org.access);
  const { clientId, secret } = member;
  const operations: readonly (() => Promise<Recorded>)[] = [
    () => send(op.RegisterOrgDocument, input(orgInput()), asAdmin),
    () => send(op.RegisterAppDocument, input({ appId: `a-${randomUUID()}`, name: 'A' }), asOrg),
    () => send(op.RotateCredentialsDocument, input({ appId: 'chat' }), asOrg),
    () => send(op.RefreshTokenDocument, { refreshToken: org.refresh }),
    () => send(op.CreateApiKeyDocument, input({}), asOrg),
    () => send(op.RevokeTokenDocument, { token: issued.get('in grace, refresh token') }, asOrg),
    () => send(op.ReleaseLeaseDocument, { leaseId }, asOrg),
    () => send(op.RegisterDeviceDocument, deviceInput(), { 'x-api-key': deviceKey }),
    () => form('/oauth/token', { grant_type: 'client_credentials', client_id: clientId, client_secret: secret }),
    () => form('/oauth/revoke', { token: member.refresh }, basic(clientId, secret)),
    () => session('/session', { clientId, clientSecret: secret }),
    () => session('/session/me', {}, { ...asPage, cookie: `tollgate=${issued.get('session by secret')}` }),
    () => session('/session/link', {}, { 'content-type': 'application/json', ...asAdmin }),
  ];
  const faults = ['error-after', 'error-before', 'throttle', 'drop-reply'] satisfies Fault[];
  // All tokens are made before the first fault, because the gateway needs a moment to recover from one.
  const tokens = new Map<Fault, string>();
  for (const fault of faults) {
    const adding = send(op.RegisterAppDocument, input({ appId: fault, name: 'A' }), asOrg);
    tokens.set(fault, await take(`retrieval token of the ${fault}`, adding, 'token'));
  }
  for (const fault of faults) {
    const token = tokens.get(fault);
    const rule = proxy.inject({ fault });
    const failed = await Promise.all(
      [...operations, () => send(op.RetrieveSecretDocument, { token })].map((operation) => operation()),
    );
    rule.remove();
    faultHits += rule.hits;
    // A call that succeeded nevertheless may contain its secrets.
    for (const { text, allowed } of failed)
      if (!text.includes('"errors"'))
        for (const made of text.match(new RegExp(anySecret, 'g')) ?? []) allowed.add(made);
  }
}

/** Sends each kind of secret in every wrong place. */
async function sendMisplaced({ org, member, leaseId }: Run): Promise<void> {
  const asOrg = bearer(org.access);
  const { clientId, secret: good } = member;
  const limit = { capacity: 1, refillPeriodSecs: 60 };
  // A lease works only with a credential of its tenant, so a response may repeat it.
  const oneOfEach = new Map(
    [...issued.values()].filter((secret) => secret !== leaseId).map((secret) => [secret.slice(0, 3), secret]),
  );
  for (const secret of oneOfEach.values()) {
    const text = JSON.stringify(secret);
    await Promise.all([
      send('{ me { kind } }', {}, bearer(secret)),
      send('{ me { kind } }', {}, { 'x-admin-key': secret }),
      send('{ me { kind } }', {}, { 'x-api-key': secret }),
      send('{ me { kind } }', {}, { authorization: secret }),
      send('{ me { kind } }', {}, { cookie: `t=${secret}`, 'user-agent': secret, accept: 'application/json' }),
      send('{ me { kind } }', {}, { ...asOrg, 'x-api-key': secret }),
      send(`{ ${secret} }`, {}, asOrg),
      send('query ($n: Int) { orgs(first: $n) { nodes { name } } }', { n: secret }, asAdmin),
      send(`{ orgs(first: ${text}) { nodes { name } } }`, {}, asAdmin),
      send(`mutation { revokeApiKey(keyId: ${text}) { active } }`, {}, asOrg),
      send(op.RevokeApiKeyDocument, { keyId: secret }, asOrg),
      send(op.NodeDocument, { id: secret }, asOrg),
      send(op.RetrieveSecretDocument, { token: `${secret}x` }),
      send(op.RefreshTokenDocument, { refreshToken: `${secret}x` }),
      send(op.IssueTokenDocument, input({ clientId: secret, clientSecret: good })),
      send(op.IssueTokenDocument, input({ clientId, clientSecret: `${secret}x` })),
      send(op.RegisterDeviceDocument, deviceInput({ hardwareId: secret }), asOrg),
      send(op.RegisterDeviceDocument, deviceInput({ bootId: secret }), asOrg),
      send(op.LimitConfigOfDocument, { level: secret }, asOrg),
      send(op.AppsDocument, { after: secret }, asOrg),
      send(op.ReleaseLeaseDocument, { leaseId: `${secret}x` }, asOrg),
      send(
        op.SubmitCostDocument,
        input({ appId: secret, requestId: randomUUID(), modelLabel: secret, inputTokens: 1, outputTokens: 1 }),
        asOrg,
      ),
      send(
        op.SubmitCostDocument,
        input({ appId: 'chat', requestId: randomUUID(), modelLabel: secret, inputTokens: 1, outputTokens: 1 }),
        asOrg,
      ),
      // Names that error messages repeat.
      send(
        op.SetLimitsDocument,
        input({ level: 'SYSTEM', limits: [0, 1].map(() => ({ ...limit, name: secret })) }),
        asOrg,
      ),
      send(
        op.AdjustLeaseDocument,
        input({ leaseId, adjust: [{ limit: secret, amount: 1 }], idempotencyKey: randomUUID() }),
        asOrg,
      ),
      send(
        op.CreateEntityDocument,
        input({ entityId: 'user-2', metadata: [0, 1].map(() => ({ name: secret, value: 'v' })) }),
        asOrg,
      ),
      send(op.RegisterDeviceDocument, deviceInput({ capabilities: { sensors: [secret, secret] } }), asOrg),
      post(
        'an operation of this name',
        { query: 'query a { me { kind } } query b { me { kind } }', operationName: secret },
        asOrg,
      ),
      post('no query', { query: { secret } }, asOrg),
      request('invalid JSON', '/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{ ${secret}`,
      }),
      request('a path', `/${encodeURIComponent(secret)}`, {}),
      request('a query string', `/graphql?query=${encodeURIComponent(`{ me(token: ${text}) { kind } }`)}`, {}),
      form('/oauth/token', { grant_type: secret }),
      form('/oauth/token', { grant_type: 'client_credentials', client_id: secret, client_secret: secret }),
      form('/oauth/token', { grant_type: 'refresh_token', refresh_token: `${secret}x` }, basic(clientId, good)),
      send(op.RotateCredentialsDocument, input({ currentSecret: `${secret}x` }), asOrg),
      send(op.DeleteClientDocument, { clientId: secret }, asOrg),
      form('/oauth/token', { grant_type: 'client_credentials', scope: secret }, basic(clientId, good)),
      form('/oauth/token', { grant_type: 'client_credentials' }, basic(secret, secret)),
      form('/oauth/revoke', { token: `${secret}x` }, basic(clientId, good)),
    ]);
  }
}

/** Waits until the gateway serves requests again after the outage. */
async function recovered(headers: Headers): Promise<void> {
  const untilMs = performance.now() + patience * 10_000;
  while (!(await send('{ me { kind } }', {}, headers)).body.includes('DEVICE_KEY')) {
    if (performance.now() > untilMs) throw new Error('the gateway did not recover');
    await sleep(50);
  }
}

async function everythingIn(table: TableName): Promise<string> {
  const plain = (_: string, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
  };
  let text = '';
  for (let after: Key | undefined; ; ) {
    const { items, next } = await app.gateway.services.store.scan(table, after);
    text += JSON.stringify(items, plain);
    if (!next) return text;
    after = next;
  }
}

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  const log = createLog('trace', { write: (line: string) => void lines.push(line) });
  app = await startTestApp({
    endpoint: proxy.endpoint,
    log,
    config: { rootSecrets: [rootSecret], principalConcurrency: 0 },
  });
  const run = await issueAll();
  await sendMisplaced(run);
  await issueUnderFaults(run);
  await recovered({ 'x-api-key': run.deviceKey });
  for (const table of tableNames) stored.set(table, await everythingIn(table));
  // An unexpected error is logged with all its details.
  await app.tableAdmin.client.send(
    new DeleteTableCommand({ TableName: `${app.config.store.tablePrefix}refresh_tokens` }),
  );
  await send(op.IssueTokenDocument, input({ clientId: run.org.clientId, clientSecret: run.org.secret }));
  await send(op.RefreshTokenDocument, { refreshToken: run.org.refresh });
  await form(
    '/oauth/token',
    { grant_type: 'refresh_token', refresh_token: run.org.refresh },
    basic(run.org.clientId, run.org.secret),
  );
  metricsPages.push(
    await (await fetch(`${app.origin}/metrics`)).text(),
    await (await fetch(`${app.origin}/.well-known/jwks.json`)).text(),
  );
});
afterAll(async () => {
  await app.stop();
  await proxy.stop();
});

/** The confidential part of a secret, without prefix, key id or claims. */
function confidentialPart(secret: string): string {
  if (secret.startsWith('tgk_')) return secret.slice(-64);
  if (/^tg[a-z]_/.test(secret)) return secret.slice(4);
  if (secret.startsWith('eyJ')) return secret.slice(secret.lastIndexOf('.') + 1);
  // A lease begins with its signature. For any other text the second half is enough.
  return secret.length > 100 ? secret.slice(0, 21) : secret.slice(secret.length / 2);
}

/** The three forms of a secret inside a longer text in base64, which depend on its offset. */
function base64Inside(secret: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.from('x'.repeat(offset) + secret).toString('base64url');
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + secret.length) * 8) / 6));
  });
}

const tracesOf = (secret: string): string[] =>
  [secret, confidentialPart(secret)].flatMap((text) => [
    text,
    Buffer.from(text).toString('hex'),
    ...base64Inside(text).flatMap((code) => [code, base64Of(code)]),
  ]);
const base64Of = (base64url: string): string => base64url.replaceAll('-', '+').replaceAll('_', '/');

const secretsOfTheGateway = (): [name: string, secret: string][] => [
  ['admin key', adminKey],
  ['root secret', rootSecret],
  ...app.config.signingKeys.map(({ d = '' }): [string, string] => ['signing key', d]),
];
const all = (): [name: string, secret: string][] => [...issued, ...secretsOfTheGateway()];

/** The names of the secrets in a text, without those that it may contain. */
function secretsIn(text: string, allowed: ReadonlySet<string> = new Set()): string[] {
  const found = all().filter(
    ([, secret]) => !allowed.has(secret) && tracesOf(secret).some((trace) => text.includes(trace)),
  );
  const [unknown] = (text.match(new RegExp(anySecret, 'g')) ?? []).filter(
    (text) => !allowed.has(text) && !all().some(([, secret]) => secret.includes(text)),
  );
  return [...found.map(([name]) => name), ...(unknown ? ['an unknown secret'] : [])];
}

describe('a secret', () => {
  it('is found by the search, whole or in part, plain or encoded', () => {
    for (const [name, secret] of all()) {
      for (const text of [secret, confidentialPart(secret)]) {
        const seen = [
          text,
          Buffer.from(text).toString('hex'),
          Buffer.from(`id:${text}`).toString('base64'),
          Buffer.from(`a${text}.`).toString('base64url'),
        ];
        for (const trace of seen) expect(secretsIn(`{"a":"${trace}"}`)).toContain(name);
      }
    }
    expect(secretsIn(`tgs_${randomBytes(32).toString('base64url')}`)).toEqual(['an unknown secret']);
    expect(secretsIn(JSON.stringify(orgInput()))).toEqual([]);
  });

  it('was issued in every possible way, also while DynamoDB failed', () => {
    const kinds = [...issued.values()].map((secret) => /^(tg[a-z]_|eyJ)/.exec(secret)?.[0] ?? 'lease');
    expect([...new Set(kinds)].sort()).toEqual(['eyJ', 'lease', 'tgc_', 'tgk_', 'tgl_', 'tgr_', 'tgs_', 'tgt_']);
    expect(issued.size).toBeGreaterThan(25);
    expect(faultHits).toBeGreaterThan(40);
    const logged = lines.join('');
    for (const message of ['"unexpected error"', '"request"']) expect(logged).toContain(message);
    expect(responses.filter(({ text }) => text.includes('SERVICE_UNAVAILABLE')).length).toBeGreaterThan(10);
  });

  it.each(tableNames)('is in no item of the table %s', (table) => {
    expect(secretsIn(stored.get(table) ?? '')).toEqual([]);
  });

  it('is stored as a hash', () => {
    expect([...stored.keys()]).toEqual(tableNames);
    expect(stored.get('api_keys')?.match(/"api_key_hash":"[0-9a-f]{64}"/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stored.get('config')).toMatch(/"client_secret_hash":"\$2[aby]\$04\$/);
    for (const table of [
      'refresh_tokens',
      'secret_retrieval_tokens',
      'revoked_tokens',
      'limiter',
    ] satisfies TableName[])
      expect(stored.get(table)?.length).toBeGreaterThan(100);
  });

  it('is in no call to DynamoDB', () => {
    const calls = proxy.calls.map(({ operation, tables, body }) => ({
      call: `${operation} ${tables.join(' ')}`,
      body: JSON.stringify(body),
    }));
    expect(calls.length).toBeGreaterThan(150);
    const whole = calls.map(({ body }) => body).join('\n');
    expect(secretsIn(whole)).toEqual([]);
  });

  it('needs no call that the policy of the gateway does not allow', () => {
    // The test makes the scans.
    const calls = proxy.calls.filter(({ operation }) => operation !== 'Scan');
    expect(deniedBy('GatewayPolicy', calls)).toEqual([]);
  });

  it('is in no log line', () => {
    expect(lines.length).toBeGreaterThan(150);
    const leaking = lines.filter((line) => secretsIn(line).length > 0);
    expect(leaking.map((line) => ({ line, secrets: secretsIn(line) }))).toEqual([]);
  });

  it('is in no response except the one that hands it out', () => {
    const leaking = responses
      .map(({ to, text, allowed }) => ({ to, text, secrets: secretsIn(text, allowed) }))
      .filter(({ secrets }) => secrets.length > 0);
    const each = new Map(leaking.map(({ to, text, secrets }) => [to, `${secrets[0]}: ${text}`]));
    expect(Object.fromEntries(each)).toEqual({});
  });

  it('is never used as a request id, which is in every error and log line', async () => {
    const fit = [...issued, ['admin key', adminKey] as const].filter(([, secret]) =>
      /^[A-Za-z0-9._:-]{1,128}$/.test(secret),
    );
    expect(fit.length).toBeGreaterThan(10);
    const before = lines.length;
    const leaking = await Promise.all(
      fit.map(async ([name, secret]) => {
        const { text } = await send('{ me { kind } }', {}, { 'x-request-id': secret });
        return secretsIn(text).length > 0 ? [name] : [];
      }),
    );
    expect({ responses: leaking.flat(), lines: lines.slice(before).flatMap((line) => secretsIn(line)) }).toEqual({
      responses: [],
      lines: [],
    });
  });

  it('is neither in the metrics nor in the public keys', () => {
    const [metrics = '', keys = ''] = metricsPages;
    expect(metrics).toContain('tollgate_logins_total');
    expect(keys).toContain('"kid"');
    expect(secretsIn(metrics)).toEqual([]);
    expect(secretsIn(keys)).toEqual([]);
  });
});
