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
      description: 'Most recently seen first. A device that talks while you page moves, so a listing may miss it.',
    },
    HARDWARE_ID: { description: 'By MAC address. Activity moves no device, so the pages add up to the whole fleet.' },
  },
});

@ObjectType('DeviceFeature', { description: 'A feature of a device, on or off.' })
export class DeviceFeatureType {
  @Field(() => String, { simple: true, description: 'The name of the feature.' })
  readonly name!: string;

  @Field(() => Boolean, { simple: true, description: 'Whether the device uses it.' })
  readonly enabled!: boolean;
}

@InputType({ description: 'A feature of a device, on or off.' })
export class DeviceFeatureInput {
  @Field(() => String, { description: '1–32 characters a-z 0-9 _, beginning with a letter. Each name once.' })
  readonly name!: string;

  @Field(() => Boolean, { description: 'Whether the device uses it.' })
  readonly enabled!: boolean;
}

@ObjectType('DeviceCapabilities', { description: 'The sensors and features of a device, as it last described itself.' })
export class DeviceCapabilitiesType {
  @Field(() => [String], { simple: true, description: 'Names of its sensors.' })
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureType], { simple: true, description: 'Its features.' })
  readonly features!: DeviceFeatureType[];
}

@InputType({ description: 'The sensors and features of a device.' })
export class DeviceCapabilitiesInput {
  @Field(() => [String], { description: 'Up to 32 names of 1–32 characters a-z 0-9 _, each beginning with a letter.' })
  readonly sensors!: string[];

  @Field(() => [DeviceFeatureInput], { defaultValue: [], description: 'Up to 32 features.' })
  readonly features!: DeviceFeatureInput[];
}

@ObjectType('Device', { implements: Node, description: 'A registered device of an org.' })
export class DeviceType extends Node {
  @Field(() => String, { simple: true, description: 'The MAC address, in upper case.' })
  readonly hardwareId!: string;

  @Field(() => Uuid, { simple: true, description: 'Given at registration and kept until the device is deleted.' })
  readonly confirmationId!: string;

  @Field(() => Uuid, {
    nullable: true,
    simple: true,
    description:
      'The `ApiKey.ownerId` of the keys that may serve the device. Null: the next API key that registers it becomes its owner.',
  })
  readonly ownerKeyId?: string;

  @Field(() => String, { nullable: true, simple: true, description: 'Set by `renameDevice` or by the device itself.' })
  readonly friendlyName?: string;

  @Field(() => String, { simple: true, description: 'From the newest registration or reading, to within a minute.' })
  readonly firmwareVersion!: string;

  @Field(() => DeviceCapabilitiesType, { simple: true, description: 'As of the last registration.' })
  readonly capabilities!: DeviceCapabilitiesType;

  @Field(() => DateTime, { simple: true, description: 'The first registration.' })
  readonly firstRegisteredAt!: Date;

  @Field(() => DateTime, {
    simple: true,
    description: 'The last registration or ingest, even if all its readings were rejected, to within a minute.',
  })
  readonly lastSeenAt!: Date;

  @Field(() => Uuid, {
    simple: true,
    description: 'The boot id of the newest registration or reading, to within a minute.',
  })
  readonly lastBootId!: string;
}

export const DeviceConnection = connectionType('Device', () => DeviceType);

@InputType({ description: 'A device as it describes itself.' })
export class RegisterDeviceInput {
  @Field(() => String, { description: 'MAC address XX:XX:XX:XX:XX:XX, in either case.' })
  readonly hardwareId!: string;

  @Field(() => Uuid, { description: 'UUID of version 4, a new one at each boot.' })
  readonly bootId!: string;

  @Field(() => String, { description: '1–64 printable ASCII characters.' })
  readonly firmwareVersion!: string;

  @Field(() => String, {
    nullable: true,
    description: '1–64 printable ASCII characters. Absent or null: the name stays as it is.',
  })
  readonly friendlyName?: string | null;

  @Field(() => DeviceCapabilitiesInput, { description: 'Replaces what the device said before.' })
  readonly capabilities!: DeviceCapabilitiesInput;
}

@ObjectType({ description: 'The result of `registerDevice`.' })
export class RegisterDevicePayload {
  @Field(() => DeviceType, { simple: true, description: 'The device as it is stored now.' })
  readonly device!: DeviceType;

  @Field(() => Boolean, {
    simple: true,
    description: 'False if the device was known. It keeps its confirmation id then.',
  })
  readonly created!: boolean;
}
