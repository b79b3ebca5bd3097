import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { explain } from '../../data/problem.js';
import { SwitchLedgerDocument } from '../../gql/graphql.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { commands } from '../../ui/commands.js';
import { useAction } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { Card } from '../../ui/parts.js';
import { Empty } from '../../ui/states.js';
import type { CallRef } from './call-dialog.js';

/** Says what the ledger is and costs, and switches it on. */
export function LedgerOff() {
  const { orgId } = useOrg();
  const { run, error } = useAction(async () => {
    await send(SwitchLedgerDocument, { orgId });
    toast('The ledger is on. It lists the calls that are recorded from now on.');
    void refreshAll();
  });
  return (
    <Card
      title="Recorded calls"
      flush
      actions={
        <WriteButton tone="small primary" onClick={() => void run()}>
          Switch on the ledger
        </WriteButton>
      }
      foot={error !== undefined && <span class="problem">{explain(error)}</span>}
    >
      <Empty title="The ledger of this org is off" command={commands.switchLedger()}>
        The ledger lists single calls and costs one more write unit per call. Totals, budgets and the look-up above work
        without it. Switch it on here, or with this command:
      </Empty>
    </Card>
  );
}

interface LookupProps {
  readonly apps: readonly { readonly appId: string; readonly name: string }[];
  readonly onOpen: (call: CallRef) => void;
}

const uuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** Opens one call by its request id. Works without the ledger. */
export function Lookup({ apps, onOpen }: LookupProps) {
  const [app, setApp] = useState('');
  const [requestId, setRequestId] = useState('');
  const appId = app || apps[0]?.appId;
  if (appId === undefined) return null;
  return (
    <Card title="Look up one call">
      <form
        class="form-row lookup"
        onSubmit={(event) => {
          event.preventDefault();
          onOpen({ appId, requestId: requestId.trim().toLowerCase() });
        }}
      >
        <SelectField
          label="App of the call"
          value={appId}
          options={apps.map(({ appId: id, name }) => [id, name] as const)}
          onChange={setApp}
        />
        <Field
          label="Request id"
          value={requestId}
          onInput={setRequestId}
          placeholder="The requestId of submitCost"
          pattern={`\\s*${uuid}\\s*`}
          required
        />
        <div>
          <button type="submit" class="button">
            <Icon name="search" />
            Look up
          </button>
        </div>
      </form>
    </Card>
  );
}
