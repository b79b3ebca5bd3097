import type { StoreClient } from '../dynamo/client.js';
import { and, equals } from '../dynamo/expression.js';
import { StoreUnavailable } from '../dynamo/faults.js';
import { RepeatedWriter } from '../dynamo/repeated-writer.js';
import { pauseMs } from '../dynamo/retry.js';
import type { EachWrite } from '../dynamo/statement.js';
import { type Clock, epochSeconds } from '../lib/clock.js';
import { Overloaded } from '../lib/errors.js';
import { newUuid, ulid } from '../lib/id.js';
import { Semaphore } from '../lib/semaphore.js';
import { sleep } from '../lib/timers.js';
import { batchKey, segmentKey, segmentSortKey } from './device-keys.js';
import { type FeedPartitionsOf, feedRowMs } from './feed-position.js';
import { MarkerStore } from './marker.store.js';
import { feedRowItem, isFence, markerAttributes, markerItem, segmentItem } from './segment.item.js';
import { type BatchClaim, deviceOf, type FeedRow, type NewReading, segmentGroups } from './segment.js';
import { retry, type Verdict } from './verdict.js';

const [segments, markers] = ['device_readings', 'processed_batches'] as const;
/**
 * No write of a call starts later than this. Subscribers look for the segment of a feed row for `feedWindowMs`, so it
 * must be written well within that time.
 */
const maxPutMs = 3500;
const maxRounds = 16;
/** Large calls that are stored at the same time. More of them only delay each other. */
const maxLargeCalls = 8;
const maxReadingsOfSmallCall = 10;
const maxWaitingCalls = 512;

/** A segment that a call is going to write, with its feed row. */
interface Draft extends FeedRow {
  readonly claims: readonly BatchClaim[];
  readonly expires: number;
  readonly markerExpires: number;
}

/** The readings of one round: those that it stored, and those whose batch id another call may have claimed. */
interface PutRound {
  readonly stored: readonly NewReading[];
  readonly contested: readonly NewReading[];
}

/** Stores readings in segments, each reading exactly once. `docs/architecture.md` describes the protocol. */
export class SegmentStore {
  private readonly writer: RepeatedWriter;
  private readonly markers: MarkerStore;
  private readonly largeCalls = new Semaphore(
    maxLargeCalls,
    maxWaitingCalls,
    () => new Overloaded('too many readings are waiting to be stored; retry'),
  );

  constructor(
    private readonly client: StoreClient,
    private readonly clock: Clock,
    private readonly retentionDays: { readonly readings: number; readonly batches: number },
    private readonly feedPartitionsOf: FeedPartitionsOf,
  ) {
    this.writer = new RepeatedWriter(client, clock);
    this.markers = new MarkerStore(client, this.writer, clock);
  }

  /**
   * Stores each reading once. No two of the readings may have the same device and batch id. Returns the verdicts in the
   * order of the readings.
   */
  async put(readings: readonly NewReading[]): Promise<Verdict[]> {
    const verdicts = new Map<NewReading, Verdict>();
    try {
      const store = () => this.putAll(readings, verdicts);
      await (readings.length > maxReadingsOfSmallCall ? this.largeCalls.run(store) : store());
    } catch (error) {
      // A reading without a verdict may or may not be stored. The retry of the device then stores it or finds the
      // duplicate.
      if (!(error instanceof StoreUnavailable) && !(error instanceof Overloaded)) throw error;
    }
    return readings.map((reading) => verdicts.get(reading) ?? retry);
  }

  private async putAll(readings: readonly NewReading[], verdicts: Map<NewReading, Verdict>): Promise<void> {
    const untilMs = this.clock.monotonicMs() + maxPutMs;
    const sightings = new Map<string, number>();
    let claims: readonly BatchClaim[] = readings.map((reading) => ({ reading }));
    let waiting: readonly NewReading[] = [];
    for (let round = 0; round < maxRounds && this.clock.monotonicMs() < untilMs; round++) {
      const { stored, contested } = await this.putRound(claims, untilMs);
      for (const reading of stored) verdicts.set(reading, { kind: 'STORED' });
      const open = [...contested, ...waiting];
      if (open.length === 0) return;
      // The call that claimed them is probably about to write its segment.
      if (round > 0) await sleep(25 + pauseMs(round));
      const judged = await this.markers.judge(open, sightings, untilMs);
      for (const [reading, verdict] of judged.verdicts) verdicts.set(reading, verdict);
      ({ claims, waiting } = judged);
    }
  }

  /** Claims the batch ids of readings, and stores those that it claimed in new segments. */
  private async putRound(claims: readonly BatchClaim[], untilMs: number): Promise<PutRound> {
    if (claims.length === 0) return { stored: [], contested: [] };
    const drafts = segmentGroups(claims).map((group) => this.draftOf(group));
    const rows = await Promise.all(drafts.map((draft) => this.feedRowWrite(draft)));
    const marks = drafts.flatMap((draft) => draft.claims.map((claim) => ({ claim, draft })));
    // The feed row comes before the segment. So a stored reading always has one, whenever the gateway crashes.
    const results = await this.writer.write([...rows, ...marks.map((each) => markerWrite(each))], untilMs);
    const unsure = marks.filter((_, i) => results[rows.length + i] === 'unsure');
    const own = await this.ownOf(unsure);
    const isOwn = ({ claim }: Mark, i: number): boolean =>
      results[rows.length + i] === 'done' || own.has(claim.reading);
    const owned = new Set(marks.filter(isOwn).map(({ claim }) => claim.reading));
    const isContested = ({ claim }: Mark, i: number): boolean =>
      ['condition', 'unsure'].includes(results[rows.length + i] ?? '') && !owned.has(claim.reading);
    const contested = marks.filter(isContested).map(({ claim }) => claim.reading);
    const ready = drafts.filter((_, i) => results[i] !== 'failed');
    const put = await this.putSegments(ready, owned, untilMs);
    return { stored: put.stored, contested: [...contested, ...put.contested] };
  }

  private async feedRowWrite(draft: Draft): Promise<EachWrite> {
    const partitions = await this.feedPartitionsOf(draft.device.orgId);
    const expires = epochSeconds(this.clock.nowMs() + feedRowMs);
    return { table: segments, insert: feedRowItem(draft, partitions, expires) };
  }

  private async putSegments(
    drafts: readonly Draft[],
    owned: ReadonlySet<NewReading>,
    untilMs: number,
  ): Promise<PutRound> {
    const filled = drafts
      .map((draft) => ({
        draft,
        readings: draft.claims.map(({ reading }) => reading).filter((each) => owned.has(each)),
      }))
      .filter(({ readings }) => readings.length > 0);
    const writes = filled.map(({ draft, readings }): EachWrite => {
      const item = segmentItem(
        draft,
        readings.map(({ reading }) => reading),
        draft.expires,
      );
      return { table: segments, insert: item };
    });
    const results = writes.length === 0 ? [] : await this.writer.write(writes, untilMs);
    const fenced = await Promise.all(
      filled.map(async ({ draft }, i) => results[i] !== 'done' && results[i] !== 'failed' && this.isFenced(draft)),
    );
    const isStored = (i: number): boolean => results[i] !== 'failed' && !fenced[i];
    return {
      stored: filled.flatMap(({ readings }, i) => (isStored(i) ? readings : [])),
      contested: filled.flatMap(({ readings }, i) => (fenced[i] ? readings : [])),
    };
  }

  /** False if the item is the segment itself: an earlier attempt, whose response was lost, has written it. */
  private async isFenced({ device, sortKey }: Draft): Promise<boolean> {
    const item = await this.client.get(segments, segmentKey(device, sortKey), { consistent: true });
    return !item || isFence(item);
  }

  /** Those of the readings whose markers point to the segments of this call. */
  private async ownOf(marks: readonly Mark[]): Promise<ReadonlySet<NewReading>> {
    if (marks.length === 0) return new Set();
    const keys = marks.map(({ claim, draft }) => batchKey(draft.device, claim.reading.reading.batchId));
    const items = await this.client.getMany(markers, keys, { consistent: true });
    return new Set(
      marks.flatMap(({ claim, draft }, i) => (items[i]?.segment === draft.sortKey ? [claim.reading] : [])),
    );
  }

  private draftOf(claims: readonly BatchClaim[]): Draft {
    const nowMs = this.clock.nowMs();
    const newestMs = Math.max(...claims.map(({ reading }) => reading.reading.timestampMs));
    // From the later of measurement and arrival, because a reading that a device has buffered for long must not expire
    // at once.
    const expires = epochSeconds(Math.max(newestMs, nowMs)) + this.retentionDays.readings * 86_400;
    return {
      device: deviceOf((claims[0] as BatchClaim).reading),
      sortKey: segmentSortKey(newestMs, newUuid()),
      rowId: ulid(nowMs),
      claims,
      expires,
      markerExpires: Math.max(expires, epochSeconds(nowMs) + this.retentionDays.batches * 86_400),
    };
  }
}

interface Mark {
  readonly claim: BatchClaim;
  readonly draft: Draft;
}

/** Creates the marker of a reading. If one was found, points it to the segment of this call, unless it has changed. */
function markerWrite({ claim: { reading, found }, draft }: Mark): EachWrite {
  const { batchId } = reading.reading;
  const marker = {
    hash: reading.hash,
    segment: draft.sortKey,
    segmentExpires: draft.expires,
    expires: draft.markerExpires,
  };
  if (!found) return { table: markers, insert: markerItem(draft.device, batchId, marker) };
  return {
    table: markers,
    update: batchKey(draft.device, batchId),
    set: markerAttributes(marker),
    condition: and(equals('segment', found.segment), equals('expiration_time', found.expires)),
  };
}
