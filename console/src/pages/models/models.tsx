import { useState } from 'preact/hooks';
import { send, usePages } from '../../data/client.js';
import { ModelsDocument, type ModelsQuery, RetireModelDocument } from '../../gql/graphql.js';
import { usd } from '../../lib/money.js';
import { furtherPrices, priceSourceText } from '../../lib/prices.js';
import { useStore } from '../../lib/store.js';
import { fullTime } from '../../lib/time.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { lastOrg, useSession } from '../../shell/context.js';
import { Page } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Check } from '../../ui/field.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { ModelDialog } from './model-dialog.js';
import { OrgPrices } from './org-prices.js';

export type Model = ModelsQuery['models'][number];

const pageSize = 100;

const infoOf = ({ models }: ModelsQuery) => ({
  hasNextPage: models.length === pageSize,
  endCursor: models.at(-1)?.label ?? null,
});

const hintOf = (hasOrg: boolean): string =>
  hasOrg ? 'Own prices of an org come first.' : 'Choose an org to see its own prices.';

/** The models of the platform, with the prices that are in force. Only the admin changes them. */
export default function Models() {
  const session = useSession();
  const isAdmin = session.kind === 'PLATFORM_ADMIN';
  const org = useStore(lastOrg) ?? session.org;
  const [includeRetired, setIncludeRetired] = useState(false);
  const query = usePages(ModelsDocument, { includeRetired, first: pageSize }, infoOf);
  const models = query.data?.pages.flatMap((page) => page.models) ?? [];
  const [edited, setEdited] = useState<Model | 'new'>();
  const [retired, setRetired] = useState<Model>();
  return (
    <Page
      title="Models and prices"
      about={`Prices in force now, in dollars per million tokens. ${hintOf(org !== undefined)}`}
      actions={
        isAdmin && (
          <WriteButton icon="plus" tone="primary" onClick={() => setEdited('new')}>
            Add model
          </WriteButton>
        )
      }
    >
      <div class="stack">
        <Card
          title="Catalog"
          flush
          actions={<Check label="Show retired models" checked={includeRetired} onChange={setIncludeRetired} />}
          foot={query.hasNextPage && <MoreButton query={query} />}
        >
          <Loaded query={query} what="the models">
            {() => <ModelTable models={models} {...(isAdmin ? { onEdit: setEdited, onRetire: setRetired } : {})} />}
          </Loaded>
        </Card>
        {org && <OrgPrices key={org.orgId} org={org} models={models} isAdmin={isAdmin} />}
      </div>
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
    { head: 'Provider', cell: ({ provider }) => provider ?? <span class="muted">–</span> },
    { head: 'Tier', cell: ({ tier }) => tier && <Badge>{tier}</Badge> },
    { head: 'Per 1M input', numeric: true, cell: ({ price }) => usd(price.inputUsdMicrosPer1M) },
    { head: 'Per 1M output', numeric: true, cell: ({ price }) => usd(price.outputUsdMicrosPer1M) },
    { head: 'Further prices', cell: ({ price }) => furtherPrices(price.entries) || <span class="muted">–</span> },
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

const PriceSource = ({ price: { source, fetchedAt, entries } }: { readonly price: Model['price'] }) => (
  <span title={fetchedAt ? `fetched ${fullTime(fetchedAt, 'UTC')}` : undefined}>
    {entries.length === 0 ? 'no price yet' : priceSourceText(source)}
  </span>
);
