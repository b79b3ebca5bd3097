import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { UpdateOrgDocument, type UpdateOrgInput } from '../../gql/graphql.js';
import { ChainEditor, type ChainRow, chainRows, quotasOf } from '../../parts/chain-editor.js';
import { ZoneField } from '../../parts/zone-field.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import type { OrgSettings } from './settings.js';

interface Draft {
  readonly name: string;
  readonly timezone: string;
  readonly rows: readonly ChainRow[];
  readonly dimensions: string;
  readonly stickyFallbackEnabled: boolean;
  readonly appsMayBringLimits: boolean;
  readonly attributeApps: boolean;
  readonly ledger: boolean;
  readonly tightModeThresholdPct: string;
  readonly refreshIntervalNormalSecs: string;
  readonly refreshIntervalTightSecs: string;
}

const draftOf = (org: OrgSettings): Draft => ({
  name: org.name,
  timezone: org.timezone,
  rows: chainRows(org.modelOrdering, org.quotas),
  dimensions: org.dimensions.join(', '),
  stickyFallbackEnabled: org.stickyFallbackEnabled,
  appsMayBringLimits: org.appsMayBringLimits,
  attributeApps: org.attributeApps,
  ledger: org.ledger,
  tightModeThresholdPct: String(org.tightModeThresholdPct),
  refreshIntervalNormalSecs: String(org.refreshIntervalNormalSecs),
  refreshIntervalTightSecs: String(org.refreshIntervalTightSecs),
});

/** The input that a state of the form describes. */
const inputOf = (draft: Draft): UpdateOrgInput => ({
  name: draft.name,
  timezone: draft.timezone,
  modelOrdering: draft.rows.map(({ label }) => label),
  quotas: quotasOf(draft.rows),
  dimensions: draft.dimensions.split(',').flatMap((name) => name.trim() || []),
  stickyFallbackEnabled: draft.stickyFallbackEnabled,
  appsMayBringLimits: draft.appsMayBringLimits,
  attributeApps: draft.attributeApps,
  ledger: draft.ledger,
  tightModeThresholdPct: Number(draft.tightModeThresholdPct),
  refreshIntervalNormalSecs: Number(draft.refreshIntervalNormalSecs),
  refreshIntervalTightSecs: Number(draft.refreshIntervalTightSecs),
});

/** Only what differs between two inputs. */
function changesOf(old: UpdateOrgInput, next: UpdateOrgInput): UpdateOrgInput {
  const names = Object.keys(next) as (keyof UpdateOrgInput)[];
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]));
  return Object.fromEntries(changed.map((name) => [name, next[name]]));
}

interface OrgDialogProps {
  readonly org: OrgSettings;
  readonly labels: readonly string[];
  readonly onClose: () => void;
}

/** Edits the settings of an org. Only what has changed is sent, and only if nobody else has changed it. */
export function OrgDialog({ org, labels, onClose }: OrgDialogProps) {
  const [old] = useState(() => draftOf(org));
  const [version] = useState(org.version);
  const [draft, setDraft] = useState(old);
  const set = (changes: Partial<Draft>) => setDraft((current) => ({ ...current, ...changes }));
  const save = async () => {
    const changes = changesOf(inputOf(old), inputOf(draft));
    if (Object.keys(changes).length === 0) return;
    await send(UpdateOrgDocument, { input: { orgId: org.orgId, expectedVersion: version, ...changes } });
    toast('Saved. It takes effect on all gateways within 2 s.');
    void refreshAll();
  };
  return (
    <FormDialog title={`Settings of ${org.name}`} submit="Save" wide onClose={onClose} onSubmit={save}>
      <div class="form-row">
        <Field label="Name" value={draft.name} onInput={(name) => set({ name })} maxLength={128} required autoFocus />
        <ZoneField
          value={draft.timezone}
          onInput={(timezone) => set({ timezone })}
          hint="A change takes effect at the end of the current day."
        />
      </div>
      <div class="stack-s">
        <span class="label">Fallback chain and daily quotas</span>
        <ChainEditor rows={draft.rows} labels={labels} onChange={(rows) => set({ rows })} />
      </div>
      <Numbers draft={draft} set={set} />
      <Switches org={org} draft={draft} set={set} />
      <Field
        label="Dimensions"
        value={draft.dimensions}
        onInput={(dimensions) => set({ dimensions })}
        hint="Up to 2 names such as user, feature. Each adds 2 write units to a cost that is recorded alone."
      />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly set: (changes: Partial<Draft>) => void;
}

const Numbers = ({ draft, set }: FieldsProps) => (
  <div class="form-row">
    <Field
      label="Tight mode from percent of a quota"
      type="number"
      min={1}
      max={100}
      value={draft.tightModeThresholdPct}
      onInput={(tightModeThresholdPct) => set({ tightModeThresholdPct })}
      required
    />
    <Field
      label="Seconds between selections, normal"
      type="number"
      min={1}
      max={86_400}
      value={draft.refreshIntervalNormalSecs}
      onInput={(refreshIntervalNormalSecs) => set({ refreshIntervalNormalSecs })}
      required
    />
    <Field
      label="Seconds between selections, tight"
      type="number"
      min={1}
      max={86_400}
      value={draft.refreshIntervalTightSecs}
      onInput={(refreshIntervalTightSecs) => set({ refreshIntervalTightSecs })}
      required
    />
  </div>
);

const Switches = ({ org, draft, set }: FieldsProps & { readonly org: OrgSettings }) => (
  <div class="stack-s">
    <Check
      label="Sticky fallback: stay on the next label for the rest of the day"
      checked={draft.stickyFallbackEnabled}
      onChange={(stickyFallbackEnabled) => set({ stickyFallbackEnabled })}
    />
    <Check
      label="Apps may send limits with an acquire"
      checked={draft.appsMayBringLimits}
      onChange={(appsMayBringLimits) => set({ appsMayBringLimits })}
    />
    {org.quotaScope === 'ORG' && (
      <Check
        label="Count per app. Adds 2 write units to a cost that is recorded alone."
        checked={draft.attributeApps}
        onChange={(attributeApps) => set({ attributeApps })}
      />
    )}
    <Check
      label="Ledger: single costs can be listed. Adds 1 write unit to each cost."
      checked={draft.ledger}
      onChange={(ledger) => set({ ledger })}
    />
  </div>
);
