import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { refreshAll, send, usePages } from '../../data/client.js';
import { AppsDocument, type AppsQuery, RegisterAppDocument } from '../../gql/graphql.js';
import { usd } from '../../lib/money.js';
import { count } from '../../lib/numbers.js';
import { Handover, type Retrieval } from '../../parts/handover.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { orgPath } from '../../shell/routes.js';
import { commands } from '../../ui/commands.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Ago } from '../../ui/fresh.js';
import { Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { InUse } from './in-use.js';

type App = NonNullable<AppsQuery['org']>['apps']['nodes'][number];

export default function Apps() {
  const { orgId } = useOrg();
  const [isNew, setNew] = useState(false);
  const query = usePages(AppsDocument, { orgId }, ({ org }) => org?.apps.pageInfo, { pollMs: 60_000 });
  return (
    <Page
      title="Apps"
      about={<ZoneNote />}
      actions={
        <WriteButton icon="plus" tone="primary" onClick={() => setNew(true)}>
          Register app
        </WriteButton>
      }
    >
      <Card title="Apps of this org" flush foot={query.hasNextPage && <MoreButton query={query} />}>
        <Loaded query={query} what="the apps">
          {({ pages }) => <AppTable apps={pages.flatMap(({ org }) => org?.apps.nodes ?? [])} />}
        </Loaded>
      </Card>
      {isNew && <RegisterDialog onClose={() => setNew(false)} />}
    </Page>
  );
}

function AppTable({ apps }: { readonly apps: readonly App[] }) {
  const { orgId, quotaScope } = useOrg();
  if (apps.length === 0)
    return (
      <Empty title="No apps yet" command={commands.registerApp()}>
        An app is a program that calls models and reports their costs. Register the first one here, or with this
        command:
      </Empty>
    );
  const ownSpend: Column<App>[] = [
    { head: 'Spent today', numeric: true, cell: ({ spend }) => usd(spend.costUsdMicros) },
    { head: 'Calls today', numeric: true, cell: ({ spend }) => count(spend.requests) },
  ];
  const columns: Column<App>[] = [
    {
      head: 'App',
      isHead: true,
      cell: ({ appId, name }) => <Link href={orgPath(orgId, `/apps/${appId}`)}>{name}</Link>,
    },
    { head: 'Id', cell: ({ appId }) => <code>{appId}</code> },
    { head: 'In use', cell: (app) => <InUse app={app} /> },
    // Under quotaScope ORG the apps share one figure.
    ...(quotaScope === 'APP' ? ownSpend : []),
    {
      head: 'Settings',
      cell: ({ inheritedFields }) => (inheritedFields.includes('quotas') ? 'of the org' : 'own quotas'),
    },
    { head: 'Changed', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
  ];
  return <Table caption="Apps" columns={columns} rows={apps} keyOf={({ appId }) => appId} />;
}

function RegisterDialog({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrg();
  const [appId, setAppId] = useState('');
  const [name, setName] = useState('');
  const [retrieval, setRetrieval] = useState<Retrieval>();
  if (retrieval) return <Handover title={`${name} is registered`} retrieval={retrieval} onClose={onClose} />;
  return (
    <FormDialog
      title="Register app"
      submit="Register"
      onClose={onClose}
      keepOpen
      onSubmit={async () => {
        const { registerApp } = await send(RegisterAppDocument, { input: { orgId, appId, name } });
        setRetrieval(registerApp?.secretRetrieval);
        void refreshAll();
      }}
    >
      <Field label="Name" value={name} onInput={setName} maxLength={128} required autoFocus />
      <Field
        label="Id"
        value={appId}
        onInput={setAppId}
        maxLength={64}
        pattern="[a-z0-9][a-z0-9._\-]*"
        hint="1–64 characters of a-z 0-9 . _ -; it cannot be changed later."
        required
      />
      <p class="hint">It inherits the chain and the quotas of the org. You can change that on its page.</p>
    </FormDialog>
  );
}
