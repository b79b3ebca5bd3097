import type { Item, Key, StoreClient, Write } from '../dynamo/client.js';
import { absent, atMost, equals, lessThan, or, present } from '../dynamo/expression.js';
import type { Draft } from '../lib/draft.js';
import type { Capabilities, Device, DeviceRef, Registration } from './device.js';
import { deviceIndexKey, deviceKey } from './device-keys.js';

const table = 'devices';

export interface DevicePosition {
  readonly hardwareId: string;
  readonly lastSeenAt: Date;
}

export class DeviceStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Makes a device known, or brings it up to date: what it got at its first registration it keeps, so concurrent
   * registrations agree. Its name changes only when one is sent, so that a reboot does not undo a rename.
   */
  async register(
    orgId: string,
    { hardwareId, bootId, firmwareVersion, friendlyName, capabilities }: Registration,
    confirmationId: string,
    at: Date,
  ): Promise<Device> {
    const target = deviceKey({ orgId, hardwareId });
    const seenAt = at.toISOString();
    const set = {
      last_boot_id: bootId,
      firmware_version: firmwareVersion,
      capabilities: { sensors: [...capabilities.sensors], features: Object.fromEntries(capabilities.features.map(({ name, enabled }) => [name, enabled])) },
      gsi1pk: deviceIndexKey(orgId),
      ...(typeof friendlyName === 'string' ? { friendly_name: friendlyName } : {}),
    };
    const setIfAbsent = { confirmation_id: confirmationId, first_registered_at: seenAt };
    const options = { returnNew: 'all', repeat: 'idempotent' } as const;
    const seen = { last_seen_at: seenAt, gsi1sk: seenAt };
    const isLater = or(absent('last_seen_at'), atMost('last_seen_at', seenAt));
    const outcome = await this.client.write({ table, update: target, set: { ...set, ...seen }, setIfAbsent, condition: isLater }, options);
    if (outcome.done) return toDevice(outcome.item as Item);
    // By another gateway's clock it was seen later: that stays.
    const known = await this.client.write({ table, update: target, set, condition: present('last_seen_at') }, options);
    if (!known.done) throw new Error('a device that was there is gone');
    return toDevice(known.item as Item);
  }

  async loadMany(refs: readonly DeviceRef[], { consistent = false } = {}): Promise<(Device | undefined)[]> {
    const items = await this.client.getMany(table, refs.map(deviceKey), { consistent });
    return items.map((item) => item && toDevice(item));
  }

  /** Most recently seen first, after the position named. */
  async list(orgId: string, limit: number, after?: DevicePosition): Promise<Device[]> {
    const gsi1pk = deviceIndexKey(orgId);
    const start: { after?: Key } = after
      ? { after: { ...deviceKey({ orgId, hardwareId: after.hardwareId }), gsi1pk, gsi1sk: after.lastSeenAt.toISOString() } }
      : {};
    const found = await this.client.queryIndexed({ table, index: 'gsi1', where: equals('gsi1pk', gsi1pk), newestFirst: true, limit, ...start });
    // Each at the place in the list where it was found, though it may have been seen again since.
    return found.map(({ entry, item }) => ({ ...toDevice(item), lastSeenAt: new Date(entry.gsi1sk as string) }));
  }

  /** Names a device, or takes its name away; false where there is none. */
  async rename(ref: DeviceRef, friendlyName: string | undefined, drafts: readonly Draft[]): Promise<boolean> {
    const change = friendlyName === undefined ? { remove: ['friendly_name'] } : { set: { friendly_name: friendlyName } };
    const { done } = await this.client.transact('fresh', [
      { table, update: deviceKey(ref), ...change, condition: present('hardware_id') },
      ...(drafts as readonly Write[]),
    ]);
    return done;
  }

  /** Moves the moment a device was last seen, unless it was seen since `notSince`. It never moves back. */
  async touch(ref: DeviceRef, at: Date, notSince: Date): Promise<void> {
    const seenAt = at.toISOString();
    await this.client.write(
      { table, update: deviceKey(ref), set: { last_seen_at: seenAt, gsi1sk: seenAt }, condition: lessThan('last_seen_at', notSince.toISOString()) },
      { repeat: 'idempotent' },
    );
  }
}

function toDevice(item: Item): Device {
  const [orgId = '', hardwareId = ''] = (item.hardware_id as string).split('/');
  const { sensors, features } = item.capabilities as { sensors: string[]; features: Record<string, boolean> };
  const capabilities: Capabilities = { sensors, features: Object.entries(features).map(([name, enabled]) => ({ name, enabled })) };
  return {
    nodeType: 'Device',
    orgId,
    hardwareId,
    confirmationId: item.confirmation_id as string,
    ...(item.friendly_name === undefined ? {} : { friendlyName: item.friendly_name as string }),
    firmwareVersion: item.firmware_version as string,
    capabilities,
    firstRegisteredAt: new Date(item.first_registered_at as string),
    lastSeenAt: new Date(item.last_seen_at as string),
    lastBootId: item.last_boot_id as string,
  };
}
