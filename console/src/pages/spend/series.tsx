import { useMemo } from 'preact/hooks';
import type { PointFragment } from '../../gql/graphql.js';
import { longDay, shortDay } from '../../lib/days.js';
import { usd, usdShort } from '../../lib/money.js';
import { count } from '../../lib/numbers.js';
import { clock } from '../../lib/time.js';
import { useZone } from '../../shell/context.js';
import { ChartFigure } from '../../ui/figure.js';
import type { PlotData, PlotSeries } from '../../ui/plot.js';
import type { Column } from '../../ui/table.js';
import { TimePlot } from '../../ui/time-plot.js';

export type Step = 'HOUR' | 'DAY';

export interface NamedValues {
  readonly name: string;
  readonly values: readonly number[];
}

const otherColor = 8;

/** The parts and what they leave of the total, each with its colour. */
export function stackOf(points: readonly PointFragment[], parts: readonly NamedValues[]): PlotSeries[] {
  const named = parts.map(({ name, values }, i) => ({ name, color: i + 1, values }));
  const rest = points.map(({ costUsdMicros }, at) =>
    Math.max(0, costUsdMicros - parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return rest.some((value) => value > 0) ? [...named, { name: 'other', color: otherColor, values: rest }] : named;
}

interface SeriesProps {
  readonly points: readonly PointFragment[];
  readonly parts: readonly NamedValues[];
  readonly step: Step;
}

/** The cost of each hour or day, stacked by its parts. */
export function SpendSeries({ points, parts, step }: SeriesProps) {
  const zone = useZone();
  const data = useMemo(() => plotData(points, parts, step, zone), [points, parts, step, zone]);
  const unit = `US dollars per ${step === 'HOUR' ? 'hour' : 'day'}`;
  const total = points.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
  const highest = points.reduce((max, { costUsdMicros }) => Math.max(max, costUsdMicros), 0);
  const unattributed = points.reduce((sum, point) => sum + point.unattributedUsdMicros, 0);
  const columns: Column<number>[] = [
    { head: step === 'HOUR' ? 'Hour' : 'Day', isHead: true, cell: (i) => data.titles[i] },
    { head: 'Cost', numeric: true, cell: (i) => usd(points[i]?.costUsdMicros ?? 0) },
    ...data.series.map(({ name, values }) => ({ head: name, numeric: true, cell: (i: number) => usd(values[i] ?? 0) })),
    { head: 'Calls', numeric: true, cell: (i) => count(points[i]?.requests ?? 0) },
  ];
  return (
    <>
      <ChartFigure
        unit={unit}
        summary={`${usd(total)} in all, at most ${usd(highest)}. By ${data.series.map(({ name }) => name).join(', ')}.`}
        columns={columns}
        rows={points.map((_, i) => i)}
        keyOf={String}
        legend={<PlotLegend series={data.series} />}
      >
        <TimePlot data={data} />
      </ChartFigure>
      {step === 'HOUR' && unattributed > 0 && (
        <p class="small muted">{usd(unattributed)} of these days belong to no hour and are not in the chart.</p>
      )}
    </>
  );
}

function plotData(points: readonly PointFragment[], parts: readonly NamedValues[], step: Step, zone: string): PlotData {
  const isHour = step === 'HOUR';
  const isOneDay = points.every(({ day }) => day === points[0]?.day);
  const titleOf = ({ day, startsAt }: PointFragment) =>
    isHour ? `${shortDay(day)}, ${clock(startsAt, zone)}` : longDay(day);
  // Hours of several days: only the first hour of each day has room for a label.
  const labelOf = ({ day, startsAt }: PointFragment, i: number) => {
    if (isHour && isOneDay) return clock(startsAt, zone);
    return isHour && points[i - 1]?.day === day ? '' : shortDay(day);
  };
  return {
    kind: 'stack',
    labels: points.map(labelOf),
    titles: points.map(titleOf),
    series: stackOf(points, parts),
    axis: usdShort,
    format: (value) => usd(value),
  };
}

const PlotLegend = ({ series }: { readonly series: readonly PlotSeries[] }) => (
  <ul class="legend">
    {series.map(({ name, color }) => (
      <li key={name}>
        <span class={`swatch fill-${color}`} />
        {name}
      </li>
    ))}
  </ul>
);
