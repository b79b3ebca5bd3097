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

export interface Measured {
  readonly atMs: number;
  readonly value: number;
}

/** Evenly spaced points from the start of the range on; those without a value are there with a count of 0. */
export function seriesOf(range: SeriesRange, measured: Iterable<Measured>): SeriesPoint[] {
  const { fromMs, stepSecs } = range;
  const values = Array.from({ length: pointCount(range) }, (): number[] => []);
  for (const { atMs, value } of measured) values[Math.floor((atMs - fromMs) / (stepSecs * 1000))]?.push(value);
  return values.map((some, i) => ({ at: new Date(fromMs + i * stepSecs * 1000), count: some.length, ...summary(some) }));
}

function summary(values: readonly number[]): Pick<SeriesPoint, 'min' | 'max' | 'mean'> {
  const [first] = values;
  if (first === undefined) return { min: null, max: null, mean: null };
  let [min, max, sum] = [first, first, 0];
  for (const value of values) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  return { min, max, mean: sum / values.length };
}
