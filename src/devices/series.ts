import type { Issue } from '../lib/errors.js';
import { isWholeWithin } from '../lib/int.js';

export interface SeriesPoint {
  readonly at: Date;
  readonly count: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
}

export interface SeriesRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepSecs: number;
}

const mostPoints = 1000;
const mostStepSecs = 366 * 86_400;

export function seriesIssues({ fromMs, toMs, stepSecs }: SeriesRange): Issue[] {
  if (!isWholeWithin(stepSecs, 1, mostStepSecs)) return [{ path: 'stepSecs', message: `must be a whole number of seconds from 1 to ${mostStepSecs}` }];
  if (fromMs >= toMs) return [{ path: 'from', message: 'must be before `to`' }];
  const points = pointCount({ fromMs, toMs, stepSecs });
  return points > mostPoints
    ? [{ path: 'stepSecs', message: `makes ${points} points, more than the ${mostPoints} allowed: take a longer step or a shorter range` }]
    : [];
}

const pointCount = ({ fromMs, toMs, stepSecs }: SeriesRange): number => Math.ceil((toMs - fromMs) / (stepSecs * 1000));

/** What has been measured in one of the steps of a series so far. */
export interface StepSum {
  count: number;
  min: number;
  max: number;
  sum: number;
}

export const emptySums = (range: SeriesRange): StepSum[] =>
  Array.from({ length: pointCount(range) }, () => ({ count: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0 }));

export function addTo(sums: readonly StepSum[], { fromMs, stepSecs }: SeriesRange, atMs: number, value: number): void {
  const step = sums[Math.floor((atMs - fromMs) / (stepSecs * 1000))];
  if (!step) return;
  step.count++;
  step.min = Math.min(step.min, value);
  step.max = Math.max(step.max, value);
  step.sum += value;
}

/** Evenly spaced points from the start of the range on; those without a value are there with a count of 0. */
export const pointsOf = ({ fromMs, stepSecs }: SeriesRange, sums: readonly StepSum[]): SeriesPoint[] =>
  sums.map(({ count, min, max, sum }, i) => ({
    at: new Date(fromMs + i * stepSecs * 1000),
    count,
    ...(count === 0 ? { min: null, max: null, mean: null } : { min, max, mean: sum / count }),
  }));
