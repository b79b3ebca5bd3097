import { addDays, longDay, shortDay } from '../../lib/days.js';
import { usd, usdShort } from '../../lib/money.js';
import { count, plural } from '../../lib/numbers.js';
import { useOrg } from '../../shell/context.js';
import { Bars } from '../../ui/bars.js';
import { ChartFigure } from '../../ui/figure.js';
import { Card, ModeBadge, Segmented, type Tone, toneOf } from '../../ui/parts.js';
import type { Column } from '../../ui/table.js';
import type { OrgOverview } from './quotas.js';

type Day = OrgOverview['spendHistory'][number];

export const ranges = ['7', '14', '30'] as const;
export type Range = (typeof ranges)[number];

/** The first day of a range that ends today. */
export const firstDay = (today: string, range: Range): string => addDays(today, 1 - Number(range));

const columns: readonly Column<Day>[] = [
  { head: 'Day', isHead: true, cell: ({ day }) => longDay(day) },
  { head: 'Cost', numeric: true, cell: ({ costUsdMicros }) => usd(costUsdMicros) },
  { head: 'Calls', numeric: true, cell: ({ requests }) => count(requests) },
  { head: 'State', cell: ({ mode }) => <ModeBadge mode={mode} /> },
];

const barTone = (mode: Day['mode']): Tone | undefined => (mode === 'NORMAL' ? undefined : toneOf(mode));

interface HistoryProps {
  readonly days: readonly Day[];
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

/** The cost of each of the last days, coloured by how near it came to its quotas. */
export function History({ days, range, onRange }: HistoryProps) {
  const { day: today } = useOrg();
  const total = days.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
  const highest = days.reduce<Day | undefined>((a, b) => (a && a.costUsdMicros >= b.costUsdMicros ? a : b), undefined);
  const exceeded = days.filter(({ mode }) => mode === 'EXCEEDED').length;
  const summary =
    `${usd(total)} in ${plural(days.length, 'day')}. ` +
    (highest ? `The highest day was ${longDay(highest.day)} with ${usd(highest.costUsdMicros)}. ` : '') +
    `A quota was used up on ${plural(exceeded, 'day')}.`;
  const bars = days.map(({ day, costUsdMicros, requests, mode }) => ({
    key: day,
    label: shortDay(day),
    value: costUsdMicros,
    tone: barTone(mode),
    isOpen: day === today,
    title: `${longDay(day)}${day === today ? ' (so far)' : ''}: ${usd(costUsdMicros)}, ${plural(requests, 'call')}`,
  }));
  return (
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
      <ChartFigure
        unit="US dollars per day"
        summary={summary}
        columns={columns}
        rows={days}
        keyOf={({ day }) => day}
        legend={<Legend />}
      >
        <Bars bars={bars} format={usdShort} />
      </ChartFigure>
    </Card>
  );
}

const Legend = () => (
  <ul class="legend">
    <li>
      <span class="swatch fill-1" />
      within quota
    </li>
    <li>
      <span class="swatch fill-warn" />
      tight
    </li>
    <li>
      <span class="swatch fill-bad" />
      quota used up
    </li>
  </ul>
);
