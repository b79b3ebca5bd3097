import type { Clock } from '../lib/clock.js';
import { badInput } from '../lib/errors.js';
import type { Log } from '../lib/log.js';
import { within } from '../lib/timers.js';
import {
  type Device,
  type DeviceCaller,
  type DeviceKey,
  type DeviceReport,
  maxClockSkewMs,
  mayServe,
} from './device.js';
import type { KeyLines } from './device.service.js';
import type { DeviceStore } from './device.store.js';
import {
  type ParsedReading,
  parseReading,
  type Reading,
  type Rejection,
  type SentReading,
  senderOf,
} from './reading.js';
import type { NewReading } from './segment.js';
import type { SegmentStore } from './segment.store.js';
import { type ReadingOutcome, rejected, retry, type Verdict, verdictAfter } from './verdict.js';

const maxReadings = 100;
/** The time a device was last seen is updated at most once per this interval. */
const touchIntervalMs = 60_000;
/** How long a response waits for the update of the time a device was last seen. */
const maxTouchMs = 200;

export interface IngestDeps {
  readonly devices: DeviceStore;
  readonly segments: SegmentStore;
  readonly keys: KeyLines;
  readonly clock: Clock;
  readonly log: Log;
}

export class IngestService {
  constructor(private readonly deps: IngestDeps) {}

  /**
   * Validates and stores readings, each exactly once by its batch id. An invalid reading does not affect the others.
   * Returns the outcomes in the order of the readings.
   */
  async ingest(caller: DeviceCaller, sent: readonly (SentReading | null | undefined)[]): Promise<ReadingOutcome[]> {
    if (sent.length < 1 || sent.length > maxReadings)
      throw badInput({ path: 'input.readings', message: `must have 1 to ${maxReadings} readings` });
    const nowMs = this.deps.clock.nowMs();
    const readings = sent.map((reading) => reading ?? {});
    const parsed = readings.map((reading) => parseReading(caller.orgId, reading, nowMs));
    const senders = await this.sendersOf(caller, readings);
    const checked = parsed.map((each) => checkSender(each, senders));
    const touched = this.touch([...senders.served.values()], parsed, nowMs);
    const [verdicts] = await Promise.all([
      this.store(checked.flatMap((each) => ('rejection' in each ? [] : [each]))),
      within(maxTouchMs, touched, () => undefined),
    ]);
    return checked.map((each, i) => ({
      hardwareId: senderOf(readings[i] ?? {}) ?? '',
      batchId: readings[i]?.batchId ?? '',
      verdict: 'rejection' in each ? rejected(each.rejection) : (verdicts.get(each) ?? retry),
    }));
  }

  /**
   * Stores readings in rounds, because one batch id can be claimed only once at a time. A reading whose id came
   * before in the call gets its verdict from the first one where possible, else it takes part in the next round.
   */
  private async store(readings: readonly NewReading[]): Promise<ReadonlyMap<NewReading, Verdict>> {
    const verdicts = new Map<NewReading, Verdict>();
    if (readings.length === 0) return verdicts;
    const firsts = new Map<string, NewReading>();
    for (const each of readings) if (!firsts.has(idOf(each))) firsts.set(idOf(each), each);
    const round = [...firsts.values()];
    const stored = await this.deps.segments.put(round);
    for (const [i, each] of round.entries()) verdicts.set(each, stored[i] ?? retry);
    const undecided = readings.filter((each) => {
      const first = firsts.get(idOf(each)) ?? each;
      if (first === each) return false;
      const verdict = verdictAfter(verdicts.get(first) ?? retry, first.hash === each.hash);
      if (verdict !== 'undecided') verdicts.set(each, verdict);
      return verdict === 'undecided';
    });
    return new Map([...verdicts, ...(await this.store(undecided))]);
  }

  /** The devices that the readings of a call name: those that the caller may serve, and those of another key. */
  private async sendersOf({ orgId, key }: DeviceCaller, readings: readonly SentReading[]): Promise<Senders> {
    const { devices } = this.deps;
    const refs = [...new Set(readings.flatMap((reading) => senderOf(reading) ?? []))].map((hardwareId) => ({
      orgId,
      hardwareId,
    }));
    const senders: Senders = { served: new Map(), foreign: new Set() };
    if (refs.length === 0) return senders;
    const found = await devices.loadMany(refs);
    const isServed = (device: Device | undefined): boolean => device !== undefined && mayServe(key, device) === 'yes';
    for (const device of found) if (device && isServed(device)) senders.served.set(device.hardwareId, device);
    // An eventually consistent read may miss a registration or a change of owner. So a rejection needs a consistent
    // read.
    const refused = refs.filter((_, i) => !isServed(found[i]));
    if (refused.length === 0) return senders;
    const reread = (await devices.loadMany(refused, { consistent: true })).filter((device) => device !== undefined);
    const takenOver = await this.takeOver(key, reread);
    for (const device of reread) {
      if (isServed(device) || takenOver.has(device)) senders.served.set(device.hardwareId, device);
      else senders.foreign.add(device.hardwareId);
    }
    return senders;
  }

  /**
   * Takes over devices whose owner was revoked, because after a key rotation the devices must not have to reboot first.
   */
  private async takeOver(key: DeviceKey | undefined, devices: readonly Device[]): Promise<ReadonlySet<Device>> {
    const owned = devices.flatMap((device) =>
      device.ownerKeyId !== undefined && mayServe(key, device) === 'if-owner-revoked'
        ? [{ device, owner: device.ownerKeyId }]
        : [],
    );
    if (!key || owned.length === 0) return new Set();
    const ended = await this.deps.keys.endedLines([...new Set(owned.map(({ owner }) => owner))]);
    const free = owned.filter(({ owner }) => ended.has(owner)).map(({ device }) => device);
    const isTaken = await Promise.all(free.map((device) => this.deps.devices.takeOver(device, key.ownerId)));
    return new Set(free.filter((_, i) => isTaken[i]));
  }

  /**
   * Updates the time the devices were last seen, at most once per minute and device. A failure here must not lose a
   * reading.
   */
  private async touch(devices: readonly Device[], parsed: readonly ParsedReading[], nowMs: number): Promise<void> {
    const [at, notSince] = [new Date(nowMs), new Date(nowMs - touchIntervalMs)];
    const due = devices.filter(
      ({ lastSeenAt }) => lastSeenAt < notSince || lastSeenAt.getTime() > nowMs + maxClockSkewMs,
    );
    const outcomes = await Promise.allSettled(
      due.map((device) => this.deps.devices.touch(device, at, notSince, reportOf(device, parsed))),
    );
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        this.deps.log.warn({ err: outcome.reason }, 'failed to update device last_seen_at');
  }
}

/** The devices of a call by hardware id. */
interface Senders {
  /** The caller may send their readings. */
  readonly served: Map<string, Device>;
  /** They belong to another key. */
  readonly foreign: Set<string>;
}

const idOf = ({ reading: { hardwareId, batchId } }: NewReading): string => `${hardwareId} ${batchId}`;

/** Adds what a reading takes from its device: the generation, and the current name if none was sent. */
function checkSender(
  parsed: ParsedReading,
  { served, foreign }: Senders,
): NewReading | { readonly rejection: Rejection } {
  if ('rejection' in parsed) return parsed;
  const { reading, hash } = parsed;
  const device = served.get(reading.hardwareId);
  if (!device) return { rejection: foreign.has(reading.hardwareId) ? ownedByAnother : notRegistered };
  const friendlyName = reading.friendlyName ?? device.friendlyName;
  return {
    hash,
    generation: device.generation,
    reading: friendlyName === undefined ? reading : { ...reading, friendlyName },
  };
}

const ownedByAnother: Rejection = {
  code: 'FORBIDDEN',
  message:
    'hardwareId: this device belongs to another API key; use that key, or assign the device to this key with ' +
    'assignDevice',
};
const notRegistered: Rejection = {
  code: 'DEVICE_NOT_FOUND',
  message: 'hardwareId: this org has no device with this id; call registerDevice first',
};

/** The report of the newest reading of a device in this call. Undefined if a newer report is stored already. */
function reportOf({ hardwareId, reportedAtMs }: Device, parsed: readonly ParsedReading[]): DeviceReport | undefined {
  let newest: Reading | undefined;
  for (const each of parsed) {
    if (!('reading' in each) || each.reading.hardwareId !== hardwareId) continue;
    if (each.reading.timestampMs > (newest?.timestampMs ?? reportedAtMs)) newest = each.reading;
  }
  return newest && { firmwareVersion: newest.firmwareVersion, bootId: newest.bootId, atMs: newest.timestampMs };
}
