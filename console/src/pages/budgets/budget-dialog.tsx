import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { SetBudgetDocument, type SetBudgetInput } from '../../gql/graphql.js';
import { type Period, parsePercentages } from '../../lib/budgets.js';
import { parseUsd, usd, usdInput } from '../../lib/money.js';
import { dateAndTime, momentIn } from '../../lib/time.js';
import { useOrg, useZone } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field, SelectField } from '../../ui/field.js';
import type { BudgetApps, BudgetRow } from './budgets.js';

type Enforcement = BudgetRow['enforcement'];

interface Draft {
  readonly name: string;
  readonly appId: string;
  readonly label: string;
  readonly dimension: string;
  readonly value: string;
  readonly period: Period;
  readonly amount: string;
  readonly thresholds: string;
  readonly enforcement: Enforcement;
  readonly keepsRaise: boolean;
  readonly raiseAmount: string;
  readonly raiseHours: string;
}

const draftOf = (budget: BudgetRow | undefined): Draft => ({
  name: budget?.name ?? '',
  appId: budget?.appId ?? '',
  label: budget?.label ?? '',
  dimension: budget?.dimension?.name ?? '',
  value: budget?.dimension?.value ?? '',
  period: budget?.period ?? 'MONTH',
  amount: budget ? usdInput(budget.usdMicros) : '',
  thresholds: (budget?.thresholdsPct ?? [50, 80, 95]).join(', '),
  // What was set last, which may not be in force yet.
  enforcement: budget?.nextEnforcement?.enforcement ?? budget?.enforcement ?? 'ALERT',
  keepsRaise: true,
  raiseAmount: '',
  raiseHours: '24',
});

function amountOf(text: string, what: string): number {
  const micros = parseUsd(text);
  if (micros === undefined || micros === 0)
    throw new Error(`${what} must be an amount in dollars, such as 500 or 10.50`);
  return micros;
}

const hourMs = 3_600_000;

/** The raise that a form describes: a new one, the one that is in force, or none. */
function raiseOf(draft: Draft, old: BudgetRow | undefined): SetBudgetInput['raise'] {
  if (draft.raiseAmount.trim()) {
    return {
      until: momentIn(Number(draft.raiseHours) * hourMs),
      usdMicros: amountOf(draft.raiseAmount, 'The raised amount'),
    };
  }
  return draft.keepsRaise && old?.raise ? { until: old.raise.until, usdMicros: old.raise.usdMicros } : null;
}

function inputOf(orgId: string, draft: Draft, old: BudgetRow | undefined): SetBudgetInput {
  return {
    orgId,
    name: draft.name.trim(),
    period: draft.period,
    usdMicros: amountOf(draft.amount, 'The amount'),
    thresholdsPct: parsePercentages(draft.thresholds),
    enforcement: draft.enforcement,
    ...(draft.dimension ? { dimension: { name: draft.dimension, value: draft.value } } : {}),
    ...(draft.appId && !draft.dimension ? { appId: draft.appId } : {}),
    ...(draft.label && !draft.dimension ? { label: draft.label } : {}),
    raise: raiseOf(draft, old),
    expectedVersion: old?.version ?? 0,
  };
}

interface BudgetDialogProps {
  readonly budget: BudgetRow | undefined;
  readonly apps: BudgetApps;
  readonly onClose: () => void;
}

/** Sets a budget, only if nobody else has changed it meanwhile. */
export function BudgetDialog({ budget, apps, onClose }: BudgetDialogProps) {
  const { orgId } = useOrg();
  const [draft, setDraft] = useState(() => draftOf(budget));
  const set = (changes: Partial<Draft>) => setDraft((current) => ({ ...current, ...changes }));
  return (
    <FormDialog
      title={budget ? `Change ${budget.name}` : 'Set budget'}
      submit="Set budget"
      wide
      onClose={onClose}
      onSubmit={async () => {
        await send(SetBudgetDocument, { input: inputOf(orgId, draft, budget) });
        toast('The budget is set. It takes effect on all gateways within 2 s.');
        void refreshAll();
      }}
    >
      <div class="form-row">
        <Field
          label="Name"
          value={draft.name}
          onInput={(name) => set({ name })}
          disabled={budget !== undefined}
          required
          autoFocus
          maxLength={64}
          hint="a-z 0-9 . _ -"
        />
        <Field
          label="Amount in dollars"
          value={draft.amount}
          onInput={(amount) => set({ amount })}
          inputMode="decimal"
          required
        />
        <SelectField<Period>
          label="Per"
          value={draft.period}
          options={[
            ['DAY', 'day'],
            ['WEEK', 'week, from Monday'],
            ['MONTH', 'month'],
          ]}
          onChange={(period) => set({ period })}
        />
      </div>
      <ScopeFields draft={draft} set={set} apps={apps} />
      <div class="form-row">
        <Field
          label="Alerts at percent"
          value={draft.thresholds}
          onInput={(thresholds) => set({ thresholds })}
          hint="100 always raises one."
        />
        <SelectField<Enforcement>
          label="When it is used up"
          value={draft.enforcement}
          options={[
            ['ALERT', 'Alerts only'],
            ['ADVISORY', 'Selections do not recommend its labels'],
            ['HARD', 'The same, and admit reserves before a call, from the next day on'],
          ]}
          onChange={(enforcement) => set({ enforcement })}
        />
      </div>
      <RaiseFields draft={draft} set={set} budget={budget} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly set: (changes: Partial<Draft>) => void;
}

function ScopeFields({ draft, set, apps }: FieldsProps & { readonly apps: BudgetApps }) {
  const { modelOrdering, dimensions } = useOrg();
  return (
    <div class="form-row">
      {dimensions.length > 0 && (
        <SelectField
          label="Counts"
          value={draft.dimension}
          options={[['', 'all costs'], ...dimensions.map((name) => [name, `one ${name}`] as const)]}
          onChange={(dimension) => set({ dimension })}
        />
      )}
      {draft.dimension ? (
        <Field
          label={`Value of ${draft.dimension}`}
          value={draft.value}
          onInput={(value) => set({ value })}
          required
          maxLength={128}
        />
      ) : (
        <>
          <SelectField
            label="App"
            value={draft.appId}
            options={[['', 'the whole org'], ...apps.map(({ appId, name }) => [appId, name] as const)]}
            onChange={(appId) => set({ appId })}
          />
          <SelectField
            label="Label"
            value={draft.label}
            options={[['', 'all labels'], ...modelOrdering.map((label) => [label, label] as const)]}
            onChange={(label) => set({ label })}
            hint={draft.period === 'DAY' ? 'The day of one label has a quota instead.' : ''}
          />
        </>
      )}
    </div>
  );
}

function RaiseFields({ draft, set, budget }: FieldsProps & { readonly budget: BudgetRow | undefined }) {
  const zone = useZone();
  const raise = budget?.raise;
  if (!budget) return null;
  return (
    <fieldset class="limit-fields">
      <legend class="label">Raise for a limited time</legend>
      {raise && (
        <Check
          label={`Keep the raise to ${usd(raise.usdMicros)} until ${dateAndTime(raise.until, zone)}`}
          checked={draft.keepsRaise}
          onChange={(keepsRaise) => set({ keepsRaise })}
        />
      )}
      <div class="form-row">
        <Field
          label="Raised amount in dollars"
          value={draft.raiseAmount}
          onInput={(raiseAmount) => set({ raiseAmount })}
          inputMode="decimal"
          hint="Empty: no new raise."
        />
        <Field
          label="For hours"
          type="number"
          min={1}
          max={744}
          value={draft.raiseHours}
          onInput={(raiseHours) => set({ raiseHours })}
        />
      </div>
    </fieldset>
  );
}
