import type { Item } from '../dynamo/client.js';
import { fields } from '../dynamo/fields.js';
import { type Capabilities, type Device, generationOf, type Registration } from './device.js';
import { deviceRefIn } from './device-keys.js';

const table = 'devices';

/** A registration as it is stored. */
export interface RegistrationWrite {
  readonly registration: Registration;
  readonly at: Date;
  /** The line of keys that owns the device from now on. Absent: no change. */
  readonly ownerKeyId?: string;
}

/** The attributes that every registration of a device sets. */
export const registrationAttributes = ({ registration, at, ownerKeyId }: RegistrationWrite) => ({
  last_boot_id: registration.bootId,
  firmware_version: registration.firmwareVersion,
  reported_at: at.getTime(),
  capabilities: {
    sensors: [...registration.capabilities.sensors],
    features: Object.fromEntries(registration.capabilities.features.map(({ name, enabled }) => [name, enabled])),
  },
  ...(typeof registration.friendlyName === 'string' ? { friendly_name: registration.friendlyName } : {}),
  ...(ownerKeyId === undefined ? {} : { owner_key_id: ownerKeyId }),
});

/** The time a device was last seen, with its place in the index by that time. */
export const lastSeenAttributes = (at: Date) => ({ last_seen_at: at.toISOString(), gsi1sk: at.toISOString() });

export function toDevice(item: Item): Device {
  const stored = fields(table, item);
  const confirmationId = stored.string('confirmation_id');
  const ownerKeyId = stored.optionalString('owner_key_id');
  const friendlyName = stored.optionalString('friendly_name');
  return {
    nodeType: 'Device',
    ...deviceRefIn(stored.string('hardware_id')),
    generation: generationOf(confirmationId),
    confirmationId,
    ...(ownerKeyId === undefined ? {} : { ownerKeyId }),
    ...(friendlyName === undefined ? {} : { friendlyName }),
    firmwareVersion: stored.string('firmware_version'),
    capabilities: toCapabilities(stored.map('capabilities')),
    firstRegisteredAt: stored.date('first_registered_at'),
    lastSeenAt: stored.date('last_seen_at'),
    lastBootId: stored.string('last_boot_id'),
    reportedAtMs: stored.optionalNumber('reported_at') ?? 0,
  };
}

function toCapabilities(map: Item): Capabilities {
  const stored = fields(table, map);
  const features = stored.map('features');
  const enabled = fields(table, features);
  return {
    sensors: stored.strings('sensors'),
    features: Object.keys(features).map((name) => ({ name, enabled: enabled.boolean(name) })),
  };
}
