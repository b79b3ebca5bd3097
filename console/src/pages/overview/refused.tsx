import { Link } from 'wouter-preact';
import type { RefusedFragment } from '../../gql/graphql.js';
import { count } from '../../lib/numbers.js';
import { useOrg } from '../../shell/context.js';
import { entityPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Card, InlineSelect } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { type Detail, maxPairs, type Pair, pairName } from './detail.js';

const maxRows = 6;

/** The entities that limits refused most today. The gateway counts usage in days of UTC. */
export function MostRefused({ detail }: { readonly detail: Detail }) {
  const { pairs, shown, chosen, setChosen } = detail;
  const all = pairs.length > maxPairs ? `First ${maxPairs} limits` : 'All limits';
  return (
    <Card
      title="Most refused today (UTC)"
      flush
      actions={
        pairs.length > 1 && (
          <InlineSelect
            label="Limit"
            options={[{ value: '', label: all }, ...pairs.map(pairName).map((name) => ({ value: name, label: name }))]}
            value={chosen}
            onChange={setChosen}
          />
        )
      }
    >
      {shown.length > 0 ? (
        <Refused detail={detail} />
      ) : (
        <Empty title="No limits yet" command={commands.setLimits()}>
          A limit bounds what each entity takes of a resource. Set the first one:
        </Empty>
      )}
    </Card>
  );
}

const Refused = ({ detail: { query, shown } }: { readonly detail: Detail }) => (
  <Loaded query={query} what="the most refused entities">
    {({ org }) => {
      const parts = (org ?? {}) as Readonly<Record<string, unknown>>;
      const rows = shown
        .flatMap((pair, i) =>
          ((parts[`t${i}`] as RefusedFragment | undefined)?.entities ?? []).map((entity) => ({
            ...entity,
            name: pairName(pair),
          })),
        )
        .filter(({ refused }) => refused > 0)
        .sort((a, b) => b.refused - a.refused)
        .slice(0, maxRows);
      return rows.length > 0 ? <Rows rows={rows} /> : <Nobody pair={shown[0]} />;
    }}
  </Loaded>
);

interface RefusedRow {
  readonly entityId: string;
  readonly name: string;
  readonly refused: number;
}

function Rows({ rows }: { readonly rows: readonly RefusedRow[] }) {
  const { orgId } = useOrg();
  return (
    <Table
      caption="Entities that limits refused most today"
      columns={[
        {
          head: 'Entity',
          isHead: true,
          cell: ({ entityId }) => <Link href={entityPath(orgId, entityId)}>{entityId}</Link>,
        },
        { head: 'Limit', cell: ({ name }) => <span class="muted">{name}</span> },
        { head: 'Refused', numeric: true, cell: ({ refused }) => count(refused) },
      ]}
      rows={rows}
      keyOf={({ entityId, name }) => `${entityId} ${name}`}
    />
  );
}

const Nobody = ({ pair }: { readonly pair: Pair | undefined }) => (
  <Empty title="Nobody was refused today" command={pair && commands.acquire(pair.resource, pair.limit)}>
    Refusals appear here within two minutes. Take a token to try it:
  </Empty>
);
