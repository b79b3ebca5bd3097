// A segment: the readings of one device that one call stored, all of one UTC hour, packed into one text.
import type { ReadingsRef } from './device.js';
import { hourOf } from './device-keys.js';
import { type Health, metricNames, type Reading, sensorsWithStatus } from './reading.js';

/** Max length of the packed text of a segment. DynamoDB refuses items above 400 KB. */
export const maxSegmentLength = 300_000;

/**
 * The marker of a batch id: the content that was sent under it, and the segment that its reading is stored in.
 */
export interface Marker {
  readonly hash: string;
  /** The sort key. */
  readonly segment: string;
  readonly segmentExpires: number;
  readonly expires: number;
}

/** A reading to store for one generation of a device, with the hash of its content. */
export interface NewReading {
  readonly reading: Reading;
  readonly generation: string;
  readonly hash: string;
}

/** A batch id to claim for a reading, with its marker as it was found. Absent: it has none. */
export interface BatchClaim {
  readonly reading: NewReading;
  readonly found?: Marker;
}

export const deviceOf = ({ reading: { orgId, hardwareId }, generation }: NewReading): ReadingsRef => ({
  orgId,
  hardwareId,
  generation,
});

/** Where a segment is stored. */
export interface SegmentRef {
  readonly device: ReadingsRef;
  readonly sortKey: string;
}

/** An entry of the live feed of an org, in the order of arrival. It may be written without its segment, never after. */
export interface FeedRow extends SegmentRef {
  /** A ULID. */
  readonly rowId: string;
}

/** A feed row with the readings of its segment. */
export interface Arrival {
  readonly row: FeedRow;
  readonly readings: readonly Reading[];
}

/** The order of readings of a device: by time of measurement, then by batch id. */
export interface ReadingPosition {
  readonly timestampMs: number;
  readonly batchId: string;
}

export const newestFirst = (a: ReadingPosition, b: ReadingPosition): number =>
  b.timestampMs - a.timestampMs || (a.batchId < b.batchId ? 1 : a.batchId > b.batchId ? -1 : 0);

/** The values of one reading, in the order of `metricNames`. Null or absent: not measured. */
export interface Sample extends ReadingPosition {
  readonly values: readonly (number | null | undefined)[];
}

/** The fields that most readings of a segment share: boot id, firmware version, friendly name. */
type Source = readonly [bootId: string, firmwareVersion: string, friendlyName: string | null];
/** A reading: time since the start of the hour, batch id, index of its source, sensor status, values. */
type PackedReading = readonly [
  offsetMs: number,
  batchId: string,
  source: number,
  status: number,
  ...values: (number | null)[],
];
type PackedSegment = readonly [sources: readonly Source[], readings: readonly PackedReading[]];

/** The readings as one text, oldest first. `hourMs` is the start of their hour. */
export function packReadings(readings: readonly Reading[], hourMs: number): string {
  const sources: Source[] = [];
  const sourceIndexes = new Map<string, number>();
  const packed = readings
    .toSorted((a, b) => newestFirst(b, a))
    .map((reading): PackedReading => {
      const source: Source = [reading.bootId, reading.firmwareVersion, reading.friendlyName ?? null];
      const name = JSON.stringify(source);
      let index = sourceIndexes.get(name);
      if (index === undefined) {
        index = sources.push(source) - 1;
        sourceIndexes.set(name, index);
      }
      return [reading.timestampMs - hourMs, reading.batchId, index, statusNumber(reading), ...valuesOf(reading)];
    });
  return JSON.stringify([sources, packed] satisfies PackedSegment);
}

/** Undefined if the text is not what `packReadings` makes. */
export function unpack(text: string): PackedSegment | undefined {
  let segment: unknown;
  try {
    segment = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isSegment = Array.isArray(segment) && Array.isArray(segment[0]) && Array.isArray(segment[1]);
  if (!isSegment) return undefined;
  const [sources, readings] = segment as unknown as PackedSegment;
  const isValid = (packed: unknown): boolean =>
    Array.isArray(packed) &&
    typeof packed[0] === 'number' &&
    typeof packed[1] === 'string' &&
    Array.isArray(sources[packed[2]]);
  return readings.every(isValid) ? [sources, readings] : undefined;
}

/** The readings of a segment, oldest first. */
export function unpackedReadings(
  [sources, readings]: PackedSegment,
  { orgId, hardwareId }: Pick<ReadingsRef, 'orgId' | 'hardwareId'>,
  hourMs: number,
): Reading[] {
  // Read by index and built with all fields at once, because a page has up to 1,000 readings.
  return readings.map((packed) => {
    const source = sources[packed[2]] as Source;
    return {
      nodeType: 'Reading',
      orgId,
      hardwareId,
      batchId: packed[1],
      timestampMs: hourMs + packed[0],
      bootId: source[0],
      firmwareVersion: source[1],
      ...(source[2] === null ? {} : { friendlyName: source[2] }),
      sensors: sensorsOf(packed),
      sensorStatus: statuses[packed[3]] ?? {},
    };
  });
}

export const unpackedSamples = ([, readings]: PackedSegment, hourMs: number): Sample[] =>
  readings.map((packed) => ({
    timestampMs: hourMs + packed[0],
    batchId: packed[1],
    values: packed.slice(valuesAt) as (number | null)[],
  }));

/** Trailing metrics that were not measured are left out. */
function valuesOf({ sensors }: Reading): (number | null)[] {
  const values = metricNames.map((metric) => sensors[metric] ?? null);
  return values.slice(0, values.findLastIndex((value) => value !== null) + 1);
}

/** The place of the first value in a packed reading. The values are in the order of `metricNames`. */
const valuesAt = 4;
const sensorsOf = (packed: PackedReading): Reading['sensors'] => ({
  bme280TempC: valueAt(packed, 0),
  ds18b20TempC: valueAt(packed, 1),
  humidityPct: valueAt(packed, 2),
  pressureHpa: valueAt(packed, 3),
  soilMoisturePct: valueAt(packed, 4),
});
const valueAt = (packed: PackedReading, metric: number): number | undefined =>
  (packed[valuesAt + metric] as number | null | undefined) ?? undefined;

/** The health of each sensor is one digit of base 3, the first sensor lowest. */
const states: readonly (Health | undefined)[] = [undefined, 'OK', 'ERROR'];
const statusNumber = ({ sensorStatus }: Reading): number =>
  sensorsWithStatus.reduceRight((sum, sensor) => sum * states.length + states.indexOf(sensorStatus[sensor]), 0);
const statuses: readonly Reading['sensorStatus'][] = Array.from(
  { length: states.length ** sensorsWithStatus.length },
  (_, status) =>
    Object.fromEntries(
      sensorsWithStatus.map((sensor, i) => [sensor, states[Math.floor(status / states.length ** i) % states.length]]),
    ),
);

/**
 * Readings that go into one segment each: of one device, of one UTC hour, and not too long together. The length is an
 * upper bound.
 */
export function segmentGroups(claims: readonly BatchClaim[]): BatchClaim[][] {
  const open = new Map<string, { readonly group: BatchClaim[]; length: number }>();
  const groups: BatchClaim[][] = [];
  for (const each of claims) {
    const { reading, generation } = each.reading;
    const { orgId, hardwareId, timestampMs } = reading;
    const name = `${orgId} ${hardwareId} ${generation} ${hourOf(timestampMs)}`;
    const length = maxLengthOf(reading);
    let last = open.get(name);
    if (!last || last.length + length > maxSegmentLength) {
      last = { group: [], length: 0 };
      open.set(name, last);
      groups.push(last.group);
    }
    last.group.push(each);
    last.length += length;
  }
  return groups;
}

/** An upper bound of what a reading adds to the packed text. Its strings are ASCII; a character may be escaped. */
const maxLengthOf = ({ batchId, bootId, firmwareVersion, friendlyName = '' }: Reading): number =>
  batchId.length + 2 * (bootId.length + firmwareVersion.length + friendlyName.length) + 200;
