import { parseUsd, usdInput } from '../lib/money.js';
import { Icon } from '../ui/icon.js';

export interface ChainRow {
  readonly label: string;
  /** The daily quota in dollars, as it was typed. */
  readonly quota: string;
}

export const chainRows = (
  ordering: readonly string[],
  quotas: readonly { readonly label: string; readonly dailyUsdMicros: number }[],
): ChainRow[] =>
  ordering.map((label) => ({
    label,
    quota: usdInput(quotas.find((quota) => quota.label === label)?.dailyUsdMicros ?? 0),
  }));

/** The quotas of the rows. Throws a sentence if one is no amount. */
export const quotasOf = (rows: readonly ChainRow[]): { label: string; dailyUsdMicros: number }[] =>
  rows.map(({ label, quota }) => {
    const dailyUsdMicros = parseUsd(quota);
    if (dailyUsdMicros === undefined)
      throw new Error(`The quota of ${label} must be an amount in dollars with at most six decimals, such as 10.50`);
    return { label, dailyUsdMicros };
  });

interface ChainEditorProps {
  readonly rows: readonly ChainRow[];
  /** Labels that can be added. */
  readonly labels: readonly string[];
  readonly onChange: (rows: readonly ChainRow[]) => void;
  readonly fixedOrder?: boolean;
  readonly fixedQuotas?: boolean;
}

/** The fallback chain in its order, with the daily quota of each label. */
export function ChainEditor({ rows, labels, onChange, fixedOrder = false, fixedQuotas = false }: ChainEditorProps) {
  const free = labels.filter((label) => !rows.some((row) => row.label === label));
  const move = (from: number, to: number) => {
    const next = [...rows];
    const [row] = next.splice(from, 1);
    if (row) next.splice(to, 0, row);
    onChange(next);
  };
  const setQuota = (at: number, quota: string) => onChange(rows.map((row, i) => (i === at ? { ...row, quota } : row)));
  return (
    <div class="stack-s">
      <ol class="chain-editor">
        {rows.map(({ label, quota }, i) => (
          <li key={label} class="row">
            <span class="grow">
              {i + 1}. {label}
            </span>
            <span>$</span>
            <input
              class="input number quota-input"
              aria-label={`Daily quota of ${label} in dollars`}
              inputMode="decimal"
              value={quota}
              disabled={fixedQuotas}
              onInput={(event) => setQuota(i, event.currentTarget.value)}
            />
            {!fixedOrder && (
              <RowButtons
                label={label}
                at={i}
                count={rows.length}
                move={move}
                remove={() => onChange(rows.filter((_, at) => at !== i))}
              />
            )}
          </li>
        ))}
      </ol>
      {!fixedOrder && free.length > 0 && (
        <select
          class="input inline-select"
          aria-label="Add a label"
          value=""
          onChange={(event) => onChange([...rows, { label: event.currentTarget.value, quota: '0' }])}
        >
          <option value="">Add a label…</option>
          {free.map((label) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      )}
    </div>
  );
}

interface RowButtonsProps {
  readonly label: string;
  readonly at: number;
  readonly count: number;
  readonly move: (from: number, to: number) => void;
  readonly remove: () => void;
}

const RowButtons = ({ label, at, count, move, remove }: RowButtonsProps) => (
  <>
    <button
      type="button"
      class="button plain"
      disabled={at === 0}
      aria-label={`Move ${label} up`}
      onClick={() => move(at, at - 1)}
    >
      <Icon name="up" />
    </button>
    <button
      type="button"
      class="button plain"
      disabled={at === count - 1}
      aria-label={`Move ${label} down`}
      onClick={() => move(at, at + 1)}
    >
      <Icon name="down" />
    </button>
    <button type="button" class="button plain" disabled={count === 1} aria-label={`Remove ${label}`} onClick={remove}>
      <Icon name="close" />
    </button>
  </>
);
