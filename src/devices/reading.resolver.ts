import {
  Arg,
  Args,
  Authorized,
  Ctx,
  FieldResolver,
  ID,
  Int,
  Mutation,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { PageArgs, paginate } from '../graphql/connection.js';
import type { Context } from '../graphql/context.js';
import { nodeId } from '../graphql/node.js';
import { DateTime, Uuid } from '../graphql/scalars.js';
import { orgIdFor, type Policy, requirePolicy } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import type { Device } from './device.js';
import { deviceCaller } from './device.resolver.js';
import { DeviceType } from './device.types.js';
import type { Judged } from './ingest.service.js';
import type { Metric, Reading } from './reading.js';
import {
  IngestInput,
  IngestPayload,
  ReadingConnection,
  ReadingType,
  SensorMetricType,
  SeriesPointType,
} from './reading.types.js';

const maxReadingsPerPage = 1000;

@Resolver(() => DeviceType)
export class DeviceReadingResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingType, {
    nullable: true,
    description: 'The newest reading by time of measurement, not of arrival.',
  })
  latestReading(@Root() device: Device, @Ctx() { loaders }: Context) {
    return loaders.latestReading(device);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingConnection, {
    description: 'The readings of the device, newest first by time of measurement. `first` may be up to 1000.',
  })
  readings(
    @Root() device: Device,
    @Arg('from', () => DateTime, { nullable: true, description: 'The earliest time of measurement, inclusive.' }) from:
      | Date
      | null
      | undefined,
    @Arg('to', () => DateTime, { nullable: true, description: 'The latest time of measurement, exclusive.' }) to:
      | Date
      | null
      | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { readingStore, cursors }: Context,
  ) {
    if (from && to && from >= to) throw badInput({ path: 'from', message: 'must be before `to`' });
    const { orgId, hardwareId } = device;
    return paginate(
      page,
      { cursors, tenant: orgId, field: `Device.readings ${hardwareId}`, max: maxReadingsPerPage },
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
  @FieldResolver(() => [SeriesPointType], {
    description:
      'Evenly spaced points for charts, oldest first; at most 1000. Several metrics of the same device and range are read once. ' +
      'An operation reads a bounded number of readings; past it, BAD_USER_INPUT says to what to narrow the range.',
  })
  series(
    @Root() device: Device,
    @Arg('metric', () => SensorMetricType, { description: 'The value to chart.' }) metric: Metric,
    @Arg('from', () => DateTime, { description: 'The start of the first step, inclusive.' }) from: Date,
    @Arg('to', () => DateTime, { description: 'The end of the range, exclusive.' }) to: Date,
    @Arg('stepSecs', () => Int, { description: 'Seconds per point. The range may have up to 1000 steps.' })
    stepSecs: number,
    @Ctx() { loaders }: Context,
  ) {
    return loaders.series({ device, metric, range: { fromMs: from.getTime(), toMs: to.getTime(), stepSecs } });
  }
}

@Resolver(() => ReadingType)
export class ReadingResolver {
  @FieldResolver(() => ID, { description: 'Opaque id of this object. Pass it to `node`.' })
  id(@Root() { orgId, hardwareId, timestampMs, batchId }: Reading) {
    return nodeId('Reading', orgId, hardwareId, String(timestampMs), batchId);
  }

  @Authorized<Policy>('devices:serve')
  @Mutation(() => IngestPayload, {
    nullable: true,
    description:
      'Stores readings, each exactly once by its batch id. A reading that is not valid is REJECTED and does not affect the others.',
  })
  async ingest(
    @Arg('input', () => IngestInput, { description: 'The readings.' }) { readings }: IngestInput,
    @Ctx() context: Context,
  ) {
    const judged = await context.ingestion.ingest(deviceCaller(context), readings);
    return { settledBatchIds: settledIds(judged), verdicts: judged.map(presented) };
  }

  @Authorized<Policy>('org:read')
  @Subscription(() => ReadingType, {
    subscribe: ({ args, context }) => follow(args as FollowArgs, context as Context),
    description:
      'Pushes each reading of a device within 2 s of its arrival at any gateway, if it was measured later than the last one pushed. ' +
      'Readings that arrive late are in `Device.readings`.',
  })
  readings(
    @Root() reading: Reading,
    @Arg('orgId', () => Uuid, { nullable: true, description: 'The org. Required for the platform admin.' }) _orgId:
      | string
      | null
      | undefined,
    @Arg('hardwareId', () => String, { description: 'MAC address XX:XX:XX:XX:XX:XX of the device, in either case.' })
    _hardwareId: string,
  ) {
    return reading;
  }
}

interface FollowArgs {
  readonly orgId?: string | null;
  readonly hardwareId: string;
}

async function follow(
  { orgId: named, hardwareId }: FollowArgs,
  { viewer, devices, readingFeed }: Context,
): Promise<AsyncIterable<Reading>> {
  requirePolicy(viewer, 'org:read');
  const device = await devices.find({ orgId: orgIdFor(viewer, named), hardwareId });
  if (!device) throw notFound('device');
  return readingFeed.subscribe(device);
}

/** Stored now or before. An id that several devices of the call share is settled only if it is settled for each of them. */
function settledIds(judged: readonly Judged[]): string[] {
  const nameOf = ({ hardwareId, batchId }: Judged): string => `${hardwareId} ${batchId}`;
  const settled = new Set(
    judged.filter(({ verdict: { kind } }) => kind === 'STORED' || kind === 'DUPLICATE').map(nameOf),
  );
  const open = new Set(judged.filter((each) => !settled.has(nameOf(each))).map(({ batchId }) => batchId));
  return [...new Set(judged.map(({ batchId }) => batchId))].filter((batchId) => !open.has(batchId));
}

function presented({ batchId, verdict }: Judged, index: number) {
  if (verdict.kind === 'REJECTED') return { index, batchId, kind: verdict.kind, error: verdict.rejection };
  if (verdict.kind === 'CONFLICT')
    return { index, batchId, kind: verdict.kind, error: { code: 'IDEMPOTENCY_CONFLICT', message: verdict.message } };
  if (verdict.kind === 'RETRY')
    return { index, batchId, kind: verdict.kind, error: { code: 'SERVICE_UNAVAILABLE', message: verdict.message } };
  return { index, batchId, kind: verdict.kind };
}

function parsePosition(position: string): { timestampMs: number; batchId: string } {
  const [timestampMs = '', batchId = ''] = position.split(' ');
  return { timestampMs: Number(timestampMs), batchId };
}
