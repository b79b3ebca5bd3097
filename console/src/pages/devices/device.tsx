import { useMemo, useRef, useState } from 'preact/hooks';
import { Link, useLocation, useParams, useSearchParams } from 'wouter-preact';
import { useQuery } from '../../data/client.js';
import { useStream } from '../../data/stream.js';
import {
  DevicePageDocument,
  type DevicePageQuery,
  LiveReadingsDocument,
  type LiveReadingsSubscription,
  type ReadingLineFragment,
} from '../../gql/graphql.js';
import { periodText } from '../../lib/limits.js';
import { firstMetric, type Metric, metricNames, metrics, stepSecs, valuesText, valueText } from '../../lib/sensors.js';
import { clock, dateAndTime, fullTime, momentAgo } from '../../lib/time.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg, useZone } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { ChartFigure } from '../../ui/figure.js';
import { Card, InlineSelect, Segmented } from '../../ui/parts.js';
import type { PlotData } from '../../ui/plot.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { TimePlot } from '../../ui/time-plot.js';
import { About } from './about.js';
import { AssignDialog, DeleteDialog, RenameDialog } from './actions.js';
import { SensorHealth } from './state.js';

export type DeviceData = NonNullable<NonNullable<DevicePageQuery['org']>['device']>;
type Point = DeviceData['series'][number];

const hourMs = 3_600_000;
const spans = {
  '1h': { name: '1 hour', ms: hourMs, stepSecs: 60 },
  '24h': { name: '24 hours', ms: 24 * hourMs, stepSecs: 600 },
  '7d': { name: '7 days', ms: 7 * 24 * hourMs, stepSecs: 3600 },
  '30d': { name: '30 days', ms: 30 * 24 * hourMs, stepSecs: 10_800 },
} as const;
type Span = keyof typeof spans;

const maxTail = 10;
const pollMs = 60_000;

/** The metric and the range on screen, which are in the address. */
function useChoices() {
  const [search, setSearch] = useSearchParams();
  const chosen = metricNames.find((name) => name === search.get('metric'));
  const span: Span = (Object.keys(spans) as Span[]).find((name) => name === search.get('span')) ?? '24h';
  const set = (changes: Readonly<Record<string, string>>) =>
    setSearch({ ...(chosen ? { metric: chosen } : {}), span, ...changes }, { replace: true });
  return { chosen, span, set };
}

/** One device: a chart of what it measured, its latest readings as they arrive, and what it is. */
export default function DevicePage() {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  const { hardwareId = '' } = useParams<{ hardwareId: string }>();
  const { chosen, span, set } = useChoices();
  // How often the device measures, and what, is known only after its first readings have been read.
  const [known, setKnown] = useState<readonly ReadingLineFragment[]>([]);
  const metric = chosen ?? firstMetric(known[0]?.sensors) ?? 'BME280_TEMP_C';
  const step = stepSecs(
    spans[span].stepSecs,
    known.map(({ timestampMs }) => timestampMs),
  );
  const range = { from: momentAgo(spans[span].ms, step * 1000), to: momentAgo(-step * 1000, step * 1000) };
  const variables = { orgId, hardwareId, metric, ...range, stepSecs: step };
  const query = useQuery(DevicePageDocument, variables, { pollMs, keepPrevious: true });
  const device = query.data?.org?.device;
  if (known.length === 0 && device && device.readings.nodes.length > 0) setKnown(device.readings.nodes);
  const [open, setOpen] = useState<'rename' | 'assign' | 'delete'>();
  return (
    <Page
      title={device?.friendlyName ?? hardwareId}
      about={<ZoneNote />}
      crumbs={<Link href={orgPath(orgId, '/devices')}>Devices</Link>}
      actions={
        device && (
          <>
            <WriteButton icon="edit" onClick={() => setOpen('rename')}>
              Rename
            </WriteButton>
            <WriteButton icon="keys" onClick={() => setOpen('assign')}>
              Assign
            </WriteButton>
            <WriteButton icon="trash" tone="danger" onClick={() => setOpen('delete')}>
              Delete
            </WriteButton>
          </>
        )
      }
    >
      <Loaded query={query} what="the device">
        {({ org }) =>
          org?.device ? (
            <div class="columns">
              <div class="stack">
                <Chart device={org.device} metric={metric} span={span} stepSecs={step} onChange={set} />
                <Tail device={org.device} />
              </div>
              <About device={org.device} />
            </div>
          ) : (
            <Empty title="There is no such device">It was deleted, or never registered.</Empty>
          )
        }
      </Loaded>
      {device && open === 'rename' && <RenameDialog device={device} onClose={() => setOpen(undefined)} />}
      {device && open === 'assign' && <AssignDialog device={device} onClose={() => setOpen(undefined)} />}
      {device && open === 'delete' && (
        <DeleteDialog
          device={device}
          onClose={() => setOpen(undefined)}
          onDeleted={() => navigate(orgPath(orgId, '/devices'))}
        />
      )}
    </Page>
  );
}

interface ChartProps {
  readonly device: DeviceData;
  readonly metric: Metric;
  readonly span: Span;
  readonly stepSecs: number;
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
}

function Chart({ device: { series }, metric, span, stepSecs: step, onChange }: ChartProps) {
  const zone = useZone();
  const data = useMemo(() => plotOf(series, metric, span, zone), [series, metric, span, zone]);
  const measured = series.filter(({ count }) => count > 0);
  const { name, unit } = metrics[metric];
  const columns: Column<Point>[] = [
    { head: 'From', isHead: true, cell: ({ at }) => dateAndTime(at, zone) },
    { head: 'Readings', numeric: true, cell: ({ count }) => count },
    { head: 'Lowest', numeric: true, cell: ({ min }) => valueText(metric, min) },
    { head: 'Mean', numeric: true, cell: ({ mean }) => valueText(metric, mean) },
    { head: 'Highest', numeric: true, cell: ({ max }) => valueText(metric, max) },
  ];
  return (
    <Card
      title={name}
      actions={
        <>
          <InlineSelect
            label="Metric"
            options={metricNames.map((value) => ({ value, label: `${metrics[value].name} (${metrics[value].unit})` }))}
            value={metric}
            onChange={(value) => onChange({ metric: value })}
          />
          <Segmented
            label="Range"
            options={(Object.keys(spans) as Span[]).map((value) => ({ value, label: spans[value].name }))}
            value={span}
            onChange={(value) => onChange({ span: value })}
          />
        </>
      }
    >
      {measured.length === 0 ? (
        <Empty title={`No ${name.toLowerCase()} in this time`}>
          The device sent no reading with this value. Choose another metric or a longer range.
        </Empty>
      ) : (
        <ChartFigure
          unit={`${name} in ${unit}: mean, and the band from lowest to highest, per ${periodText(step)}`}
          summary={summaryOf(measured, series.length, metric)}
          columns={columns}
          rows={series}
          keyOf={({ at }) => at}
        >
          <TimePlot data={data} />
        </ChartFigure>
      )}
    </Card>
  );
}

function summaryOf(measured: readonly Point[], steps: number, metric: Metric): string {
  const lowest = Math.min(...measured.map(({ min }) => min ?? Number.POSITIVE_INFINITY));
  const highest = Math.max(...measured.map(({ max }) => max ?? Number.NEGATIVE_INFINITY));
  return (
    `From ${valueText(metric, lowest)} to ${valueText(metric, highest)}. ` +
    `${steps - measured.length} of ${steps} steps have no reading and are gaps.`
  );
}

function plotOf(series: readonly Point[], metric: Metric, span: Span, zone: string): PlotData {
  const isShort = spans[span].ms <= 24 * hourMs;
  const dayOf = (at: string) => dateAndTime(at, zone).split(',')[0] ?? '';
  const { decimals } = metrics[metric];
  const labelOf = ({ at }: Point, i: number) => {
    if (isShort) return clock(at, zone);
    const before = series[i - 1];
    return before && dayOf(before.at) === dayOf(at) ? '' : dayOf(at);
  };
  return {
    kind: 'band',
    labels: series.map(labelOf),
    titles: series.map(({ at }) => dateAndTime(at, zone)),
    series: [
      { name: 'mean', color: 1, values: series.map(({ mean }) => mean) },
      { name: 'lowest', color: 1, values: series.map(({ min }) => min) },
      { name: 'highest', color: 1, values: series.map(({ max }) => max) },
    ],
    axis: (value) => value.toFixed(decimals > 0 ? 1 : 0),
    format: (value) => valueText(metric, value),
  };
}

/** The latest readings; new ones arrive by themselves. */
function Tail({ device: { hardwareId, readings } }: { readonly device: DeviceData }) {
  const { orgId } = useOrg();
  const zone = useZone();
  const [arrived, setArrived] = useState<readonly ReadingLineFragment[]>([]);
  const cursor = useRef<string | null>(null);
  const onData = ({ readings: reading }: LiveReadingsSubscription): void => {
    cursor.current = reading.cursor;
    // A stream that was resumed may repeat a reading.
    if (!reading.gap) setArrived((old) => [reading, ...old.filter(({ id }) => id !== reading.id)].slice(0, maxTail));
  };
  const isConnected = useStream(
    { document: LiveReadingsDocument, variables: () => ({ orgId, hardwareId, after: cursor.current }), onData },
    hardwareId,
  );
  const all = [...arrived, ...readings.nodes.filter(({ id }) => !arrived.some((each) => each.id === id))];
  const rows = all.sort((a, b) => b.timestampMs - a.timestampMs).slice(0, maxTail);
  return (
    <Card
      title="Latest readings"
      flush
      actions={<span class={`live ${isConnected ? 'on' : ''}`}>{isConnected ? 'Live' : 'Connecting…'}</span>}
    >
      {rows.length === 0 ? (
        <Empty title="No readings yet">They appear here within 2 s of their arrival.</Empty>
      ) : (
        <Table
          caption="Latest readings"
          columns={[
            {
              head: 'Measured',
              isHead: true,
              cell: ({ timestampMs }) => (
                <span title={fullTime(timestampMs, zone)}>{dateAndTime(timestampMs, zone)}</span>
              ),
            },
            { head: 'Values', cell: ({ sensors }) => valuesText(sensors) },
            { head: 'Sensors', cell: ({ sensorStatus }) => <SensorHealth status={sensorStatus} /> },
            { head: 'Firmware', cell: ({ firmwareVersion }) => <code>{firmwareVersion}</code> },
          ]}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
    </Card>
  );
}
