import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** One series of a chart. */
export interface PlotSeries {
  readonly name: string;
  /** 1 to 8: a colour of the design system. */
  readonly color: number;
  /** One per point; null where there is none. */
  readonly values: readonly (number | null)[];
}

export interface PlotData {
  /** The text of each point on the x axis, oldest first; empty for a point without one. The server made the points. */
  readonly labels: readonly string[];
  /** The whole text of each point, for the tooltip. */
  readonly titles: readonly string[];
  readonly series: readonly PlotSeries[];
  /** `stack`: bars on top of each other. `band`: the first series as a line, between the second and the third. */
  readonly kind: 'stack' | 'band';
  /** A short form for the axis. */
  readonly axis: (value: number) => string;
  /** The whole form for the tooltip. */
  readonly format: (value: number) => string;
}

const labelWidth = 64;

/** The colour of a custom property in the current theme, because a canvas cannot read custom properties. */
function colorOf(host: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Each series on top of those before it. */
function cumulated(series: readonly PlotSeries[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      return sums[i] ?? 0;
    }),
  );
}

/** Draws a chart into an element. Returns a function that removes it. */
export function draw(host: HTMLElement, data: PlotData, width: number, height: number): () => void {
  const xs = data.labels.map((_, i) => i);
  const rows = data.kind === 'stack' ? cumulated(data.series).reverse() : data.series.map(({ values }) => [...values]);
  const plot = new uPlot(optionsOf(host, data, width, height), [xs, ...rows] as uPlot.AlignedData, host);
  return () => plot.destroy();
}

function optionsOf(host: HTMLElement, data: PlotData, width: number, height: number): uPlot.Options {
  const { labels, kind } = data;
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  const axis = {
    stroke: colorOf(host, '--muted'),
    font,
    ticks: { show: false },
    grid: { stroke: colorOf(host, '--line'), width: 1 },
  };
  const edge = kind === 'stack' ? 0.5 : 0;
  return {
    width,
    height,
    padding: [8, kind === 'band' ? 22 : 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: kind === 'band' }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-edge, Math.max(labels.length - 1 + edge, 0.5)] },
      y: {
        range:
          kind === 'stack' ? (_, __, max) => [0, uPlot.rangeNum(0, max > 0 ? max : 1, 0.1, true)[1] ?? 1] : undefined,
      },
    } as uPlot.Scales,
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        splits: () => splitsOf(labels, width),
        values: (_, at) => at.map((i) => labels[i] ?? ''),
      },
      { ...axis, size: 58, values: (_, at) => at.map((value) => data.axis(value)) },
    ],
    series: [{}, ...(kind === 'stack' ? stackOf(host, data) : bandOf(host, data))],
    ...(kind === 'band' ? { bands: [{ series: [3, 2], fill: colorOf(host, '--band') }] } : {}),
    plugins: [tooltip(data, host)],
  };
}

/** The points whose label is shown: every second, third, … of those that have one, so that they do not overlap. */
function splitsOf(labels: readonly string[], width: number): number[] {
  const candidates = labels.flatMap((label, i) => (label ? [i] : []));
  const room = Math.max(1, width - labelWidth);
  const every = Math.max(1, Math.ceil((candidates.length * labelWidth) / room));
  const shown = candidates.filter((_, i) => (candidates.length - 1 - i) % every === 0);
  // The first day of a range may be shorter than the others.
  const minPoints = (labelWidth * labels.length) / room / 1.5;
  return shown.filter((at, i) => (shown[i + 1] ?? Number.POSITIVE_INFINITY) - at >= minPoints);
}

const stackOf = (host: HTMLElement, { series }: PlotData): uPlot.Series[] =>
  [...series].reverse().map(({ color }) => ({
    fill: colorOf(host, `--series-${color}`),
    stroke: 'transparent',
    width: 0,
    points: { show: false },
    ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.78, 48], gap: 0 }) } : {}),
  }));

function bandOf(host: HTMLElement, { series }: PlotData): uPlot.Series[] {
  const stroke = colorOf(host, '--series-1');
  return series.map((_, i) => ({
    stroke: i === 0 ? stroke : 'transparent',
    width: i === 0 ? 1.75 : 0,
    spanGaps: false,
    points: { show: i === 0 ? undefined : false, size: 4, fill: stroke },
  })) as uPlot.Series[];
}

/** Shows the figures of the point under the cursor. */
function tooltip({ titles, series, format }: PlotData, host: HTMLElement): uPlot.Plugin {
  const tip = document.createElement('div');
  tip.className = 'u-tip';
  tip.hidden = true;
  return {
    hooks: {
      init: () => host.append(tip),
      destroy: () => tip.remove(),
      setCursor: (plot) => {
        const { idx, left = -1 } = plot.cursor;
        tip.hidden = idx === null || idx === undefined || left < 0;
        if (tip.hidden || typeof idx !== 'number') return;
        tip.replaceChildren(...tipContent(titles[idx] ?? '', series, idx, format));
        const x = plot.over.offsetLeft + left;
        const isRight = x > host.clientWidth / 2;
        tip.style.left = isRight ? '' : `${x + 14}px`;
        tip.style.right = isRight ? `${host.clientWidth - x + 14}px` : '';
        tip.style.top = '12px';
      },
    },
  };
}

function tipContent(title: string, series: readonly PlotSeries[], at: number, format: PlotData['format']): Node[] {
  const head = document.createElement('strong');
  head.textContent = title;
  const list = document.createElement('ul');
  for (const { name, color, values } of series) {
    const value = values[at];
    const item = document.createElement('li');
    const swatch = document.createElement('span');
    swatch.className = `swatch fill-${color}`;
    const figure = document.createElement('span');
    figure.textContent = value === null || value === undefined ? 'none' : format(value);
    item.append(swatch, name, figure);
    list.append(item);
  }
  return [head, list];
}
