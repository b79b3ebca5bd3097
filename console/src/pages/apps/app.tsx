import { useState } from 'preact/hooks';
import { Link, useLocation, useParams } from 'wouter-preact';
import { refreshAll, send, useQuery } from '../../data/client.js';
import {
  AppPageDocument,
  type AppPageQuery,
  DeleteAppDocument,
  ResumeAppDocument,
  SuspendAppDocument,
} from '../../gql/graphql.js';
import { addDays } from '../../lib/days.js';
import { enforcementText } from '../../lib/enforcement.js';
import { usd } from '../../lib/money.js';
import { plural } from '../../lib/numbers.js';
import { reasonText } from '../../lib/reasons.js';
import { clock, until } from '../../lib/time.js';
import { Confirm } from '../../parts/confirm.js';
import { DayBars } from '../../parts/day-bars.js';
import { RotateDialog } from '../../parts/rotate.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg, useSession } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { toast } from '../../shell/toasts.js';
import { Ago, isStale, oldest } from '../../ui/fresh.js';
import { Badge, Card, ModeBadge, Stat, Stats } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { AlertList } from '../alerts/alert-list.js';
import { Chain } from './chain.js';
import { EditDialog } from './edit.js';
import { OverrideDialog } from './override.js';

export type AppData = NonNullable<NonNullable<AppPageQuery['org']>['app']>;
export type ModelPrices = AppPageQuery['models'];

const pollMs = 30_000;
const historyDays = 30;

type Open = 'edit' | 'override' | 'suspend' | 'delete' | undefined;

/** One app: its settings, its chain, its history and its credentials. */
export default function AppPage() {
  const { orgId, day } = useOrg();
  const { appId = '' } = useParams<{ appId: string }>();
  const isOrg = useSession().kind !== 'APP_CLIENT';
  const variables = { orgId, appId, from: addDays(day, 1 - historyDays), to: day, isOrg };
  const query = useQuery(AppPageDocument, variables, { pollMs });
  const app = query.data?.org?.app;
  const [open, setOpen] = useState<Open>();
  return (
    <Page
      title={app?.name ?? appId}
      about={<ZoneNote />}
      crumbs={isOrg && <Link href={orgPath(orgId, '/apps')}>Apps</Link>}
      actions={app && isOrg && <Actions app={app} onOpen={setOpen} />}
    >
      <Loaded query={query} what="the app">
        {({ org, models }) =>
          org?.app ? (
            <>
              <Content app={org.app} models={models} />
              <Dialogs app={org.app} models={models} open={open} onClose={() => setOpen(undefined)} />
            </>
          ) : (
            <Empty title="There is no such app">It was deleted, or you may not see it.</Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

function Actions({ app, onOpen }: { readonly app: AppData; readonly onOpen: (open: Open) => void }) {
  const { orgId } = useOrg();
  const resume = async () => {
    await send(ResumeAppDocument, { orgId, appId: app.appId });
    toast(`${app.name} works again`);
    await refreshAll();
  };
  return (
    <>
      <WriteButton icon="switch" onClick={() => onOpen('override')}>
        Override model
      </WriteButton>
      <WriteButton icon="edit" onClick={() => onOpen('edit')}>
        Edit settings
      </WriteButton>
      {app.suspendedAt ? (
        <WriteButton onClick={() => void resume().catch((error: Error) => toast(error.message, 'warning'))}>
          Resume
        </WriteButton>
      ) : (
        <WriteButton onClick={() => onOpen('suspend')}>Suspend</WriteButton>
      )}
      <WriteButton icon="trash" tone="danger" label="Delete this app" onClick={() => onOpen('delete')} />
    </>
  );
}

interface DialogsProps {
  readonly app: AppData;
  readonly models: ModelPrices;
  readonly open: Open;
  readonly onClose: () => void;
}

function Dialogs({ app, models, open, onClose }: DialogsProps) {
  const { orgId } = useOrg();
  const [, navigate] = useLocation();
  const { appId, name } = app;
  switch (open) {
    case 'edit':
      return <EditDialog app={app} labels={models.map(({ label }) => label)} onClose={onClose} />;
    case 'override':
      return <OverrideDialog app={app} onClose={onClose} />;
    case 'suspend':
      return (
        <Confirm
          title={`Suspend ${name}?`}
          submit="Suspend"
          done={`${name} is suspended`}
          onConfirm={() => send(SuspendAppDocument, { orgId, appId })}
          onClose={onClose}
        >
          Its tokens and secrets stop working on all gateways within 2 s, until it is resumed.
        </Confirm>
      );
    case 'delete':
      return (
        <Confirm
          title={`Delete ${name}?`}
          submit="Delete"
          done={`${name} was deleted`}
          onConfirm={async () => {
            await send(DeleteAppDocument, { orgId, appId });
            navigate(orgPath(orgId, '/apps'));
          }}
          onClose={onClose}
        >
          The app and all its clients are deleted. Its costs stay in the totals of the org.
        </Confirm>
      );
    default:
      return null;
  }
}

function Content({ app, models }: { readonly app: AppData; readonly models: ModelPrices }) {
  const { quotaScope } = useOrg();
  return (
    <div class="stack">
      <Now app={app} />
      <Chain app={app} models={models} isShared={quotaScope === 'ORG'} />
      <div class="columns">
        <div class="stack">
          <Card title={`Last ${historyDays} days${quotaScope === 'ORG' ? ', all apps' : ''}`}>
            <DayBars days={app.spendHistory} />
          </Card>
          <Credentials app={app} />
        </div>
        <div class="stack">
          <Settings app={app} />
          <Card title="Latest alerts" flush>
            {app.alerts.nodes.length > 0 ? (
              <AlertList alerts={app.alerts.nodes} />
            ) : (
              <Empty title="No alerts in the last 30 days" />
            )}
          </Card>
        </div>
      </div>
    </div>
  );
}

function Now({ app }: { readonly app: AppData }) {
  const { resetsAt, timezone, quotaScope } = useOrg();
  const isShared = quotaScope === 'ORG';
  const { modelSelection: selection, suspendedAt } = app;
  const total = selection.chain.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0);
  const calls = selection.chain.reduce((sum, { requests }) => sum + requests, 0);
  const stale = isStale(oldest(selection.chain.map(({ asOf }) => asOf)));
  return (
    <Stats>
      <Stat
        label="In use"
        value={suspendedAt ? 'Suspended' : (selection.label ?? 'None')}
        note={suspendedAt ? 'its credentials are refused' : reasonText(selection.reason)}
      />
      <Stat
        label="State"
        value={<ModeBadge mode={selection.mode} />}
        note={`asks again after ${selection.recheckAfterSecs} s`}
      />
      <Stat
        label={isShared ? 'Spent today, all apps' : 'Spent today'}
        value={usd(total)}
        note={plural(calls, 'call')}
        stale={stale}
      />
      <Stat label="Quotas start again in" value={until(resetsAt)} note={`at ${clock(resetsAt, timezone)}`} />
    </Stats>
  );
}

/** Nothing for a quota that is advisory and stays so. */
const enforcementNote = (quota: AppData['quotas'][number]): string =>
  quota.enforcement === 'HARD' || quota.nextEnforcement ? ` (${enforcementText(quota)})` : '';

/** The quotas in the order of the chain. */
const quotaText = ({ modelOrdering, quotas }: AppData): string =>
  [...quotas]
    .sort((a, b) => modelOrdering.indexOf(a.label) - modelOrdering.indexOf(b.label))
    .map((quota) => `${quota.label} ${usd(quota.dailyUsdMicros)}${enforcementNote(quota)}`)
    .join(', ');

const settingRows = [
  ['modelOrdering', 'Chain', (app: AppData) => app.modelOrdering.join(' → ')],
  ['quotas', 'Daily quotas', quotaText],
  ['tightModeThresholdPct', 'Tight from', (app: AppData) => `${app.tightModeThresholdPct} % of a quota`],
  ['refreshIntervalNormalSecs', 'Asks again, normal', (app: AppData) => `after ${app.refreshIntervalNormalSecs} s`],
  ['refreshIntervalTightSecs', 'Asks again, tight', (app: AppData) => `after ${app.refreshIntervalTightSecs} s`],
] as const;

const Settings = ({ app }: { readonly app: AppData }) => (
  <Card title="Settings" foot={`Version ${app.version}`}>
    <dl class="pairs">
      <dt>Id</dt>
      <dd>
        <code>{app.appId}</code>
      </dd>
      {settingRows.map(([name, label, text]) => (
        <div key={name} class="pair">
          <dt>{label}</dt>
          <dd>
            {text(app)} {app.inheritedFields.includes(name) && <Badge>inherited</Badge>}
          </dd>
        </div>
      ))}
      <dt>Changed</dt>
      <dd>
        <Ago at={app.updatedAt} />
      </dd>
    </dl>
  </Card>
);

function Credentials({ app: { credentials, clients } }: { readonly app: AppData }) {
  const [rotated, setRotated] = useState<string>();
  const { clientId, secretCreatedAt, graceExpiresAt } = credentials;
  return (
    <Card title="Credentials" flush>
      <ul class="list">
        <li>
          <span class="grow">
            <code>{clientId}</code>
            <br />
            <span class="muted">
              {secretCreatedAt ? (
                <>
                  secret made <Ago at={secretCreatedAt} />
                </>
              ) : (
                'no secret yet'
              )}
              {graceExpiresAt &&
                Date.parse(graceExpiresAt) > Date.now() &&
                `; the old one works for ${until(graceExpiresAt)}`}
            </span>
          </span>
          <WriteButton tone="small" onClick={() => setRotated(clientId)}>
            Rotate
          </WriteButton>
        </li>
        {clients?.map((client) => (
          <li key={client.clientId}>
            <span class="grow">
              {client.name} {client.role === 'READ' && <Badge>read-only</Badge>}
              <br />
              <span class="muted">
                <code>{client.clientId}</code>,{' '}
                {client.lastLoginAt ? (
                  <>
                    last login <Ago at={client.lastLoginAt} />
                  </>
                ) : (
                  'never logged in'
                )}
              </span>
            </span>
            <WriteButton tone="small" onClick={() => setRotated(client.clientId)}>
              Rotate
            </WriteButton>
          </li>
        ))}
      </ul>
      {rotated && <RotateDialog clientId={rotated} isOrgClient={false} onClose={() => setRotated(undefined)} />}
    </Card>
  );
}
