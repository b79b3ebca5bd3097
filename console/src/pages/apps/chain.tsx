import { usd, usdExact } from '../../lib/money.js';
import { reasonText } from '../../lib/reasons.js';
import { AsOf, isStale, oldest } from '../../ui/fresh.js';
import { Badge, Card, ModeBadge } from '../../ui/parts.js';
import { type Column, Table } from '../../ui/table.js';
import { QuotaMeter } from '../overview/quotas.js';
import type { AppData, ModelPrices } from './app.js';

type Link = AppData['modelSelection']['chain'][number];

interface ChainProps {
  readonly app: AppData;
  readonly models: ModelPrices;
  readonly isShared: boolean;
}

/** The fallback chain: which label is in use, why, and what each one costs. */
export function Chain({ app: { modelSelection }, models, isShared }: ChainProps) {
  const { chain, skipped, label: inUse, reason } = modelSelection;
  const asOf = oldest(chain.map((each) => each.asOf));
  const priceOf = (label: string) => models.find((model) => model.label === label)?.price;
  const stateOf = (link: Link) => {
    if (skipped.some(({ label }) => label === link.label)) return <Badge>No model</Badge>;
    return <ModeBadge mode={link.mode} />;
  };
  const columns: Column<Link>[] = [
    {
      head: 'Label',
      isHead: true,
      cell: ({ label }) => <LabelCell label={label} inUse={label === inUse} reason={reason} />,
    },
    { head: 'Model', cell: ({ bedrockModelId }) => <code>{bedrockModelId ?? 'none on this gateway'}</code> },
    { head: 'State', cell: stateOf },
    { head: 'Used', cell: (link) => <QuotaMeter label={link} name={link.label} /> },
    {
      head: 'Spent',
      numeric: true,
      cell: (link) => <span title={usdExact(link.costUsdMicros)}>{usd(link.costUsdMicros)}</span>,
    },
    {
      head: 'Quota',
      numeric: true,
      cell: (link) => (link.quotaUsdMicros === null ? 'none' : usd(link.quotaUsdMicros)),
    },
    { head: 'Per 1M input', numeric: true, cell: ({ label }) => priceText(priceOf(label)?.inputUsdMicrosPer1M) },
    { head: 'Per 1M output', numeric: true, cell: ({ label }) => priceText(priceOf(label)?.outputUsdMicrosPer1M) },
  ];
  return (
    <Card
      title="Chain"
      flush
      actions={isShared && <Badge>shared by all apps of the org</Badge>}
      foot={<AsOf at={asOf} />}
    >
      <div class={isStale(asOf) ? 'stale' : ''}>
        <Table caption="Fallback chain with its quotas" columns={columns} rows={chain} keyOf={({ label }) => label} />
      </div>
    </Card>
  );
}

const priceText = (micros: number | undefined): string => (micros === undefined ? '–' : usd(micros));

function LabelCell({
  label,
  inUse,
  reason,
}: {
  readonly label: string;
  readonly inUse: boolean;
  readonly reason: string;
}) {
  if (!inUse) return <>{label}</>;
  return (
    <span class="row">
      <strong>{label}</strong>
      <span title={reasonText(reason)}>
        <Badge tone="accent">in use</Badge>
      </span>
    </span>
  );
}
