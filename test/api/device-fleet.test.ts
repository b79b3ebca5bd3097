import { randomUUID } from 'node:crypto';
import type { Config } from '../../src/config.js';
import { Caller, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { minuteMs, newMac, register, registration, times } from '../support/devices.js';
import * as op from '../support/operations.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
});
const others: TestApp[] = [];
afterAll(() => Promise.all([app, ...others].map((each) => each.stop())));
/** Another gateway on the same store, stopped after the tests. */
async function openAnother(overrides: Partial<Config>): Promise<TestApp> {
  const another = await app.another(overrides);
  others.push(another);
  return another;
}

const reading = (hardwareId: string): op.ReadingInput => ({
  hardwareId,
  batchId: randomUUID(),
  timestampMs: app.clock.nowMs() - 1000,
  bootId: randomUUID(),
  firmwareVersion: '1.0.16',
  sensors: { humidityPct: 40 },
  sensorStatus: {},
});

async function newKey(org: Caller, input: op.CreateApiKeyInput = {}) {
  const { createApiKey } = await org.ask(op.CreateApiKeyDocument, { input });
  return {
    keyId: createApiKey.apiKey.keyId,
    apiKey: createApiKey.apiKey,
    caller: new Caller(app.url, { 'x-api-key': createApiKey.secret }),
  };
}
const mayRegister = async (caller: Caller, hardwareId: string): Promise<string> => {
  const { errors } = await caller.send(op.RegisterDeviceDocument, { input: registration(hardwareId) });
  return errors?.[0]?.extensions.code ?? 'ok';
};
const verdictFor = async (caller: Caller, hardwareId: string): Promise<string> => {
  const [verdict] = (await caller.ask(op.IngestDocument, { input: { readings: [reading(hardwareId)] } })).ingest
    .verdicts;
  return verdict?.error?.code ?? String(verdict?.kind);
};
const countOf = async (org: Caller) => (await org.ask(op.DeviceCountDocument, {})).org?.deviceCount;
const find = async (org: Caller, hardwareId: string) =>
  (await org.ask(op.DeviceOfDocument, { hardwareId })).org?.device;
const actionsOf = async (org: Caller, hardwareId: string) =>
  (await org.ask(op.AuditDocument, { entityId: `$DEVICE:${hardwareId}` })).org?.auditEvents.nodes.map(
    ({ action, actor }) => [action, actor],
  );

describe('device ownership', () => {
  it('goes to the first key that registers the device; no other key may update it or send its readings', async () => {
    const { caller: org } = await newOrg(app);
    const [first, second] = [await newKey(org), await newKey(org)];
    const mac = newMac();
    const { device } = await register(first.caller, mac, { friendlyName: 'Mine' });
    expect(device.ownerKeyId).toBe(first.keyId);
    const { errors } = await second.caller.send(op.RegisterDeviceDocument, {
      input: registration(mac, { friendlyName: 'pwned', firmwareVersion: '9' }),
    });
    expect(errors).toMatchObject([
      { message: expect.stringContaining('assignDevice'), extensions: { code: 'FORBIDDEN' } },
    ]);
    const { ingest } = await second.caller.ask(op.IngestDocument, {
      input: { readings: [reading(mac), { ...reading(newMac()) }] },
    });
    expect(ingest.verdicts.map(({ kind, error }) => [kind, error?.code])).toEqual([
      ['REJECTED', 'FORBIDDEN'],
      ['REJECTED', 'DEVICE_NOT_FOUND'],
    ]);
    expect(await find(org, mac)).toMatchObject({
      friendlyName: 'Mine',
      firmwareVersion: '1.0.16',
      latestReading: null,
    });
    expect([await mayRegister(first.caller, mac), await verdictFor(first.caller, mac)]).toEqual(['ok', 'STORED']);
  });

  it('goes to exactly one of many keys that register the device concurrently', async () => {
    const { caller: org } = await newOrg(app);
    const keys = await Promise.all(times(6, () => newKey(org)));
    const mac = newMac();
    const outcomes = await Promise.all(keys.map(({ caller }) => mayRegister(caller, mac)));
    expect(outcomes.toSorted()).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'ok']);
    expect((await find(org, mac))?.ownerKeyId).toBe(keys[outcomes.indexOf('ok')]?.keyId);
    expect(await countOf(org)).toBe(1);
  });

  it('stays open while only an org client registers the device, then goes to the first key', async () => {
    const { caller: org } = await newOrg(app);
    const [first, second] = [await newKey(org), await newKey(org)];
    const mac = newMac();
    expect((await register(org, mac)).device.ownerKeyId).toBeNull();
    expect(await verdictFor(second.caller, mac)).toBe('STORED');
    expect((await register(first.caller, mac)).device.ownerKeyId).toBe(first.keyId);
    expect(await mayRegister(second.caller, mac)).toBe('FORBIDDEN');
    expect((await register(org, mac)).device.ownerKeyId).toBe(first.keyId);
    expect(await verdictFor(org, mac)).toBe('STORED');
  });

  it('moves to another key by assignDevice, and this is audited', async () => {
    const { caller: org, clientId } = await newOrg(app);
    const [first, second] = [await newKey(org), await newKey(org)];
    const mac = newMac();
    await register(first.caller, mac);
    const { assignDevice } = await org.ask(op.AssignDeviceDocument, {
      hardwareId: mac.toLowerCase(),
      keyId: second.keyId,
    });
    expect(assignDevice).toMatchObject({ hardwareId: mac, ownerKeyId: second.keyId });
    expect([await mayRegister(first.caller, mac), await verdictFor(first.caller, mac)]).toEqual([
      'FORBIDDEN',
      'FORBIDDEN',
    ]);
    expect([await mayRegister(second.caller, mac), await verdictFor(second.caller, mac)]).toEqual(['ok', 'STORED']);
    expect((await org.ask(op.AssignDeviceDocument, { hardwareId: mac })).assignDevice.ownerKeyId).toBeNull();
    expect(await mayRegister(first.caller, mac)).toBe('ok');
    expect(await actionsOf(org, mac)).toEqual([
      ['device_assigned', clientId],
      ['device_assigned', clientId],
      ['device_registered', `key-${first.keyId}`],
    ]);
    await org.ask(op.RevokeApiKeyDocument, { keyId: second.keyId });
    expect(await org.codeOf(op.AssignDeviceDocument, { hardwareId: mac, keyId: second.keyId })).toBe('NOT_FOUND');
    expect(await org.codeOf(op.AssignDeviceDocument, { hardwareId: newMac() })).toBe('NOT_FOUND');
  });

  it('is shared by a key and its successors until the last of them is revoked', async () => {
    const { caller: org } = await newOrg(app);
    const stranger = await newKey(org);
    const first = await newKey(org);
    const [macs, another] = [times(2, newMac) as [string, string], newMac()];
    for (const mac of macs) await register(first.caller, mac);
    const second = await newKey(org, { replaces: first.keyId });
    const third = await newKey(org, { replaces: second.keyId });
    expect([first, second, third].map(({ apiKey }) => apiKey.ownerId)).toEqual(times(3, () => first.keyId));
    // Old and new keys work during a rotation.
    for (const { caller } of [first, second, third, first])
      expect([await mayRegister(caller, macs[0]), await verdictFor(caller, macs[0])]).toEqual(['ok', 'STORED']);
    await register(third.caller, another);
    for (const { keyId } of [first, second]) {
      await org.ask(op.RevokeApiKeyDocument, { keyId });
      expect([await mayRegister(stranger.caller, macs[0]), await verdictFor(stranger.caller, macs[1])]).toEqual([
        'FORBIDDEN',
        'FORBIDDEN',
      ]);
      expect([await mayRegister(third.caller, macs[0]), await verdictFor(third.caller, macs[1])]).toEqual([
        'ok',
        'STORED',
      ]);
    }
    await org.ask(op.RevokeApiKeyDocument, { keyId: third.keyId });
    await org.ask(op.RevokeApiKeyDocument, { keyId: third.keyId });
    // The new owner takes over by a registration, and by a reading of a device that has not rebooted since.
    expect([await mayRegister(stranger.caller, macs[0]), await verdictFor(stranger.caller, macs[1])]).toEqual([
      'ok',
      'STORED',
    ]);
    expect([(await find(org, macs[0]))?.ownerKeyId, (await find(org, macs[1]))?.ownerKeyId]).toEqual([
      stranger.keyId,
      stranger.keyId,
    ]);
    expect(await org.codeOf(op.CreateApiKeyDocument, { input: { replaces: third.keyId } })).toBe('BAD_USER_INPUT');
  });

  it('goes to a key that is bound to the device, and such a key serves no other device', async () => {
    const { caller: org } = await newOrg(app);
    const fleet = await newKey(org);
    const [mac, other] = [newMac(), newMac()];
    for (const each of [mac, other]) await register(fleet.caller, each);
    const bound = await newKey(org, { hardwareId: mac.toLowerCase() });
    expect(bound.apiKey.hardwareId).toBe(mac);
    expect([
      await mayRegister(bound.caller, other),
      await verdictFor(bound.caller, other),
      await mayRegister(bound.caller, newMac()),
    ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
    // The org bound the key explicitly, so it takes precedence over the key of the fleet.
    expect([await verdictFor(bound.caller, mac), await mayRegister(bound.caller, mac)]).toEqual(['STORED', 'ok']);
    expect([await mayRegister(fleet.caller, mac), await verdictFor(fleet.caller, mac)]).toEqual([
      'FORBIDDEN',
      'FORBIDDEN',
    ]);
    const next = await newKey(org, { replaces: bound.keyId });
    expect(next.apiKey.hardwareId).toBe(mac);
    expect([await mayRegister(next.caller, mac), await mayRegister(next.caller, other)]).toEqual(['ok', 'FORBIDDEN']);
    expect(await countOf(org)).toBe(2);
    expect(await org.codeOf(op.CreateApiKeyDocument, { input: { hardwareId: 'x' } })).toBe('BAD_USER_INPUT');
  });

  it('cannot go to a key of another org', async () => {
    const [one, two] = [await newOrg(app), await newOrg(app)];
    const mac = newMac();
    await register(one.caller, mac);
    const foreign = await newKey(two.caller);
    expect(await one.caller.codeOf(op.AssignDeviceDocument, { hardwareId: mac, keyId: foreign.keyId })).toBe(
      'NOT_FOUND',
    );
    expect(await one.caller.codeOf(op.CreateApiKeyDocument, { input: { replaces: foreign.keyId } })).toBe(
      'BAD_USER_INPUT',
    );
  });
});

describe('a MAC address', () => {
  it('identifies the same device in either case, in every operation', async () => {
    const { caller: org } = await newOrg(app);
    const mac = newMac();
    const lower = mac.toLowerCase();
    expect((await register(org, lower)).device.hardwareId).toBe(mac);
    expect((await register(org, mac)).created).toBe(false);
    expect((await find(org, lower))?.hardwareId).toBe(mac);
    expect(
      (await org.ask(op.RenameDeviceDocument, { hardwareId: lower, friendlyName: 'One' })).renameDevice,
    ).toMatchObject({
      hardwareId: mac,
      friendlyName: 'One',
    });
    expect(await verdictFor(org, lower)).toBe('STORED');
    const subscription = 'subscription ($hardwareId: String!) { readings(hardwareId: $hardwareId) { batchId } }';
    expect((await org.subscribeOnce(subscription, { hardwareId: lower })).errors).toBeUndefined();
    expect((await org.ask(op.DeleteDeviceDocument, { hardwareId: lower })).deleteDevice).toBe(true);
    expect(await find(org, mac)).toBeNull();
  });
});

describe('Org.devices ordered by HARDWARE_ID', () => {
  it('lists every device exactly once while devices send readings', async () => {
    const { caller: org } = await newOrg(app);
    const key = await newKey(org);
    const macs = times(300, newMac);
    for (let i = 0; i < macs.length; i += 50)
      await Promise.all(macs.slice(i, i + 50).map((mac) => register(key.caller, mac)));
    const found: string[] = [];
    for (let after: string | null | undefined, page = 0; ; page++) {
      const { org: read } = await org.ask(op.DevicesDocument, { orderBy: 'HARDWARE_ID', first: 50, after });
      found.push(...(read?.devices.nodes.map(({ hardwareId }) => hardwareId) ?? []));
      after = read?.devices.pageInfo.endCursor;
      if (!read?.devices.pageInfo.hasNextPage) break;
      app.clock.advance(2 * minuteMs);
      const active = macs.filter((_, i) => i % 3 === page % 3);
      await Promise.all(
        [active.slice(0, 50), active.slice(50)].map((some) =>
          key.caller.ask(op.IngestDocument, { input: { readings: some.map(reading) } }),
        ),
      );
    }
    expect(found).toEqual(macs.toSorted());
    expect(await countOf(org)).toBe(300);
  });

  it('refuses a cursor of the other order', async () => {
    const { caller: org } = await newOrg(app);
    for (const mac of times(3, newMac)) await register(org, mac);
    for (const [orderBy, other] of [
      ['HARDWARE_ID', 'LAST_SEEN'],
      ['LAST_SEEN', 'HARDWARE_ID'],
    ] as const) {
      const after = (await org.ask(op.DevicesDocument, { orderBy, first: 1 })).org?.devices.pageInfo.endCursor;
      expect(await org.codeOf(op.DevicesDocument, { orderBy: other, after })).toBe('BAD_USER_INPUT');
    }
    const [byDefault, explicit] = [
      await org.ask(op.DevicesDocument, {}),
      await org.ask(op.DevicesDocument, { orderBy: 'LAST_SEEN' }),
    ];
    expect(byDefault.org?.devices.nodes).toEqual(explicit.org?.devices.nodes);
  });
});

describe('Org.deviceCount', () => {
  it('is exact under concurrent registrations and deletions', async () => {
    const { caller: org } = await newOrg(app);
    const macs = times(12, newMac);
    await Promise.all(macs.flatMap((mac) => [mac, mac].map((each) => register(org, each))));
    expect(await countOf(org)).toBe(12);
    const deleted = await Promise.all(
      macs
        .slice(0, 5)
        .flatMap((mac) => [mac, mac].map((hardwareId) => org.ask(op.DeleteDeviceDocument, { hardwareId }))),
    );
    expect(deleted.filter(({ deleteDevice }) => deleteDevice)).toHaveLength(5);
    expect(await countOf(org)).toBe(7);
  });

  it('is limited: a new device over the limit is refused, and a known one still registers', async () => {
    const small = await openAnother({ devices: { maxPerOrg: 3, newPerKeyPerMinute: 1000 } });
    const org = await newOrg(small);
    const macs = times(6, newMac);
    const outcomes = await Promise.all(macs.map((mac) => mayRegister(org.caller, mac)));
    expect(outcomes.toSorted()).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT', 'BAD_USER_INPUT', 'ok', 'ok', 'ok']);
    expect(await countOf(org.caller)).toBe(3);
    const [known, refused] = [
      macs[outcomes.indexOf('ok')] as string,
      macs[outcomes.indexOf('BAD_USER_INPUT')] as string,
    ];
    expect(await mayRegister(org.caller, known)).toBe('ok');
    await org.caller.ask(op.DeleteDeviceDocument, { hardwareId: known });
    expect(await mayRegister(org.caller, refused)).toBe('ok');
  });

  it('grows at a limited rate per key, and known devices may register at any rate', async () => {
    const slow = await openAnother({ devices: { maxPerOrg: 1000, newPerKeyPerMinute: 4 } });
    const org = await newOrg(slow);
    const [one, two] = [await newKey(org.caller), await newKey(org.caller)].map(
      ({ caller }) => new Caller(slow.url, caller.headers),
    ) as [Caller, Caller];
    const macs = times(4, newMac);
    for (const mac of macs) expect(await mayRegister(one, mac)).toBe('ok');
    const { errors } = await one.send(op.RegisterDeviceDocument, { input: registration(newMac()) });
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSecs: 15 } }]);
    for (const mac of macs) expect(await mayRegister(one, mac)).toBe('ok');
    expect(await mayRegister(two, newMac())).toBe('ok');
    expect(await countOf(org.caller)).toBe(5);
  });
});

it('audits a registration only if it creates the device', async () => {
  const { caller: org, clientId } = await newOrg(app);
  const mac = newMac();
  await register(org, mac);
  await register(org, mac);
  expect(await actionsOf(org, mac)).toEqual([['device_registered', clientId]]);
});
