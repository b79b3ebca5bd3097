import { smaller } from '../../lib/int.js';
import { hourMs, type LocalHour } from './local-hours.js';

/** An hour that has begun, with its cost so far. */
export interface KnownHour extends LocalHour {
  readonly cost: bigint;
}

export const usualSources = ['weekday', 'hour'] as const;

/** The mean cost of an hour, as a fraction. */
export interface UsualHour {
  readonly sum: bigint;
  readonly count: bigint;
  /** `weekday`: the same hour of the same weekday. `hour`: the same hour of all days. */
  readonly source: (typeof usualSources)[number];
}

export type UsualHours = (at: LocalHour) => UsualHour | undefined;

/** A factor as a fraction. */
export interface Scale {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const unscaled: Scale = { numerator: 1n, denominator: 1n };
/** One unusual morning must not multiply a whole month by more than this, or divide it. */
const maxFactor = 10n;

/** The mean of each hour of the weekday in the given past, or else of the same hour of all days. */
export function usualHours(past: readonly KnownHour[]): UsualHours {
  const means = new Map<string, UsualHour>();
  const keys = ({ weekday, hour }: LocalHour) => ({ weekday: `${weekday} ${hour}`, hour: `${hour}` });
  for (const known of past)
    for (const source of usualSources) {
      const key = keys(known)[source];
      const { sum, count } = means.get(key) ?? { sum: 0n, count: 0n };
      means.set(key, { sum: sum + known.cost, count: count + 1n, source });
    }
  return (at) => means.get(keys(at).weekday) ?? means.get(keys(at).hour);
}

/**
 * Today so far, divided by the usual cost of the same hours; from 1/10 to 10. It is 1 if less than an hour can be
 * compared or if nothing is usual, because a ratio to almost nothing says nothing about the rest of the day.
 */
export function scaleOf(today: readonly KnownHour[], usual: UsualHours, nowMs: number): Scale {
  let [comparedMs, numerator, denominator] = [0, 0n, 0n];
  for (const known of today) {
    const mean = usual(known);
    if (!mean) continue;
    const passedMs = Math.min(known.endMs, nowMs) - known.startMs;
    comparedMs += passedMs;
    numerator += known.cost;
    denominator += partOf(mean, passedMs);
  }
  if (comparedMs < hourMs || denominator === 0n) return unscaled;
  if (numerator * maxFactor < denominator) return { numerator: 1n, denominator: maxFactor };
  return { numerator: smaller(numerator, denominator * maxFactor), denominator };
}

/** The usual cost of a part of an hour, rounded down. */
export function partOf(
  { sum, count }: UsualHour,
  partMs: number,
  { numerator, denominator }: Scale = unscaled,
): bigint {
  return (sum * BigInt(partMs) * numerator) / (count * BigInt(hourMs) * denominator);
}
