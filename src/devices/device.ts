// Devices: who may serve one, and what a registration must look like. Reading order of this folder: device (rules),
// device.service (registering, renaming, assigning, deleting), device.store; then reading and verdict (rules of
// readings), ingest.service, reading.store; then series (charts), reading.feed (subscriptions) and device.rollup
// (worker).
import type { Actor } from '../audit/audit-event.js';
import { hardwareIdIssues } from '../identity/hardware-id.js';
import type { Issue } from '../lib/errors.js';

export interface DeviceFeature {
  readonly name: string;
  readonly enabled: boolean;
}

export interface Capabilities {
  readonly sensors: readonly string[];
  readonly features: readonly DeviceFeature[];
}

export interface Device extends ReadingsRef {
  readonly nodeType: 'Device';
  readonly confirmationId: string;
  /**
   * The owner: the first key of a line of API keys (a key and its successors). Absent until a key registers the device.
   */
  readonly ownerKeyId?: string;
  readonly friendlyName?: string;
  readonly firmwareVersion: string;
  readonly capabilities: Capabilities;
  readonly firstRegisteredAt: Date;
  readonly lastSeenAt: Date;
  readonly lastBootId: string;
  /** The time of the registration or reading that firmware version and boot id come from. */
  readonly reportedAtMs: number;
}

/** Firmware and boot of a device, as one of its readings reports them. */
export interface DeviceReport {
  readonly firmwareVersion: string;
  readonly bootId: string;
  readonly atMs: number;
}

export interface Registration {
  readonly hardwareId: string;
  readonly bootId: string;
  readonly firmwareVersion: string;
  readonly friendlyName?: string | null | undefined;
  readonly capabilities: Capabilities;
}

export interface DeviceRef {
  readonly orgId: string;
  readonly hardwareId: string;
}

/**
 * One generation of a device, from its registration to its deletion. A device that registers again after it was deleted
 * has a new generation and does not see the readings of the one before.
 */
export interface ReadingsRef extends DeviceRef {
  readonly generation: string;
}

/** The API key of a device, with what the ownership rules need of it. */
export interface DeviceKey {
  /** The first key of the line that this key belongs to. */
  readonly ownerId: string;
  /** Present: the key serves this device only. */
  readonly hardwareId?: string;
}

/** The caller of `registerDevice` or `ingest`: a device key, or an org client, which has no key. */
export interface DeviceCaller {
  readonly orgId: string;
  readonly actor: Actor;
  readonly key?: DeviceKey;
}

/**
 * May this caller register the device and send its readings? `if-owner-revoked`: only if no key of the owner's line is
 * active.
 */
export function mayServe(
  key: DeviceKey | undefined,
  { hardwareId, ownerKeyId }: Pick<Device, 'hardwareId' | 'ownerKeyId'>,
): 'yes' | 'no' | 'if-owner-revoked' {
  if (!key) return 'yes';
  // An org bound the key to this device explicitly, so the key takes precedence over the current owner.
  if (key.hardwareId !== undefined) return key.hardwareId === hardwareId ? 'yes' : 'no';
  return ownerKeyId === undefined || ownerKeyId === key.ownerId ? 'yes' : 'if-owner-revoked';
}

/** The clocks of gateways may differ by this much. A stored time further ahead is wrong and may be overwritten. */
export const maxClockSkewMs = 10 * 60_000;

/** 48 random bits of the confirmation id, which tell the generations of one device apart. */
export const generationOf = (confirmationId: string): string => confirmationId.slice(-12);

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const capabilityName = /^[a-z][a-z0-9_]{0,31}$/;
const printable = /^[\x20-\x7e]{1,64}$/;
const maxCapabilities = 32;

export const isUuidV4 = (value: string): boolean => uuidV4.test(value);
export const isFirmwareVersion = (value: string): boolean => printable.test(value) && value.trim() !== '';
export const isFriendlyName = (value: string): boolean => printable.test(value) && value.trim() !== '';

export const friendlyNameIssues = (value: string, path: string): Issue[] =>
  isFriendlyName(value) ? [] : [{ path, message: 'must have 1 to 64 printable ASCII characters, not only spaces' }];

/** Every rule that a registration breaks. */
export function registrationIssues(registration: Registration): Issue[] {
  const { hardwareId, bootId, firmwareVersion, friendlyName, capabilities } = registration;
  const { sensors, features } = capabilities;
  const featureNames = features.map(({ name }) => name);
  return [
    ...hardwareIdIssues(hardwareId, 'input.hardwareId'),
    ...(isUuidV4(bootId) ? [] : [{ path: 'input.bootId', message: 'must be a UUID of version 4' }]),
    ...(isFirmwareVersion(firmwareVersion)
      ? []
      : [{ path: 'input.firmwareVersion', message: 'must have 1 to 64 printable ASCII characters, not only spaces' }]),
    ...(typeof friendlyName === 'string' ? friendlyNameIssues(friendlyName, 'input.friendlyName') : []),
    ...capabilityIssues(sensors, 'input.capabilities.sensors'),
    ...capabilityIssues(featureNames, 'input.capabilities.features'),
  ];
}

function capabilityIssues(names: readonly string[], path: string): Issue[] {
  return [
    ...(names.length > maxCapabilities ? [{ path, message: `must have at most ${maxCapabilities} items` }] : []),
    ...names.flatMap((name, i) => [
      ...(capabilityName.test(name)
        ? []
        : [{ path: `${path}.${i}`, message: 'must have 1 to 32 of a-z 0-9 _ and begin with a letter' }]),
      ...(names.indexOf(name) < i ? [{ path: `${path}.${i}`, message: `"${name}" is named twice` }] : []),
    ]),
  ];
}
