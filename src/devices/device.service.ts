import type { AuditService } from '../audit/audit.service.js';
import { type Actor, deviceEntity } from '../audit/audit-event.js';
import type { Clock } from '../lib/clock.js';
import { badInput, notFound, Overloaded, refuseAny } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import type { Log } from '../lib/log.js';
import { Semaphore } from '../lib/semaphore.js';
import { within } from '../lib/timers.js';
import { type Device, type DeviceRef, friendlyNameIssues, hardwareIdIssues, isHardwareId, type Registration, registrationIssues } from './device.js';
import type { DeviceStore } from './device.store.js';
import { type Metric, parseReading, type Reading, rejected, type SentReading, type Verdict, verdictAfter } from './reading.js';
import type { NewReading, ReadingStore } from './reading.store.js';
import { addTo, emptySums, pointsOf, type SeriesPoint, type SeriesRange, seriesIssues } from './series.js';

const mostReadings = 100;
const touchMs = 60_000;
const mostInASeries = 100_000;
const seriesPage = 5000;
const drawMs = 5000;
const chartsAtOnce = 4;
const mostChartsWaiting = 64;
/** How long an answer waits for the note that a device was seen. */
const noteMs = 200;

export interface DeviceParts {
  readonly devices: DeviceStore;
  readonly readings: ReadingStore;
  readonly audit: AuditService;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Judged {
  readonly hardwareId: string;
  readonly batchId: string;
  readonly verdict: Verdict;
}

export class DeviceService {
  private readonly charts = new Semaphore(chartsAtOnce, mostChartsWaiting, () => new Overloaded('too many series are being read: try again'));

  constructor(private readonly parts: DeviceParts) {}

  /** Registers a device, or takes note of one that is known: it keeps its confirmation id. */
  async register(orgId: string, registration: Registration): Promise<{ readonly device: Device; readonly created: boolean }> {
    refuseAny(registrationIssues(registration));
    const confirmationId = newUuid();
    const bootId = registration.bootId.toLowerCase();
    const device = await this.parts.devices.register(orgId, { ...registration, bootId }, confirmationId, new Date(this.parts.clock.nowMs()));
    return { device, created: device.confirmationId === confirmationId };
  }

  async rename(orgId: string, hardwareId: string, friendlyName: string | null | undefined, actor: Actor): Promise<Device> {
    refuseAny([...hardwareIdIssues(hardwareId, 'hardwareId'), ...(typeof friendlyName === 'string' ? friendlyNameIssues(friendlyName, 'friendlyName') : [])]);
    const { devices, audit } = this.parts;
    const name = friendlyName ?? undefined;
    const act = audit.draft({ orgId, actor, action: 'device_renamed', entityId: deviceEntity(hardwareId), details: { friendly_name: name } });
    const ref = { orgId, hardwareId };
    const renamed = await devices.rename(ref, name, [act]);
    const [device] = renamed ? await devices.loadMany([ref], { consistent: true }) : [];
    if (!device) throw notFound('device');
    return device;
  }

  /** Judges and stores readings, each on its own: a bad one never spoils its neighbours. Verdicts in the order of the readings. */
  async ingest(orgId: string, sent: readonly SentReading[]): Promise<Judged[]> {
    if (sent.length < 1 || sent.length > mostReadings) throw badInput({ path: 'input.readings', message: `must have 1 to ${mostReadings} readings` });
    const nowMs = this.parts.clock.nowMs();
    const parsed = sent.map((reading) => parseReading(orgId, reading, nowMs));
    const known = await this.knownDevices(
      orgId,
      parsed.flatMap((each) => ('reading' in each ? [each.reading.hardwareId] : [])),
    );
    const verdicts: (Verdict | undefined)[] = parsed.map((each) => {
      if ('rejection' in each) return rejected(each.rejection);
      return known.has(each.reading.hardwareId)
        ? undefined
        : rejected({ code: 'DEVICE_NOT_FOUND', message: 'hardwareId: no device of this org is registered under it: registerDevice first' });
    });
    const open = parsed.flatMap((each, at) => ('reading' in each && !verdicts[at] ? [{ at, hash: each.hash, reading: named(each.reading, known) }] : []));
    const noted = within(noteMs, this.noteSeen([...known.values()], nowMs), () => undefined);
    await Promise.all([this.store(open, verdicts), noted]);
    return sent.map(({ hardwareId, batchId }, at) => ({ hardwareId, batchId, verdict: verdicts[at] as Verdict }));
  }

  async find(orgId: string, hardwareId: string): Promise<Device | undefined> {
    if (!isHardwareId(hardwareId)) return undefined;
    const [device] = await this.parts.devices.loadMany([{ orgId, hardwareId }], { consistent: true });
    return device;
  }

  /** Points for a chart. */
  series(device: DeviceRef, metric: Metric, range: SeriesRange): Promise<SeriesPoint[]> {
    refuseAny(seriesIssues(range));
    return this.charts.run(() => this.draw(device, metric, range));
  }

  private async draw(device: DeviceRef, metric: Metric, range: SeriesRange): Promise<SeriesPoint[]> {
    const { readings, clock } = this.parts;
    const untilMs = clock.monotonicMs() + drawMs;
    const sums = emptySums(range);
    let read = 0;
    for (let last: Reading | undefined; ; ) {
      const page = await readings.list(device, range, seriesPage, last);
      read += page.length;
      if (read > mostInASeries)
        throw badInput({ path: 'from', message: `there are more than ${mostInASeries} readings in the range: narrow it with \`from\` and \`to\`` });
      for (const { timestampMs, sensors } of page) if (sensors[metric] !== undefined) addTo(sums, range, timestampMs, sensors[metric]);
      if (page.length < seriesPage) return pointsOf(range, sums);
      // Nobody waits for it any longer.
      if (clock.monotonicMs() > untilMs) throw new Overloaded('the series takes too long to read: narrow it with `from` and `to`');
      last = page.at(-1);
    }
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
    const judged = await this.parts.readings.put(round);
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

  /** By its hardware id. A device that registered a moment ago may be missing from a cheap read: absence is asked for twice. */
  private async knownDevices(orgId: string, hardwareIds: readonly string[]): Promise<Map<string, Device>> {
    const refs = [...new Set(hardwareIds)].map((hardwareId) => ({ orgId, hardwareId }));
    if (refs.length === 0) return new Map();
    const found = await this.parts.devices.loadMany(refs);
    const missing = refs.filter((_, i) => !found[i]);
    const late = missing.length > 0 ? await this.parts.devices.loadMany(missing, { consistent: true }) : [];
    return new Map([...found, ...late].flatMap((device) => (device ? [[device.hardwareId, device] as const] : [])));
  }

  /** At most once a minute a device. That it could not be noted is no reason to lose a reading. */
  private async noteSeen(devices: readonly Device[], nowMs: number): Promise<void> {
    const notSince = new Date(nowMs - touchMs);
    const due = devices.filter(({ lastSeenAt }) => lastSeenAt < notSince);
    const noted = await Promise.allSettled(due.map((device) => this.parts.devices.touch(device, new Date(nowMs), notSince)));
    for (const outcome of noted) if (outcome.status === 'rejected') this.parts.log.warn({ err: outcome.reason }, 'that a device was seen could not be noted');
  }
}

interface Open extends NewReading {
  readonly at: number;
}

const idOf = ({ reading: { hardwareId, batchId } }: Open): string => `${hardwareId} ${batchId}`;

/** With the name that was sent, else the one the device has at this moment. */
function named(reading: Reading, known: ReadonlyMap<string, Device>): Reading {
  const friendlyName = reading.friendlyName ?? known.get(reading.hardwareId)?.friendlyName;
  return friendlyName === undefined ? reading : { ...reading, friendlyName };
}
