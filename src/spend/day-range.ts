import type { Issue } from '../lib/errors.js';

/** Both ends are included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** How many days a range has. Below 1 if it ends before it begins. */
export const dayCount = ({ from, to }: DayRange): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;

/** The issues of a range of days that a caller asks for. Without `today` it may end in the future. */
export function rangeIssues(range: DayRange, maxDays: number, today?: string): Issue[] {
  const count = dayCount(range);
  return [
    ...(count < 1 ? [{ path: 'to', message: 'is before `from`' }] : []),
    ...(count > maxDays
      ? [{ path: 'from', message: `the range has ${count} days, more than the maximum of ${maxDays}` }]
      : []),
    ...(today !== undefined && range.to > today
      ? [{ path: 'to', message: `is in the future: today is ${today} in the org's time zone` }]
      : []),
  ];
}
