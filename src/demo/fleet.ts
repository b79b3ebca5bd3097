import type { Services } from '../app.js';
import type { DeviceCaller } from '../devices/device.js';
import type { SentReading } from '../devices/reading.js';
import { unavailable } from '../lib/errors.js';
import { newUuid } from '../lib/id.js';
import {
  type DeviceProfile,
  deviceProfiles,
  type FleetStory,
  firmwareAt,
  isMeasuring,
  isReporting,
  readingMs,
  sensorsOf,
  storyOf,
  valuesAt,
} from './fleet-plan.js';
import type { DemoHour } from './history.js';
import { patiently } from './patience.js';
import { SeededRandom } from './random.js';
import type { DemoTenant } from './tenant.js';

export interface DemoFleetDeps {
  readonly services: Services;
  readonly tenant: DemoTenant;
  readonly days: number;
  readonly nowMs: number;
}

/** The devices buffer their readings and send them in batches of this many hours. */
const uploadHours = 8;
const maxReadingsPerCall = 96;

/** The devices and readings of the demo org. */
export class DemoFleet {
  readings = 0;
  apiKey = '';
  readonly devices = deviceProfiles.length;
  private readonly random = new SeededRandom(0xde71ce);
  private readonly story: FleetStory;
  /** By device and firmware, because a device boots with each update. */
  private readonly bootIds = new Map<string, string>();
  private caller: DeviceCaller | undefined;
  private buffered: SentReading[] = [];
  private bufferedHours = 0;
  private nextReadingMs: number | undefined;
  private isUpdated = false;

  constructor(private readonly deps: DemoFleetDeps) {
    this.story = storyOf(deps.days, deps.nowMs);
  }

  /** Creates the key of the fleet and registers its devices. */
  async create(): Promise<void> {
    const { services, tenant } = this.deps;
    const { orgId } = tenant.org;
    const { apiKey, secret } = await services.apiKeys.create({ orgId, description: 'demo fleet' }, tenant.owner());
    this.apiKey = secret;
    this.caller = {
      orgId,
      actor: { ...tenant.owner(), name: `key-${apiKey.keyId}` },
      key: { ownerId: apiKey.ownerId },
    };
    for (const device of deviceProfiles) await this.register(device);
  }

  /** The readings of one hour, up to the time that the clock shows. */
  async step(hour: DemoHour): Promise<void> {
    const nowMs = this.deps.services.clock.nowMs();
    if (!this.isUpdated && nowMs >= this.story.updatedAtMs) await this.update();
    let atMs = this.nextReadingMs ?? hour.fromMs;
    for (; atMs <= nowMs; atMs += readingMs) this.measure(atMs);
    this.nextReadingMs = atMs;
    this.bufferedHours++;
    if (this.bufferedHours >= uploadHours) await this.upload();
  }

  /** The last readings, at the real time. A device that is out of reach sends nothing more. */
  async finish(): Promise<void> {
    const { services } = this.deps;
    const nowMs = services.clock.nowMs();
    for (const device of deviceProfiles)
      if (isReporting(device, nowMs, this.story)) this.buffered.push(this.readingOf(device, nowMs));
    const inReach = new Set(
      deviceProfiles.filter((device) => isReporting(device, nowMs, this.story)).map(({ hardwareId }) => hardwareId),
    );
    this.buffered = this.buffered.filter(({ hardwareId }) => inReach.has(hardwareId ?? ''));
    await this.upload();
    // Records that the key was used.
    await patiently(() => services.apiKeys.verify(this.apiKey));
  }

  /** Most devices get a newer firmware, boot and register again. */
  private async update(): Promise<void> {
    this.isUpdated = true;
    for (const device of deviceProfiles) await this.register(device);
  }

  private measure(atMs: number): void {
    for (const device of deviceProfiles)
      if (isMeasuring(device, atMs, this.story)) this.buffered.push(this.readingOf(device, atMs));
  }

  private readingOf(device: DeviceProfile, atMs: number): SentReading {
    const { hardwareId, name } = device;
    const firmwareVersion = firmwareAt(device, atMs, this.story);
    return {
      hardwareId,
      batchId: `${name}.${atMs}`,
      timestampMs: atMs,
      bootId: this.bootIdOf(hardwareId, firmwareVersion),
      firmwareVersion,
      ...valuesAt(device, atMs, this.story, this.random),
    };
  }

  private async upload(): Promise<void> {
    // By device, so that each device is in one call and its last contact is written once.
    const buffered = this.buffered.sort((a, b) => ((a.hardwareId ?? '') < (b.hardwareId ?? '') ? -1 : 1));
    this.buffered = [];
    this.bufferedHours = 0;
    const calls: SentReading[][] = [];
    for (let i = 0; i < buffered.length; i += maxReadingsPerCall) calls.push(buffered.slice(i, i + maxReadingsPerCall));
    await Promise.all(calls.map((readings) => this.ingest(readings)));
  }

  /** Sends readings until each of them is stored. A reading that was stored before counts as stored. */
  private async ingest(readings: readonly SentReading[]): Promise<void> {
    const { ingestion } = this.deps.services;
    await patiently(async () => {
      const outcomes = await ingestion.ingest(this.caller as DeviceCaller, readings);
      const failed = outcomes.find(({ verdict: { kind } }) => kind !== 'STORED' && kind !== 'DUPLICATE');
      if (failed?.verdict.kind === 'RETRY') throw unavailable(failed.verdict.message);
      if (failed) throw new Error(`a reading of the demo was not stored: ${JSON.stringify(failed)}`);
    });
    this.readings += readings.length;
  }

  private async register(device: DeviceProfile): Promise<void> {
    const { services } = this.deps;
    const { hardwareId, name, site } = device;
    const firmwareVersion = firmwareAt(device, services.clock.nowMs(), this.story);
    const capabilities = { sensors: sensorsOf[site], features: [{ name: 'offline_buffering', enabled: true }] };
    const bootId = this.bootIdOf(hardwareId, firmwareVersion);
    await patiently(() =>
      services.devices.register(this.caller as DeviceCaller, {
        hardwareId,
        bootId,
        firmwareVersion,
        friendlyName: name,
        capabilities,
      }),
    );
  }

  private bootIdOf(hardwareId: string, firmwareVersion: string): string {
    const name = `${hardwareId} ${firmwareVersion}`;
    const bootId = this.bootIds.get(name) ?? newUuid();
    this.bootIds.set(name, bootId);
    return bootId;
  }
}
