import { Arg, Args, Authorized, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy, requirePolicy } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import { OrgType } from '../orgs/org.types.js';
import type { Org } from '../orgs/settings.js';
import { type Device, hardwareIdIssues } from './device.js';
import type { Judged } from './device.service.js';
import {
  DeviceConnection,
  DeviceType,
  IngestInput,
  IngestPayload,
  ReadingConnection,
  ReadingType,
  RegisterDeviceInput,
  RegisterDevicePayload,
  SensorMetricType,
  SeriesPointType,
} from './device.types.js';
import type { Metric, Reading } from './reading.js';

const mostReadingsAPage = 1000;

@Resolver(() => DeviceType)
export class DeviceResolver {
  @Authorized<Policy>('devices:serve')
  @Mutation(() => RegisterDevicePayload, { nullable: true, description: 'Called by a device at each boot.' })
  registerDevice(@Arg('input', () => RegisterDeviceInput) input: RegisterDeviceInput, @Ctx() { viewer, devices }: Context) {
    return devices.register(orgIdFor(viewer, undefined), input);
  }

  @Authorized<Policy>('devices:serve')
  @Mutation(() => IngestPayload, { nullable: true, description: 'Stores readings once each, and says of each what became of it.' })
  async ingest(@Arg('input', () => IngestInput) { readings }: IngestInput, @Ctx() { viewer, devices }: Context) {
    const judged = await devices.ingest(orgIdFor(viewer, undefined), readings);
    return { settledBatchIds: settledIds(judged), verdicts: judged.map(presented) };
  }

  @Authorized<Policy>('org:manage')
  @Mutation(() => DeviceType, { nullable: true })
  renameDevice(
    @Arg('orgId', () => Uuid, { nullable: true }) orgId: string | null | undefined,
    @Arg('hardwareId', () => String) hardwareId: string,
    @Arg('friendlyName', () => String, { nullable: true, description: 'Null takes the name away.' }) friendlyName: string | null | undefined,
    @Ctx() { viewer, actor, devices }: Context,
  ) {
    return devices.rename(orgIdFor(viewer, orgId), hardwareId, friendlyName, actor);
  }

  @FieldResolver(() => ID)
  id(@Root() { orgId, hardwareId }: Device) {
    return nodeId('Device', orgId, hardwareId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingType, { nullable: true, description: 'The newest by the time it was measured, not by arrival.' })
  latestReading(@Root() device: Device, @Ctx() { loaders }: Context) {
    return loaders.latestReading(device);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingConnection, { description: 'Newest first; up to 1000 a page.' })
  readings(
    @Root() device: Device,
    @Arg('from', () => DateTime, { nullable: true }) from: Date | null | undefined,
    @Arg('to', () => DateTime, { nullable: true, description: 'Exclusive.' }) to: Date | null | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { readingStore, cursors }: Context,
  ) {
    if (from && to && from >= to) throw badInput({ path: 'from', message: 'must be before `to`' });
    const { orgId, hardwareId } = device;
    return paginate(
      page,
      { cursors, tenant: orgId, field: `Device.readings ${hardwareId}`, max: mostReadingsAPage },
      ({ timestampMs, batchId }: Reading) => `${timestampMs} ${batchId}`,
      (limit, after) =>
        readingStore.list(
          device,
          { fromMs: from?.getTime() ?? 0, toMs: to?.getTime() ?? Number.POSITIVE_INFINITY },
          limit,
          after === undefined ? undefined : parsePosition(after),
        ),
    );
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => [SeriesPointType], { description: 'Evenly spaced points for charts; at most 1000.' })
  series(
    @Root() device: Device,
    @Arg('metric', () => SensorMetricType) metric: Metric,
    @Arg('from', () => DateTime) from: Date,
    @Arg('to', () => DateTime, { description: 'Exclusive.' }) to: Date,
    @Arg('stepSecs', () => Int) stepSecs: number,
    @Ctx() { devices }: Context,
  ) {
    return devices.series(device, metric, { fromMs: from.getTime(), toMs: to.getTime(), stepSecs });
  }
}

@Resolver(() => OrgType)
export class OrgDeviceResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => DeviceType, { nullable: true })
  device(@Root() { orgId }: Org, @Arg('hardwareId', () => String) hardwareId: string, @Ctx() { devices }: Context) {
    return devices.find(orgId, hardwareId);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => DeviceConnection, { description: 'Most recently seen first.' })
  devices(@Root() { orgId }: Org, @Args(() => PageArgs) page: PageArgs, @Ctx() { deviceStore, cursors }: Context) {
    return paginate(
      page,
      { cursors, tenant: orgId, field: 'Org.devices' },
      ({ lastSeenAt, hardwareId }: Device) => `${lastSeenAt.getTime()} ${hardwareId}`,
      (limit, after) => deviceStore.list(orgId, limit, after === undefined ? undefined : parseDevicePosition(after)),
    );
  }
}

@Resolver(() => ReadingType)
export class ReadingResolver {
  @FieldResolver(() => ID)
  id(@Root() { orgId, hardwareId, timestampMs, batchId }: Reading) {
    return nodeId('Reading', orgId, hardwareId, String(timestampMs), batchId);
  }

  @Authorized<Policy>('org:read')
  @Subscription(() => ReadingType, {
    subscribe: ({ args, context }) => follow(args as FollowArgs, context as Context),
    description: 'Each reading measured later than the last one, within 2 s of its arrival anywhere.',
  })
  readings(
    @Root() reading: Reading,
    @Arg('orgId', () => Uuid, { nullable: true }) _orgId: string | null | undefined,
    @Arg('hardwareId', () => String) _hardwareId: string,
  ) {
    return reading;
  }
}

interface FollowArgs {
  readonly orgId?: string | null;
  readonly hardwareId: string;
}

async function follow({ orgId: named, hardwareId }: FollowArgs, { viewer, devices, readingFeed }: Context): Promise<AsyncIterable<Reading>> {
  requirePolicy(viewer, 'org:read');
  const orgId = orgIdFor(viewer, named);
  const [issue] = hardwareIdIssues(hardwareId, 'hardwareId');
  if (issue) throw badInput(issue);
  if (!(await devices.find(orgId, hardwareId))) throw notFound('device');
  return readingFeed.subscribe({ orgId, hardwareId });
}

/** Stored or there already. An id that several devices of the call share is settled only when it is for each of them. */
function settledIds(judged: readonly Judged[]): string[] {
  const nameOf = ({ hardwareId, batchId }: Judged): string => `${hardwareId} ${batchId}`;
  const settled = new Set(judged.filter(({ verdict: { kind } }) => kind === 'STORED' || kind === 'DUPLICATE').map(nameOf));
  const open = new Set(judged.filter((each) => !settled.has(nameOf(each))).map(({ batchId }) => batchId));
  return [...new Set(judged.map(({ batchId }) => batchId))].filter((batchId) => !open.has(batchId));
}

function presented({ batchId, verdict }: Judged, index: number) {
  if (verdict.kind === 'REJECTED') return { index, batchId, kind: verdict.kind, error: verdict.rejection };
  if (verdict.kind === 'CONFLICT') return { index, batchId, kind: verdict.kind, error: { code: 'IDEMPOTENCY_CONFLICT', message: verdict.message } };
  if (verdict.kind === 'RETRY') return { index, batchId, kind: verdict.kind, error: { code: 'SERVICE_UNAVAILABLE', message: verdict.message } };
  return { index, batchId, kind: verdict.kind };
}

function parsePosition(position: string): { timestampMs: number; batchId: string } {
  const [timestampMs = '', batchId = ''] = position.split(' ');
  return { timestampMs: Number(timestampMs), batchId };
}

function parseDevicePosition(position: string): { lastSeenAt: Date; hardwareId: string } {
  const [lastSeenMs = '', hardwareId = ''] = position.split(' ');
  return { lastSeenAt: new Date(Number(lastSeenMs)), hardwareId };
}
