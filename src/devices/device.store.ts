import type { Item, Key, StoreClient } from '../dynamo/client.js';
import {
  absent,
  and,
  atMost,
  type Changes,
  type Condition,
  equals,
  greaterThan,
  lessThan,
  or,
  present,
} from '../dynamo/expression.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import {
  type Capabilities,
  type Device,
  type DeviceRef,
  type DeviceReport,
  generationOf,
  maxClockSkewMs,
  type Registration,
} from './device.js';
import {
  deletionIndexKey,
  deletionKey,
  deviceCountKey,
  deviceIndexKey,
  deviceKey,
  generationAttribute,
} from './device-keys.js';

const table = 'devices';

export interface DevicePosition {
  readonly hardwareId: string;
  readonly lastSeenAt: Date;
}

/** A registration as it is stored. */
export interface RegistrationWrite {
  readonly registration: Registration;
  readonly at: Date;
  /** The line of keys that owns the device from now on; absent: no change. */
  readonly ownerKeyId?: string;
}

export interface Creation extends RegistrationWrite {
  readonly confirmationId: string;
  readonly maxDevices: number;
  /** A device deleted after this moment must not come back yet. */
  readonly notDeletedSince: Date;
}

export type CreationOutcome =
  | { readonly kind: 'created'; readonly device: Device }
  | { readonly kind: 'exists' | 'full' | 'deleted-lately' };

export class DeviceStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Updates a known device that nobody else owns. It keeps its confirmation id. Its name changes only if one is sent, so
   * that a reboot does not undo a rename. Returns the device as it is now; else the one that was
   * found, which does not fit, or nothing if there is none.
   */
  async refresh(
    orgId: string,
    write: RegistrationWrite,
  ): Promise<{ readonly device?: Device; readonly found?: Device }> {
    const owner = write.ownerKeyId;
    const isOwn = owner === undefined ? [] : [or(absent('owner_key_id'), equals('owner_key_id', owner))];
    const condition = and(
      present('confirmation_id'),
      ...isOwn,
      or(atMost('last_seen_at', write.at.toISOString()), isAhead(write.at)),
    );
    const set = { ...described(write), ...seen(write.at) };
    const outcome = await this.client.write(
      { table, update: deviceKey({ orgId, hardwareId: write.registration.hardwareId }), set, condition },
      { returnNew: 'all', repeat: 'idempotent' },
    );
    if (outcome.done) return { device: toDevice(outcome.item as Item) };
    return outcome.old ? { found: toDevice(outcome.old) } : {};
  }

  /** Updates the device exactly as `found` describes it, whoever owned it; undefined if it has changed hands or life since. */
  async refreshFound(found: Device, write: RegistrationWrite): Promise<Device | undefined> {
    const isLater = found.lastSeenAt <= write.at || found.lastSeenAt.getTime() > write.at.getTime() + maxClockSkewMs;
    // By another gateway's clock it was seen later, within the skew: that time stays.
    const set = { ...described(write), ...(isLater ? seen(write.at) : {}) };
    const condition = and(isSameLife(found), isOwnedAs(found));
    const outcome = await this.client.write(
      { table, update: deviceKey(found), set, condition },
      { returnNew: 'all', repeat: 'idempotent' },
    );
    return outcome.done ? toDevice(outcome.item as Item) : undefined;
  }

  /** Stores a new device and counts it, both or neither. Never exceeds `maxDevices` of the org. */
  async create(orgId: string, creation: Creation, drafts: readonly TransactItem[]): Promise<CreationOutcome> {
    const { registration, at, confirmationId, maxDevices, notDeletedSince } = creation;
    const ref = { orgId, hardwareId: registration.hardwareId };
    const item = {
      ...deviceKey(ref),
      ...described(creation),
      ...seen(at),
      confirmation_id: confirmationId,
      first_registered_at: at.toISOString(),
      gsi1pk: deviceIndexKey(orgId),
      gsi2pk: deviceIndexKey(orgId),
      gsi2sk: ref.hardwareId,
    };
    const isRoom = or(absent('device_count'), lessThan('device_count', maxDevices));
    const isGone = or(
      absent('deleted_at'),
      atMost('deleted_at', notDeletedSince.toISOString()),
      greaterThan('deleted_at', aheadOf(at)),
    );
    const outcome = await this.client.transact(
      'fresh',
      [
        { table, put: item, condition: absent('hardware_id') },
        { table, update: deviceCountKey(orgId), add: { device_count: 1 }, condition: isRoom },
        { table, check: deletionKey(ref), condition: isGone },
      ],
      { riders: drafts },
    );
    if (outcome.done) return { kind: 'created', device: toDevice(item) };
    const failed = outcome.reasons.map(({ kind }) => kind === 'condition');
    if (failed[0]) return { kind: 'exists' };
    return { kind: failed[1] ? 'full' : 'deleted-lately' };
  }

  async loadMany(refs: readonly DeviceRef[], { consistent = false } = {}): Promise<(Device | undefined)[]> {
    const items = await this.client.getMany(table, refs.map(deviceKey), { consistent });
    return items.map((item) => item && toDevice(item));
  }

  /** Exactly how many devices the org has. */
  async count(orgId: string): Promise<number> {
    const item = await this.client.get(table, deviceCountKey(orgId), { consistent: true });
    return (item?.device_count as number | undefined) ?? 0;
  }

  /** Most recently seen first, after the position named. */
  async listByLastSeen(orgId: string, limit: number, after?: DevicePosition): Promise<Device[]> {
    const gsi1pk = deviceIndexKey(orgId);
    const start: { after?: Key } = after
      ? {
          after: {
            ...deviceKey({ orgId, hardwareId: after.hardwareId }),
            gsi1pk,
            gsi1sk: after.lastSeenAt.toISOString(),
          },
        }
      : {};
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', gsi1pk),
      newestFirst: true,
      limit,
      ...start,
    });
    // Each at the place in the list where it was found, though it may have been seen again since.
    return found.map(({ entry, item }) => ({ ...toDevice(item), lastSeenAt: new Date(entry.gsi1sk as string) }));
  }

  /** By hardware id. Nothing a device does moves it in this list. */
  async listByHardwareId(orgId: string, limit: number, after?: string): Promise<Device[]> {
    const gsi2pk = deviceIndexKey(orgId);
    const start: { after?: Key } =
      after === undefined ? {} : { after: { ...deviceKey({ orgId, hardwareId: after }), gsi2pk, gsi2sk: after } };
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi2',
      where: equals('gsi2pk', gsi2pk),
      limit,
      ...start,
    });
    return found.map(({ item }) => toDevice(item));
  }

  /** Names a device, or takes its name away; false where there is none. */
  async rename(ref: DeviceRef, friendlyName: string | undefined, drafts: readonly TransactItem[]): Promise<boolean> {
    const change =
      friendlyName === undefined ? { remove: ['friendly_name'] } : { set: { friendly_name: friendlyName } };
    return this.change(ref, change, drafts);
  }

  /** Hands a device to a line of keys, or to the next key that registers it; false where there is none. */
  async assign(ref: DeviceRef, ownerKeyId: string | undefined, drafts: readonly TransactItem[]): Promise<boolean> {
    const change = ownerKeyId === undefined ? { remove: ['owner_key_id'] } : { set: { owner_key_id: ownerKeyId } };
    return this.change(ref, change, drafts);
  }

  /** Makes a device whose owner was revoked the caller's; false if it has changed hands or life since `found` was read. */
  async claim(found: Device, ownerKeyId: string): Promise<boolean> {
    const condition = and(isSameLife(found), isOwnedAs(found));
    return (
      await this.client.write(
        { table, update: deviceKey(found), set: { owner_key_id: ownerKeyId }, condition },
        { repeat: 'idempotent' },
      )
    ).done;
  }

  /** Deletes a device and leaves word for the worker to delete its readings; false if it is gone or another by now. */
  async delete(device: Device, at: Date, drafts: readonly TransactItem[]): Promise<boolean> {
    const deletedAt = at.toISOString();
    const word = {
      deleted_at: deletedAt,
      gsi1pk: deletionIndexKey,
      gsi1sk: deletedAt,
      [generationAttribute(device.generation)]: deletedAt,
    };
    const { done } = await this.client.transact(
      'fresh',
      [
        { table, delete: deviceKey(device), condition: isSameLife(device) },
        { table, update: deviceCountKey(device.orgId), add: { device_count: -1 }, condition: present('device_count') },
        { table, update: deletionKey(device), set: word },
      ],
      { riders: drafts },
    );
    return done;
  }

  /** Moves the moment a device was last seen, and what it reports of itself if that is newer, unless seen since `notSince`. */
  async touch(device: Device, at: Date, notSince: Date, report?: DeviceReport): Promise<void> {
    const isDue = or(lessThan('last_seen_at', notSince.toISOString()), isAhead(at));
    const isNews = report ? [or(absent('reported_at'), lessThan('reported_at', report.atMs))] : [];
    const reported = report
      ? { firmware_version: report.firmwareVersion, last_boot_id: report.bootId, reported_at: report.atMs }
      : {};
    await this.client.write(
      {
        table,
        update: deviceKey(device),
        set: { ...seen(at), ...reported },
        condition: and(isSameLife(device), isDue, ...isNews),
      },
      { repeat: 'idempotent' },
    );
  }

  private async change(ref: DeviceRef, change: Changes, drafts: readonly TransactItem[]): Promise<boolean> {
    const { done } = await this.client.transact(
      'fresh',
      [{ table, update: deviceKey(ref), ...change, condition: present('confirmation_id') }],
      { riders: drafts },
    );
    return done;
  }
}

const aheadOf = (at: Date): string => new Date(at.getTime() + maxClockSkewMs).toISOString();
/** Further ahead than clocks differ: written by a gateway whose clock was wrong. */
const isAhead = (at: Date): Condition => greaterThan('last_seen_at', aheadOf(at));
const isSameLife = ({ confirmationId }: Device): Condition => equals('confirmation_id', confirmationId);
const isOwnedAs = ({ ownerKeyId }: Device): Condition =>
  ownerKeyId === undefined ? absent('owner_key_id') : equals('owner_key_id', ownerKeyId);
const seen = (at: Date) => ({ last_seen_at: at.toISOString(), gsi1sk: at.toISOString() });

const described = ({
  registration: { bootId, firmwareVersion, friendlyName, capabilities },
  at,
  ownerKeyId,
}: RegistrationWrite) => ({
  last_boot_id: bootId,
  firmware_version: firmwareVersion,
  reported_at: at.getTime(),
  capabilities: {
    sensors: [...capabilities.sensors],
    features: Object.fromEntries(capabilities.features.map(({ name, enabled }) => [name, enabled])),
  },
  ...(typeof friendlyName === 'string' ? { friendly_name: friendlyName } : {}),
  ...(ownerKeyId === undefined ? {} : { owner_key_id: ownerKeyId }),
});

function toDevice(item: Item): Device {
  const [orgId = '', hardwareId = ''] = (item.hardware_id as string).split('/');
  const { sensors, features } = item.capabilities as { sensors: string[]; features: Record<string, boolean> };
  const capabilities: Capabilities = {
    sensors,
    features: Object.entries(features).map(([name, enabled]) => ({ name, enabled })),
  };
  const confirmationId = item.confirmation_id as string;
  return {
    nodeType: 'Device',
    orgId,
    hardwareId,
    generation: generationOf(confirmationId),
    confirmationId,
    ...(item.owner_key_id === undefined ? {} : { ownerKeyId: item.owner_key_id as string }),
    ...(item.friendly_name === undefined ? {} : { friendlyName: item.friendly_name as string }),
    firmwareVersion: item.firmware_version as string,
    capabilities,
    firstRegisteredAt: new Date(item.first_registered_at as string),
    lastSeenAt: new Date(item.last_seen_at as string),
    lastBootId: item.last_boot_id as string,
    reportedAtMs: (item.reported_at as number | undefined) ?? 0,
  };
}
