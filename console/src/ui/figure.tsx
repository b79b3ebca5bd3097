import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.js';
import { type Column, Table } from './table.js';

interface FigureProps<Row> {
  /** The quantity and its unit, such as "US dollars per day". */
  readonly unit: string;
  /** What the chart shows, in a sentence or two, for those who do not see it. */
  readonly summary: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly legend?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A chart with its unit, a text for those who do not see it, and its figures as a table behind a button. */
export function ChartFigure<Row>({ unit, summary, columns, rows, keyOf, legend, children }: FigureProps<Row>) {
  const [isTable, setTable] = useState(false);
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <span class="small muted">{unit}</span>
        {legend}
        <span class="actions">
          <button type="button" class="button plain small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            <Icon name={isTable ? 'spend' : 'table'} />
            {isTable ? 'Chart' : 'Table'}
          </button>
        </span>
      </figcaption>
      {isTable ? (
        <Table class="plot-table" caption={unit} columns={columns} rows={rows} keyOf={keyOf} />
      ) : (
        <div role="img" aria-label={`${unit}. ${summary}`}>
          {children}
        </div>
      )}
    </figure>
  );
}

/** The width of an element in pixels, now and after each change. */
export function useWidth<E extends HTMLElement>() {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
