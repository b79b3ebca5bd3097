import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useQuery } from '../../data/client.js';
import { MostRefusedDocument, type MostRefusedQueryVariables, type RefusedFragment } from '../../gql/graphql.js';
import { commands } from '../../lib/commands.js';
import { count } from '../../lib/numbers.js';
import { useOrg } from '../../shell/context.js';
import { entityPath } from '../../shell/routes.js';
import { Card, InlineSelect } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { OrgOverview } from './quotas.js';

const refusedPollMs = 60_000;
const maxRows = 6;
/** As many as the document asks for at once. */
const maxPairs = 6;

interface Pair {
  readonly resource: string;
  readonly limit: string;
}

const nameOf = ({ resource, limit }: Pair): string => `${resource} · ${limit}`;

/** The entities that limits refused most today. The gateway counts usage in days of UTC. */
export function MostRefused({ configs }: { readonly configs: OrgOverview['limitConfigs'] }) {
  const pairs = configs.flatMap(({ resource, limits }) =>
    resource === null ? [] : limits.map(({ name }) => ({ resource, limit: name })),
  );
  const [chosen, setChosen] = useState('');
  const shown = pairs.filter((pair) => chosen === '' || nameOf(pair) === chosen).slice(0, maxPairs);
  const all = pairs.length > maxPairs ? `First ${maxPairs} limits` : 'All limits';
  return (
    <Card
      title="Most refused today (UTC)"
      flush
      actions={
        pairs.length > 1 && (
          <InlineSelect
            label="Limit"
            options={[{ value: '', label: all }, ...pairs.map(nameOf).map((name) => ({ value: name, label: name }))]}
            value={chosen}
            onChange={setChosen}
          />
        )
      }
    >
      {shown.length > 0 ? (
        <RefusedTable pairs={shown} />
      ) : (
        <Empty title="No limits yet" command={commands.setLimits()}>
          A limit bounds what each entity takes of a resource. Set the first one:
        </Empty>
      )}
    </Card>
  );
}

/** The variables that switch one part of the document on per pair. */
const variablesOf = (orgId: string, pairs: readonly Pair[]): MostRefusedQueryVariables => ({
  orgId,
  ...Object.fromEntries(
    pairs.flatMap(({ resource, limit }, i) => [
      [`r${i}`, resource],
      [`l${i}`, limit],
      [`on${i}`, true],
    ]),
  ),
});

function RefusedTable({ pairs }: { readonly pairs: readonly Pair[] }) {
  const { orgId } = useOrg();
  const variables = variablesOf(orgId, pairs);
  const query = useQuery(MostRefusedDocument, variables, { pollMs: refusedPollMs, keepPrevious: true });
  return (
    <Loaded query={query} what="the most refused entities">
      {({ org }) => {
        const parts = (org ?? {}) as Readonly<Record<string, RefusedFragment | undefined>>;
        const rows = pairs
          .flatMap((pair, i) => (parts[`t${i}`]?.entities ?? []).map((entity) => ({ ...entity, name: nameOf(pair) })))
          .filter(({ refused }) => refused > 0)
          .sort((a, b) => b.refused - a.refused)
          .slice(0, maxRows);
        return rows.length > 0 ? <Rows rows={rows} /> : <Nobody pair={pairs[0]} />;
      }}
    </Loaded>
  );
}

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
    Refusals appear here within 10 seconds. Take a token to try it:
  </Empty>
);
