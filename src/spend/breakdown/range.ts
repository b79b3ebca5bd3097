import type { Issue } from '../../lib/errors.js';

/** Both ends are included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The issues of a range of days that a caller asks for. */
export function rangeIssues({ from, to }: DayRange, maxDays: number, today: string): Issue[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
  return [
    ...(count < 1 ? [{ path: 'to', message: 'is before `from`' }] : []),
    ...(count > maxDays
      ? [{ path: 'from', message: `the range has ${count} days, more than the maximum of ${maxDays}` }]
      : []),
    ...(to > today ? [{ path: 'to', message: `is in the future: today is ${today} in the org's time zone` }] : []),
  ];
}
