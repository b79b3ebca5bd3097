import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useQuery } from '../../data/client.js';
import { OverviewDocument } from '../../gql/graphql.js';
import { usd, usdExact } from '../../lib/money.js';
import { plural } from '../../lib/numbers.js';
import { clock, until } from '../../lib/time.js';
import { useOrg } from '../../shell/context.js';
import { LiveBadge } from '../../shell/live-alerts.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { isStale, oldest, useTick } from '../../ui/fresh.js';
import { Card, ModeBadge, Stat, Stats } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { AlertList } from '../alerts/alert-list.js';
import { BudgetCard } from './budgets.js';
import { type Detail, useDetail } from './detail.js';
import { FleetHealth } from './fleet.js';
import { firstDay, History, type Range } from './history.js';
import { type OrgOverview, Quotas } from './quotas.js';
import { MostRefused } from './refused.js';

const pollMs = 30_000;

/** Today at a glance: spend against quotas, alerts, refusals and the fleet. */
export default function Overview() {
  const { orgId, day, quotaScope, attributeApps } = useOrg();
  const [range, setRange] = useState<Range>('14');
  const byApp = quotaScope === 'ORG' && attributeApps;
  const variables = { orgId, from: firstDay(day, range), to: day, byApp };
  const query = useQuery(OverviewDocument, variables, { pollMs, keepPrevious: true });
  return (
    <Page title="Overview" about={<ZoneNote />}>
      <Loaded query={query} what="the overview">
        {({ org }) => org && <Content data={org} range={range} onRange={setRange} />}
      </Loaded>
    </Page>
  );
}

interface ContentProps {
  readonly data: OrgOverview;
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

function Content({ data, range, onRange }: ContentProps) {
  const detail = useDetail(data);
  return (
    <div class="stack">
      <Today data={data} detail={detail} />
      <div class="columns">
        <div class="stack">
          <Quotas data={data} />
          <BudgetCard budgets={data.budgets} detail={detail} />
          <History days={data.spendHistory} range={range} onRange={onRange} />
        </div>
        <div class="stack">
          <Alerts alerts={data.alerts.nodes} />
          <MostRefused detail={detail} />
          <FleetHealth total={data.deviceCount} devices={data.devices.nodes} />
        </div>
      </div>
    </div>
  );
}

/** The expected cost of today. The gateway forecasts budgets only, so it needs a daily one of the whole org. */
function Projection({ data: { budgets }, detail: { query } }: TodayProps) {
  const { orgId } = useOrg();
  const whole = budgets.find((each) => each.period === 'DAY' && !each.appId && !each.label && !each.dimension);
  const forecast = query.data?.org?.budgets?.find(({ name }) => name === whole?.name)?.forecast;
  if (whole && forecast)
    return (
      <Stat
        label="Projected for today"
        value={usd(forecast.projectedUsdMicros)}
        title={forecast.basis}
        note={forecast.projectedUsdMicros > whole.inForceUsdMicros ? 'above the budget' : 'within the budget'}
      />
    );
  const link = <Link href={orgPath(orgId, '/budgets')}>Set a daily budget</Link>;
  return (
    <Stat label="Projected for today" value="–" note={whole ? 'needs three hours of data' : <>{link} to see it</>} />
  );
}

interface TodayProps {
  readonly data: OrgOverview;
  readonly detail: Detail;
}

function Today({ data, detail }: TodayProps) {
  const { spend } = data;
  const { resetsAt, timezone } = useOrg();
  useTick(30_000);
  const stale = isStale(oldest(spend.labels.map(({ asOf }) => asOf)));
  const used = spend.labels.filter(({ mode }) => mode === 'EXCEEDED').length;
  return (
    <Stats>
      <Stat
        label="Spent today"
        value={usd(spend.costUsdMicros)}
        title={usdExact(spend.costUsdMicros)}
        note={plural(spend.requests, 'call')}
        stale={stale}
      />
      <Projection data={data} detail={detail} />
      <Stat
        label="Average per call"
        value={spend.requests === 0 ? '–' : usd(Math.round(spend.costUsdMicros / spend.requests))}
        note="all labels"
        stale={stale}
      />
      <Stat
        label="State"
        value={<ModeBadge mode={spend.mode} />}
        note={used > 0 ? `${plural(used, 'label')} used up` : 'no quota is used up'}
        stale={stale}
      />
      <Stat label="Quotas start again in" value={until(resetsAt)} note={`at ${clock(resetsAt, timezone)}`} />
    </Stats>
  );
}

function Alerts({ alerts }: { readonly alerts: OrgOverview['alerts']['nodes'] }) {
  return (
    <Card title="Latest alerts" flush actions={<LiveBadge />}>
      {alerts.length > 0 ? (
        <AlertList alerts={alerts} />
      ) : (
        <Empty title="No alerts in the last 30 days">
          An alert comes when a label gets near its quota, uses it up, or falls back to the next one.
        </Empty>
      )}
    </Card>
  );
}
