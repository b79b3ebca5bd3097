import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { UpsertModelDocument } from '../../gql/graphql.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import type { Model } from './models.js';
import { draftsOf, entryOf, PriceList } from './price-list.js';

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
  const [prices, setPrices] = useState(() => draftsOf(model?.price.entries ?? []));
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
