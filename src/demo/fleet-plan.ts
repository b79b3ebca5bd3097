import type { SensorStatus, Sensors } from '../devices/reading.js';
import { hourMs } from './history.js';
import type { SeededRandom } from './random.js';

export type Site = 'greenhouse' | 'coldroom' | 'office';

export interface DeviceProfile {
  readonly hardwareId: string;
  readonly name: string;
  readonly site: Site;
  /** Its place among the devices of its site, from 0. */
  readonly number: number;
}

/** Times at which the fleet changes. */
export interface FleetStory {
  /** The last reading of the device that is offline. */
  readonly offlineSinceMs: number;
  /** One device has been out of reach since then. */
  readonly staleSinceMs: number;
  /** The soil sensor of one greenhouse fails from then on. */
  readonly faultySinceMs: number;
  /** A device without a buffer loses its network between these times. */
  readonly gapFromMs: number;
  readonly gapToMs: number;
  /** From then on some devices have a newer firmware. */
  readonly updatedAtMs: number;
}

export const readingMs = 15 * 60_000;
const dayMs = 24 * hourMs;
const [oldFirmware, newFirmware] = ['1.2.4', '1.3.1'];
const sites: readonly Site[] = ['greenhouse', 'coldroom', 'office'];
const devicesPerSite = 4;

export const deviceProfiles: readonly DeviceProfile[] = sites.flatMap((site, s) =>
  Array.from({ length: devicesPerSite }, (_, number) => ({
    hardwareId: `D0:0D:00:00:0${s + 1}:0${number + 1}`,
    name: `${site}-0${number + 1}`,
    site,
    number,
  })),
);

export const sensorsOf: Readonly<Record<Site, readonly string[]>> = {
  greenhouse: ['bme280', 'soil_moisture'],
  coldroom: ['ds18b20'],
  office: ['bme280'],
};

/** The story of a fleet over `days` days before `nowMs`. Short histories have all of it too. */
export const storyOf = (days: number, nowMs: number): FleetStory => ({
  offlineSinceMs: nowMs - Math.min(3, days / 2) * dayMs,
  staleSinceMs: nowMs - 50 * 60_000,
  faultySinceMs: nowMs - Math.min(5, days / 2) * dayMs,
  gapFromMs: nowMs - Math.min(8, days * 0.7) * dayMs,
  gapToMs: nowMs - Math.min(8, days * 0.7) * dayMs + 5 * hourMs,
  updatedAtMs: nowMs - Math.min(11, days * 0.6) * dayMs,
});

const isNamed = (device: DeviceProfile, site: Site, number: number): boolean =>
  device.site === site && device.number === number;

/** True if a reading of this time exists: the device was on and in reach of its network. */
export function isReporting(device: DeviceProfile, atMs: number, story: FleetStory): boolean {
  if (isNamed(device, 'coldroom', 2)) return atMs < story.offlineSinceMs;
  if (isNamed(device, 'office', 1)) return atMs < story.gapFromMs || atMs >= story.gapToMs;
  return !isNamed(device, 'office', 3) || atMs < story.staleSinceMs;
}

/** True if a device measures at this time: every 15 minutes, with the older firmware every 30 minutes. */
export const isMeasuring = (device: DeviceProfile, atMs: number, story: FleetStory): boolean =>
  isReporting(device, atMs, story) && (firmwareAt(device, atMs, story) === newFirmware || atMs % (2 * readingMs) === 0);

/** The firmware of a device. One device in each site is never updated. */
export const firmwareAt = ({ number }: DeviceProfile, atMs: number, { updatedAtMs }: FleetStory): string =>
  number < devicesPerSite - 1 && atMs >= updatedAtMs ? newFirmware : oldFirmware;

const tenths = (value: number): number => Math.round(value * 10) / 10;
/** From -1 to 1, once per period. */
const wave = (atMs: number, periodMs: number, phase = 0): number => Math.sin(2 * Math.PI * (atMs / periodMs + phase));
/** Local noon in New York is about 17:00 UTC, so the warmest time is about 20:00 UTC. */
const sunPhase = -14 / 24;

/** The values of a device at one time. `random` adds the noise of its sensors. */
export function valuesAt(
  device: DeviceProfile,
  atMs: number,
  story: FleetStory,
  random: SeededRandom,
): { readonly sensors: Sensors; readonly sensorStatus: SensorStatus } {
  const noise = (size: number): number => (random.fraction() - 0.5) * 2 * size;
  const sun = wave(atMs, dayMs, sunPhase);
  if (device.site === 'coldroom') {
    const defrost = (atMs + device.number * hourMs) % (6 * hourMs) < 2 * readingMs ? 2.5 : 0;
    const ds18b20TempC = tenths(3.5 + device.number * 0.4 + 0.5 * wave(atMs, 2 * hourMs) + defrost + noise(0.3));
    return { sensors: { ds18b20TempC }, sensorStatus: { ds18b20: 'OK' } };
  }
  const isGreenhouse = device.site === 'greenhouse';
  const swing = isGreenhouse ? 6 : 1.5;
  const bme280TempC = tenths(21 + device.number * 0.6 + swing * sun + noise(0.4));
  const humidityPct = tenths((isGreenhouse ? 68 : 44) - 1.5 * swing * sun + noise(2));
  const pressureHpa = tenths(1014 + 7 * wave(atMs, 4.3 * dayMs) + 2 * wave(atMs, 1.7 * dayMs) + noise(0.3));
  const air = { bme280TempC, humidityPct, pressureHpa };
  if (!isGreenhouse) return { sensors: air, sensorStatus: { bme280: 'OK' } };
  if (isNamed(device, 'greenhouse', 1) && atMs >= story.faultySinceMs)
    return { sensors: air, sensorStatus: { bme280: 'OK', soilMoisture: 'ERROR' } };
  // Watered every other day, then it dries.
  const sinceWatered = ((atMs + device.number * 9 * hourMs) % (2 * dayMs)) / (2 * dayMs);
  const soilMoisturePct = tenths(58 - 26 * sinceWatered + noise(0.8));
  return { sensors: { ...air, soilMoisturePct }, sensorStatus: { bme280: 'OK', soilMoisture: 'OK' } };
}
