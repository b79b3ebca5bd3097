import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { usePages } from '../../data/client.js';
import { type AlertRowFragment, AlertsDocument, AppAlertsDocument } from '../../gql/graphql.js';
import { alertText } from '../../lib/alerts.js';
import { longDay } from '../../lib/days.js';
import { usd } from '../../lib/money.js';
import { percent } from '../../lib/numbers.js';
import { dateAndTime, fullTime } from '../../lib/time.js';
import { useOrg, useSession, useZone } from '../../shell/context.js';
import { LiveBadge, useLiveAlerts } from '../../shell/live-alerts.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Card, InlineSelect } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { AlertIcon } from './alert-list.js';

const kindNames: Readonly<Record<string, string>> = {
  TIGHT_MODE: 'Tight mode',
  QUOTA_EXCEEDED: 'Quota used up',
  FALLBACK_ACTIVATED: 'Fallback',
  THRESHOLD: 'Budget threshold',
  PROJECTED: 'Budget projection',
  RECOVERED: 'Budget recovered',
};
const kindName = (kind: string): string => kindNames[kind] ?? kind.toLowerCase().replaceAll('_', ' ');

/** The pages of the alerts that this session may see. */
function useAlerts() {
  const { orgId } = useOrg();
  const isApp = useSession().kind === 'APP_CLIENT';
  const whole = usePages(AlertsDocument, { orgId }, ({ org }) => org?.alerts.pageInfo, { enabled: !isApp });
  const ofApp = usePages(AppAlertsDocument, {}, ({ me }) => me.app?.alerts.pageInfo, { enabled: isApp });
  const alerts: readonly AlertRowFragment[] = isApp
    ? (ofApp.data?.pages ?? []).flatMap(({ me }) => me.app?.alerts.nodes ?? [])
    : (whole.data?.pages ?? []).flatMap(({ org }) => org?.alerts.nodes ?? []);
  return { query: isApp ? ofApp : whole, alerts };
}

/** All alerts of the org, newest first. New ones arrive by themselves. */
export default function Alerts() {
  const { query, alerts } = useAlerts();
  const { unseen, markSeen } = useLiveAlerts();
  const [kind, setKind] = useState('');
  const [app, setApp] = useState('');
  useEffect(() => {
    if (unseen > 0) markSeen();
  }, [unseen, markSeen]);
  const apps = [...new Set(alerts.flatMap(({ appId }) => appId ?? []))].sort();
  const shown = alerts.filter((alert) => (kind === '' || alert.kind === kind) && (app === '' || alert.appId === app));
  const all = { value: '', label: 'All kinds' };
  return (
    <Page title="Alerts" about={<ZoneNote />}>
      <Card
        title="Alerts of the last 30 days"
        flush
        actions={
          <>
            <LiveBadge />
            <InlineSelect
              label="Kind"
              options={[all, ...Object.keys(kindNames).map((value) => ({ value, label: kindName(value) }))]}
              value={kind}
              onChange={setKind}
            />
            {apps.length > 0 && (
              <InlineSelect
                label="App"
                options={[{ value: '', label: 'All apps' }, ...apps.map((value) => ({ value, label: value }))]}
                value={app}
                onChange={setApp}
              />
            )}
          </>
        }
        foot={query.hasNextPage && <MoreButton query={query} />}
      >
        <Loaded<unknown> query={query} what="the alerts">
          {() => <AlertTable alerts={shown} isFiltered={shown.length < alerts.length} />}
        </Loaded>
      </Card>
    </Page>
  );
}

function AlertTable({
  alerts,
  isFiltered,
}: {
  readonly alerts: readonly AlertRowFragment[];
  readonly isFiltered: boolean;
}) {
  const { orgId, modelOrdering } = useOrg();
  const zone = useZone();
  if (alerts.length === 0)
    return isFiltered ? (
      <Empty title="No alert matches">Choose another kind or app, or load more.</Empty>
    ) : (
      <Empty title="No alerts" command={commands.submitCost('chat', modelOrdering[0] ?? 'premium')}>
        An alert comes when a label gets near its quota, uses it up, or falls back to the next one. Costs bring a label
        there:
      </Empty>
    );
  const columns: Column<AlertRowFragment>[] = [
    {
      head: 'Raised',
      cell: ({ raisedAt }) => (
        <time dateTime={raisedAt} title={fullTime(raisedAt, zone)}>
          {dateAndTime(raisedAt, zone)}
        </time>
      ),
      class: 'nowrap',
    },
    {
      head: 'Kind',
      cell: ({ kind }) => (
        <span class="row nowrap">
          <AlertIcon kind={kind} /> {kindName(kind)}
        </span>
      ),
    },
    { head: 'Alert', isHead: true, cell: alertText },
    { head: 'App', cell: ({ appId }) => appId && <Link href={orgPath(orgId, `/apps/${appId}`)}>{appId}</Link> },
    { head: 'Day', cell: ({ day }) => longDay(day), class: 'nowrap' },
    { head: 'Spent', numeric: true, cell: ({ costUsdMicros }) => usd(costUsdMicros) },
    { head: 'Quota', numeric: true, cell: ({ quotaUsdMicros }) => usd(quotaUsdMicros) },
    { head: 'Used', numeric: true, cell: ({ quotaPct }) => percent(quotaPct) },
  ];
  return <Table caption="Alerts" columns={columns} rows={alerts} keyOf={({ id }) => id} />;
}
