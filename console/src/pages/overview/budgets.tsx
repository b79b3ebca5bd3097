import { Link } from 'wouter-preact';
import { periodName, scopeText } from '../../lib/budgets.js';
import { usd } from '../../lib/money.js';
import { BudgetMeter, Projected } from '../../parts/budget-meter.js';
import { useOrg } from '../../shell/context.js';
import { orgPath } from '../../shell/routes.js';
import { Card } from '../../ui/parts.js';
import { type Column, Table } from '../../ui/table.js';
import type { Detail } from './detail.js';
import type { OrgOverview } from './quotas.js';

type Budget = OrgOverview['budgets'][number];

/** What is spent of each budget, and what its period is expected to cost. */
export function BudgetCard({ budgets, detail }: { readonly budgets: readonly Budget[]; readonly detail: Detail }) {
  const { orgId } = useOrg();
  if (budgets.length === 0) return null;
  const forecasts = new Map(detail.query.data?.org?.budgets?.map(({ name, forecast }) => [name, forecast]));
  const columns: Column<Budget>[] = [
    { head: 'Budget', isHead: true, cell: ({ name }) => <Link href={orgPath(orgId, '/budgets')}>{name}</Link> },
    { head: 'Counts', cell: scopeText },
    { head: 'Per', cell: ({ period }) => periodName(period) },
    { head: 'Used', cell: (budget) => <BudgetMeter budget={budget} /> },
    { head: 'Amount', numeric: true, cell: ({ inForceUsdMicros }) => usd(inForceUsdMicros) },
  ];
  const projected: Column<Budget> = {
    head: 'Projected',
    cell: ({ name, inForceUsdMicros }) => (
      <Projected forecast={forecasts.get(name)} inForceUsdMicros={inForceUsdMicros} />
    ),
  };
  return (
    <Card title="Budgets" flush>
      <Table
        caption="Budgets and what is spent of them"
        columns={forecasts.size > 0 ? [...columns, projected] : columns}
        rows={budgets}
        keyOf={({ name }) => name}
      />
    </Card>
  );
}
