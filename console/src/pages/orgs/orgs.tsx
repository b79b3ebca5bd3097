import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { send, usePages } from '../../data/client.js';
import { OrgsDocument, type OrgsQuery, ResumeOrgDocument, SuspendOrgDocument } from '../../gql/graphql.js';
import { fullTime } from '../../lib/time.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { Page } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { RegisterDialog } from './register.js';

type Org = OrgsQuery['orgs']['nodes'][number];

/** All tenants of the platform. */
export default function Orgs() {
  const query = usePages(OrgsDocument, {}, ({ orgs }) => orgs.pageInfo);
  const [isNew, setNew] = useState(false);
  const [toggled, setToggled] = useState<Org>();
  return (
    <Page
      title="Orgs"
      about="Times in UTC"
      actions={
        <WriteButton icon="plus" tone="primary" onClick={() => setNew(true)}>
          Register org
        </WriteButton>
      }
    >
      <Card title="Orgs of this platform" flush foot={query.hasNextPage && <MoreButton query={query} />}>
        <Loaded query={query} what="the orgs">
          {({ pages }) => <OrgTable orgs={pages.flatMap(({ orgs }) => orgs.nodes)} onToggle={setToggled} />}
        </Loaded>
      </Card>
      {isNew && <RegisterDialog onClose={() => setNew(false)} />}
      {toggled && <ToggleDialog org={toggled} onClose={() => setToggled(undefined)} />}
    </Page>
  );
}

function OrgTable({ orgs, onToggle }: { readonly orgs: readonly Org[]; readonly onToggle: (org: Org) => void }) {
  if (orgs.length === 0)
    return (
      <Empty title="No orgs yet" command={commands.registerOrg()}>
        An org is a tenant with its own apps, limits and devices. Register the first one here, or with this command:
      </Empty>
    );
  const columns: Column<Org>[] = [
    { head: 'Org', isHead: true, cell: ({ orgId, name }) => <Link href={orgPath(orgId, '/overview')}>{name}</Link> },
    { head: 'Id', cell: ({ orgId }) => <code>{orgId}</code> },
    {
      head: 'State',
      cell: ({ suspendedAt }) => (suspendedAt ? <Badge tone="bad">suspended</Badge> : <Badge tone="ok">active</Badge>),
    },
    { head: 'Time zone', cell: ({ timezone }) => timezone },
    { head: 'Quotas', cell: ({ quotaScope }) => (quotaScope === 'APP' ? 'per app' : 'shared') },
    { head: 'Chain', cell: ({ modelOrdering }) => modelOrdering.join(' → ') },
    {
      head: 'Registered',
      class: 'nowrap',
      cell: ({ createdAt }) => <span title={fullTime(createdAt, 'UTC')}>{createdAt.slice(0, 10)}</span>,
    },
    {
      head: '',
      class: 'actions',
      cell: (org) => (
        <>
          <Link class="button plain small" href={orgPath(org.orgId, '/settings')}>
            Settings
          </Link>
          <WriteButton
            tone={`plain small ${org.suspendedAt ? '' : 'danger'}`}
            label={`${org.suspendedAt ? 'Resume' : 'Suspend'} ${org.name}`}
            onClick={() => onToggle(org)}
          >
            {org.suspendedAt ? 'Resume' : 'Suspend'}
          </WriteButton>
        </>
      ),
    },
  ];
  return <Table caption="Orgs" columns={columns} rows={orgs} keyOf={({ orgId }) => orgId} />;
}

function ToggleDialog({
  org: { orgId, name, suspendedAt },
  onClose,
}: {
  readonly org: Org;
  readonly onClose: () => void;
}) {
  return suspendedAt ? (
    <Confirm
      title={`Resume ${name}?`}
      submit="Resume"
      done={`${name} works again`}
      onConfirm={() => send(ResumeOrgDocument, { orgId })}
      onClose={onClose}
    >
      Its credentials work again as before.
    </Confirm>
  ) : (
    <Confirm
      title={`Suspend ${name}?`}
      submit="Suspend"
      done={`${name} is suspended`}
      onConfirm={() => send(SuspendOrgDocument, { orgId })}
      onClose={onClose}
    >
      All its tokens, secrets and device keys are refused on all gateways within 2 s, until it is resumed.
    </Confirm>
  );
}
