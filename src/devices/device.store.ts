import type { Key, StoreClient, Write } from '../dynamo/client.js';
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
import { fields } from '../dynamo/fields.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { lastSeenAttributes, type RegistrationWrite, registrationAttributes, toDevice } from './device.item.js';
import { type Device, type DeviceRef, type DeviceReport, maxClockSkewMs } from './device.js';
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

export interface DeviceCreation extends RegistrationWrite {
  readonly confirmationId: string;
  readonly maxDevices: number;
  /** A device that was deleted after this time cannot be created yet. */
  readonly notDeletedSince: Date;
}

export type DeviceCreationOutcome =
  | { readonly kind: 'created'; readonly device: Device }
  | { readonly kind: 'exists' | 'full' | 'deleted-lately' };

export class DeviceStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Updates a registered device that no other key owns, with one conditional write. It keeps its confirmation id. Its
   * name changes only if one is sent, because a reboot must not undo a rename. Returns the updated `device`; or, if the
   * condition failed, the stored one as `found`; or neither if there is no such device.
   */
  async refresh(
    orgId: string,
    write: RegistrationWrite,
  ): Promise<{ readonly device?: Device; readonly found?: Device }> {
    const owner = write.ownerKeyId;
    const isOwner = owner === undefined ? [] : [or(absent('owner_key_id'), equals('owner_key_id', owner))];
    const condition = and(
      present('confirmation_id'),
      ...isOwner,
      or(atMost('last_seen_at', write.at.toISOString()), isLastSeenAhead(write.at)),
    );
    const set = { ...registrationAttributes(write), ...lastSeenAttributes(write.at) };
    const ref = { orgId, hardwareId: write.registration.hardwareId };
    const outcome = await this.client.write(
      { table, update: deviceKey(ref), set, condition },
      { returnNew: 'all', repeat: 'idempotent' },
    );
    if (outcome.done) return outcome.item ? { device: toDevice(outcome.item) } : {};
    return outcome.old ? { found: toDevice(outcome.old) } : {};
  }

  /**
   * Updates the device that `found` describes, whoever owned it. Undefined if its owner or generation has changed
   * since.
   */
  async refreshFound(found: Device, write: RegistrationWrite): Promise<Device | undefined> {
    const isLater = found.lastSeenAt <= write.at || found.lastSeenAt.getTime() > write.at.getTime() + maxClockSkewMs;
    // Another gateway, whose clock is ahead within the allowed skew, saw the device later. Its time stays.
    const set = { ...registrationAttributes(write), ...(isLater ? lastSeenAttributes(write.at) : {}) };
    const condition = and(isSameGeneration(found), isSameOwner(found));
    const outcome = await this.client.write(
      { table, update: deviceKey(found), set, condition },
      { returnNew: 'all', repeat: 'idempotent' },
    );
    return outcome.done && outcome.item ? toDevice(outcome.item) : undefined;
  }

  /** Stores a new device and counts it, in one transaction. The org never has more than `maxDevices`. */
  async create(
    orgId: string,
    creation: DeviceCreation,
    riders: readonly TransactItem[],
  ): Promise<DeviceCreationOutcome> {
    const { registration, at, confirmationId, maxDevices, notDeletedSince } = creation;
    const ref = { orgId, hardwareId: registration.hardwareId };
    const item = {
      ...deviceKey(ref),
      ...registrationAttributes(creation),
      ...lastSeenAttributes(at),
      confirmation_id: confirmationId,
      first_registered_at: at.toISOString(),
      gsi1pk: deviceIndexKey(orgId),
      gsi2pk: deviceIndexKey(orgId),
      gsi2sk: ref.hardwareId,
    };
    const hasRoom = or(absent('device_count'), lessThan('device_count', maxDevices));
    const mayReturn = or(
      absent('deleted_at'),
      atMost('deleted_at', notDeletedSince.toISOString()),
      greaterThan('deleted_at', maxSkewAfter(at)),
    );
    const outcome = await this.client.transact(
      'fresh',
      [
        { table, put: item, condition: absent('hardware_id') },
        { table, update: deviceCountKey(orgId), add: { device_count: 1 }, condition: hasRoom },
        { table, check: deletionKey(ref), condition: mayReturn },
      ],
      { riders },
    );
    if (outcome.done) return { kind: 'created', device: toDevice(item) };
    const [doesExist, isFull] = outcome.reasons.map(({ kind }) => kind === 'condition');
    if (doesExist) return { kind: 'exists' };
    return { kind: isFull ? 'full' : 'deleted-lately' };
  }

  /** In the order of `refs`. Eventually consistent unless `consistent` is set. */
  async loadMany(refs: readonly DeviceRef[], { consistent = false } = {}): Promise<(Device | undefined)[]> {
    const items = await this.client.getMany(table, refs.map(deviceKey), { consistent });
    return items.map((item) => item && toDevice(item));
  }

  /** The exact number of devices of the org. */
  async count(orgId: string): Promise<number> {
    const item = await this.client.get(table, deviceCountKey(orgId), { consistent: true });
    return (item && fields(table, item).optionalNumber('device_count')) ?? 0;
  }

  /** Most recently seen first, after the given position. */
  async listByLastSeen(orgId: string, limit: number, after?: DevicePosition): Promise<Device[]> {
    const gsi1pk = deviceIndexKey(orgId);
    const start: { after?: Key } = after
      ? { after: { ...deviceKey({ orgId, ...after }), gsi1pk, gsi1sk: after.lastSeenAt.toISOString() } }
      : {};
    const found = await this.client.queryIndexed({
      table,
      index: 'gsi1',
      where: equals('gsi1pk', gsi1pk),
      newestFirst: true,
      limit,
      ...start,
    });
    // With the time of the index entry, because the cursor must name the place in the list where the device was found.
    return found.map(({ entry, item }) => ({ ...toDevice(item), lastSeenAt: fields(table, entry).date('gsi1sk') }));
  }

  /** By hardware id. The activity of a device does not move it in this list. */
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

  /** Sets the name of a device, or removes it if `friendlyName` is undefined. False if there is no such device. */
  async rename(ref: DeviceRef, friendlyName: string | undefined, riders: readonly TransactItem[]): Promise<boolean> {
    const change =
      friendlyName === undefined ? { remove: ['friendly_name'] } : { set: { friendly_name: friendlyName } };
    return this.change(ref, change, riders);
  }

  /**
   * Gives a device to a line of keys; if undefined, to the next key that registers it. False if there is no such
   * device.
   */
  async assign(ref: DeviceRef, ownerKeyId: string | undefined, riders: readonly TransactItem[]): Promise<boolean> {
    const change = ownerKeyId === undefined ? { remove: ['owner_key_id'] } : { set: { owner_key_id: ownerKeyId } };
    return this.change(ref, change, riders);
  }

  /**
   * Gives a device whose owner was revoked to another line of keys. False if its owner or generation has changed since.
   */
  async takeOver(found: Device, ownerKeyId: string): Promise<boolean> {
    const condition = and(isSameGeneration(found), isSameOwner(found));
    const write = { table, update: deviceKey(found), set: { owner_key_id: ownerKeyId }, condition } satisfies Write;
    return (await this.client.write(write, { repeat: 'idempotent' })).done;
  }

  /**
   * Deletes a device and records the deletion for the worker. False if the device is gone or has another generation.
   */
  async delete(device: Device, at: Date, riders: readonly TransactItem[]): Promise<boolean> {
    const deletedAt = at.toISOString();
    const deletion = {
      deleted_at: deletedAt,
      gsi1pk: deletionIndexKey,
      gsi1sk: deletedAt,
      [generationAttribute(device.generation)]: deletedAt,
    };
    const { done } = await this.client.transact(
      'fresh',
      [
        { table, delete: deviceKey(device), condition: isSameGeneration(device) },
        { table, update: deviceCountKey(device.orgId), add: { device_count: -1 }, condition: present('device_count') },
        { table, update: deletionKey(device), set: deletion },
      ],
      { riders },
    );
    return done;
  }

  /**
   * Updates the time a device was last seen, unless it was seen after `notSince`, and what it reports if that is newer.
   */
  async touch(device: Device, at: Date, notSince: Date, report?: DeviceReport): Promise<void> {
    const isDue = or(lessThan('last_seen_at', notSince.toISOString()), isLastSeenAhead(at));
    const isNewer = report ? [or(absent('reported_at'), lessThan('reported_at', report.atMs))] : [];
    const reported = report
      ? { firmware_version: report.firmwareVersion, last_boot_id: report.bootId, reported_at: report.atMs }
      : {};
    await this.client.write(
      {
        table,
        update: deviceKey(device),
        set: { ...lastSeenAttributes(at), ...reported },
        condition: and(isSameGeneration(device), isDue, ...isNewer),
      },
      { repeat: 'idempotent' },
    );
  }

  private async change(ref: DeviceRef, change: Changes, riders: readonly TransactItem[]): Promise<boolean> {
    const { done } = await this.client.transact(
      'fresh',
      [{ table, update: deviceKey(ref), ...change, condition: present('confirmation_id') }],
      { riders },
    );
    return done;
  }
}

const maxSkewAfter = (at: Date): string => new Date(at.getTime() + maxClockSkewMs).toISOString();
/** True if the stored time is further ahead than the maximum clock skew: a gateway with a wrong clock wrote it. */
const isLastSeenAhead = (at: Date): Condition => greaterThan('last_seen_at', maxSkewAfter(at));
const isSameGeneration = ({ confirmationId }: Device): Condition => equals('confirmation_id', confirmationId);
const isSameOwner = ({ ownerKeyId }: Device): Condition =>
  ownerKeyId === undefined ? absent('owner_key_id') : equals('owner_key_id', ownerKeyId);
