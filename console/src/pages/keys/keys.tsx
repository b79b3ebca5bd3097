import { useState } from 'preact/hooks';
import { send, usePages } from '../../data/client.js';
import { KeysDocument, type KeysQuery, RevokeApiKeyDocument } from '../../gql/graphql.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { Page, ZoneNote } from '../../shell/page.js';
import { commands } from '../../ui/commands.js';
import { Ago } from '../../ui/fresh.js';
import { Badge, Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, MoreButton, Table } from '../../ui/table.js';
import { Clients } from './clients.js';
import { CreateKeyDialog } from './create-key.js';

type Key = NonNullable<KeysQuery['org']>['apiKeys']['nodes'][number];

/** The credentials of the org: clients of people and services, and keys of devices. */
export default function Keys() {
  const { orgId } = useOrg();
  const query = usePages(KeysDocument, { orgId }, ({ org }) => org?.apiKeys.pageInfo);
  const [replaced, setReplaced] = useState<Key | 'none'>();
  const [revoked, setRevoked] = useState<Key>();
  return (
    <Page title="Keys" about={<ZoneNote />}>
      <div class="stack">
        <Clients />
        <Card
          title="Device keys"
          flush
          actions={
            <WriteButton tone="small" icon="plus" onClick={() => setReplaced('none')}>
              Create device key
            </WriteButton>
          }
          foot={query.hasNextPage && <MoreButton query={query} />}
        >
          <Loaded query={query} what="the device keys">
            {({ pages }) => (
              <KeyTable
                keys={pages.flatMap(({ org }) => org?.apiKeys.nodes ?? [])}
                onReplace={setReplaced}
                onRevoke={setRevoked}
              />
            )}
          </Loaded>
        </Card>
      </div>
      {replaced && (
        <CreateKeyDialog
          {...(replaced === 'none' ? {} : { replaces: replaced })}
          onClose={() => setReplaced(undefined)}
        />
      )}
      {revoked && (
        <Confirm
          title="Revoke this device key?"
          submit="Revoke"
          done="The device key is revoked"
          onConfirm={() => send(RevokeApiKeyDocument, { orgId, keyId: revoked.keyId })}
          onClose={() => setRevoked(undefined)}
        >
          Devices that use {revoked.description ?? revoked.keyId} are refused on all gateways within 2 s. It cannot be
          undone.
        </Confirm>
      )}
    </Page>
  );
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly onReplace: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

function KeyTable({ keys, onReplace, onRevoke }: KeyTableProps) {
  if (keys.length === 0)
    return (
      <Empty title="No device keys yet" command={commands.createApiKey()}>
        Devices register and send readings with a device key. Create the first one here, or with this command:
      </Empty>
    );
  const columns: Column<Key>[] = [
    { head: 'Key', isHead: true, cell: ({ description, keyId }) => description ?? keyId },
    { head: 'Id', cell: ({ keyId }) => <code>{keyId}</code> },
    { head: 'State', cell: ({ active }) => (active ? <Badge tone="ok">active</Badge> : <Badge>revoked</Badge>) },
    { head: 'Serves', cell: ({ hardwareId }) => (hardwareId ? <code>{hardwareId}</code> : 'its devices') },
    { head: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago at={lastUsedAt} /> : 'never') },
    { head: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      head: '',
      class: 'actions',
      cell: (key) =>
        key.active && (
          <>
            <WriteButton
              tone="plain small"
              label={`Replace ${key.description ?? key.keyId}`}
              onClick={() => onReplace(key)}
            >
              Replace
            </WriteButton>
            <WriteButton
              tone="plain small danger"
              label={`Revoke ${key.description ?? key.keyId}`}
              onClick={() => onRevoke(key)}
            >
              Revoke
            </WriteButton>
          </>
        ),
    },
  ];
  return <Table caption="Device keys" columns={columns} rows={keys} keyOf={({ keyId }) => keyId} />;
}
