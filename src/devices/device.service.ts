import type { AuditService } from '../audit/audit.service.js';
import { type Actor, deviceEntity } from '../audit/audit-event.js';
import { hardwareIdIssues, normalHardwareId } from '../identity/hardware-id.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, type Issue, notFound, rateLimited, refuseAny, unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import type { Throttle } from '../lib/throttle.js';
import type { RegistrationWrite } from './device.item.js';
import {
  type Device,
  type DeviceCaller,
  type DeviceRef,
  friendlyNameIssues,
  mayServe,
  type Registration,
  registrationIssues,
} from './device.js';
import type { DeviceStore } from './device.store.js';

/**
 * A registration or deletion that loses a race with another one of the same device reads the device again and retries.
 */
const maxRounds = 8;
/**
 * A deleted device cannot register again for this long. Until then an eventually consistent read of a gateway may still
 * return the deleted device, and new readings would be stored under the generation that is being purged.
 */
const returnAfterMs = 10_000;

export interface DeviceDeps {
  readonly devices: DeviceStore;
  readonly keys: KeyLines;
  readonly audit: AuditService;
  readonly clock: Clock;
  /** Limits new devices per key or client. */
  readonly registrations: Throttle;
  readonly maxPerOrg: number;
}

/** The part of the API key service that devices need. A line is a key and its successors, named by its first key. */
export interface KeyLines {
  /** Those of the given lines that have no active key. */
  endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The line of an active key of the org. Undefined if there is no such key. */
  lineOf(orgId: string, keyId: string): Promise<string | undefined>;
}

export class DeviceService {
  constructor(private readonly deps: DeviceDeps) {}

  /** Registers a device, or updates a registered one. The first key that registers a device owns it. */
  async register(
    caller: DeviceCaller,
    input: Registration,
  ): Promise<{ readonly device: Device; readonly created: boolean }> {
    refuseAny(registrationIssues(input));
    const hardwareId = normalHardwareId(input.hardwareId);
    const registration = { ...input, hardwareId, bootId: input.bootId.toLowerCase() };
    if (mayServe(caller.key, { hardwareId }) === 'no') throw boundElsewhere();
    for (let round = 0; round < maxRounds; round++) {
      const at = new Date(this.deps.clock.nowMs());
      const write = { registration, at, ...(caller.key ? { ownerKeyId: caller.key.ownerId } : {}) };
      const { device, found } = await this.deps.devices.refresh(caller.orgId, write);
      if (device) return { device, created: false };
      const stored = found ? await this.takeOver(caller, found, write) : await this.create(caller, write);
      if (stored) return { device: stored, created: !found };
    }
    throw unavailable('registerDevice: too many concurrent registrations of this device; retry');
  }

  /** Sets the name of a device; null or undefined removes it. Audited. */
  async rename(ref: DeviceRef, friendlyName: string | null | undefined, actor: Actor): Promise<Device> {
    const device = refOf(ref, typeof friendlyName === 'string' ? friendlyNameIssues(friendlyName, 'friendlyName') : []);
    const name = friendlyName ?? undefined;
    const event = this.auditEvent(device, actor, 'device_renamed', { friendly_name: name });
    return this.changed(device, await this.deps.devices.rename(device, name, [event]));
  }

  /** Gives a device to a key and its successors; without a key, to the next key that registers it. Audited. */
  async assign(ref: DeviceRef, keyId: string | null | undefined, actor: Actor): Promise<Device> {
    const device = refOf(ref);
    const owner = keyId ? await this.deps.keys.lineOf(device.orgId, keyId) : undefined;
    if (keyId && owner === undefined) throw notFound('API key');
    const event = this.auditEvent(device, actor, 'device_assigned', { key_id: keyId ?? undefined });
    return this.changed(device, await this.deps.devices.assign(device, owner, [event]));
  }

  /** Deletes a device. The worker deletes its readings. False if there is no such device. Audited. */
  async delete(ref: DeviceRef, actor: Actor): Promise<boolean> {
    const device = refOf(ref);
    for (let round = 0; round < maxRounds; round++) {
      const found = await this.find(device);
      if (!found) return false;
      const event = this.auditEvent(device, actor, 'device_deleted', { confirmation_id: found.confirmationId });
      if (await this.deps.devices.delete(found, new Date(this.deps.clock.nowMs()), [event])) return true;
    }
    throw unavailable('deleteDevice: this device is being deleted and registered at the same time; retry');
  }

  /** A consistent read. */
  async find(ref: DeviceRef): Promise<Device | undefined> {
    const [device] = await this.deps.devices.loadMany([refOf(ref)], { consistent: true });
    return device;
  }

  /** Registers a device that `refresh` could not update. Undefined if it has changed since it was read: read again. */
  private async takeOver({ key }: DeviceCaller, found: Device, write: RegistrationWrite): Promise<Device | undefined> {
    const owner = found.ownerKeyId;
    const isAllowed =
      mayServe(key, found) === 'yes' || (owner !== undefined && (await this.deps.keys.endedLines([owner])).has(owner));
    if (!isAllowed) throw ownedByAnother();
    return this.deps.devices.refreshFound(found, write);
  }

  /** Undefined if the device was created concurrently: read again. */
  private async create({ orgId, actor }: DeviceCaller, write: RegistrationWrite): Promise<Device | undefined> {
    const { devices, registrations, maxPerOrg } = this.deps;
    const { hardwareId, firmwareVersion } = write.registration;
    const waitMs = registrations.take(actor.name);
    if (waitMs > 0) throw tooManyNew(waitMs, registrations.burst);
    const notDeletedSince = new Date(write.at.getTime() - returnAfterMs);
    const creation = { ...write, confirmationId: newUuid(), maxDevices: maxPerOrg, notDeletedSince };
    const details = { firmware_version: firmwareVersion };
    const event = this.auditEvent({ orgId, hardwareId }, actor, 'device_registered', details);
    const outcome = await devices.create(orgId, creation, [event]);
    if (outcome.kind === 'created') return outcome.device;
    if (outcome.kind === 'full') throw tooManyDevices(maxPerOrg);
    if (outcome.kind === 'deleted-lately') throw deletedLately();
    return undefined;
  }

  /** The audit event that is written in the same transaction as the change. */
  private auditEvent(
    { orgId, hardwareId }: DeviceRef,
    actor: Actor,
    action: DeviceAction,
    details: Readonly<Record<string, string | undefined>>,
  ) {
    return this.deps.audit.draft({ orgId, actor, action, entityId: deviceEntity(hardwareId), details });
  }

  private async changed(ref: DeviceRef, exists: boolean): Promise<Device> {
    const device = exists ? await this.find(ref) : undefined;
    if (!device) throw notFound('device');
    return device;
  }
}

type DeviceAction = 'device_renamed' | 'device_assigned' | 'device_deleted' | 'device_registered';

/** The device with its hardware id in the stored form. Throws if that id, or anything in `issues`, is not valid. */
function refOf({ orgId, hardwareId }: DeviceRef, issues: readonly Issue[] = []): DeviceRef {
  refuseAny([...hardwareIdIssues(hardwareId, 'hardwareId'), ...issues]);
  return { orgId, hardwareId: normalHardwareId(hardwareId) };
}

const boundElsewhere = () =>
  new GatewayError(
    'FORBIDDEN',
    'input.hardwareId: this API key is bound to another device; use the key of this device',
  );
const ownedByAnother = () =>
  new GatewayError(
    'FORBIDDEN',
    'input.hardwareId: this device belongs to another API key; use that key, or assign the device to this key with ' +
      'assignDevice',
  );
const tooManyDevices = (max: number) =>
  badInput({
    path: 'input.hardwareId',
    message: `the org has the maximum of ${max} devices; delete some with deleteDevice`,
  });
const tooManyNew = (waitMs: number, perMinute: number) =>
  rateLimited(
    `registerDevice: this credential registers more than ${perMinute} new devices per minute; wait and retry`,
    waitMs,
    {
      name: 'new-devices',
      quota: perMinute,
      windowSecs: 60,
    },
  );
const deletedLately = () =>
  rateLimited(
    `registerDevice: this device was deleted less than ${returnAfterMs / 1000} s ago; wait and retry`,
    returnAfterMs,
    {
      name: 'deleted-device',
      quota: 1,
      windowSecs: returnAfterMs / 1000,
    },
  );
