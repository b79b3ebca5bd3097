import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { TopUpDocument } from '../../gql/graphql.js';
import { count } from '../../lib/numbers.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';

export interface TopUpTarget {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: string;
}

/** Gives tokens to a bucket. One dialog is one operation: a second click after a lost response gives nothing more. */
export function TopUpDialog({ target, onClose }: { readonly target: TopUpTarget; readonly onClose: () => void }) {
  const { orgId } = useOrg();
  const [amount, setAmount] = useState('');
  const [operation, setOperation] = useState(() => ({ id: crypto.randomUUID(), amount: '' }));
  return (
    <FormDialog
      title={`Top up ${target.limit} of ${target.entityId}`}
      submit="Give the tokens"
      onClose={onClose}
      onSubmit={async () => {
        // Another amount is another operation.
        const current = operation.amount === '' || operation.amount === amount ? operation.id : crypto.randomUUID();
        setOperation({ id: current, amount });
        const input = { orgId, ...target, amount: Number(amount), operationId: current };
        const { topUp } = await send(TopUpDocument, { input });
        const status = topUp?.statuses.find(({ limit }) => limit.name === target.limit);
        toast(status ? `${count(status.available)} tokens of ${target.limit} are available now` : 'The bucket is full');
        void refreshAll();
      }}
    >
      <Field
        label={`Tokens of ${target.limit} for ${target.resource}`}
        type="number"
        min={1}
        value={amount}
        onInput={setAmount}
        hint="Tokens above the burst are lost."
        required
        autoFocus
      />
    </FormDialog>
  );
}
