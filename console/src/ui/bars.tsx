import { ticks } from '../lib/scale.js';
import { useWidth } from './figure.js';
import type { Tone } from './parts.js';

export interface Bar {
  readonly key: string;
  /** Below the bar; bars that have no room for it leave it out. */
  readonly label: string;
  readonly value: number;
  readonly tone?: Tone | undefined;
  /** Not complete yet. */
  readonly isOpen?: boolean;
  readonly title: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
  readonly height?: number;
}

const left = 52;
const bottom = 20;
const top = 8;
const labelWidth = 46;

/** Upright bars on a scale from zero. */
export function Bars({ bars, format, height = 190 }: BarsProps) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const lines = ticks(Math.max(0, ...bars.map(({ value }) => value)));
  const max = lines.at(-1) ?? 1;
  const plotHeight = height - top - bottom;
  const y = (value: number) => top + plotHeight * (1 - value / max);
  const slot = Math.max(0, width - left) / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(labelWidth / Math.max(1, slot)));
  return (
    <div ref={ref} class="plot">
      <svg class="bars" width={width} height={height} aria-hidden="true">
        {lines.map((line) => (
          <g key={line}>
            <line class="rule" x1={left} x2={width} y1={y(line)} y2={y(line)} />
            <text x={left - 8} y={y(line) + 4} text-anchor="end">
              {format(line)}
            </text>
          </g>
        ))}
        {bars.map((bar, i) => (
          <BarShape key={bar.key} bar={bar} x={left + i * slot} slot={slot} y={y(bar.value)} foot={y(0)} />
        ))}
        {bars.map(
          ({ key, label }, i) =>
            (bars.length - 1 - i) % every === 0 && (
              <text key={key} x={left + (i + 0.5) * slot} y={height - 5} text-anchor="middle">
                {label}
              </text>
            ),
        )}
      </svg>
    </div>
  );
}

interface BarShapeProps {
  readonly bar: Bar;
  readonly x: number;
  readonly slot: number;
  readonly y: number;
  readonly foot: number;
}

function BarShape({ bar, x, slot, y, foot }: BarShapeProps) {
  const gap = Math.min(8, slot * 0.25);
  return (
    <g>
      <rect
        class={`bar ${bar.tone ?? ''} ${bar.isOpen ? 'today' : ''}`}
        x={x + gap / 2}
        y={y}
        width={Math.max(1, slot - gap)}
        height={Math.max(bar.value > 0 ? 1 : 0, foot - y)}
        rx={2}
      />
      <rect class="hit" x={x} y={top} width={slot} height={foot - top}>
        <title>{bar.title}</title>
      </rect>
    </g>
  );
}
