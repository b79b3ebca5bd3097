import { Link } from 'wouter-preact';
import type { OverviewQuery } from '../../gql/graphql.js';
import { usd, usdExact } from '../../lib/money.js';
import { percent } from '../../lib/numbers.js';
import { useOrg } from '../../shell/context.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { AsOf, isStale, oldest } from '../../ui/fresh.js';
import { Card, Meter, ModeBadge, toneOf } from '../../ui/parts.js';
import { Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { InUse } from '../apps/in-use.js';

export type OrgOverview = NonNullable<OverviewQuery['org']>;
type App = OrgOverview['apps']['nodes'][number];
type Label = App['spend']['labels'][number];

/** The share of a quota that is used, with the amounts on hover. */
export function QuotaMeter({ label, name }: { readonly label: Label | undefined; readonly name: string }) {
  if (!label) return <span class="muted">–</span>;
  const { costUsdMicros, quotaUsdMicros, quotaPct, mode } = label;
  if (quotaUsdMicros === null || quotaPct === null) return <span>{usd(costUsdMicros)}</span>;
  const amounts = `${usdExact(costUsdMicros)} of ${usdExact(quotaUsdMicros)}`;
  return (
    <span title={amounts}>
      <Meter label={`${name}: ${amounts}`} pct={quotaPct} tone={toneOf(mode)} text={percent(quotaPct)} />
    </span>
  );
}

/** Today against the quotas: a row per label if the org shares them, else a row per app. */
export function Quotas({ data }: { readonly data: OrgOverview }) {
  const { quotaScope } = useOrg();
  const asOf = oldest(data.spend.labels.map((label) => label.asOf));
  const isShared = quotaScope === 'ORG';
  return (
    <Card title="Today against quota" flush foot={<AsOf at={asOf} />}>
      <div class={isStale(asOf) ? 'stale' : ''}>
        {isShared && <SharedQuotas labels={data.spend.labels} />}
        {data.apps.nodes.length > 0 ? <Apps data={data} isShared={isShared} /> : <NoApps />}
      </div>
      {data.apps.pageInfo.hasNextPage && <p class="card-foot">Only the first 20 apps are listed.</p>}
    </Card>
  );
}

const NoApps = () => (
  <Empty title="No apps yet" command={commands.registerApp()}>
    An app is a program that calls models and reports their costs. Register the first one:
  </Empty>
);

function SharedQuotas({ labels }: { readonly labels: OrgOverview['spend']['labels'] }) {
  const columns: Column<OrgOverview['spend']['labels'][number]>[] = [
    { head: 'Label', cell: ({ label }) => label, isHead: true },
    { head: 'State', cell: ({ mode }) => <ModeBadge mode={mode} /> },
    { head: 'Used', cell: (label) => <QuotaMeter label={label} name={label.label} /> },
    { head: 'Spent', numeric: true, cell: ({ costUsdMicros }) => usd(costUsdMicros) },
    {
      head: 'Quota',
      numeric: true,
      cell: ({ quotaUsdMicros }) => (quotaUsdMicros === null ? 'none' : usd(quotaUsdMicros)),
    },
  ];
  return <Table caption="Quotas of the org today" columns={columns} rows={labels} keyOf={({ label }) => label} />;
}

function Apps({ data, isShared }: { readonly data: OrgOverview; readonly isShared: boolean }) {
  const { orgId } = useOrg();
  const { nodes } = data.apps;
  const byApp = new Map(data.spendBreakdown?.rows.map(({ name, costUsdMicros }) => [name, costUsdMicros]));
  const labels = [...new Set(nodes.flatMap(({ spend }) => spend.labels.map(({ label }) => label)))];
  const costOf = ({ appId, spend }: App) => (isShared ? byApp.get(appId) : spend.costUsdMicros);
  const columns: Column<App>[] = [
    {
      head: 'App',
      isHead: true,
      cell: ({ appId, name }) => <Link href={orgPath(orgId, `/apps/${appId}`)}>{name}</Link>,
    },
    { head: 'In use', cell: (app) => <InUse app={app} /> },
    ...(isShared ? [] : labels.map(labelColumn)),
    {
      head: 'Spent',
      numeric: true,
      cell: (app) => {
        const cost = costOf(app);
        return cost === undefined ? <span class="muted">shared</span> : usd(cost);
      },
    },
  ];
  return <Table caption="Apps today" columns={columns} rows={nodes} keyOf={({ appId }) => appId} />;
}

const labelColumn = (label: string): Column<App> => ({
  head: label,
  cell: ({ name, spend }) => (
    <QuotaMeter label={spend.labels.find((each) => each.label === label)} name={`${name}, ${label}`} />
  ),
});
