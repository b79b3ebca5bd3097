import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery } from '../../data/client.js';
import { EntityResourceDocument, type EntityResourceQuery } from '../../gql/graphql.js';
import { limitText } from '../../lib/limits.js';
import { count, short } from '../../lib/numbers.js';
import { clock, dateAndTime, momentAgo, momentsSince } from '../../lib/time.js';
import type { LevelTarget } from '../../parts/limits-dialog.js';
import { TryDialog } from '../../parts/try-dialog.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Bars } from '../../ui/bars.js';
import { ChartFigure } from '../../ui/figure.js';
import { Badge, Card, InlineSelect, Segmented } from '../../ui/parts.js';
import { Loaded } from '../../ui/states.js';
import type { Column } from '../../ui/table.js';

type Use = NonNullable<EntityResourceQuery['org']>;
type Snapshot = NonNullable<Use['entity']>['usage']['nodes'][number];
type Window = 'HOURLY' | 'DAILY';

const hourMs = 3_600_000;
const windows = {
  HOURLY: { shownMs: 47 * hourMs, stepMs: hourMs },
  DAILY: { shownMs: 29 * 24 * hourMs, stepMs: 24 * hourMs },
};
const sources: Readonly<Record<string, string>> = {
  ENTITY: 'this entity and resource',
  ENTITY_DEFAULT: 'this entity, all resources',
  RESOURCE: 'the resource',
  SYSTEM: 'the system',
};

interface EntityUseProps {
  readonly entityId: string;
  readonly resource: string;
  readonly picker: ComponentChildren;
  readonly onOpen: (target: LevelTarget) => void;
}

/** The limits that apply to one resource, where they come from, and the usage over time. */
export function EntityUse({ entityId, resource, picker, onOpen }: EntityUseProps) {
  const { orgId } = useOrg();
  const [window, setWindow] = useState<Window>('HOURLY');
  const [isTrying, setTrying] = useState(false);
  const { shownMs, stepMs } = windows[window];
  const variables = { orgId, entityId, resource, window, from: momentAgo(shownMs, stepMs) };
  const query = useQuery(EntityResourceDocument, variables, { keepPrevious: true, pollMs: 30_000 });
  const own = query.data?.org?.own;
  const names = query.data?.org?.entity?.effectiveLimits.limits.map(({ name }) => name) ?? [];
  return (
    <Card
      title="Limits and usage"
      flush
      actions={
        <>
          {picker}
          <button type="button" class="button small" onClick={() => setTrying(true)}>
            Try an acquire
          </button>
          <WriteButton
            tone="small"
            icon="edit"
            onClick={() =>
              onOpen({ level: 'ENTITY', entityId, resource, isFixed: true, ...(own ? { config: own } : {}) })
            }
          >
            {own ? 'Change own limits' : 'Set own limits'}
          </WriteButton>
        </>
      }
    >
      <Loaded query={query} what={`the usage of ${resource}`}>
        {({ org }) =>
          org?.entity && (
            <Usage key={resource} use={org.entity} from={variables.from} window={window} onWindow={setWindow} />
          )
        }
      </Loaded>
      {isTrying && (
        <TryDialog resource={resource} entityId={entityId} limits={names} onClose={() => setTrying(false)} />
      )}
    </Card>
  );
}

interface UsageProps {
  readonly use: NonNullable<Use['entity']>;
  /** The start of the first window. */
  readonly from: string;
  readonly window: Window;
  readonly onWindow: (window: Window) => void;
}

function Usage({ use: { effectiveLimits, usage }, from, window, onWindow }: UsageProps) {
  const { limits, source } = effectiveLimits;
  const names = [
    ...new Set([...limits.map(({ name }) => name), ...usage.nodes.flatMap((n) => n.counters.map((c) => c.limit))]),
  ];
  const [chosen, setChosen] = useState(names[0] ?? '');
  return (
    <div class="card-body stack">
      <p class="small">
        {limits.length === 0 ? (
          'No limits apply, so an acquire is an error.'
        ) : (
          <>
            {limits.map((limit) => (
              <span key={limit.name} class="limit-line">
                <code>{limit.name}</code> {limitText(limit)} {!limit.enforce && <Badge>not enforced</Badge>}
              </span>
            ))}
            <span class="muted">set for {sources[source ?? ''] ?? 'nothing'}</span>
          </>
        )}
      </p>
      <div class="row">
        <Segmented
          label="Window"
          options={[
            { value: 'HOURLY', label: '48 hours' },
            { value: 'DAILY', label: '30 days' },
          ]}
          value={window}
          onChange={onWindow}
        />
        <InlineSelect
          label="Limit"
          options={names.map((value) => ({ value, label: value }))}
          value={chosen}
          onChange={setChosen}
        />
      </div>
      <UsageBars snapshots={everyWindow(usage.nodes, from, window)} limit={chosen} window={window} />
    </div>
  );
}

/** All windows since `from`, also those without usage, so that the bars of a day always have the same place. */
function everyWindow(found: readonly Snapshot[], from: string, window: Window): Snapshot[] {
  if (found.length === 0) return [];
  const byStart = new Map(found.map((snapshot) => [Date.parse(snapshot.windowStart), snapshot]));
  return momentsSince(from, windows[window].stepMs).map(
    (windowStart) => byStart.get(Date.parse(windowStart)) ?? { windowStart, totalEvents: 0, counters: [] },
  );
}

interface UsageBarsProps {
  readonly snapshots: readonly Snapshot[];
  readonly limit: string;
  readonly window: Window;
}

function UsageBars({ snapshots, limit, window }: UsageBarsProps) {
  const of = ({ counters }: Snapshot) => counters.find((counter) => counter.limit === limit);
  const isHourly = window === 'HOURLY';
  // The gateway counts usage in hours and days of UTC.
  const title = ({ windowStart }: Snapshot) =>
    isHourly ? `${dateAndTime(windowStart, 'UTC')} UTC` : `${windowStart.slice(0, 10)} (UTC)`;
  const columns: Column<Snapshot>[] = [
    { head: isHourly ? 'Hour' : 'Day', isHead: true, cell: title },
    { head: 'Tokens taken', numeric: true, cell: (each) => count(of(each)?.consumed ?? 0) },
    { head: 'Acquires granted', numeric: true, cell: ({ totalEvents }) => count(totalEvents) },
    { head: 'Refused', numeric: true, cell: (each) => count(of(each)?.refused ?? 0) },
  ];
  const taken = snapshots.reduce((sum, each) => sum + (of(each)?.consumed ?? 0), 0);
  const refused = snapshots.reduce((sum, each) => sum + (of(each)?.refused ?? 0), 0);
  const bars = snapshots.map((each) => ({
    key: each.windowStart,
    label: isHourly ? clock(each.windowStart, 'UTC') : each.windowStart.slice(5, 10),
    value: Math.max(0, of(each)?.consumed ?? 0),
    tone: (of(each)?.refused ?? 0) > 0 ? ('warn' as const) : undefined,
    title: `${title(each)}: ${count(of(each)?.consumed ?? 0)} taken, ${count(of(each)?.refused ?? 0)} refused`,
  }));
  if (snapshots.length === 0) return <p class="muted small">No usage in this time.</p>;
  return (
    <ChartFigure
      unit={`Tokens of ${limit} taken per ${isHourly ? 'hour' : 'day'} of UTC`}
      summary={`${count(taken)} tokens taken, ${count(refused)} acquires refused.`}
      columns={columns}
      rows={snapshots}
      keyOf={({ windowStart }) => windowStart}
      legend={<Legend />}
    >
      <Bars bars={bars} format={short} />
    </ChartFigure>
  );
}

const Legend = () => (
  <ul class="legend">
    <li>
      <span class="swatch fill-1" />
      all granted
    </li>
    <li>
      <span class="swatch fill-warn" />
      some refused
    </li>
  </ul>
);
