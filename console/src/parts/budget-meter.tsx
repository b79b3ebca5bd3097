import { usd, usdExact } from '../lib/money.js';
import { percent } from '../lib/numbers.js';
import { dateAndTime } from '../lib/time.js';
import { useZone } from '../shell/context.js';
import { Badge, Meter, type Tone } from '../ui/parts.js';

const toneAt = (pct: number): Tone => (pct >= 100 ? 'bad' : pct >= 80 ? 'warn' : 'ok');

interface BudgetMeterProps {
  readonly budget: {
    readonly name: string;
    readonly pct: number;
    readonly spentUsdMicros: number;
    readonly inForceUsdMicros: number;
  };
}

/** The share of a budget that is spent, with the amounts on hover. */
export function BudgetMeter({ budget: { name, pct, spentUsdMicros, inForceUsdMicros } }: BudgetMeterProps) {
  const amounts = `${usdExact(spentUsdMicros)} of ${usdExact(inForceUsdMicros)}`;
  return (
    <span title={amounts}>
      <Meter label={`Budget ${name}: ${amounts}`} pct={pct} tone={toneAt(pct)} text={percent(pct)} />
    </span>
  );
}

interface ProjectedProps {
  readonly forecast:
    | { readonly projectedUsdMicros: number; readonly exhaustsAt: string | null; readonly basis: string }
    | null
    | undefined;
  readonly inForceUsdMicros: number;
}

/** What the period is expected to cost at its end. */
export function Projected({ forecast, inForceUsdMicros }: ProjectedProps) {
  const zone = useZone();
  if (!forecast) return <span class="muted">too little data</span>;
  const { projectedUsdMicros, exhaustsAt, basis } = forecast;
  return (
    <span title={basis}>
      {usd(projectedUsdMicros)}{' '}
      {projectedUsdMicros > inForceUsdMicros && (
        <Badge tone="warn" icon="warning">
          {exhaustsAt ? `used up ${dateAndTime(exhaustsAt, zone)}` : 'more than the budget'}
        </Badge>
      )}
    </span>
  );
}
