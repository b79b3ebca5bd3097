import { clamped, type DayRange, maxRangeDays, presetOf, presetRange, presets } from '../lib/range.js';
import { Segmented } from './parts.js';

interface RangePickerProps {
  readonly range: DayRange;
  /** Today in the zone of the org. */
  readonly today: string;
  readonly onChange: (range: DayRange) => void;
  readonly maxDays?: number;
}

const names: Readonly<Record<string, string>> = { '1': 'Today', '7': '7 d', '14': '14 d', '30': '30 d', '90': '90 d' };

/** Picks days of the org: the last ones, or any two. */
export function RangePicker({ range, today, onChange, maxDays = maxRangeDays }: RangePickerProps) {
  const day = (label: string, which: keyof DayRange) => (
    <input
      type="date"
      class="input inline-select"
      aria-label={label}
      value={range[which]}
      max={today}
      required
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value) onChange(clamped({ ...range, [which]: value }, today, maxDays));
      }}
    />
  );
  return (
    <>
      <Segmented
        label="Range of days"
        options={presets
          .filter((value) => Number(value) <= maxDays)
          .map((value) => ({ value, label: names[value] ?? value }))}
        value={presetOf(range, today) ?? ('' as (typeof presets)[number])}
        onChange={(value) => onChange(presetRange(Number(value), today))}
      />
      {day('First day', 'from')}
      {day('Last day', 'to')}
    </>
  );
}
