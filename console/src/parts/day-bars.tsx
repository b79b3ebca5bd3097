import { longDay, shortDay } from '../lib/days.js';
import { usd, usdShort } from '../lib/money.js';
import { count, plural } from '../lib/numbers.js';
import { useOrg } from '../shell/context.js';
import { Bars } from '../ui/bars.js';
import { ChartFigure } from '../ui/figure.js';
import { ModeBadge, type SpendMode, type Tone, toneOf } from '../ui/parts.js';
import type { Column } from '../ui/table.js';

export interface DaySpend {
  readonly day: string;
  readonly costUsdMicros: number;
  readonly requests: number;
  readonly mode: SpendMode;
}

const columns: readonly Column<DaySpend>[] = [
  { head: 'Day', isHead: true, cell: ({ day }) => longDay(day) },
  { head: 'Cost', numeric: true, cell: ({ costUsdMicros }) => usd(costUsdMicros) },
  { head: 'Calls', numeric: true, cell: ({ requests }) => count(requests) },
  { head: 'State', cell: ({ mode }) => <ModeBadge mode={mode} /> },
];

const barTone = (mode: SpendMode): Tone | undefined => (mode === 'NORMAL' ? undefined : toneOf(mode));

/** What the days have in common, in words. */
function summaryOf(days: readonly DaySpend[]): string {
  const total = days.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
  const highest = days.reduce<DaySpend | undefined>(
    (a, b) => (a && a.costUsdMicros >= b.costUsdMicros ? a : b),
    undefined,
  );
  const exceeded = days.filter(({ mode }) => mode === 'EXCEEDED').length;
  return (
    `${usd(total)} in ${plural(days.length, 'day')}. ` +
    (highest ? `The highest day was ${longDay(highest.day)} with ${usd(highest.costUsdMicros)}. ` : '') +
    `A quota was used up on ${plural(exceeded, 'day')}.`
  );
}

/** The cost of each day, coloured by how near it came to its quotas. */
export function DayBars({ days }: { readonly days: readonly DaySpend[] }) {
  const { day: today } = useOrg();
  const bars = days.map(({ day, costUsdMicros, requests, mode }) => ({
    key: day,
    label: shortDay(day),
    value: costUsdMicros,
    tone: barTone(mode),
    isOpen: day === today,
    title: `${longDay(day)}${day === today ? ' (so far)' : ''}: ${usd(costUsdMicros)}, ${plural(requests, 'call')}`,
  }));
  return (
    <ChartFigure
      unit="US dollars per day"
      summary={summaryOf(days)}
      columns={columns}
      rows={days}
      keyOf={({ day }) => day}
      legend={<Legend />}
    >
      <Bars bars={bars} format={usdShort} />
    </ChartFigure>
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
