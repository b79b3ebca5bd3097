import { useState } from 'preact/hooks';
import { refreshAll, send } from '../data/client.js';
import { explain } from '../data/problem.js';
import {
  AcquireDocument,
  AvailabilityDocument,
  type ConsumeInput,
  ReleaseLeaseDocument,
  type StatusFragment,
} from '../gql/graphql.js';
import { count } from '../lib/numbers.js';
import { useOrg, useWriteBlock } from '../shell/context.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Badge } from '../ui/parts.js';
import { Table } from '../ui/table.js';

interface TryProps {
  readonly resource: string;
  readonly entityId?: string;
  /** The limits that can be taken from. */
  readonly limits: readonly string[];
  readonly onClose: () => void;
}

interface Outcome {
  readonly text: string;
  readonly tone: 'ok' | 'bad';
  readonly statuses: readonly StatusFragment[];
  readonly leaseId?: string;
}

const waitText = (secs: number): string => `a retry can succeed in ${secs} s`;

type Request = { readonly entityId: string; readonly resource: string; readonly consume: ConsumeInput[] };

/** What can be done with a request, and what came of it. */
function useAttempts(request: Request) {
  const { orgId } = useOrg();
  const [outcome, setOutcome] = useState<Outcome>();
  const check = useAction(async () => {
    const { availability } = await send(AvailabilityDocument, { orgId, ...request });
    const { retryAfterSecs, statuses } = availability;
    const isFree = retryAfterSecs === 0;
    const text = isFree ? 'It would be granted now.' : `It would be refused; ${waitText(retryAfterSecs)}.`;
    setOutcome({ text, tone: isFree ? 'ok' : 'bad', statuses });
  });
  const take = useAction(async () => {
    const { acquire } = await send(AcquireDocument, { input: { orgId, ...request } });
    if (acquire?.__typename === 'Lease') {
      const { statuses, leaseId } = acquire;
      setOutcome({ text: 'Granted. The tokens are taken.', tone: 'ok', statuses, leaseId });
    } else if (acquire) setOutcome({ text: acquire.message, tone: 'bad', statuses: acquire.statuses });
    void refreshAll();
  });
  const giveBack = useAction(async () => {
    await send(ReleaseLeaseDocument, { leaseId: outcome?.leaseId ?? '' });
    setOutcome({ text: 'The tokens were given back.', tone: 'ok', statuses: [] });
    void refreshAll();
  });
  return { outcome, check, take, giveBack, error: check.error ?? take.error ?? giveBack.error };
}

/** Checks what an acquire would do, or does it. */
export function TryDialog({ resource, entityId: given = '', limits, onClose }: TryProps) {
  const block = useWriteBlock();
  const [entityId, setEntityId] = useState(given);
  const [amounts, setAmounts] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(limits.map((name) => [name, '1'])),
  );
  const consume = limits.map((limit) => ({ limit, amount: Number(amounts[limit] || 0) }));
  const { outcome, check, take, giveBack, error } = useAttempts({ entityId, resource, consume });
  const mayTake = block === null && entityId !== '';
  return (
    <Dialog title={`Try an acquire of ${resource}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void check.run();
        }}
      >
        <div class="body">
          <Field label="Entity" value={entityId} onInput={setEntityId} required autoFocus maxLength={256} />
          <div class="form-row">
            {limits.map((limit) => (
              <Field
                key={limit}
                label={`Amount of ${limit}`}
                type="number"
                min={0}
                value={amounts[limit] ?? ''}
                onInput={(value) => setAmounts({ ...amounts, [limit]: value })}
              />
            ))}
          </div>
          <div aria-live="polite">{outcome && <OutcomeView {...outcome} />}</div>
          {error !== undefined && (
            <p class="problem" role="alert">
              {explain(error)}
            </p>
          )}
        </div>
        <footer>
          {outcome?.leaseId && (
            <button type="button" class="button" onClick={() => void giveBack.run()}>
              Give back
            </button>
          )}
          <button
            type="button"
            class="button"
            aria-disabled={!mayTake}
            title={block ?? undefined}
            onClick={() => void (mayTake && take.run())}
          >
            Take the tokens
          </button>
          <button type="submit" class="button primary">
            Check only
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const OutcomeView = ({ text, tone, statuses }: Outcome) => (
  <div class="stack-s">
    <p>
      <Badge tone={tone} icon={tone === 'ok' ? 'check' : 'close'}>
        {tone === 'ok' ? 'Yes' : 'No'}
      </Badge>{' '}
      {text}
    </p>
    {statuses.length > 0 && (
      <Table
        caption="Limits that were checked"
        columns={[
          { head: 'Entity', isHead: true, cell: ({ entityId }) => entityId },
          { head: 'Limit', cell: ({ limit }) => limit.name },
          { head: 'Requested', numeric: true, cell: ({ requested }) => count(requested) },
          {
            head: 'Available',
            numeric: true,
            cell: ({ available, limit }) => `${count(available)} of ${count(limit.burst)}`,
          },
        ]}
        rows={statuses}
        keyOf={({ entityId, limit }) => `${entityId} ${limit.name}`}
      />
    )}
  </div>
);
