import { useId } from 'preact/hooks';
import { type Enforced, noticeOf, type QuotaEnforcement } from '../lib/enforcement.js';
import { parseUsd, usdInput } from '../lib/money.js';
import { Icon } from '../ui/icon.js';

export interface ChainRow {
  readonly label: string;
  /** The daily quota in dollars, as it was typed. */
  readonly quota: string;
  readonly enforcement: QuotaEnforcement;
  /** The enforcement that is stored. Absent for a quota that is new. */
  readonly stored?: Enforced;
}

interface Quota extends Enforced {
  readonly label: string;
  readonly dailyUsdMicros: number;
  readonly enforcement: QuotaEnforcement;
  readonly nextEnforcement?: { readonly enforcement: QuotaEnforcement; readonly from: string } | null;
}

export const chainRows = (ordering: readonly string[], quotas: readonly Quota[]): ChainRow[] =>
  ordering.map((label) => {
    const stored = quotas.find((quota) => quota.label === label);
    return {
      label,
      quota: usdInput(stored?.dailyUsdMicros ?? 0),
      // What was set last, which may not be in force yet.
      enforcement: stored?.nextEnforcement?.enforcement ?? stored?.enforcement ?? 'ADVISORY',
      ...(stored ? { stored } : {}),
    };
  });

/** The quotas of the rows. Throws a sentence if one is no amount. */
export const quotasOf = (rows: readonly ChainRow[]) =>
  rows.map(({ label, quota, enforcement }) => {
    const dailyUsdMicros = parseUsd(quota);
    if (dailyUsdMicros === undefined)
      throw new Error(`The quota of ${label} must be an amount in dollars with at most six decimals, such as 10.50`);
    return { label, dailyUsdMicros, enforcement };
  });

interface ChainEditorProps {
  readonly rows: readonly ChainRow[];
  /** Labels that can be added. */
  readonly labels: readonly string[];
  readonly onChange: (rows: readonly ChainRow[]) => void;
  readonly fixedOrder?: boolean;
  readonly fixedQuotas?: boolean;
  /** Of an org that is being registered: the enforcement takes effect at once. */
  readonly isNew?: boolean;
}

/** The fallback chain in its order, with the daily quota of each label and its enforcement. */
export function ChainEditor(props: ChainEditorProps) {
  const { rows, labels, onChange, fixedOrder = false, fixedQuotas = false, isNew = false } = props;
  const explanation = useId();
  const move = (from: number, to: number) => {
    const next = [...rows];
    const [row] = next.splice(from, 1);
    if (row) next.splice(to, 0, row);
    onChange(next);
  };
  const set = (at: number, changes: Partial<ChainRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...changes } : row)));
  return (
    <div class="stack-s">
      <ol class="chain-editor">
        {rows.map((row, i) => (
          <li key={row.label}>
            <div class="row">
              <span class="grow">
                {i + 1}. {row.label}
              </span>
              <QuotaFields row={row} set={(changes) => set(i, changes)} disabled={fixedQuotas} hint={explanation} />
              {!fixedOrder && (
                <RowButtons
                  label={row.label}
                  at={i}
                  count={rows.length}
                  move={move}
                  remove={() => onChange(rows.filter((_, at) => at !== i))}
                />
              )}
            </div>
            {!isNew && <Notice row={row} />}
          </li>
        ))}
      </ol>
      {!fixedOrder && (
        <AddLabel
          labels={labels.filter((label) => !rows.some((row) => row.label === label))}
          onAdd={(label) => onChange([...rows, { label, quota: '0', enforcement: 'ADVISORY' }])}
        />
      )}
      {rows.length > 0 && <Explanation id={explanation} isNew={isNew} />}
    </div>
  );
}

interface QuotaFieldsProps {
  readonly row: ChainRow;
  readonly set: (changes: Partial<ChainRow>) => void;
  readonly disabled: boolean;
  /** The id of the explanation. */
  readonly hint: string;
}

const QuotaFields = ({ row: { label, quota, enforcement }, set, disabled, hint }: QuotaFieldsProps) => (
  <>
    <span>$</span>
    <input
      class="input number quota-input"
      aria-label={`Daily quota of ${label} in dollars`}
      inputMode="decimal"
      value={quota}
      disabled={disabled}
      onInput={(event) => set({ quota: event.currentTarget.value })}
    />
    <select
      class="input inline-select"
      aria-label={`Enforcement of ${label}`}
      aria-describedby={hint}
      value={enforcement}
      disabled={disabled}
      onChange={(event) => set({ enforcement: event.currentTarget.value as QuotaEnforcement })}
    >
      <option value="ADVISORY">Advisory</option>
      <option value="HARD">Hard</option>
    </select>
  </>
);

const advisory: Enforced = { enforcement: 'ADVISORY' };

function Notice({ row: { label, enforcement, stored = advisory } }: { readonly row: ChainRow }) {
  const notice = noticeOf(label, stored, enforcement);
  return (
    <p class="hint" role="status">
      {notice}
    </p>
  );
}

const Explanation = ({ id, isNew }: { readonly id: string; readonly isNew: boolean }) => (
  <p id={id} class="hint">
    Advisory: a used-up quota makes selections fall back to the next label, and calls are never refused. Hard: admit
    reserves the estimated cost before a call, and refuses the call if it would exceed the quota.{' '}
    {isNew
      ? 'It takes effect at once.'
      : 'A change takes effect on the next local day, or one day later if that day begins in less than 310 seconds.'}
  </p>
);

interface AddLabelProps {
  readonly labels: readonly string[];
  readonly onAdd: (label: string) => void;
}

const AddLabel = ({ labels, onAdd }: AddLabelProps) =>
  labels.length === 0 ? null : (
    <select
      class="input inline-select"
      aria-label="Add a label"
      value=""
      onChange={(event) => onAdd(event.currentTarget.value)}
    >
      <option value="">Add a label…</option>
      {labels.map((label) => (
        <option key={label}>{label}</option>
      ))}
    </select>
  );

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
