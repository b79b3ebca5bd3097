import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon.js';

interface CardProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly foot?: ComponentChildren;
  readonly class?: string;
  /** Leaves out the padding, for a table or a list that reaches the edges. */
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}

export function Card({ title, actions, foot, class: extra = '', flush = false, children }: CardProps) {
  const id = useId();
  return (
    <section class={`card ${extra}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </div>
      <div class={flush ? '' : 'card-body'}>{children}</div>
      {foot && <div class="card-foot">{foot}</div>}
    </section>
  );
}

export type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'plain';

export function Badge({
  tone = 'plain',
  icon,
  children,
}: {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

const modes = {
  NORMAL: ['ok', 'check', 'Normal'],
  TIGHT: ['warn', 'warning', 'Tight'],
  EXCEEDED: ['bad', 'close', 'Exceeded'],
} as const;

export type SpendMode = keyof typeof modes;

export function ModeBadge({ mode }: { readonly mode: SpendMode }) {
  const [tone, icon, text] = modes[mode];
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  );
}

export const toneOf = (mode: SpendMode): Tone => modes[mode][0];

interface MeterProps {
  readonly label: string;
  /** Share of the maximum in percent; more than 100 shows as full. */
  readonly pct: number;
  readonly tone?: Tone;
  readonly text: string;
}

/** A bar with its value beside it. */
export function Meter({ label, pct, tone = 'ok', text }: MeterProps) {
  return (
    <span class="meter-cell">
      <meter class={tone} min={0} max={100} value={Math.min(Math.max(pct, 0), 100)} aria-label={label}>
        {text}
      </meter>
      <span class="number">{text}</span>
    </span>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly title?: string;
  readonly stale?: boolean;
}

/** One figure of a strip; goes into `Stats`. */
export function Stat({ label, value, note, title, stale = false }: StatProps) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd class={`value ${stale ? 'stale' : ''}`} title={title}>
        {value}
      </dd>
      {note && <dd class="note">{note}</dd>}
    </div>
  );
}

export const Stats = ({ children }: { readonly children: ComponentChildren }) => <dl class="stats">{children}</dl>;

interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly disabled?: boolean;
  readonly title?: string;
}

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly options: readonly Option<T>[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** A choice of a few values: radio buttons, so the arrow keys move through them. */
export function Segmented<T extends string>({ label, options, value, onChange }: SegmentedProps<T>) {
  const name = useId();
  return (
    <fieldset class="segmented">
      <legend class="hidden-text">{label}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            disabled={option.disabled}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}

interface SelectProps<T extends string> {
  readonly label: string;
  readonly options: readonly Option<T>[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** A choice of many values, with its label for screen readers only. */
export function InlineSelect<T extends string>({ label, options, value, onChange }: SelectProps<T>) {
  return (
    <select
      class="input inline-select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
