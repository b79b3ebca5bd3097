import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** The first column names its row for screen readers. */
  readonly isHead?: boolean;
  readonly class?: string;
}

interface TableProps<Row> {
  /** Says what the table has, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly foot?: readonly ComponentChildren[];
  readonly class?: string;
}

const classOf = <Row,>({ numeric, class: extra = '' }: Column<Row>): string => `${numeric ? 'number' : ''} ${extra}`;

export function Table<Row>({ caption, columns, rows, keyOf, foot, class: extra = '' }: TableProps<Row>) {
  const { ref, scrolls } = useScrolls();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div ref={ref} class={`table-scroll ${extra}`} role="group" aria-label={caption} tabIndex={scrolls ? 0 : undefined}>
      <table class="table">
        <caption class="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head === '' ? <span class="hidden-text">Actions</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>{columns.map((column) => cellOf(column, row))}</tr>
          ))}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {foot.map((cell, i) => (
                <td key={i} class={columns[i]?.numeric ? 'number' : ''}>
                  {cell}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** Whether an element is scrolled. Only then it must be reached with the Tab key. */
function useScrolls() {
  const ref = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const check = () =>
      setScrolls(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const observer = new ResizeObserver(check);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, scrolls };
}

function cellOf<Row>(column: Column<Row>, row: Row) {
  if (column.isHead)
    return (
      <th key={column.head} scope="row" class={classOf(column)}>
        {column.cell(row)}
      </th>
    );
  return (
    <td key={column.head} class={classOf(column)}>
      {column.cell(row)}
    </td>
  );
}

/** Loads the next page of a list. */
export function MoreButton({
  query,
}: {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}) {
  if (!query.hasNextPage) return null;
  return (
    <button
      type="button"
      class="button small"
      aria-disabled={query.isFetchingNextPage}
      onClick={() => void (query.isFetchingNextPage || query.fetchNextPage())}
    >
      {query.isFetchingNextPage ? 'Loading…' : 'Load more'}
    </button>
  );
}
