import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import WebSocket from 'ws';
import { sleep } from '../../src/lib/timers.js';
import {
  createKey,
  deviceCaller,
  deviceInput,
  hardwareId,
  keyOf,
  readingInput,
  revokeKey,
  tryKeyAt,
} from '../support/api-keys.js';
import {
  type Answer,
  type Caller,
  type Client,
  newOrg,
  type PublicError,
  startTestApp,
  stoppedAfterAll,
  type TestApp,
} from '../support/app.js';
import { codeIn, eventually, frozenClock, minuteMs } from '../support/identity.js';
import * as op from '../support/operations.js';

let app: TestApp;
let org: Client & { readonly orgId: string };
const open = stoppedAfterAll();

beforeAll(async () => {
  app = await open(startTestApp());
  org = await newOrg(app);
});

const keyed = (secret: string, at = app) => deviceCaller(at, secret);
const tryKey = (secret: string, at = app) => tryKeyAt(at, secret);
const bearer = ({ accessToken }: Client) => ({ authorization: `Bearer ${accessToken}` });

describe('a device key', () => {
  let device: Caller;
  beforeAll(async () => {
    device = keyed((await createKey(org.caller)).secret);
  });

  it('registers a device and sends readings for its org', async () => {
    const { registerDevice } = await device.ask(op.RegisterDeviceDocument, { input: deviceInput() });
    expect(registerDevice).toMatchObject({ created: true, device: { hardwareId } });
    const reading = readingInput(app.clock.nowMs());
    const { ingest } = await device.ask(op.IngestDocument, { input: { readings: [reading] } });
    expect(ingest).toMatchObject({ settledBatchIds: [reading.batchId], verdicts: [{ kind: 'STORED' }] });
    expect((await org.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.latestReading?.batchId).toBe(
      reading.batchId,
    );
  });

  it('keeps devices of two orgs apart that have the same MAC address', async () => {
    const foreign = await newOrg(app);
    const theirs = keyed((await createKey(foreign.caller)).secret);
    await device.ask(op.RegisterDeviceDocument, { input: deviceInput() });
    const { ingest } = await theirs.ask(op.IngestDocument, { input: { readings: [readingInput(app.clock.nowMs())] } });
    expect(ingest.verdicts).toMatchObject([{ kind: 'REJECTED', error: { code: 'DEVICE_NOT_FOUND' } }]);
    expect((await foreign.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device).toBeNull();
    const ownId = (await org.caller.ask(op.DeviceOfDocument, { hardwareId })).org?.device?.confirmationId;
    const { registerDevice } = await theirs.ask(op.RegisterDeviceDocument, { input: deviceInput() });
    expect(registerDevice.created).toBe(true);
    expect(registerDevice.device.confirmationId).not.toBe(ownId);
  });

  it('reads its own kind, the models and the settings of its org', async () => {
    expect((await device.ask(op.MeDocument)).me.kind).toBe('DEVICE_KEY');
    expect((await device.ask(op.ModelsDocument)).models.length).toBeGreaterThan(0);
    expect(await device.ask('{ org { orgId timezone } }')).toEqual({
      org: { orgId: org.orgId, timezone: 'America/New_York' },
    });
    const foreign = await newOrg(app);
    expect((await device.ask(op.OrgDocument, { orgId: foreign.orgId })).org).toBeNull();
  });

  it.each([
    'credentials { clientId graceExpiresAt }',
    'quotas { label dailyUsdMicros }',
    'clients { clientId }',
    'apps { nodes { credentials { clientId } } }',
  ])('is refused { %s } of its org, whichever way it queries', async (field) => {
    const node = Buffer.from(JSON.stringify(['Org', org.orgId])).toString('base64url');
    for (const query of [
      `{ org { ${field} } }`,
      `{ me { org { ${field} } } }`,
      `{ node(id: "${node}") { ... on Org { ${field} } } }`,
    ]) {
      const { data, errors } = await device.send(query);
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
      expect(JSON.stringify(data)).not.toMatch(/org-|premium/);
    }
  });

  it.each<[string, () => Promise<Answer<unknown>>]>([
    ['create a key', () => device.send(op.CreateApiKeyDocument, { input: {} })],
    ['revoke a key', () => device.send(op.RevokeApiKeyDocument, { keyId: randomUUID() })],
    ['list keys', () => device.send(op.ApiKeysDocument, {})],
    ['list devices', () => device.send(op.DevicesDocument, {})],
    ['read a device', () => device.send(op.DeviceOfDocument, { hardwareId })],
    ['rename a device', () => device.send(op.RenameDeviceDocument, { hardwareId, friendlyName: 'x' })],
    ['read the audit trail', () => device.send(op.AuditDocument, {})],
    ['subscribe to readings', () => device.subscribeOnce(print(op.ReadingsDocument), { hardwareId })],
    ['subscribe to alerts', () => device.subscribeOnce('subscription { quotaAlerts { id } }', {})],
  ])('may not %s', async (_what, attempt) => {
    expect(codeIn(await attempt())).toBe('FORBIDDEN');
  });
});

describe('a device key over a WebSocket', () => {
  /** Connects with a credential and subscribes. Returns the errors, or how the socket was closed. */
  async function overWebSocket(credentials: Record<string, unknown>, query: string, variables: object) {
    const socket = new WebSocket(app.url, 'graphql-transport-ws');
    try {
      return await new Promise<{
        readonly closed?: number;
        readonly reason?: string;
        readonly errors?: readonly PublicError[];
      }>((resolve, reject) => {
        socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: credentials })));
        socket.on('message', (data) => {
          const { type, payload } = JSON.parse(String(data)) as { type: string; payload?: unknown };
          if (type === 'connection_ack')
            socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
          if (type === 'error') resolve({ errors: payload as PublicError[] });
          if (type === 'next') resolve({ errors: (payload as { errors?: PublicError[] }).errors ?? [] });
        });
        socket.on('close', (closed, reason) => resolve({ closed, reason: String(reason) }));
        socket.on('error', reject);
      });
    } finally {
      socket.terminate();
    }
  }
  const follow = (credentials: Record<string, unknown>) =>
    overWebSocket(credentials, print(op.ReadingsDocument), { hardwareId });

  it.each(['x-api-key', 'X-API-Key'])('is accepted as %s, but may not subscribe to readings', async (name) => {
    const { secret } = await createKey(org.caller);
    const { errors } = await follow({ [name]: secret });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  });

  it('closes the socket if it is wrong, revoked or not a string, or comes with another credential', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    expect(await follow({ 'x-api-key': `${secret}0` })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
    expect(await follow({ 'x-api-key': 1 })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
    expect(await follow({ 'x-api-key': secret, ...bearer(org) })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^BAD_USER_INPUT/),
    });
    await revokeKey(org.caller, apiKey.keyId);
    expect(await follow({ 'x-api-key': secret })).toMatchObject({
      closed: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED/),
    });
  });

  it('closes its open socket when it is revoked', async () => {
    const { apiKey, secret } = await createKey(org.caller);
    const socket = new WebSocket(app.url, 'graphql-transport-ws');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { 'x-api-key': secret } })));
    await new Promise((resolve) => socket.once('message', resolve));
    await revokeKey(org.caller, apiKey.keyId);
    expect(await closed).toBe(4403);
  });
});

describe('ApiKey.lastUsedAt', () => {
  let frozen: TestApp;
  let own: Client & { readonly orgId: string };
  beforeAll(async () => {
    frozen = await open(startTestApp({ clock: frozenClock() }));
    own = await newOrg(frozen);
  });
  const lastUse = async (keyId: string) => (await keyOf(own.caller, keyId))?.lastUsedAt ?? null;
  const now = () => new Date(frozen.clock.nowMs()).toISOString();
  /** Waits for the update, which runs in the background of the response. */
  const noted = (keyId: string, at: string) => eventually(async () => (await lastUse(keyId)) ?? 'never', at);
  const settled = () => sleep(100);

  it('is set by the first use and then updated at most every five minutes', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    const { keyId } = apiKey;
    expect(await lastUse(keyId)).toBeNull();
    frozen.clock.advance(1000);
    const first = now();
    await tryKey(secret, frozen);
    expect(await noted(keyId, first)).toBe(first);
    for (const ms of [1, 2 * minuteMs, 3 * minuteMs - 2]) {
      frozen.clock.advance(ms);
      await tryKey(secret, frozen);
      await settled();
      expect(await lastUse(keyId)).toBe(first);
    }
    frozen.clock.advance(2);
    await tryKey(secret, frozen);
    const later = now();
    expect(await noted(keyId, later)).toBe(later);
  });

  it('costs no write between two updates', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    frozen.clock.advance(1);
    await tryKey(secret, frozen);
    await noted(apiKey.keyId, now());
    const { consumed } = frozen.gateway.services.store;
    const before = consumed.write;
    for (let i = 0; i < 5; i++) await tryKey(secret, frozen);
    await settled();
    expect(consumed.write).toBe(before);
  });

  it('is not updated by a refused request', async () => {
    const { apiKey, secret } = await createKey(own.caller);
    await tryKey(`${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, frozen);
    await revokeKey(own.caller, apiKey.keyId);
    await tryKey(secret, frozen);
    await settled();
    expect(await lastUse(apiKey.keyId)).toBeNull();
  });

  it('is not updated too early by a second gateway', async () => {
    const second = await open(frozen.another());
    const { apiKey, secret } = await createKey(own.caller);
    frozen.clock.advance(1);
    const first = now();
    await tryKey(secret, frozen);
    expect(await noted(apiKey.keyId, first)).toBe(first);
    frozen.clock.advance(minuteMs);
    await tryKey(secret, second);
    await settled();
    expect(await lastUse(apiKey.keyId)).toBe(first);
  });

  it('is exact to five minutes, whichever gateways the key is used on', async () => {
    const second = await open(frozen.another());
    const { apiKey, secret } = await createKey(own.caller);
    frozen.clock.advance(1);
    await tryKey(secret, frozen);
    expect(await noted(apiKey.keyId, now())).toBe(now());
    // The second gateway sees the key for the first time just after the first one has updated it.
    for (let minutes = 0; minutes < 9; minutes += 3) {
      frozen.clock.advance(3 * minuteMs);
      await tryKey(secret, second);
      await settled();
      expect(frozen.clock.nowMs() - Date.parse((await lastUse(apiKey.keyId)) ?? '')).toBeLessThanOrEqual(5 * minuteMs);
    }
  });
});
