import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { usePages } from '../../data/client.js';
import { AuditDocument, type AuditLineFragment } from '../../gql/graphql.js';
import { dateAndTime, fullTime } from '../../lib/time.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Icon } from '../../ui/icon.js';
import { Card } from '../../ui/parts.js';
import { Empty, type Loadable, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';

type Event = AuditLineFragment;

/** A name with its UUIDs cut to their first part. The whole name is shown on hover. */
const shortIds = (name: string): string =>
  name.replaceAll(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1…');

interface AuditViewProps {
  readonly about: ComponentChildren;
  readonly zone: string;
  readonly query: Loadable<unknown> & Parameters<typeof MoreButton>[0]['query'];
  readonly events: readonly AuditLineFragment[];
}

/** The object that events must be about; it is in the address. */
export function useObject(): readonly [object: string, setObject: (object: string) => void] {
  const [search, setSearch] = useSearchParams();
  return [search.get('object') ?? '', (object) => setSearch(object ? { object } : {})];
}

/** A list of audit events, of an org or of the platform. */
export function AuditView({ about, zone, query, events }: AuditViewProps) {
  const [object, setObject] = useObject();
  return (
    <Page title="Audit" about={about}>
      <Card
        title={object ? `Events about ${object}` : 'All events'}
        flush
        actions={<ObjectFilter key={object} object={object} onObject={setObject} />}
        foot={query.hasNextPage && <MoreButton query={query} />}
      >
        <Loaded query={query} what="the audit trail">
          {() => <Events events={events} zone={zone} onObject={setObject} />}
        </Loaded>
      </Card>
    </Page>
  );
}

/** Who did what to what in an org, when and from where. */
export default function Audit() {
  const { orgId, timezone } = useOrg();
  const [object] = useObject();
  const variables = { orgId, entityId: object || null };
  const query = usePages(AuditDocument, variables, ({ org }) => org?.auditEvents.pageInfo);
  const events = query.data?.pages.flatMap(({ org }) => org?.auditEvents.nodes ?? []) ?? [];
  return <AuditView about={<ZoneNote />} zone={timezone} query={query} events={events} />;
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
  readonly zone: string;
  readonly onObject: (object: string) => void;
}

function Events({ events, zone, onObject }: EventsProps) {
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
    { head: 'What', isHead: true, class: 'nowrap', cell: ({ action }) => action.replaceAll('_', ' ') },
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
