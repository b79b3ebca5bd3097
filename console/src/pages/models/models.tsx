import { useQuery } from '../../data/client.js';
import { ModelsDocument, type ModelsQuery } from '../../gql/graphql.js';
import { usd } from '../../lib/money.js';
import { fullTime } from '../../lib/time.js';
import { Page } from '../../shell/page.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

type Model = ModelsQuery['models'][number];

const sources: Readonly<Record<string, string>> = {
  PRICING_CACHE: 'price list',
  CONFIG_DEFAULT: 'default of the configuration',
};

/** The models of the platform, with the prices that are in force. */
export default function Models() {
  const query = useQuery(ModelsDocument, {});
  return (
    <Page title="Models and prices" about="Prices in force today (UTC)">
      <Card title="Models" flush foot="Labels and default prices are in config.yaml of the platform.">
        <Loaded query={query} what="the models">
          {({ models }) =>
            models.length > 0 ? (
              <ModelTable models={models} />
            ) : (
              <Empty title="No models">Add labels to config.yaml, then restart the gateways.</Empty>
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

function ModelTable({ models }: { readonly models: readonly Model[] }) {
  const columns: Column<Model>[] = [
    {
      head: 'Label',
      isHead: true,
      cell: ({ label, description }) => <span title={description ?? undefined}>{label}</span>,
    },
    { head: 'Model', cell: ({ bedrockModelId }) => <code>{bedrockModelId}</code> },
    { head: 'Tier', cell: ({ tier }) => tier && <Badge>{tier}</Badge> },
    { head: 'Family', cell: ({ family }) => family },
    { head: 'Per 1M input tokens', numeric: true, cell: ({ price }) => usd(price.inputUsdMicrosPer1M) },
    { head: 'Per 1M output tokens', numeric: true, cell: ({ price }) => usd(price.outputUsdMicrosPer1M) },
    {
      head: 'Price from',
      cell: ({ price: { source, fetchedAt } }) => (
        <span title={fetchedAt ? `fetched ${fullTime(fetchedAt, 'UTC')}` : undefined}>{sources[source] ?? source}</span>
      ),
    },
  ];
  return <Table caption="Models and their prices" columns={columns} rows={models} keyOf={({ label }) => label} />;
}
