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
import { orgIdFor, type Policy } from '../identity/viewer.js';
import { badInput, notFound } from '../lib/errors.js';
import type { Device } from './device.js';
import { deviceCaller } from './device.resolver.js';
import { DeviceType } from './device.types.js';
import { formatFeedPosition, parseFeedPosition } from './feed-position.js';
import type { Metric, Reading } from './reading.js';
import {
  IngestInput,
  IngestPayload,
  ReadingConnection,
  ReadingType,
  SensorMetricType,
  SeriesPointType,
} from './reading.types.js';
import type { LiveReading } from './reading-stream.js';
import { type ReadingOutcome, settledBatchIds } from './verdict.js';

const maxReadingsPerPage = 1000;

@Resolver(() => DeviceType)
export class DeviceReadingResolver {
  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingType, {
    nullable: true,
    description: 'The newest reading by time of measurement, not by time of arrival. Null if there is none.',
  })
  latestReading(@Root() device: Device, @Ctx() { loaders }: Context) {
    return loaders.latestReading(device);
  }

  @Authorized<Policy>('org:read')
  @FieldResolver(() => ReadingConnection, {
    description: 'The readings of the device, newest first by time of measurement. `first` may be up to 1000 here.',
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
      'Up to 1000 evenly spaced points for charts, oldest first. Several metrics of the same device and range are ' +
      'read once. All series of one operation may read up to 50,000 readings; BAD_USER_INPUT says where to cut a ' +
      'longer range.',
  })
  series(
    @Root() device: Device,
    @Arg('metric', () => SensorMetricType, { description: 'The value to chart.' }) metric: Metric,
    @Arg('from', () => DateTime, { description: 'The start of the first step, inclusive.' }) from: Date,
    @Arg('to', () => DateTime, { description: 'The end of the range, exclusive.' }) to: Date,
    @Arg('stepSecs', () => Int, { description: 'Seconds per point. `from` to `to` may have up to 1000 steps.' })
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

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Only in the subscription `readings`, else null. Pass it to `readings(after:)` to get what arrived after this ' +
      'reading.',
  })
  cursor(@Root() reading: Reading | LiveReading, @Ctx() { cursors }: Context) {
    return 'position' in reading ? sealPosition(cursors, reading) : null;
  }

  @FieldResolver(() => Boolean, {
    description:
      'Only in the subscription `readings` with `after`: true if this is no reading. Readings after that cursor are ' +
      'no longer in the feed, so some may have been missed; read them with `Device.readings`. `cursor` continues ' +
      'after the gap, and the other fields are empty.',
  })
  gap(@Root() reading: Reading) {
    return reading.gap ?? false;
  }

  @Authorized<Policy>('devices:serve')
  @Mutation(() => IngestPayload, {
    nullable: true,
    description:
      'Stores readings, each exactly once by device and batch id, so a retry is safe. A reading that is not valid is ' +
      'REJECTED and does not affect the others.',
  })
  async ingest(
    @Arg('input', () => IngestInput, { description: 'The readings.' }) { readings }: IngestInput,
    @Ctx() context: Context,
  ) {
    const outcomes = await context.ingestion.ingest(deviceCaller(context), readings);
    return { settledBatchIds: settledBatchIds(outcomes), verdicts: outcomes.map(toVerdictType) };
  }

  @Authorized<Policy>('org:read')
  @Subscription(() => ReadingType, {
    subscribe: ({ args, context }) => subscribeToReadings(args as ReadingsArgs, context as Context),
    description:
      'Pushes each reading of a device, or of all devices of the org, within 2 s of its arrival at any gateway, in ' +
      'the order of arrival. With `after`: first the readings that arrived since that cursor, without loss. If many ' +
      'arrived in the 10 s before it, some of them come again; ignore those whose `id` you have. A cursor older ' +
      'than 24 h starts with a `gap`.',
  })
  readings(
    @Root() reading: Reading,
    @Arg('orgId', () => Uuid, { nullable: true, description: 'The org. Required for the platform admin.' }) _orgId:
      | string
      | null
      | undefined,
    @Arg('hardwareId', () => String, {
      nullable: true,
      description: 'MAC address XX:XX:XX:XX:XX:XX of the device, in either case. Omit it for all devices of the org.',
    })
    _hardwareId: string | null | undefined,
    @Arg('after', () => String, {
      nullable: true,
      description: 'The `cursor` field of the last reading received.',
    })
    _after: string | null | undefined,
  ) {
    return reading;
  }
}

interface ReadingsArgs {
  readonly orgId?: string | null;
  readonly hardwareId?: string | null;
  readonly after?: string | null;
}

const cursorContext = (orgId: string): string => `${orgId} readings`;
const sealPosition = (cursors: Context['cursors'], { orgId, position }: LiveReading): string =>
  cursors.seal(cursorContext(orgId), formatFeedPosition(position));

/**
 * Needs no policy check of its own, because type-graphql applies `@Authorized` to the subscribe call as well as to each
 * event.
 */
async function subscribeToReadings(args: ReadingsArgs, context: Context): Promise<AsyncIterable<LiveReading>> {
  const { viewer, devices, loaders, cursors, readingFeed, lastEventId } = context;
  const orgId = orgIdFor(viewer, args.orgId);
  // A browser that reconnects sends the id of the last event it received, which is newer than the argument.
  const after = lastEventId ?? args.after;
  context.identifyEvents((reading: LiveReading) => sealPosition(cursors, reading));
  const { hardwareId } = args;
  const device = typeof hardwareId === 'string' ? await devices.find({ orgId, hardwareId }) : undefined;
  if (typeof hardwareId === 'string' && !device) throw notFound('device');
  if (!device && !(await loaders.org(orgId))) throw notFound('org');
  const from = typeof after === 'string' ? cursors.open(cursorContext(orgId), after) : undefined;
  if (typeof after === 'string' && from === undefined)
    throw badInput({ path: 'after', message: 'must be the `cursor` field of a Reading of this subscription and org' });
  return readingFeed.subscribe(
    device ? { orgId, device } : { orgId },
    from === undefined ? undefined : parseFeedPosition(from),
  );
}

function toVerdictType({ batchId, verdict }: ReadingOutcome, index: number) {
  const { kind } = verdict;
  switch (kind) {
    case 'REJECTED':
      return { index, batchId, kind, error: verdict.rejection };
    case 'CONFLICT':
      return { index, batchId, kind, error: { code: 'IDEMPOTENCY_CONFLICT', message: verdict.message } };
    case 'RETRY':
      return { index, batchId, kind, error: { code: 'SERVICE_UNAVAILABLE', message: verdict.message } };
    default:
      return { index, batchId, kind };
  }
}

function parsePosition(position: string): { timestampMs: number; batchId: string } {
  const [timestampMs = '', batchId = ''] = position.split(' ');
  return { timestampMs: Number(timestampMs), batchId };
}
