import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { CorrectCostDocument } from '../../gql/graphql.js';
import { parseUsd, usdExact } from '../../lib/money.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';
import type { CallData } from './call-dialog.js';

const directions = [
  ['credit', 'Credit: the call cost less'],
  ['debit', 'Debit: the call cost more'],
] as const;
type Direction = (typeof directions)[number][0];

interface CorrectDialogProps {
  readonly call: CallData;
  readonly onClose: () => void;
}

/** Corrects the cost of a call. One input is one correction: a second click after a lost response adds nothing. */
export function CorrectDialog({ call, onClose }: CorrectDialogProps) {
  const { orgId } = useOrg();
  const [direction, setDirection] = useState<Direction>('credit');
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [sent, setSent] = useState({ correctionId: '', key: '' });
  const correct = async () => {
    const usdMicros = parseUsd(amount);
    if (!usdMicros) throw new Error('The amount must be more than 0 dollars, with at most six decimals, such as 0.25');
    const key = JSON.stringify([direction, usdMicros, reason]);
    const correctionId = sent.key === key ? sent.correctionId : crypto.randomUUID();
    setSent({ correctionId, key });
    const { appId, requestId } = call;
    const deltaUsdMicros = direction === 'credit' ? -usdMicros : usdMicros;
    await send(CorrectCostDocument, { input: { orgId, appId, requestId, correctionId, deltaUsdMicros, reason } });
    toast('Corrected. Totals show it after the next sum, within about a minute.');
    void refreshAll();
  };
  return (
    <FormDialog title="Correct the cost" submit="Correct" onClose={onClose} onSubmit={correct}>
      <p class="small muted">
        The call costs {usdExact(call.correctedUsdMicros)} now. The correction counts on the day of the call and stays
        in the audit trail.
      </p>
      <SelectField label="Kind" value={direction} options={directions} onChange={setDirection} />
      <Field label="Amount in dollars" value={amount} onInput={setAmount} required autoFocus inputMode="decimal" />
      <Field label="Reason" value={reason} onInput={setReason} required maxLength={500} />
    </FormDialog>
  );
}
