import { ingest, issuesOf, minuteMs, newMac, register, registration, times, useDevices } from '../support/devices.js';
import * as op from '../support/operations.js';

const fleet = useDevices();
const { find, move, newDevice, newSite, reading } = fleet;

describe('registerDevice', () => {
  it('creates a device with the sensors, features and name that were sent', async () => {
    const site = await newSite();
    const mac = newMac();
    const beganMs = fleet.app.clock.nowMs();
    const input = registration(mac, { friendlyName: 'Greenhouse 1' });
    const { registerDevice } = await site.device.ask(op.RegisterDeviceDocument, { input });
    expect(registerDevice.created).toBe(true);
    const { bootId: lastBootId, ...described } = input;
    expect(registerDevice.device).toMatchObject({ ...described, lastBootId });
    expect(registerDevice.device.confirmationId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(Date.parse(registerDevice.device.firstRegisteredAt)).toBeGreaterThanOrEqual(beganMs);
    expect(registerDevice.device.lastSeenAt).toBe(registerDevice.device.firstRegisteredAt);
    expect(await find(site, mac)).toEqual({ ...registerDevice.device, latestReading: null });
  });

  it('creates a device once when it is sent many times concurrently through two gateways', async () => {
    const site = await newSite();
    const mac = newMac();
    const all = await Promise.all(times(20, (i) => register(i % 2 ? site.device : site.elsewhere, mac)));
    expect(new Set(all.map(({ device }) => device.confirmationId)).size).toBe(1);
    expect(new Set(all.map(({ device }) => device.firstRegisteredAt)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect((await find(site, mac))?.confirmationId).toBe(all[0]?.device.confirmationId);
  });

  it('updates a known device and keeps its confirmation id, first registration and, by default, name', async () => {
    const site = await newSite();
    const mac = newMac();
    const { device: first } = await register(site.device, mac, { friendlyName: 'North' });
    move(5000);
    const next = registration(mac, {
      firmwareVersion: '2.0.0',
      capabilities: { sensors: ['ds18b20'], features: [{ name: 'ota', enabled: false }] },
    });
    for (const input of [next, { ...next, friendlyName: null }]) {
      const { device, created } = (await site.elsewhere.ask(op.RegisterDeviceDocument, { input })).registerDevice;
      expect(created).toBe(false);
      expect(device).toMatchObject({
        id: first.id,
        confirmationId: first.confirmationId,
        firstRegisteredAt: first.firstRegisteredAt,
        friendlyName: 'North',
        firmwareVersion: '2.0.0',
        capabilities: next.capabilities,
        lastBootId: next.bootId,
      });
      expect(Date.parse(device.lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(first.lastSeenAt) + 5000);
    }
    expect((await register(site.device, mac, { friendlyName: 'South' })).device.friendlyName).toBe('South');
  });

  it('keeps the name that renameDevice has set since', async () => {
    const { orgId, mac, device } = await newDevice({ friendlyName: 'Old' });
    await fleet.app.admin.ask(op.RenameDeviceDocument, { orgId, hardwareId: mac, friendlyName: 'New' });
    expect((await register(device, mac)).device.friendlyName).toBe('New');
  });

  it('creates two devices if two orgs register the same MAC address', async () => {
    const [one, two] = [await newSite(), await newSite()];
    const mac = newMac();
    const [first, second] = [await register(one.device, mac, { friendlyName: 'One' }), await register(two.device, mac)];
    expect([first.created, second.created]).toEqual([true, true]);
    expect(second.device.confirmationId).not.toBe(first.device.confirmationId);
    expect(second.device.id).not.toBe(first.device.id);
    expect(await find(one, mac)).toMatchObject({ friendlyName: 'One' });
    expect(await find(two, mac)).toMatchObject({ friendlyName: null });
  });

  it('never moves lastSeenAt back', async () => {
    const { mac, device, ...site } = await newDevice();
    move(10 * minuteMs);
    const { device: later } = await register(device, mac);
    move(-5 * minuteMs);
    const input = registration(mac, { firmwareVersion: '3' });
    const { device: behind, created } = (await device.ask(op.RegisterDeviceDocument, { input })).registerDevice;
    expect(created).toBe(false);
    expect(behind).toMatchObject({
      lastSeenAt: later.lastSeenAt,
      confirmationId: later.confirmationId,
      firmwareVersion: '3',
      lastBootId: input.bootId,
    });
    move(-minuteMs);
    await ingest(device, reading(mac));
    expect((await find(site, mac))?.lastSeenAt).toBe(later.lastSeenAt);
  });

  it('reports every invalid field with its path', async () => {
    const { device } = await newSite();
    const input = registration('aa:bb:cc:dd:ee', {
      bootId: 'c232ab00-9414-11ec-b3c8-9f68deced846',
      firmwareVersion: 'v'.repeat(65),
      friendlyName: 'Größe',
      capabilities: {
        sensors: ['bme280', 'Upper', 'bme280', ...times(31, (i) => `s${i}`)],
        features: [
          { name: '', enabled: true },
          { name: 'x'.repeat(33), enabled: true },
        ],
      },
    });
    expect((await issuesOf(device, op.RegisterDeviceDocument, { input })).map(({ path }) => path)).toEqual([
      'input.hardwareId',
      'input.bootId',
      'input.firmwareVersion',
      'input.friendlyName',
      'input.capabilities.sensors',
      'input.capabilities.sensors.1',
      'input.capabilities.sensors.2',
      'input.capabilities.features.0',
      'input.capabilities.features.1',
    ]);
  });

  it.each<[string, Partial<op.RegisterDeviceInput>, string]>([
    ['a MAC address without colons', { hardwareId: 'AABBCCDDEEFF' }, 'input.hardwareId'],
    ['a MAC address followed by a newline', { hardwareId: 'AA:BB:CC:DD:EE:FF\n' }, 'input.hardwareId'],
    ['a MAC address of seven bytes', { hardwareId: 'AA:BB:CC:DD:EE:FF:00' }, 'input.hardwareId'],
    ['an empty name', { friendlyName: '' }, 'input.friendlyName'],
    ['a name of 65 characters', { friendlyName: 'n'.repeat(65) }, 'input.friendlyName'],
    ['an empty firmware version', { firmwareVersion: '' }, 'input.firmwareVersion'],
    [
      '33 features',
      { capabilities: { sensors: [], features: times(33, (i) => ({ name: `f${i}`, enabled: true })) } },
      'input.capabilities.features',
    ],
  ])('refuses %s and creates no device', async (_, overrides, path) => {
    const site = await newSite();
    const mac = newMac();
    expect(
      await issuesOf(site.device, op.RegisterDeviceDocument, { input: registration(mac, overrides) }),
    ).toMatchObject([{ path }]);
    expect(await find(site, mac)).toBeNull();
  });

  it('accepts names and lists of the maximum length', async () => {
    const { device } = await newSite();
    const names = times(32, (i) => `a${String(i).padStart(2, '0')}${'x'.repeat(29)}`);
    const capabilities = { sensors: names, features: names.map((name) => ({ name, enabled: false })) };
    const registered = await register(device, newMac(), {
      friendlyName: '~'.repeat(64),
      firmwareVersion: 'v'.repeat(64),
      capabilities,
    });
    expect(registered.device.capabilities.sensors).toEqual(names);
    expect(new Set(registered.device.capabilities.features.map(({ name }) => name))).toEqual(new Set(names));
  });

  it('allows device keys and org clients, and refuses the platform admin and anonymous callers', async () => {
    const site = await newSite();
    const variables = { input: registration(newMac()) };
    expect(await fleet.app.admin.codeOf(op.RegisterDeviceDocument, variables)).toBe('FORBIDDEN');
    expect(await fleet.app.anonymous.codeOf(op.RegisterDeviceDocument, variables)).toBe('UNAUTHENTICATED');
    expect((await site.org.ask(op.RegisterDeviceDocument, variables)).registerDevice.created).toBe(true);
  });
});

describe('renameDevice', () => {
  it('sets the name of a device, removes it with null, and audits both', async () => {
    const { orgId, mac, org } = await newDevice();
    const before = await find({ orgId }, mac);
    const rename = async (friendlyName: string | null) =>
      (await org.ask(op.RenameDeviceDocument, { hardwareId: mac, friendlyName })).renameDevice;
    const { latestReading: _none, ...rest } = before ?? {};
    expect(await rename('Barn')).toEqual({ ...rest, friendlyName: 'Barn' });
    expect(await find({ orgId }, mac)).toEqual({ ...before, friendlyName: 'Barn' });
    expect(await rename(null)).toMatchObject({ friendlyName: null });
    expect(await find({ orgId }, mac)).toEqual(before);
    const { org: audited } = await org.ask(op.AuditDocument, { entityId: `$DEVICE:${mac}` });
    const renames = audited?.auditEvents.nodes.filter(({ action }) => action === 'device_renamed') ?? [];
    expect(renames.map(({ action, entityId, details }) => [action, entityId, details])).toEqual([
      ['device_renamed', `$DEVICE:${mac}`, []],
      ['device_renamed', `$DEVICE:${mac}`, [{ name: 'friendly_name', value: 'Barn', previousValue: null }]],
    ]);
  });

  it('returns NOT_FOUND for an unknown device and for one of another org, and creates none', async () => {
    const [mine, theirs] = [await newDevice(), await newDevice({ friendlyName: 'Theirs' }, await newSite())];
    const unknown = newMac();
    for (const hardwareId of [unknown, theirs.mac])
      expect(await mine.org.codeOf(op.RenameDeviceDocument, { hardwareId, friendlyName: 'Mine' })).toBe('NOT_FOUND');
    expect(
      await mine.org.codeOf(op.RenameDeviceDocument, {
        orgId: theirs.orgId,
        hardwareId: theirs.mac,
        friendlyName: 'Mine',
      }),
    ).toBe('NOT_FOUND');
    expect(await find(mine, unknown)).toBeNull();
    expect(await find(theirs, theirs.mac)).toMatchObject({ friendlyName: 'Theirs' });
    const { org } = await mine.org.ask(op.AuditDocument, { entityId: `$DEVICE:${unknown}` });
    expect(org?.auditEvents.nodes).toEqual([]);
  });

  it('reports every invalid field, and refuses device keys', async () => {
    const { mac, org, device } = await newDevice();
    expect(
      (await issuesOf(org, op.RenameDeviceDocument, { hardwareId: 'x', friendlyName: '' })).map(({ path }) => path),
    ).toEqual(['hardwareId', 'friendlyName']);
    expect(await device.codeOf(op.RenameDeviceDocument, { hardwareId: mac, friendlyName: 'Me' })).toBe('FORBIDDEN');
  });
});
