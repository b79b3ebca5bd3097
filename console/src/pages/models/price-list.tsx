import { useRef } from 'preact/hooks';
import { parseUsd, usdInput } from '../../lib/money.js';
import type { PriceEntry } from '../../lib/prices.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';

/** A price as it is typed. */
export interface PriceDraft {
  readonly id: number;
  readonly name: string;
  readonly amount: string;
  readonly above: string;
}

const usualPrices: readonly PriceDraft[] = [
  { id: 1, name: 'input', amount: '', above: '0' },
  { id: 2, name: 'output', amount: '', above: '0' },
];

/** The entries as they are typed; those of input and output if there are none. */
export const draftsOf = (entries: readonly PriceEntry[]): readonly PriceDraft[] =>
  entries.length === 0
    ? usualPrices
    : entries.map(({ name, usdMicrosPer1M, above }, i) => ({
        id: i,
        name,
        amount: usdInput(usdMicrosPer1M),
        above: String(above),
      }));

/** The entry that was typed. Throws a sentence if its amount is none. */
export const entryOf = ({ name, amount, above }: PriceDraft): PriceEntry => {
  const usdMicrosPer1M = parseUsd(amount);
  if (usdMicrosPer1M === undefined)
    throw new Error(`The price of ${name} must be an amount in dollars, such as 3 or 0.25`);
  return { name: name.trim(), usdMicrosPer1M, above: Number(above || 0) };
};

interface PriceListProps {
  readonly prices: readonly PriceDraft[];
  readonly onChange: (prices: readonly PriceDraft[]) => void;
}

/** Edits the price of each part of a call. */
export function PriceList({ prices, onChange }: PriceListProps) {
  const lastId = useRef(100);
  const set = (id: number, changes: Partial<PriceDraft>) =>
    onChange(prices.map((each) => (each.id === id ? { ...each, ...changes } : each)));
  const add = () => onChange([...prices, { id: ++lastId.current, name: 'cacheRead', amount: '', above: '0' }]);
  return (
    <fieldset class="limit-fields">
      <legend class="label">Price in dollars per million tokens or units</legend>
      {prices.map((price) => (
        <PriceRow
          key={price.id}
          price={price}
          set={(changes) => set(price.id, changes)}
          remove={prices.length === 1 ? undefined : () => onChange(prices.filter(({ id }) => id !== price.id))}
        />
      ))}
      <div>
        <button type="button" class="button small" onClick={add}>
          <Icon name="plus" />
          Add a price
        </button>
      </div>
    </fieldset>
  );
}

interface PriceRowProps {
  readonly price: PriceDraft;
  readonly set: (changes: Partial<PriceDraft>) => void;
  /** Absent for the last price, which must stay. */
  readonly remove: (() => void) | undefined;
}

const PriceRow = ({ price: { name, amount, above }, set, remove }: PriceRowProps) => (
  <div class="form-row">
    <Field label="Of" value={name} onInput={(value) => set({ name: value })} required maxLength={32} />
    <Field
      label={`Dollars per 1M ${name}`}
      value={amount}
      onInput={(value) => set({ amount: value })}
      required
      inputMode="decimal"
    />
    <Field label="Above input tokens" value={above} onInput={(value) => set({ above: value })} inputMode="numeric" />
    <div class="end">
      <button
        type="button"
        class="button plain"
        aria-label={`Remove the price of ${name}`}
        disabled={remove === undefined}
        onClick={remove}
      >
        <Icon name="close" />
      </button>
    </div>
  </div>
);
