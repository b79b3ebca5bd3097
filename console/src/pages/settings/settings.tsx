import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery } from '../../data/client.js';
import { OrgSettingsDocument, type OrgSettingsQuery } from '../../gql/graphql.js';
import { enforcementText } from '../../lib/enforcement.js';
import { usd } from '../../lib/money.js';
import { fullTime } from '../../lib/time.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { Ago } from '../../ui/fresh.js';
import { Badge, Card } from '../../ui/parts.js';
import { Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { OrgDialog } from './org-dialog.js';

export type OrgSettings = NonNullable<OrgSettingsQuery['org']>;

/** The settings of the org, which its apps inherit. */
export default function Settings() {
  const { orgId } = useOrg();
  const query = useQuery(OrgSettingsDocument, { orgId });
  const [isOpen, setOpen] = useState(false);
  return (
    <Page
      title="Settings"
      about={<ZoneNote />}
      actions={
        query.data && (
          <WriteButton icon="edit" tone="primary" onClick={() => setOpen(true)}>
            Edit settings
          </WriteButton>
        )
      }
    >
      <Loaded query={query} what="the settings">
        {({ org, models }) =>
          org && (
            <>
              <Content org={org} />
              {isOpen && (
                <OrgDialog org={org} labels={models.map(({ label }) => label)} onClose={() => setOpen(false)} />
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const onOff = (on: boolean) => (on ? <Badge tone="ok">on</Badge> : <Badge>off</Badge>);

function Content({ org }: { readonly org: OrgSettings }) {
  const quotaOf = (label: string) => org.quotas.find((quota) => quota.label === label);
  return (
    <div class="columns">
      <div class="stack">
        <Card
          title="Chain and daily quotas"
          flush
          foot={
            org.quotaScope === 'APP'
              ? 'Each app has these quotas to itself, unless it has its own.'
              : 'All apps of the org share these quotas.'
          }
        >
          <Table
            caption="Fallback chain with its daily quotas"
            columns={[
              { head: 'Label', isHead: true, cell: (label) => label },
              { head: 'Daily quota', numeric: true, cell: (label) => usd(quotaOf(label)?.dailyUsdMicros ?? 0) },
              { head: 'Enforcement', cell: (label) => enforcementText(quotaOf(label) ?? { enforcement: 'ADVISORY' }) },
            ]}
            rows={org.modelOrdering}
            keyOf={String}
          />
        </Card>
        <Card title="Figures">
          <Pairs
            rows={[
              ['Count per app', onOff(org.attributeApps || org.quotaScope === 'APP'), 'spend can be split up by app'],
              ['Ledger', onOff(org.ledger), 'single costs can be listed'],
              ['Dimensions', org.dimensions.join(', ') || 'none', 'values that a cost may carry'],
            ]}
          />
        </Card>
      </div>
      <div class="stack">
        <Card title="Org" foot={`Version ${org.version}`}>
          <Pairs
            rows={[
              ['Name', org.name],
              ['Id', <code key="id">{org.orgId}</code>],
              ['Time zone', zoneText(org)],
              ['Quotas', org.quotaScope === 'APP' ? 'per app' : 'shared by all apps'],
              ['Counters per scope', String(org.shardCount)],
              ['Registered', <Ago key="c" at={org.createdAt} />],
              ['Changed', <Ago key="u" at={org.updatedAt} />],
            ]}
          />
        </Card>
        <Card title="Selections">
          <Pairs
            rows={[
              ['Sticky fallback', onOff(org.stickyFallbackEnabled), 'stays on the next label for the rest of the day'],
              ['Tight from', `${org.tightModeThresholdPct} % of a quota`],
              ['Asks again, normal', `after ${org.refreshIntervalNormalSecs} s`],
              ['Asks again, tight', `after ${org.refreshIntervalTightSecs} s`],
              ['Apps may bring limits', onOff(org.appsMayBringLimits)],
            ]}
          />
        </Card>
      </div>
    </div>
  );
}

const zoneText = ({ timezone, timezoneEffectiveAt }: OrgSettings): string =>
  timezoneEffectiveAt ? `${timezone}, from ${fullTime(timezoneEffectiveAt, timezone)}` : timezone;

type Pair = readonly [name: string, value: ComponentChildren, meaning?: string];

const Pairs = ({ rows }: { readonly rows: readonly Pair[] }) => (
  <dl class="pairs">
    {rows.map(([name, value, meaning]) => (
      <div key={name} class="pair">
        <dt>{name}</dt>
        <dd>
          {value} {meaning && <span class="muted">{meaning}</span>}
        </dd>
      </div>
    ))}
  </dl>
);
