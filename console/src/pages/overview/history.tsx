import { addDays } from '../../lib/days.js';
import { DayBars, type DaySpend } from '../../parts/day-bars.js';
import { Card, Segmented } from '../../ui/parts.js';

export const ranges = ['7', '14', '30'] as const;
export type Range = (typeof ranges)[number];

/** The first day of a range that ends today. */
export const firstDay = (today: string, range: Range): string => addDays(today, 1 - Number(range));

interface HistoryProps {
  readonly days: readonly DaySpend[];
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

export const History = ({ days, range, onRange }: HistoryProps) => (
  <Card
    title={`Last ${range} days`}
    actions={
      <Segmented
        label="Range"
        options={ranges.map((value) => ({ value, label: `${value} days` }))}
        value={range}
        onChange={onRange}
      />
    }
  >
    <DayBars days={days} />
  </Card>
);
