import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import type { Device, DeviceCaller } from './device.js';
import {
  DeviceConnection,
  type DeviceOrder,
  DeviceOrderType,
  DeviceType,
  RegisterDeviceInput,
  RegisterDevicePayload,
} from './device.types.js';

const orgArgument = { nullable: true, description: 'The org. Required for the platform admin.' } as const;
const deviceArgument = { description: 'MAC address XX:XX:XX:XX:XX:XX of the device, in either case.' } as const;

@Resolver(() => DeviceType)
export class DeviceResolver {
  @Authorized<Policy>('devices:serve')
  @Mutation(() => RegisterDevicePayload, {
    nullable: true,
    description:
      'Registers a device, or updates it. A device calls it at each boot. The first API key that registers a device ' +
      'owns it; another key gets FORBIDDEN, unless all keys of the owner are revoked. An org client may register any ' +
      'device and does not become its owner.',
  })
  registerDevice(
    @Arg('input', () => RegisterDeviceInput, { description: 'The device.' }) input: RegisterDeviceInput,
    @Ctx() context: Context,
  ) {
    return context.devices.register(deviceCaller(context), input);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => DeviceType, { nullable: true, description: 'Sets or removes the name of a device.' })
  renameDevice(
    @Arg('orgId', () => Uuid, orgArgument) orgId: string | null | undefined,
    @Arg('hardwareId', () => String, deviceArgument) hardwareId: string,
    @Arg('friendlyName', () => String, {
      nullable: true,
      description: '1–64 printable ASCII characters. Null removes the name.',
    })
    friendlyName: string | null | undefined,
    @Ctx() { viewer, actor, devices }: Context,
  ) {
    return devices.rename({ orgId: orgIdFor(viewer, orgId), hardwareId }, friendlyName, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => DeviceType, {
    nullable: true,
    description:
      'Makes an API key and its successors the owner of a device. The previous owner may no longer serve it.',
  })
  assignDevice(
    @Arg('orgId', () => Uuid, orgArgument) orgId: string | null | undefined,
    @Arg('hardwareId', () => String, deviceArgument) hardwareId: string,
    @Arg('keyId', () => Uuid, {
      nullable: true,
      description:
        'An active API key of the org. Null removes the owner; the next key that registers the device becomes it.',
    })
    keyId: string | null | undefined,
    @Ctx() { viewer, actor, devices }: Context,
  ) {
    return devices.assign({ orgId: orgIdFor(viewer, orgId), hardwareId }, keyId, actor);
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => Boolean, {
    nullable: true,
    description:
      'Deletes a device. Its readings can no longer be read and are deleted in the background. False if there is no ' +
      'such device. The device may register again after 10 s; it then starts without readings.',
  })
  deleteDevice(
    @Arg('orgId', () => Uuid, orgArgument) orgId: string | null | undefined,
    @Arg('hardwareId', () => String, deviceArgument) hardwareId: string,
    @Ctx() { viewer, actor, devices }: Context,
  ) {
    return devices.delete({ orgId: orgIdFor(viewer, orgId), hardwareId }, actor);
  }

  @FieldResolver(() => ID, { description: 'Opaque id of this object. Pass it to `node`.' })
  id(@Root() { orgId, hardwareId }: Device) {
    return nodeId('Device', orgId, hardwareId);
  }
}

@Resolver(() => OrgType)
export class OrgDeviceResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => DeviceType, {
    nullable: true,
    description: 'One device of the org. Null if there is no such device.',
  })
  device(
    @Root() { orgId }: Org,
    @Arg('hardwareId', () => String, deviceArgument) hardwareId: string,
    @Ctx() { devices }: Context,
  ) {
    return devices.find({ orgId, hardwareId });
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => Int, { description: 'The exact number of devices of the org.' })
  deviceCount(@Root() { orgId }: Org, @Ctx() { deviceStore }: Context) {
    return deviceStore.count(orgId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => DeviceConnection, { description: 'The devices of the org.' })
  devices(
    @Root() { orgId }: Org,
    @Arg('orderBy', () => DeviceOrderType, {
      nullable: true,
      defaultValue: 'LAST_SEEN',
      description: 'The order. Use HARDWARE_ID to list every device once.',
    })
    orderBy: DeviceOrder | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { deviceStore, cursors }: Context,
  ) {
    if (orderBy === 'HARDWARE_ID')
      return paginate(
        page,
        { cursors, tenant: orgId, field: 'Org.devices HARDWARE_ID' },
        ({ hardwareId }: Device) => hardwareId,
        (limit, after) => deviceStore.listByHardwareId(orgId, limit, after),
      );
    return paginate(
      page,
      { cursors, tenant: orgId, field: 'Org.devices' },
      ({ lastSeenAt, hardwareId }: Device) => `${lastSeenAt.getTime()} ${hardwareId}`,
      (limit, after) =>
        deviceStore.listByLastSeen(orgId, limit, after === undefined ? undefined : parsePosition(after)),
    );
  }
}

/** The caller, with what the ownership rules need of it. */
export function deviceCaller({ viewer, actor }: Pick<Context, 'viewer' | 'actor'>): DeviceCaller {
  const orgId = orgIdFor(viewer, undefined);
  if (viewer.kind !== 'DEVICE_KEY') return { orgId, actor };
  const { ownerId, hardwareId } = viewer;
  return { orgId, actor, key: { ownerId, ...(hardwareId === undefined ? {} : { hardwareId }) } };
}

function parsePosition(position: string): { lastSeenAt: Date; hardwareId: string } {
  const [lastSeenMs = '', hardwareId = ''] = position.split(' ');
  return { lastSeenAt: new Date(Number(lastSeenMs)), hardwareId };
}
