import type { DemoHour } from './history.js';
import type { SeededRandom } from './random.js';
import { curves, isIncident, loadOf } from './traffic.js';

/** The resource of model calls, with limits per minute. */
export const modelResource = 'model-calls';
/** The resource with a monthly allowance. */
export const exportResource = 'exports';

export const minuteLimits = (rpm: number, tpm: number) => [
  { name: 'rpm', capacity: rpm, refillPeriodSecs: 60 },
  { name: 'tpm', capacity: tpm, burst: tpm * 1.5, refillPeriodSecs: 60 },
];
/** An allowance that refills evenly over 30 days. */
export const allowance = { name: 'pages', capacity: 10_000, refillPeriodSecs: 30 * 86_400 };

export interface EntityProfile {
  readonly entityId: string;
  readonly name: string;
  readonly parentId?: string;
  /** Limits of its own for model calls, instead of those of the resource. */
  readonly limits?: readonly [rpm: number, tpm: number];
  /** Acquires of a weekday. 0 for a team, which is charged with what its members take. */
  readonly acquiresPerDay: number;
  readonly weekend: number;
  readonly curve: readonly number[];
  readonly tokens: readonly [min: number, max: number];
}

const team = (entityId: string, name: string): EntityProfile => ({
  entityId,
  name,
  limits: [900, 600_000],
  acquiresPerDay: 0,
  weekend: 0,
  curve: curves.office,
  tokens: [0, 0],
});
const user = (entityId: string, name: string, parentId: string, acquiresPerDay: number): EntityProfile => ({
  entityId,
  name,
  parentId,
  acquiresPerDay,
  weekend: 0.25,
  curve: curves.office,
  tokens: [300, 2400],
});

/** Teams first, because a parent must exist before its children. */
export const entityProfiles: readonly EntityProfile[] = [
  team('team-support', 'Support team'),
  team('team-data', 'Data team'),
  user('ana', 'Ana', 'team-support', 45),
  user('ben', 'Ben', 'team-support', 60),
  user('chloe', 'Chloe', 'team-data', 35),
  {
    ...user('support-bot', 'Support bot', 'team-support', 160),
    limits: [120, 240_000],
    curve: curves.website,
    weekend: 0.6,
  },
  { ...user('report-builder', 'Report builder', 'team-data', 60), curve: curves.nightly, weekend: 0.3 },
];

/** Entities whose scripts sometimes send more at once than their limit per minute allows. */
const burstProbability: Readonly<Record<string, number>> = { ben: 0.05, 'report-builder': 0.08 };
export const burstSize = 75;
/** The retry loop of the incident goes through this entity. */
const incidentEntity = 'support-bot';
const incidentAcquires = 190;

/** The token amounts of the acquires that an entity sends in one hour. */
export function acquiresOf(entity: EntityProfile, hour: DemoHour, days: number, random: SeededRandom): number[] {
  const load = loadOf(entity.curve, entity.weekend, hour);
  const usual = random.around(entity.acquiresPerDay * load);
  const amounts = Array.from({ length: usual }, () => random.between(...entity.tokens));
  const isBurst = usual > 0 && random.hit(burstProbability[entity.entityId] ?? 0);
  if (isBurst) amounts.push(...Array.from({ length: burstSize }, () => random.between(50, 150)));
  if (entity.entityId === incidentEntity && isIncident(hour, days))
    amounts.push(...Array.from({ length: incidentAcquires }, () => random.between(300, 900)));
  return amounts;
}

/** Pages that the data team exports in one hour. 0 in most hours. */
export const exportsOf = (hour: DemoHour, random: SeededRandom): number =>
  !hour.isWeekend && hour.hourOfDay === 10 ? random.between(120, 320) : 0;
