import { useState } from 'preact/hooks';
import { useQuery } from '../../data/client.js';
import { CallDocument, type CallQuery } from '../../gql/graphql.js';
import { longDay } from '../../lib/days.js';
import { usd, usdExact } from '../../lib/money.js';
import { count } from '../../lib/numbers.js';
import { priceSourceText } from '../../lib/prices.js';
import { fullTime } from '../../lib/time.js';
import { WriteButton } from '../../parts/write-button.js';
import { useOrg, useZone } from '../../shell/context.js';
import { Dialog } from '../../ui/dialog.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { CorrectDialog } from './correct-dialog.js';

/** Names a call. */
export interface CallRef {
  readonly appId: string;
  readonly requestId: string;
}

export type CallData = NonNullable<NonNullable<CallQuery['org']>['cost']>;

interface CallDialogProps {
  readonly call: CallRef;
  readonly onClose: () => void;
}

/** One call: how its cost was computed, and its corrections. */
export function CallDialog({ call: { appId, requestId }, onClose }: CallDialogProps) {
  const { orgId } = useOrg();
  const query = useQuery(CallDocument, { orgId, appId, requestId });
  const [isCorrecting, setCorrecting] = useState(false);
  const found = query.data?.org?.cost;
  if (isCorrecting && found) return <CorrectDialog call={found} onClose={() => setCorrecting(false)} />;
  return (
    <Dialog title={`Call of ${appId}`} wide onClose={onClose}>
      <div class="body">
        <Loaded query={query} what="the call">
          {({ org }) =>
            org?.cost ? (
              <Content call={org.cost} />
            ) : (
              <Empty title="There is no such call">
                The app has not reported a call with this request id, or it has expired. Calls are kept for 35 days,
                unless the platform has set another time.
              </Empty>
            )
          }
        </Loaded>
      </div>
      <footer>
        {found && <WriteButton onClick={() => setCorrecting(true)}>Correct the cost</WriteButton>}
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}

function Content({ call }: { readonly call: CallData }) {
  const zone = useZone();
  return (
    <>
      <dl class="pairs">
        <dt>Request id</dt>
        <dd>
          <code>{call.requestId}</code>
        </dd>
        <dt>Label</dt>
        <dd>{call.label}</dd>
        <dt>Made</dt>
        <dd>{fullTime(call.occurredAt, zone)}</dd>
        <dt>Recorded</dt>
        <dd>{fullTime(call.receivedAt, zone)}</dd>
        <dt>Counts on</dt>
        <dd>{longDay(call.day)}</dd>
        <dt>Outcome</dt>
        <dd>{call.status === 'ERROR' ? 'failed; its cost counts too' : 'ok'}</dd>
        <dt>Tokens</dt>
        <dd>
          {count(call.inputTokens)} of input, {count(call.outputTokens)} of output
        </dd>
        {call.dimensions.map(({ name, value }) => (
          <div key={name} class="pair">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <dt>Price from</dt>
        <dd>{priceSourceText(call.priceSource)}</dd>
        <dt>Cost</dt>
        <dd>
          <strong>{usdExact(call.correctedUsdMicros)}</strong>
          {call.estimated && ', estimated: the usage was not known exactly'}
          {call.corrections.length > 0 && ` after corrections; recorded ${usdExact(call.costUsdMicros)}`}
        </dd>
      </dl>
      {call.lines.length > 0 && <Lines lines={call.lines} />}
      {call.corrections.length > 0 && <Corrections corrections={call.corrections} />}
    </>
  );
}

const Lines = ({ lines }: { readonly lines: CallData['lines'] }) => (
  <Table
    caption="How the cost was computed"
    class="framed"
    columns={[
      { head: 'Part', isHead: true, cell: ({ name }) => name },
      { head: 'Quantity', numeric: true, cell: ({ quantity }) => count(quantity) },
      { head: 'Dollars per 1M', numeric: true, cell: ({ usdMicrosPer1M }) => usd(usdMicrosPer1M) },
      { head: 'Cost', numeric: true, cell: ({ costUsdMicros }) => usdExact(costUsdMicros) },
    ]}
    rows={lines}
    keyOf={({ name }) => name}
  />
);

function Corrections({ corrections }: { readonly corrections: CallData['corrections'] }) {
  const zone = useZone();
  return (
    <Table
      caption="Corrections"
      class="framed"
      columns={[
        { head: 'Corrected', cell: ({ correctedAt }) => fullTime(correctedAt, zone), class: 'nowrap' },
        { head: 'Reason', isHead: true, cell: ({ reason }) => reason },
        { head: 'Amount', numeric: true, cell: ({ deltaUsdMicros }) => usdExact(deltaUsdMicros) },
      ]}
      rows={corrections}
      keyOf={({ correctionId }) => correctionId}
    />
  );
}
