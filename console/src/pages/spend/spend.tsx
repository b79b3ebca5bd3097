import { useMemo, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { send, useQuery } from '../../data/client.js';
import { explain } from '../../data/problem.js';
import {
  ExactTodayDocument,
  type PointFragment,
  SeriesByAppDocument,
  SeriesByLabelDocument,
  type SeriesByLabelQueryVariables,
  SpendReportDocument,
  type SpendReportQuery,
} from '../../gql/graphql.js';
import { daysIn } from '../../lib/days.js';
import { usd, usdExact } from '../../lib/money.js';
import { count, plural, short } from '../../lib/numbers.js';
import { type DayRange, maxHourDays, rangeOf, rangeText } from '../../lib/range.js';
import { fullTime, serverNow } from '../../lib/time.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { useAction } from '../../ui/dialog.js';
import { AsOf, isStale, oldest } from '../../ui/fresh.js';
import { Icon } from '../../ui/icon.js';
import { Card, Segmented, Stat, Stats } from '../../ui/parts.js';
import { RangePicker } from '../../ui/range-picker.js';
import { Empty, Loaded } from '../../ui/states.js';
import { averageOf, BreakdownTable } from './breakdown.js';
import { ExportDialog } from './export.js';
import { type NamedValues, SpendSeries, type Step } from './series.js';

const pollMs = 60_000;
const maxParts = 7;

type Report = NonNullable<SpendReportQuery['org']>;
type Split = 'label' | 'app';

/** The choices of the page, which are in its address. */
function useChoices() {
  const { day: today, quotaScope } = useOrg();
  const [search, setSearch] = useSearchParams();
  const range = rangeOf(search, today, 14);
  const mayHours = daysIn(range.from, range.to) <= maxHourDays;
  const step: Step =
    mayHours && (search.get('step') === 'HOUR' || (range.from === range.to && !search.get('step'))) ? 'HOUR' : 'DAY';
  const split: Split = search.get('split') === 'app' && quotaScope === 'APP' ? 'app' : 'label';
  const set = (changes: Readonly<Record<string, string>>) =>
    setSearch((old) => ({ ...Object.fromEntries(old), ...changes }), { replace: true });
  const setRange = (next: DayRange) => set({ from: next.from, to: next.to });
  return { range, step, split, mayHours, tab: search.get('tab') ?? 'app', set, setRange };
}

/** Spend over time and split up, for any days of the org. */
export default function Spend() {
  const { orgId, day, quotaScope, attributeApps, dimensions } = useOrg();
  const { range, step, split, mayHours, tab, set, setRange } = useChoices();
  const hasApps = quotaScope === 'APP' || attributeApps;
  const dimension = dimensions.find((name) => tab === `dimension ${name}`);
  const variables = {
    orgId,
    ...range,
    byApp: hasApps,
    byDimension: dimension !== undefined,
    dimension: dimension ?? null,
  };
  const isOpen = range.to === day;
  const query = useQuery(SpendReportDocument, variables, { keepPrevious: true, ...(isOpen ? { pollMs } : {}) });
  return (
    <Page title="Spend" about={<ZoneNote />} actions={<RangePicker range={range} today={day} onChange={setRange} />}>
      <Loaded query={query} what="the spend">
        {({ org }) =>
          org && (
            <div class="stack">
              <Totals data={org} range={range} />
              <Card
                title={`Over time, ${rangeText(range)}`}
                actions={
                  <>
                    <Segmented<Step>
                      label="Step"
                      options={[
                        { value: 'HOUR', label: 'Hours', disabled: !mayHours, title: `Up to ${maxHourDays} days` },
                        { value: 'DAY', label: 'Days' },
                      ]}
                      value={step}
                      onChange={(value) => set({ step: value })}
                    />
                    <Segmented<Split>
                      label="Stacked by"
                      options={[
                        { value: 'label', label: 'By label' },
                        {
                          value: 'app',
                          label: 'By app',
                          disabled: quotaScope !== 'APP',
                          title: 'Needs quotas per app: the apps of this org share one series',
                        },
                      ]}
                      value={split}
                      onChange={(value) => set({ split: value })}
                    />
                  </>
                }
              >
                {split === 'app' ? (
                  <ByApp range={range} step={step} />
                ) : (
                  <ByLabel range={range} step={step} labels={org.byLabel.rows.map(({ name }) => name)} />
                )}
              </Card>
              <Breakdowns data={org} range={range} tab={tab} onTab={(value) => set({ tab: value })} />
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

function Totals({ data, range }: { readonly data: Report; readonly range: DayRange }) {
  const { day } = useOrg();
  const { total } = data.byLabel;
  const isOpen = range.to === day;
  const asOf = oldest(data.spend.labels.map((label) => label.asOf));
  const stale = isOpen && isStale(asOf);
  return (
    <div class="stack-s">
      <Stats>
        <Stat
          label="Cost"
          value={usd(total.costUsdMicros)}
          title={usdExact(total.costUsdMicros)}
          note={plural(daysIn(range.from, range.to), 'day')}
          stale={stale}
        />
        <Stat label="Calls" value={count(total.requests)} note={`${averageOf(total)} per call`} stale={stale} />
        <Stat label="Input tokens" value={short(total.inputTokens)} note={count(total.inputTokens)} stale={stale} />
        <Stat label="Output tokens" value={short(total.outputTokens)} note={count(total.outputTokens)} stale={stale} />
      </Stats>
      <p class="row small muted">
        {isOpen ? <AsOf at={asOf} /> : <span>As last summed. A past day changes only by late costs.</span>}
        {isOpen && <ExactNow />}
      </p>
    </div>
  );
}

/** Reads the counters of today themselves, which costs more than the last sum. */
function ExactNow() {
  const { orgId, timezone } = useOrg();
  const [text, setText] = useState('');
  const { run, isRunning, error } = useAction(async () => {
    const { org } = await send(ExactTodayDocument, { orgId });
    if (!org) return;
    const at = org.spend.labels[0]?.asOf ?? serverNow();
    const { costUsdMicros, requests } = org.spend;
    const calls = plural(requests, 'call');
    setText(`Today exactly ${usdExact(costUsdMicros)} in ${calls} at ${fullTime(at, timezone)}.`);
  });
  return (
    <>
      <button type="button" class="button small" aria-disabled={isRunning} onClick={() => void run()}>
        <Icon name="refresh" class={isRunning ? 'spin' : ''} />
        Exact now
      </button>
      <span aria-live="polite">{error === undefined ? text : explain(error)}</span>
    </>
  );
}

interface SeriesProps {
  readonly range: DayRange;
  readonly step: Step;
}

function ByApp({ range, step }: SeriesProps) {
  const { orgId } = useOrg();
  const query = useQuery(SeriesByAppDocument, { orgId, ...range, step }, { keepPrevious: true });
  return (
    <Loaded query={query} what="the series">
      {({ org }) => {
        const parts = (org?.apps.nodes ?? []).map(({ name, spendSeries }) => ({
          name,
          values: spendSeries.map(({ costUsdMicros }) => costUsdMicros),
        }));
        return <Series points={org?.total ?? []} parts={parts} step={step} />;
      }}
    </Loaded>
  );
}

function ByLabel({ range, step, labels }: SeriesProps & { readonly labels: readonly string[] }) {
  const { orgId } = useOrg();
  const shown = labels.slice(0, maxParts);
  const each = Object.fromEntries(
    shown.flatMap((label, i) => [
      [`l${i}`, label],
      [`on${i}`, true],
    ]),
  );
  const variables: SeriesByLabelQueryVariables = { orgId, ...range, step, ...each };
  const query = useQuery(SeriesByLabelDocument, variables, { keepPrevious: true });
  return (
    <Loaded query={query} what="the series">
      {({ org }) => {
        const found = (org ?? {}) as unknown as Readonly<
          Record<string, readonly { costUsdMicros: number }[] | undefined>
        >;
        const parts = shown.map((name, i) => ({
          name,
          values: (found[`s${i}`] ?? []).map(({ costUsdMicros }) => costUsdMicros),
        }));
        return <Series points={org?.total ?? []} parts={parts} step={step} />;
      }}
    </Loaded>
  );
}

function Series(props: { points: readonly PointFragment[]; parts: readonly NamedValues[]; step: Step }) {
  const { modelOrdering } = useOrg();
  const key = JSON.stringify(props.parts);
  // Equal parts must not draw the chart again.
  const parts = useMemo(() => props.parts, [key]);
  if (props.points.every(({ requests }) => requests === 0))
    return (
      <Empty title="No costs in these days" command={commands.submitCost('chat', modelOrdering[0] ?? 'premium')}>
        An app reports the cost of each model call. Report one, as the app or for it:
      </Empty>
    );
  return <SpendSeries points={props.points} parts={parts} step={props.step} />;
}

interface BreakdownsProps {
  readonly data: Report;
  readonly range: DayRange;
  readonly tab: string;
  readonly onTab: (tab: string) => void;
}

function Breakdowns({ data, range, tab, onTab }: BreakdownsProps) {
  const { dimensions } = useOrg();
  const hasApps = data.byApp !== undefined;
  const dimension = dimensions.find((name) => tab === `dimension ${name}`);
  const shown = dimension !== undefined ? tab : tab === 'label' || !hasApps ? 'label' : 'app';
  const breakdown = { label: data.byLabel, app: data.byApp }[shown] ?? data.byDimension;
  const what = dimension ?? (shown === 'label' ? 'Label' : 'App and label');
  const [isExporting, setExporting] = useState(false);
  return (
    <Card
      title={`Split up, ${rangeText(range)}`}
      flush
      actions={
        <>
          <Segmented
            label="Split up by"
            options={[
              { value: 'app', label: 'Apps', disabled: !hasApps, title: 'Needs the setting “count per app”' },
              { value: 'label', label: 'Labels' },
              ...dimensions.map((name) => ({ value: `dimension ${name}`, label: name })),
            ]}
            value={shown}
            onChange={onTab}
          />
          <button type="button" class="button small" onClick={() => setExporting(true)}>
            <Icon name="download" />
            Export
          </button>
        </>
      }
    >
      {breakdown && breakdown.total.requests > 0 ? (
        <BreakdownTable data={breakdown} what={what} />
      ) : (
        <Empty title="No costs in these days" />
      )}
      {isExporting && <ExportDialog range={range} onClose={() => setExporting(false)} />}
    </Card>
  );
}
