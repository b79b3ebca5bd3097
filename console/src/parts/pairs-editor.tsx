import { useRef, useState } from 'preact/hooks';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icon.js';

export interface NamedText {
  readonly name: string;
  readonly value: string;
}

interface PairsEditorProps {
  readonly legend: string;
  readonly pairs: readonly NamedText[];
  readonly onChange: (pairs: NamedText[]) => void;
}

/** Edits names with their values. */
export function PairsEditor({ legend, pairs, onChange }: PairsEditorProps) {
  const lastId = useRef(pairs.length);
  const [rows, setRows] = useState(() => pairs.map((pair, id) => ({ id, ...pair })));
  const set = (next: typeof rows) => {
    setRows(next);
    onChange(next.map(({ name, value }) => ({ name, value })));
  };
  const change = (id: number, changes: Partial<NamedText>) =>
    set(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)));
  return (
    <fieldset class="limit-fields">
      <legend class="label">{legend}</legend>
      {rows.map(({ id, name, value }) => (
        <div key={id} class="form-row">
          <Field label="Name of the value" value={name} onInput={(text) => change(id, { name: text })} required />
          <Field
            label={name ? `Value of ${name}` : 'Value'}
            value={value}
            onInput={(text) => change(id, { value: text })}
          />
          <div class="end">
            <button
              type="button"
              class="button plain"
              aria-label={`Remove ${name || 'this value'}`}
              onClick={() => set(rows.filter((row) => row.id !== id))}
            >
              <Icon name="close" />
            </button>
          </div>
        </div>
      ))}
      <div>
        <button
          type="button"
          class="button small"
          onClick={() => set([...rows, { id: ++lastId.current, name: '', value: '' }])}
        >
          <Icon name="plus" />
          Add a value
        </button>
      </div>
    </fieldset>
  );
}
