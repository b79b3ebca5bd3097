import type { Issue } from '../lib/errors.js';

export interface DeviceFeature {
  readonly name: string;
  readonly enabled: boolean;
}

export interface Capabilities {
  readonly sensors: readonly string[];
  readonly features: readonly DeviceFeature[];
}

export interface Device {
  readonly nodeType: 'Device';
  readonly orgId: string;
  readonly hardwareId: string;
  readonly confirmationId: string;
  readonly friendlyName?: string;
  readonly firmwareVersion: string;
  readonly capabilities: Capabilities;
  readonly firstRegisteredAt: Date;
  readonly lastSeenAt: Date;
  readonly lastBootId: string;
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

export const hardwareIdPattern = /^[0-9A-F]{2}(:[0-9A-F]{2}){5}$/;
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const capabilityName = /^[a-z][a-z0-9_]{0,31}$/;
const printable = /^[\x20-\x7e]{1,64}$/;
const mostCapabilities = 32;

export const isHardwareId = (value: string): boolean => hardwareIdPattern.test(value);
export const isUuidV4 = (value: string): boolean => uuidV4.test(value);
export const isFirmwareVersion = (value: string): boolean => printable.test(value) && value.trim() !== '';
export const isFriendlyName = (value: string): boolean => printable.test(value) && value.trim() !== '';

export const hardwareIdIssues = (value: string, path: string): Issue[] =>
  isHardwareId(value) ? [] : [{ path, message: 'must be a MAC address such as AA:BB:CC:DD:EE:FF, in upper case' }];

export const friendlyNameIssues = (value: string, path: string): Issue[] =>
  isFriendlyName(value) ? [] : [{ path, message: 'must have 1 to 64 printable ASCII characters, not only spaces' }];

export function registrationIssues({ hardwareId, bootId, firmwareVersion, friendlyName, capabilities }: Registration): Issue[] {
  const { sensors, features } = capabilities;
  const named = (names: readonly string[], path: string): Issue[] => [
    ...(names.length > mostCapabilities ? [{ path, message: `must have at most ${mostCapabilities} items` }] : []),
    ...names.flatMap((name, i) => [
      ...(capabilityName.test(name) ? [] : [{ path: `${path}.${i}`, message: 'must have 1 to 32 of a-z 0-9 _ and begin with a letter' }]),
      ...(names.indexOf(name) < i ? [{ path: `${path}.${i}`, message: `"${name}" is named twice` }] : []),
    ]),
  ];
  return [
    ...hardwareIdIssues(hardwareId, 'input.hardwareId'),
    ...(isUuidV4(bootId) ? [] : [{ path: 'input.bootId', message: 'must be a UUID of version 4' }]),
    ...(isFirmwareVersion(firmwareVersion) ? [] : [{ path: 'input.firmwareVersion', message: 'must have 1 to 64 printable ASCII characters' }]),
    ...(typeof friendlyName === 'string' ? friendlyNameIssues(friendlyName, 'input.friendlyName') : []),
    ...named(sensors, 'input.capabilities.sensors'),
    ...named(
      features.map(({ name }) => name),
      'input.capabilities.features',
    ),
  ];
}
