import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { enumOf } from '../graphql/enum.js';
import { Node } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';

const deviceOrders = ['LAST_SEEN', 'HARDWARE_ID'] as const;
export type DeviceOrder = (typeof deviceOrders)[number];
export const DeviceOrderType = enumOf<DeviceOrder>(deviceOrders);
registerEnumType(DeviceOrderType, {
  name: 'DeviceOrder',
  description: 'The order of a list of devices.',
  valuesConfig: {
    LAST_SEEN: {
      description:
        'Most recently seen first. A device that is seen while you page moves to the front, so a listing may miss it.',
    },
    HARDWARE_ID: {
      description: 'By MAC address. Activity does not move a device, so the pages together have every device once.',
    },
  },
});

@ObjectType('DeviceFeature', { description: 'A feature of a device, on or off.' })
export class DeviceFeatureType {
  @Field(() => String, { simple: true, description: 'The name of the feature.' })
  readonly name!: string;

  @Field(() => Boolean, { simple: true, description: 'True if the device uses it.' })
  readonly enabled!: boolean;
}

@InputType({ description: 'A feature of a device, on or off.' })
export class DeviceFeatureInput {
  @Field(() => String, { description: '1–32 characters of a-z 0-9 _, beginning with a letter. Unique in the list.' })
  readonly name!: string;

  @Field(() => Boolean, { description: 'True if the device uses it.' })
  readonly enabled!: boolean;
}

@ObjectType('DeviceCapabilities', { description: 'The sensors and features of a device, as of its last registration.' })
export class DeviceCapabilitiesType {
  @Field(() => [String], { simple: true, description: 'Names of its sensors.' })
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureType], { simple: true, description: 'Its features.' })
  readonly features!: DeviceFeatureType[];
}

@InputType({ description: 'The sensors and features of a device.' })
export class DeviceCapabilitiesInput {
  @Field(() => [String], {
    description: 'Up to 32 names of 1–32 characters of a-z 0-9 _, each beginning with a letter.',
  })
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureInput], { defaultValue: [], description: 'Up to 32 features.' })
  readonly features!: DeviceFeatureInput[];
}

@ObjectType('Device', { implements: Node, description: 'A registered device of an org.' })
export class DeviceType extends Node {
  @Field(() => String, { simple: true, description: 'The MAC address, in upper case.' })
  readonly hardwareId!: string;

  @Field(() => Uuid, {
    simple: true,
    description: 'Created at the first registration. It stays the same until the device is deleted.',
  })
  readonly confirmationId!: string;

  @Field(() => Uuid, {
    nullable: true,
    simple: true,
    description:
      'The `ApiKey.ownerId` of the keys that may serve the device. Null if it has no owner; the next API key that ' +
      'registers it becomes the owner.',
  })
  readonly ownerKeyId?: string;

  @Field(() => String, {
    nullable: true,
    simple: true,
    description: 'The name, set by `renameDevice` or by the device. Null if it has none.',
  })
  readonly friendlyName?: string;

  @Field(() => String, {
    simple: true,
    description: 'The firmware version of the newest registration or reading. Up to one minute late.',
  })
  readonly firmwareVersion!: string;

  @Field(() => DeviceCapabilitiesType, {
    simple: true,
    description: 'The sensors and features, as of the last registration.',
  })
  readonly capabilities!: DeviceCapabilitiesType;

  @Field(() => DateTime, { simple: true, description: 'The time of the first registration.' })
  readonly firstRegisteredAt!: Date;

  @Field(() => DateTime, {
    simple: true,
    description:
      'The time of the last registration or ingest, even if all its readings were rejected. Up to one minute late.',
  })
  readonly lastSeenAt!: Date;

  @Field(() => Uuid, {
    simple: true,
    description: 'The boot id of the newest registration or reading. Up to one minute late.',
  })
  readonly lastBootId!: string;
}

export const DeviceConnection = connectionType('Device', () => DeviceType);

@InputType({ description: 'A device and its capabilities.' })
export class RegisterDeviceInput {
  @Field(() => String, { description: 'MAC address XX:XX:XX:XX:XX:XX, in either case.' })
  readonly hardwareId!: string;

  @Field(() => Uuid, { description: 'The id of this boot: a UUID of version 4, new at each boot.' })
  readonly bootId!: string;

  @Field(() => String, { description: '1–64 printable ASCII characters.' })
  readonly firmwareVersion!: string;

  @Field(() => String, {
    nullable: true,
    description: '1–64 printable ASCII characters. Omit it or send null to keep the current name.',
  })
  readonly friendlyName?: string | null;

  @Field(() => DeviceCapabilitiesInput, {
    description: 'The sensors and features. They replace those of the last registration.',
  })
  readonly capabilities!: DeviceCapabilitiesInput;
}

@ObjectType({ description: 'The result of `registerDevice`.' })
export class RegisterDevicePayload {
  @Field(() => DeviceType, { simple: true, description: 'The device as it is stored.' })
  readonly device!: DeviceType;

  @Field(() => Boolean, {
    simple: true,
    description:
      'True if this call created the device. False if it was registered before; then it keeps its confirmation id.',
  })
  readonly created!: boolean;
}
