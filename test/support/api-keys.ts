import { randomUUID } from 'node:crypto';
import { Caller, type TestApp } from './app.js';
import { codeIn, whoAmI } from './identity.js';
import * as op from './operations.js';

export const hardwareId = 'AA:BB:CC:DD:EE:FF';

export const createKey = async (caller: Caller, input: op.CreateApiKeyInput = {}) =>
  (await caller.ask(op.CreateApiKeyDocument, { input })).createApiKey;

export const revokeKey = async (caller: Caller, keyId: string) =>
  (await caller.ask(op.RevokeApiKeyDocument, { keyId })).revokeApiKey;

/** A caller that presents a device key. */
export const deviceCaller = (at: TestApp, secret: string) => new Caller(at.url, { 'x-api-key': secret });

/** The result of a query with a device key: an error code or `ok`. */
export const tryKeyAt = async (at: TestApp, secret: string): Promise<string> =>
  codeIn(await deviceCaller(at, secret).send(whoAmI));

export const keysPage = async (caller: Caller, variables: op.ApiKeysQueryVariables = {}) => {
  const { org } = await caller.ask(op.ApiKeysDocument, variables);
  if (!org) throw new Error('the caller has no org');
  return org.apiKeys;
};

export const keyOf = async (caller: Caller, keyId: string) =>
  (await keysPage(caller, { first: 100 })).nodes.find((key) => key.keyId === keyId);

export const deviceInput = (change: Partial<op.RegisterDeviceInput> = {}): op.RegisterDeviceInput => ({
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.0',
  capabilities: { sensors: ['bme280'] },
  ...change,
});

export const readingInput = (timestampMs: number): op.ReadingInput => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs,
  bootId: randomUUID(),
  firmwareVersion: '1.0.0',
  sensors: { humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
});
