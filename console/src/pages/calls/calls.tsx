import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { usePages, useQuery } from '../../data/client.js';
import { CallAppsDocument, type CallLineFragment, CallsDocument } from '../../gql/graphql.js';
import { usd, usdExact } from '../../lib/money.js';
import { count } from '../../lib/numbers.js';
import { type DayRange, maxCallDays, rangeOf, rangeText } from '../../lib/range.js';
import { dateAndTime, fullTime } from '../../lib/time.js';
import { useOrg, useZone } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Badge, Card, InlineSelect } from '../../ui/parts.js';
import { RangePicker } from '../../ui/range-picker.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { CallDialog, type CallRef } from './call-dialog.js';
import { LedgerOff, Lookup } from './lookup.js';

const defaultDays = 7;

/** The choices of the page, which are in its address. */
function useChoices() {
  const { day: today } = useOrg();
  const [search, setSearch] = useSearchParams();
  const set = (changes: Readonly<Record<string, string>>) =>
    setSearch((old) => ({ ...Object.fromEntries(old), ...changes }), { replace: true });
  const range = rangeOf(search, today, defaultDays, maxCallDays);
  return { range, app: search.get('app') ?? '', label: search.get('label') ?? '', set };
}

/** The single calls of the org, newest first, and any of them by its request id. */
export default function Calls() {
  const { orgId, day, ledger } = useOrg();
  const { range, app, label, set } = useChoices();
  const [open, setOpen] = useState<CallRef>();
  const apps = useQuery(CallAppsDocument, { orgId }).data?.org?.apps.nodes ?? [];
  const setRange = ({ from, to }: DayRange) => set({ from, to, days: '' });
  return (
    <Page
      title="Calls"
      about={<ZoneNote />}
      actions={ledger && <RangePicker range={range} today={day} onChange={setRange} maxDays={maxCallDays} />}
    >
      <div class="stack">
        <Lookup apps={apps} onOpen={setOpen} />
        {ledger ? (
          <Ledger range={range} app={app} label={label} apps={apps} set={set} onOpen={setOpen} />
        ) : (
          <LedgerOff />
        )}
      </div>
      {open && <CallDialog call={open} onClose={() => setOpen(undefined)} />}
    </Page>
  );
}

interface LedgerProps {
  readonly range: DayRange;
  readonly app: string;
  readonly label: string;
  readonly apps: readonly { readonly appId: string; readonly name: string }[];
  readonly set: (changes: Readonly<Record<string, string>>) => void;
  readonly onOpen: (call: CallRef) => void;
}

function Ledger({ range, app, label, apps, set, onOpen }: LedgerProps) {
  const { orgId, modelOrdering } = useOrg();
  const variables = { orgId, ...range, appId: app || null, label: label || null };
  const query = usePages(CallsDocument, variables, ({ org }) => org?.costs.pageInfo);
  const all = (text: string) => ({ value: '', label: text });
  const labels = [...new Set([...modelOrdering, ...(label ? [label] : [])])];
  return (
    <Card
      title={`Recorded calls, ${rangeText(range)}`}
      flush
      actions={
        <>
          <InlineSelect
            label="App"
            options={[all('All apps'), ...apps.map(({ appId, name }) => ({ value: appId, label: name }))]}
            value={app}
            onChange={(value) => set({ app: value })}
          />
          <InlineSelect
            label="Label"
            options={[all('All labels'), ...labels.map((value) => ({ value, label: value }))]}
            value={label}
            onChange={(value) => set({ label: value })}
          />
        </>
      }
      foot={query.hasNextPage && <MoreButton query={query} />}
    >
      <Loaded query={query} what="the calls">
        {({ pages }) => (
          <CallTable
            calls={pages.flatMap(({ org }) => org?.costs.nodes ?? [])}
            isFiltered={app !== '' || label !== ''}
            onOpen={onOpen}
          />
        )}
      </Loaded>
    </Card>
  );
}

interface CallTableProps {
  readonly calls: readonly CallLineFragment[];
  readonly isFiltered: boolean;
  readonly onOpen: (call: CallRef) => void;
}

function CallTable({ calls, isFiltered, onOpen }: CallTableProps) {
  const { orgId, modelOrdering } = useOrg();
  const zone = useZone();
  if (calls.length === 0)
    return isFiltered ? (
      <Empty title="No call matches">Choose another app or label, more days, or load more.</Empty>
    ) : (
      <Empty title="No calls in these days" command={commands.submitCost('chat', modelOrdering[0] ?? 'premium')}>
        The list has the calls that were reported while the ledger was on. Report one, as the app or for it:
      </Empty>
    );
  const columns: Column<CallLineFragment>[] = [
    {
      head: 'Made',
      isHead: true,
      class: 'nowrap',
      cell: (call) => (
        <button type="button" class="link" title={fullTime(call.occurredAt, zone)} onClick={() => onOpen(call)}>
          {dateAndTime(call.occurredAt, zone)}
          <span class="hidden-text">, details</span>
        </button>
      ),
    },
    { head: 'App', cell: ({ appId }) => <Link href={orgPath(orgId, `/apps/${appId}`)}>{appId}</Link> },
    { head: 'Label', cell: ({ label }) => label },
    { head: 'For', cell: ({ dimensions }) => <Dimensions values={dimensions} /> },
    { head: 'Input tokens', numeric: true, cell: ({ inputTokens }) => count(inputTokens) },
    { head: 'Output tokens', numeric: true, cell: ({ outputTokens }) => count(outputTokens) },
    { head: 'Outcome', cell: (call) => <Outcome call={call} /> },
    {
      head: 'Cost',
      numeric: true,
      cell: ({ correctedUsdMicros }) => <span title={usdExact(correctedUsdMicros)}>{usd(correctedUsdMicros, 6)}</span>,
    },
  ];
  return (
    <Table
      caption="Recorded calls, newest first"
      columns={columns}
      rows={calls}
      keyOf={({ appId, requestId }) => `${appId} ${requestId}`}
    />
  );
}

/** The values in the order of their names, so that a column reads alike. */
const Dimensions = ({ values }: { readonly values: CallLineFragment['dimensions'] }) => (
  <span class="muted">
    {[...values]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, value }) => `${name} ${value}`)
      .join(' · ')}
  </span>
);

const Outcome = ({ call }: { readonly call: CallLineFragment }) => (
  <span class="row">
    {call.status === 'ERROR' ? (
      <Badge tone="bad" icon="warning">
        failed
      </Badge>
    ) : (
      <span class="muted">ok</span>
    )}
    {call.estimated && (
      <span title="The usage was not known exactly.">
        <Badge>estimated</Badge>
      </span>
    )}
    {call.costUsdMicros !== call.correctedUsdMicros && <Badge tone="accent">corrected</Badge>}
  </span>
);
