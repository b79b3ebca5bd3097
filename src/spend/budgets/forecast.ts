// Reading order: forecast.ts, usual-hours.ts, local-hours.ts.
import { larger, smaller } from '../../lib/int.js';
import { hourMs, type LocalHourAt } from './local-hours.js';
import { type KnownHour, partOf, type Scale, scaleOf, type UsualHours, usualHours } from './usual-hours.js';

/** How far back costs tell what is usual: the last four of each weekday. */
export const forecastDays = 28;
/** With less, a forecast would be a guess. */
const minDataMs = 3 * hourMs;
const maxMicros = BigInt(Number.MAX_SAFE_INTEGER);

/** The cost of an hour of the local day. Hours without a cost may be left out. Costs with the same start add up. */
export interface HourCost {
  readonly startMs: number;
  readonly costUsdMicros: number;
}

export interface ForecastInput {
  readonly nowMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** What was spent in the period so far. */
  readonly spentUsdMicros: number;
  /** The budget. Without it there is no `exhaustsAt`. */
  readonly boundUsdMicros?: number;
  /** Costs of the last 28 days and of today, in any order, also of days before the period. */
  readonly hours: readonly HourCost[];
  readonly localHourAt: LocalHourAt;
}

export interface Forecast {
  /** The cost of the last 60 minutes. */
  readonly burnUsdMicrosPerHour: number;
  /** The spend at the end of the period. Never less than what was spent. */
  readonly projectedUsdMicros: number;
  /** When the bound is reached; now if it already is. Absent if that is not within the period. */
  readonly exhaustsAt?: Date;
  /** The way the figures were found, in words. */
  readonly basis: string;
}

/**
 * Projects the spend of a period. Each hour that is left costs the mean of the same hour of the same weekday in the
 * last four weeks, times the ratio of today so far to what is usual by now (from 0.1 to 10). Without such a weekday it
 * is the mean of that hour of all days before today, and without any such day the cost of the last 60 minutes, which is
 * not scaled. All hours from the first cost on are known: an hour without a cost counts as 0.
 *
 * Null with less than three hours of data. The result has whole numbers that are never negative.
 */
export function forecast(input: ForecastInput): Forecast | null {
  const { nowMs, periodStartMs, periodEndMs, boundUsdMicros, localHourAt } = input;
  const current = localHourAt(nowMs);
  const todayMs = current.startMs - current.hour * hourMs;
  const known = knownHours(input, todayMs - forecastDays * 24 * hourMs);
  const [first] = known;
  if (!first || nowMs - first.startMs < minDataMs) return null;
  const burn = burnRate(known, nowMs);
  const usual = usualHours(known.filter(({ startMs }) => startMs < todayMs));
  const scale = scaleOf(
    known.filter(({ startMs }) => startMs >= todayMs),
    usual,
    nowMs,
  );
  const spent = larger(0n, BigInt(input.spentUsdMicros));
  const ahead = projection(input, { usual, scale, burn });
  const projected = ahead.reduce((sum, { cost }) => sum + cost, spent);
  const exhaustsAtMs =
    boundUsdMicros === undefined
      ? undefined
      : reachedAtMs(ahead, BigInt(boundUsdMicros) - spent, Math.max(nowMs, periodStartMs));
  return {
    burnUsdMicrosPerHour: toNumber(burn),
    projectedUsdMicros: toNumber(projected),
    // A bound that is reached in the last millisecond is reached within the period.
    ...(exhaustsAtMs === undefined || nowMs >= periodEndMs
      ? {}
      : { exhaustsAt: new Date(Math.min(exhaustsAtMs, periodEndMs - 1)) }),
    basis: basisOf(ahead, scale),
  };
}

/** All hours from the first cost until now, without gaps. */
function knownHours({ nowMs, hours, localHourAt }: ForecastInput, fromMs: number): KnownHour[] {
  const costs = new Map<number, bigint>();
  let firstMs = nowMs;
  for (const { startMs, costUsdMicros } of hours) {
    if (startMs < fromMs || startMs >= nowMs || costUsdMicros <= 0) continue;
    // After a change of zone, the hours of earlier days may begin within these.
    const hourStartMs = localHourAt(startMs).startMs;
    costs.set(hourStartMs, (costs.get(hourStartMs) ?? 0n) + BigInt(costUsdMicros));
    firstMs = Math.min(firstMs, hourStartMs);
  }
  const known: KnownHour[] = [];
  for (let atMs = firstMs; atMs < nowMs; ) {
    const hour = localHourAt(atMs);
    known.push({ ...hour, cost: costs.get(hour.startMs) ?? 0n });
    atMs = hour.endMs;
  }
  return known;
}

/** The cost of the last 60 minutes, as if the cost of each hour were spread evenly over the part that has passed. */
function burnRate(known: readonly KnownHour[], nowMs: number): bigint {
  return known.reduce((sum, { startMs, endMs, cost }) => {
    const untilMs = Math.min(endMs, nowMs);
    const withinMs = Math.max(0, untilMs - Math.max(startMs, nowMs - hourMs));
    return sum + (cost * BigInt(withinMs)) / BigInt(untilMs - startMs);
  }, 0n);
}

interface Pace {
  readonly usual: UsualHours;
  readonly scale: Scale;
  readonly burn: bigint;
}

const sources = {
  weekday: 'as the same hour of the same weekday in the last 4 weeks',
  hour: 'as the same hour of other days',
  burn: 'as the last 60 minutes',
} as const;

/** What is expected for an hour that is left, or for the part of it within the period. */
interface HourAhead {
  readonly atMs: number;
  readonly partMs: number;
  readonly cost: bigint;
  readonly source: keyof typeof sources;
}

function projection({ nowMs, periodStartMs, periodEndMs, localHourAt }: ForecastInput, pace: Pace): HourAhead[] {
  const ahead: HourAhead[] = [];
  for (let atMs = Math.max(nowMs, periodStartMs); atMs < periodEndMs; ) {
    const hour = localHourAt(atMs);
    const endMs = Math.min(hour.endMs, periodEndMs);
    const partMs = endMs - atMs;
    const mean = pace.usual(hour);
    const cost = mean ? partOf(mean, partMs, pace.scale) : (pace.burn * BigInt(partMs)) / BigInt(hourMs);
    ahead.push({ atMs, partMs, cost, source: mean?.source ?? 'burn' });
    atMs = endMs;
  }
  return ahead;
}

/** When these hours add up to `needed`, as if the cost of each were spread evenly. Undefined if they do not. */
function reachedAtMs(ahead: readonly HourAhead[], needed: bigint, fromMs: number): number | undefined {
  if (needed <= 0n) return fromMs;
  let left = needed;
  for (const { atMs, partMs, cost } of ahead) {
    if (left <= cost) return atMs + Number((left * BigInt(partMs)) / cost);
    left -= cost;
  }
  return undefined;
}

function basisOf(ahead: readonly HourAhead[], { numerator, denominator }: Scale): string {
  const parts = Object.entries(sources).flatMap(([source, text]) => {
    const { length } = ahead.filter((hour) => hour.source === source);
    return length === 0 ? [] : [`${length} ${length === 1 ? 'hour' : 'hours'} ${text}`];
  });
  if (parts.length === 0) return 'spent so far; the period is over';
  const isScaled = numerator !== denominator && ahead.some(({ source }) => source !== 'burn');
  const pct = (numerator * 100n) / denominator;
  return `spent so far, plus ${parts.join(', ')}${isScaled ? `; scaled to ${pct}%, as today so far` : ''}`;
}

const toNumber = (micros: bigint): number => Number(smaller(micros, maxMicros));
