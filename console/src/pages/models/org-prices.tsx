import { useState } from 'preact/hooks';
import { refreshAll, send, useQuery } from '../../data/client.js';
import { OrgPricesDocument, type OrgPricesQuery, SetOrgPriceDocument } from '../../gql/graphql.js';
import { priceAt, priceText } from '../../lib/prices.js';
import { fullTime, serverNow, utcMoment } from '../../lib/time.js';
import { Confirm } from '../../parts/confirm.js';
import { WriteButton } from '../../parts/write-button.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Field, SelectField } from '../../ui/field.js';
import { Card } from '../../ui/parts.js';
import { Empty, Loaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import type { Model } from './models.js';
import { draftsOf, entryOf, PriceList } from './price-list.js';

type OrgPrice = NonNullable<OrgPricesQuery['org']>['prices'][number];

interface OrgPricesProps {
  readonly org: { readonly orgId: string; readonly name: string };
  /** The models of the catalog, whose prices an own price replaces. */
  readonly models: readonly Model[];
  readonly isAdmin: boolean;
}

type Open = { readonly kind: 'set' | 'clear'; readonly label: string } | undefined;

/** The prices that the org on screen has instead of those of the catalog. */
export function OrgPrices({ org, models, isAdmin }: OrgPricesProps) {
  const { orgId, name } = org;
  const query = useQuery(OrgPricesDocument, { orgId });
  const [open, setOpen] = useState<Open>();
  const prices = query.data?.org?.prices ?? [];
  return (
    <Card
      title={`Own prices of ${name}`}
      flush
      actions={
        isAdmin &&
        models.length > 0 && (
          <WriteButton tone="small" icon="plus" onClick={() => setOpen({ kind: 'set', label: models[0]?.label ?? '' })}>
            Set price
          </WriteButton>
        )
      }
    >
      <Loaded query={query} what="the prices of the org">
        {() => <PriceTable prices={prices} onOpen={isAdmin ? setOpen : undefined} />}
      </Loaded>
      {open?.kind === 'set' && (
        <OrgPriceDialog
          orgId={orgId}
          models={models}
          prices={prices}
          first={open.label}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.kind === 'clear' && (
        <Confirm
          title={`Clear the price of ${open.label}?`}
          submit="Clear"
          done={`${name} has the price of the catalog again`}
          onConfirm={() => send(SetOrgPriceDocument, { input: { orgId, label: open.label, prices: null } })}
          onClose={() => setOpen(undefined)}
        >
          New costs of {name} then have the price of the catalog. Costs that are recorded keep theirs.
        </Confirm>
      )}
    </Card>
  );
}

interface PriceTableProps {
  readonly prices: readonly OrgPrice[];
  readonly onOpen: ((open: Open) => void) | undefined;
}

function PriceTable({ prices, onOpen }: PriceTableProps) {
  const now = serverNow();
  const rows = prices.map(({ label, changes }) => ({ label, ...priceAt(changes, now) }));
  type Row = (typeof rows)[number];
  if (rows.length === 0)
    return <Empty title="No own prices">All costs of this org have the prices of the catalog.</Empty>;
  const columns: Column<Row>[] = [
    { head: 'Label', isHead: true, cell: ({ label }) => label },
    { head: 'Dollars per 1M', cell: ({ current }) => priceText(current?.entries ?? []) || 'price of the catalog' },
    { head: 'Since', cell: ({ current }) => momentText(current?.effectiveFrom) },
    { head: 'Next change', cell: ({ next }) => next && `${momentText(next.effectiveFrom)}: ${nextText(next.entries)}` },
  ];
  const actions: Column<Row> = {
    head: '',
    class: 'actions',
    cell: ({ label, current }) => (
      <>
        <WriteButton
          tone="plain small"
          icon="edit"
          label={`Change the price of ${label}`}
          onClick={() => onOpen?.({ kind: 'set', label })}
        />
        {current && current.entries.length > 0 && (
          <WriteButton
            tone="plain small danger"
            label={`Clear the price of ${label}`}
            onClick={() => onOpen?.({ kind: 'clear', label })}
          >
            Clear
          </WriteButton>
        )}
      </>
    ),
  };
  return (
    <Table
      caption="Own prices of the org"
      columns={onOpen ? [...columns, actions] : columns}
      rows={rows}
      keyOf={({ label }) => label}
    />
  );
}

const momentText = (at: string | null | undefined): string => (at ? fullTime(at, 'UTC') : '');
const nextText = (entries: Parameters<typeof priceText>[0]): string => priceText(entries) || 'price of the catalog';

interface OrgPriceDialogProps {
  readonly orgId: string;
  readonly models: readonly Model[];
  readonly prices: readonly OrgPrice[];
  /** The label that is chosen first. */
  readonly first: string;
  readonly onClose: () => void;
}

/** Sets the price of an org for a label from a time on. The form begins with the price that is in force. */
function OrgPriceDialog({ orgId, models, prices, first, onClose }: OrgPriceDialogProps) {
  const entriesOf = (label: string) => {
    const own = priceAt(prices.find((price) => price.label === label)?.changes ?? [], serverNow()).current?.entries;
    return own?.length ? own : (models.find((model) => model.label === label)?.price.entries ?? []);
  };
  const [label, setLabel] = useState(first);
  const [drafts, setDrafts] = useState(() => draftsOf(entriesOf(first)));
  const [startsAt, setStartsAt] = useState('');
  const labels = [...new Set([first, ...models.map((model) => model.label)])];
  return (
    <FormDialog
      title="Set a price for this org"
      submit="Set price"
      wide
      onClose={onClose}
      onSubmit={async () => {
        const effectiveFrom = utcMoment(startsAt);
        const start = effectiveFrom === undefined ? {} : { effectiveFrom };
        await send(SetOrgPriceDocument, { input: { orgId, label, prices: drafts.map(entryOf), ...start } });
        toast(`Saved. ${effectiveFrom ? `Costs from ${momentText(effectiveFrom)} on` : 'New costs'} have this price.`);
        void refreshAll();
      }}
    >
      <div class="form-row">
        <SelectField
          label="Label"
          value={label}
          options={labels.map((value) => [value, value] as const)}
          onChange={(value) => {
            setLabel(value);
            setDrafts(draftsOf(entriesOf(value)));
          }}
        />
        <Field
          label="Starts at, in UTC"
          type="datetime-local"
          value={startsAt}
          onInput={setStartsAt}
          hint="Empty: now. At most 35 days ago and 365 days ahead."
        />
      </div>
      <p class="hint">Costs that are recorded already keep their price.</p>
      <PriceList prices={drafts} onChange={setDrafts} />
    </FormDialog>
  );
}
