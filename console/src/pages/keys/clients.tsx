import { useState } from 'preact/hooks';
import { refreshAll, send, useQuery } from '../../data/client.js';
import { ClientsDocument, type ClientsQuery, CreateClientDocument, DeleteClientDocument } from '../../gql/graphql.js';
import { Confirm } from '../../parts/confirm.js';
import { Handover, type Retrieval } from '../../parts/handover.js';
import { RotateDialog } from '../../parts/rotate.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg, useSession } from '../../shell/context.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';
import { Ago } from '../../ui/fresh.js';
import { Badge, Card } from '../../ui/parts.js';
import { Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

type OrgClients = NonNullable<ClientsQuery['org']>;

interface Row {
  readonly clientId: string;
  readonly name: string;
  readonly role: string;
  readonly secretCreatedAt: string | null;
  readonly lastLoginAt?: string | null;
  readonly isFirst?: boolean;
}

const rowsOf = ({ credentials, clients }: OrgClients): Row[] => [
  { ...credentials, name: 'First client', role: 'FULL', isFirst: true },
  ...clients.map(({ credentials: { secretCreatedAt }, ...client }) => ({ ...client, secretCreatedAt })),
];

/** The clients of the org itself. Those of an app are on its page. */
export function Clients() {
  const { orgId } = useOrg();
  const query = useQuery(ClientsDocument, { orgId });
  const [isNew, setNew] = useState(false);
  const [rotated, setRotated] = useState<string>();
  const [deleted, setDeleted] = useState<Row>();
  return (
    <Card
      title="Clients of the org"
      flush
      actions={
        <WriteButton tone="small" icon="plus" onClick={() => setNew(true)}>
          Create client
        </WriteButton>
      }
    >
      <Loaded query={query} what="the clients">
        {({ org }) =>
          org && (
            <>
              <ClientTable rows={rowsOf(org)} onRotate={setRotated} onDelete={setDeleted} />
              {isNew && <CreateDialog apps={org.apps.nodes} onClose={() => setNew(false)} />}
            </>
          )
        }
      </Loaded>
      {rotated && <RotateDialog clientId={rotated} isOrgClient onClose={() => setRotated(undefined)} />}
      {deleted && (
        <Confirm
          title={`Delete ${deleted.name}?`}
          submit="Delete"
          done={`${deleted.name} was deleted`}
          onConfirm={() => send(DeleteClientDocument, { orgId, clientId: deleted.clientId })}
          onClose={() => setDeleted(undefined)}
        >
          Its secrets, tokens and sessions end on all gateways within 2 s. Its id is never used again.
        </Confirm>
      )}
    </Card>
  );
}

interface ClientTableProps {
  readonly rows: readonly Row[];
  readonly onRotate: (clientId: string) => void;
  readonly onDelete: (row: Row) => void;
}

function ClientTable({ rows, onRotate, onDelete }: ClientTableProps) {
  const own = useSession().clientId;
  const columns: Column<Row>[] = [
    {
      head: 'Client',
      isHead: true,
      cell: ({ name, clientId }) => (
        <>
          {name} {clientId === own && <Badge tone="accent">this session</Badge>}
        </>
      ),
    },
    { head: 'Id', cell: ({ clientId }) => <code>{clientId}</code> },
    { head: 'Role', cell: ({ role }) => (role === 'READ' ? 'read-only' : 'full') },
    {
      head: 'Secret made',
      cell: ({ secretCreatedAt }) => (secretCreatedAt ? <Ago at={secretCreatedAt} /> : 'not yet'),
    },
    {
      head: 'Last login',
      cell: ({ lastLoginAt, isFirst }) => (lastLoginAt ? <Ago at={lastLoginAt} /> : isFirst ? '–' : 'never'),
    },
    {
      head: '',
      class: 'actions',
      cell: (row) => (
        <>
          <WriteButton tone="plain small" label={`Rotate ${row.name}`} onClick={() => onRotate(row.clientId)}>
            Rotate
          </WriteButton>
          {!row.isFirst && (
            <WriteButton tone="plain small danger" label={`Delete ${row.name}`} onClick={() => onDelete(row)}>
              Delete
            </WriteButton>
          )}
        </>
      ),
    },
  ];
  return (
    <Table
      caption="Clients of the org and their use"
      columns={columns}
      rows={rows}
      keyOf={({ clientId }) => clientId}
    />
  );
}

interface CreateProps {
  readonly apps: OrgClients['apps']['nodes'];
  readonly onClose: () => void;
}

function CreateDialog({ apps, onClose }: CreateProps) {
  const { orgId } = useOrg();
  const isAdmin = useSession().kind === 'PLATFORM_ADMIN';
  const [name, setName] = useState('');
  const [role, setRole] = useState<'FULL' | 'READ'>('READ');
  const [appId, setAppId] = useState('');
  const [currentSecret, setCurrentSecret] = useState('');
  const [retrieval, setRetrieval] = useState<Retrieval>();
  const needsProof = !isAdmin && appId === '';
  if (retrieval) return <Handover title={`${name} is created`} retrieval={retrieval} onClose={onClose} />;
  return (
    <FormDialog
      title="Create client"
      submit="Create"
      onClose={onClose}
      keepOpen
      onSubmit={async () => {
        const input = { orgId, name, role, ...(appId ? { appId } : {}), ...(needsProof ? { currentSecret } : {}) };
        const { createClient } = await send(CreateClientDocument, { input });
        setRetrieval(createClient?.secretRetrieval);
        void refreshAll();
      }}
    >
      <Field
        label="Name"
        value={name}
        onInput={setName}
        maxLength={128}
        required
        autoFocus
        hint="What the client is for"
      />
      <SelectField
        label="Acts for"
        value={appId}
        options={[['', 'the org and all its apps'], ...apps.map((app) => [app.appId, `the app ${app.name}`] as const)]}
        onChange={setAppId}
      />
      <SelectField
        label="Role"
        value={role}
        options={[
          ['READ', 'Read-only: queries and subscriptions'],
          ['FULL', 'Full: may change things'],
        ]}
        onChange={setRole}
      />
      {needsProof && (
        <Field
          label="The secret you signed in with"
          type="password"
          autoComplete="current-password"
          value={currentSecret}
          onInput={setCurrentSecret}
          required
        />
      )}
    </FormDialog>
  );
}
