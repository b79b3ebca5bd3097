import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly type?: 'text' | 'password' | 'number' | 'date' | 'search' | 'datetime-local';
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly disabled?: boolean;
  readonly min?: string | number;
  readonly max?: string | number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly list?: string;
  readonly inputMode?: InputHTMLAttributes['inputMode'];
  readonly class?: string;
}

/** A text field with its label, a hint and its problem. */
export function Field({ label, value, onInput, hint, problem, class: extra = '', ...input }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}h` : '', problem ? `${id}p` : ''].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        id={id}
        type={input.type ?? 'text'}
        class={`input ${extra}`}
        value={value}
        spellcheck={false}
        aria-invalid={problem ? true : undefined}
        aria-describedby={described || undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint && (
        <p id={`${id}h`} class="hint">
          {hint}
        </p>
      )}
      {problem && (
        <p id={`${id}p`} class="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

interface SelectFieldProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly onChange: (value: T) => void;
  readonly hint?: ComponentChildren;
}

export function SelectField<T extends string>({ label, value, options, onChange, hint }: SelectFieldProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={value}
        aria-describedby={hint ? `${id}h` : undefined}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}h`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface CheckProps {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export const Check = ({ label, checked, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
  </label>
);
