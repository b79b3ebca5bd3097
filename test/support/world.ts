import { randomUUID } from 'node:crypto';
import { type Answer, Caller, type Client, logInWith, newApp, newOrg, type TestApp } from './app.js';
import * as op from './operations.js';

export type Role = 'anonymous' | 'admin' | 'org' | 'app' | 'device';
export const roles: readonly Role[] = ['anonymous', 'admin', 'org', 'app', 'device'];

/** An org with one caller of each role, an app `chat` and an app `sibling`. */
export interface World {
  readonly app: TestApp;
  readonly org: Client & { readonly orgId: string };
  readonly client: Client & { readonly orgId: string; readonly appId: string };
  readonly callers: Readonly<Record<Role, Caller>>;
  /** A client of the org with the role READ. */
  readonly reader: Caller;
}

export const costInput = () => ({ requestId: randomUUID(), modelLabel: 'premium', inputTokens: 1, outputTokens: 1 });
/** It brings its limits, so that none have to be set. */
export const acquireInput = () => ({
  entityId: `user-${randomUUID()}`,
  resource: 'api',
  consume: [{ limit: 'rpm', amount: 1 }],
  limits: [{ name: 'rpm', capacity: 10, refillPeriodSecs: 60 }],
});
export const hardwareId = 'AA:BB:CC:DD:EE:FF';
export const deviceInput = {
  hardwareId,
  bootId: randomUUID(),
  firmwareVersion: '1.0.0',
  capabilities: { sensors: ['bme280'] },
};
export const readingInput = () => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: Date.now(),
  bootId: deviceInput.bootId,
  firmwareVersion: '1.0.0',
  sensors: { humidityPct: 40 },
  sensorStatus: {},
});
export async function newWorld(app: TestApp): Promise<World> {
  const org = await newOrg(app, { appsMayBringLimits: true, ledger: true });
  const client = await newApp(app, org, 'chat');
  await newApp(app, org, 'sibling');
  const { createApiKey } = await org.caller.ask(op.CreateApiKeyDocument, { input: {} });
  const device = new Caller(app.url, { 'x-api-key': createApiKey.secret });
  await device.ask(op.RegisterDeviceDocument, { input: deviceInput });
  const { createClient } = await app.admin.ask(op.CreateClientDocument, {
    input: { orgId: org.orgId, name: 'Reader', role: 'READ' },
  });
  const reader = (await logInWith(app, createClient.secretRetrieval.token)).caller;
  return {
    app,
    org,
    client,
    reader,
    callers: { anonymous: app.anonymous, admin: app.admin, org: org.caller, app: client.caller, device },
  };
}

/** The global id of an object. */
export const idOf = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

/** The code of the first error of a response, or `ok`. */
export const outcomeOf = ({ errors }: Answer<unknown>): string => errors?.[0]?.extensions.code ?? 'ok';
