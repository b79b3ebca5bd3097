import { useState } from 'preact/hooks';
import { Link, useLocation, useParams } from 'wouter-preact';
import { send, useQuery } from '../../data/client.js';
import { DeleteEntityDocument, EntityPageDocument, type EntityPageQuery } from '../../gql/graphql.js';
import { limitText } from '../../lib/limits.js';
import { count, percent, short } from '../../lib/numbers.js';
import { Confirm } from '../../parts/confirm.js';
import { type LevelTarget, LimitsDialog } from '../../parts/limits-dialog.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { entityPath, orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Ago } from '../../ui/fresh.js';
import { Badge, Card, Meter, Segmented, type Tone } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { EntityDialog } from './entity-dialog.js';
import { EntityUse } from './entity-use.js';
import { TopUpDialog, type TopUpTarget } from './top-up.js';

type EntityOrg = NonNullable<EntityPageQuery['org']>;
export type EntityData = NonNullable<EntityOrg['entity']>;
type Bucket = EntityData['buckets'][number];

type Open = 'edit' | 'delete' | LevelTarget | TopUpTarget | undefined;

const pollMs = 15_000;

/** One entity: its tokens now, its usage, its place in the tree and the limits that apply to it. */
export default function EntityPage() {
  const { orgId } = useOrg();
  const params = useParams<{ entityId: string }>();
  const entityId = decodeURIComponent(params.entityId ?? '');
  const query = useQuery(EntityPageDocument, { orgId, entityId }, { pollMs });
  const [open, setOpen] = useState<Open>();
  const entity = query.data?.org?.entity;
  return (
    <Page
      title={entity?.name ?? entityId}
      about={<ZoneNote />}
      crumbs={<Link href={orgPath(orgId, '/limits')}>Limits</Link>}
      actions={entity && <Actions entity={entity} onOpen={setOpen} />}
    >
      <Loaded query={query} what="the entity">
        {({ org }) => org && <Content key={entityId} org={org} entityId={entityId} onOpen={setOpen} />}
      </Loaded>
      <Dialogs entityId={entityId} entity={entity} open={open} onClose={() => setOpen(undefined)} />
    </Page>
  );
}

const Actions = ({ entity, onOpen }: { readonly entity: EntityData; readonly onOpen: (open: Open) => void }) => (
  <>
    {entity.createdAt && (
      <WriteButton icon="edit" onClick={() => onOpen('edit')}>
        Change
      </WriteButton>
    )}
    <WriteButton icon="trash" tone="danger" onClick={() => onOpen('delete')}>
      Delete
    </WriteButton>
  </>
);

interface DialogsProps {
  readonly entityId: string;
  readonly entity: EntityData | null | undefined;
  readonly open: Open;
  readonly onClose: () => void;
}

function Dialogs({ entityId, entity, open, onClose }: DialogsProps) {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  if (open === 'edit' && entity) return <EntityDialog entity={entity} onClose={onClose} />;
  if (open === 'delete')
    return (
      <Confirm
        title={`Delete ${entityId}?`}
        submit="Delete"
        done={`${entityId} was deleted`}
        onConfirm={async () => {
          await send(DeleteEntityDocument, { orgId, entityId });
          navigate(orgPath(orgId, '/limits'));
        }}
        onClose={onClose}
      >
        Its limits and tokens are deleted. Its usage stays on record until it expires.
      </Confirm>
    );
  if (typeof open !== 'object') return null;
  if ('level' in open) return <LimitsDialog target={open} onClose={onClose} />;
  return <TopUpDialog target={open} onClose={onClose} />;
}

interface ContentProps {
  readonly org: EntityOrg;
  readonly entityId: string;
  readonly onOpen: (open: Open) => void;
}

function Content({ org, entityId, onOpen }: ContentProps) {
  const { entity, entityDefault, limitConfigs } = org;
  const resources = [
    ...new Set([
      ...(entity?.buckets ?? []).map(({ resource }) => resource),
      ...limitConfigs.flatMap(({ resource }) => resource ?? []),
    ]),
  ];
  const [chosen, setChosen] = useState(resources[0] ?? '');
  if (!entity)
    return (
      <Card title="Nothing is known of this entity" flush>
        <Empty title={entityId} command={commands.acquire(resources[0] ?? 'gpt-4', 'rpm')}>
          It was never created, took no tokens and has no limits of its own. It may acquire all the same:
        </Empty>
      </Card>
    );
  const target: LevelTarget = {
    level: 'ENTITY_DEFAULT',
    entityId,
    isFixed: true,
    ...(entityDefault ? { config: entityDefault } : {}),
  };
  return (
    <div class="columns">
      <div class="stack">
        <Tokens entity={entity} onOpen={onOpen} />
        {resources.length > 0 && (
          <EntityUse
            entityId={entityId}
            resource={resources.includes(chosen) ? chosen : (resources[0] ?? '')}
            picker={
              <Segmented
                label="Resource"
                options={resources.slice(0, 6).map((value) => ({ value, label: value }))}
                value={chosen}
                onChange={setChosen}
              />
            }
            onOpen={onOpen}
          />
        )}
      </div>
      <div class="stack">
        <About entity={entity} />
        <Card
          title="Limits for all resources"
          actions={
            <WriteButton tone="small" icon="edit" onClick={() => onOpen(target)}>
              {entityDefault ? 'Change' : 'Set'}
            </WriteButton>
          }
        >
          <p class="small muted">
            {entityDefault
              ? entityDefault.limits.map((limit) => `${limit.name}: ${limitText(limit)}`).join('; ')
              : 'None of its own. The limits of the resource or the system apply.'}
          </p>
        </Card>
        <Children entity={entity} />
      </div>
    </div>
  );
}

interface TokenRow {
  readonly bucket: Bucket;
  readonly limit: Bucket['limits'][number];
}

const toneOf = (used: number): Tone => (used > 100 ? 'bad' : used >= 80 ? 'warn' : 'ok');

/** A meter per limit: what is taken of the burst, and the debt if there is one. */
function Tokens({ entity, onOpen }: { readonly entity: EntityData; readonly onOpen: (open: Open) => void }) {
  const rows = entity.buckets.flatMap((bucket) => bucket.limits.map((limit) => ({ bucket, limit })));
  if (rows.length === 0)
    return (
      <Card title="Tokens now" flush>
        <Empty title="Nothing was taken lately">All its limits are full.</Empty>
      </Card>
    );
  const columns: Column<TokenRow>[] = [
    { head: 'Resource', isHead: true, cell: ({ bucket }) => bucket.resource },
    { head: 'Limit', cell: ({ limit: { limit } }) => <span title={limitText(limit)}>{limit.name}</span> },
    {
      head: 'Taken of its burst',
      cell: ({ limit, bucket }) => <LimitMeter limit={limit} resource={bucket.resource} />,
    },
    { head: 'Available', numeric: true, cell: ({ limit }) => <Available limit={limit} /> },
    {
      head: 'Taken in all',
      numeric: true,
      cell: ({ limit }) => <span title={count(limit.totalConsumed)}>{short(limit.totalConsumed)}</span>,
    },
    {
      head: '',
      class: 'actions',
      cell: ({ bucket, limit: { limit } }) =>
        limit.kind === 'RATE' && (
          <WriteButton
            tone="small"
            label={`Top up ${limit.name} of ${bucket.resource}`}
            onClick={() => onOpen({ entityId: entity.entityId, resource: bucket.resource, limit: limit.name })}
          >
            Top up
          </WriteButton>
        ),
    },
  ];
  return (
    <Card title="Tokens now" flush>
      <Table
        caption="Tokens of each limit"
        columns={columns}
        rows={rows}
        keyOf={({ bucket, limit }) => `${bucket.resource} ${limit.limit.name}`}
      />
    </Card>
  );
}

function LimitMeter({
  limit: { limit, available },
  resource,
}: {
  readonly limit: TokenRow['limit'];
  readonly resource: string;
}) {
  const used = ((limit.burst - available) / limit.burst) * 100;
  return (
    <Meter
      label={`${limit.name} of ${resource} taken`}
      pct={used}
      tone={toneOf(used)}
      text={percent(Math.max(0, used))}
    />
  );
}

const Available = ({ limit: { limit, available } }: { readonly limit: TokenRow['limit'] }) =>
  available < 0 ? (
    <Badge tone="bad" icon="warning">
      {count(-available)} in debt
    </Badge>
  ) : (
    <span title={`${count(available)} of ${count(limit.burst)}`}>
      {short(available)} of {short(limit.burst)}
    </span>
  );

function About({ entity }: { readonly entity: EntityData }) {
  const { orgId } = useOrg();
  const { parent, cascade, createdAt, deletedAt, metadata } = entity;
  return (
    <Card title="About">
      <dl class="pairs">
        <dt>Id</dt>
        <dd>
          <code>{entity.entityId}</code>
        </dd>
        <dt>Parent</dt>
        <dd>
          {parent ? <Link href={entityPath(orgId, parent.entityId)}>{parent.name ?? parent.entityId}</Link> : 'none'}
        </dd>
        <dt>Cascade</dt>
        <dd>{cascade ? 'each acquire also takes from the parent' : 'no'}</dd>
        <dt>Created</dt>
        <dd>{createdAt ? <Ago at={createdAt} /> : 'never; it has only limits or usage'}</dd>
        {deletedAt && (
          <div class="pair">
            <dt>Deleted</dt>
            <dd>
              <Ago at={deletedAt} />
            </dd>
          </div>
        )}
        {metadata.map(({ name, value }) => (
          <div key={name} class="pair">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Children({ entity: { children } }: { readonly entity: EntityData }) {
  const { orgId } = useOrg();
  if (children.nodes.length === 0) return null;
  return (
    <Card title="Children" flush foot={children.pageInfo.hasNextPage && 'Only the first 20 are listed.'}>
      <ul class="list">
        {children.nodes.map(({ entityId, name, cascade }) => (
          <li key={entityId}>
            <span class="grow">
              <Link href={entityPath(orgId, entityId)}>{entityId}</Link> {name && <span class="muted">{name}</span>}
            </span>
            {cascade && <Badge>cascades</Badge>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
