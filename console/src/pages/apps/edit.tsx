import { useState } from 'preact/hooks';
import { refreshAll, send } from '../../data/client.js';
import { UpdateAppDocument, type UpdateAppInput } from '../../gql/graphql.js';
import { ChainEditor, type ChainRow, chainRows, quotasOf } from '../../parts/chain-editor.js';
import { useOrg } from '../../shell/context.js';
import { toast } from '../../shell/toasts.js';
import { FormDialog } from '../../ui/dialog.js';
import { Check, Field } from '../../ui/field.js';
import type { AppData } from './app.js';

const settings = {
  tightModeThresholdPct: ['Tight mode from percent of a quota', 1, 100],
  refreshIntervalNormalSecs: ['Seconds between selections, normal', 1, 86_400],
  refreshIntervalTightSecs: ['Seconds between selections, tight', 1, 86_400],
} as const;
type Setting = keyof typeof settings;
const settingNames = Object.keys(settings) as Setting[];

/** The state of the form: null means that the app inherits the setting. */
interface Draft {
  readonly name: string;
  readonly inheritsChain: boolean;
  readonly inheritsQuotas: boolean;
  readonly rows: readonly ChainRow[];
  readonly values: Readonly<Record<Setting, string | null>>;
}

function draftOf(app: AppData): Draft {
  const inherits = (name: string) => app.inheritedFields.includes(name);
  return {
    name: app.name,
    inheritsChain: inherits('modelOrdering'),
    inheritsQuotas: inherits('quotas'),
    rows: chainRows(app.modelOrdering, app.quotas),
    values: Object.fromEntries(
      settingNames.map((name) => [name, inherits(name) ? null : String(app[name])]),
    ) as unknown as Draft['values'],
  };
}

/** The changes between two states of the form. */
function changesOf(old: Draft, draft: Draft): Partial<UpdateAppInput> {
  const ordering = draft.inheritsChain ? null : draft.rows.map(({ label }) => label);
  const quotas = draft.inheritsQuotas ? null : quotasOf(draft.rows);
  const oldOrdering = old.inheritsChain ? null : old.rows.map(({ label }) => label);
  const oldQuotas = old.inheritsQuotas ? null : quotasOf(old.rows);
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  return {
    ...(draft.name === old.name ? {} : { name: draft.name }),
    ...(differs(ordering, oldOrdering) ? { modelOrdering: ordering } : {}),
    ...(differs(quotas, oldQuotas) ? { quotas } : {}),
    ...Object.fromEntries(
      settingNames
        .filter((name) => draft.values[name] !== old.values[name])
        .map((name) => [name, draft.values[name] === null ? null : Number(draft.values[name])]),
    ),
  };
}

interface EditProps {
  readonly app: AppData;
  readonly labels: readonly string[];
  readonly onClose: () => void;
}

/** Edits the settings of an app. Only what has changed is sent, and only if nobody else has changed it. */
export function EditDialog({ app, labels, onClose }: EditProps) {
  const { orgId, quotaScope } = useOrg();
  const [old] = useState(() => draftOf(app));
  const [draft, setDraft] = useState(old);
  const [version] = useState(app.version);
  const set = (changes: Partial<Draft>) => setDraft((current) => ({ ...current, ...changes }));
  return (
    <FormDialog
      title={`Settings of ${app.name}`}
      submit="Save"
      wide
      onClose={onClose}
      onSubmit={async () => {
        const changes = changesOf(old, draft);
        if (Object.keys(changes).length === 0) return;
        await send(UpdateAppDocument, { input: { orgId, appId: app.appId, expectedVersion: version, ...changes } });
        toast('Saved. It takes effect on all gateways within 2 s.');
        void refreshAll();
      }}
    >
      <Field label="Name" value={draft.name} onInput={(name) => set({ name })} maxLength={128} required autoFocus />
      {quotaScope === 'APP' ? (
        <ChainFields draft={draft} set={set} labels={labels} />
      ) : (
        <p class="hint">The apps of this org share one chain and one set of quotas, which are settings of the org.</p>
      )}
      <div class="form-row">
        {settingNames.map((name) => (
          <SettingField key={name} name={name} app={app} draft={draft} set={set} />
        ))}
      </div>
    </FormDialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly set: (changes: Partial<Draft>) => void;
}

const ChainFields = ({ draft, set, labels }: FieldsProps & { readonly labels: readonly string[] }) => (
  <div class="stack-s">
    <span class="label">Fallback chain and daily quotas</span>
    <Check
      label="Inherit the order from the org"
      checked={draft.inheritsChain}
      onChange={(inheritsChain) => set({ inheritsChain })}
    />
    <Check
      label="Inherit the quotas from the org"
      checked={draft.inheritsQuotas}
      onChange={(inheritsQuotas) => set({ inheritsQuotas })}
    />
    <ChainEditor
      rows={draft.rows}
      labels={labels}
      onChange={(rows) => set({ rows })}
      fixedOrder={draft.inheritsChain}
      fixedQuotas={draft.inheritsQuotas}
    />
  </div>
);

function SettingField({ name, app, draft, set }: FieldsProps & { readonly name: Setting; readonly app: AppData }) {
  const [label, min, max] = settings[name];
  const value = draft.values[name];
  const change = (next: string | null) => set({ values: { ...draft.values, [name]: next } });
  return (
    <div class="stack-s">
      <Field
        label={label}
        type="number"
        min={min}
        max={max}
        value={value ?? String(app[name])}
        onInput={change}
        disabled={value === null}
        required
      />
      <Check
        label="Inherit"
        checked={value === null}
        onChange={(inherits) => change(inherits ? null : String(app[name]))}
      />
    </div>
  );
}
