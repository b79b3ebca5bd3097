import { useState } from 'preact/hooks';
import { refreshAll, send, useQuery } from '../../data/client.js';
import { OrgLabelsDocument, RegisterOrgDocument } from '../../gql/graphql.js';
import { ChainEditor, type ChainRow, quotasOf } from '../../parts/chain-editor.js';
import { Handover, type Retrieval } from '../../parts/handover.js';
import { ZoneField } from '../../parts/zone-field.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';

/** Registers an org. One dialog is one org, so a second click after a lost response registers no second one. */
export function RegisterDialog({ onClose }: { readonly onClose: () => void }) {
  const labels = useQuery(OrgLabelsDocument, {}).data?.models.map(({ label }) => label) ?? [];
  const [orgId] = useState(() => crypto.randomUUID());
  const [name, setName] = useState('');
  const [timezone, setTimezone] = useState('UTC');
  const [quotaScope, setQuotaScope] = useState<'APP' | 'ORG'>('APP');
  const [shardCount, setShardCount] = useState('8');
  const [rows, setRows] = useState<readonly ChainRow[]>([]);
  const [retrieval, setRetrieval] = useState<Retrieval>();
  if (retrieval) return <Handover title={`${name} is registered`} retrieval={retrieval} onClose={onClose} />;
  return (
    <FormDialog
      title="Register org"
      submit="Register"
      wide
      onClose={onClose}
      keepOpen
      onSubmit={async () => {
        if (rows.length === 0) throw new Error('Add at least one label to the chain');
        const input = {
          orgId,
          name,
          timezone,
          quotaScope,
          shardCount: Number(shardCount),
          modelOrdering: rows.map(({ label }) => label),
          quotas: quotasOf(rows),
        };
        const { registerOrg } = await send(RegisterOrgDocument, { input });
        setRetrieval(registerOrg?.secretRetrieval);
        void refreshAll();
      }}
    >
      <div class="form-row">
        <Field label="Name" value={name} onInput={setName} maxLength={128} required autoFocus />
        <ZoneField value={timezone} onInput={setTimezone} />
      </div>
      <div class="form-row">
        <SelectField
          label="Quotas"
          value={quotaScope}
          options={[
            ['APP', 'Each app has them to itself'],
            ['ORG', 'All apps share them'],
          ]}
          onChange={setQuotaScope}
          hint="It cannot be changed later."
        />
        <SelectField
          label="Counters per scope"
          value={shardCount}
          options={[
            ['8', '8'],
            ['16', '16'],
            ['32', '32'],
            ['64', '64: for more than 100 costs per second'],
          ]}
          onChange={setShardCount}
          hint="It cannot be changed later."
        />
      </div>
      <div class="stack-s">
        <span class="label">Fallback chain and daily quotas</span>
        <ChainEditor rows={rows} labels={labels} onChange={setRows} isNew />
      </div>
    </FormDialog>
  );
}
