import { reasonText } from '../../lib/reasons.js';
import { Badge, type SpendMode, toneOf } from '../../ui/parts.js';

interface InUseProps {
  readonly app: {
    readonly suspendedAt: string | null;
    readonly spend: { readonly mode: SpendMode };
    readonly modelSelection: { readonly label: string | null; readonly reason: string };
  };
}

/** The label that an app is told to call now. */
export function InUse({ app: { suspendedAt, modelSelection, spend } }: InUseProps) {
  if (suspendedAt) return <Badge>Suspended</Badge>;
  const { label, reason } = modelSelection;
  const isFirst = reason === 'WITHIN_QUOTA';
  const tone = label === null ? 'bad' : isFirst ? toneOf(spend.mode) : 'warn';
  return (
    <span title={reasonText(reason)}>
      <Badge tone={tone} icon={label === null ? 'close' : isFirst ? 'check' : 'warning'}>
        {label ?? 'none allowed'}
      </Badge>
    </span>
  );
}
