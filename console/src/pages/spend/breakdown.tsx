import type { BreakdownFragment, FiguresFragment } from '../../gql/graphql.js';
import { usd, usdExact } from '../../lib/money.js';
import { count, percent, short } from '../../lib/numbers.js';
import { type Column, Table } from '../../ui/table.js';

interface Row extends FiguresFragment {
  readonly name: string;
  /** The app, if this is the row of one of its labels. */
  readonly parent?: string;
}

/** The rows, those of the labels below their app, and the rest if there is any. */
function rowsOf({ rows, rest }: BreakdownFragment): Row[] {
  const all: Row[] = rows.flatMap(({ labels, ...row }) => [
    row,
    ...(labels ?? []).map((label) => ({ ...label, parent: row.name })),
  ]);
  return rest.requests > 0 || rest.costUsdMicros > 0 ? [...all, { ...rest, name: '' }] : all;
}

export const averageOf = ({ costUsdMicros, requests }: FiguresFragment): string =>
  requests === 0 ? '–' : usd(Math.round(costUsdMicros / requests), 4);

const shareOf = (cost: number, total: number): string => (total === 0 ? '–' : percent((cost / total) * 100));

interface BreakdownProps {
  readonly data: BreakdownFragment;
  /** The head of the first column. */
  readonly what: string;
}

/** Cost, calls, tokens and average per app and label, label, or value. */
export function BreakdownTable({ data, what }: BreakdownProps) {
  const { total } = data;
  const columns: Column<Row>[] = [
    { head: what, isHead: true, cell: (row) => <RowName row={row} /> },
    {
      head: 'Cost',
      numeric: true,
      cell: ({ costUsdMicros }) => <span title={usdExact(costUsdMicros)}>{usd(costUsdMicros)}</span>,
    },
    { head: 'Share', numeric: true, cell: ({ costUsdMicros }) => shareOf(costUsdMicros, total.costUsdMicros) },
    { head: 'Calls', numeric: true, cell: ({ requests }) => count(requests) },
    { head: 'Input tokens', numeric: true, cell: ({ inputTokens }) => <Tokens value={inputTokens} /> },
    { head: 'Output tokens', numeric: true, cell: ({ outputTokens }) => <Tokens value={outputTokens} /> },
    { head: 'Average per call', numeric: true, cell: averageOf },
  ];
  return (
    <Table
      caption={`Spend by ${what.toLowerCase()}`}
      columns={columns}
      rows={rowsOf(data)}
      keyOf={({ name, parent = '' }) => `${parent} ${name}`}
      foot={[
        'Total',
        usd(total.costUsdMicros),
        '',
        count(total.requests),
        short(total.inputTokens),
        short(total.outputTokens),
        averageOf(total),
      ]}
    />
  );
}

const Tokens = ({ value }: { readonly value: number }) => <span title={count(value)}>{short(value)}</span>;

function RowName({ row: { name, parent } }: { readonly row: Row }) {
  if (parent !== undefined)
    return (
      <span class="sub-row">
        <span class="hidden-text">{parent}, </span>
        {name}
      </span>
    );
  return name === '' ? <span class="muted">everything else</span> : <strong>{name}</strong>;
}
