import { useRef, useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { UpsertModelDocument } from '../../gql/graphql.js';
import { parseUsd, usdInput } from '../../lib/money.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import type { Model } from './models.js';

const shortTexts = ['provider', 'tier', 'family'] as const;
const longTexts = ['modelId', 'description'] as const;
const texts = [...shortTexts, ...longTexts] as const;
type Text = (typeof texts)[number];
const textLabels: Readonly<Record<Text, string>> = {
  modelId: 'Model id at its provider',
  provider: 'Provider',
  tier: 'Tier',
  family: 'Family',
  description: 'Description',
};

interface PriceDraft {
  readonly id: number;
  readonly name: string;
  readonly amount: string;
  readonly above: string;
}

const usualPrices: readonly PriceDraft[] = [
  { id: 1, name: 'input', amount: '', above: '0' },
  { id: 2, name: 'output', amount: '', above: '0' },
];

const pricesOf = (model: Model | undefined): readonly PriceDraft[] =>
  model && model.price.entries.length > 0
    ? model.price.entries.map(({ name, usdMicrosPer1M, above }, i) => ({
        id: i,
        name,
        amount: usdInput(usdMicrosPer1M),
        above: String(above),
      }))
    : usualPrices;

const entryOf = ({ name, amount, above }: PriceDraft) => {
  const usdMicrosPer1M = parseUsd(amount);
  if (usdMicrosPer1M === undefined)
    throw new Error(`The price of ${name} must be an amount in dollars, such as 3 or 0.25`);
  return { name: name.trim(), usdMicrosPer1M, above: Number(above || 0) };
};

interface ModelDialogProps {
  readonly model: Model | undefined;
  readonly onClose: () => void;
}

/** Adds or changes a model, only if nobody else has changed it meanwhile. */
export function ModelDialog({ model, onClose }: ModelDialogProps) {
  const [label, setLabel] = useState(model?.label ?? '');
  const [values, setValues] = useState<Readonly<Record<Text, string>>>(
    () => Object.fromEntries(texts.map((name) => [name, model?.[name] ?? ''])) as Record<Text, string>,
  );
  const [setsPrice, setSetsPrice] = useState(model === undefined);
  const [prices, setPrices] = useState(() => pricesOf(model));
  const field = (name: Text) => (
    <Field
      key={name}
      label={textLabels[name]}
      value={values[name]}
      onInput={(value) => setValues({ ...values, [name]: value })}
      required={name === 'modelId'}
    />
  );
  const save = async () => {
    const given = Object.fromEntries(
      texts.filter((name) => values[name].trim()).map((name) => [name, values[name].trim()]),
    );
    const input = {
      label: label.trim(),
      modelId: values.modelId.trim(),
      ...given,
      ...(setsPrice ? { prices: prices.map(entryOf) } : {}),
      expectedVersion: model?.version ?? 0,
    };
    await send(UpsertModelDocument, { input });
    toast('Saved. It takes effect on all gateways within 2 s.');
    void refreshAll();
  };
  return (
    <FormDialog
      title={model ? `Change ${model.label}` : 'Add model'}
      submit="Save"
      wide
      onClose={onClose}
      onSubmit={save}
    >
      <div class="form-row">
        <Field
          label="Label"
          value={label}
          onInput={setLabel}
          disabled={model !== undefined}
          required
          autoFocus
          maxLength={64}
        />
        {shortTexts.map(field)}
      </div>
      {longTexts.map(field)}
      {model && (
        <Check
          label="Set a new price, from now on. Costs that are recorded keep theirs."
          checked={setsPrice}
          onChange={setSetsPrice}
        />
      )}
      {setsPrice && <PriceList prices={prices} onChange={setPrices} />}
    </FormDialog>
  );
}

interface PriceListProps {
  readonly prices: readonly PriceDraft[];
  readonly onChange: (prices: readonly PriceDraft[]) => void;
}

function PriceList({ prices, onChange }: PriceListProps) {
  const lastId = useRef(100);
  const set = (id: number, changes: Partial<PriceDraft>) =>
    onChange(prices.map((each) => (each.id === id ? { ...each, ...changes } : each)));
  const add = () => onChange([...prices, { id: ++lastId.current, name: 'cacheRead', amount: '', above: '0' }]);
  return (
    <fieldset class="limit-fields">
      <legend class="label">Price in dollars per million tokens or units</legend>
      {prices.map(({ id, name, amount, above }) => (
        <div key={id} class="form-row">
          <Field label="Of" value={name} onInput={(value) => set(id, { name: value })} required maxLength={32} />
          <Field
            label={`Dollars per 1M ${name}`}
            value={amount}
            onInput={(value) => set(id, { amount: value })}
            required
            inputMode="decimal"
          />
          <Field
            label="Above input tokens"
            value={above}
            onInput={(value) => set(id, { above: value })}
            inputMode="numeric"
          />
          <div>
            <button
              type="button"
              class="button plain"
              aria-label={`Remove the price of ${name}`}
              disabled={prices.length === 1}
              onClick={() => onChange(prices.filter((each) => each.id !== id))}
            >
              <Icon name="close" />
            </button>
          </div>
        </div>
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
