import { useId } from 'preact/hooks';
import { Field } from '../ui/field.js';

/** The names of the time zones that this browser knows. */
const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

interface ZoneFieldProps {
  readonly value: string;
  readonly onInput: (zone: string) => void;
  readonly hint?: string;
}

export function ZoneField({ value, onInput, hint = 'The days of the org follow it.' }: ZoneFieldProps) {
  const id = useId();
  return (
    <div>
      <Field label="Time zone" value={value} onInput={onInput} list={id} required hint={hint} />
      <datalist id={id}>
        {zones().map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
}
