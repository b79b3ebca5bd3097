import type { AuditService } from '../audit/audit.service.js';
import { type Actor, deviceEntity } from '../audit/audit-event.js';
import { hardwareIdIssues, normalHardwareId } from '../identity/hardware-id.js';
import type { Clock } from '../lib/clock.js';
import { badInput, GatewayError, notFound, rateLimited, refuseAny, unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import type { Throttle } from '../lib/throttle.js';
import {
  type Device,
  type DeviceCaller,
  type DeviceRef,
  friendlyNameIssues,
  mayServe,
  type Registration,
  registrationIssues,
} from './device.js';
import type { DeviceStore, RegistrationWrite } from './device.store.js';

/** Concurrent registrations of one device may each have to look again. */
const maxRounds = 8;
/**
 * A deleted device must not register again at once. An eventually consistent read of a gateway could still show it as it was
 * before, and its readings would go to the life that is being deleted.
 */
const returnAfterMs = 10_000;

export interface DeviceDeps {
  readonly devices: DeviceStore;
  readonly keys: KeyLines;
  readonly audit: AuditService;
  readonly clock: Clock;
  /** New devices, per key or client. */
  readonly registrations: Throttle;
  readonly maxPerOrg: number;
}

/** What this feature asks of the API keys. */
export interface KeyLines {
  /** Those of the lines named that have no active key left. */
  endedLines(ownerIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The line of an active key of the org; undefined if there is no such key. */
  lineOf(orgId: string, keyId: string): Promise<string | undefined>;
}

export class DeviceService {
  constructor(private readonly deps: DeviceDeps) {}

  /** Registers a device, or updates one that is known. The first key that registers a device owns it. */
  async register(
    caller: DeviceCaller,
    sent: Registration,
  ): Promise<{ readonly device: Device; readonly created: boolean }> {
    refuseAny(registrationIssues(sent));
    const registration = { ...sent, hardwareId: normalHardwareId(sent.hardwareId), bootId: sent.bootId.toLowerCase() };
    if (mayServe(caller.key, { hardwareId: registration.hardwareId }) === 'no') throw boundElsewhere();
    for (let round = 0; round < maxRounds; round++) {
      const at = new Date(this.deps.clock.nowMs());
      const write = { registration, at, ...(caller.key ? { ownerKeyId: caller.key.ownerId } : {}) };
      const { device, found } = await this.deps.devices.refresh(caller.orgId, write);
      if (device) return { device, created: false };
      const made = found ? await this.takeOver(caller, found, write) : await this.create(caller, write);
      if (made) return { device: made, created: !found };
    }
    throw unavailable('registerDevice: too many registrations of this device at once; retry');
  }

  async rename(ref: DeviceRef, friendlyName: string | null | undefined, actor: Actor): Promise<Device> {
    const device = refOf(ref, typeof friendlyName === 'string' ? friendlyNameIssues(friendlyName, 'friendlyName') : []);
    const name = friendlyName ?? undefined;
    const act = this.act(device, actor, 'device_renamed', { friendly_name: name });
    return this.changed(device, await this.deps.devices.rename(device, name, [act]));
  }

  /** Hands a device to a key and its successors; without a key, to the next key that registers it. */
  async assign(ref: DeviceRef, keyId: string | null | undefined, actor: Actor): Promise<Device> {
    const device = refOf(ref);
    const owner = keyId ? await this.deps.keys.lineOf(device.orgId, keyId) : undefined;
    if (keyId && owner === undefined) throw notFound('API key');
    const act = this.act(device, actor, 'device_assigned', { key_id: keyId ?? undefined });
    return this.changed(device, await this.deps.devices.assign(device, owner, [act]));
  }

  /** Deletes a device; the worker deletes its readings. False if there was none. */
  async delete(ref: DeviceRef, actor: Actor): Promise<boolean> {
    const device = refOf(ref);
    for (let round = 0; round < maxRounds; round++) {
      const found = await this.find(device);
      if (!found) return false;
      const act = this.act(device, actor, 'device_deleted', { confirmation_id: found.confirmationId });
      if (await this.deps.devices.delete(found, new Date(this.deps.clock.nowMs()), [act])) return true;
    }
    throw unavailable('deleteDevice: the device is being deleted and registered again at once; retry');
  }

  async find(ref: DeviceRef): Promise<Device | undefined> {
    const [device] = await this.deps.devices.loadMany([refOf(ref)], { consistent: true });
    return device;
  }

  /** Registers a device that the quick update did not fit. Undefined: it has changed meanwhile, look again. */
  private async takeOver({ key }: DeviceCaller, found: Device, write: RegistrationWrite): Promise<Device | undefined> {
    const may = mayServe(key, found);
    const owner = found.ownerKeyId;
    const isFree = may === 'yes' || (owner !== undefined && (await this.deps.keys.endedLines([owner])).has(owner));
    if (!isFree) throw ownedByAnother();
    return this.deps.devices.refreshFound(found, write);
  }

  private async create({ orgId, actor }: DeviceCaller, write: RegistrationWrite): Promise<Device | undefined> {
    const { devices, registrations, maxPerOrg } = this.deps;
    const { hardwareId, firmwareVersion } = write.registration;
    const waitMs = registrations.take(actor.name);
    if (waitMs > 0) throw tooManyNew(waitMs, registrations.burst);
    const notDeletedSince = new Date(write.at.getTime() - returnAfterMs);
    const creation = { ...write, confirmationId: newUuid(), maxDevices: maxPerOrg, notDeletedSince };
    const act = this.act({ orgId, hardwareId }, actor, 'device_registered', { firmware_version: firmwareVersion });
    const outcome = await devices.create(orgId, creation, [act]);
    if (outcome.kind === 'created') return outcome.device;
    if (outcome.kind === 'full') throw tooManyDevices(maxPerOrg);
    if (outcome.kind === 'deleted-lately') throw deletedLately();
    return undefined;
  }

  private act(
    { orgId, hardwareId }: DeviceRef,
    actor: Actor,
    action: DeviceAction,
    details: Readonly<Record<string, string | undefined>>,
  ) {
    return this.deps.audit.draft({ orgId, actor, action, entityId: deviceEntity(hardwareId), details });
  }

  private async changed(ref: DeviceRef, isThere: boolean): Promise<Device> {
    const device = isThere ? await this.find(ref) : undefined;
    if (!device) throw notFound('device');
    return device;
  }
}

type DeviceAction = 'device_renamed' | 'device_assigned' | 'device_deleted' | 'device_registered';

function refOf(
  { orgId, hardwareId }: DeviceRef,
  issues: readonly { readonly path: string; readonly message: string }[] = [],
): DeviceRef {
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
    'input.hardwareId: this device belongs to another API key; use that key, or hand the device over with assignDevice',
  );
const tooManyDevices = (max: number) =>
  badInput({
    path: 'input.hardwareId',
    message: `the org has the maximum of ${max} devices; delete some with deleteDevice`,
  });
const tooManyNew = (waitMs: number, perMinute: number) =>
  rateLimited(
    `registerDevice: more than ${perMinute} new devices per minute by this credential; wait and retry`,
    waitMs,
    {
      name: 'new-devices',
      quota: perMinute,
      windowSecs: 60,
    },
  );
const deletedLately = () =>
  rateLimited('registerDevice: this device was deleted a moment ago; wait and retry', returnAfterMs, {
    name: 'deleted-device',
    quota: 1,
    windowSecs: returnAfterMs / 1000,
  });
