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
  type Parsed,
  parseReading,
  type Reading,
  type Rejection,
  rejected,
  type SentReading,
  senderOf,
  type Verdict,
  verdictAfter,
} from './reading.js';
import type { NewReading, ReadingStore } from './reading.store.js';

const maxReadings = 100;
const touchMs = 60_000;
/** How long an answer waits for the update of `lastSeenAt`. */
const noteMs = 200;

export interface IngestDeps {
  readonly devices: DeviceStore;
  readonly readings: ReadingStore;
  readonly keys: KeyLines;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Judged {
  readonly hardwareId: string;
  readonly batchId: string;
  readonly verdict: Verdict;
}

export class IngestService {
  constructor(private readonly deps: IngestDeps) {}

  /** Judges and stores readings, each on its own: a bad one never affects its neighbours. Verdicts in the order of the readings. */
  async ingest(caller: DeviceCaller, sent: readonly (SentReading | null | undefined)[]): Promise<Judged[]> {
    if (sent.length < 1 || sent.length > maxReadings)
      throw badInput({ path: 'input.readings', message: `must have 1 to ${maxReadings} readings` });
    const nowMs = this.deps.clock.nowMs();
    const readings = sent.map((reading) => reading ?? {});
    const parsed = readings.map((reading) => parseReading(caller.orgId, reading, nowMs));
    const { served, foreign } = await this.sendersOf(caller, readings);
    const verdicts = parsed.map((each): Verdict | undefined => {
      const rejection =
        'rejection' in each ? each.rejection : senderRejection(each.reading.hardwareId, served, foreign);
      return rejection && rejected(rejection);
    });
    const open = parsed.flatMap((each, at) => ('reading' in each && !verdicts[at] ? [opened(each, at, served)] : []));
    const noted = within(noteMs, this.noteSeen([...served.values()], parsed, nowMs), () => undefined);
    await Promise.all([this.store(open, verdicts), noted]);
    return readings.map((reading, at) => ({
      hardwareId: senderOf(reading) ?? '',
      batchId: reading.batchId ?? '',
      verdict: verdicts[at] as Verdict,
    }));
  }

  /** Rounds of readings whose ids differ: one whose id came before in the call is judged after that one. */
  private async store(open: readonly Open[], verdicts: (Verdict | undefined)[]): Promise<void> {
    const first = new Map<string, Open>();
    const round: Open[] = [];
    const later: Open[] = [];
    for (const each of open) {
      const before = first.get(idOf(each));
      if (!before) {
        first.set(idOf(each), each);
        round.push(each);
      } else later.push(each);
    }
    if (round.length === 0) return;
    const judged = await this.deps.readings.put(round);
    for (const [i, { at }] of round.entries()) verdicts[at] = judged[i];
    const again = later.filter((each) => {
      const before = first.get(idOf(each)) as Open;
      const verdict = verdictAfter(verdicts[before.at] as Verdict, before.hash === each.hash);
      if (verdict === 'on its own') return true;
      verdicts[each.at] = verdict;
      return false;
    });
    await this.store(again, verdicts);
  }

  /** The devices of a call by hardware id: those the caller may send for, and those that belong to another key. */
  private async sendersOf({ orgId, key }: DeviceCaller, readings: readonly SentReading[]): Promise<Senders> {
    const { devices } = this.deps;
    const refs = [...new Set(readings.flatMap((reading) => senderOf(reading) ?? []))].map((hardwareId) => ({
      orgId,
      hardwareId,
    }));
    const senders: Senders = { served: new Map(), foreign: new Set() };
    if (refs.length === 0) return senders;
    const found = await devices.loadMany(refs);
    const isClear = (device: Device | undefined): boolean => device !== undefined && mayServe(key, device) === 'yes';
    for (const device of found) if (device && isClear(device)) senders.served.set(device.hardwareId, device);
    // A cheap read may miss a device that registered or changed hands a moment ago. A refusal needs a consistent one.
    const doubtful = refs.filter((_, i) => !isClear(found[i]));
    const sure =
      doubtful.length > 0
        ? (await devices.loadMany(doubtful, { consistent: true })).filter((device) => device !== undefined)
        : [];
    const claimed = await this.claimed(key, sure);
    for (const device of sure) {
      if (isClear(device) || claimed.has(device)) senders.served.set(device.hardwareId, device);
      else senders.foreign.add(device.hardwareId);
    }
    return senders;
  }

  /** Makes devices whose owner was revoked the caller's, so that a rotated key need not wait for its devices to reboot. */
  private async claimed(key: DeviceKey | undefined, devices: readonly Device[]): Promise<ReadonlySet<Device>> {
    const owned = devices.filter((device) => mayServe(key, device) === 'if-owner-revoked');
    if (!key || owned.length === 0) return new Set();
    const ended = await this.deps.keys.endedLines([...new Set(owned.map(({ ownerKeyId }) => ownerKeyId as string))]);
    const free = owned.filter(({ ownerKeyId }) => ended.has(ownerKeyId as string));
    const claims = await Promise.all(free.map((device) => this.deps.devices.claim(device, key.ownerId)));
    return new Set(free.filter((_, i) => claims[i]));
  }

  /** At most once a minute per device. A failure here must not lose a reading. */
  private async noteSeen(devices: readonly Device[], parsed: readonly Parsed[], nowMs: number): Promise<void> {
    const [at, notSince] = [new Date(nowMs), new Date(nowMs - touchMs)];
    const due = devices.filter(
      ({ lastSeenAt }) => lastSeenAt < notSince || lastSeenAt.getTime() > nowMs + maxClockSkewMs,
    );
    const noted = await Promise.allSettled(
      due.map((device) => this.deps.devices.touch(device, at, notSince, reportOf(device, parsed))),
    );
    for (const outcome of noted)
      if (outcome.status === 'rejected')
        this.deps.log.warn({ err: outcome.reason }, 'failed to update device last_seen_at');
  }
}

interface Senders {
  readonly served: Map<string, Device>;
  readonly foreign: Set<string>;
}

interface Open extends NewReading {
  readonly at: number;
}

const idOf = ({ reading: { hardwareId, batchId } }: Open): string => `${hardwareId} ${batchId}`;

function senderRejection(
  hardwareId: string,
  served: ReadonlyMap<string, Device>,
  foreign: ReadonlySet<string>,
): Rejection | undefined {
  if (served.has(hardwareId)) return undefined;
  return foreign.has(hardwareId)
    ? {
        code: 'FORBIDDEN',
        message:
          'hardwareId: this device belongs to another API key; use that key, or hand the device over with assignDevice',
      }
    : {
        code: 'DEVICE_NOT_FOUND',
        message: 'hardwareId: no device of this org is registered under it; call registerDevice first',
      };
}

/** With the name that was sent, else the one the device has at this moment. */
function opened(
  { reading, hash }: Extract<Parsed, { reading: Reading }>,
  at: number,
  served: ReadonlyMap<string, Device>,
): Open {
  const { generation, friendlyName: current } = served.get(reading.hardwareId) as Device;
  const friendlyName = reading.friendlyName ?? current;
  return { at, hash, generation, reading: friendlyName === undefined ? reading : { ...reading, friendlyName } };
}

/** What the newest reading of a device in this call tells about it, unless something newer is known. */
function reportOf({ hardwareId, reportedAtMs }: Device, parsed: readonly Parsed[]): DeviceReport | undefined {
  let newest: Reading | undefined;
  for (const each of parsed) {
    if (!('reading' in each) || each.reading.hardwareId !== hardwareId) continue;
    if (each.reading.timestampMs > (newest?.timestampMs ?? reportedAtMs)) newest = each.reading;
  }
  return newest && { firmwareVersion: newest.firmwareVersion, bootId: newest.bootId, atMs: newest.timestampMs };
}
