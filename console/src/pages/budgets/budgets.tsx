import { useState } from 'preact/hooks';
import { send, useQuery } from '../../data/client.js';
import { BudgetsDocument, type BudgetsQuery, DeleteBudgetDocument } from '../../gql/graphql.js';
import { periodName, scopeText } from '../../lib/budgets.js';
import { shortDay } from '../../lib/days.js';
import { enforcementText } from '../../lib/enforcement.js';
import { usd } from '../../lib/money.js';
import { dateAndTime } from '../../lib/time.js';
import { BudgetMeter, Projected } from '../../parts/budget-meter.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg, useZone } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { BudgetDialog } from './budget-dialog.js';

type OrgBudgets = NonNullable<BudgetsQuery['org']>;
export type BudgetRow = OrgBudgets['budgets'][number];
export type BudgetApps = OrgBudgets['apps']['nodes'];

/** A forecast reads four weeks of totals, and changes slowly. */
const pollMs = 5 * 60_000;

/** The amounts that the org, its apps and its labels may spend per day, week or month. */
export default function Budgets() {
  const { orgId } = useOrg();
  const query = useQuery(BudgetsDocument, { orgId }, { pollMs });
  const [edited, setEdited] = useState<BudgetRow | 'new'>();
  const [deleted, setDeleted] = useState<BudgetRow>();
  return (
    <Page
      title="Budgets"
      about={<ZoneNote />}
      actions={
        <WriteButton icon="plus" tone="primary" onClick={() => setEdited('new')}>
          Set budget
        </WriteButton>
      }
    >
      <Card
        title="Budgets of this org"
        flush
        foot="The daily amount of one label is a quota, which is a setting of the org or app."
      >
        <Loaded query={query} what="the budgets">
          {({ org }) =>
            org && (
              <>
                <BudgetTable budgets={org.budgets} onEdit={setEdited} onDelete={setDeleted} />
                {edited && (
                  <BudgetDialog
                    budget={edited === 'new' ? undefined : edited}
                    apps={org.apps.nodes}
                    onClose={() => setEdited(undefined)}
                  />
                )}
              </>
            )
          }
        </Loaded>
      </Card>
      {deleted && (
        <Confirm
          title={`Delete the budget ${deleted.name}?`}
          submit="Delete"
          done={`${deleted.name} was deleted`}
          onConfirm={() => send(DeleteBudgetDocument, { orgId, name: deleted.name, expectedVersion: deleted.version })}
          onClose={() => setDeleted(undefined)}
        >
          Selections no longer obey it. Its alerts stay.
        </Confirm>
      )}
    </Page>
  );
}

interface BudgetTableProps {
  readonly budgets: readonly BudgetRow[];
  readonly onEdit: (budget: BudgetRow) => void;
  readonly onDelete: (budget: BudgetRow) => void;
}

function BudgetTable({ budgets, onEdit, onDelete }: BudgetTableProps) {
  if (budgets.length === 0)
    return (
      <Empty title="No budgets yet" command={commands.setBudget()}>
        A budget bounds the spend of the org, an app or a label per day, week or month. Set the first one here, or with
        this command:
      </Empty>
    );
  const columns: Column<BudgetRow>[] = [
    { head: 'Budget', isHead: true, cell: ({ name }) => name },
    { head: 'Counts', cell: scopeText },
    { head: 'Period', cell: (budget) => <PeriodCell budget={budget} /> },
    { head: 'Used', cell: (budget) => <BudgetMeter budget={budget} /> },
    { head: 'Spent', numeric: true, cell: ({ spentUsdMicros }) => usd(spentUsdMicros) },
    { head: 'Amount', numeric: true, cell: (budget) => <AmountCell budget={budget} /> },
    {
      head: 'Projected',
      cell: ({ forecast, inForceUsdMicros }) => <Projected forecast={forecast} inForceUsdMicros={inForceUsdMicros} />,
    },
    { head: 'When used up', cell: enforcementText },
    {
      head: '',
      class: 'actions',
      cell: (budget) => (
        <>
          <WriteButton tone="plain small" icon="edit" label={`Change ${budget.name}`} onClick={() => onEdit(budget)} />
          <WriteButton
            tone="plain small"
            icon="trash"
            label={`Delete ${budget.name}`}
            onClick={() => onDelete(budget)}
          />
        </>
      ),
    },
  ];
  return <Table caption="Budgets" columns={columns} rows={budgets} keyOf={({ name }) => name} />;
}

const PeriodCell = ({ budget: { period, periodStart, periodEnd } }: { readonly budget: BudgetRow }) => (
  <span class="nowrap">
    {periodName(period)}{' '}
    <span class="muted">
      {periodStart === periodEnd ? shortDay(periodStart) : `${shortDay(periodStart)} – ${shortDay(periodEnd)}`}
    </span>
  </span>
);

function AmountCell({ budget: { inForceUsdMicros, raise } }: { readonly budget: BudgetRow }) {
  const zone = useZone();
  return (
    <>
      {usd(inForceUsdMicros)}{' '}
      {raise && (
        <span title={`until ${dateAndTime(raise.until, zone)}`}>
          <Badge tone="accent">raised</Badge>
        </span>
      )}
    </>
  );
}
