import { useState } from 'preact/hooks';
import { send, usePages } from '../../data/client.js';
import { ModelsDocument, type ModelsQuery, RetireModelDocument } from '../../gql/graphql.js';
import { usd } from '../../lib/money.js';
import { short } from '../../lib/numbers.js';
import { fullTime } from '../../lib/time.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { useSession } from '../../shell/context.js';
import { Page } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Check } from '../../ui/field.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { ModelDialog } from './model-dialog.js';

export type Model = ModelsQuery['models'][number];

const pageSize = 100;
const sources: Readonly<Record<string, string>> = {
  PRICING_CACHE: 'price list',
  CONFIG_DEFAULT: 'default of config.yaml',
  CATALOG: 'catalog',
};

const infoOf = ({ models }: ModelsQuery) => ({
  hasNextPage: models.length === pageSize,
  endCursor: models.at(-1)?.label ?? null,
});

/** The models of the platform, with the prices that are in force. Only the admin changes them. */
export default function Models() {
  const isAdmin = useSession().kind === 'PLATFORM_ADMIN';
  const [includeRetired, setIncludeRetired] = useState(false);
  const query = usePages(ModelsDocument, { includeRetired, first: pageSize }, infoOf);
  const [edited, setEdited] = useState<Model | 'new'>();
  const [retired, setRetired] = useState<Model>();
  return (
    <Page
      title="Models and prices"
      about="Prices of the catalog that are in force now. An org may have its own."
      actions={
        isAdmin && (
          <WriteButton icon="plus" tone="primary" onClick={() => setEdited('new')}>
            Add model
          </WriteButton>
        )
      }
    >
      <Card
        title="Catalog"
        flush
        actions={<Check label="Show retired models" checked={includeRetired} onChange={setIncludeRetired} />}
        foot={query.hasNextPage && <MoreButton query={query} />}
      >
        <Loaded query={query} what="the models">
          {({ pages }) => (
            <ModelTable
              models={pages.flatMap(({ models }) => models)}
              {...(isAdmin ? { onEdit: setEdited, onRetire: setRetired } : {})}
            />
          )}
        </Loaded>
      </Card>
      {edited && <ModelDialog model={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
      {retired && (
        <Confirm
          title={`Retire ${retired.label}?`}
          submit="Retire"
          done={`${retired.label} is retired`}
          onConfirm={() => send(RetireModelDocument, { label: retired.label, expectedVersion: retired.version })}
          onClose={() => setRetired(undefined)}
        >
          Selections no longer recommend it on any gateway within 2 s. Its costs stay. Saving it again brings it back.
        </Confirm>
      )}
    </Page>
  );
}

interface ModelTableProps {
  readonly models: readonly Model[];
  readonly onEdit?: (model: Model) => void;
  readonly onRetire?: (model: Model) => void;
}

function ModelTable({ models, onEdit, onRetire }: ModelTableProps) {
  if (models.length === 0)
    return (
      <Empty title="No models yet" command={commands.upsertModel()}>
        Chains, quotas and costs name a model by its label. The platform admin adds the first one:
      </Empty>
    );
  const columns: Column<Model>[] = [
    { head: 'Label', isHead: true, cell: (model) => <LabelCell model={model} /> },
    { head: 'Model', cell: ({ modelId }) => <code>{modelId}</code> },
    { head: 'Provider', cell: ({ provider }) => provider },
    { head: 'Tier', cell: ({ tier }) => tier && <Badge>{tier}</Badge> },
    { head: 'Per 1M input', numeric: true, cell: ({ price }) => usd(price.inputUsdMicrosPer1M) },
    { head: 'Per 1M output', numeric: true, cell: ({ price }) => usd(price.outputUsdMicrosPer1M) },
    { head: 'Further prices', cell: ({ price }) => furtherPrices(price.entries) },
    { head: 'Price from', cell: ({ price }) => <PriceSource price={price} /> },
  ];
  const actions: Column<Model> = {
    head: '',
    class: 'actions',
    cell: (model) => (
      <>
        <WriteButton tone="plain small" icon="edit" label={`Change ${model.label}`} onClick={() => onEdit?.(model)} />
        {!model.retiredAt && (
          <WriteButton tone="plain small danger" label={`Retire ${model.label}`} onClick={() => onRetire?.(model)}>
            Retire
          </WriteButton>
        )}
      </>
    ),
  };
  return (
    <Table
      caption="Models and their prices"
      columns={onEdit ? [...columns, actions] : columns}
      rows={models}
      keyOf={({ label }) => label}
    />
  );
}

const LabelCell = ({ model: { label, description, retiredAt } }: { readonly model: Model }) => (
  <span title={description ?? undefined}>
    {label} {retiredAt && <Badge>retired</Badge>}
  </span>
);

/** The prices beside those of input and output, in words. */
const furtherPrices = (entries: Model['price']['entries']): string =>
  entries
    .filter(({ name, above }) => above > 0 || (name !== 'input' && name !== 'output'))
    .map(
      ({ name, usdMicrosPer1M, above }) => `${name}${above > 0 ? ` above ${short(above)}` : ''} ${usd(usdMicrosPer1M)}`,
    )
    .join(', ');

const PriceSource = ({ price: { source, fetchedAt, entries } }: { readonly price: Model['price'] }) => (
  <span title={fetchedAt ? `fetched ${fullTime(fetchedAt, 'UTC')}` : undefined}>
    {entries.length === 0 ? 'no price yet' : (sources[source] ?? source.toLowerCase().replaceAll('_', ' '))}
  </span>
);
