import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { usePages } from '../../data/client.js';
import { DevicesDocument, type DevicesQuery } from '../../gql/graphql.js';
import { type DeviceState, deviceState, sharesOf } from '../../lib/fleet.js';
import { count, plural } from '../../lib/numbers.js';
import { valuesText } from '../../lib/sensors.js';
import { age, serverNow } from '../../lib/time.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Ago } from '../../ui/fresh.js';
import { Card, InlineSelect, Segmented, Stat, Stats } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { DeleteDialog, type DeviceName, RenameDialog } from './actions.js';
import { SensorHealth, StateBadge } from './state.js';

type Device = NonNullable<DevicesQuery['org']>['devices']['nodes'][number];
type StateFilter = DeviceState | 'all';
type Order = 'LAST_SEEN' | 'HARDWARE_ID';

const pollMs = 30_000;
const macPattern = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;

/** The fleet: who is online, what it runs and what it measured last. */
export default function Devices() {
  const { orgId } = useOrg();
  const [orderBy, setOrderBy] = useState<Order>('LAST_SEEN');
  const [state, setState] = useState<StateFilter>('all');
  const [text, setText] = useState('');
  const query = usePages(DevicesDocument, { orgId, orderBy }, ({ org }) => org?.devices.pageInfo, { pollMs });
  return (
    <Page title="Devices" about={<ZoneNote />}>
      <Loaded query={query} what="the devices">
        {({ pages }) => {
          const devices = pages.flatMap(({ org }) => org?.devices.nodes ?? []);
          const total = pages[0]?.org?.deviceCount ?? 0;
          return (
            <div class="stack">
              <Summary devices={devices} total={total} />
              <Card
                title="Devices"
                flush
                actions={
                  <>
                    <Search text={text} onText={setText} />
                    <StateChoice state={state} onState={setState} />
                    <InlineSelect<Order>
                      label="Order"
                      options={[
                        { value: 'LAST_SEEN', label: 'Seen last first' },
                        { value: 'HARDWARE_ID', label: 'By address' },
                      ]}
                      value={orderBy}
                      onChange={setOrderBy}
                    />
                  </>
                }
                foot={
                  query.hasNextPage && (
                    <span class="row">
                      <MoreButton query={query} />
                      {count(devices.length)} of {count(total)} are loaded; the filters look at these.
                    </span>
                  )
                }
              >
                <DeviceTable devices={devices.filter((device) => matches(device, text, state))} isEmpty={total === 0} />
              </Card>
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}

const matches = ({ hardwareId, friendlyName, lastSeenAt }: Device, text: string, state: StateFilter): boolean =>
  `${hardwareId} ${friendlyName ?? ''}`.toLowerCase().includes(text.trim().toLowerCase()) &&
  (state === 'all' || deviceState(lastSeenAt, serverNow()) === state);

function Summary({ devices, total }: { readonly devices: readonly Device[]; readonly total: number }) {
  if (total === 0) return null;
  const now = serverNow();
  const states = sharesOf(devices.map(({ lastSeenAt }) => deviceState(lastSeenAt, now)));
  const countOf = (state: DeviceState) => count(states.find(({ name }) => name === state)?.count ?? 0);
  const firmware = sharesOf(devices.map(({ firmwareVersion }) => firmwareVersion));
  const of = devices.length < total ? `of the ${count(devices.length)} loaded` : `of ${plural(total, 'device')}`;
  return (
    <Stats>
      <Stat label="Online" value={countOf('online')} note={`seen within an hour, ${of}`} />
      <Stat label="Stale" value={countOf('stale')} note="seen within a day" />
      <Stat label="Missing" value={countOf('missing')} note="not seen for a day" />
      <Stat
        label="Firmware"
        value={<span class="stat-text">{firmware[0]?.name}</span>}
        note={firmware.map(({ name, count: many }) => `${name}: ${many}`).join(', ')}
      />
    </Stats>
  );
}

function Search({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // A whole address may be that of a device that is not loaded.
        if (macPattern.test(text.trim())) navigate(orgPath(orgId, `/devices/${text.trim().toUpperCase()}`));
      }}
    >
      <input
        type="search"
        class="input inline-select"
        aria-label="Search by name or address; Enter opens a whole address"
        placeholder="Name or address"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </form>
  );
}

const StateChoice = ({
  state,
  onState,
}: {
  readonly state: StateFilter;
  readonly onState: (state: StateFilter) => void;
}) => (
  <Segmented<StateFilter>
    label="State"
    options={[
      { value: 'all', label: 'All' },
      { value: 'online', label: 'Online' },
      { value: 'stale', label: 'Stale' },
      { value: 'missing', label: 'Missing' },
    ]}
    value={state}
    onChange={onState}
  />
);

function DeviceTable({ devices, isEmpty }: { readonly devices: readonly Device[]; readonly isEmpty: boolean }) {
  const { orgId } = useOrg();
  const [renamed, setRenamed] = useState<DeviceName>();
  const [deleted, setDeleted] = useState<DeviceName>();
  if (isEmpty)
    return (
      <Empty title="No devices yet" command={commands.registerDevice()}>
        A device registers at each boot. Create a device key on the page Keys, then register the first device:
      </Empty>
    );
  if (devices.length === 0) return <Empty title="No device matches">Clear the search or the filter.</Empty>;
  const columns: Column<Device>[] = [
    {
      head: 'Device',
      isHead: true,
      cell: ({ hardwareId, friendlyName }) => (
        <Link href={orgPath(orgId, `/devices/${hardwareId}`)}>{friendlyName ?? hardwareId}</Link>
      ),
    },
    { head: 'Address', cell: ({ hardwareId }) => <code>{hardwareId}</code> },
    { head: 'State', cell: ({ lastSeenAt }) => <StateBadge lastSeenAt={lastSeenAt} /> },
    { head: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
    { head: 'Latest values', cell: (device) => <Latest device={device} /> },
    {
      head: 'Sensors',
      cell: ({ latestReading }) => (latestReading ? <SensorHealth status={latestReading.sensorStatus} /> : null),
    },
    { head: 'Firmware', cell: ({ firmwareVersion }) => <code>{firmwareVersion}</code> },
    {
      head: '',
      class: 'actions',
      cell: (device) => (
        <>
          <WriteButton
            tone="plain small"
            icon="edit"
            label={`Rename ${device.hardwareId}`}
            onClick={() => setRenamed(device)}
          />
          <WriteButton
            tone="plain small"
            icon="trash"
            label={`Delete ${device.hardwareId}`}
            onClick={() => setDeleted(device)}
          />
        </>
      ),
    },
  ];
  return (
    <>
      <Table caption="Devices" columns={columns} rows={devices} keyOf={({ hardwareId }) => hardwareId} />
      {renamed && <RenameDialog device={renamed} onClose={() => setRenamed(undefined)} />}
      {deleted && <DeleteDialog device={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}

/** The latest values together with their age. Old ones are grey. */
function Latest({ device: { latestReading } }: { readonly device: Device }) {
  if (!latestReading) return <span class="muted">no reading</span>;
  const { timestampMs, sensors } = latestReading;
  const isOld = deviceState(new Date(timestampMs).toISOString(), serverNow()) !== 'online';
  return (
    <span class={isOld ? 'stale' : ''}>
      {valuesText(sensors)} <span class="muted">{age(timestampMs)}</span>
    </span>
  );
}
