import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { usePages } from '../../data/client.js';
import { AuditDocument, type AuditQuery } from '../../gql/graphql.js';
import { commands } from '../../lib/commands.js';
import { dateAndTime, fullTime } from '../../lib/time.js';
import { useOrg, useZone } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { Icon } from '../../ui/icon.js';
import { Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';

type Event = NonNullable<AuditQuery['org']>['auditEvents']['nodes'][number];

/** A name with its UUIDs cut to their first part. The whole name is shown on hover. */
const shortIds = (name: string): string =>
  name.replaceAll(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1…');

/** Who did what to what, when and from where. */
export default function Audit() {
  const { orgId } = useOrg();
  const [search, setSearch] = useSearchParams();
  const entityId = search.get('object') ?? '';
  const query = usePages(AuditDocument, { orgId, entityId: entityId || null }, ({ org }) => org?.auditEvents.pageInfo);
  return (
    <Page title="Audit" about={<ZoneNote />}>
      <Card
        title={entityId ? `Events about ${entityId}` : 'All events'}
        flush
        actions={
          <ObjectFilter key={entityId} object={entityId} onObject={(object) => setSearch(object ? { object } : {})} />
        }
        foot={query.hasNextPage && <MoreButton query={query} />}
      >
        <Loaded query={query} what="the audit trail">
          {({ pages }) => (
            <Events
              events={pages.flatMap(({ org }) => org?.auditEvents.nodes ?? [])}
              onObject={(object) => setSearch({ object })}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function ObjectFilter({ object, onObject }: { readonly object: string; readonly onObject: (object: string) => void }) {
  const [text, setText] = useState(object);
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        onObject(text.trim());
      }}
    >
      <input
        type="search"
        class="input inline-select"
        aria-label="Only events about this object, such as $ORG or $APP:chat"
        placeholder="Object, such as $APP:chat"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button small">
        <Icon name="search" />
        Show
      </button>
      {object && (
        <button type="button" class="button small" onClick={() => onObject('')}>
          All events
        </button>
      )}
    </form>
  );
}

interface EventsProps {
  readonly events: readonly Event[];
  readonly onObject: (object: string) => void;
}

function Events({ events, onObject }: EventsProps) {
  const zone = useZone();
  if (events.length === 0)
    return (
      <Empty title="No events" command={commands.setLimits()}>
        Every change of settings, limits and credentials is an event. Change something:
      </Empty>
    );
  const columns: Column<Event>[] = [
    {
      head: 'When',
      class: 'nowrap',
      cell: ({ at }) => (
        <time dateTime={at} title={fullTime(at, zone)}>
          {dateAndTime(at, zone)}
        </time>
      ),
    },
    { head: 'Who', cell: ({ actor }) => <code title={actor}>{shortIds(actor)}</code> },
    { head: 'What', isHead: true, cell: ({ action }) => action.replaceAll('_', ' ') },
    {
      head: 'To what',
      cell: ({ entityId, resource }) => (
        <>
          <button type="button" class="link" onClick={() => onObject(entityId)}>
            <span title={entityId}>{shortIds(entityId)}</span>
          </button>
          {resource && <span class="muted"> {resource}</span>}
        </>
      ),
    },
    { head: 'Details', cell: (event) => <Details event={event} /> },
    {
      head: 'From',
      cell: ({ address, requestId }) => (
        <span title={requestId ? `Request ${requestId}` : undefined}>{address ?? '–'}</span>
      ),
    },
  ];
  return <Table caption="Audit events" columns={columns} rows={events} keyOf={({ id }) => id} />;
}

const Details = ({ event: { details } }: { readonly event: Event }) => (
  <ul class="details">
    {details.map(({ name, value, previousValue }) => (
      <li key={name}>
        <span class="muted">{name}</span>{' '}
        {previousValue !== null && (
          <>
            <del>{previousValue}</del> <Icon name="right" class="inline" /> <span class="hidden-text">changed to </span>
          </>
        )}
        {value}
      </li>
    ))}
  </ul>
);
