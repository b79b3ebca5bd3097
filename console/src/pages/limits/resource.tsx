import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useQuery } from '../../data/client.js';
import { type ConfigFragment, ResourceDetailDocument, type ResourceDetailQuery } from '../../gql/graphql.js';
import { limitText } from '../../lib/limits.js';
import { count, percent, short } from '../../lib/numbers.js';
import type { LevelTarget } from '../../parts/limits-dialog.js';
import { TryDialog } from '../../parts/try-dialog.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { entityPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Card, InlineSelect, Meter, Segmented, Stat, Stats, type Tone } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

type Detail = NonNullable<ResourceDetailQuery['org']>;
type Window = 'HOURLY' | 'DAILY' | 'MONTHLY';
type By = 'CONSUMED' | 'REFUSED';

const pollMs = 30_000;
const windows = [
  { value: 'HOURLY', label: 'This hour (UTC)' },
  { value: 'DAILY', label: 'Today (UTC)' },
  { value: 'MONTHLY', label: 'This month (UTC)' },
] as const;
const orders = [
  { value: 'CONSUMED', label: 'Most taken' },
  { value: 'REFUSED', label: 'Most refused' },
] as const;
const counts = ['10', '25', '50'] as const;

interface ResourceProps {
  readonly resource: string;
  readonly config: ConfigFragment;
  readonly onEdit: (target: LevelTarget) => void;
}

/** How much of a resource is in use, and by whom. */
export function ResourceDetail({ resource, config, onEdit }: ResourceProps) {
  const { orgId } = useOrg();
  const names = config.limits.map(({ name }) => name);
  const [chosen, setLimit] = useState(names[0] ?? '');
  // Somebody may have removed the limit meanwhile.
  const limit = names.includes(chosen) ? chosen : (names[0] ?? '');
  const [by, setBy] = useState<By>('CONSUMED');
  const [window, setWindow] = useState<Window>('DAILY');
  const [first, setFirst] = useState<(typeof counts)[number]>('10');
  const [isTrying, setTrying] = useState(false);
  const variables = { orgId, resource, limit, by, window, first: Number(first) };
  const query = useQuery(ResourceDetailDocument, variables, { pollMs, keepPrevious: true });
  return (
    <Card
      title={resource}
      flush
      actions={
        <>
          {names.length > 1 && (
            <Segmented
              label="Limit"
              options={names.map((name) => ({ value: name, label: name }))}
              value={limit}
              onChange={setLimit}
            />
          )}
          <button type="button" class="button small" onClick={() => setTrying(true)}>
            Try an acquire
          </button>
          <WriteButton
            tone="small"
            icon="edit"
            onClick={() => onEdit({ level: 'RESOURCE', resource, config, isFixed: true })}
          >
            Change
          </WriteButton>
        </>
      }
    >
      <Loaded query={query} what={`the use of ${resource}`}>
        {({ org }) =>
          org && (
            <>
              <Use data={org} config={config} limit={limit} />
              <div class="card-body row">
                <h3 class="grow">Entities</h3>
                <InlineSelect label="Window" options={windows} value={window} onChange={setWindow} />
                <Segmented label="Order" options={orders} value={by} onChange={setBy} />
                <InlineSelect
                  label="Number of entities"
                  options={counts.map((value) => ({ value, label: `Top ${value}` }))}
                  value={first}
                  onChange={setFirst}
                />
              </div>
              <EntityTable data={org} resource={resource} limit={limit} />
              <OwnLimits data={org} />
            </>
          )
        }
      </Loaded>
      {isTrying && <TryDialog resource={resource} limits={names} onClose={() => setTrying(false)} />}
    </Card>
  );
}

const toneAt = (pct: number): Tone => (pct >= 100 ? 'bad' : pct >= 80 ? 'warn' : 'ok');

function Use({
  data,
  config,
  limit,
}: {
  readonly data: Detail;
  readonly config: ConfigFragment;
  readonly limit: string;
}) {
  const { totalCapacity, totalAvailable, utilizationPct, entities } = data.resourceCapacity;
  const shape = config.limits.find(({ name }) => name === limit);
  return (
    <div class="card-body">
      <Stats>
        <Stat
          label={`Each entity may take of ${limit}`}
          value={<span class="stat-text">{shape && limitText(shape)}</span>}
        />
        <Stat
          label="In use now, all entities"
          value={
            <Meter
              label={`${limit} in use`}
              pct={utilizationPct}
              tone={toneAt(utilizationPct)}
              text={percent(utilizationPct)}
            />
          }
          note={`${short(totalAvailable)} of ${short(totalCapacity)} tokens available`}
        />
        <Stat label="Entities with a bucket" value={count(entities.length)} note="that took tokens lately" />
      </Stats>
    </div>
  );
}

type Row = Detail['topEntities']['entities'][number];

function EntityTable({
  data,
  resource,
  limit,
}: {
  readonly data: Detail;
  readonly resource: string;
  readonly limit: string;
}) {
  const { orgId } = useOrg();
  const { entities, truncated } = data.topEntities;
  const now = new Map(data.resourceCapacity.entities.map((entity) => [entity.entityId, entity]));
  if (entities.length === 0)
    return (
      <Empty title="No entity took or was refused tokens in this window" command={commands.acquire(resource, limit)}>
        Entities appear here with their first acquire:
      </Empty>
    );
  const columns: Column<Row>[] = [
    {
      head: 'Entity',
      isHead: true,
      cell: ({ entityId }) => <Link href={entityPath(orgId, entityId)}>{entityId}</Link>,
    },
    {
      head: 'In use now',
      cell: ({ entityId }) => {
        const pct = now.get(entityId)?.utilizationPct ?? 0;
        return <Meter label={`${entityId} in use`} pct={pct} tone={toneAt(pct)} text={percent(pct)} />;
      },
    },
    { head: 'Available', numeric: true, cell: ({ entityId }) => availableText(now.get(entityId)) },
    { head: 'Taken', numeric: true, cell: ({ consumed }) => <span title={count(consumed)}>{short(consumed)}</span> },
    { head: 'Refused', numeric: true, cell: ({ refused }) => count(refused) },
  ];
  return (
    <>
      <Table caption={`Entities of ${resource}`} columns={columns} rows={entities} keyOf={({ entityId }) => entityId} />
      {truncated && <p class="card-foot">More than 10,000 items were not read, so some entities may be missing.</p>}
    </>
  );
}

const availableText = (entity: { readonly available: number; readonly capacity: number } | undefined): string =>
  entity ? `${short(entity.available)} of ${short(entity.capacity)}` : 'full';

function OwnLimits({ data }: { readonly data: Detail }) {
  const { orgId } = useOrg();
  const { nodes, pageInfo } = data.entitiesWithLimits;
  if (nodes.length === 0) return null;
  return (
    <p class="card-foot">
      Entities with limits of their own:{' '}
      {nodes.map(({ entityId }, i) => (
        <span key={entityId}>
          {i > 0 && ', '}
          <Link href={entityPath(orgId, entityId)}>{entityId}</Link>
        </span>
      ))}
      {pageInfo.hasNextPage && ' and more'}
    </p>
  );
}
