import type { Item, StoreClient } from '../dynamo/client.js';
import type { RepeatedWriter } from '../dynamo/repeated-writer.js';
import type { EachWrite } from '../dynamo/statement.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { batchKey, segmentKey } from './device-keys.js';
import { fenceItem, isFence, readingsIn, toMarker } from './segment.item.js';
import { type BatchClaim, deviceOf, type Marker, type NewReading, type SegmentRef } from './segment.js';
import { conflict, type Verdict } from './verdict.js';

const [segments, markers] = ['device_readings', 'processed_batches'] as const;
/** A segment that is absent this often was probably abandoned: its gateway crashed. Then it is fenced. */
const maxSightings = 3;
/** A fence is stored for much longer than a call may take. */
const fenceSecs = 86_400;

export interface Judged {
  readonly verdicts: ReadonlyMap<NewReading, Verdict>;
  /** Batch ids that may be claimed now. */
  readonly claims: readonly BatchClaim[];
  /** The segments of these readings may be about to be written. */
  readonly waiting: readonly NewReading[];
}

/** A marker that a reading met, and the segment that it points to. */
interface Met {
  readonly reading: NewReading;
  readonly marker: Marker | undefined;
}

/** Decides about readings whose batch ids have markers already. */
export class MarkerStore {
  constructor(
    private readonly client: StoreClient,
    private readonly writer: RepeatedWriter,
    private readonly clock: Clock,
  ) {}

  /** `sightings` counts, for one call, how often each segment was absent. */
  async judge(readings: readonly NewReading[], sightings: Map<string, number>, untilMs: number): Promise<Judged> {
    const met = await this.markersOf(readings);
    const nowSecs = epochSeconds(this.clock.nowMs());
    const verdicts = new Map<NewReading, Verdict>();
    const claims: BatchClaim[] = [];
    const open: { readonly reading: NewReading; readonly found: Marker; readonly ref: SegmentRef }[] = [];
    for (const { reading, marker } of met) {
      const outcome = outcomeOf(reading, marker, nowSecs);
      if (outcome === 'claim') claims.push(marker ? { reading, found: marker } : { reading });
      else if (outcome === 'open') open.push(openOf(reading, marker as Marker));
      else verdicts.set(reading, outcome);
    }
    const found = await this.segmentsOf(open.map(({ ref }) => ref));
    const absent = open.filter(({ reading, found: marker, ref }) => {
      const segment = found.get(nameOf(ref));
      if (segment?.has(reading.reading.batchId)) verdicts.set(reading, { kind: 'DUPLICATE' });
      // The segment can no longer change, and it does not have the reading.
      else if (segment) claims.push({ reading, found: marker });
      return !segment;
    });
    const fenced = await this.fence(
      absent.map(({ ref }) => ref),
      sightings,
      untilMs,
    );
    const waiting: NewReading[] = [];
    for (const { reading, found: marker, ref } of absent) {
      if (fenced.has(nameOf(ref))) claims.push({ reading, found: marker });
      else waiting.push(reading);
    }
    return { verdicts, claims, waiting };
  }

  private async markersOf(readings: readonly NewReading[]): Promise<Met[]> {
    const keys = readings.map((each) => batchKey(deviceOf(each), each.reading.batchId));
    const items = await this.client.getMany(markers, keys, { consistent: true });
    return readings.map((reading, i) => ({ reading, marker: items[i] && toMarker(items[i]) }));
  }

  /** The batch ids in each segment that exists, by its name. A fence has none. */
  private async segmentsOf(refs: readonly SegmentRef[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const unique = [...new Map(refs.map((ref) => [nameOf(ref), ref])).values()];
    if (unique.length === 0) return new Map();
    const keys = unique.map(({ device, sortKey }) => segmentKey(device, sortKey));
    const items = await this.client.getMany(segments, keys, { consistent: true });
    return new Map(
      unique.flatMap((ref, i) => {
        const item: Item | undefined = items[i];
        if (!item) return [];
        return [[nameOf(ref), new Set(isFence(item) ? [] : readingsIn(item).map(({ batchId }) => batchId))] as const];
      }),
    );
  }

  /**
   * Writes fences in place of absent segments. A fence makes the write of the segment fail, however late it comes, so a
   * reading that is taken over cannot be stored twice. Returns the names of the fenced segments.
   */
  private async fence(
    refs: readonly SegmentRef[],
    sightings: Map<string, number>,
    untilMs: number,
  ): Promise<ReadonlySet<string>> {
    const unique = new Map(refs.map((ref) => [nameOf(ref), ref]));
    for (const name of unique.keys()) sightings.set(name, (sightings.get(name) ?? 0) + 1);
    const abandoned = [...unique].filter(([name]) => (sightings.get(name) ?? 0) >= maxSightings);
    if (abandoned.length === 0) return new Set();
    const expires = epochSeconds(this.clock.nowMs()) + fenceSecs;
    const writes = abandoned.map(([, ref]): EachWrite => ({ table: segments, insert: fenceItem(ref, expires) }));
    const results = await this.writer.write(writes, untilMs);
    return new Set(abandoned.flatMap(([name], i) => (results[i] === 'done' ? [name] : [])));
  }
}

/** `claim`: the batch id is free. `open`: it depends on the segment of the marker. */
function outcomeOf({ hash }: NewReading, marker: Marker | undefined, nowSecs: number): Verdict | 'claim' | 'open' {
  if (!marker || marker.expires <= nowSecs) return 'claim';
  if (marker.hash !== hash) return conflict;
  return marker.segmentExpires <= nowSecs ? { kind: 'DUPLICATE' } : 'open';
}

const openOf = (reading: NewReading, found: Marker) => ({
  reading,
  found,
  ref: { device: deviceOf(reading), sortKey: found.segment ?? '' },
});

const nameOf = ({ device, sortKey }: SegmentRef): string =>
  `${device.orgId} ${device.hardwareId} ${device.generation} ${sortKey}`;
