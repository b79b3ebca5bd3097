import { badInput, type GatewayError, type Issue } from '../lib/errors.js';
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

export const maxPoints = 1000;
/**
 * Max readings that all series of one operation read together. One month of one device at one reading per minute is
 * 44,640. The embedded engine reads about 25,000 per second on one core, and an operation may take 5 s.
 */
export const maxReadingsPerOperation = 50_000;
const maxStepSecs = 366 * 86_400;

/** The first rule that a range breaks, if any. */
export function seriesIssues({ fromMs, toMs, stepSecs }: SeriesRange): Issue[] {
  if (!isWholeWithin(stepSecs, 1, maxStepSecs))
    return [{ path: 'stepSecs', message: `must be a whole number of seconds from 1 to ${maxStepSecs}` }];
  if (fromMs >= toMs) return [{ path: 'from', message: 'must be before `to`' }];
  const points = pointCount({ fromMs, toMs, stepSecs });
  if (points <= maxPoints) return [];
  const minStepSecs = Math.ceil((toMs - fromMs) / (maxPoints * 1000));
  return [
    {
      path: 'stepSecs',
      message:
        `makes ${points} points, more than the maximum of ${maxPoints}; ` +
        `set it to ${minStepSecs} or more, or narrow \`from\` and \`to\``,
    },
  ];
}

const pointCount = ({ fromMs, toMs, stepSecs }: SeriesRange): number => Math.ceil((toMs - fromMs) / (stepSecs * 1000));

/** Counts the readings that all series of one operation read together. */
export class ReadingBudget {
  private used = 0;

  constructor(readonly max: number) {}

  /** Adds readings that were read. False once they exceed the maximum. */
  spend(readings: number): boolean {
    this.used += readings;
    return this.used <= this.max;
  }
}

/** Says where to cut a range that cannot be read in one operation: at the time down to which it was read. */
export const tooLong = ({ fromMs, toMs }: SeriesRange, reachedMs: number, why: string): GatewayError =>
  badInput({
    path: 'from',
    message:
      `the range from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()} ${why}; ` +
      `set \`from\` to ${new Date(reachedMs).toISOString()} or later, and read the rest in further operations`,
  });

/** Accumulates the values in one step of a series. */
export interface StepSum {
  count: number;
  min: number;
  max: number;
  sum: number;
}

export const emptySums = (range: SeriesRange): StepSum[] =>
  Array.from({ length: pointCount(range) }, () => ({
    count: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    sum: 0,
  }));

/** Adds a value to the step of its time. A time outside the range is ignored. */
export function addTo(sums: readonly StepSum[], { fromMs, stepSecs }: SeriesRange, atMs: number, value: number): void {
  const step = sums[Math.floor((atMs - fromMs) / (stepSecs * 1000))];
  if (!step) return;
  step.count++;
  step.min = Math.min(step.min, value);
  step.max = Math.max(step.max, value);
  step.sum += value;
}

/** Evenly spaced points from the start of the range. A point without a value has a count of 0. */
export const pointsOf = ({ fromMs, stepSecs }: SeriesRange, sums: readonly StepSum[]): SeriesPoint[] =>
  sums.map(({ count, min, max, sum }, i) => ({
    at: new Date(fromMs + i * stepSecs * 1000),
    count,
    ...(count === 0 ? { min: null, max: null, mean: null } : { min, max, mean: sum / count }),
  }));
